# Windvane. `make demo` and `make test` set up everything they need in .venv; nothing else is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo serve docs docs-serve test suite lint table1 lemma3 reproduce evidence quick endless first-steps bench optuna-bench wdbo-bench constraints-bench extras dist crash crash-service open load clean start fuzz lower-bounds page-bench

help:  ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e '.[demo]'
	@touch $@

$(VENV)/experiments: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e '.[experiments]'
	@touch $@

# Torch, for the tests of the BoTorch integration, by its version and first: asked for by another package, pip would take
# the newest build with gigabytes of accelerator libraries. Nothing is compiled here: of some ten thousand files the tests
# import a part, which is compiled as they go.
$(VENV)/test: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile torch==2.13.0
	$(PIP) --no-compile -c constraints.txt -e '.[experiments,dask,service,postgres,optuna,botorch,gest,docs,test]'
	@touch $@

$(VENV)/service: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e '.[service]'
	@touch $@

# Debian's Chromium, for the tests of the page. Where it cannot be installed they are skipped, and say so.
$(VENV)/browser: $(VENV)/test
	@command -v chromium > /dev/null || { \
	  echo "installing Chromium for the tests of the page"; \
	  root=$$([ $$(id -u) = 0 ] || echo sudo -n); \
	  { $$root apt-get update -qq && $$root apt-get install -qq -y --no-install-recommends chromium; } > /dev/null 2>&1; \
	} || echo "no Chromium: the tests of the page will be skipped"
	@npm ci --prefix tests/browser --no-audit --no-fund --silent > /dev/null 2>&1 || echo "no axe-core from npm: its test will be skipped"
	@touch $@

demo: $(VENV)/demo  ## auto, told nothing, beside its rivals on three worlds, under a minute, with a picture
	$(BIN)/windvane demo --out out/demo

serve: $(VENV)/service  ## the service with a demo study that runs while you watch: http://127.0.0.1:8000
	$(BIN)/windvane serve --demo

$(VENV)/docs: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) -c constraints.txt -e '.[docs]'
	@touch $@

# Material prints a notice about MkDocs 2, to which we do not go: docs/decisions/0019-documentation-site.md
docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/docs  ## the documentation as a site in out/site; a broken link or an unknown name stops it
	$(BIN)/python -m mkdocs build --strict

docs-serve: export NO_MKDOCS_2_WARNING = 1
docs-serve: $(VENV)/docs  ## the same at http://127.0.0.1:8001, built again while you write
	$(BIN)/python -m mkdocs serve --dev-addr 127.0.0.1:8001

lint: $(VENV)/test  ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The linters keep one core busy at most, so the tests begin beside them.
test: $(VENV)/browser  ## every check and every test
	@$(MAKE) --no-print-directory --jobs=2 lint suite
	@$(BIN)/python docs/tools/evidence.py

suite: $(VENV)/test
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= \
	  $(BIN)/python -m pytest -n 2 --dist worksteal -q

evidence: $(VENV)/experiments  ## bring the pages that are older than the code up to date, hours; DATA=folder has the real data
	$(BIN)/python docs/tools/evidence.py --run $(if $(DATA),--data $(DATA))

# NumPy and SciPy of the lower bounds have wheels for Python 3.11 and 3.12.
LOWER_PIP := .venv-lower/bin/python -m pip install --quiet --disable-pip-version-check
.venv-lower/ready: pyproject.toml bench/lower_bounds.py
	$(PYTHON) -m venv .venv-lower
	.venv-lower/bin/python bench/lower_bounds.py > .venv-lower/constraints.txt
	$(LOWER_PIP) -c .venv-lower/constraints.txt -e '.[service,postgres,experiments,optuna]' \
	  pytest hypothesis httpx pandas pgserver
	@touch $@

lower-bounds: .venv-lower/ready  ## studies, service, client and Optuna on the oldest versions that pyproject.toml allows
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-lower/bin/python -m pytest -q -W default \
	  --ignore tests/service/test_schema.py tests/storage tests/study tests/client tests/service tests/integrations/optuna

table1: $(VENV)/experiments  ## Table 1, all rows and columns, 50 runs, beside the paper's figures
	$(BIN)/windvane reproduce table1

lemma3: $(VENV)/experiments  ## the share of static runs with a reset, over 1,000 runs of 200 steps
	$(BIN)/windvane reproduce lemma3

quick: $(VENV)/experiments  ## every table and figure with a few runs each; DATA=folder for the real data
	$(BIN)/windvane reproduce all --quick --out out/quick $(if $(DATA),--data $(DATA),--synthetic)

