# Every target prepares what it needs through scripts/bootstrap and can be run again at any time.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# rustup installs below ~/.cargo without being on the PATH of every shell.
export PATH := $(CURDIR)/.venv/bin:$(HOME)/.cargo/bin:$(PATH)
export VIRTUAL_ENV := $(CURDIR)/.venv
unexport CONDA_PREFIX
# Where it is set, as in many containers, each of the thousands of processes of the tests compiles the package again.
unexport PYTHONDONTWRITEBYTECODE

# Two installations by apt at a time are refused, and cargo uses all processors anyway.
.NOTPARALLEL:

# Cargo.lock and uv.lock say what is built; a stale one is an error.
CARGO_FLAGS := --workspace --locked

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 17

.PHONY: demo
demo: build ## run the four-job workload WD1 on Edison: summary, tables, a picture and the viewer
	@scripts/demo

.PHONY: build
build: bootstrap-python bootstrap-rust ## compile the engines and install the package into .venv
	@maturin develop --release --skip-install
	@cmp -s pyproject.toml .venv/odonata-installed || { \
	    uv pip install --quiet --no-deps --no-build-isolation --editable . && \
	    cp pyproject.toml .venv/odonata-installed; }

VIEWER := python/odonata/viewer/static/viewer.js

.PHONY: viewer
viewer: bootstrap-node $(VIEWER) ## build the page of `odonata view` into the package

$(VIEWER): viewer/node_modules/.installed $(shell find viewer/src viewer/public -type f) viewer/vite.config.ts python/odonata/colors.json python/odonata/ramps.json
	cd viewer && npm run --silent build
	@touch $@

viewer/node_modules/.installed: viewer/package-lock.json
	cd viewer && npm ci --silent
	@touch $@

# Unit tests of crates and viewer, and the Python tests without the mark `slow`.
.PHONY: quick
quick: build viewer bootstrap-rust-lint ## run what is fast of `make lint` and `make test`, before each commit (minutes)
	cargo fmt --all --check
	ruff check --quiet
	ruff format --check --quiet
	mypy
	@scripts/words
	cargo test $(CARGO_FLAGS) --lib --quiet
	pytest --quiet --quick --numprocesses auto --maxprocesses 4 --dist worksteal
	cd viewer && npm run --silent lint && npm test --silent

.PHONY: test
test: build viewer ## run the Rust, the Python and the viewer's tests (half an hour)
	@scripts/test

SBOM := build/sbom/odonata.cdx.json

.PHONY: $(SBOM)
$(SBOM): bootstrap-python bootstrap-rust viewer/node_modules/.installed
	@scripts/sbom $@

.PHONY: wheel
wheel: build viewer $(SBOM) ## build the package with the viewer's page into dist/, for this machine; installing it needs neither Rust nor Node
	maturin build --release --sbom-include $(SBOM) --out dist

.PHONY: wheels
wheels: build viewer bootstrap-release $(SBOM) ## the same for any Linux (glibc 2.17) on x86-64, and on ARM64 where Rust has its library; audited
	@scripts/wheels dist

.PHONY: deb
deb: ## build a Debian package for this machine from the wheel of `make wheels`, and look at it with lintian (debhelper from apt)
	@scripts/deb dist/odonata-*_$(shell uname -m).whl dist

