# `make help` lists what can be made. Everything needs only git, make and Python 3.11+ with venv; containers need Docker.

.DEFAULT_GOAL := help
SHELL := /bin/sh

VENV := .venv
A2A_V03 := .venv-a2a-v03
BIN := $(VENV)/bin
MEMBERS := shared services/collector services/environment services/environment/client services/evaluator services/gateway services/purple cli
# The longest first, and in this order, so that the processes that run them side by side end together.
TESTS := tests/e2e tests/integration tests/security tests/conformance tests/unit
# One more than there are cores: a test of processes waits for a third of its time.
TEST_PROCESSES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# No test speaks TLS: an HTTP client need not read the authorities' certificates, which takes it 24 ms.
PYTEST := SSL_CERT_FILE= SSL_CERT_DIR=$(CURDIR)/tests $(BIN)/pytest

FUZZ_MINUTES ?= 10

# Every process would compile the sources anew: half of the time that it takes to start.
export PYTHONDONTWRITEBYTECODE :=

export CONCORD_A2A_V03_PYTHON := $(CURDIR)/$(A2A_V03)/bin/python

# An environment counts only where it was made and while its Python is there: a moved folder is set up again.
stale = $(shell $(1)/bin/python -c '' 2>/dev/null && [ "$$(cat $(1)/ready 2>/dev/null)" = "$(CURDIR)/$(1)" ] || echo FORCE)

$(VENV)/ready: locks/dev.txt locks/build.txt locks/members.txt $(MEMBERS:%=%/pyproject.toml) $(call stale,$(VENV))
	@locks/install $(VENV) locks/dev.txt locks/members.txt

$(A2A_V03)/ready: locks/a2a-v03.txt locks/build.txt $(call stale,$(A2A_V03))
	@locks/install $(A2A_V03) locks/a2a-v03.txt

.PHONY: FORCE
FORCE:

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z_-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(VENV)/ready ## make or refresh the development environment, .venv

.PHONY: run
run: setup ## assess a real team of agents on this machine; leaves output/results.json
	@$(BIN)/concord run

.PHONY: test
test: setup $(A2A_V03)/ready ## run the tests that need neither Docker nor a network
	$(PYTEST) $(TESTS) -m "not containers" -p no:schemathesis \
		--numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

.PHONY: fuzz
fuzz: setup ## try the services' OpenAPI documents against them, with whatever these allow and forbid
	$(BIN)/pytest tests/fuzz --numprocesses auto --maxprocesses 4

.PHONY: fuzz-long
fuzz-long: setup ## look for failures of each service for FUZZ_MINUTES, 10 unless that is set
	$(BIN)/python -m tests.fuzz $(FUZZ_MINUTES)

.PHONY: test-containers
test-containers: setup $(A2A_V03)/ready ## run the tests that need a container engine
	REQUIRE_CONTAINERS=1 $(BIN)/pytest -m containers

.PHONY: ruff
ruff: setup ## check format and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

.PHONY: lint
lint: ruff ## check format, style and who may import whom
	$(BIN)/lint-imports --no-cache --no-logo

.PHONY: type_check
type_check: setup $(A2A_V03)/ready ## check types, strictly
	$(BIN)/mypy
	$(BIN)/mypy --cache-dir .mypy_cache/a2a-v03 --python-executable $(A2A_V03)/bin/python tests/conformance/a2a_v03_client.py

.PHONY: bandit
bandit: setup ## look for what is often insecure in the code of the services, the library and the command line
	$(BIN)/bandit --quiet --recursive shared services cli

.PHONY: audit
audit: bandit ## bandit, and advisories on what the lock files pin, where an advisory service answers
	$(BIN)/python -m locks.audit

.PHONY: validate
validate: lint type_check test ## lint, type_check and test

.PHONY: test_all
test_all: test fuzz test-containers ## test, fuzz and test-containers

.PHONY: attack
attack: setup ## attack a stack of its own, or the one at GATEWAY and COLLECTOR, and tell what held
	@$(BIN)/python -m attacks $(if $(GATEWAY),--gateway $(GATEWAY) --collector $(COLLECTOR))

.PHONY: check
check: ruff ## check types and run the unit tests that a change to FILE can break: make check FILE=shared/concord/a2a
	$(BIN)/mypy
	$(PYTEST) $$($(BIN)/python -m tests.affected $(FILE)) -p no:schemathesis --numprocesses auto -q

.PHONY: bench
bench: setup ## measure what the project promises about speed
	$(BIN)/python -m benchmarks

.PHONY: score-table
score-table: setup ## assess the teams of examples/teams, and write what they get into docs/scoring.md
	@$(BIN)/python -m benchmarks.score_table

.PHONY: stack
stack: ## build the images and run one assessment through them; leaves output/results.json
	env UID=$$(id -u) GID=$$(id -g) docker compose --profile client up --build \
		--abort-on-container-exit --exit-code-from client

.PHONY: locks
locks: setup ## resolve every lock file anew
	locks/compile

.PHONY: clean
clean: ## remove the environments, caches and output
	rm -rf $(VENV) $(A2A_V03) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .schemathesis output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
