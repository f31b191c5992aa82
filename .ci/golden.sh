#!/usr/bin/env bash
# Rewrites golden files: runs the tests of every package that defines a flag -rewrite with it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

found=0
for folder in $(git grep -l --untracked -E 'flag\.Bool\("rewrite"' -- '*_test.go' | xargs -r -n 1 dirname | sort -u); do
  found=$((found + 1))
  go test "./$folder" -args -rewrite
done
printf '%d packages rewritten; git diff shows what changed\n' "$found"
