#!/usr/bin/env bash
# Runs each fuzz target of the module for a while: bash .ci/fuzz.sh 30s. go test takes one target of one package at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

span=${1:-30s}
found=0
while IFS=: read -r file target; do
  found=$((found + 1))
  printf '== %s %s\n' "$file" "$target"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$span" -fuzzminimizetime 10x "./$(dirname "$file")" </dev/null
done < <(git grep --untracked -oE '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | sed 's/:func /:/')
printf '%d fuzz targets\n' "$found"
[ "$found" -gt 0 ]
