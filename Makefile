# `make` lists the targets.  Needed: Python >= 3.11; for the end-to-end tests also Go >= 1.26.
VENV := .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready

DEMO := kubectl-kres explain --demo deploy/checkout -n checkout
CLUSTER := kubectl kres explain deploy/checkout -n checkout
BENCH := bench/run.py
PYTEST_ARGS ?=
BENCH_ARGS ?=
ADVICE ?= 300
CHANGES ?= 200
POLICIES ?= 600
DIST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: docs help venv demo test quick check dist cluster bench advice changes policies golden clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s  %s\n", $$1, $$2}' Makefile

venv: $(READY) ## make the virtual environment (PYTHON=... chooses the interpreter)

$(READY): pyproject.toml constraints.txt scripts/venv
	@PYTHON="$(PYTHON)" scripts/venv $(VENV)
	@touch $@

demo: $(READY) ## explain a refused workload of the bundled demo; needs no cluster
	@echo '$$ $(DEMO)'
	@$(VENV)/bin/$(DEMO)
	@echo
	@echo "next: export PATH=$(CURDIR)/$(VENV)/bin:\$$PATH    then kubectl finds the plugin: kubectl kres --help"
	@echo "next: $(DEMO) --steps    every step that led to the values"
	@echo "next: kubectl-kres quota --demo --denied -A    everything that is refused in the demo"
	@echo "next: make cluster    a real API server with the demo's objects"

test: check ## check, build the test control plane if it is missing, run all tests (PYTEST_ARGS, KRES_VECTORS)
	@scripts/test $(PY) $(PYTEST_ARGS)

quick: $(READY) ## format, lint, types, engine, reports, golden files: what to run after each edit, under a minute
	@scripts/quick $(PY)

check: $(READY) ## format, lint, types, import contracts
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

dist: $(READY) ## wheel, sdist, the archive for krew of this platform, tested (PYTHON_DIST: the Python to freeze; DIST_ARGS)
	@$(PY) -m release.build $(DIST_ARGS)
	@$(PY) -m release.krew
	@KRES_DIST=required $(PY) -m pytest -q -m dist tests/dist

cluster: $(READY) ## a control plane with the demo's objects, until Ctrl-C
	@$(PY) tests/controlplane/serve.py --next "$(CLUSTER)"

bench: $(READY) ## measure speed and memory, write docs/performance.md (BENCH_ARGS)
	$(PY) $(BENCH) --write $(BENCH_ARGS)

advice: $(READY) ## run every printed remedy of generated refused worlds on a real control plane (ADVICE: how many worlds)
	@KRES_ADVICE=$(ADVICE) KRES_REQUIRE_CONTROLPLANE=1 scripts/test $(PY) -s tests/e2e/test_advice_plane.py

changes: $(READY) ## generated changes on a real control plane, each end held against what simulate says (CHANGES: how many)
	@KRES_CASES=$(CHANGES) KRES_RANDOM=1 KRES_REQUIRE_CONTROLPLANE=1 scripts/test $(PY) -s tests/e2e/test_changes_plane.py

policies: $(READY) ## generated admission policies and Pod Security on a real control plane and all it emulates (POLICIES)
	@KRES_POLICIES=$(POLICIES) KRES_REQUIRE_CONTROLPLANE=1 scripts/test $(PY) -s tests/e2e/test_policies_plane.py

golden: $(READY) ## rewrite the golden files; read the difference before you commit it
	KRES_GOLDEN=write $(PY) -m pytest -q -m "not e2e" $(PYTEST_ARGS)
	@git --no-pager diff --stat -- tests

docs: $(READY) ## a site of docs/ in build/site; a link that leads nowhere ends it
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet
	@echo "made: build/site/index.html"

clean: ## remove the virtual environment, caches and build results; built control planes stay in ~/.cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find kubectl_kres tests -name __pycache__ -type d -prune -exec rm -rf {} +
