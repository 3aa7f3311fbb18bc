# Two commands set up everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup peers demo test check docs prove bench clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

# Train the English-French Transformer on the built-in corpus and look inside it.
demo: $(READY)
	$(BIN)/heedful demo -o demo

# The whole suite but what takes minutes; the coverage bar is in pyproject.toml.
test: $(READY)
	$(BIN)/python -m pytest -m 'not long' -n auto --dist loadfile --cov --cov-report=term:skip-covered

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python docs/make.py --check

# Write the pages of docs/reference from the code; `make check` says when they are stale.
docs: $(READY)
	$(BIN)/python docs/make.py

# What takes longer than a test may: the figures the project promises.
prove: $(READY)
	$(BIN)/python -m pytest -m long -s

# Heedful beside its peers, into docs/benchmarks.md; on Multi30k where HEEDFUL_DATA has it.
bench: $(READY)
	$(BIN)/python -m benchmarks

# Tools the tests use, apart from ours: they want other versions of things, or another language.
peers: build/argos build/node/.ready
build/argos: $(READY)
	$(BIN)/pip install --quiet --no-deps --target build/argos argostranslate==1.11.0

# Clients of the server in JavaScript, and what judges whether everybody can use the page.
build/node/.ready: Makefile
	npm install --no-fund --no-audit --silent --prefix build/node axe-core@4 libretranslate-ts@0.5 translate@3
	touch build/node/.ready

clean:
	rm -rf $(VENV) build dist demo src/*.egg-info .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
