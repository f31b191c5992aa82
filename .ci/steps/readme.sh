# The README's commands, on a machine where nothing runs and nothing is configured.
# shellcheck shell=bash

step_readme() {
  if ! check 'README.md is there' test -s README.md; then return; fi
  run_page README.md
}
