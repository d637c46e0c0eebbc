# A fresh machine needs git, make and Python 3.11 or newer; everything else goes into .venv in this folder.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
JOBS ?= 2
OUT ?= out
DEMO_IMAGE := src/vjproof/data/images/ankle-boot.png
# An empty file per install; a target is done again only when what it was installed from is newer.
BASE := .venv/.installed-base
TEST := .venv/.installed-test
LINT := .venv/.installed-lint

.PHONY: setup demo test test-slow lint format docs enclosure-figures accuracy bench lock clean

setup: $(BASE)

$(BASE): pyproject.toml requirements/build.txt requirements/base.txt
	@test -n "$(PYTHON)" || { echo "vjproof needs Python 3.11 or newer: install it, or name it: make PYTHON=/path/to/python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "$(PYTHON) could not create .venv; on Debian and Ubuntu install the package python3-venv"; exit 1; }
	$(PIP) install -r requirements/build.txt
	$(PIP) install --no-build-isolation -c requirements/base.txt -e .
	@touch $@

$(TEST): $(BASE) requirements/test.txt
	$(PIP) install --no-build-isolation -c requirements/test.txt -e '.[test]'
	@touch $@

$(LINT): $(BASE) requirements/lint.txt
	$(PIP) install --no-build-isolation -c requirements/lint.txt -e '.[lint]'
	@touch $@

demo: $(BASE)
	$(BIN)/vjproof explain $(DEMO_IMAGE) -o $(OUT)
	@echo "The picture and the gradient are in $(OUT)/"

test: $(TEST)
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-slow: $(TEST)
	$(BIN)/python -m pytest -n $(JOBS) -m slow

lint: $(LINT)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(LINT)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(BASE)
	$(BIN)/python tools/generate_docs.py

bench: $(TEST)
	$(BIN)/vjproof bench -o docs/benchmarks.md

accuracy: $(BASE)
	$(BIN)/python tools/measure_fashion.py

enclosure-figures: $(TEST)
	$(BIN)/python tools/measure_enclosure.py

lock:
	$(PYTHON) tools/lock.py

clean:
	rm -rf .venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist $(OUT)
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
