"""Results of a run folder: evaluations by arm, seed and round, what each round was trained on, and what it all cost.

`evaluation.json` is read, and checked, here and nowhere else. Costs are requests and tokens of attempts, and time and
memory of stages.
"""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from critics.errors import InputError
from rollout.records.digests import ServerUse
from rollout.records.sampling import Decoding
from rollout.records.traces import Trace
from training.outcomes import Record, Table, pooled, table_of
from training.records.run_folder import STAGES as TIMED_STAGES
from training.records.run_folder import Provenance, configuration, filters, read_file, read_run, read_times

STAGES = ("sampled", "right", "certified", "kept")
"""From attempts to training data."""
_COLUMNS = {"ids": "problem", "grades": "grade"}
"""Columns of the outcomes table by their keys in an evaluation, where these differ."""


@dataclass(frozen=True, slots=True)
class EvaluationFile:
    """One evaluation.json, checked."""

    path: Path
    problems: Mapping[str, str | int]
    """Their number, their split and their digest."""
    modes: Mapping[str, Record]
    columns: Mapping[str, tuple[int, ...]]
    """`ids`, `right`, `certified` and, of dialogs, `tests_passed` of the sampled answers: sorted by id to pair up."""

    @property
    def sampled(self) -> Record:
        """The mode that everything but the columns named after another mode is about."""
        return self.modes["sampled"]


@dataclass(frozen=True, slots=True)
class Arm:
    """One filter's lines, by ascending seed; all have as many rounds, decoded in the same way."""

    name: str
    keep: str | None
    """Its filter; None where no configuration says it."""
    seeds: Sequence[int]
    rounds: Sequence[Sequence[EvaluationFile]]
    """Evaluations by round, then by seed; round 0 is the model before any fine-tuning."""
    rollouts: Sequence[Sequence[Record]]
    """Contents of dataset/summary.json by round from 1, then by seed, with the `path` of the attempts."""

    @property
    def decoding(self) -> str:
        """The decoding of its sampled answers, guided or free."""
        return self.rounds[0][0].sampled["decoding"]

    @property
    def has_dialogs(self) -> bool:
        """Say whether its attempts are dialogs, which run tests."""
        return all("tests_passed" in found.columns for found in self.rounds[-1])

    def outcomes(self, name: str, number: int) -> list[int]:
        """Return 0 or 1 for each answer of a round, seed by seed."""
        return [value for found in self.rounds[number] for value in found.columns[name]]

    def gains(self) -> list[int]:
        """Return, for each answer, last round minus round 0: 1 learnt, -1 unlearnt."""
        return [b - a for a, b in zip(self.outcomes("right", 0), self.outcomes("right", -1), strict=True)]

    def answer_seeds(self) -> list[int]:
        """Return the seed of each answer."""
        pairs = zip(self.seeds, self.rounds[0], strict=True)
        return [seed for seed, found in pairs for _ in found.columns["ids"]]


