# The verbs, the same for people and CI. `make lab` and `make test` set up all they need.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && echo $$p && break; done)
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
STAMPS := $(VENV)/.stamps
UV := $(BIN)/uv
export PATH := $(BIN):$(PATH)
export UV_PYTHON_DOWNLOADS := never
unexport PYTHONDONTWRITEBYTECODE  # as containers set it: each of a thousand processes would compile all that it imports
ROOT_ARGS := $(shell [ "$$(id -u)" = 0 ] && echo --allow-root)
AGENT_SOURCES := $(wildcard acai_jupyter/agent/*.py acai_jupyter/transfer/*.py) acai_jupyter/in_job.py acai_jupyter/trees.py acai_jupyter/contract/loglines.py
LAB_SOURCES := $(shell find labextension/src labextension/style labextension/schema -type f 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help setup lab test test-cluster test-pythons check format docs build bench bench-decisions attack kills lives fuzz contract constraints screenshots clean

help:  ## Say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

setup: $(STAMPS)/python $(STAMPS)/lab notebooks/digits  ## Install everything into .venv and node_modules

lab: setup  ## Open JupyterLab on the quick start; ARGS="--no-browser --port 9000" are passed on
	$(BIN)/jupyter lab $(ROOT_ARGS) --ServerApp.root_dir=$(CURDIR)/notebooks --LabApp.default_url=/lab/tree/quick-start.ipynb $(ARGS)

test: setup $(STAMPS)/chromium  ## Run all tests; ARGS="-k words" are passed to pytest
	npm run --silent test
	sh tests/pythons.sh $(UV) 3.8
	sh .ci/pytest.sh $(BIN)/python -n 3 --dist loadfile $(ARGS)

test-cluster: setup  ## Run the tests that need a Kubernetes cluster: that of KUBECONFIG, else one of kind or minikube
	sh .ci/cluster.sh sh .ci/pytest.sh $(BIN)/python -n 3 --dist loadscope tests/cluster $(ARGS)

test-pythons: setup  ## Run unit and contract tests on the other Pythons of this machine
	sh tests/pythons.sh $(UV)

check: setup  ## Lint and type-check all of it
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vermin --quiet --no-tips --violations --eval-annotations -t=3.8- acai_jupyter/transfer acai_jupyter/agent acai_jupyter/in_job.py acai_jupyter/trees.py acai_jupyter/contract/loglines.py
	npm run --silent lint:check

format: setup  ## Format all of it
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	npm run --silent lint

contract: $(STAMPS)/python node_modules/.package-lock.json  ## Write what is generated: from the contract, and what can be translated
	$(BIN)/python -m labextension.contract
	npm run --silent messages

docs: setup  ## Build the documentation into docs/_build/html
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

screenshots: setup $(STAMPS)/chromium  ## Make the pictures of README and docs anew
	$(BIN)/python -m tests.screenshots

build: setup  ## Build the sdist and the wheel into dist/
	npm run --silent build:prod
	rm -rf dist
	$(UV) build --quiet --no-build-isolation --out-dir dist

bench: setup  ## Measure, beside the peers; ARGS=startup for one
	$(BIN)/python -m benchmarks $(ARGS)

bench-decisions: setup  ## Hold predictions, plans and chosen machines against measurements of others; ARGS=--write
	$(BIN)/python -m benchmarks.decisions $(ARGS)

attack: setup  ## Attack a server of its own in many ways; ARGS="power-loss kills --seconds 600 --seed 7"
	$(BIN)/python -m tests.attack $(ARGS)

kills: setup  ## Kill clients and servers at work, and check; ARGS="--kills 300 --seed 7"
	$(BIN)/python -m tests.kills $(ARGS)

lives: setup  ## Kill servers and agents while jobs run, and check; ARGS="--jobs 200 --kills 100 --seed 7"
	$(BIN)/python -m tests.lives $(ARGS)

fuzz: setup  ## Fuzz the API from its OpenAPI document, longer than the tests do; ARGS="-k jobs"
	FUZZ_EXAMPLES=200 $(BIN)/python -m pytest -n 2 -o timeout=0 tests/integration/test_fuzzed.py $(ARGS)

constraints: setup  ## Choose the newest versions anew
	$(UV) pip compile --quiet --universal --no-header --no-annotate --upgrade --all-extras --output-file constraints.txt pyproject.toml

clean:  ## Remove what was built
	rm -rf $(VENV) node_modules dist docs/_build labextension/lib labextension/dist notebooks/digits

# -- what the verbs stand on

$(STAMPS)/uv:
	sh .ci/venv.sh "$(PYTHON)" $(VENV)
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/python: $(STAMPS)/uv pyproject.toml constraints.txt package.json server_ext/hatch_build.py $(AGENT_SOURCES)
	@rm -rf $(VENV)/share/jupyter/labextensions/acai-jupyter labextension/dist/install.json  # else it installs through the link
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
