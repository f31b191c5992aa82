# All tests that need nothing but the process they run in, under the race detector.
# shellcheck shell=bash

step_test() {
  local package
  for package in dedupe consumer keys store/memory store/dynamo adapters/memory adapters/sqs adapters/adaptertest store/storetest awstest internal/verifyaws examples/worker; do
    check "$package has tests" has_tests "$package"
  done
  tests 'go test -race' -- go test -race -json ./...
}

has_tests() { compgen -G "$1/*_test.go" >/dev/null || { printf 'no test in %s\n' "$1" && return 1; }; }
