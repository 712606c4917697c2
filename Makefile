# `make test` sets everything up from a bare clone, then checks style, types and behaviour.

PYTHON ?= python3
VENV ?= .venv
# As many test processes as this; each runs its tensor operations on one thread.
JOBS ?= 2

BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
PROJECTS := $(wildcard packages/*/pyproject.toml)
PIP := $(BIN)/python -m pip --disable-pip-version-check

TOOLS := build editables hatchling hypothesis mypy pytest pytest-xdist ruff types-PyYAML
# What only the tests compare with or read: other tools must load what we write.
ORACLES := accelerate jsonschema peft pyarrow scikit-learn sentence-transformers
# Optional packages that a run uses where they are installed.
OPTIONAL := faiss-cpu matplotlib tensorboard

.PHONY: test setup lint types unit format clean

test: lint types unit

setup: $(INSTALLED)

$(INSTALLED): constraints.txt $(PROJECTS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt --upgrade pip
	$(PIP) install -q -c constraints.txt torch==2.13.0 $(TOOLS) $(ORACLES) $(OPTIONAL)
	$(PIP) install -q -c constraints.txt --no-build-isolation \
		-e 'packages/automodel-core[transformers]' -e 'packages/automodel-llm[parquet]' -e packages/automodel-vlm \
		-e packages/automodel-diffusion -e packages/automodel-retrieval
	touch $(INSTALLED)

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/mypy

unit: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS)

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache dist build
