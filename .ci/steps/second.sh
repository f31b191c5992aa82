# The same integration tests against servers by other people still: dynalite is the strictest on validation and returns no
# item with a failed condition, moto has another SQS.
# shellcheck shell=bash

step_second() {
  local port
  if check 'install dynalite' need_dynalite; then
    port=$(free_port)
    if check 'start dynalite' start_dynalite "$port"; then
      integration_tests 'dynalite' '' "http://127.0.0.1:$port" store/dynamo
    fi
    stop dynalite
  fi
  if check 'install moto' need_venv moto; then
    port=$(free_port)
    if check 'start moto' start_moto "$port"; then
      integration_tests 'moto' "http://127.0.0.1:$port" "http://127.0.0.1:$port" store/dynamo adapters/sqs
    fi
    stop moto
  fi
}
