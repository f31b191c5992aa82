# The set-up program, the worker and the pages of localstack/, against ministack on the port that the pages name.
# shellcheck shell=bash

LOCAL_ENDPOINT=http://127.0.0.1:4566
LOCAL_QUEUE=$LOCAL_ENDPOINT/000000000000/claimonce-refunds

step_localstack() {
  local kind
  check 'install ministack' need_venv ministack || return
  if check 'start ministack on 4566' start_ministack 4566; then
    check 'localstack/setup creates queue, dead-letter queue and table' setup_local
    check 'localstack/setup again changes nothing' setup_local
    check 'localstack/setup names what differs' setup_names_difference
    check 'localstack/ready.d/10-claimonce.sh runs the set-up program' ready_hook
    if check 'examples/worker over SQS and DynamoDB' run_worker first; then
      check 'examples/worker: every operation took effect once' python3 .ci/lib/worker.py "$RUN_DIR/first.out"
    fi
    for kind in -sns -fifo '-fifo -sns'; do
      if check "examples/worker $kind" run_worker_as "$kind"; then
        check "examples/worker $kind: every operation took effect once" python3 .ci/lib/worker.py "$RUN_DIR/kind.out"
      fi
    done
    if check 'examples/worker again, same requests' run_worker again; then
      check 'examples/worker: the second run paid nothing' python3 .ci/lib/worker.py "$RUN_DIR/again.out"
      check 'the provider was asked once an operation over both runs' same_ledger
    fi
  fi
  stop ministack
  if check 'start ministack on 4566 again, empty' start_ministack 4566; then
    run_page localstack/README.md
  fi
  stop ministack
}

setup_local() {
  AWS_ENDPOINT_URL=$LOCAL_ENDPOINT go run ./localstack/setup
  AWS_ENDPOINT_URL=$LOCAL_ENDPOINT go run ./localstack/setup -queue claimonce-refunds.fifo
}

setup_names_difference() {
  local output
  if output=$(AWS_ENDPOINT_URL=$LOCAL_ENDPOINT go run ./localstack/setup -max-receive-count 7 2>&1); then
    printf 'it ended with 0:\n%s\n' "$output"
    return 1
  fi
  printf '%s\n' "$output"
  grep -q 'maxReceiveCount' <<<"$output"
}

ready_hook() {
  CGO_ENABLED=0 go build -o "$RUN_DIR/setup" ./localstack/setup
  CLAIMONCE_SETUP="$RUN_DIR/setup" AWS_ENDPOINT_URL=$LOCAL_ENDPOINT sh localstack/ready.d/10-claimonce.sh
}

# Both runs send the same keys (-run) to one provider's books (-ledger), so that the second meets only duplicates.
# timeout signals the whole group, so that the program that go run started ends with it.
run_worker() { # NAME
  AWS_ENDPOINT_URL=$LOCAL_ENDPOINT timeout 300 go run ./examples/worker -json -source sqs -store dynamo \
    -queue-url "$LOCAL_QUEUE" -table claimonce -run ci -ledger "$RUN_DIR/ledger" >"$RUN_DIR/$1.out"
  cat "$RUN_DIR/$1.out"
  cp "$RUN_DIR/ledger" "$RUN_DIR/$1.ledger"
}

# With fresh keys, on the queue that the flags ask for.
run_worker_as() { # FLAGS
  # shellcheck disable=SC2086
  AWS_ENDPOINT_URL=$LOCAL_ENDPOINT timeout 300 go run ./examples/worker -json $1 >"$RUN_DIR/kind.out"
  cat "$RUN_DIR/kind.out"
}

same_ledger() { cmp "$RUN_DIR/first.ledger" "$RUN_DIR/again.ledger"; }
