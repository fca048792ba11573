# The few commands; each makes .venv first, which is instant once it is made.
#   make setup TORCH="torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu"    without CUDA's gigabytes

PYTHON3 ?= python3
TORCH ?= torch==2.13.0
BIN := .venv/bin
STAMP := .venv/.setup-done

.PHONY: setup demo real test check bench audit docs light clean

setup: $(STAMP)

# torch first: resolved along with the rest, pip may pick another build of it.
$(STAMP): pyproject.toml
	@echo "installing into .venv (minutes the first time)"
	@$(PYTHON3) -m venv .venv
	@$(BIN)/python -m pip install -qq $(TORCH)
	@$(BIN)/python -m pip install -qq --editable '.[dev]'
	@touch $@

demo: setup
	$(BIN)/certistar demo

# A real pretrained model, SmolLM2-135M-Instruct, in checkpoints/smollm2: 93 MB fetched, 540 MB made.
real: setup
	$(BIN)/python -m tools.real_model

# One worker more than there are cores, since tests of kills and time limits mostly wait.
test: export OMP_NUM_THREADS = 1
test: setup
	$(BIN)/python -m pytest -n $$(( $$(getconf _NPROCESSORS_ONLN) + 1 )) --maxprocesses 4 --dist worksteal

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

bench: setup
	for name in kernel decoding asp programs equivalence pool store training; do $(BIN)/python -m tools.bench $$name || exit 1; done
	$(BIN)/python -m tools.capacity_bench

# The catalogue of cheats against every critic, then minutes of a search for others: make audit SECONDS=600
SECONDS ?= 180
audit: export OMP_NUM_THREADS = 1
audit: setup
	$(BIN)/certistar audit
	$(BIN)/python -m tools.selfplay.session --seconds $(SECONDS)

# A wrong link or reference ends it; the site is build/site/index.html.
docs: setup
	$(BIN)/mkdocs build --strict --quiet --config-file configs/site/mkdocs.yml

# What `pip install .` gives without torch, in an environment of its own: its size, its import time, the README's lines.
light: setup
	$(BIN)/python -m tools.light

# Caches and builds alone: .venv and the runs in checkpoints/ stay.
clean:
	rm -rf build dist .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
