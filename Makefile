# Everything a newcomer needs: `make demo`, `make test`. Both set themselves up.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
CORE   := $(VENV)/.core-installed
DEV    := $(VENV)/.dev-installed

.PHONY: help install demo test lint check bench conformance lock clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 10) else f"AgentQuest needs Python 3.10 or newer; {sys.executable} is {v.major}.{v.minor}. Try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	$(PYTHON) -m venv $(VENV)

# What users install: small and quick.
$(CORE): pyproject.toml requirements.lock | $(BIN)/python
	$(PIP) --constraint requirements.lock --editable .
	@touch $(CORE)

# Everything pinned in the lock file: all extras, tests and tools.
$(DEV): pyproject.toml requirements.lock | $(BIN)/python
	$(PIP) --requirement requirements.lock
	$(PIP) --no-deps --editable .
	@touch $(DEV) $(CORE)

install: $(DEV)  ## make the virtual environment with everything in it

demo: $(CORE)    ## run the baseline agents on the built-in homes
	$(BIN)/agentquest demo

test: $(DEV)     ## run all tests
	$(BIN)/python -m pytest -n auto

lint: $(DEV)   ## style, types and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test ## what CI runs

bench: $(DEV)  ## measure speed, side by side with what people run otherwise
	$(BIN)/python benchmarks/run.py $(BENCH)

conformance: $(DEV) ## play built-in homes on the reference engine too, and compare
	$(BIN)/python conformance/run.py $(CONFORMANCE)

lock: $(DEV)   ## refresh requirements.lock from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --no-emit-index-url \
	  --no-header --no-annotate --extra dev -o requirements.lock pyproject.toml

clean:           ## remove everything that was made
	rm -rf $(VENV) .reference-venv .a2a-03-venv dist .pytest_cache .mypy_cache .ruff_cache
