# Counts what passed and failed. A step is a group of checks; every check and every Go test counts once.
# shellcheck shell=bash

RUN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/claimonce-ci.XXXXXX")
PASSED=0
FAILED=0
SKIPPED=0
FAILURES=()
TIMES=()

pass() { PASSED=$((PASSED + 1)); }

fail() {
  FAILED=$((FAILED + 1))
  FAILURES+=("$1")
  printf 'FAIL  %s\n' "$1"
}

# step NAME runs step_NAME in this shell, so that servers it starts outlive its checks, and prints what it took.
step() {
  local from=$SECONDS before=$FAILED
  printf '\n=== %s\n' "$1"
  "step_$1"
  local took=$((SECONDS - from)) word=ok
  [ "$FAILED" -eq "$before" ] || word=FAILED
  TIMES+=("$(printf '%-12s %4d s  %s' "$1" "$took" "$word")")
  printf -- '--- %s: %s (%d s)\n' "$1" "$word" "$took"
}

# check TITLE COMMAND... counts one. Its output is kept in a file and shown only where it fails.
# The subshell stands alone on its line: as an operand of if or ||, bash would switch its set -e off.
check() {
  local title=$1 log rc from=$SECONDS
  shift
  log=$(mktemp "$RUN_DIR/check.XXXXXX")
  (
    set -euo pipefail
    "$@"
  ) >"$log" 2>&1 </dev/null
  rc=$?
  if [ "$rc" -eq 0 ]; then
    pass
    printf 'ok    %s (%d s)\n' "$title" "$((SECONDS - from))"
    return 0
  fi
  fail "$title"
  printf '      exit %d after %d s; the end of its output:\n' "$rc" "$((SECONDS - from))"
  tail -n 60 "$log" | cut -c 1-400 | sed 's/^/      | /'
  return "$rc"
}

# tests TITLE COMMAND... runs a command that prints go test -json and adds every test to the counts.
tests() {
  local title=$1 counts passed failed skipped
  shift
  counts=$(mktemp "$RUN_DIR/counts.XXXXXX")
  python3 .ci/lib/gotests.py --counts "$counts" "$@"
  if ! read -r passed failed skipped <"$counts"; then
    fail "$title: the counter of tests ended early"
    return 1
  fi
  PASSED=$((PASSED + passed))
  FAILED=$((FAILED + failed))
  SKIPPED=$((SKIPPED + skipped))
  printf '%s: %d passed, %d failed, %d skipped\n' "$title" "$passed" "$failed" "$skipped"
  [ "$failed" -eq 0 ] || FAILURES+=("$title: $failed tests")
  [ "$failed" -eq 0 ]
}

# summary prints the closing lines; the very last one is plain, so that any reader of a log can tell.
summary() {
  printf '\n=== summary\n'
  printf '%s\n' "${TIMES[@]}"
  [ "$SKIPPED" -eq 0 ] || printf '%d tests were skipped\n' "$SKIPPED"
  [ "$FAILED" -eq 0 ] || printf 'failed: %s\n' "${FAILURES[@]}"
  [ "$((PASSED + FAILED))" -gt 0 ] || fail 'nothing was run'
  printf '%d passed, %d failed\n' "$PASSED" "$FAILED"
  [ "$FAILED" -eq 0 ]
}
