# Everything a newcomer needs: `make demo`, `make test`. Both set themselves up.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.PHONY: help install demo test lint check bench conformance lock clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 18

$(STAMP): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 10) else f"AgentQuest needs Python 3.10 or newer; {sys.executable} is {v.major}.{v.minor}. Try: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $(STAMP)

install: $(STAMP)  ## make the virtual environment

demo: $(STAMP)   ## run the baseline agents on the built-in homes
	$(BIN)/agentquest demo

test: $(STAMP)   ## run all tests
	$(BIN)/python -m pytest -n auto

lint: $(STAMP)   ## style, types and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint test ## what CI runs

bench: $(STAMP)  ## measure speed, side by side with what people run otherwise
	$(BIN)/python benchmarks/run.py $(BENCH)

conformance: $(STAMP) ## play built-in homes on the reference engine too, and compare
	$(BIN)/python conformance/run.py $(CONFORMANCE)

lock: $(STAMP)   ## refresh requirements.lock from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --no-emit-index-url \
	  --no-header --no-annotate --extra dev -o requirements.lock pyproject.toml

clean:           ## remove everything that was made
	rm -rf $(VENV) .reference-venv dist .pytest_cache .mypy_cache .ruff_cache
