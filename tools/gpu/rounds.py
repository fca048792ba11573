"""Rounds on a GPU: a certified STaR round of a 1 B model, and the smoke run beside the CPU's.

The 1 B model is the seed model of the repository in a larger one's shape (`tools.gpu.decoding`): it costs what
1 B parameters cost, and what it writes can be certified.
"""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from tools.gpu.cells import BenchCell, BenchRow, Setting, started, value
from tools.gpu.decoding import MODELS, SyntheticModel
from training.planning.lengths import Dimensions

ROOT = Path(__file__).parents[2]
SEED, SMOKE = "checkpoints/seed", "configs/smoke.yaml"
FAIR = "checkpoints/seed-fair"
"""Seed model of the round: a third of what it writes at a low temperature is certified, so that there is something to
fine-tune on."""
SMALL_SHAPE = SyntheticModel("llama", Dimensions(192, 400, 4, 6, 6, 640, 1_024, head_dim=32))
NO_SCIPY = {"promotion": {"enabled": False}}
"""Promotion is a test of scipy's, which a bare machine lacks."""


def rounds(setting: Setting) -> Iterator[BenchCell]:
    """Yield the round."""
    name = "toy" if setting.toy else "1B"
    yield BenchCell(f"{name}/certified round", lambda: _round(setting), needs=(f"{ROOT / FAIR}", "pebble"))


def smoke(setting: Setting) -> Iterator[BenchCell]:
    """Yield the smoke run here against the CPU's, arm by arm."""
    needs = (f"{ROOT / SEED}", f"{ROOT / SMOKE}", "pebble")
    yield BenchCell("smoke/against the CPU", lambda: _smoke(setting), needs=needs)


def _round(setting: Setting) -> list[BenchRow]:
    from training.configuration.run import RunConfig

    shape = SMALL_SHAPE if setting.toy else MODELS["1B"]
    model = _enlarged(ROOT / FAIR, shape, setting.scratch / "enlarged")
    num = 10 if setting.toy else 256
    config = RunConfig.model_validate(
        {
            "name": "gpu-round",
            "model": {"name": str(model)},
            "problems": {"hops": [1] if setting.toy else [1, 2, 3], "extra_kinds": [0, 0]},
            "arms": [{"name": "strict", "keep": "strict", "decoding": "guided"}],
            "star": {"rounds": 1, "problems_per_round": num},
            "sampling": {"temperature": 0.3, "max_new_tokens": 150 if setting.toy else 300, "batch_size": num},
            "training": {"epochs": 1, "batch_size": 8, "learning_rate": 1e-4},
            "evaluation": {
                "num_problems": 4 if setting.toy else num,
                "batch_size": num,
                "greedy": "never",
                "square": "never",
            },
            **NO_SCIPY,
        }
    )
    out = setting.scratch / "round"
    began = perf_counter()
    without_report = _run_all(config, out)
    rows = [value("seconds", perf_counter() - began, "s", against="every stage in a process of its own")]
    rows += [value(f"{name}_s", seconds, "s") for name, seconds in _stage_seconds(out).items()]
    kept = _counts(out / "round-000" / "dataset" / "summary.json")
    if not kept["kept"]:
        raise RuntimeError(f"none of {kept['sampled']:.0f} attempts was certified, so that no fine-tuning was measured")
    rows += [value(name, kept[name], "attempts", n=round(kept["sampled"])) for name in ("certified", "kept")]
    for which, folder in (("base", out / "base"), ("after", out / "round-000")):
        mode = json.loads((folder / "evaluation.json").read_text())["modes"]["sampled"]
        rows.append(value(f"certified_{which}", mode["certified"] / mode["n"], "ratio", n=mode["n"]))
    return [*rows, value("report", 0.0 if without_report else 1.0, "written")]


def _run_all(config: Any, out: Path) -> bool:
    """Run it as `certistar run` does; return whether its report needs what is not installed here."""
    from training.rounds.run import run

    try:
        run(config, out)
    except ModuleNotFoundError as error:
        if error.name not in ("scipy", "matplotlib"):  # the report's, which comes last
            raise
        return True
    return False


def _stage_seconds(out: Path) -> Mapping[str, float]:
    from training.records.run_folder import read_times

    found: dict[str, float] = {}
    for time in read_times(out):
        found[time.stage] = found.get(time.stage, 0.0) + time.seconds
    return found


def _counts(path: Path) -> Mapping[str, float]:
    told = json.loads(path.read_text())
    return {name: float(told[name]) for name in ("sampled", "certified", "kept")}


@dataclass(frozen=True, slots=True)
class _Run:
    """A smoke run that is done."""

    out: Path
    seconds: float

    def texts(self, name: str) -> dict[str, str]:
        """Return what was written, by folder and attempt."""
        from training.records.store import read_records

        return {
            f"{path.parent}/{record.get('mode')}/{record['id']}": record["completion"]
            for path in self._folders(name)
            for record in read_records(path, checksum=True)
        }

    def _folders(self, name: str) -> list[Path]:
        from training.records.store import is_stored

        return [folder / name for folder in sorted(self.out.rglob("*")) if folder.is_dir() and is_stored(folder / name)]


