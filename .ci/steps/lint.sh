# Linters and formatters, from one pinned binary.
# shellcheck shell=bash

step_lint() {
  check "install golangci-lint $GOLANGCI_LINT_VERSION" need_golangci || return
  check 'the linter accepts .golangci.yml' "$(golangci_path)" config verify
  check 'golangci-lint' "$(golangci_path)" run ./...
  check 'golangci-lint, tag integration' "$(golangci_path)" run --build-tags integration ./...
  check 'formatting' "$(golangci_path)" fmt --diff ./...
}