reproduce: $(VENV)/experiments  ## every table and figure at full size; with DATA=folder, also into docs/reproduction.md
	$(BIN)/windvane reproduce all $(if $(DATA),--data $(DATA) --markdown docs/reproduction.md,--synthetic)

endless: $(VENV)/demo  ## 100,000 tells, auto told nothing among them: memory, time per step, the worst step
	$(BIN)/python bench/endless.py

first-steps: $(VENV)/demo  ## false alarms of ET-GP-UCB that is told nothing, by how long it learns first
	$(BIN)/python bench/first_steps.py

# Torch by its version and first, as above. W-DBO has wheels for CPython 3.11 on Linux only; without it its row says so.
BENCH_PIP := .venv-bench/bin/python -m pip install --quiet --disable-pip-version-check
.venv-bench/ready: bench/constraints.txt
	$(PYTHON) -m venv .venv-bench
	$(BENCH_PIP) torch==2.13.0
	$(BENCH_PIP) -c bench/constraints.txt -e '.[demo]' botorch ax-platform optuna cmaes greenlet bayesian-optimization \
	  scikit-optimize smac xopt
	$(BENCH_PIP) -c bench/constraints.txt wdbo-algo wdbo-criterion || echo "no W-DBO here"
	@touch $@

bench: .venv-bench/ready  ## Windvane beside its peers: time per step and regret, hours; BENCH=--quick for minutes
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-bench/bin/python bench/default.py
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	  .venv-bench/bin/python bench/beside_botorch.py $(filter --quick,$(BENCH)) $(if $(PAGE),--page $(PAGE))
	.venv-bench/bin/python bench/beside_peers.py $(BENCH) $(if $(PAGE),--page $(PAGE))

wdbo-bench: .venv-bench/ready  ## Windvane's W-DBO beside its authors' package: agreement, speed, regret (CPython 3.11)
	.venv-bench/bin/python bench/wdbo.py

optuna-bench: .venv-bench/ready  ## Windvane's sampler beside Optuna's own: regret and time per suggestion, 45 minutes
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 \
	  .venv-bench/bin/python bench/optuna_samplers.py $(BENCH) $(if $(PAGE),--page $(PAGE))

# SafeOpt asks for NumPy below 2 and Windvane for 2 or newer; it runs with 2 (bench/peers/safeopt.py), so it is installed
# without what it asks for, which is installed before it by version.
SAFEOPT_PIP := .venv-safeopt/bin/python -m pip install --quiet --disable-pip-version-check
.venv-safeopt/ready: bench/constraints-safeopt.txt
	$(PYTHON) -m venv .venv-safeopt
	$(SAFEOPT_PIP) -c bench/constraints-safeopt.txt -e . GPy matplotlib future
	$(SAFEOPT_PIP) --no-deps safeopt==0.16
	@touch $@

constraints-bench: .venv-safeopt/ready .venv-bench/ready  ## limits beside SafeOpt and Optuna, hours; BENCH=--quick for minutes
	.venv-safeopt/bin/python bench/constraints.py static $(BENCH)
	.venv-safeopt/bin/python bench/constraints.py changing $(BENCH)
	.venv-bench/bin/python bench/constraints.py optuna $(BENCH)
	.venv-bench/bin/python bench/constraints.py cost $(filter --quick,$(BENCH))

extras:  ## each extra alone in an empty environment: what it brings, whether it works, how long an import takes
	$(PYTHON) bench/extras.py

dist:  ## wheel and source distribution in dist/: built, checked, and used in an empty environment without the repository
	$(PYTHON) bench/dist.py

start: $(VENV)/test  ## how long `windvane study ask` takes, beside the import that it cannot do without
	$(BIN)/python bench/start.py

fuzz: $(VENV)/test  ## whatever can happen to a study in random order, beside a model of it; MINUTES=60
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/fuzz.py --minutes $(or $(MINUTES),60)

crash: $(VENV)/test  ## kill -9 under four writers, 200 times, on SQLite and on PostgreSQL: is anything lost?
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/crash.py

crash-service: $(VENV)/test  ## kill -9 of the service at random moments, under four writers over HTTP
	$(BIN)/python bench/crash_service.py

open: $(VENV)/test  ## how long it takes to open a study of 100,000 events
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/open.py

page-bench: $(VENV)/browser  ## how long a browser takes to show a study of 100,000 tells
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/page.py

load: $(VENV)/test  ## tell and ask over HTTP: pairs per second for 50 studies of 100 points, and where the time goes
	OPENBLAS_NUM_THREADS=1 $(BIN)/python bench/load.py

clean:  ## remove environments and results
	rm -rf $(VENV) .venv-lower .venv-bench .venv-safeopt .venv-wdbo tests/browser/node_modules out build dist src/*.egg-info
