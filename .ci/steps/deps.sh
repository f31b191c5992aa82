# One module is a fair bargain only while users compile no more than they import (docs/adr).
# shellcheck shell=bash

step_deps() {
  check 'the core compiles from the standard library alone' only_from std ./dedupe ./dedupe/fingerprint ./consumer ./awstest
  check 'SQS and DynamoDB compile the AWS SDK and nothing else' only_from aws ./dedupe ./consumer ./adapters/sqs ./store/dynamo
}

only_from() { # std|aws PACKAGE...
  local allow='^github.com/claimonce/claimonce(/|$)' found
  [ "$1" = std ] || allow="$allow|^github.com/aws/(aws-sdk-go-v2|smithy-go)(/|\$)"
  shift
  found=$(go list -deps -f '{{if not .Standard}}{{.ImportPath}}{{end}}' "$@")
  found=$(grep -vE "$allow" <<<"$found" | sed '/^$/d' || true)
  [ -z "$found" ] || { printf 'compiled as well:\n%s\n' "$found" && return 1; }
}
