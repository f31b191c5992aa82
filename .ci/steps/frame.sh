# What holds the repository together: scripts that parse, lock files that name no registry, a compose file of the right shape.
# shellcheck shell=bash

step_frame() {
  check 'python3, node and npm are there' have python3 node npm go git curl
  check 'shell scripts parse' scripts_parse
  check 'lock files name no registry' locks_neutral
  check 'modules download' need_modules
  check 'go.mod and go.sum are tidy' tidy
  check 'modules are what go.sum says' go mod verify
  check 'no Go file over 500 lines' short_files
  check 'tests sleep in fake time only' sleep_in_bubbles
  check 'relative links in Markdown lead somewhere' python3 .ci/lib/links.py
  check 'every decision record is listed' decisions_listed
  if check 'install check-jsonschema' need_venv check-jsonschema; then
    check 'localstack/docker-compose.yml follows the compose schema' compose_schema
  fi
}

have() {
  local name
  for name in "$@"; do
    command -v "$name" >/dev/null || { printf 'not on PATH: %s\n' "$name" && return 1; }
  done
}

scripts_parse() {
  local file
  for file in .ci/run .ci/*.sh .ci/lib/*.sh .ci/steps/*.sh; do bash -n "$file"; done
  for file in localstack/ready.d/*.sh; do sh -n "$file"; done
  if command -v shellcheck >/dev/null; then
    shellcheck --severity=warning .ci/run .ci/*.sh .ci/lib/*.sh .ci/steps/*.sh localstack/ready.d/*.sh
  fi
}

# A diff is a finding; a failure without one is the registry's, and worth another try.
tidy() {
  local diff try
  for try in 1 2 3; do
    if diff=$(go mod tidy -diff); then return 0; fi
    if [ -n "$diff" ] || [ "$try" = 3 ]; then break; fi
    sleep 5
  done
  printf '%s\n' "$diff"
  return 1
}

# A lock file made behind a mirror would send everybody to that mirror.
locks_neutral() {
  if grep -nE '"resolved"|index-url|find-links|trusted-host|https?://[^" ]*\.(whl|tgz|tar\.gz)' \
    tools/python/*.txt tools/dynalite/package-lock.json; then
    return 1
  fi
}

short_files() {
  local long
  long=$(git ls-files -z '*.go' | xargs -0 -r wc -l | awk '$1 > 500 && $2 != "total"')
  [ -z "$long" ] || { printf 'split by idea:\n%s\n' "$long" && return 1; }
}

# A package whose tests sleep must run them in a bubble of testing/synctest, where that takes no time.
sleep_in_bubbles() {
  local file
  git grep -l 'time\.Sleep(' -- '*_test.go' | while read -r file; do
    grep -qlE 'testing/synctest' "$(dirname "$file")"/*_test.go || { printf 'sleeps in real time: %s\n' "$file"; exit 1; }
  done
}

decisions_listed() {
  local file
  for file in docs/adr/0*.md; do
    grep -qF "(${file##*/})" docs/adr/README.md || { printf 'not in docs/adr/README.md: %s\n' "$file" && return 1; }
  done
}

compose_schema() {
  "$(venv_path check-jsonschema)/bin/check-jsonschema" --builtin-schema vendor.compose-spec localstack/docker-compose.yml
}
