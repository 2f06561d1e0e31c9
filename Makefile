# make        set up .venv from requirements.lock, then run every experiment
# make test   set up the same, then run the tests
# make smoke  the same workflow in a minute and a half
# make sweep  the scenarios of config/sweep.yaml side by side; another list: make sweep SWEEP=mine.yaml
# make report  the report of a finished run as an archive of files: results/report.zip
# make national  all states by all systems at many budgets, and TopDown down to blocks: docs/cluster.md
# make slurm  the workflow on a Slurm cluster, from its login node: docs/cluster.md
# make test-cluster  the tests that start a Slurm of three nodes here, of which one dies: three minutes
# make bench  exact samplers against chains and other libraries, and what the config's settings
#             rest on: about five minutes
# make bench-growth  TopDown down to 900,000 synthetic blocks, by number of regions: five minutes
# make mutants PACKAGE=isdp/exact  break a package on purpose, fault by fault, and list what its
#             tests do not notice
# make docs   the site of the documentation: docs/site/index.html, read without a network
# make lint   check the sources, their types, the prose and the workflow files of CI
# make metadata  write codemeta.json, .zenodo.json, codecheck.yml and the addresses in pyproject.toml
# make dist   the wheel and the source distribution, tested, in dist/
# make crate  after a run: results/crate.zip, a Workflow Run RO-Crate for a repository of research data
# make keys   write the table of the config's keys from its models
# make rulegraph  update docs/rulegraph.svg; needs graphviz
# make picture  draw the picture of the README again

SHELL := /bin/sh
# containers set it, and each of a hundred jobs would compile both packages again
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.ready-dev
# apart from the rest: Snakemake imports every plugin on its path at each start
SLURM_PLUGIN := $(CURDIR)/$(VENV)/slurm
PEERS := .venv-bench
PEERS_READY := $(PEERS)/.ready
DOCS := .venv-docs
DOCS_READY := $(DOCS)/.ready
MUTANTS := .venv-mutants
MUTANTS_READY := $(MUTANTS)/.ready
PACKAGE ?=
CORES ?= all
SWEEP ?= config/sweep.yaml
# after a run that succeeded; a failed one ends with Snakemake's own error
SUMMARY = PYTHONPATH=src $(BIN)/python -m reproduction.jobs.summary results

# the first Python at hand that fits
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& echo $$p && break; done)

.DEFAULT_GOAL := all
.PHONY: all report strict test test-cluster lint smoke sweep national slurm bench bench-growth mutants docs dist crate keys metadata rulegraph picture setup lock clean

all: $(READY)
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES)
	@$(SUMMARY)

# a full run whose verdicts must be those of the list
strict: all
	PATH="$(BIN):$$PATH" python -m reproduction.review.compare_verdicts results config/verdicts.csv

# of a finished run; results/report.html is part of each run
report: $(READY)
	PATH="$(BIN):$$PATH" snakemake everything --report results/report.zip \
		--report-stylesheet workflow/report/report.css

smoke: $(READY)
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --configfile config/smoke.yaml
	@$(SUMMARY)

# a scenario that fails does not stop the others
sweep: $(READY)
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --keep-going sweep --configfile $(SWEEP)
	@$(SUMMARY)

national: $(READY)
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES) national

# further arguments, such as national or --configfile mine.yaml: make slurm ARGS="..."
slurm: $(READY)
	PATH="$(BIN):$$PATH" PYTHONPATH="$(SLURM_PLUGIN)" \
		snakemake --workflow-profile workflow/profiles/slurm $(ARGS)

# file by file side by side, in the order given: the workflow's are the longest, and come first
test: $(DEV_READY)
	PATH="$(BIN):$$PATH" pytest --numprocesses auto --dist loadfile --no-loadscope-reorder \
		tests/workflow tests/unit tests/statistical tests/reproduction

# skipped, with the reason, without root or Debian's slurm-wlm and munge
test-cluster: $(DEV_READY)
	PATH="$(BIN):$$PATH" pytest tests/cluster

