# Tests with the build tag integration, against ministack. They must run and pass: a missing server is a failure.
# shellcheck shell=bash

step_integration() {
  local port folder
  for folder in store/dynamo adapters/sqs; do
    check "$folder has integration tests" has_integration "$folder"
  done
  check 'install ministack' need_venv ministack || return
  port=$(free_port)
  if check 'start ministack' start_ministack "$port"; then
    integration_tests "ministack" "http://127.0.0.1:$port" "http://127.0.0.1:$port" .
  fi
  stop ministack
}

has_integration() { [ -n "$(tagged_files "$1")" ] || { printf 'none in %s\n' "$1" && return 1; }; }

tagged_files() { git grep -l --untracked '^//go:build integration' -- "$@" | grep '_test\.go$'; }

# integration_tests TITLE SQS DYNAMO FOLDER... runs the tests of the tagged files under the folders, and only these.
# One package at a time: a server that is asked by several answers late, and some promises are about when.
integration_tests() {
  local title=$1 sqs=$2 dynamo=$3 wanted packages run
  shift 3
  wanted=$(mktemp "$RUN_DIR/wanted.XXXXXX")
  tagged_tests "$@" >"$wanted"
  if [ ! -s "$wanted" ]; then
    fail "$title: no integration test was found"
    return 1
  fi
  mapfile -t packages < <(cut -d ' ' -f 1 "$wanted" | sort -u)
  run=$(cut -d ' ' -f 2 "$wanted" | sort -u | paste -sd '|')
  CLAIMONCE_SQS_ENDPOINT=$sqs CLAIMONCE_DYNAMO_ENDPOINT=$dynamo \
    tests "$title" --require "$wanted" -- \
    go test -race -json -count=1 -p 1 -timeout 10m -tags integration -run "^($run)\$" "${packages[@]}"
}

# tagged_tests prints "package Test" for every test function in a file that only the tag compiles.
tagged_tests() {
  local file
  tagged_files "$@" | while read -r file; do
    sed -nE "s|^func (Test[A-Za-z0-9_]*)\(t \*testing\.T\).*|$(go list "./$(dirname "$file")") \1|p" "$file"
  done | grep -v ' TestMain$' | sort -u
}
