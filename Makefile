# make help                          these lines
# make figures [SCALE=smoke|paper]   set up .venv, run the workflow, end with the report page
# make page [SCALE=smoke|paper]      everything drawn from the accepted tables, without data (docs/accepted.md)
# make test                          all tests, the workflow at smoke scale included
# make fuzz [FILES=10000]            damaged files for parsers (an hour), few in make test
# make faults [KILLS=100]            kills and other faults (docs/faults.md), few in make test
# make docs [RUN=smoke|default|paper] one folder for a host, docs/_build/html: these pages (a warning ends it), and
#                                    the accepted run of a scale under run/; RUN= leaves it out
# make lint                          style, types, spelling, the form of YAML files and of the workflow
# make peers [RLSCORE=checkout]      the library of the papers' authors into .venv, for the rows that run it (docs/faq.md)
# make check                         the smoke scale: its numbers are the accepted ones, to the bit
# make compare [SCALE=...]           what a finished run has not in common with the accepted one
# make archive [SCALE=...]           a finished run as one file: results/kronbench-<scale>.zip
# make dist [TAG=v0.1.0]             wheel, source archive and sums, tried outside the checkout; a tag must be the version's
# make lock                          resolve the dependencies anew (needs uv)

PYTHON ?= python3
SCALE ?= default
CORES ?= all
FILES ?= 10000
KILLS ?= 100
RUN ?= paper
RLSCORE ?= git+https://github.com/aatapa/RLScore@cc023e66743bd771e2d6efd3ec17f4a231547b43
VENV := .venv
BIN := $(VENV)/bin
# For the shell alone, in quotes: functions of make split a path at its blanks
IN_VENV := PATH="$(CURDIR)/$(BIN):$$PATH"
SCALES := default $(filter-out config,$(patsubst config/%.yaml,%,$(shell grep -l '^scale:' config/*.yaml)))
ifeq ($(filter $(SCALE),$(SCALES)),)
$(error there is no scale '$(SCALE)'; give one of: $(SCALES))
endif
CONFIGFILE := $(if $(filter-out default,$(SCALE)),--configfile config/$(SCALE).yaml)

# Of make check: the instructions that x86-64 has since 2013 (v3, without AVX-512), in OpenBLAS, numba
# and numpy, so that newer processors give the same bits (docs/comparing.md). Two threads, however many
# cores there are: with one the largest deviations, of 1e-12 and less, have other digits.
V3 := OPENBLAS_CORETYPE=Haswell NUMBA_CPU_NAME=haswell NUMBA_CPU_FEATURES= NPY_DISABLE_CPU_FEATURES=X86_V4

.PHONY: help figures page test docs lint check compare fuzz faults peers archive dist lock

figures: $(VENV)/ready
	@$(IN_VENV) snakemake --cores $(CORES) $(CONFIGFILE)

help:
	@sed -n '/^#/!q; s/^# //p' $(firstword $(MAKEFILE_LIST))

page: $(VENV)/ready
	@$(BIN)/kronbench page --scale $(SCALE)

# Two halves side by side: in the first are those that start programs and wait for them. With ARGS
# (-k, a file) it is one run of pytest.
BESIDE := tests/workflow tests/faults tests/docs tests/accepted tests/commands
test: $(VENV)/ready
ifdef ARGS
	@$(IN_VENV) pytest $(ARGS)
else
	@$(IN_VENV); log=$$(mktemp); \
	pytest $(BESIDE) > $$log 2>&1 & beside=$$!; \
	trap 'kill $$beside; rm -f $$log; exit 130' INT TERM; \
	pytest $(addprefix --ignore=,$(BESIDE)); others=$$?; \
	wait $$beside; waiting=$$?; \
	echo "Tests in $(BESIDE):"; cat $$log; rm -f $$log; \
	test $$others -eq 0 && test $$waiting -eq 0
endif

lint: $(VENV)/ready
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/snakefmt --check Snakefile workflow
	@$(BIN)/mypy && $(BIN)/codespell && $(BIN)/yamllint --strict .
	@$(BIN)/snakemake --lint --snakefile workflow/Snakefile

# Sphinx and its own packages lie beside those of .venv, in the versions of docs/requirements.lock.
docs: $(VENV)/ready .venv-docs/ready
	@tools=$$(.venv-docs/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') && \
		PYTHONPATH=$$tools$${PYTHONPATH:+:$$PYTHONPATH} $(BIN)/python -m sphinx \
		--fail-on-warning --keep-going --quiet -A run=$(RUN) -d docs/_build/doctrees docs docs/_build/html
	@rm -rf docs/_build/html/run
ifneq ($(RUN),)
	@$(BIN)/kronbench page --scale $(RUN) && cp -R results/accepted-$(RUN)/report docs/_build/html/run
endif
	@echo docs/_build/html/index.html

.venv-docs/ready: docs/requirements.lock
	@$(PYTHON) -m venv --clear .venv-docs
	@.venv-docs/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

# Its version is told by tags of git, which a pinned commit has not. What it is built with stays
# outside of .venv, and nothing there changes its version.
peers: $(VENV)/ready
	@SETUPTOOLS_SCM_PRETEND_VERSION=0.9.0 $(BIN)/python -m pip install --quiet \
		--disable-pip-version-check --no-deps --force-reinstall "$(RLSCORE)"
	@$(BIN)/python -c "import importlib.metadata as m; from kronbench.models import pair_rlscore; print('RLScore', m.version('rlscore'))"

fuzz: $(VENV)/ready
	@KRONBENCH_FUZZ=$(FILES) $(BIN)/pytest tests/fuzz $(ARGS)

faults: $(VENV)/ready
	@KRONBENCH_FAULTS=all $(IN_VENV) pytest tests/faults $(ARGS)
	@$(IN_VENV) python -m tests.faults.kills --kills $(KILLS) \
		$(addprefix --mirror ,$(wildcard $(KRONBENCH_MIRROR)))

check:
	@$(V3) $(MAKE) --no-print-directory figures compare SCALE=smoke CORES=2

compare: $(VENV)/ready
	@$(BIN)/kronbench compare results/reference/$(SCALE) results/$(SCALE) \
		> results/$(SCALE)/compared.md; status=$$?; cat results/$(SCALE)/compared.md; exit $$status

archive: $(VENV)/ready
	@$(BIN)/kronbench archive results/$(SCALE) -o results/kronbench-$(SCALE).zip

# The wheel made of the source archive is the wheel; with the packages of .venv but without the
# checkout, it runs in another folder; with what it requires alone, so does the core.
dist: $(VENV)/ready
	@version=v$$($(BIN)/python -c 'import importlib.metadata as m; print(m.version("kronbench"))'); \
		test "$(or $(TAG),$$version)" = "$$version" || { echo "the tag $(TAG) is not the version $$version"; exit 1; }
	@$(PYTHON) -m venv --clear .venv-dist
	@.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check hatchling==1.33.0
	@rm -rf dist && .venv-dist/bin/hatchling build -d dist
	@.venv-dist/bin/python -m pip wheel --quiet --no-deps --no-index --no-build-isolation \
		--wheel-dir dist/again dist/kronbench-*.tar.gz
	@cmp dist/again/*.whl dist/*.whl && rm -r dist/again
	@$(PYTHON) -m venv --clear .venv-dist
	@.venv-dist/bin/python -m pip install --quiet --no-deps --no-index dist/*.whl
	@$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> "$$(.venv-dist/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/locked.pth"
	@folder=$$(mktemp -d) && cp tests/installed.py $$folder && cd $$folder && \
		env -u PYTHONPATH "$(CURDIR)/.venv-dist/bin/python" installed.py "$(CURDIR)/src" && rm -r $$folder
	@$(PYTHON) -m venv --clear .venv-dist
	@.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	@folder=$$(mktemp -d) && cp tests/core_alone.py $$folder && cd $$folder && \
		env -u PYTHONPATH "$(CURDIR)/.venv-dist/bin/python" core_alone.py && rm -r $$folder
	@cd dist && sha256sum kronbench-* > SHA256SUMS && cat SHA256SUMS

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
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra suite --extra rivals --extra test --no-header pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --constraint requirements.lock --group pyproject.toml:docs --no-header -o docs/requirements.lock
	sed -i '/^ *# pinned as in requirements.lock/q' environment.yml
	sed -nE 's/^([a-z0-9][^ ]*==[^\\]*[^ \\]) *\\?$$/      - "\1"/p' requirements.lock >> environment.yml
	sed -e '1,3c # What each job needs, for Snakemake (--software-deployment-method conda): environment.yml, written\n# by make lock. The checkout is two folders above this one, and above .snakemake/conda, where\n# Snakemake reads it.' -e 's|"-e \."|"-e ../.."|' environment.yml > workflow/envs/kronbench.yaml
