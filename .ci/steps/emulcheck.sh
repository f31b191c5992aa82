# What AWS documents, asked of awstest and of servers by other people. Each has a list of what it answers otherwise
# (tools/emulcheck/known): awstest's is empty, and an answer that is right though listed fails too.
# shellcheck shell=bash

step_emulcheck() {
  local port
  check 'emulcheck: its own tests' emulcheck_tests
  if check "install golangci-lint $GOLANGCI_LINT_VERSION" need_golangci; then check 'emulcheck: golangci-lint' emulcheck_lint; fi
  if ! check 'emulcheck builds' emulcheck_builds; then return; fi
  if check 'awsserve builds' go build -o "$RUN_DIR/awsserve" ./awstest/internal/awsserve; then
    port=$(free_port)
    if check 'start awstest' start_awstest "$port"; then emulcheck awstest "$port" sqs dynamo; fi
    stop awstest
  fi
  if check 'install ministack' need_venv ministack; then
    port=$(free_port)
    if check 'start ministack' start_ministack "$port"; then emulcheck ministack "$port" sqs dynamo; fi
    stop ministack
  fi
  if check 'install moto' need_venv moto; then
    port=$(free_port)
    if check 'start moto' start_moto "$port"; then
      emulcheck moto "$port" sqs dynamo
      differential moto "$port" AnswersAsOthersDo
    fi
    stop moto
  fi
  if check 'install dynalite' need_dynalite; then
    port=$(free_port)
    if check 'start dynalite' start_dynalite "$port"; then
      emulcheck dynalite "$port" dynamo
      differential dynalite "$port" TestDynamoDBAnswersAsOthersDo
    fi
    stop dynalite
  fi
}

# A nested module: the commands for ./... at the root do not reach it.
emulcheck_tests() (cd tools/emulcheck && go mod verify && go vet ./... && go test -timeout 2m ./...)

emulcheck_lint() (
  path=$(golangci_path)
  cd tools/emulcheck && "$path" run -c ../../.golangci.yml ./...
)

emulcheck_builds() (cd tools/emulcheck && go build -o "$RUN_DIR/emulcheck" .)

start_awstest() { # PORT
  start_server awstest "$1" "http://127.0.0.1:$1/_localstack/health" "$RUN_DIR/awsserve" -addr "127.0.0.1:$1"
}

# emulcheck NAME PORT SERVICE... asks one server and prints what it answered otherwise, with the counts.
emulcheck() {
  local name=$1 url="http://127.0.0.1:$2" service flags=()
  shift 2
  for service in "$@"; do flags+=("-$service" "$url"); done
  check "emulcheck against $name" emulcheck_run "$name" "${flags[@]}"
  grep -vE '^(pass|info) ' "$RUN_DIR/$name.answers"
}

# differential sends the same random calls to awstest and to one server. The step integration does so with ministack.
differential() { # NAME PORT TESTS
  CLAIMONCE_SQS_ENDPOINT="http://127.0.0.1:$2" CLAIMONCE_DYNAMO_ENDPOINT="http://127.0.0.1:$2" \
    tests "awstest against $1" -- go test -json -count=1 -timeout 3m -tags integration -run "$3" ./awstest
}

emulcheck_run() { # NAME FLAG...
  local name=$1 rc=0
  shift
  timeout 300 "$RUN_DIR/emulcheck" -name "$name" -known "tools/emulcheck/known/$name.txt" "$@" >"$RUN_DIR/$name.answers" || rc=$?
  grep -E '^(FAIL|PASSES|UNKNOWN) ' "$RUN_DIR/$name.answers" || true
  return "$rc"
}
