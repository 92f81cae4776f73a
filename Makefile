# `make` needs Python 3.11 or newer, git and make; everything else goes into .venv/ in this folder.
# `make help` lists the targets. Another Python: make PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip install --disable-pip-version-check --quiet --quiet --require-hashes
# uv takes a fifth of pip's time but not its configuration: where it fails, as behind a mirror, pip does it.
INSTALL = $(VENV)/bin/uv pip install --quiet --compile-bytecode --require-hashes --python $(VENV) \
	-r $(1) 2>/dev/null || $(PIP) -r $(1)
# Debian packages for a program that lacks; without rights or Debian its tests say so and are skipped.
APT = command -v $(1) >/dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(2) >/dev/null; } || true
COMPILE := uv pip compile --universal --generate-hashes --no-emit-index-url pyproject.toml

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all compile examples help same test test-browser test-cluster test-envs test-latex lint format docs bench release lock clean

# Compiled once, as each of a run's processes would do it anew where PYTHONDONTWRITEBYTECODE is set.
compile: $(VENV)/runtime.stamp
	@$(VENV)/bin/python -m compileall -q scripts workflow

all: compile ## run the first examples; ends with results/index.html
	@$(VENV)/bin/snakemake

examples: compile ## run all shipped examples
	@$(VENV)/bin/snakemake --config run=all

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.* ## /\1: /p' Makefile

# Small problems in several processes at once: threads of linear algebra would only wait.
test test-browser test-cluster test-latex bench: export OMP_NUM_THREADS := 1
test test-browser test-cluster test-latex bench: export OPENBLAS_NUM_THREADS := 1
# They run first, so that no process has one of them left at the end.
LONGEST := $(patsubst %,tests/workflow/test_%.py,papers studies door multilabel leaderboard comparisons)
test: $(VENV)/development.stamp compile ## run all tests but those of the next two
	$(VENV)/bin/python -m pytest -n auto tests/unit tests/fuzz scripts/capmap
	$(VENV)/bin/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder \
		$(LONGEST) $(filter-out $(LONGEST),$(wildcard tests/workflow/test_*.py)) tests/faults tests/remote

test-browser: $(VENV)/development.stamp compile ## test the pages in Chromium, which root installs where it lacks
	$(call APT,chromium,chromium)
	$(VENV)/bin/python -m pytest tests/browser

test-latex: $(VENV)/development.stamp compile ## compile papers with pdfLaTeX, which root installs where it lacks
	$(call APT,pdflatex,texlive-latex-base texlive-latex-recommended lmodern)
	$(VENV)/bin/python -m pytest -n auto tests/unit/test_paper.py

test-cluster: $(VENV)/development.stamp compile ## test on a Slurm of two nodes, which root installs where it lacks
	$(call APT,slurmctld,slurm-wlm munge)
	$(VENV)/bin/python -m pytest tests/cluster

test-envs: ## solve the environments of Conda with micromamba, installing nothing
	@set -e; for file in envs/*.yaml; do echo "$$file"; \
		micromamba create --yes --dry-run --quiet --name capmap-try --file "$$file"; done

lint: export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
lint: $(VENV)/development.stamp ## check style, types, the workflow and the size
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/snakefmt --check Snakefile workflow
	$(VENV)/bin/snakemake --lint
	$(VENV)/bin/mypy
	$(VENV)/bin/mypy benchmarks
	$(VENV)/bin/python packaging/size.py

format: export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
format: $(VENV)/development.stamp ## format all code
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/snakefmt Snakefile workflow

docs: export NO_MKDOCS_2_WARNING := 1
docs: $(VENV)/development.stamp ## build the documentation site in site/, with its links checked
	$(VENV)/bin/mkdocs build --strict

same: $(VENV)/development.stamp ## compare all tables with those of the commit that tests/same.yaml names
	$(VENV)/bin/python tests/same.py

bench: export PYTHONPATH := scripts:.
bench: $(VENV)/development.stamp compile ## measure speed, memory and coverage
	@set -e; for script in benchmarks/*.py; do echo "$$script"; $(VENV)/bin/python "$$script"; done

release: $(VENV)/development.stamp ## build wheel, sdist and bill of materials in dist/, and check them
	$(VENV)/bin/uv build --quiet --clear --out-dir dist
	$(VENV)/bin/uv tool run --quiet twine check --strict dist/*.whl dist/*.tar.gz
	$(VENV)/bin/uv tool run --quiet --from cyclonedx-bom cyclonedx-py requirements requirements.lock \
		--output-file dist/capmap.cdx.json

lock: $(VENV)/development.stamp ## pin the dependencies of pyproject.toml anew
	$(VENV)/bin/$(COMPILE) -o requirements.lock >/dev/null
	$(VENV)/bin/$(COMPILE) --extra slurm --extra umap --group dev -o requirements-dev.lock >/dev/null
	$(call INSTALL,requirements-dev.lock)

clean: ## remove results and caches; the environments stay
	find results -mindepth 1 ! -name README.md -delete
	rm -rf site .snakemake .pytest_cache .ruff_cache .mypy_cache .hypothesis

$(VENV)/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "capmap needs Python 3.11 or newer; '$(PYTHON)' is not." >&2; \
		echo "Name one that is: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(@:/bin/pip=)

$(VENV)/bin/uv: requirements-dev.lock | $(VENV)/bin/pip
	@awk '/^[a-z]/ { is_uv = /^uv==/ } is_uv' $< | $(PIP) -r /dev/stdin
	@touch $@

$(VENV)/runtime.stamp: requirements.lock $(VENV)/bin/uv
	@echo "Installing $< into $(VENV)"
	@$(call INSTALL,$<)
	@touch $@

$(VENV)/development.stamp: requirements-dev.lock $(VENV)/runtime.stamp
	@echo "Installing $< into $(VENV)"
	@$(call INSTALL,$<)
	@touch $@
