# `make help` lists the targets. They need only git, make and Python 3.11+ with venv; the container targets need Docker.

.DEFAULT_GOAL := help
SHELL := /bin/sh

VENV := .venv
A2A_V03 := .venv-a2a-v03
SBOM := .venv-sbom
RELEASE := .venv-release
REAL_MODEL := .venv-real-model
AGENTDOJO := .venv-agentdojo
AGENTDOJO_VERSION := 0.1.35
BIN := $(VENV)/bin
IMAGES := client collector environment evaluator gateway green purple sample
# Longest suite first, so that parallel test processes finish at about the same time.
TESTS := tests/e2e tests/faults tests/integration tests/security tests/conformance tests/frameworks tests/unit
# What has tests of a mark: other files need not be collected.
marked = $(sort $(shell grep -rl --include='test_*.py' 'mark\.$(1)' $(2)))
PROGRAMS = $(call marked,programs,$(filter-out tests/e2e tests/faults,$(TESTS))) tests/faults tests/e2e
# One more process than cores, because tests of services wait for some of their time. Each collects the files that it runs.
TEST_PROCESSES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

# No test speaks TLS: an HTTP client need not read the authorities' certificates, which takes it 24 ms.
PYTEST := SSL_CERT_FILE= SSL_CERT_DIR=$(CURDIR)/tests $(BIN)/pytest

# The number of tests is not known before the last file is collected (tests/conftest.py).
NO_PERCENTAGES := -o console_output_style=classic

FUZZ_MINUTES ?= 10

# What runs Redis's scripts and commands, by the storage itself and by the services.
STORES := $(addprefix tests/integration/test_,$(addsuffix .py,clocks collector collector_registry joined_calls open_traces \
	push_across_processes redis_connections storage task_records token_keys trial_documents)) tests/faults/test_redis_states.py

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

$(A2A_V03)/ready: locks/a2a-v03.txt locks/build.txt $(call stale,$(A2A_V03))
	@locks/install $@ locks/a2a-v03.txt

$(SBOM)/ready: locks/sbom.txt locks/build.txt $(call stale,$(SBOM))
	@locks/install $@ locks/sbom.txt

$(RELEASE)/ready: locks/release.txt locks/build.txt $(call stale,$(RELEASE))
	@locks/install $@ locks/release.txt

$(REAL_MODEL)/ready: locks/real-model.txt locks/build.txt $(call stale,$(REAL_MODEL))
	@locks/install $@ locks/real-model.txt

# Its dependencies are not locked, because no part of Concord runs in this environment.
$(AGENTDOJO)/ready: $(call stale,$(AGENTDOJO))
	$(BIN)/python -m venv --clear $(AGENTDOJO)
	$(AGENTDOJO)/bin/pip --disable-pip-version-check install --quiet agentdojo==$(AGENTDOJO_VERSION)
	echo "$(CURDIR)/$(AGENTDOJO)" >$@

.PHONY: FORCE
FORCE:

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

.PHONY: frameworks
frameworks: setup ## install each agent framework in an environment of its own, record its traces anew and test them (SETUPS: some)
	$(BIN)/python examples/frameworks/record.py $(SETUPS)
	$(PYTEST) tests/frameworks -p no:schemathesis

.PHONY: interop
interop: setup ## assess agents on other A2A libraries, each in an environment of its own, and write docs/interoperability.md (PEERS: some)
	$(BIN)/python examples/interop/run.py $(PEERS)

.PHONY: fuzz
fuzz: setup ## test the services against their OpenAPI documents, with valid and invalid requests
	$(BIN)/pytest tests/fuzz --numprocesses auto --maxprocesses 4

.PHONY: fuzz-long
fuzz-long: setup ## fuzz each service for FUZZ_MINUTES (default: 10)
	$(BIN)/python -m tests.fuzz $(FUZZ_MINUTES)

.PHONY: test-containers
test-containers: setup $(A2A_V03)/ready ## run the tests that need a container engine
	REQUIRE_CONTAINERS=1 $(BIN)/pytest $(call marked,containers,tests) -m containers -p no:schemathesis

.PHONY: ruff
ruff: setup ## check format and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

.PHONY: lint
lint: ruff ## check format, style and import contracts
	$(BIN)/lint-imports --no-cache --no-logo

.PHONY: type_check
type_check: setup $(A2A_V03)/ready ## check types with mypy in strict mode
	$(BIN)/mypy
	$(BIN)/mypy --cache-dir .mypy_cache/a2a-v03 --python-executable $(A2A_V03)/bin/python tests/conformance/a2a_v03_client.py \
		tests/conformance/a2a_v03_agent.py tests/conformance/a2a_v03_caller.py

.PHONY: bandit
bandit: setup ## scan the sources for insecure code
	$(BIN)/bandit --quiet --recursive shared services suites assistant cli

.PHONY: audit
audit: bandit ## run bandit, and check the lock files for advisories if an advisory service is reachable
	$(BIN)/python -m locks.audit

.PHONY: validate
validate: lint type_check test ## run lint, type_check and test

.PHONY: test_all
test_all: test fuzz test-containers ## run test, fuzz and test-containers

.PHONY: tck
tck: setup ## run copies of the A2A compatibility kit (FOLDERS) against Concord's A2A server and the bare SDK
	$(BIN)/python -m tests.tck $(FOLDERS)

