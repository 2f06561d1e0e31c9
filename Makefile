# make        set up .venv from requirements.lock, then run every experiment
# make test   set up the same, then run the tests
# make smoke  the same workflow in about a minute
# make bench  the measurements behind the config's settings

SHELL := /bin/sh
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
READY := $(VENV)/.ready
CORES ?= all

# the first Python at hand that fits
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& echo $$p && break; done)

.DEFAULT_GOAL := all
.PHONY: all test smoke bench setup lock clean

all: $(READY)
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES)

smoke: $(READY)
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --configfile config/smoke.yaml

test: $(READY)
	PATH="$(BIN):$$PATH" pytest

bench: $(READY)
	PATH="$(BIN):$$PATH" python benchmarks/county_tuning.py
	PATH="$(BIN):$$PATH" python benchmarks/coupling_tuning.py

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: Python 3.11, 3.12 or 3.13 is needed and none was found;" \
		"install one, or name it: make PYTHON=/path/to/python"; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON): about two minutes, once"
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# rewrites requirements.lock; needs uv (https://docs.astral.sh/uv)
lock:
	uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes \
		--no-emit-index-url --no-header --no-annotate pyproject.toml --output-file requirements.lock

clean:
	find results -mindepth 1 ! -name README.md -delete
