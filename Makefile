# Everything that CI runs can be run here; `make` prints what there is.
SHELL := /bin/bash
.DEFAULT_GOAL := help

include tools/versions.env
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/claimonce
GOLANGCI = $(CACHE)/golangci-lint/$(GOLANGCI_LINT_VERSION)-$(shell go env GOVERSION)/golangci-lint
COMPOSE = docker compose -f localstack/docker-compose.yml
FUZZTIME ?= 30s
COUNT ?= 1
PKG ?= ./...

.PHONY: help
help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## compile every package and program
	go build ./...

.PHONY: test
test: ## run the tests (PKG=./dedupe/... for a part)
	go test $(PKG)

.PHONY: race
race: ## run the tests under the race detector, COUNT times
	go test -race -count=$(COUNT) $(PKG)

.PHONY: lint
lint: ## run the pinned linters and the format check, as CI does
	bash .ci/run lint

.PHONY: fmt
fmt: $(GOLANGCI) ## format all Go code
	$(GOLANGCI) fmt ./...

$(GOLANGCI):
	GOBIN=$(dir $@) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_LINT_VERSION)

.PHONY: tidy-check
tidy-check: ## fail if go.mod or go.sum would change
	go mod tidy -diff

.PHONY: golden
golden: ## rewrite golden files; read the diff before you commit it
	bash .ci/golden.sh

.PHONY: integration
integration: ## run the integration tests; starts ministack by itself, no container needed
	bash .ci/run integration

.PHONY: second
second: ## run the integration tests against dynalite and moto
	bash .ci/run second

.PHONY: emulcheck
emulcheck: ## ask awstest and servers by other people what AWS documents; each has a list of what it does otherwise
	bash .ci/run emulcheck

.PHONY: awsfacts
awsfacts: ## check docs/aws-facts.md against awstest, ministack and moto
	bash .ci/run awsfacts

.PHONY: verify-aws
verify-aws: ## check docs/aws-facts.md against your AWS account: makes a table and queues of its own, deletes them (ARGS=-yes asks nothing)
	go run ./internal/verifyaws $(ARGS)

.PHONY: localstack
localstack: ## set up a queue and a table on ministack and run the worker there
	bash .ci/run localstack

.PHONY: readme
readme: ## run the README's commands in a fresh clone with an empty HOME (what is committed, not what is edited)
	bash .ci/run readme

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME (default 30s)
	bash .ci/fuzz.sh $(FUZZTIME)

.PHONY: cover
cover: ## write coverage.out and coverage.html
	go test -coverpkg=./... -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	go tool cover -func=coverage.out | tail -n 1

.PHONY: up
up: ## start the emulator of localstack/ in Docker and set up queue and table
	CGO_ENABLED=0 GOOS=linux go build -o localstack/bin/setup ./localstack/setup
	$(COMPOSE) up --detach --wait

.PHONY: down
down: ## stop the emulator; its data stays in a volume (make down ARGS=--volumes drops it)
	$(COMPOSE) down $(ARGS)

.PHONY: ci
ci: ## run all that CI runs
	bash .ci/run
