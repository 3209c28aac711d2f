# The two commands are `make run` and `make test`; the rest is for daily work.
# Options for the service go into ARGS: make run ARGS="--listen 127.0.0.1:9000"

ARGS ?=
.DEFAULT_GOAL := help
.PHONY: help run build dist test fmt lint bench fuzz

help: ## list the commands
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 10

run: ## install what is missing, build, and serve
	@./scripts/run.sh $(ARGS)

build: ## install what is missing and build the release binary
	@./scripts/build.sh

dist: ## pack the release binary with licences, completions, manual page and systemd unit
	@./scripts/dist.sh

test: ## install what the tests need and run all of them
	@./scripts/test.sh

fmt: ## format the code
	cargo fmt --all
	tests-e2e/.venv/bin/ruff format --quiet .
	tests-e2e/.venv/bin/shfmt --indent 2 --case-indent --write $$(git ls-files '*.sh' .ci/run)
	npm run --silent --prefix console format

lint: ## what `make test` checks before it runs anything
	@./scripts/lint.sh
	@./scripts/lint-clients.sh

bench: ## measure durable settles a second
	cargo run --release --package bench --bin settles

SECONDS ?= 60
fuzz: ## fuzz what callers send, SECONDS for each target
	@./scripts/fuzz.sh $(SECONDS)
