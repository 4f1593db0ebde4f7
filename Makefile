# The verbs, the same for people and CI. `make lab` and `make test` set up all they need.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && echo $$p && break; done)
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
STAMPS := $(VENV)/.stamps
UV := $(BIN)/uv
export PATH := $(BIN):$(PATH)
export UV_PYTHON_DOWNLOADS := never
ROOT_ARGS := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)
AGENT_SOURCES := $(wildcard acai_jupyter/agent/*.py acai_jupyter/transfer/*.py) acai_jupyter/in_job.py acai_jupyter/contract/loglines.py
LAB_SOURCES := $(shell find labextension/src labextension/style labextension/schema -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help setup lab test test-pythons check format docs build bench contract constraints clean

help:  ## Say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

setup: $(STAMPS)/python $(STAMPS)/lab notebooks/digits  ## Install everything into .venv and node_modules

lab: setup  ## Open JupyterLab on the quick start; ARGS="--no-browser --port 9000" are passed on
	$(BIN)/jupyter lab $(ROOT_ARGS) --ServerApp.root_dir=$(CURDIR)/notebooks --LabApp.default_url=/lab/tree/quick-start.ipynb $(ARGS)

test: setup $(STAMPS)/chromium  ## Run all tests; ARGS="-k words" are passed to pytest
	npm run --silent test
	$(BIN)/python -m pytest $(ARGS)

test-pythons: setup  ## Run unit and contract tests on the other Pythons of this machine
	sh tests/pythons.sh $(UV)

check: setup  ## Lint and type-check all of it
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vermin --quiet --no-tips --violations --eval-annotations -t=3.8- acai_jupyter/transfer acai_jupyter/agent acai_jupyter/in_job.py acai_jupyter/contract/loglines.py
	npm run --silent lint:check

format: setup  ## Format all of it
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	npm run --silent lint

contract: setup  ## Write what is generated from the contract
	$(BIN)/python -m labextension.contract

docs: setup  ## Build the documentation into docs/_build/html
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

build: setup  ## Build the sdist and the wheel into dist/
	npm run --silent build:prod
	rm -rf dist
	$(UV) build --quiet --no-build-isolation --out-dir dist

bench: setup  ## Measure, beside the peers; ARGS=startup for one
	$(BIN)/python -m benchmarks $(ARGS)

constraints: setup  ## Choose the newest versions anew
	$(UV) pip compile --quiet --universal --no-header --no-annotate --upgrade --all-extras --output-file constraints.txt pyproject.toml

clean:  ## Remove what was built
	rm -rf $(VENV) node_modules dist docs/_build labextension/lib labextension/dist notebooks/digits

# -- what the verbs stand on

$(STAMPS)/uv:
	sh .ci/venv.sh "$(PYTHON)" $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/python: $(STAMPS)/uv pyproject.toml constraints.txt package.json server_ext/hatch_build.py $(AGENT_SOURCES)
	SKIP_JUPYTER_BUILDER=1 $(UV) pip install --quiet --python $(BIN)/python --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(STAMPS)/node: $(STAMPS)/uv
	sh .ci/node.sh $(UV) $(BIN)
	@touch $@

node_modules/.package-lock.json: package.json package-lock.json $(STAMPS)/node
	npm ci --silent --no-audit --no-fund
	@touch $@

$(STAMPS)/lab: $(STAMPS)/python node_modules/.package-lock.json $(LAB_SOURCES) tsconfig.json
	npm run --silent build:prod
	@sh .ci/link.sh $(CURDIR)/labextension/dist $(VENV)/share/jupyter/labextensions/acai-jupyter
	@sh .ci/link.sh $(CURDIR)/server_ext/jupyter-config/acai_server.json $(VENV)/etc/jupyter/jupyter_server_config.d/acai_server.json
	@touch $@

$(STAMPS)/chromium: $(STAMPS)/python
	sh .ci/chromium.sh
	@touch $@

notebooks/digits: $(STAMPS)/python notebooks/make_digits.py
	$(BIN)/python notebooks/make_digits.py $@
	@touch $@