lint: $(DEV_READY)
	PATH="$(BIN):$$PATH" ruff check .
	PATH="$(BIN):$$PATH" ruff format --check .
	PATH="$(BIN):$$PATH" codespell README.md CONTRIBUTING.md CHANGELOG.md CODE_OF_CONDUCT.md SECURITY.md benchmarks/README.md config/README.md data docs notebooks paper results/README.md .github
	# in the code, floor is a function and wing a column of result tables
	PATH="$(BIN):$$PATH" codespell --ignore-words-list=floor,floors,wing src
	PATH="$(BIN):$$PATH" pytest --quiet tests/unit/test_prose.py
	PATH="$(BIN):$$PATH" snakefmt --check Snakefile workflow/Snakefile workflow/rules .tests/integration/Snakefile
	PATH="$(BIN):$$PATH" snakemake --lint
	PATH="$(BIN):$$PATH" lint-imports
	PATH="$(BIN):$$PATH" mypy
	PATH="$(BIN):$$PATH" check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	PATH="$(BIN):$$PATH" check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	PATH="$(BIN):$$PATH" zizmor --offline --quiet --strict-collection .github/workflows .github/dependabot.yml

# without the peers' environment their rows stay blank, and the rest is measured
bench: $(DEV_READY)
	@$(MAKE) --no-print-directory $(PEERS_READY) \
		|| echo "The environment of OpenDP and blackjax could not be set up: their rows stay blank"
	PATH="$(BIN):$$PATH" python -m benchmarks.bench
	PATH="$(BIN):$$PATH" python benchmarks/county_tuning.py
	PATH="$(BIN):$$PATH" python benchmarks/coupling_tuning.py

bench-growth: $(READY)
	PATH="$(BIN):$$PATH" python -m benchmarks.topdown_growth

mutants: $(DEV_READY) $(MUTANTS_READY)
	PYTHONPATH="$(CURDIR):$(CURDIR)/$(MUTANTS)" $(BIN)/python -m tests.mutants.run $(PACKAGE)

docs: $(DEV_READY) $(DOCS_READY)
	rm -rf docs/reference
	PYTHONPATH="$(CURDIR)/$(DOCS)" $(BIN)/python -m sphinx --quiet --fail-on-warning \
		--doctree-dir $(DOCS)/doctrees docs docs/site
	@echo "The documentation: docs/site/index.html"

dist: $(DEV_READY)
	rm -rf dist
	mkdir dist
	$(BIN)/python -c "from flit_core.buildapi import *; build_sdist('dist'); build_wheel('dist')"
	PATH="$(BIN):$$PATH" pytest --quiet tests/unit/test_wheel.py

keys: $(READY)
	PYTHONPATH=src $(BIN)/python -m reproduction.config.describe config/README.md

crate: $(READY)
	PYTHONPATH=src $(BIN)/python -m reproduction.publication.crate . results results/crate.zip

# from CITATION.cff, which alone has the address of the repository
metadata: $(READY)
	PYTHONPATH=src $(BIN)/python -m reproduction.publication.metadata .

# the states first: Snakemake does not know what follows from them before they are chosen
rulegraph: $(READY)
	PATH="$(BIN):$$PATH" snakemake --cores $(CORES) --until select_states
	PATH="$(BIN):$$PATH" python docs/draw_rules.py docs/rulegraph.svg

picture: $(READY)
	PYTHONPATH=src $(BIN)/python docs/draw_counties.py docs/counties_IL.png

setup: $(DEV_READY)

$(READY): requirements.lock requirements-slurm.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: Python 3.11, 3.12 or 3.13 is needed and none was found;" \
		"install one, or name it: make PYTHON=/path/to/python"; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON): about two minutes, once"
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
		--target "$(SLURM_PLUGIN)" -r requirements-slurm.lock
	@touch $@

# what tests and checks need in addition
$(DEV_READY): requirements-dev.lock $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

$(PEERS_READY): benchmarks/requirements.txt
	$(PYTHON) -m venv --clear $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	@touch $@

# only what the locked environment does not hold
$(DOCS_READY): docs/requirements.txt $(READY)
	rm -rf $(DOCS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(DOCS) \
		-r docs/requirements.txt
	@touch $@

# the tool that edits the sources, apart from the locked environment, which runs the tests
$(MUTANTS_READY): tests/mutants/requirements.txt $(READY)
	rm -rf $(MUTANTS)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(MUTANTS) \
		-r tests/mutants/requirements.txt
	@touch $@

# rewrites the three locks; needs uv (https://docs.astral.sh/uv)
COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate
lock:
	$(COMPILE) --extra workflow pyproject.toml --output-file requirements.lock
	$(COMPILE) --extra workflow --extra opendp --extra parquet --group dev \
		--constraint requirements.lock pyproject.toml --output-file requirements-dev.lock
	sed -n '/^slurm = /,/^]/s/^ *"\(.*\)",/\1/p' pyproject.toml \
		| $(COMPILE) --no-deps - --output-file requirements-slurm.lock

clean:
	find results -mindepth 1 ! -name README.md -delete
