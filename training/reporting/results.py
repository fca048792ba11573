"""What a finished run folder holds: evaluations by arm, seed and round, checked as they are read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from critics.errors import InputError

Outcome = Literal["right", "certified", "tests_passed"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation.json; outcomes in the order of the ids, which are sorted so that they pair up."""

    path: Path
    problems: Mapping[str, Any]
    modes: Mapping[str, Mapping[str, Any]]
    ids: tuple[str, ...]
    right: tuple[int, ...]
    certified: tuple[int, ...]
    tests_passed: tuple[int, ...] = ()
    """Of dialogs; empty for other attempts."""

    @property
    def sampled(self) -> Mapping[str, Any]:
        """The mode that everything but the columns named after another mode is about."""
        return self.modes["sampled"]


@dataclass(frozen=True, slots=True)
class Line:
    """One arm under one seed."""

    seed: int
    rounds: tuple[Evaluation, ...]
    """Round 0 is the model before any fine-tuning."""
    datasets: tuple[Mapping[str, Any], ...]
    """What each fine-tuning learnt from: its rollout's counts."""
    rollouts: tuple[Path, ...]
    """Where the attempts of each round are."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One filter's lines, by ascending seed; all have as many rounds, decoded in the same way."""

    name: str
    decoding: str
    lines: tuple[Line, ...]
    keep: str | None = None
    """Its filter; None where no configuration says it."""

    @property
    def seeds(self) -> list[int]:
        """Its seeds, ascending."""
        return [line.seed for line in self.lines]

    def outcomes(self, outcome: Outcome, number: int) -> list[int]:
        """Return 0 or 1 for each answer of a round, seed by seed."""
        return [x for line in self.lines for x in getattr(line.rounds[number], outcome)]

    def gains(self) -> list[int]:
        """Return, for each answer, last round minus round 0: 1 learnt, -1 unlearnt."""
        return [b - a for a, b in zip(self.outcomes("right", 0), self.outcomes("right", -1), strict=True)]

    def answer_seeds(self) -> list[int]:
        """Return the seed of each answer."""
        return [line.seed for line in self.lines for _ in line.rounds[0].ids]


@dataclass(frozen=True, slots=True)
class Extent:
    """A part of a run that can be reported: these seeds, and so many rounds of each line."""

    seeds: tuple[int, ...]
    num_rounds: int

    def missing(self, part: "Extent") -> dict[str, Any]:
        """Say what a part of this whole leaves out, for the provenance; nothing where it is the whole."""
        seeds = sorted(set(self.seeds) - set(part.seeds))
        rounds = {"unfinished_rounds": list(range(part.num_rounds + 1, self.num_rounds + 1))}
        return ({"unfinished_seeds": seeds} if seeds else {}) | (rounds if part.num_rounds < self.num_rounds else {})


def extent_of(run: Path) -> Extent:
    """Return all that a run is to have."""
    layout = read(run / "lines.json")
    return Extent(tuple(sorted({entry["seed"] for entry in layout["lines"]})), layout["num_rounds"])


def finished_seeds(run: Path) -> Extent:
    """Return the seeds under which every arm has its last evaluation; raises InputError where there are none."""
    found = _finished(run)
    whole = extent_of(run)
    seeds = tuple(seed for seed in whole.seeds if found[seed] == whole.num_rounds)
    if not seeds:
        raise InputError(f"{run}: no seed is finished under every arm yet; run `certistar run` again to go on")
    return Extent(seeds, whole.num_rounds)


def finished_so_far(run: Path) -> Extent | None:
    """Return the most of a run that goes on which can be compared: whole seeds, else the rounds that lines share."""
    found, whole = _finished(run), extent_of(run)
    seeds = tuple(seed for seed in whole.seeds if found[seed] == whole.num_rounds)
    if seeds:
        return Extent(seeds, whole.num_rounds)
    begun = tuple(seed for seed in whole.seeds if found[seed])
    return Extent(begun, min(found[seed] for seed in begun)) if begun else None


