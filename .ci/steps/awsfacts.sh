# The facts of docs/aws-facts.md, checked by the program that a person runs on an account of AWS: on awstest, which has no known
# difference, and on servers by other people, whose differences are listed in internal/verifyaws/known.
# shellcheck shell=bash

step_awsfacts() {
  local port
  if ! check 'verifyaws builds' go build -o "$RUN_DIR/verifyaws" ./internal/verifyaws; then return; fi
  if check 'awsserve builds' go build -o "$RUN_DIR/awsserve" ./awstest/internal/awsserve; then
    port=$(free_port)
    if check 'start awstest' start_awstest "$port"; then aws_facts awstest "$port"; fi
    stop awstest
  fi
  if check 'install ministack' need_venv ministack; then
    port=$(free_port)
    if check 'start ministack' start_ministack "$port"; then aws_facts ministack "$port" -known internal/verifyaws/known/ministack.txt; fi
    stop ministack
  fi
  if check 'install moto' need_venv moto; then
    port=$(free_port)
    if check 'start moto' start_moto "$port"; then aws_facts moto "$port" -known internal/verifyaws/known/moto.txt; fi
    stop moto
  fi
}

# aws_facts NAME PORT FLAG... checks one server and prints the counts.
aws_facts() {
  local name=$1 port=$2
  shift 2
  check "what $name does of docs/aws-facts.md" aws_facts_hold "$name" "$port" "$@"
  tail -n 1 "$RUN_DIR/$name.facts"
}

aws_facts_hold() { # NAME PORT FLAG...
  local name=$1 port=$2 rc=0
  shift 2
  timeout 400 "$RUN_DIR/verifyaws" -endpoint "http://127.0.0.1:$port" -yes "$@" >"$RUN_DIR/$name.facts" || rc=$?
  grep -vE '^A[0-9]+ +(holds|not checked|known difference)' "$RUN_DIR/$name.facts" || true
  return "$rc"
}
