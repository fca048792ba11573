"""`doctor`: what this machine can run, and what is missing, with the remedy."""

import json
import logging
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
    yield _room("disk", Path(), MIN_FREE_GB, "give --out a folder elsewhere")
    if (shared := Path("/dev/shm")).is_dir():  # NCCL and data loaders speak through it, and containers get 64 MB of it
        remedy = "docker run --shm-size=16g, or a memory volume at /dev/shm (configs/launch/kubernetes.yaml)"
        yield _room("shared memory", shared, MIN_SHARED_GB, f"where several GPUs train: {remedy}")
    yield from (_solver(*solver) for solver in _SOLVERS)
    yield _package("pebble", "Pebble", "critics that can be killed")
    yield from map(_extra, PACKAGES)
    if find_spec("torch") is None:
        yield DoctorFinding(True, "devices", "not looked at: that takes torch, which judging and filtering do without")
        return
    is_there = all((SEED_MODEL / name).is_file() for name in ("config.json", "model.safetensors", "tokenizer.json"))
    remedy = f"python -m tools.seeds tools/seeds/seed.yaml --out {SEED_MODEL}, in the repository's folder"
    yield DoctorFinding(is_there, "seed model", str(SEED_MODEL) if is_there else remedy)
    for package, purpose in _OF_TRAINING.items():
        yield _package(package, package, purpose)
    yield from _devices()
    yield _eight_bit()
    yield _torchrun()


_OF_TRAINING = {
    "torch": "rollouts and fine-tuning",
    "transformers": "models",
    "peft": "LoRA and DoRA",
    "accelerate": "several processes",
}


def _room(what: str, path: Path, least_gb: int, remedy: str) -> DoctorFinding:
    free_gb = shutil.disk_usage(path).free / 1e9
    lack = f", at least {least_gb} are wanted: {remedy}" if free_gb < least_gb else ""
    return DoctorFinding(not lack, what, f"{free_gb:.1f} GB free{lack}")


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
        wrong = "" if check(import_module(module)) else "answers wrongly"
    except Exception as error:  # noqa: BLE001 - whatever a broken build raises
        wrong = f"does not run ({error})"
    if wrong:
        remedy = f"pip install --force-reinstall {distribution}"
        return DoctorFinding(False, module, f"{found.note}, {wrong}: {remedy}")
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
        return
    native = cuda.is_bf16_supported(including_emulation=False)
    note = "native on the GPU" if native else "the GPU has none: --set model.dtype=float16, or float32"
    yield DoctorFinding(native, "bfloat16", note)
    if num > 1:
        there = torch.distributed.is_nccl_available()
        lack = f"{num} GPUs and a torch without NCCL: install a CUDA build of torch for Linux"
        yield DoctorFinding(there, "NCCL", f"{num} GPUs" if there else lack)


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
        wrong = "" if bool((weights < 1).all()) else f"a step on {device} changes nothing"
    except (ImportError, RuntimeError, OSError, AttributeError) as error:
        device, wrong = "", (str(error).strip().splitlines() or [type(error).__name__])[0]
    if wrong:
        return DoctorFinding(False, what, f"{wrong}: --set training.optimizer=adamw_torch")
    return DoctorFinding(True, what, f"bitsandbytes {metadata.version('bitsandbytes')} takes a step on {device}")


def _torchrun() -> DoctorFinding:
    import torch.distributed as distributed

    known = {"gloo": distributed.is_gloo_available(), "nccl": distributed.is_nccl_available()}
    backends = ", ".join(name for name, there in known.items() if there)
    try:
        socket.gethostbyname(socket.gethostname())
        beside = ""
    except OSError:
        beside = "; the host name does not resolve: set GLOO_SOCKET_IFNAME=lo"
    none = "neither gloo nor nccl: one process only; install another build of torch"
    return DoctorFinding(bool(backends), "torchrun", f"{backends}{beside}" if backends else none)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "of unknown version"
