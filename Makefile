# Three verbs to start with; each sets up what it needs on a fresh machine.
.PHONY: learn grade test check lint test-suites test-quick test-grader audit setup sandbox browser database clean

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

setup: .venv/.learner ## only set up, for editors and containers

learn: .venv/.learner ## watch exercises/ and judge each file as it is saved
	@$(BIN)/kata watch

grade: .venv/.class sandbox ## grade the sample class into a gradebook and an HTML report
	@$(BIN)/kata grade samples/class --out results --gradebook gradebook.db
	@$(BIN)/kata report --results results --to report

PARTS := lint test-suites test-grader audit

test: .venv/.dev sandbox browser database ## everything the project checks of itself, and what took how long
	@for part in $(PARTS); do \
	  began=$$(date +%s); \
	  $(MAKE) --no-print-directory $$part || exit 1; \
	  took="$$took  $$part $$(($$(date +%s) - began)) s"; \
	done; echo "took$$took"

check: .venv/.dev ## what is quick and needs no system package; mypy, which has one thread, beside the tests
	@$(MAKE) --no-print-directory -j 2 lint test-suites test-quick

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-suites: .venv/.dev
	$(BIN)/python -m pytest -q -p no:randomly -n 2 --answers solutions

test-quick: .venv/.dev
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not (sandbox or browser or database or slow)" tests/grader

test-grader: .venv/.dev # browsers and servers time out on a busy machine; MARK=browser runs a part
	$(BIN)/python -m pytest -q -n 2 --dist loadfile --reruns 1 --durations 10 -m "$(MARK)" tests/grader

audit: .venv/.dev
	$(BIN)/kata audit

.PHONY: book
book: .venv/.learner ## build/book/index.html: chapters, statements and indexes, to read in a browser
	@$(PIP) install -c constraints.txt -e '.[book]'
	@$(BIN)/python -m grader.publish.book.site build/book

.PHONY: gradescope
gradescope: .venv/.learner ## build/gradescope.zip, an autograder to upload: make gradescope ONLY=e01_tensors
	@$(BIN)/python integrations/gradescope/bundle.py $(addprefix --only ,$(ONLY)) $(addprefix --assignment ,$(ASSIGNMENT))

# torch first and by itself: its exact pin decides which build comes along.
.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(PIP) install -c constraints.txt torch numpy

.venv/.learner: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e .
	@touch $@

.venv/.class: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[class,deploy]'
	@touch $@ .venv/.learner

.venv/.dev: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) install -c constraints.txt -e '.[class,deploy,book,dev]'
	@touch $@ .venv/.class .venv/.learner

sandbox: ## bubblewrap, through the system's package manager where we may
	@sh grader/install_system.sh bubblewrap

browser: ## Chromium for the tests that look at pages, in the same way
	@sh grader/install_system.sh chromium

database: ## PostgreSQL for the tests of its gradebooks, which run a server of their own, in the same way
	@sh grader/install_system.sh postgresql

clean:
	rm -rf .venv results report gradebook.db .kata
