# Every target builds what it needs in .venv; nothing has to be prepared beforehand.
VENV ?= .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
# Small matrices on many BLAS threads are many times slower, above all on a busy machine.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1
# Many container images forbid Python to keep bytecode; then every process compiles all that it imports anew.
export PYTHONDONTWRITEBYTECODE =
UV_INSTALL := $(VENV)/bin/uv pip install --quiet --compile-bytecode --python

.PHONY: attack check-estimators reproduce demo mutants soak test test-all test-random lint types contract unit fuzz test-lowest test-newest test-machines dist-check lock bench docs clean

demo: $(STAMP)
	$(PY) -m pnulearn demo

# Every table and figure of the paper, continued where the last run stopped. For example:
# make reproduce OPTIONS="--data FOLDER --jobs 2", or OPTIONS=--quick for a run of minutes without data.
reproduce: $(STAMP)
	$(PY) -m experiments reproduce $(OPTIONS)

test: lint types contract unit

lint: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

types: $(STAMP)
	$(VENV)/bin/mypy

contract: $(STAMP)
	$(VENV)/bin/lint-imports --no-cache

# worksteal gives each of the two processes half of the files, so that a module's fixtures are made once.
# `.venv/bin/coverage report -m` names the lines that no test runs.
unit: $(STAMP)
	$(PY) -m pytest -n 2 --dist worksteal -m "not thorough" --cov --cov-report=

# What `make test` leaves out because it takes long, a browser or PyTorch: installs them where it may, and names what it
# still skips.
test-all: $(STAMP)
	$(PY) .ci/test_all.py

# The tests of `make test` in three other orders.
test-random: $(STAMP)
	for seed in 1 2 3; do PNULEARN_ORDER=$$seed $(PY) -m pytest -n 2 --dist loadfile -m "not thorough" || exit 1; done

# Commands that are killed 100 times at random moments and run again; the summary is results/soak.md. Then 1,000 faults
# of disk and process while rows are labelled (results/journal.md).
soak: $(STAMP)
	$(PY) -m tests.soak.kills
	$(PY) -m tests.soak.journal --out results/journal.md

# Small changes of the core that some test has to notice; the summary is results/mutants.md.
mutants: $(STAMP)
	$(PY) -m tests.mutation.run

# 10,000 damaged model files and 2,000 damaged tables; `make test` tries a few hundred.
fuzz: $(STAMP)
	$(PY) tests/files/fuzz.py --out results/fuzz.md

# The oldest versions that pyproject.toml promises, in an environment of their own.
LOWEST := $(VENV)-lowest
test-lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n 2 tests/problem tests/solvers tests/learning tests/estimators tests/metrics \
		tests/priors tests/files tests/statistics tests/test_losses.py tests/test_risks.py tests/test_theory.py \
		tests/test_advice.py tests/test_public_api.py

$(LOWEST)/.installed: pyproject.toml $(STAMP)
	$(VENV)/bin/uv venv --quiet --clear --python $(PY) $(LOWEST)
	$(UV_INSTALL) $(LOWEST)/bin/python --resolution lowest-direct -e ".[io,skops]"
	$(UV_INSTALL) $(LOWEST)/bin/python -e ".[io,skops]" --group lowest
	touch $@

# scikit-learn's checks of every public estimator, with its lowest and its installed version; the table is
# results/check-estimators.md.
check-estimators: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m tests.check_estimators
	$(PY) -m tests.check_estimators

# The newest versions of everything, without requirements.lock; made anew at every run.
NEWEST := $(VENV)-newest
test-newest: $(STAMP)
	$(VENV)/bin/uv venv --quiet --clear --python $(PY) $(NEWEST)
	$(UV_INSTALL) $(NEWEST)/bin/python --upgrade -e ".[dev]"
	$(NEWEST)/bin/python -m pytest -n 2 --dist worksteal -m "not thorough"

# The same answers from every BLAS kernel, number of threads, order of rows and last bit; MACHINES=--quick takes two minutes.
test-machines: $(STAMP)
	$(PY) -m tests.machines.run $(MACHINES)

# Bad inputs against every entry point, each cell with a time limit; the summary is results/attack.md.
attack: $(STAMP)
	$(PY) -m tests.attack.run

# Wheel and sdist, tried in empty environments.
dist-check: $(STAMP)
	$(PY) .ci/check_dist.py

# The versions that `make test` and `make docs` install; `pip install pnulearn` does not read them.
lock: $(STAMP)
	$(VENV)/bin/uv pip compile --quiet --upgrade pyproject.toml --extra dev --extra docs --universal \
		--python-version 3.11 --no-header --no-annotate --output-file requirements.lock

bench: $(VENV)/.bench
	$(PY) benchmarks/search_speed.py
	$(PY) benchmarks/many_rows.py
	$(PY) benchmarks/sparse_text.py
	$(PY) benchmarks/prediction.py
	$(PY) benchmarks/waiting.py
	$(PY) benchmarks/command_line.py 200000 --commands predict hand

# uv installs in seconds; pip does the same where uv cannot be had.
$(STAMP): pyproject.toml requirements.lock
	test -x $(PY) || python3 -m venv $(VENV)
	$(PY) -m pip install --quiet uv && $(UV_INSTALL) $(PY) -c requirements.lock -e ".[dev]" \
		|| $(PY) -m pip install --quiet -c requirements.lock -e ".[dev]"
	touch $@

$(VENV)/.bench: $(STAMP)
	$(UV_INSTALL) $(PY) -e ".[bench]" || $(PY) -m pip install --quiet -e ".[bench]"
	touch $@

docs: $(VENV)/.docs
	rm -rf docs/generated
	$(PY) docs/check_api.py
	$(PY) docs/run_blocks.py
	$(PY) -m sphinx -W --keep-going -q -E -b html docs docs/_build/html
	@echo "The site is in docs/_build/html/index.html"

$(VENV)/.docs: $(STAMP)
	$(UV_INSTALL) $(PY) -c requirements.lock -e ".[docs]" || $(PY) -m pip install --quiet -c requirements.lock -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-newest build dist .pytest_cache .mypy_cache .ruff_cache docs/_build docs/auto_examples docs/generated
