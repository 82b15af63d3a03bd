# Every target builds what it needs in a virtual environment, from pinned and hashed versions.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN := $(VENV)/bin
SHARED ?= ../shared/data
PIN = $(BIN)/uv pip compile --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-header --quiet --upgrade

# The tests start Python hundreds of times: without bytecode each start would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test soak browser lint docs wheel bench lock clean

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: $(VENV)/ready ## Tell a story on simulated files in demo/, and draw the page
	@$(BIN)/karatage demo

test: ## Lint, documentation and tests, those of the page in Chromium
	@$(MAKE) --no-print-directory --jobs=2 $(VENV)/ready browser
	@$(MAKE) --no-print-directory --jobs=3 wheel lint docs
	KARATAGE_SITE=build/docs $(BIN)/pytest -q -n auto --dist worksteal

soak: $(VENV)/ready browser ## Long tests; resumes an earlier run, ends after KARATAGE_SOAK_MINUTES
	$(BIN)/python -m pytest -m soak -p tests.soaking -v -rs tests

browser:
	@sh tests/browser/install.sh

lint: $(VENV)/ready ## Style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/ready ## Build the documentation in build/docs, every warning an error
	$(BIN)/sphinx-build -q -W -n --keep-going -E docs build/docs
	@echo "open build/docs/index.html"

wheel: $(VENV)/ready ## Build sdist and wheel in build/wheel, and try the wheel in an environment of its own
	rm -rf build/wheel
	$(BIN)/hatchling build -t sdist -d build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-build-isolation --no-deps \
	  --wheel-dir build/wheel build/wheel/*.tar.gz
	$(call environment,build/wheel/env,requirements/wheel.lock,build/wheel/*.whl)
	build/wheel/env/bin/python -m pip check
	mkdir build/wheel/empty
	cd build/wheel/empty && ../env/bin/python -I ../../../tests/wheel/check.py ../../..

bench: $(BENCH)/ready ## Speed and memory against other libraries, in one run
	$(BENCH)/bin/python -m benchmarks --data "$(SHARED)"

lock: $(VENV)/ready ## Pin the dependencies anew
	$(PIN) --group install --output-file requirements/install.lock
	$(PIN) pyproject.toml --group test --output-file requirements/test.lock
	$(PIN) pyproject.toml --group bench --output-file requirements/bench.lock
	$(PIN) pyproject.toml --group wheel --constraint requirements/test.lock --output-file requirements/wheel.lock

clean: ## Remove everything that was built
	rm -rf $(VENV) $(BENCH) build demo .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A machine may have python3 without its ensurepip: then its own pip fills the environment.
# uv installs in half the time of pip, but knows no settings of pip, such as the address of a mirror.
define environment
	$(PYTHON) -m venv --clear $(1) || \
	  { $(PYTHON) -m venv --clear --without-pip $(1) && $(PYTHON) -m pip --python $(1)/bin/python install --quiet pip; }
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/install.lock
	$(1)/bin/uv pip install --quiet --python $(1)/bin/python --require-hashes -r $(2) || \
	  $(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(2)
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps $(3)
endef

$(VENV)/ready: requirements/install.lock requirements/test.lock pyproject.toml
	$(call environment,$(VENV),requirements/test.lock,--editable .)
	touch $@

$(BENCH)/ready: requirements/install.lock requirements/bench.lock pyproject.toml
	$(call environment,$(BENCH),requirements/bench.lock,--editable .)
	touch $@