def _finished(run: Path) -> dict[int, int]:
    """Return for each seed how many rounds all arms have evaluated; 0 where a base model has no evaluation yet."""
    layout = read(run / "lines.json")
    found: dict[int, int] = {}
    for entry in layout["lines"]:
        done = 0
        if (run / entry["base"] / "evaluation.json").exists():
            while (run / entry["path"] / f"round-{done:03d}" / "evaluation.json").exists():
                done += 1
        done = min(done, layout["num_rounds"])
        found[entry["seed"]] = min(found.get(entry["seed"], done), done)
    return found


def read_arms(run: Path, extent: Extent | None = None) -> list[Arm]:
    """Read the lines of all arms, or of them the part that `extent` names."""
    layout, part = read(run / "lines.json"), extent or extent_of(run)
    lines: dict[str, list[Line]] = {}
    for entry in (entry for entry in layout["lines"] if entry["seed"] in part.seeds):
        lines.setdefault(entry["arm"], []).append(_read_line(run, entry, part.num_rounds))
    if not lines:
        raise InputError(f"{run / 'lines.json'}: names no lines; run `certistar run` again")
    keeps = {str(arm.get("name")): arm.get("keep") for arm in configuration(run).get("arms") or ()}
    return [_arm(name, sorted(found, key=lambda line: line.seed), keeps.get(name)) for name, found in lines.items()]


def _arm(name: str, lines: Sequence[Line], keep: str | None) -> Arm:
    if len({line.seed for line in lines}) < len(lines):
        raise InputError(f"arm {name} has two lines with one seed: {[line.seed for line in lines]}")
    evaluations = [evaluation for line in lines for evaluation in line.rounds]
    first = evaluations[0]
    for other in evaluations:
        if other.sampled["decoding"] != first.sampled["decoding"]:
            raise InputError(f"arm {name} is decoded differently in {first.path} and {other.path}")
    return Arm(name, first.sampled["decoding"], tuple(lines), keep)


def _read_line(run: Path, entry: Mapping[str, Any], num_rounds: int) -> Line:
    rounds = [run / entry["base"], *(run / entry["path"] / f"round-{r:03d}" for r in range(num_rounds))]
    return Line(
        seed=entry["seed"],
        rounds=tuple(_read_evaluation(folder / "evaluation.json") for folder in rounds),
        datasets=tuple(read(folder / "dataset" / "summary.json") for folder in rounds[1:]),
        rollouts=tuple(folder / "traces.jsonl" for folder in rounds[1:]),
    )


def _read_evaluation(path: Path) -> Evaluation:
    record = read(path)
    try:
        sampled = record["modes"]["sampled"]
        outcomes = sampled["outcomes"]
        answers = sorted(zip(outcomes["ids"], outcomes["right"], outcomes["certified"], strict=True))
        passed = sampled["by_retries"][-1]["outcomes"]["tests_passed"] if sampled.get("by_retries") else []
        passed = [value for _, value in sorted(zip(outcomes["ids"], passed, strict=True))] if passed else []
        counts = [sampled["n"], sampled["right"], sampled["certified"]]
        problems = record["problems"]
        if sampled["decoding"] not in ("guided", "free"):
            raise InputError(f"sampled.decoding is {sampled['decoding']!r}, not guided or free")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not an evaluation ({error!r}); delete it and run `certistar run` again") from error
    ids, right, certified = zip(*answers, strict=True) if answers else ((), (), ())
    if counts != [len(ids), sum(right), sum(certified)] or not ids:
        raise InputError(f"{path}: its counts (n, right, certified) {counts} are not those of its outcomes, or 0")
    return Evaluation(path, problems, record["modes"], ids, right, certified, tuple(passed))


def provenance(run: Path) -> dict[str, Any]:
    """Return what the numbers of a run come from."""
    name = configuration(run).get("name") or run.resolve().name
    return {"name": name, **read(run / "lines.json").get("provenance", {})}


def configuration(run: Path) -> dict[str, Any]:
    """Return the resolved configuration of a run; nothing where it has none."""
    import yaml

    path = run / "config.yaml"
    return (yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None) or {}


def read(path: Path) -> dict[str, Any]:
    """Read a file of a run folder; raises `InputError` that says what to do where it is missing or not JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise InputError(f"{path.parent}: there is no such folder; name one that `certistar run` wrote") from None
        raise InputError(
            f"{path} is missing: the run is not finished; run `certistar run` again to finish it"
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON ({error}); delete it and run `certistar run` again") from None
