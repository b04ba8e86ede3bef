# `make help` lists the targets. They need only git, make and Python 3.11+ with venv; the container targets need Docker.

.DEFAULT_GOAL := help
SHELL := /bin/sh

VENV := .venv
A2A_V03 := .venv-a2a-v03
BIN := $(VENV)/bin
# Longest suite first, so that parallel test processes finish at about the same time.
TESTS := tests/e2e tests/faults tests/integration tests/security tests/conformance tests/frameworks tests/unit
# What has tests of a mark: other files need not be collected.
marked = $(sort $(shell grep -rl --include='test_*.py' 'mark\.$(1)' $(2)))
PROGRAMS = $(call marked,programs,$(filter-out tests/e2e tests/faults,$(TESTS))) tests/faults tests/e2e
# Two more processes than cores, because tests of services wait for some of their time. Each collects the files that it runs.
TEST_PROCESSES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)

# No test speaks TLS: an HTTP client need not read the authorities' certificates, which takes it 24 ms.
PYTEST := SSL_CERT_FILE= SSL_CERT_DIR=$(CURDIR)/tests $(BIN)/pytest

# The number of tests is not known before the last file is collected (tests/conftest.py).
NO_PERCENTAGES := -o console_output_style=classic

# What runs Redis's scripts and commands: the storage itself, the services, and whole stacks.
STORES := $(addprefix tests/integration/test_,$(addsuffix .py,clocks collector collector_registry evaluator_worker \
	open_traces push_across_processes redis_connections rounds storage task_records token_keys trial_documents)) \
	tests/faults/test_redis_states.py

# Every process would compile the sources anew: half of the time that it takes to start.
export PYTHONDONTWRITEBYTECODE :=

export CONCORD_A2A_V03_PYTHON := $(CURDIR)/$(A2A_V03)/bin/python

# Rebuild an environment if its folder was moved or its Python is gone.
stale = $(shell $(1)/bin/python -c '' 2>/dev/null && [ "$$(cat $(1)/ready* 2>/dev/null)" = "$(CURDIR)/$(1)" ] || echo FORCE)

$(VENV)/ready: locks/dev.txt locks/build.txt locks/editable.txt pyproject.toml $(call stale,$(VENV))
	@UV_COMPILE_BYTECODE=1 locks/install $@ locks/dev.txt locks/editable.txt

# The packages of a run, a third of a development environment. Any other target adds the rest.
$(VENV)/ready-to-run: locks/run.txt locks/build.txt locks/editable.txt pyproject.toml $(call stale,$(VENV))
	@locks/install $@ locks/run.txt locks/editable.txt

# Environments of their own: of a client of an older A2A, and of tools.
.SECONDEXPANSION:
.venv-%/ready: locks/%.txt locks/build.txt $$(call stale,.venv-$$*)
	@locks/install $@ locks/$*.txt

.PHONY: FORCE

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z_-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(VENV)/ready ## create or update the development environment, .venv

.PHONY: run
run: $(or $(wildcard $(VENV)/ready),$(VENV)/ready-to-run) ## assess a sample team on this machine; write output/results.json
	@$(BIN)/concord run

.PHONY: test
test: setup $(A2A_V03)/ready ## run the tests that need neither Docker nor a network, a few of them with real processes
	$(PYTEST) $(TESTS) -m "not containers and (smoke or not programs)" -p no:schemathesis \
		--numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder $(NO_PERCENTAGES)

.PHONY: test-faults
test-faults: setup ## run the tests that start whole programs, and kill, stop or limit some, which `make test` leaves out
	$(PYTEST) $(PROGRAMS) -m "programs and not smoke and not containers" -p no:schemathesis \
		--numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder $(NO_PERCENTAGES)

.PHONY: test-redis
test-redis: setup ## run the tests of storage on another Redis (SERVER: its program, or the URL of one whose data they may delete)
	CONCORD_TEST_REDIS=$(SERVER) $(PYTEST) $(STORES) -p no:schemathesis

.PHONY: goldens
goldens: setup ## compare rows of runs, recordings and texts with those that were kept (CONCORD_RENEW_GOLDENS=1 writes them anew)
	$(PYTEST) tests/goldens tests/goldens/runs.py -p no:schemathesis

.PHONY: test-containers
test-containers: setup $(A2A_V03)/ready ## run the tests that need a container engine
	REQUIRE_CONTAINERS=1 $(BIN)/pytest $(call marked,containers,tests) -m containers -p no:schemathesis

.PHONY: lint
lint: setup lint_workflows ## check format, style, import contracts and workflows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache --no-logo

.PHONY: lint_workflows
lint_workflows: setup ## check the workflows of this repository and those that users copy
	$(BIN)/zizmor --offline --quiet --config .github/zizmor.yml .github deploy examples/decision/gate.yml

.PHONY: type_check
type_check: setup $(A2A_V03)/ready ## check types with mypy in strict mode
	$(BIN)/mypy
	$(BIN)/mypy --cache-dir .mypy_cache/a2a-v03 --python-executable $(A2A_V03)/bin/python tests/conformance/a2a_v03_client.py \
		tests/conformance/a2a_v03_agent.py tests/conformance/a2a_v03_caller.py

.PHONY: audit
audit: setup ## run bandit, and check the lock files for advisories if an advisory service is reachable
	$(BIN)/bandit --quiet --recursive shared services suites assistant cli
	$(BIN)/python -m locks.audit

.PHONY: validate
validate: lint type_check test ## run lint, type_check and test

.PHONY: lab
lab: setup ## run a part of the laboratory (NAME, ARGUMENTS); without a name, list all with the time that each takes
	@$(BIN)/python -m lab $(NAME) $(ARGUMENTS)

.PHONY: attack
attack: setup ## attack a stack started for it, or the one at GATEWAY and COLLECTOR, and show which attacks failed
	@$(BIN)/python -m lab attacks $(if $(GATEWAY),--gateway $(GATEWAY) --collector $(COLLECTOR))

.PHONY: check
check: lint ## check types and run the unit tests that a change to FILE, or to a folder, can break (make check FILE=shared/concord/a2a)
	$(BIN)/mypy
	$(PYTEST) $$($(BIN)/python -m tests.kit.affected $(FILE)) -p no:schemathesis --numprocesses auto -q

.PHONY: mutation-score
mutation-score: setup ## plant faults in seats, in their network and in tools, and fail if too few are found by kind, place and step (ARGUMENTS=--write)
	@$(BIN)/python -m lab mutation $(ARGUMENTS)

.PHONY: suites-gate
suites-gate: setup ## measure every family of tasks with scripted teams, and fail if one is unfit
	@$(BIN)/python -m lab suites $(ARGUMENTS)

.PHONY: office-gate
office-gate: setup ## play days of the office in right and wrong ways, and fail if a wrong one passes (ARGUMENTS=--write)
	@$(BIN)/python -m lab office $(ARGUMENTS)

.PHONY: score-table
score-table: setup ## assess example teams and teams that cheat, and write their scores into docs/scoring.md
	@$(BIN)/python -m lab score-table $(ARGUMENTS)

.PHONY: dist
dist: setup .venv-release/ready ## build wheel and source distribution into dist/, check them, and run an assessment from the wheel
	scripts/check_release.sh
