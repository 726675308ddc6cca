# `make` lists the targets.  Needed: Python >= 3.11; for the end-to-end tests also Go >= 1.26.
VENV := .venv
PY := $(VENV)/bin/python
# What stands in the environment: what the program needs, what `make test` needs beside it, and all.
RUN := $(VENV)/.run
TESTS := $(VENV)/.test
ALL := $(VENV)/.all

DEMO := kubectl-kres explain --demo deploy/checkout -n checkout
CLUSTER := kubectl kres explain deploy/checkout -n checkout
BENCH := bench/run.py
PYTEST_ARGS ?=
BENCH_ARGS ?=
ADVICE ?= 300
CHANGES ?= 200
POLICIES ?= 600
FUZZ ?= 1000
SEED ?= $(shell date +%s)
DIST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: docs help venv demo test test-all fuzz quick check dist cluster bench advice changes policies golden clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-8s  %s\n", $$1, $$2}' Makefile

venv: $(ALL) ## make the virtual environment with all that is used here (PYTHON=... chooses the interpreter)

$(RUN): release/runtime.txt scripts/venv
	@PYTHON="$(PYTHON)" scripts/venv $(VENV) run
	@touch $@

$(TESTS): $(RUN) release/test.txt
	@scripts/venv $(VENV) test
	@touch $@

$(ALL): $(TESTS) constraints.txt
	@scripts/venv $(VENV) all
	@touch $@

demo: $(RUN) ## explain a refused workload of the bundled demo; needs no cluster
	@echo '$$ $(DEMO)'
	@$(VENV)/bin/$(DEMO)
	@echo
	@echo "next: uv tool install .    or pipx install . : then it is kubectl kres --help"
	@echo "next: $(VENV)/bin/$(DEMO) --steps    every step that led to the values"
	@echo "next: $(VENV)/bin/kubectl-kres quota --demo --denied -A    everything that is refused in the demo"
	@echo "next: make cluster    a real API server with the demo's objects"

test: $(TESTS) ## lint, types, contracts, recorded answers, engine, commands, each screen once: five minutes, no Go
	@$(PY) scripts/test.py short

test-all: test $(ALL) ## make test, then all else: real control planes, every size of screen, all cases of matrices
	@$(PY) scripts/test.py rest

fuzz: $(TESTS) ## random objects, snapshots, texts and servers (FUZZ: how many of each, SEED: the first one)
	@KRES_FUZZ=$(FUZZ) KRES_FUZZ_SEED=$(SEED) $(PY) scripts/test.py only tests/hostile

quick: $(TESTS) ## format, lint, types, engine, reports, golden files: what to run after each edit, under a minute
	@scripts/quick $(PY)

check: $(TESTS) ## format, lint, types, import contracts
	@scripts/check $(PY)

dist: $(ALL) ## wheel, sdist, the archive for krew of this platform, tested (PYTHON_DIST: the Python to freeze; DIST_ARGS)
	@$(PY) -m release.build $(DIST_ARGS)
	@$(PY) -m release.krew
	@KRES_DIST=required $(PY) -m pytest -q -m dist tests/dist

cluster: $(RUN) ## a control plane with the demo's objects, until Ctrl-C
	@$(PY) tests/controlplane/serve.py --next "$(CLUSTER)"

bench: $(ALL) ## measure speed and memory, write docs/performance.md (BENCH_ARGS)
	$(PY) $(BENCH) --write $(BENCH_ARGS)

advice: $(ALL) ## run every printed remedy of generated refused worlds on a real control plane (ADVICE: how many worlds)
	@KRES_ADVICE=$(ADVICE) KRES_REQUIRE_CONTROLPLANE=1 $(PY) scripts/test.py only -s tests/e2e/test_advice_plane.py tests/e2e/test_keepers_plane.py

changes: $(ALL) ## generated changes on a real control plane, each end held against what simulate says (CHANGES: how many)
	@KRES_CASES=$(CHANGES) KRES_RANDOM=1 KRES_REQUIRE_CONTROLPLANE=1 $(PY) scripts/test.py only -s tests/e2e/test_changes_plane.py

policies: $(ALL) ## generated admission policies and Pod Security on a real control plane and all it emulates (POLICIES)
	@KRES_POLICIES=$(POLICIES) KRES_REQUIRE_CONTROLPLANE=1 $(PY) scripts/test.py only -s tests/e2e/test_policies_plane.py

golden: $(TESTS) ## rewrite the golden files; read the difference before you commit it
	KRES_GOLDEN=write $(PY) -m pytest -q -m "not e2e" $(PYTEST_ARGS)
	@git --no-pager diff --stat -- tests

docs: $(ALL) ## a site of docs/ in build/site; a link that leads nowhere ends it
	@$(PY) -m release.site
	@$(VENV)/bin/zensical build --strict
	@echo "made: build/site/index.html"

clean: ## remove the virtual environment, caches and build results; built control planes stay in ~/.cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find kubectl_kres tests -name __pycache__ -type d -prune -exec rm -rf {} +
