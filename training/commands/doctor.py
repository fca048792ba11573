"""`doctor`: what this machine can run, and what is missing, with the remedy."""

import json
import logging
import os
import platform
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from training.commands.options import Json
from training.extras import PACKAGES, PURPOSES, missing, remedy
from training.hardware import num_cores

EXAMPLE = "certistar doctor"
SEED_MODEL = Path("checkpoints/seed")
MIN_FREE_GB = 5
"""A demo run and its adapters fit; a large model's do not."""
MIN_SHARED_GB = 1
_NAMED = 5


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing looked at; `note` says what was found, or what to do about it."""

    ok: bool
    what: str
    note: str


def doctor(as_json: Json = False) -> None:
    """Say what this machine can run, and what is missing."""
    logging.getLogger("bitsandbytes").setLevel(logging.ERROR)  # its warning is about 4-bit kernels
    findings = list(_findings())
    if as_json:
        print(json.dumps({"findings": [asdict(finding) for finding in findings]}))
        return
    for found in findings:
        print(f"{'ok' if found.ok else 'missing'}: {found.what}: {found.note}")


def _findings() -> Iterator[DoctorFinding]:
    yield DoctorFinding(True, "certistar", _version("certistar"))
    yield DoctorFinding(True, "python", platform.python_version())
    yield DoctorFinding(True, "cores", str(num_cores()))
    free_gb = shutil.disk_usage(".").free / 1e9
    lack = f", at least {MIN_FREE_GB} are wanted; give --out a folder elsewhere" if free_gb < MIN_FREE_GB else ""
    yield DoctorFinding(not lack, "disk", f"{free_gb:.0f} GB free here{lack}")
    yield _shared_memory()
    yield from (_solver(*solver) for solver in _SOLVERS)
    yield _package("pebble", "Pebble", "critics that can be killed")
    yield _hub()
    yield from map(_extra, PACKAGES)
    if find_spec("torch") is None:
        yield DoctorFinding(True, "devices", "not looked at: that takes torch, which judging and filtering do without")
        return
    is_there = all((SEED_MODEL / name).is_file() for name in ("config.json", "model.safetensors", "tokenizer.json"))
    remedy = f"python -m tools.seeds tools/seeds/seed.yaml --out {SEED_MODEL}, in the repository's folder"
    yield DoctorFinding(is_there, "seed model", str(SEED_MODEL) if is_there else remedy)
    yield _package("torch", "torch", "rollouts and fine-tuning")
    yield _package("transformers", "transformers", "models")
    yield _package("peft", "peft", "LoRA and DoRA")
    yield _package("accelerate", "accelerate", "several processes")
    yield from _devices()
    yield _eight_bit()
    yield _torchrun()
    for module, distribution, purpose in _OPTIONAL:
        absent = f"not installed; only {purpose} would need it: pip install {distribution}"
        note = absent if find_spec(module) is None else f"{_version(distribution)}, for {purpose}"
        yield DoctorFinding(True, module, note)


_OPTIONAL = (("flash_attn", "flash-attn", "training.attention flash_attention_2"),)
"""Packages that only some configurations need; that one is not here is no lack."""


def _shared_memory() -> DoctorFinding:
    """NCCL and data loaders speak through it, and containers get 64 MB of it where nothing else is said."""
    what, path = "shared memory", Path("/dev/shm")
    if not path.is_dir():
        return DoctorFinding(True, what, "no /dev/shm on this system")
    free_gb = shutil.disk_usage(path).free / 1e9
    note = f"{free_gb:.1f} GB free in /dev/shm"
    if free_gb < MIN_SHARED_GB:
        remedy = "docker run --shm-size=16g, or a memory volume at /dev/shm (configs/launch/kubernetes.yaml)"
        return DoctorFinding(
            False, what, f"{note}, at least {MIN_SHARED_GB} are wanted where several GPUs train: {remedy}"
        )
    return DoctorFinding(True, what, note)


def _package(module: str, distribution: str, purpose: str) -> DoctorFinding:
    try:
        import_module(module)
        version = metadata.version(distribution)
    except ImportError as error:
        return DoctorFinding(False, module, f"needed for {purpose}: pip install {distribution} ({error})")
    return DoctorFinding(True, module, f"{version}, for {purpose}")


def _solver(module: str, distribution: str, purpose: str, check: Callable[[Any], bool]) -> DoctorFinding:
    """Have a solver decide something small, since one that imports may still not run."""
    found = _package(module, distribution, purpose)
    if not found.ok:
        return found
    try:
        right = check(import_module(module))
    except Exception as error:  # noqa: BLE001 - whatever a broken build raises
        return DoctorFinding(
            False, module, f"{found.note}, does not run ({error}): pip install --force-reinstall {module}"
        )
    if not right:
        return DoctorFinding(
            False, module, f"{found.note}, answers wrongly: pip install --force-reinstall {distribution}"
        )
    return DoctorFinding(True, module, f"{found.note}; decides a small problem")


def _clingo_decides(clingo: Any) -> bool:
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "warm(X) :- cat(X). cat(rex). :- not warm(rex).")
    control.ground([("base", [])])
    return bool(control.solve().satisfiable)


def _z3_decides(z3: Any) -> bool:
    cat, warm = z3.Bools("cat warm")
    solver = z3.Solver()
    solver.add(z3.Implies(cat, warm), cat, z3.Not(warm))
    return solver.check() == z3.unsat


def _cvc5_decides(cvc5: Any) -> bool:
    terms: Any = cvc5.TermManager()
    solver: Any = cvc5.Solver(terms)
    cat = terms.mkConst(terms.getBooleanSort(), "cat")
    solver.assertFormula(terms.mkTerm(cvc5.Kind.AND, cat, terms.mkTerm(cvc5.Kind.NOT, cat)))
    return bool(solver.checkSat().isUnsat())


_SOLVERS: tuple[tuple[str, str, str, Callable[[Any], bool]], ...] = (
    ("clingo", "clingo", "critics of logic programs", _clingo_decides),
    ("z3", "z3-solver", "critics of formulas and scripts", _z3_decides),
    ("cvc5", "cvc5", "second opinions of a re-check", _cvc5_decides),
)


def _hub() -> DoctorFinding:
    """Say how the Hub would be asked: what is set in the environment, and never a token itself."""
    offline = os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    models = sorted(path.name.removeprefix("models--").replace("--", "/") for path in cache.glob("models--*"))
    token = "a token" if os.environ.get("HF_TOKEN") or (home / "token").is_file() else "no token (HF_TOKEN)"
    asked = "not asked (HF_HUB_OFFLINE is set)" if offline else "asked for names that are no folder"
    kept = f"{len(models)} models in the cache" + (f": {', '.join(models[:_NAMED])}" if models else "")
    return DoctorFinding(True, "hub", f"{asked}; {token}; {kept}")


def _extra(extra: str) -> DoctorFinding:
    """Name an extra and what it is for; that it is not here is no lack."""
    what, absent = f"extra {extra}", missing(extra)
    if not absent:
        return DoctorFinding(True, what, f"installed, for {PURPOSES[extra]}")
    part = "" if len(absent) == len(PACKAGES[extra]) else f" (without {', '.join(absent)})"
    return DoctorFinding(True, what, f"not installed{part}; only {PURPOSES[extra]} would need it: {remedy(extra)}")


def _devices() -> Iterator[DoctorFinding]:
    """Name the GPUs, say whether several can train together (one needs no NCCL), and whether bfloat16 is native."""
    import torch

    cuda: Any = import_module("torch.cuda")
    num = cuda.device_count() if cuda.is_available() else 0
    for index in range(num):
        device = cuda.get_device_properties(index)
        yield DoctorFinding(True, f"cuda:{index}", f"{device.name}, {device.total_memory / 2**30:.0f} GiB")
    if not num:
        yield DoctorFinding(True, "devices", "no GPU: one thread per process")
        cpuinfo = Path("/proc/cpuinfo")
        words = set(cpuinfo.read_text().split()) if cpuinfo.is_file() else set[str]()
        flags = ", ".join(sorted(words & {"amx_bf16", "avx512_bf16", "bf16"}))
        emulated = "emulated on this CPU: right, and slower than float32"
        yield DoctorFinding(True, "bfloat16", f"native on the CPU ({flags})" if flags else emulated)
        return
    native = cuda.is_bf16_supported(including_emulation=False)
    note = "native on the GPU" if native else "the GPU has none: --set model.dtype=float16, or float32"
    yield DoctorFinding(native, "bfloat16", note)
    if num > 1 and not torch.distributed.is_nccl_available():
        yield DoctorFinding(
            False, "NCCL", f"{num} GPUs and a torch without NCCL: install a CUDA build of torch for Linux"
        )
    elif num > 1:
        version = ".".join(map(str, cuda.nccl.version()))
        alone = ", ".join(str(i) for i in range(1, num) if not cuda.can_device_access_peer(0, i))
        slow = f"; GPU 0 reaches {alone} by the host's memory alone, which is slower" if alone else ""
        yield DoctorFinding(True, "NCCL", f"{version}, {num} GPUs{slow}")


def _eight_bit() -> DoctorFinding:
    """Take one step of 8-bit AdamW on the device that a fine-tuning would use."""
    what = "8-bit AdamW"
    try:
        import torch

        bitsandbytes: Any = import_module("bitsandbytes")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        weights = torch.nn.Parameter(torch.ones(8192, device=device))  # under 4096 elements it keeps 32 bits
        weights.grad = torch.ones_like(weights)
        bitsandbytes.optim.AdamW8bit([weights], lr=0.5).step()
        moved = bool((weights < 1).all())
    except (ImportError, RuntimeError, OSError, AttributeError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        return DoctorFinding(
            False, what, f"--set training.optimizer=adamw_torch, or pip install bitsandbytes ({first})"
        )
    if not moved:
        return DoctorFinding(False, what, f"a step on {device} changes nothing: --set training.optimizer=adamw_torch")
    return DoctorFinding(True, what, f"bitsandbytes {metadata.version('bitsandbytes')} takes a step on {device}")


def _torchrun() -> DoctorFinding:
    import torch.distributed as distributed

    what = "torchrun"
    if not distributed.is_available():
        return DoctorFinding(
            False, what, "this torch has no torch.distributed: one process only; install another build"
        )
    known = {"gloo": distributed.is_gloo_available(), "nccl": distributed.is_nccl_available()}
    backends = ", ".join(name for name, there in known.items() if there)
    try:
        socket.gethostbyname(socket.gethostname())
    except OSError:
        return DoctorFinding(True, what, f"{backends}; the host name does not resolve: set GLOO_SOCKET_IFNAME=lo")
    return DoctorFinding(
        bool(backends), what, backends or "neither gloo nor nccl: one process only; install another build"
    )


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "of unknown version"