def read_evaluation(path: Path) -> EvaluationFile:
    """Read and check an evaluation; raises `InputError` that names the file."""
    record = read_file(path)
    try:
        modes = {name: mode for name, mode in record["modes"].items() if mode}
        sampled, problems = modes["sampled"], record["problems"]
        columns = {name: sampled["outcomes"][name] for name in ("ids", "right", "certified")}
        if sampled.get("by_retries"):
            columns["tests_passed"] = sampled["by_retries"][-1]["outcomes"]["tests_passed"]
        rows = sorted(zip(*columns.values(), strict=True))
        found = dict(zip(columns, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(columns, ())
        counts = [sampled[name] for name in ("n", "right", "certified")]
        if sampled["decoding"] not in get_args(Decoding):
            raise InputError(f"sampled.decoding is {sampled['decoding']!r}, not guided or free")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not an evaluation ({error!r}); delete it and run `certistar run` again") from error
    if not rows or counts != [len(rows), sum(found["right"]), sum(found["certified"])]:
        raise InputError(f"{path}: its counts (n, right, certified) {counts} are not those of its outcomes, or 0")
    return EvaluationFile(path, problems, modes, found)


def finished_seeds(run: Path) -> tuple[int, ...]:
    """Return the seeds under which every arm has its last evaluation; raises InputError where there are none."""
    layout = read_run(run)
    measured = {line: [line.base, *map(line.round_folder, range(layout.num_rounds))] for line in layout.lines}
    begun = {line.seed for line in measured if not all((f / "evaluation.json").exists() for f in measured[line])}
    found = {line.seed for line in layout.lines} - begun
    if not found:
        raise InputError(f"{run}: no seed is finished under every arm yet; run `certistar run` again to go on")
    return tuple(sorted(found))


def read_arms(run: Path, among: Container[int] | None = None) -> list[Arm]:
    """Read the lines of all arms, or those of some seeds."""
    layout = read_run(run)
    wanted = (line for line in layout.lines if among is None or line.seed in among)
    lines = sorted(wanted, key=lambda line: line.seed)
    if not lines:
        raise InputError(f"{run / 'lines.json'}: names no lines; run `certistar run` again")
    keeps, found = filters(run), list[Arm]()
    for name in dict.fromkeys(line.arm for line in layout.lines):
        own = [line for line in lines if line.arm == name]
        seeds = [line.seed for line in own]
        folders = [[line.round_folder(number) for line in own] for number in range(layout.num_rounds)]
        rounds = [
            [read_evaluation(folder / "evaluation.json") for folder in each]
            for each in ([line.base for line in own], *folders)
        ]
        arm = Arm(name, keeps.get(name), seeds, rounds, [[_rollout(folder) for folder in each] for each in folders])
        if len(set(seeds)) < len(seeds):
            raise InputError(f"arm {name} has two lines with one seed: {seeds}")
        for other in (evaluation for each in rounds for evaluation in each):
            if other.sampled["decoding"] != arm.decoding:
                raise InputError(f"arm {name} is decoded differently in {rounds[0][0].path} and {other.path}")
        found.append(arm)
    return found


def _rollout(folder: Path) -> Record:
    record = read_file(folder / "dataset" / "summary.json")
    for stage in STAGES:
        if stage not in record:
            raise InputError(f"{folder}/dataset/summary.json: has no {stage}; delete the folder and run again")
    return {**record, "path": folder / "traces.jsonl"}


def outcomes_of(arms: Iterable[Arm]) -> Table:
    """Return the outcomes table of a run: a row for each held-out answer of each arm, seed, round and mode.

    `right`, `certified`, `lucky` and their like are 0 or 1, so that each rate of a report is the mean of a group-by.
    """
    rows: list[Record] = []
    for arm in arms:
        for number, evaluations in enumerate(arm.rounds):
            for seed, found in zip(arm.seeds, evaluations, strict=True):
                at = {"arm": arm.name, "seed": seed, "round": number}
                for name, mode in found.modes.items():
                    how: Record = {"mode": name, "decoding": mode["decoding"], "temperature": mode.get("temperature")}
                    columns = [_COLUMNS.get(key, key) for key in map(str, mode["outcomes"])]
                    answers = zip(*mode["outcomes"].values(), strict=True)
                    rows += [{**at, **how, **dict(zip(columns, own, strict=True))} for own in answers]
    return table_of(rows)


def provenance(run: Path) -> Provenance:
    """Return what the numbers of a run come from."""
    config = configuration(run)
    evaluation: Any = config.get("evaluation") or {}
    return {
        "name": config.get("name") or run.resolve().name,
        "primary": evaluation.get("primary"),
        **read_run(run).provenance,
    }


def origins(origin: Provenance) -> list[Provenance]:
    """Return the provenance of each run that a report is of."""
    return list(origin["runs"].values()) if "runs" in origin else [origin]


SPENT = ("requests", "prompt_tokens", "completion_tokens", "uncounted")
"""Counts: tokens of prompts to models in this process nobody counts (0); `uncounted` are replies of a server that did
not say how many tokens they are, so that tokens and cost are too low by theirs."""


def spent_on(traces: Iterable[Trace]) -> Record:
    """Return the requests and tokens of attempts, whenever they were made."""
    found: list[Record] = []
    for trace in traces:
        uses: list[ServerUse | None] = [getattr(each, "server", None) for each in (trace, *trace.steps)]
        total = spent_in(use for use in uses if use is not None)
        total["requests"] = total["requests"] or max(1, len(trace.steps))
        total["completion_tokens"] = total["completion_tokens"] or trace.num_tokens
        found.append(total)
    return pooled(found, SPENT)


def spent_in(uses: Iterable[ServerUse | None]) -> Record:
    """Return the cost of replies that are not attempts; None: a model in this process, whose tokens are not counted."""
    keys = ("calls", "prompt_tokens", "completion_tokens", "uncounted")
    told = (use or ServerUse(calls=1) for use in uses)
    return pooled((dict(zip(SPENT, (use.get(key, 0) for key in keys), strict=True)) for use in told), SPENT)


def time_lines(run: Path) -> Iterator[str]:
    """Yield time, GPU-hours and memory of a run's stages for people; memory is that of the largest process or GPU."""
    times = read_times(run)
    for name, parts in TIMED_STAGES.items() if times else ():
        own = [each for each in times if each.stage in parts]
        peaks = [each.peak_memory_bytes for each in own] + (_trained_peaks(run) if name == "fine-tuning" else [])
        said = [f"{name}: {_time(sum(each.seconds for each in own))}"]
        hours = sum(each.seconds * each.gpus for each in own) / 3600
        said += [f"{hours:.2g} GPU-hours"] if hours else []
        said += [f"{most / 2**30:.2f} GiB"] if (most := max(peaks, default=0)) else []
        yield ", ".join(said)


def _trained_peaks(run: Path) -> list[int]:
    """Return the memory of a fine-tuning's processes, which torchrun may have started."""
    found: list[int] = []
    for path in sorted((run / "log").glob("training-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError, KeyError, TypeError):  # a torn line
                found.append(int(json.loads(line)["peak_memory_bytes"]))
    return found


def _time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
