#!/bin/sh
# Init hook, run inside the emulator once it answers. It creates queue and table with the program that `make up` builds.
# Where that program is missing or the image has no such hooks, run it by hand: go run ./localstack/setup
set -eu

setup=${CLAIMONCE_SETUP:-/opt/claimonce/setup}
if [ ! -x "$setup" ]; then
  echo "claimonce: $setup is not there; run by hand: go run ./localstack/setup"
  exit 0
fi

export AWS_ENDPOINT_URL="${AWS_ENDPOINT_URL:-http://127.0.0.1:4566}"
export AWS_REGION="${AWS_REGION:-us-east-1}"
export AWS_ACCESS_KEY_ID="${AWS_ACCESS_KEY_ID:-test}"
export AWS_SECRET_ACCESS_KEY="${AWS_SECRET_ACCESS_KEY:-test}"
exec "$setup"
