"""The day there is a GPU: commands of at most ten minutes each, in order of worth, each gone on with where it stopped.

    python -m tools.gpu_day --out gpu-day [--minutes 9.5]      run it again until it says that all is done
    python -m tools.gpu_day --out gpu-toy --toy                the same at toy sizes on a CPU: figures mean nothing
    python -m tools.gpu_day --pack FOLDER                      the model in two parts under 64 MiB, carried one by one
    python -m tools.gpu_day --unpack FOLDER                    put both parts where `tools.real_model` looks

Each step is a command of the product; what is done is marked below OUT/done, with its seconds, so that a machine that
was taken away costs one step at most. Runs and fine-tunings among them go on from their own checkpoints.
"""

import argparse
import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools import real_model

PACKAGE = Path("checkpoints/smollm2-package")
PART_BYTES = 60 * 2**20
BASES = (1, 2, 3)
FORKS = {"extra_kinds": "[0,1]", "forks": "[0,1]", "property_rate": "0.3", "forms": "[Every]"}
"""The task of configs/smollm2_forks.yaml."""


@dataclass(frozen=True, slots=True)
class Step:
    """A command of the product, or of this repository."""

    name: str
    words: tuple[str, ...]

    def command(self) -> list[str]:
        """Return the command line."""
        module = ["tools.real_model"] if self.words[0] == "real-model" else ["training", self.words[0]]
        return [sys.executable, "-m", *module, *self.words[1:]]


def steps(out: Path, *, toy: bool) -> Iterator[Step]:
    """Yield the steps, the most worth having first: speeds, filters over bases, deduction rules, vLLM."""
    bench = ("bench", "gpu", "--out", f"{out}/bench", "--limit", "9", *(["--on", "cpu", "--toy"] if toy else []))
    yield Step("decoding", (*bench, "--parts", "decoding,masks"))
    yield Step("training", (*bench, "--parts", "training,round" if toy else "training,round,tests,smoke"))
    if not toy:
        yield Step("model", ("real-model",))
    bases = BASES[: 2 if toy else None]
    for base in bases:
        yield from _warm(f"warm-{base}", out / f"warm-{base}", "prontoqa", base, toy=toy)
        model = {"model.adapter": f"{out}/warm-{base}/adapter"}
        yield Step(
            f"run-{base}",
            ("run", "configs/smollm2_forks.yaml", "--out", f"{out}/run-{base}", *_run_sets(model, toy=toy)),
        )
    runs = [f"{out}/run-{base}" for base in bases]
    yield Step("compare", ("compare", *runs, "--bases", "--against", "well-formed", "--out", f"{out}/filters"))
    yield from _warm("rules", out / "rules", "prontoqa-ood", 1, toy=toy)
    rules = out / "rules"
    drawn = ("prontoqa-ood", "--num", "6" if toy else "800", "--split", "train", "--seed", "1")
    yield Step("rules-sampled", ("problems", *drawn, "--out", f"{rules}/sampled.jsonl"))
    files = {"problems.file": f"{rules}/sampled.jsonl", "held_out.file": f"{rules}/tested.jsonl"}
    sets = _run_sets({"model.adapter": f"{rules}/adapter", **files}, toy=toy, measured=600)
    yield Step("rules-self", ("run", "configs/smollm2_rules.yaml", "--out", f"{out}/rules-self", *sets))
    yield Step("vllm", (*bench, "--parts", "vllm"))


def _run_sets(model: Mapping[str, object], *, toy: bool, measured: int = 1500) -> list[str]:
    """Return a run's sizes: ten times those that one CPU core had, or toy ones."""
    sizes = {"star.problems_per_round": 800, "evaluation.num_problems": measured, "training.max_steps": 120}
    batches = {"sampling.batch_size": 400, "evaluation.batch_size": 500}
    tiny = {"star.problems_per_round": 4, "evaluation.num_problems": 6, "sampling.batch_size": 8}
    return _set({**model, **(tiny | _toy_model() if toy else sizes | batches)})


