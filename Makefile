# `make` alone lists the commands.
PYTHON ?= python3
BIN := .venv/bin
PROFILE ?= quick
NOTEBOOK ?= all
.DEFAULT_GOAL := help
.PHONY: help book test quick paper bench lab lint sync lock clean

help:  ## list these commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

book: .venv/.ready  ## render the book from the committed notebook outputs
	@$(BIN)/jupyter-book build . -W -n --keep-going --quiet
	@echo "open $(CURDIR)/_build/html/index.html"

test: .venv/.ready  ## everything CI runs: units, pairs, notebooks at quick, claims, book
	$(BIN)/ruff check .
	$(BIN)/pytest -n 2 --dist worksteal

quick: .venv/.ready  ## run notebooks at the quick profile: make quick [NOTEBOOK=simplex/01]
	$(BIN)/python -m rfcore.evidence.runner --jobs 2 --profile quick $(NOTEBOOK)

paper: .venv/.ready  ## run notebooks at the scale of the papers and keep the outputs: make paper [NOTEBOOK=...]
	$(BIN)/python -m rfcore.evidence.runner --jobs 2 --profile paper $(NOTEBOOK)

bench: .venv/.ready  ## time features and walks against their peers, against stated goals
	@for script in tests/benchmarks/bench_*.py; do echo "\n$$script"; $(BIN)/python $$script || missed=1; done; exit $$missed

lab: .venv/.ready  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab notebooks

lint: .venv/.ready  ## style
	$(BIN)/ruff check .

sync: .venv/.ready  ## carry edits of the .py into the .ipynb; the text is the source of truth
	$(BIN)/jupytext --to notebook --update notebooks/*/*.py

lock: .venv/.ready  ## resolve the dependencies anew and pin them with hashes
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --generate-hashes --no-header --upgrade -o requirements.lock

clean:  ## remove what was built, keep the environment
	rm -rf _build book/_generated data/results/quick .pytest_cache .ruff_cache .hypothesis

.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet uv==0.13.8
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -e .
	@touch $@
