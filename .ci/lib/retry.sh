# Installs go through a registry, and a registry has hiccups.
# shellcheck shell=bash

# retry COMMAND... tries five times, waiting 2, 4, 8 and 16 seconds between.
retry() {
  local try=1 wait=2
  until "$@"; do
    if [ "$try" -ge 5 ]; then
      printf 'given up after %d tries: %s\n' "$try" "$*" >&2
      return 1
    fi
    printf 'try %d of 5 failed, again in %d s: %s\n' "$try" "$wait" "$*" >&2
    sleep "$wait"
    try=$((try + 1))
    wait=$((wait * 2))
  done
}
