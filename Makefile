# Commands for users and contributors; none needs root. `make demo` shows ftensor, `make test` tests it.

PYTHON ?= python3
VENV ?= .venv
OUT ?= out
# Arguments of pytest, for the default device only: make test ARGS="-x tests/spelling/test_dtype.py"
ARGS ?=
# pip as one file, for a Python that comes without pip and ensurepip.
PIP_ZIPAPP ?= https://bootstrap.pypa.io/pip/pip.pyz

BIN := $(VENV)/bin

.PHONY: help demo docs test test-all rtl fuzz stubs torch-table figures area array-api numpy generated emulator headers lint format bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      runs two examples on this machine's device, on Xilinx's runtime and in the model of a"
	@echo "               board; writes pictures to $(OUT)/"
	@echo "make docs      builds the site of all pages, with reference, gallery and search, in $(OUT)/site"
	@echo "make test      runs the tests on the default device, and the core tests on PoCL, csim, Intel's emulator"
	@echo "make test-all  also runs the long tests, kernel tests on every target, and memory checks"
	@echo "make fuzz      compares random programs with torch for a minute; ARGS=\"--seconds 3600 --seed 7\""
	@echo "make rtl       synthesizes kernels by Bambu and simulates them by Verilator, minutes for each kernel;"
	@echo "               needs both tools; ARGS=\"map sort\" selects kernels"
	@echo "make emulator  installs Intel's FPGA emulator (1 GB), also for the tests"
	@echo "make headers   downloads Xilinx's headers for your own kernels (3 MB), also for the tests"
	@echo "make stubs     writes the .pyi files and the lists of torch's signatures"
	@echo "make torch-table  writes the table of torch's overloads and the ops that implement them"
	@echo "make figures   measures the table of docs/figures.md: programs on this CPU and in the model of boards"
	@echo "make area      writes the table of docs/area.md: the area of inventories on boards"
	@echo "make array-api writes the list of functions of SciPy and scikit-learn that take tensors"
	@echo "make numpy     writes the list of NumPy's functions that compute on the device"
	@echo "make generated writes the files that tests compare with the code: stubs, torch-table, area, array-api,"
	@echo "               numpy"
	@echo "make lint      runs ruff and mypy"
	@echo "make format    formats the files by ruff"
	@echo "make bench     measures against torch and NumPy, and against the last run; ARGS=\"--gate --base COMMIT\""
	@echo "               compares with a commit by turns and fails if a case is more than 15 % slower"
	@echo "make clean     removes generated files and the virtual environment"

demo: export PYTHONUNBUFFERED = 1
demo: $(VENV)/installed-demo
	@echo "Three programs: the first classifies handwritten digits, the second finds the edges of a photograph,"
	@echo "the third estimates time and area on a board by a model ($(OUT)/board.png)."
	@echo
	$(BIN)/python examples/digits.py --out $(OUT)
	@echo
	$(BIN)/python examples/photo.py --out $(OUT)
	@echo
	$(BIN)/python examples/board.py --out $(OUT)
	@echo
	@echo "What next?"
	@echo "  . $(BIN)/activate                puts the command ftensor on this shell's PATH"
	@echo "  ftensor docs tutorial           ten minutes, from an array to an FPGA image; ftensor docs lists all pages"
	@echo "  ftensor new my_filter           a new project: a kernel in HLS C++, its tests, a script for CI"
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

# The extra `cpu` installs nothing where its runtime does not exist, so every target installs it.
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
