# Every target works as the first command after a clone: it needs python3, make and a package index.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
E2E_HOME ?= .e2e
DEMO := tests/fixtures/logs/shm-too-small.log

.DEFAULT_GOAL := help
.PHONY: help test e2e bench options snapshots lint types fmt rules demo schema picture docs build clean

help: ## Show the targets
	@grep -E '^[a-z0-9]+:.*## ' $(firstword $(MAKEFILE_LIST)) | sed -E 's/^([a-z0-9]+):.*## /  make \1\t/' | expand -t 16

$(READY): pyproject.toml
	python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

test: $(READY) ## Run the tests (ARGS='-k name' to choose)
	$(BIN)/python -m pytest $(ARGS)

e2e: $(READY) ## Try it on a real vLLM server (CPU build, 3 GB, some ten minutes)
	$(BIN)/python tests/e2e/environment.py $(E2E_HOME)
	E2E_HOME=$(abspath $(E2E_HOME)) $(BIN)/python -m pytest tests/e2e $(ARGS)

bench: $(READY) ## Measure the wheel against its peers and write docs/benchmarks.md (ARGS='--size 1000')
	rm -rf build/bench
	$(BIN)/python -m build --wheel --outdir build/bench >/dev/null
	python3 -m venv build/bench/venv
	build/bench/venv/bin/pip install --quiet --disable-pip-version-check build/bench/*.whl
	$(BIN)/python -m benchmarks.run docs build/bench/venv/bin $(ARGS)

snapshots: $(READY) ## Write the reports of the snapshot tests anew, to be read in git diff
	SNAPSHOTS=write $(BIN)/python -m pytest -q tests/report/test_snapshots.py

options: $(READY) ## Write which release knows which option, from the index's source archives
	$(BIN)/python tools/options_by_release.py 0.4.2 0.5.5 0.6.6.post1 0.7.3 0.8.5 0.9.2 0.10.2 0.11.0 0.14.0 0.17.0 0.20.0 0.23.0 0.26.0 0.29.0 0.32.0 0.33.0 > options.json.new
	mv options.json.new src/vllm_triage/remedy/options.json

lint: $(READY) ## Lint the code, check its format, lint the catalog
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/vllm-triage rules lint

types: $(READY) ## Check the types
	$(BIN)/mypy

fmt: $(READY) ## Format the code and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

rules: $(READY) ## Run the examples of all rules
	$(BIN)/vllm-triage rules test

demo: $(READY) ## Triage a real crash log
	@echo '$$ tail -n 12 $(DEMO)'
	@tail -n 12 $(DEMO)
	@echo
	@echo '$$ vllm-triage $(DEMO)'
	@$(BIN)/vllm-triage $(DEMO) || test $$? -eq 1

schema: $(READY) ## Write the JSON Schema of the report
	$(BIN)/python -m vllm_triage.report.schema

picture: $(READY) ## Draw docs/diagnosis.svg from the tool's own output
	$(BIN)/python docs/picture.py $(DEMO) docs/diagnosis.svg

docs: $(READY) ## Write the pages of the rules and of the checks
	$(BIN)/python docs/rules_table.py > docs/rules.md.new
	mv docs/rules.md.new docs/rules.md
	$(BIN)/python docs/rule_pages.py docs/rules
	$(BIN)/python docs/probes_table.py > docs/probes.md.new
	mv docs/probes.md.new docs/probes.md

build: $(READY) ## Build the sdist and the wheel into dist/
	$(BIN)/python -m build --outdir dist

clean: ## Remove the environment and what was built
	rm -rf $(VENV) dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
