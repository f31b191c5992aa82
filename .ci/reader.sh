#!/usr/bin/env bash
# The shell of a reader who pastes one block after another; used by lib/page.sh. A block that worked leaves a file beside it.
set -euo pipefail

for block in "$1"/*.sh; do
  printf '\n== %s\n' "${block##*/}"
  # shellcheck source=/dev/null
  . "$block"
  : >"$block.ok"
done