.PHONY: test-wheel
test-wheel: build viewer $(SBOM) ## build the wheel, install it into an environment of its own, import and use it there
	@rm -rf build/wheel
	maturin build --release --quiet --sbom-include $(SBOM) --out build/wheel
	@scripts/test-wheel build/wheel/*.whl

.PHONY: test-users
test-users: test-wheel ## run the tasks of users (tests/users) with that wheel, in an environment of its own
	@scripts/test-wheel build/wheel/*.whl --users

.PHONY: audit
audit: bootstrap-python bootstrap-audit ## check licences and sources of crates, and both languages' packages for known weaknesses (needs the databases)
	@scripts/audit

.PHONY: bare
bare: ## try `make demo`, `make test` and the wheel on a bare Debian 12 (root, debootstrap, 40 minutes, 10 GB)
	@scripts/bare

.PHONY: bench-viewer
bench-viewer: build viewer bootstrap-chromium ## measure the viewer in a browser, on Edison and on the 241-group Cascade
	@scripts/bench-viewer

.PHONY: viewer-pictures
viewer-pictures: build viewer bootstrap-chromium ## draw the viewer's pictures in docs/images
	@scripts/viewer-pictures

.PHONY: examples
examples: build ## check the claims of the studies in their quick form
	@odonata study run amg-on-dragonfly blue-gene cables congestion damselfly edison packet-routing topologies --quick -o build/studies
	@odonata study run interference --quick --only jobs=lqcd,lqcd+stencil5d -o build/studies
	@odonata study run interference --quick --only experiment=hot-node -o build/studies/hot-node

.PHONY: test-long
test-long: build ## run the tests that take long, and the studies in full (hours; of interference, 18 hours, the quick form)
	cargo test $(CARGO_FLAGS) --release -- --ignored
	pytest -m long
	odonata study run amg-on-dragonfly blue-gene cables congestion damselfly edison packet-routing topologies -o build/studies
	odonata study run interference --quick -o build/studies

.PHONY: mutants
mutants: bootstrap-python bootstrap-mutants ## plant 300 bugs in the crates and in Python and see that tests notice (hours)
	@scripts/mutants

.PHONY: lint
lint: bootstrap-python bootstrap-rust-lint bootstrap-node viewer/node_modules/.installed ## check format, lints, types and the Rust reference's links
	cargo fmt --all --check
	cargo clippy $(CARGO_FLAGS) --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc $(CARGO_FLAGS) --no-deps --quiet
	ruff check
	ruff format --check
	mypy
	scripts/check-locks
	@$(MAKE) -C vmpi lint
	cd viewer && npm run --silent lint

.PHONY: fmt
fmt: bootstrap-python bootstrap-rust-lint bootstrap-node viewer/node_modules/.installed ## format the Rust, Python and TypeScript sources
	cargo fmt --all
	ruff check --select I --fix
	ruff format
	cd viewer && npm run --silent fmt

.PHONY: bench
bench: build ## measure the hot paths (results with their machine: benches/results)
	@python benches/flow.py
	@python benches/packet.py
	cargo bench $(CARGO_FLAGS)

.PHONY: bench-traces
bench-traces: build ## measure how fast traces are read, with files of ODONATA_SHARED
	@python benches/traces.py

.PHONY: bench-mpi
bench-mpi: build bootstrap-mpi ## measure what a run costs by several processes of MPI
	@python benches/processes.py

.PHONY: docs
docs: bootstrap-rust ## build the reference of the Rust crates and run its examples; a broken link is an error
	RUSTDOCFLAGS="-D warnings" cargo doc $(CARGO_FLAGS) --no-deps
	cargo test $(CARGO_FLAGS) --doc --quiet

SITE ?= $(CURDIR)/build/site

.PHONY: site
site: build bootstrap-site ## build the documentation as a site in build/site, next to other versions; it needs no server
	@NO_MKDOCS_2_WARNING=1 mkdocs build --strict --site-dir "$(SITE)/$$(python -c 'print(__import__("odonata").__version__)')"
	@echo "$(SITE)/index.html"

FUZZ_SECONDS ?= 10

.PHONY: fuzz
fuzz: bootstrap-fuzz ## run each fuzz target for 10 s, or as in: make fuzz FUZZ_SECONDS=300
	@scripts/fuzz $(FUZZ_SECONDS)

SOAK_SECONDS ?= 1200
SOAK_SEED ?= 1

.PHONY: soak
soak: build ## run random experiments for 20 min of processor time, or as in: make soak SOAK_SECONDS=60 SOAK_SEED=2
	@python tests/soak/soak.py --seconds $(SOAK_SECONDS) --seed $(SOAK_SEED)

.PHONY: hypre
hypre: bootstrap-hypre ## build the AMG hierarchy program on hypre (apt), for `odonata amg hierarchy`
	@$(MAKE) -C vmpi all openmpi

.PHONY: amg-tables
amg-tables: build hypre ## make the AMG tables of 64 million unknowns that come with the package (22 GB, an hour and a half)
	scripts/amg-tables laplace7-1024-50x50x25.json laplace7-512-50x50x50.json laplace7-256-100x50x50.json \
	    laplace7-128-100x100x50.json laplace7-64-100x100x100.json
	scripts/amg-tables
	scripts/amg-tables executed figure-9
	scripts/amg-tables executed-large laplace7-4096-20x20x20.json laplace7-8192-20x20x10.json \
	    laplace7-4096-15x15x15.json laplace7-4096-24x24x24.json laplace7-4096-27x27x27.json laplace7-8192-10x10x10.json
	scripts/amg-tables elasticity

.PHONY: test-vmpi
test-vmpi: bootstrap-hypre ## test the virtual-ranks MPI, each program also on Open MPI
	@$(MAKE) -C vmpi test

.PHONY: test-mpi
test-mpi: build bootstrap-mpi ## test runs by several processes of MPI, on MPICH from PyPI
	pytest --quiet tests/determinism

.PHONY: test-slurm
test-slurm: build ## test `--on slurm` on a Slurm of one node that is started here (root; slurm-wlm from apt)
	@scripts/test-slurm

.PHONY: everything
everything: ## run all of these, the long ones too, and write one page of it, build/everything/page.md (a day)
	@scripts/everything

.PHONY: clean
clean: ## remove everything that was built, and .venv
	cargo clean || rm -rf target
	rm -rf vmpi/build
	rm -rf viewer/node_modules python/odonata/viewer/static
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -f python/odonata/_core*.so
	find python tests -name __pycache__ -prune -exec rm -rf {} +

# A component of scripts/bootstrap as a prerequisite; returns at once when it is there.
bootstrap-%:
	@scripts/bootstrap $*
