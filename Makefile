# The developer's commands. `make demo` and `make test` only need make and Python 3.11 or newer.

# The newest version that runs: a version manager may put a command on PATH that only reports an error.
SUPPORTED := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
  $$python -c '$(SUPPORTED)' 2>/dev/null && echo $$python && break; done)
UV_VERSION := 0.13.9
SBOM_VERSION := 7.5.0
VENV := .venv
READY := $(VENV)/.synced
RUN := $(VENV)/bin/python

SOURCES := models workflows activities api stack sandbox benchmarks tests worker.py
WORKERS ?= 2
# Third-party programs that test the MCP address, pinned by a lock file.
PROGRAMS := tests/conformance/node
PROGRAMS_READY := $(PROGRAMS)/node_modules/.package-lock.json
HITS ?= 100
EXAMPLES ?= 100
SEED ?= 1
MINUTES ?= inf
ONLY ?=
# One lock file for all Python versions, with one version of each package where possible.
# Hashes pin the files; the lock contains no index address.
COMPILE = $(VENV)/bin/uv pip compile pyproject.toml --quiet --upgrade --universal --python-version 3.11 --fork-strategy fewest \
  --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-but-chaos chaos plans fuzz mcp-conformance record test-all test-python lint \
  openapi-lint format migrate lock sbom clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "%-16s %s\n", $$1, $$2}'

setup: $(READY) ## Prepare .venv with the locked dependencies; does nothing if it is up to date

$(READY): requirements-dev.lock Makefile
	@test -x $(RUN) || "$(PYTHON)" -c '$(SUPPORTED)' 2>/dev/null || \
	  { echo 'This project needs Python 3.11 or newer; give its path: make setup PYTHON=/path/to/python3'; exit 1; }
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(VENV)/bin/uv pip sync --quiet --python $(RUN) --require-hashes requirements-dev.lock
	@touch $@

demo: $(READY) ## Run the example job description through the service, then stay up until Ctrl-C
	$(RUN) -m stack demo

test: test-but-chaos ## Run all tests except the slow ones, and at the end a few hits on every process of an installation
	$(RUN) -m pytest -n 0 -m "chaos and not slow"

test-but-chaos: $(READY) ## Run all tests except the slow ones and the chaos tests, which need an idle machine
	$(RUN) -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not chaos"

chaos: $(READY) ## Hit processes HITS times (for at most MINUTES) under load; SEED repeats the hits; ONLY=outreach or everything
	HITS=$(HITS) SEED=$(SEED) MINUTES=$(MINUTES) $(RUN) -m pytest tests/chaos -n 0 -s -m slow -k "$(ONLY)"

plans: $(READY) ## Check the query plan of every statement of every store function on large data
	$(RUN) -m pytest tests/models/plans -n 0 -m slow

machines: $(READY) ## Run the state machines of run, delivery, enrollment and ledger with EXAMPLES histories each
	EXAMPLES=$(EXAMPLES) $(RUN) -m pytest tests/models -n 0 -k machine --timeout 7200

mcp-conformance: $(READY) $(PROGRAMS_READY) ## Test the MCP address with the official suites and third-party clients; needs npm
	$(RUN) -m tests.conformance

$(PROGRAMS_READY): $(PROGRAMS)/package-lock.json
	cd $(PROGRAMS) && npm ci --loglevel=error
	@touch $@

fuzz: $(READY) ## Fuzz every operation of a running installation; EXAMPLES for each, SEED repeats the same requests
	EXAMPLES=$(EXAMPLES) SEED=$(SEED) $(RUN) -m pytest tests/fuzz -n 0 -s -k every_phase

record: $(READY) ## Record the histories that the replay tests replay; SCENARIO=kind/name records one
	$(RUN) -m tests.workflows.record $(SCENARIO)

test-all: $(READY) ## Run all tests
	$(RUN) -m pytest -n $(WORKERS) --dist worksteal

test-python: ## Lint and test on another Python, in a separate environment: make test-python PYTHON=python3.12
	$(MAKE) lint test-but-chaos VENV=.venv-$(notdir $(PYTHON))

lint: $(READY) ## Check style, types and the import rules
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy $(wildcard $(SOURCES))
	$(VENV)/bin/lint-imports

openapi-lint: $(READY) ## Check the OpenAPI document with Spectral and Redocly (needs Node 20 and npm)
	cd tests/openapi && npm ci --silent
	$(RUN) -m tests.openapi.document tests/openapi/document.json
	cd tests/openapi && npm run --silent spectral && REDOCLY_TELEMETRY=off npm run --silent redocly

format: $(READY) ## Format the code
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

migrate: $(READY) ## Migrate the database at DATABASE_URL to the newest version
	$(RUN) -m models.migrations upgrade

lock: $(READY) ## Update the locked dependency versions within the bounds of pyproject.toml
	$(COMPILE) -o requirements.lock
	$(COMPILE) --all-extras --group dev -c requirements.lock -o requirements-dev.lock

sbom: $(READY) ## Write sbom.json: the production dependencies in CycloneDX format
	$(VENV)/bin/uv tool run --quiet --from cyclonedx-bom==$(SBOM_VERSION) cyclonedx-py requirements requirements.lock \
	  --pyproject pyproject.toml --no-validate --output-reproducible --output-file sbom.json

clean: ## Stop a running stack, remove its data, .venv and every cache
	test ! -x $(RUN) || $(RUN) -m stack reset
	rm -rf $(VENV) .venv-* $(PROGRAMS)/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
