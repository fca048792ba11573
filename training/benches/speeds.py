"""Speeds of a machine out of the results of `certistar bench gpu`, for the plans of runs there (`--measured`)."""

from collections.abc import Iterator
from pathlib import Path

from critics.errors import InputError
from training.benches.decoding import NEW, PROMPT
from training.benches.fine_tuning import CASES
from training.benches.models import MODELS
from training.benches.parts import PARTS
from training.benches.results import ALL, PartResult, read_all
from training.configuration.fine_tuning import TrainingConfig
from training.planning.known_models import shape_of
from training.planning.measured import DecodingSpeed, MachineSpeeds, TrainingSpeed


def machine_speeds(path: Path) -> MachineSpeeds:
    """Read a folder of results, or its gpu.json; raises `InputError` where they are not of a GPU."""
    if path.is_file() and path.name != ALL:
        raise InputError(f"--measured {path}: name a folder of `certistar bench gpu --out`, or its {ALL}")
    parts = {part.part: part for part in read_all(path.parent if path.is_file() else path, PARTS)}
    if not parts:
        raise InputError(f"--measured {path}: no results are there; `certistar bench gpu --out {path}` makes them")
    known = [part for part in parts.values() if part.machine.is_gpu and not part.toy]
    if not known:
        raise InputError(f"--measured {path}: is a rehearsal without a GPU, whose figures mean nothing")
    decoding = [speed for name in ("decoding", "vllm") if name in parts for speed in _decoding(parts[name])]
    return MachineSpeeds(known[0].machine.device, tuple(decoding), tuple(_training(parts.get("training"))))


def _decoding(part: PartResult) -> Iterator[DecodingSpeed]:
    by_way: dict[tuple[str, str, str], dict[int, float]] = {}
    for name, cell in part.cells.items():
        model, engine, how, batch = name.split("/")
        steps = [row.value / 1e3 for row in cell.rows if row.name == "step_ms"]
        if engine in ("own", "vllm") and steps:
            by_way.setdefault((model, engine, how), {})[int(batch)] = steps[0]
    for (model, engine, how), steps in by_way.items():
        shape = shape_of(MODELS[model].family, MODELS[model].size)
        yield DecodingSpeed(shape, engine, how == "guided", PROMPT, NEW, steps)


def _training(part: PartResult | None) -> Iterator[TrainingSpeed]:
    cases = {f"{case.model}/{case.name}": case for case in CASES}
    for name, cell in part.cells.items() if part else ():
        speeds = [row.value for row in cell.rows if row.name == "tokens_per_s"]
        if name in cases and speeds:
            case, model = cases[name], MODELS[cases[name].model]
            config = TrainingConfig.model_validate({"batch_size": case.batch, **case.keys})
            yield TrainingSpeed(shape_of(model.family, model.size), config, case.tokens, 1 / speeds[0])
