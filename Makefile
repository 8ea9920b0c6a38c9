# `make` sets up, regenerates, builds and runs an example; `make test` sets up and runs the tests.
# Wants Python 3.11 or later, a C compiler and git.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# On CI two workers, whatever the machine says of itself.
WORKERS ?= $(if $(CI),2,auto)

.PHONY: all setup build test sanitize older lint bench docs wheels clean

all: setup
	$(BIN)/python -m codegen
	$(BIN)/python examples/digits.py

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import tomllib; extras = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; print(*sorted({p for e in ("build", "codegen", "test", "examples", "lint") for p in extras[e]}), sep="\n")' > $(VENV)/packages.txt
	$(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -r $(VENV)/packages.txt
	@touch $@

# Builds what is there: whether generated/ is stale is for the tests to say.
build: setup
	$(BIN)/python -m codegen build

test: build
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

# The tests of the runtime and of the kernels with AddressSanitizer and UndefinedBehaviorSanitizer, on a build and an install of their own.
# TESTS=... for others.  The editable install is told to stand back; Python's allocator, which would hide a use after free, too.
# An allocation that is too large is a MemoryError, as without the sanitizer.
TESTS ?= tests/runtime tests/library
SANITIZED := $(CURDIR)/build/sanitize
sanitize: build
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --disable-pip-version-check -q --no-build-isolation --no-deps \
	  --upgrade --target $(SANITIZED)/site \
	  -Cbuild-dir=$(SANITIZED)/meson -Csetup-args=-Db_sanitize=address,undefined -Csetup-args=-Db_lundef=false -Csetup-args=-Dsymbols=true .
	LD_PRELOAD="$$($${CC:-cc} -print-file-name=libasan.so) $$($${CC:-cc} -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
	  MESONPY_EDITABLE_SKIP=$$($(BIN)/python -c 'import pathlib, codegen.build; print(codegen.build.build_folder(pathlib.Path.cwd()))') \
	  PYTHONPATH=$(SANITIZED)/site $(BIN)/python -m pytest -q -p no:cacheprovider $(TESTS)

# The same tests with the loops that NumPy and OpenBLAS have for other processors: for Nehalem NumPy's without anything beyond its baseline,
# for Haswell and Zen without AVX-512.  SkylakeX stands for all that have AVX-512, and is left out where the processor lacks it.
OLDER ?= Nehalem Haswell Zen SkylakeX
BEYOND = 'import numpy; print(*(f for f in numpy.show_config(mode="dicts")["SIMD Extensions"].get("found", []) if f.startswith(tuple("$(1)".split()) or "")))'
older: build
	@for core in $(OLDER); do \
	  if test $$core = SkylakeX && ! grep -qw avx512f /proc/cpuinfo; then \
	    echo "OpenBLAS for SkylakeX: left out, this processor has no AVX-512"; continue; fi; \
	  case $$core in \
	    Nehalem) off=$$($(BIN)/python -c $(call BEYOND,));; \
	    SkylakeX) off=;; \
	    *) off=$$($(BIN)/python -c $(call BEYOND,AVX512 X86_V4));; \
	  esac; \
	  echo "OpenBLAS for $$core, NumPy without: $${off:-nothing}"; \
	  OPENBLAS_CORETYPE=$$core NPY_DISABLE_CPU_FEATURES="$$off" $(BIN)/python -m pytest -n $(WORKERS) $(TESTS) || exit 1; done

lint: setup
	$(BIN)/ruff check .
	PATH="$(CURDIR)/$(BIN):$$PATH" cython-lint runtime library
	$(BIN)/python -m tests.budget
	$(BIN)/python -m tests.prose | tail -1

# The site, in build/site/html: docs/, a page an operator from its entry, the reference.  A warning of Sphinx is an error.
docs: build
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")' > $(VENV)/docs.txt
	$(BIN)/python -m pip install --disable-pip-version-check -q -r $(VENV)/docs.txt
	$(BIN)/python docs/site/pages.py build/site/pages
	$(BIN)/python -m sphinx -W --keep-going -j auto -c docs/site -b html build/site/pages build/site/html
	@echo "open build/site/html/index.html"

# The source distribution and a wheel for each Python at hand, built from the last commit and checked, in dist/.
wheels: setup
	$(BIN)/python buildtools/wheels.py

bench: build
	$(BIN)/python -m benchmarks.environments
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
