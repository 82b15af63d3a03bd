# Every target builds what it needs in a virtual environment, from pinned and hashed versions.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN := $(VENV)/bin
SHARED ?= ../shared/data

.PHONY: help demo test lint bench lock clean

help: ## Show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

demo: $(VENV)/ready ## Write a small collection to demo/ and evaluate it
	@$(BIN)/karatage demo

test: $(VENV)/ready ## Lint, types, layers and tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest -q -n auto --dist worksteal

bench: $(BENCH)/ready ## Speed and memory against other libraries, in one run
	$(BENCH)/bin/python -m benchmarks --data "$(SHARED)"

lock: $(VENV)/ready ## Pin the dependencies anew
	$(BIN)/pip install --quiet uv
	for group in test bench; do \
	  $(BIN)/uv pip compile pyproject.toml --group $$group --universal --fork-strategy fewest --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-header --quiet --upgrade --output-file requirements/$$group.lock; \
	done

clean: ## Remove everything that was built
	rm -rf $(VENV) $(BENCH) demo .pytest_cache .mypy_cache .ruff_cache .hypothesis

# A machine may have python3 without its ensurepip: then its own pip fills the environment.
define environment
	$(PYTHON) -m venv --clear $(1) || \
	  { $(PYTHON) -m venv --clear --without-pip $(1) && $(PYTHON) -m pip --python $(1)/bin/python install --quiet pip; }
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(2)
	$(1)/bin/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	touch $@
endef

$(VENV)/ready: requirements/test.lock pyproject.toml
	$(call environment,$(VENV),requirements/test.lock)

$(BENCH)/ready: requirements/bench.lock pyproject.toml
	$(call environment,$(BENCH),requirements/bench.lock)
