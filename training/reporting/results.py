"""Results of a run folder: evaluations by arm, seed and round, and the counts of what each round was trained on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from critics.errors import InputError
from critics.problem import is_object
from training.records.run_folder import RunLine, configuration, filters, read_file, read_run
from training.reporting.evaluations import Evaluation, Outcome, read_evaluation

STAGES = ("sampled", "right", "certified", "kept")


@dataclass(frozen=True, slots=True)
class Curated:
    """Counts of a round's attempts, from dataset/summary.json, and where the attempts are."""

    traces: Path
    funnel: Mapping[str, int]
    """How many attempts there are at each of `STAGES`."""
    verdicts: Mapping[str, int]
    reasons: Mapping[str, int]
    coverage: Mapping[str, float]
    """Of the texts kept: how many, and the shares covered, filler and unread; empty where no critic reads them."""
    kept_lucky: int
    """How many of those kept are right and not proved; 0 in summaries that are older than the count."""


@dataclass(frozen=True, slots=True)
class ReportedLine:
    """One arm under one seed."""

    seed: int
    rounds: tuple[Evaluation, ...]
    """Round 0 is the model before any fine-tuning."""
    rollouts: tuple[Curated, ...]
    """What each fine-tuning learnt from."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One filter's lines, by ascending seed; all have as many rounds, decoded in the same way."""

    name: str
    decoding: str
    lines: tuple[ReportedLine, ...]
    keep: str | None = None
    """Its filter; None where no configuration says it."""

    @property
    def seeds(self) -> list[int]:
        """Its seeds, ascending."""
        return [line.seed for line in self.lines]

    @property
    def has_dialogs(self) -> bool:
        """Say whether its attempts are dialogs, which run tests."""
        return all(line.rounds[-1].tests_passed for line in self.lines)

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
    """A part of a run that can be reported: its seeds, and its number of rounds of each line."""

    seeds: tuple[int, ...]
    num_rounds: int

    def missing(self, part: "Extent") -> dict[str, object]:
        """Say what a part of this whole leaves out, for the provenance; nothing where it is the whole."""
        seeds = sorted(set(self.seeds) - set(part.seeds))
        rounds = list(range(part.num_rounds + 1, self.num_rounds + 1))
        return {**({"unfinished_seeds": seeds} if seeds else {}), **({"unfinished_rounds": rounds} if rounds else {})}


def extent_of(run: Path) -> Extent:
    """Return all that a run is to have."""
    layout = read_run(run)
    return Extent(tuple(sorted({line.seed for line in layout.lines})), layout.num_rounds)


def finished_seeds(run: Path) -> Extent:
    """Return the seeds under which every arm has its last evaluation; raises InputError where there are none."""
    found, whole = _finished(run), extent_of(run)
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
    layout = read_run(run)
    found: dict[int, int] = {}
    for line in layout.lines:
        done = 0
        if (line.base / "evaluation.json").exists():
            while (line.round_folder(done) / "evaluation.json").exists():
                done += 1
        done = min(done, layout.num_rounds)
        found[line.seed] = min(found.get(line.seed, done), done)
    return found


def read_arms(run: Path, extent: Extent | None = None) -> list[Arm]:
    """Read the lines of all arms, or of them the part that `extent` names."""
    layout, part = read_run(run), extent or extent_of(run)
    lines: dict[str, list[ReportedLine]] = {}
    for line in (line for line in layout.lines if line.seed in part.seeds):
        lines.setdefault(line.arm, []).append(_read_line(line, part.num_rounds))
    if not lines:
        raise InputError(f"{run / 'lines.json'}: names no lines; run `certistar run` again")
    keeps = filters(run)
    return [_arm(name, sorted(found, key=lambda line: line.seed), keeps.get(name)) for name, found in lines.items()]


def _arm(name: str, lines: Sequence[ReportedLine], keep: str | None) -> Arm:
    if len({line.seed for line in lines}) < len(lines):
        raise InputError(f"arm {name} has two lines with one seed: {[line.seed for line in lines]}")
    evaluations = [evaluation for line in lines for evaluation in line.rounds]
    first = evaluations[0]
    for other in evaluations:
        if other.sampled.decoding != first.sampled.decoding:
            raise InputError(f"arm {name} is decoded differently in {first.path} and {other.path}")
    return Arm(name, first.sampled.decoding, tuple(lines), keep)


def _read_line(line: RunLine, num_rounds: int) -> ReportedLine:
    rounds = [line.round_folder(number) for number in range(num_rounds)]
    evaluations = tuple(read_evaluation(folder / "evaluation.json") for folder in (line.base, *rounds))
    return ReportedLine(line.seed, evaluations, tuple(map(_read_curated, rounds)))


def _read_curated(folder: Path) -> Curated:
    record = read_file(folder / "dataset" / "summary.json")
    funnel = {stage: record[stage] for stage in STAGES}
    return Curated(
        folder / "traces.jsonl",
        funnel,
        record.get("verdicts") or {},
        record.get("reasons") or {},
        record.get("coverage") or {},
        record.get("kept_lucky", 0),
    )


def provenance(run: Path) -> dict[str, object]:
    """Return what the numbers of a run come from."""
    config = configuration(run)
    evaluation: object = config.get("evaluation")
    primary = evaluation.get("primary") if is_object(evaluation) else None
    name = config.get("name") or run.resolve().name
    return {"name": name, "primary": primary, **read_run(run).provenance}


def origins(origin: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Return the provenance of each run that a summary is of."""
    runs = origin.get("runs")
    return [run for run in runs.values() if is_object(run)] if is_object(runs) else [origin]