def _smoke(setting: Setting) -> list[BenchRow]:
    here, cpu = setting.scratch / "smoke-here", setting.scratch / "smoke-cpu"
    began = perf_counter()
    _run_smoke(here, toy=setting.toy)
    runs = [_Run(here, perf_counter() - began), _smoke_on_cpu(setting, cpu)]
    rows = [value(f"seconds_{name}", run.seconds, "s") for name, run in zip(("here", "cpu"), runs, strict=True)]
    for name, file in (("evaluations", "evaluation.jsonl"), ("rollouts", "traces.jsonl")):
        ours, theirs = ({key.removeprefix(str(r.out)): t for key, t in r.texts(file).items()} for r in runs)
        base_alone = [key for key in theirs if name == "rollouts" or key.startswith("/base")]
        equal = sum(ours.get(key) == theirs[key] for key in base_alone)
        rows.append(value(f"{name}_equal", equal / len(base_alone), "ratio", n=len(base_alone)))
    return [*rows, *_adapters(here, cpu)]


def _smoke_on_cpu(setting: Setting, out: Path) -> _Run:
    """Run it in a process that sees no GPU."""
    began = perf_counter()
    process = started(setting.device, _run_without_gpu, out, setting.toy)
    process.join()
    if process.exitcode:
        raise RuntimeError(f"the smoke run on the CPU ended with {process.exitcode}; smoke.log says why")
    return _Run(out, perf_counter() - began)


def _run_without_gpu(out: Path, toy: bool) -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    _run_smoke(out, toy=toy)


def _adapters(here: Path, cpu: Path) -> Iterator[BenchRow]:
    """Yield how far the adapters of equal datasets lie apart, relative to their length."""
    load_file: Any = import_module("safetensors.torch").load_file
    for theirs in sorted(cpu.rglob("adapter_model.safetensors")):
        ours = here / theirs.relative_to(cpu)
        arm = theirs.relative_to(cpu).parts[0]
        datasets = [path.parents[1] / "dataset" / "examples.jsonl" for path in (ours, theirs)]
        if not ours.exists() or datasets[0].read_bytes() != datasets[1].read_bytes():
            yield value(f"adapter_{arm}", float("nan"), "ratio", against="their datasets differ")
            continue
        a, b = load_file(ours), load_file(theirs)
        apart = sum(float((a[name] - b[name]).double().square().sum()) for name in b)
        length = sum(float(b[name].double().square().sum()) for name in b)
        yield value(f"adapter_{arm}", (apart / length) ** 0.5, "ratio", against="length of the CPU's adapter")


def _run_smoke(out: Path, *, toy: bool) -> None:
    """Run the smoke configuration in this process in float32, stage after stage, without the report."""
    import torch

    from training.configuration.run import load_run
    from training.logs import quieten
    from training.rounds.line import Line
    from training.rounds.loop import measure, run_line
    from training.rounds.run import jobs_of
    from training.workers.choice import open_workers

    quieten()
    if not torch.cuda.is_available():
        torch.set_num_threads(1)
    words = ["model.dtype=float32", "training.precision=float32", "promotion.enabled=false"]
    words += ["star.problems_per_round=2", "evaluation.num_problems=2", "sampling.max_new_tokens=150"] if toy else []
    words.append(f"model.name={ROOT / SEED}")  # whatever folder this is asked in
    config = load_run(ROOT / SMOKE, words)
    with open_workers(config, cores=2) as workers:
        for job in jobs_of(config):
            line = Line(config, out, job.arm, job.seed, workers)
            if job.kind == "base":
                measure(line, None, None)
            else:
                run_line(line)


def _enlarged(small: Path, shape: SyntheticModel, folder: Path) -> Path:
    """Write a trained Llama in a larger one's shape: it writes what the small one writes, at the large one's cost.

    Widths are filled up with zeros, layers with such as add nothing; norms are scaled, since their mean is over more
    numbers. Heads keep the small model's width, of which the large one has as many more. Outputs beyond the tokenizer's
    tokens are never chosen (`rollout.decoding`).
    """
    import torch

    transformers: Any = import_module("transformers")
    if (folder / "tokenizer.json").exists():
        return folder
    source = transformers.AutoModelForCausalLM.from_pretrained(small, dtype=torch.float32)
    config = transformers.AutoConfig.from_pretrained(small)
    had, size = config.hidden_size, shape.size
    heads = size.num_attention_heads * size.head_dim // config.head_dim
    config.hidden_size, config.intermediate_size = size.hidden_size, size.intermediate_size
    config.num_hidden_layers, config.vocab_size = size.num_hidden_layers, size.vocab_size
    config.num_attention_heads = config.num_key_value_heads = heads
    config.rms_norm_eps *= had / size.hidden_size
    made = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    told = source.state_dict()
    with torch.no_grad():
        for name, weights in made.state_dict().items():
            weights.zero_()
            if name in told:
                part = told[name] * (had / size.hidden_size) ** 0.5 if weights.dim() == 1 else told[name]
                weights[tuple(slice(0, length) for length in part.shape)] = part
    made.half().save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(small).save_pretrained(folder)
    return folder
