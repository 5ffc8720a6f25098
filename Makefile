# Everything a newcomer needs: `make demo`, `make test`. Both set themselves up.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# The lock file is all there is to install: nothing is left to work out, and nothing newer gets in.
LOCKED := --no-deps --require-hashes --requirement
CORE   := $(VENV)/.core-installed
DEV    := $(VENV)/.dev-installed

# Set on some machines, it makes each of the processes that tests start compile everything anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install demo play view test test-quick test-random test-long lint check docs bench conformance fuzz lock pin-image clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 10) else f"AgentQuest needs Python 3.10 or newer; {sys.executable} is {v.major}.{v.minor}. Try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@echo "[1/3] making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# What users install: small and quick.
$(CORE): pyproject.toml requirements-core.lock | $(BIN)/python
	@echo "[2/3] installing AgentQuest and what it needs (about half a minute)"
	@$(PIP) $(LOCKED) requirements-core.lock
	@$(PIP) --no-deps --editable .
	@touch $(CORE)

# Everything pinned in the lock file: all extras, tests and tools.
$(DEV): pyproject.toml requirements.lock | $(BIN)/python
	$(PIP) $(LOCKED) requirements.lock
	$(PIP) --no-deps --editable .
	@touch $(DEV) $(CORE)

install: $(DEV)  ## make the virtual environment with everything in it

demo: $(CORE)    ## play four baseline agents on built-in data, and show where their games went (OPEN=--open: in the browser)
	@echo "[3/3] playing"
	@$(BIN)/agentquest demo $(OPEN)

play: $(CORE)    ## play a household game yourself
	@$(BIN)/agentquest play alfworld

view: $(CORE)    ## look at the runs in runs/ in the browser
	@$(BIN)/agentquest view runs --open

test: $(DEV)     ## run the tests (ARGS=…: what else pytest is told, such as a file)
	$(BIN)/python -m pytest -n auto $(ARGS)

test-quick: $(DEV) ## run the tests of parts, without processes, servers and browsers
	$(BIN)/python -m pytest -n auto tests/unit/records tests/unit/config tests/unit/running tests/unit/agents tests/unit/lib tests/golden

SEED ?= $(shell date +%s)
test-random: $(DEV) ## run the tests in random order (SEED=number: in that one again)
	$(BIN)/python -m pytest -n auto --random-order --random-order-seed=$(SEED)

# Clusters, killed processes, a browser through every page; then frameworks and clients of others,
# each installed in an environment of its own.
OTHERS := tests/adapters tests/a2a/test_agentbeats.py tests/a2a/test_frameworks.py tests/a2a/test_old_sdk.py
test-long: $(DEV) ## run the tests that take long, also with other people's packages
	$(BIN)/python -m pytest -n auto -m long
	AGENTQUEST_OTHERS=some $(BIN)/python -m pytest -n auto $(OTHERS)

lint: $(DEV)   ## style, types and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test test-long ## what CI runs

docs: $(DEV)   ## build the documentation site in build/site
	$(BIN)/mkdocs build --quiet --strict

bench: $(DEV)  ## measure speed, side by side with what people run otherwise
	$(BIN)/python benchmarks/run.py $(BENCH)

conformance: $(DEV) ## with the real others: reference engine, frameworks, packages, killed nodes (PUBLIC=folder: scripts of checkouts)
	$(BIN)/python conformance/run.py $(CONFORMANCE)
	$(if $(LOGS),$(BIN)/python conformance/logs.py $(LOGS))
	$(if $(PUBLIC),$(BIN)/python conformance/public_scripts.py $(PUBLIC) $(PUBLIC_PYTHON))
	AGENTQUEST_OTHERS=all $(BIN)/python -m pytest $(OTHERS)
	AGENTQUEST_RAY_KILLS=20 $(BIN)/python -m pytest -m long tests/ray/test_ray_executor.py -k dies

# One resolution, with the hash of every file: all of it, what users install, and what the image has.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
  --no-emit-index-url --no-header --no-annotate --no-strip-extras pyproject.toml
lock: $(DEV)   ## refresh the lock files from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) --extra all --extra gymnasium --extra ray --group dev --group docs -o requirements.lock
	$(COMPILE) --constraint requirements.lock --extra serve -o requirements-core.lock
	$(COMPILE) --constraint requirements.lock --extra a2a -o agentbeats/requirements.lock

# The registry says which image the tag is now; needs Docker and a network.
BASE = $(shell sed -n 's/^ARG BASE=\([^@]*\).*/\1/p' agentbeats/Dockerfile)
pin-image:       ## pin the base of the AgentBeats image to its digest of today
	digest=$$(docker buildx imagetools inspect $(BASE) --format '{{.Manifest.Digest}}') && \
	  sed -i "s|^ARG BASE=.*|ARG BASE=$(BASE)@$$digest|" agentbeats/Dockerfile

fuzz: $(DEV)   ## give every boundary thousands of damaged inputs
	AGENTQUEST_FUZZ=2000 $(BIN)/python -m pytest -n auto --timeout 0 tests/contract/test_boundaries.py

clean:           ## remove everything that was made
	rm -rf $(VENV) .reference-venv .a2a-venvs .foreign build dist .pytest_cache .mypy_cache .ruff_cache
