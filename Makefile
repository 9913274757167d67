# make figures [SCALE=smoke|paper]   set up .venv, run the workflow, end with the report page
# make test                          all tests, the workflow at smoke scale included
# make lint, make check              style; style and tests
# make lock                          resolve the dependencies anew (needs uv)

PYTHON ?= python3
SCALE ?= default
CORES ?= all
VENV := .venv
BIN := $(abspath $(VENV))/bin
CONFIGFILE := $(if $(filter-out default,$(SCALE)),--configfile config/$(SCALE).yaml)

.PHONY: figures test lint check lock

figures: $(VENV)/ready
	@PATH="$(BIN):$$PATH" snakemake --cores $(CORES) $(CONFIGFILE)

test: $(VENV)/ready
	@PATH="$(BIN):$$PATH" pytest $(ARGS)

lint: $(VENV)/ready
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/snakefmt --check Snakefile workflow

check: lint test

$(VENV)/ready: requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "python3 is missing: install Python 3.11 or newer (python.org, or your package manager)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 figures (python.org, or your package manager)"; exit 1; }
	@command -v g++ >/dev/null || command -v c++ >/dev/null || command -v clang++ >/dev/null || { echo "a C++ compiler is missing (libsvm-official builds from source): install g++ or clang, such as apt install g++"; exit 1; }
	@echo "setting up $(VENV) from requirements.lock"
	@$(PYTHON) -m venv $(VENV) || { echo "python3 cannot make environments: install its venv module, such as apt install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra test --no-header pyproject.toml -o requirements.lock
	sed -i '/^ *# pinned as in requirements.lock/q' environment.yml
	sed -nE 's/^([a-z0-9][^ ]*==[^\\]*[^ \\]) *\\?$$/      - "\1"/p' requirements.lock >> environment.yml
	sed -e '1,3c # What each job needs, for Snakemake (--software-deployment-method conda): environment.yml, written\n# by make lock. The checkout is two folders above this one, and above .snakemake/conda, where\n# Snakemake reads it.' -e 's|"-e \."|"-e ../.."|' environment.yml > workflow/envs/kronbench.yaml
