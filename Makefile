# Everything starts here, without root: `make demo` shows what ftensor does, `make test` checks it.

PYTHON ?= python3
VENV ?= .venv
OUT ?= out
# Arguments for pytest, on the default device only: make test ARGS="-x tests/spelling/test_dtype.py"
ARGS ?=
# pip as one file, for a Python that comes without pip and ensurepip.
PIP_ZIPAPP ?= https://bootstrap.pypa.io/pip/pip.pyz

BIN := $(VENV)/bin

.PHONY: help demo docs test test-all rtl fuzz stubs torch-table figures area array-api numpy generated emulator headers lint format bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      digits and a photograph on this machine's device, the digits on Xilinx's runtime"
	@echo "               and in a model of a card; pictures go to $(OUT)/"
	@echo "make docs      the site of all pages, with reference, gallery and search, in $(OUT)/site"
	@echo "make test      the tests on the default device, the core of them on PoCL, csim, Intel's emulator"
	@echo "make test-all  those and the long ones, kernels on every target here, memory checks"
	@echo "make fuzz      random programs against torch for a minute; ARGS=\"--seconds 3600 --seed 7\""
	@echo "make rtl       kernels as hardware, by Bambu and Verilator where these are here: minutes each;"
	@echo "               ARGS=\"map sort\" for some"
	@echo "make emulator  installs Intel's FPGA emulator, about 1 GB, which the tests then use too"
	@echo "make headers   fetches Xilinx's headers for kernels of your own, 3 MB, which the tests then use"
	@echo "make stubs     writes the types that editors read and the lists of torch's signatures again"
	@echo "make torch-table  writes which of torch's overloads ops of the catalogue serve"
	@echo "make figures   writes the table of docs/figures.md: programs on this CPU and in the model of boards"
	@echo "make area      writes the table of docs/area.md, what inventories take of boards"
	@echo "make array-api writes which of SciPy's and scikit-learn's functions take tensors"
	@echo "make numpy     writes which of NumPy's functions compute on the device"
	@echo "make generated writes what tests compare with the code: stubs, torch-table, area, array-api, numpy"
	@echo "make lint      ruff and mypy"
	@echo "make format    ruff's formatting, written into the files"
	@echo "make bench     figures against torch and NumPy, and against the last run here; ARGS=\"--gate --base COMMIT\""
	@echo "               fails where a case lost more than 15 % against a commit, measured by turns"
	@echo "make clean     removes what the others made, the virtual environment included"

demo: export PYTHONUNBUFFERED = 1
demo: $(VENV)/installed-demo
	@echo "What would a card give, and on what area? There is none here: the last picture, $(OUT)/board.png,"
	@echo "says so by a model. First the work itself: handwritten digits get names, a photograph its edges."
	@echo
	$(BIN)/python examples/digits.py --out $(OUT)
	@echo
	$(BIN)/python examples/photo.py --out $(OUT)
	@echo
	$(BIN)/python examples/board.py --out $(OUT)
	@echo
	@echo "What next?"
	@echo "  . $(BIN)/activate                what follows then works in this shell"
	@echo "  ftensor docs tutorial           ten minutes, from an array to an FPGA image; ftensor docs lists all pages"
	@echo "  ftensor new my_filter           a project of your own: a kernel in HLS C++, its tests, a script for CI"
	@echo "  ftensor docs kv260              from a program to a KV260"
	@echo "  ftensor docs dsp                signals; ftensor docs torch-device: models of torch"

docs: $(VENV)/installed-docs
	@$(BIN)/python pages/build.py --out $(OUT)/site $(ARGS)

test: $(VENV)/installed-test
	@$(BIN)/python -m tests.run $(ARGS)

test-all: $(VENV)/installed-test $(VENV)/installed-docs
	@$(BIN)/python -m tests.run --all $(ARGS)

fuzz: $(VENV)/installed-test
	@PYTHONPATH=. FTENSOR_POISON=$${FTENSOR_POISON:-1} $(BIN)/python tests/fuzz.py $(ARGS)

rtl: $(VENV)/installed-test
	@FTENSOR_DEVICE=csim PYTHONPATH=. $(BIN)/python -m tests.rtl --out $(OUT) $(ARGS)

emulator: $(VENV)/installed-test
	@$(BIN)/ftensor emulate --intel --install

headers: $(VENV)/installed-test
	@$(BIN)/ftensor headers --install

stubs: $(VENV)/installed-test
	@PYTHONPATH=. $(BIN)/python tests/stubs.py

torch-table: $(VENV)/installed-test
	@PYTHONPATH=. $(BIN)/python -m ftensor.torch.schema

figures: $(VENV)/installed-test
	@PYTHONPATH=. $(BIN)/python benchmarks/board_page.py $(ARGS)

area: $(VENV)/installed-test
	@PYTHONPATH=. $(BIN)/python -m tests.area_page

array-api: $(VENV)/installed-test
	@PYTHONPATH=. $(BIN)/python -m tests.array_api_page

numpy: $(VENV)/installed-test
	@PYTHONPATH=. $(BIN)/python -m tests.numpy_page

generated: stubs torch-table area array-api numpy

lint: $(VENV)/installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-lint
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/installed-test
	$(BIN)/python benchmarks/bench.py $(ARGS)

clean:
	rm -rf $(VENV) $(OUT) build dist .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The extra `cpu` is empty where its runtime does not exist, so it is always asked for.
$(VENV)/installed-%: pyproject.toml | $(VENV)/ready
	@echo 'python -m pip install --editable ".[cpu,$*]"'
	@$(BIN)/python tests/pip_line.py $(BIN)/python install --editable ".[cpu,$*]"
	@touch $@

# Debian and Ubuntu split Python up: venv works without pip where ensurepip is missing, and pip
# then comes from outside the environment, or as one file.
$(VENV)/ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "ftensor needs Python 3.10 or newer; name it like this: make PYTHON=python3.12 demo"; \
	  exit 1; }
	@rm -rf $(VENV)
	@if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then \
	  $(PYTHON) -m venv $(VENV); \
	elif $(PYTHON) -m pip --version >/dev/null 2>&1; then \
	  $(PYTHON) -m venv --without-pip $(VENV) && \
	  $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; \
	else \
	  echo "Python has neither ensurepip nor pip: fetching $(PIP_ZIPAPP)" && \
	  $(PYTHON) -m venv --without-pip $(VENV) && \
	  $(PYTHON) -c 'import sys, urllib.request as u; u.urlretrieve(*sys.argv[1:])' \
	    $(PIP_ZIPAPP) $(VENV)/pip.pyz && \
	  $(BIN)/python $(VENV)/pip.pyz install --quiet pip; \
	fi || { \
	  echo "No virtual environment could be made. On Debian and Ubuntu this helps:"; \
	  echo "    sudo apt-get install python3-venv"; \
	  exit 1; }
	@touch $@
