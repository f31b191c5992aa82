# Servers by other people, for the length of a run: bound to 127.0.0.1, waited for by polling, ended by process id.
# shellcheck shell=bash

export AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_EC2_METADATA_DISABLED=true
unset AWS_PROFILE AWS_SESSION_TOKEN AWS_ENDPOINT_URL AWS_ENDPOINT_URL_SQS AWS_ENDPOINT_URL_DYNAMODB

start_ministack() { # PORT
  start_server ministack "$1" "http://127.0.0.1:$1/_localstack/health" \
    env BIND_HOST=127.0.0.1 GATEWAY_PORT="$1" SERVICES=sqs,dynamodb,sns LOG_LEVEL=WARNING TMPDIR="$RUN_DIR" \
    "$(venv_path ministack)/bin/ministack"
}

start_moto() { # PORT
  start_server moto "$1" "http://127.0.0.1:$1/moto-api/" "$(venv_path moto)/bin/moto_server" -H 127.0.0.1 -p "$1"
}

start_dynalite() { # PORT
  start_server dynalite "$1" "http://127.0.0.1:$1/" \
    node "$(dynalite_path)/node_modules/dynalite/cli.js" --host 127.0.0.1 --port "$1" --createTableMs 0 --deleteTableMs 0
}

# start_server NAME PORT HEALTH COMMAND... writes NAME.pid and NAME.log into the run's directory.
start_server() {
  local name=$1 port=$2 health=$3
  shift 3
  if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
    printf '127.0.0.1:%s is taken by another program; stop it first, %s needs this port\n' "$port" "$name" >&2
    return 1
  fi
  "$@" >"$RUN_DIR/$name.log" 2>&1 </dev/null &
  printf '%d\n' "$!" >"$RUN_DIR/$name.pid"
  wait_ready "$name" "$health" && loopback_only "$name" "$port"
}

wait_ready() { # NAME HEALTH
  local deadline=$((SECONDS + 60))
  until curl --silent --fail --max-time 2 --output /dev/null "$2"; do
    if ! running "$1" || [ "$SECONDS" -ge "$deadline" ]; then
      printf '%s did not become ready at %s; the end of its log:\n' "$1" "$2" >&2
      tail -n 30 "$RUN_DIR/$1.log" >&2
      return 1
    fi
    sleep 0.2
  done
}

# loopback_only fails where a server listens on more than 127.0.0.1. 0100007F is that address as the kernel prints it.
loopback_only() { # NAME PORT
  local hex wide
  hex=$(printf '%04X' "$2")
  wide=$(awk -v port=":$hex" '$4 == "0A" && substr($2, length($2) - 4) == port && $2 != "0100007F" port { print $2 }' \
    /proc/net/tcp /proc/net/tcp6 2>/dev/null)
  if [ -n "$wide" ]; then
    printf '%s listens beyond 127.0.0.1 on port %s: %s\n' "$1" "$2" "$wide" >&2
    return 1
  fi
}

running() { # NAME; a zombie counts as ended, since nobody may be there to reap it
  local pid state
  pid=$(cat "$RUN_DIR/$1.pid" 2>/dev/null) || return 1
  state=$(awk '/^State:/ { print $2 }' "/proc/$pid/status" 2>/dev/null) || return 1
  [ -n "$state" ] && [ "$state" != Z ]
}

stop() { # NAME
  local pid try
  pid=$(cat "$RUN_DIR/$1.pid" 2>/dev/null) || return 0
  kill "$pid" 2>/dev/null
  for ((try = 0; try < 50; try++)); do
    running "$1" || break
    sleep 0.1
  done
  if running "$1"; then kill -9 "$pid" 2>/dev/null; fi
  wait "$pid" 2>/dev/null
  rm -f "$RUN_DIR/$1.pid"
}

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

stop_all() {
  local file
  for file in "$RUN_DIR"/*.pid; do
    [ -e "$file" ] || continue
    file=${file##*/}
    stop "${file%.pid}"
  done
  rm -rf "$RUN_DIR"
}
trap stop_all EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
