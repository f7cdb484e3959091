# `make` alone lists the commands. PYTHON=python3.13 names the Python of one, which then has its own environment; PYTHONS those of portable, newest, release, nightly.
ifdef PYTHON
VENV := .venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
$(if $(filter .venv-,$(VENV)),$(error PYTHON=$(PYTHON) does not run))
else
PYTHON := python3
VENV := .venv
endif
BIN := $(VENV)/bin
PYTHONS := $(or $(sort $(wildcard $(HOME)/.pyenv/versions/3.1[123].*/bin/python3)),$(PYTHON))
PROFILE ?= quick
NOTEBOOK ?= all
SLOW := notebooks book book_browser runner evidence_rates planted_faults planted_faults_attention planted_faults_walks
# Without complaints: whole numbers and narrow floats are taken where annotations show floats.
TYPED := $(CORE) choosing coupled_walks estimators exact_hops frequencies gp gp_at_scale graphs norm_costs paths records stratified_norms theory theory_graph walk_hops
.DEFAULT_GOAL := help
CORE := attention attention_layer copulas couplings exponential features_euclidean kernels modulation norms operator sampling strict_jax transport walks
SINGLE := attention attention_layer copulas couplings features_euclidean frequencies given_directions logs norm_costs stratified_norms strict_jax theory
.PHONY: help book pdf test single types unit near pages portable newest release nightly quick paper bench lab lint sync lock clean

help:  ## list these commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

book: $(VENV)/.ready  ## render the book from the committed notebook outputs
	@mkdir -p _build && $(BIN)/jupyter-book build . -W -n --keep-going --quiet > _build/book.log 2>&1 || { cat _build/book.log; exit 1; }
	@echo "open $(CURDIR)/_build/html/index.html"

test: $(VENV)/.ready  ## everything CI runs: units, pairs, notebooks at quick, claims, book; and make single, make types
	$(BIN)/ruff check .
	$(BIN)/pytest -n 2 --dist worksteal -m "not nightly"
	@$(MAKE) --no-print-directory single types

single: $(VENV)/.ready  ## what is drawn, mapped and told, in float32 as users have it; other tests have float64
	JAX_ENABLE_X64=0 $(BIN)/pytest -n 2 --dist worksteal -m "not nightly" $(SINGLE:%=tests/test_%.py)

types: $(VENV)/.ready  ## annotations: pyright on the package and a client, and the units of rfcore with every call held against them
	$(BIN)/basedpyright --level error
	RFCORE_CHECK_TYPES=1 $(BIN)/pytest -n 2 --dist worksteal -m "not nightly" $(TYPED:%=tests/test_%.py)

unit: $(VENV)/.ready  ## the units alone, without notebooks, runner, book, simulated error rates and planted faults: under three minutes
	$(BIN)/pytest -n 2 --dist worksteal $(SLOW:%=--ignore tests/test_%.py)

pages: $(VENV)/.ready  ## every page at quick, held against its committed results: make pages [PAGES="simplex/01 or ugrf/07"]
	$(BIN)/pytest -n 2 --dist worksteal tests/test_notebooks.py -k "at_quick$(if $(PAGES), and ($(PAGES)))"

near: $(VENV)/.ready  ## the tests, and the ten quickest pages, that your changes reach; make test decides: make near [BASE=commit]
	@$(BIN)/python tests/near.py $(or $(BASE),HEAD) $(SLOW)

portable: $(VENV)/.ready  ## units and some pages as on one other processor under one other Python, which the commit chooses
	@$(BIN)/python tests/portable.py "$(PYTHONS)"

newest:  ## units of the core under the newest JAX that the newest Python here can have, whose deprecations are errors
	@$(lastword $(PYTHONS)) -m venv .venv-newest
	@.venv-newest/bin/python -m pip install --quiet uv==0.13.8
	@.venv-newest/bin/uv pip install --quiet --python .venv-newest/bin/python .[sklearn] flax hypothesis matplotlib mpmath networkx optax pooch pytest-xdist tqdm trimesh
	.venv-newest/bin/pytest -n 2 --dist worksteal -m "not nightly" -W error::DeprecationWarning $(CORE:%=tests/test_%.py)

release: $(VENV)/.ready  ## build dist/ and try the wheel alone, under every Python here, with its oldest dependencies and the newest
	@rm -rf build dist && $(BIN)/uv build --quiet && $(BIN)/uvx --quiet twine check --strict dist/*
	@for python in $(PYTHONS); do for how in "lowest-direct" "highest" "highest --extra gp" "highest --extra sklearn"; do \
	  $(BIN)/uv pip compile --quiet --upgrade pyproject.toml --python $$python --resolution $$how --output-file _build/alone.txt && \
	  alone="$(BIN)/uv run --quiet --no-project --isolated --python $$python --with-requirements _build/alone.txt --with $$(echo dist/*.whl)" && \
	  $$alone python -W ignore tests/wheel_alone.py readme "$$how" && \
	  $$alone --with "networkx>=3.4" --with "trimesh>=4.6" python -W ignore tests/wheel_alone.py examples || exit 1; \
	done; done

nightly: $(VENV)/.ready  ## the rest: all pages without data; units and all pages on all processors, under all Pythons
	$(BIN)/pytest -n 2 --dist worksteal -m nightly
	@$(BIN)/python tests/portable.py all "$(PYTHONS)"

quick: $(VENV)/.ready  ## run notebooks at the quick profile: make quick [NOTEBOOK=simplex/01]
	$(BIN)/python -m companion.evidence.runner --jobs 2 --profile quick $(NOTEBOOK)

paper: $(VENV)/.ready  ## run notebooks at the scale of the papers and keep the outputs: make paper [NOTEBOOK=...]
	$(BIN)/python -m companion.evidence.runner --jobs 2 --profile paper $(NOTEBOOK)

bench: $(VENV)/.ready  ## time everything against its peers and stated goals, for the page of benchmarks; needs an idle machine
	@$(BIN)/python tests/benchmarks/record.py

pdf: book  ## the main road, twelve pages as one PDF: _build/random-features.pdf; needs Chromium
	@$(BIN)/python book/pdf.py

lab: $(VENV)/.ready  ## open copies of the notebooks in JupyterLab; what you save there stays there
	@# JupyterLab saves by itself, outputs too. A fresh copy is dated 2000, so that one which was saved since is known and kept.
	@mkdir -p _build/lab && touch -t 200001010000 _build/lab/date
	@for page in notebooks/*/*.ipynb; do \
	  copy=_build/lab/$$page; \
	  if [ $$copy -nt _build/lab/date ]; then echo "$$copy is yours and stays; delete it for a fresh copy"; \
	  else mkdir -p $$(dirname $$copy) && cp $$page $$copy && touch -r _build/lab/date $$copy; fi; \
	done
	$(BIN)/jupyter lab _build/lab/notebooks

lint: $(VENV)/.ready  ## style
	$(BIN)/ruff check .

sync: $(VENV)/.ready  ## carry edits of the .py into the .ipynb; the text is the source of truth
	$(BIN)/jupytext --to notebook --update notebooks/*/*.py

lock: $(VENV)/.ready  ## resolve the dependencies anew and pin them with hashes
	@# The OpenBLAS of NumPy 2.5's wheels crashes where it stands for a processor of AVX2 alone (tests/portable.py).
	@mkdir -p _build && echo "numpy<2.5" > _build/constraints.txt
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --generate-hashes --no-header --upgrade -c _build/constraints.txt -o requirements.lock

clean:  ## remove what was built, keep the environment
	rm -rf _build build dist book/_generated .pytest_cache .ruff_cache .hypothesis

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv==0.13.8
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@