.PHONY: interpreters
interpreters: setup ## assess on every Python from 3.11 to 3.14 that this machine has, and verify each row on all of them
	$(BIN)/python -m tests.interpreters

.PHONY: attack
attack: setup ## attack a stack started for it, or the one at GATEWAY and COLLECTOR, and show which attacks failed
	@$(BIN)/python -m attacks $(if $(GATEWAY),--gateway $(GATEWAY) --collector $(COLLECTOR))

.PHONY: check
check: ruff ## check types and run the unit tests that a change to FILE, or to a folder, can break (make check FILE=shared/concord/a2a)
	$(BIN)/mypy
	$(PYTEST) $$($(BIN)/python -m tests.affected $(FILE)) -p no:schemathesis --numprocesses auto -q

.PHONY: bench
bench: setup ## measure speed and memory against the project's targets
	$(BIN)/python -m benchmarks

.PHONY: bench-peers
bench-peers: setup ## measure other programs for the same work beside Concord, each in an environment of its own (ARGUMENTS=--write)
	$(BIN)/python -m benchmarks peers $(ARGUMENTS)

.PHONY: causes-gate
causes-gate: setup ## plant single faults in teams, and fail if too few of their causes are found
	@$(BIN)/python -m tests.suites_gate.causes

.PHONY: mutation-score
mutation-score: setup ## plant faults in seats, in their network and in tools, and fail if too few are found by kind, place and step (ARGUMENTS=--write)
	@$(BIN)/python -m tests.suites_gate.mutation $(ARGUMENTS)

.PHONY: suites-gate
suites-gate: setup ## measure every family of tasks with scripted teams, and fail if one is unfit
	@$(BIN)/python -m tests.suites_gate

.PHONY: audit-tasks
audit-tasks: setup ## audit the shipped suites and scenarios, and fail if an attack on them earns points (ARGUMENTS=-v)
	@$(BIN)/concord audit scenarios scenarios/assistant pool pipeline all-to-all agree judge-together standard-1 $(ARGUMENTS)

.PHONY: difficulty
difficulty: setup ## calibrate the difficulty of all items with a population of scripted teams, and choose standard-2 (ARGUMENTS=--write)
	@$(BIN)/python -m tests.suites_gate.difficulty $(ARGUMENTS)

.PHONY: scenarios-gate
scenarios-gate: setup ## measure every scenario with Concord's assistants, and fail if one is unfit (ARGUMENTS=--write)
	@$(BIN)/python -m tests.scenarios_gate $(ARGUMENTS)

test-agentdojo agentdojo: export PYTHONPATH := $(CURDIR)/examples/concord-agentdojo

.PHONY: test-agentdojo
test-agentdojo: setup ## run the tests of the importer of AgentDojo's tasks, which need no AgentDojo
	$(PYTEST) examples/concord-agentdojo -p no:schemathesis

.PHONY: test-published
test-published: export PYTHONPATH := $(CURDIR)/examples/concord-published
test-published: setup ## run the tests of the importers of published tasks, which need no published file
	$(PYTEST) examples/concord-published -p no:schemathesis

.PHONY: agentdojo
agentdojo: test-agentdojo $(AGENTDOJO)/ready ## compare verdicts on AgentDojo's tasks with its own grader's; write docs/agentdojo.md
	@$(BIN)/python -m agentdojo_parity $(AGENTDOJO)/bin/python --write

.PHONY: real-model
real-model: setup $(REAL_MODEL)/ready ## have a small language model play seats, an assistant and a character, and judge (PATHS: some)
	@$(BIN)/python -m tests.real_model --server $(REAL_MODEL)/bin/python $(PATHS)

.PHONY: score-table
score-table: setup ## assess example teams and teams that cheat, and write their scores into docs/scoring.md
	@$(BIN)/python -m benchmarks.scores.score_table

.PHONY: stack
stack: ## build the images and run one assessment through them; write output/results.json
	env UID=$$(id -u) GID=$$(id -g) docker compose --profile client up --build \
		--abort-on-container-exit --exit-code-from client

.PHONY: locks
locks: setup ## resolve every lock file again
	locks/compile

.PHONY: licences
licences: setup $(A2A_V03)/ready $(RELEASE)/ready $(SBOM)/ready $(REAL_MODEL)/ready ## list the licences of all locked packages in docs/licences.md
	@$(BIN)/python -m locks.licences $(VENV) $(A2A_V03) $(RELEASE) $(SBOM) $(REAL_MODEL)

.PHONY: sbom
sbom: $(SBOM)/ready ## write a CycloneDX bill of materials for each image into output/sbom/
	@mkdir -p output/sbom
	@for image in $(IMAGES); do \
		$(SBOM)/bin/cyclonedx-py requirements --output-reproducible --output-file output/sbom/$$image.cdx.json \
			locks/$$image.txt || exit 1; \
		echo output/sbom/$$image.cdx.json; \
	done

.PHONY: dist
dist: setup $(RELEASE)/ready ## build wheel and source distribution into dist/, check them, and run an assessment from the wheel
	scripts/check_release.sh

.PHONY: pin-images
pin-images: ## pin the base images by the digests that their tags have in the registry now
	deploy/pin-images

.PHONY: clean
clean: ## remove environments, caches and output
	rm -rf $(VENV) .venv-peers $(A2A_V03) $(SBOM) $(RELEASE) $(REAL_MODEL) $(AGENTDOJO) .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache .schemathesis output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
