# Every target builds what it needs in .venv; nothing has to be prepared beforehand.
VENV ?= .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# Small matrices on many BLAS threads are many times slower, above all on a busy machine.
export OPENBLAS_NUM_THREADS = 1
export OMP_NUM_THREADS = 1

.PHONY: demo test lint types contract unit bench docs clean

demo: $(STAMP)
	$(PY) -m pnulearn demo

test: lint types contract unit

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(STAMP)
	$(VENV)/bin/mypy

contract: $(STAMP)
	$(VENV)/bin/lint-imports --no-cache

unit: $(STAMP)
	$(PY) -m pytest -n 2

bench: $(VENV)/.bench
	$(PY) benchmarks/search_speed.py

# uv installs in seconds; pip does the same where uv cannot be had.
$(STAMP): pyproject.toml
	test -x $(PY) || python3 -m venv $(VENV)
	$(PY) -m pip install --quiet uv && $(VENV)/bin/uv pip install --quiet --python $(PY) -e ".[dev]" \
		|| $(PY) -m pip install --quiet -e ".[dev]"
	touch $@

$(VENV)/.bench: $(STAMP)
	$(VENV)/bin/uv pip install --quiet --python $(PY) -e ".[bench]" || $(PY) -m pip install --quiet -e ".[bench]"
	touch $@

docs: $(VENV)/.docs
	rm -rf docs/generated
	$(PY) docs/run_blocks.py
	$(PY) -m sphinx -W --keep-going -q -E -b html docs docs/_build/html
	@echo "The site is in docs/_build/html/index.html"

$(VENV)/.docs: $(STAMP)
	$(VENV)/bin/uv pip install --quiet --python $(PY) -e ".[docs]" || $(PY) -m pip install --quiet -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache docs/_build docs/auto_examples docs/generated