def _warm(name: str, folder: Path, dataset: str, seed: int, *, toy: bool) -> Iterator[Step]:
    """Yield a warm start: proofs of a data set, filtered, trained on and measured."""
    config, sets = "configs/smollm2_warm.yaml", _set(_toy_model() if toy else {})
    of_prontoqa = FORKS if dataset == "prontoqa" else {}
    lessons = _set({"hops": "[1,2,3]", **of_prontoqa}) if of_prontoqa else []
    num = "8" if toy else "4800"
    drawn = [dataset, "--num", num, "--split", "pretrain", "--seed", str(seed), *lessons]
    problems, proofs, kept, adapter = (str(folder / each) for each in ("p.jsonl", "proofs.jsonl", "kept", "adapter"))
    yield Step(f"{name}-problems", ("problems", *drawn, "--out", problems))
    yield Step(
        f"{name}-proofs", ("demonstrate", problems, "--format", "english", "--config", config, "--out", proofs, *sets)
    )
    yield Step(f"{name}-kept", ("filter", proofs, "--out", kept))
    yield Step(
        f"{name}-adapter",
        ("train", config, "--data", kept, "--out", adapter, "--seed", str(seed), "--nproc", "1", *sets),
    )
    asked = [*sets, "--num", "6"] if toy else ["--num", "600", "--set", "sampling.batch_size=300"]
    tested = str(folder / "tested.jsonl")
    of_test = [dataset, "--num", "6" if toy else "600", "--split", "develop", "--seed", "777", *_set(of_prontoqa)]
    yield Step(f"{name}-tested", ("problems", *of_test, "--out", tested))
    for which, model in (("raw", ()), ("trained", ("--adapter", adapter))):
        out = str(folder / which)
        yield Step(f"{name}-{which}", ("evaluate", config, "--problems", tested, *model, "--out", out, *asked))


def _toy_model() -> dict[str, object]:
    return {"model.name": "checkpoints/base-easy", "model.prompt": "bare", "training.max_steps": 1}


def _set(keys: Mapping[str, object]) -> list[str]:
    return [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]


def run(out: Path, minutes: float, *, toy: bool) -> bool:
    """Do what is not done until the time is up; say whether all is done."""
    ends = time.monotonic() + 60 * minutes
    (out / "done").mkdir(parents=True, exist_ok=True)
    is_whole = True
    for step in steps(out, toy=toy):
        mark = out / "done" / f"{step.name}.json"
        if mark.exists():
            continue
        left = ends - time.monotonic()
        if left < 20:
            print(f"{step.name}: not begun; run this again")
            return False
        code, seconds = _timed(step, out, left)
        print(f"{step.name}: status {code} after {seconds:.0f} s", flush=True)
        if code == 0:
            mark.write_text(json.dumps({"step": step.name, "seconds": round(seconds, 1), "command": step.words}) + "\n")
        else:
            is_whole = False
    return is_whole


def _timed(step: Step, out: Path, left: float) -> tuple[int, float]:
    """Run a step, asked to end in time; what it prints goes to OUT/NAME.log."""
    began = time.monotonic()
    with (out / f"{step.name}.log").open("ab") as log:
        process = subprocess.Popen(step.command(), stdout=log, stderr=subprocess.STDOUT)
        try:
            process.wait(left)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    return process.returncode, time.monotonic() - began


def pack(folder: Path) -> None:
    """Write the model's file in parts, its reader beside the first."""
    whole = PACKAGE / real_model.FILE
    if not whole.exists():
        raise SystemExit(f"gpu_day: {whole} is not there; make it by `python -m tools.real_model`")
    with whole.open("rb") as file:
        for number, part in enumerate(iter(lambda: file.read(PART_BYTES), b"")):
            place = folder / f"part-{number}"
            place.mkdir(parents=True, exist_ok=True)
            (place / "model.gguf.part").write_bytes(part)
    shutil.copytree(PACKAGE / "gguf", folder / "part-0" / "gguf", dirs_exist_ok=True)


def unpack(folder: Path) -> None:
    """Join the parts; `tools.real_model` compares the digest."""
    whole = PACKAGE / real_model.FILE
    whole.parent.mkdir(parents=True, exist_ok=True)
    parts = sorted(folder.glob("part-*/model.gguf.part"))
    if not parts:
        raise SystemExit(f"gpu_day: no part-N/model.gguf.part in {folder}")
    with whole.open("wb") as file:
        for part in parts:
            file.write(part.read_bytes())
    shutil.copytree(folder / "part-0" / "gguf", PACKAGE / "gguf", dirs_exist_ok=True)


def main() -> None:
    """Read the command line, and do what it asks."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu_day", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("gpu-day"), help="folder of the results; the same goes on")
    parser.add_argument("--minutes", type=float, default=9.5, help="when to stop")
    parser.add_argument("--toy", action="store_true", help="a rehearsal on a CPU")
    parser.add_argument("--pack", type=Path, help="write the model's parts there")
    parser.add_argument("--unpack", type=Path, help="join the parts that lie there")
    asked = parser.parse_args()
    if asked.pack is not None:
        pack(asked.pack)
    elif asked.unpack is not None:
        unpack(asked.unpack)
    elif run(asked.out, asked.minutes, toy=asked.toy):
        print("all is done")
    else:
        sys.exit(75)


if __name__ == "__main__":
    main()
