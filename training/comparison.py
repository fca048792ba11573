"""Compare the arms of a run: read its evaluations, and say what they show, with intervals.

`summarise` makes the content of report.json (design, Commands). Arms are compared answer by answer, so
all arms and rounds must have answered the same problems under the same seeds; what is not paired is
refused, never compared loosely. No model is needed: a finished run can be summarised anywhere.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from critics.errors import InputError
from training.estimates import REPLICATES, PairedComparison, Proportion, compare_paired, mean, mean_interval
from training.report import p_value, percent, pick_examples, points, render, write_figure
from training.store import write_text

if TYPE_CHECKING:
    from rich.table import Table

MARGIN = 0.08
"""The lead in gain that certification should buy; `verdict_sentence` says whether it did."""
RATES = {"accuracy": "right", "certified": "certified", "lucky": "lucky"}
STAGES = ("sampled", "right", "certified", "kept")
ANSWERS = ("answered", "no_answer", "abstained", "wrong_formal", "exhausted")

Outcome = Literal["right", "certified"]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation.json; outcomes in the order of the ids, which are sorted so that they pair up."""

    path: Path
    problems: Mapping[str, Any]
    modes: Mapping[str, Mapping[str, Any]]
    ids: tuple[str, ...]
    right: tuple[int, ...]
    certified: tuple[int, ...]

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
    traces: Path
    """The attempts of the last rollout."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One filter's lines, by ascending seed; all have as many rounds, decoded in the same way."""

    name: str
    decoding: str
    lines: tuple[Line, ...]

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


def summarise(run: Path) -> dict[str, Any]:
    """Return the content of report.json for a finished run folder.

    Raises InputError that names the file where the run is unfinished or a record is ill-formed, or both
    files where two evaluations are of different problems.
    """
    return _summary(_read_arms(run), _provenance(run))


def compare_runs(runs: Sequence[Path]) -> dict[str, Any]:
    """Return one summary over several runs, their arms called `RUN:ARM`; of a single run its own summary.

    All arms must share seeds and problems; `a` is the first strict arm, else the first arm. Raises
    InputError as `summarise` does.
    """
    if len(runs) == 1:
        return summarise(runs[0])
    unique = len({run.resolve().name for run in runs}) == len(runs)
    labelled = {run.resolve().name if unique else str(run): run for run in runs}
    arms = [
        Arm(f"{label}:{arm.name}", arm.decoding, arm.lines)
        for label, run in labelled.items()
        for arm in _read_arms(run)
    ]
    origins = {label: _provenance(run) for label, run in labelled.items()}
    return _summary(arms, {"name": " and ".join(labelled), "runs": origins})


def write_report(run: Path, *, partial: bool = False) -> dict[str, Any]:
    """Write report.json, report.html and its first figure, rates.svg, of a finished run; return the summary.

    `partial`: of an unfinished one, by the seeds that every arm has finished; `provenance.unfinished_seeds` names
    the others. Raises InputError as `summarise` does, and where no seed is finished.
    """
    unfinished = _unfinished_seeds(run) if partial else []
    arms = _read_arms(run, without=unfinished)
    summary = _summary(arms, _provenance(run) | ({"unfinished_seeds": unfinished} if unfinished else {}))
    examples = pick_examples({arm.name: [(line.seed, line.traces) for line in arm.lines] for arm in arms})
    record = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(run / "report.json", record + "\n")
    render(summary, examples, run / "report.html", headlines=verdict_sentence(summary))
    write_figure(summary, run / "rates.svg")
    return summary


# -- what the numbers say


def verdict_sentence(summary: Mapping[str, Any]) -> list[str]:
    """Say in plain English what each arm gained, and whether the first arm's lead is what was hoped for."""
    sentences = [_gains_sentence(summary["arms"]), _certified_sentence(summary["arms"])]
    sentences += [_lead_sentence(c) for c in summary["comparisons"] if c["metric"] == "gain"]
    if len({arm["decoding"] for arm in summary["arms"].values()}) > 1:
        sentences.append("The arms decode differently, so a gain is measured from the arm's own start.")
    if all(len(arm["seeds"]) == 1 for arm in summary["arms"].values()):
        sentences.append("One seed only: how much another training run would differ is not known.")
    return sentences


def _gains_sentence(arms: Mapping[str, Any]) -> str:
    said = [f"{name} {points(arm['gain'])} (95% {points(arm['gain_interval'])})" for name, arm in arms.items()]
    first = said[0].replace(" ", " gained ", 1).replace(" (", " points (", 1)
    return "; ".join([f"{first} over its own start", *said[1:]]) + "."


def _certified_sentence(arms: Mapping[str, Any]) -> str:
    said = (
        f"{name} {percent(arm['rounds'][0]['certified'])} → {percent(arm['rounds'][-1]['certified'])}"
        f" (lucky guesses {percent(arm['rounds'][0]['lucky'])} → {percent(arm['rounds'][-1]['lucky'])})"
        for name, arm in arms.items()
    )
    return f"Answers with a certified proof, from the start to the last round: {'; '.join(said)}."


def _lead_sentence(c: Mapping[str, Any]) -> str:
    a, b, (low, high) = c["a"], c["b"], c["interval"]
    numbers = f"{points(c['difference'])} points (95% {points(c['interval'])}, p {_equals(c['p'])}, n = {c['n']})"
    hoped = f"{100 * MARGIN:.0f} points"
    if low > 0 and c["difference"] >= MARGIN:
        finding = f"yes, it exceeds it by at least {hoped}, and the whole interval is above zero."
    elif low > 0:
        finding = f"only in part: the interval is above zero, but the lead is short of {hoped}."
    elif high < 0:
        finding = f"no: {a} gained less than {b}."
    else:
        finding = "no: the interval includes zero, so this run does not tell the two gains apart"
        finding += f" (it would have found {100 * c['detectable']:.1f} points)." if c["detectable"] else "."
    if c["per_seed"] and min(c["per_seed"]) < 0 < max(c["per_seed"]):
        finding += " The seeds disagree about the sign."
    return f"Does {a} gain more than {b}? {numbers}: {finding}"


def _equals(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"


def table(summary: Mapping[str, Any]) -> "Table":
    """Return arms and rounds as a table for the terminal."""
    from rich.table import Table

    shown = Table("arm", "round")
    for column in ("n", "accuracy [95%]", "certified [95%]", "lucky", "greedy", "kept"):
        shown.add_column(column, justify="right")
    for name, arm in summary["arms"].items():
        for r in arm["rounds"]:
            shown.add_row(
                name if r["round"] == 0 else "",
                "start" if r["round"] == 0 else str(r["round"]),
                str(r["n"]),
                *(f"{percent(r[key])} \\[{percent(r[f'{key}_interval'])}]" for key in ("accuracy", "certified")),
                percent(r["lucky"]),
                percent(r["accuracy_greedy"]),
                str(r["kept"]),
                end_section=r is arm["rounds"][-1],
            )
    return shown


# -- the summary


def _summary(arms: Sequence[Arm], provenance: dict[str, Any]) -> dict[str, Any]:
    _check_paired(arms)
    lead = next((arm for arm in arms if arm.name.rsplit(":", 1)[-1] == "strict"), arms[0])
    measured = arms[0].lines[0].rounds[0]
    method = "Wilson intervals for rates; stratified paired bootstrap, exact McNemar and sign-flip tests"
    return {
        "arms": {arm.name: _arm_record(arm) for arm in arms},
        "comparisons": [
            {"a": lead.name, "b": arm.name, "metric": metric, **comparison.record()}
            for metric in ("accuracy", "gain", "certified")
            for arm in arms
            if arm is not lead
            for comparison in [_compare(lead, arm, metric)]
        ],
        "provenance": {
            **provenance,
            "evaluation": {**measured.problems, "seeds": lead.seeds},
            "statistics": {"method": method, "bootstrap_replicates": REPLICATES, "bootstrap_seed": 0},
        },
    }


def _compare(a: Arm, b: Arm, metric: str) -> PairedComparison:
    if metric == "gain":
        return compare_paired(a.gains(), b.gains(), a.answer_seeds(), test="sign-flip")
    outcome: Outcome = "right" if metric == "accuracy" else "certified"
    return compare_paired(a.outcomes(outcome, -1), b.outcomes(outcome, -1), a.answer_seeds(), test="mcnemar")


def _arm_record(arm: Arm) -> dict[str, Any]:
    gains = arm.gains()
    return {
        "decoding": arm.decoding,
        "seeds": arm.seeds,
        "rounds": [_round_record(arm, number) for number in range(len(arm.lines[0].rounds))],
        "per_seed": {
            metric: {str(line.seed): [mean(getattr(e, outcome)) for e in line.rounds] for line in arm.lines}
            for metric, outcome in (("accuracy", "right"), ("certified", "certified"))
        },
        "gain": mean(gains),
        "gain_interval": list(mean_interval(gains, arm.answer_seeds(), bound=1)),
    }


def _round_record(arm: Arm, number: int) -> dict[str, Any]:
    evaluations = [line.rounds[number] for line in arm.lines]
    datasets = [line.datasets[number - 1] for line in arm.lines] if number else []
    funnel = {stage: sum(dataset[stage] for dataset in datasets) for stage in STAGES}
    return {
        "round": number,
        **_rates([evaluation.sampled for evaluation in evaluations]),
        "kept": funnel["kept"],
        "accuracy_greedy": _pooled(evaluations, "greedy", "right"),
        "certified_greedy": _pooled(evaluations, "greedy", "certified"),
        "accuracy_guided": _pooled(evaluations, "guided", "right"),
        "certified_guided": _pooled(evaluations, "guided", "certified"),
        "funnel": funnel if datasets else None,
        "answers": _answers([evaluation.sampled for evaluation in evaluations]),
        "by_hops": _by_group([evaluation.sampled for evaluation in evaluations], "by_hops"),
        "by_condition": _by_group([evaluation.sampled for evaluation in evaluations], "by_condition"),
    }


def _rates(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return n and the rates with their intervals, counts pooled."""
    n = sum(count["n"] for count in counts)
    rates = {name: Proportion(sum(count[key] for count in counts), n) for name, key in RATES.items()}
    intervals = {f"{name}_interval": list(rate.interval) for name, rate in rates.items()}
    return {"n": n, **{name: rate.rate for name, rate in rates.items()}, **intervals}


def _pooled(evaluations: Sequence[Evaluation], mode: str, count: str) -> float | None:
    """Return a rate over all seeds; None unless every one was evaluated in that mode."""
    modes = [evaluation.modes.get(mode) for evaluation in evaluations]
    present = [m for m in modes if m and m["n"]]
    return sum(m[count] for m in present) / sum(m["n"] for m in present) if len(present) == len(modes) else None


def _answers(modes: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """Return the rates of answers, abstentions and proofs of the wrong; None where an evaluation is without them."""
    if not all(key in mode for mode in modes for key in (*ANSWERS, "accuracy_with_guess")):
        return None
    n = sum(mode["n"] for mode in modes)
    guessed = sum(mode["accuracy_with_guess"] * mode["n"] for mode in modes)
    return {**{key: sum(mode[key] for mode in modes) / n for key in ANSWERS}, "accuracy_with_guess": guessed / n}


def _by_group(modes: Sequence[Mapping[str, Any]], grouping: str) -> dict[str, dict[str, Any]]:
    """Return rates for each group that was asked: numbers of hops ascending, then other labels."""
    cells: dict[str, list[Mapping[str, Any]]] = {}
    for mode in modes:
        for label, cell in (mode.get(grouping) or {}).items():
            if cell["n"]:
                cells.setdefault(str(label), []).append(cell)
    order = sorted(cells, key=lambda label: (not label.isdecimal(), len(label), label))
    return {label: _rates(cells[label]) for label in order}


def _check_paired(arms: Sequence[Arm]) -> None:
    """Raise InputError unless every evaluation under one seed is of the same problems."""
    first = arms[0]
    for arm in arms:
        if arm.seeds != first.seeds:
            raise InputError(
                f"arm {first.name} has the seeds {first.seeds} and arm {arm.name} {arm.seeds}: answers are "
                "compared seed by seed, so give all arms the same seeds"
            )
        for line, reference in zip(arm.lines, (line.rounds[0] for line in first.lines), strict=True):
            for evaluation in line.rounds:
                _check_same_problems(reference, evaluation)


def _check_same_problems(a: Evaluation, b: Evaluation) -> None:
    if a.ids == b.ids and a.problems.get("digest") == b.problems.get("digest"):
        return
    num_shared = len(set(a.ids) & set(b.ids))
    raise InputError(
        f"{a.path} ({len(a.ids)} problems) and {b.path} ({len(b.ids)}) are not of the same problems: "
        f"{num_shared} ids are shared, and answers are compared one by one; evaluate both on the same file"
    )


# -- reading a run folder


def _unfinished_seeds(run: Path) -> list[int]:
    """Return the seeds under which some arm lacks its last evaluation; raises InputError where all do."""
    layout = _read(run / "lines.json")
    last = f"round-{layout['num_rounds'] - 1:03d}/evaluation.json"
    seeds = {entry["seed"] for entry in layout["lines"]}
    unfinished = {e["seed"] for e in layout["lines"] if not (run / e["path"] / last).exists()}
    if unfinished == seeds:
        raise InputError(f"{run}: no seed is finished under every arm yet; run `certistar run` again to go on")
    return sorted(unfinished)


def _read_arms(run: Path, *, without: Sequence[int] = ()) -> list[Arm]:
    """Read the lines of all arms but those of the seeds in `without`."""
    layout = _read(run / "lines.json")
    lines: dict[str, list[Line]] = {}
    for entry in (entry for entry in layout["lines"] if entry["seed"] not in without):
        lines.setdefault(entry["arm"], []).append(_read_line(run, entry, layout["num_rounds"]))
    if not lines:
        raise InputError(f"{run / 'lines.json'}: names no lines; run `certistar run` again")
    return [_arm(name, sorted(found, key=lambda line: line.seed)) for name, found in lines.items()]


def _arm(name: str, lines: Sequence[Line]) -> Arm:
    if len({line.seed for line in lines}) < len(lines):
        raise InputError(f"arm {name} has two lines with one seed: {[line.seed for line in lines]}")
    evaluations = [evaluation for line in lines for evaluation in line.rounds]
    first = evaluations[0]
    for other in evaluations:
        if other.sampled["decoding"] != first.sampled["decoding"]:
            raise InputError(f"arm {name} is decoded differently in {first.path} and {other.path}")
    return Arm(name, first.sampled["decoding"], tuple(lines))


def _read_line(run: Path, entry: Mapping[str, Any], num_rounds: int) -> Line:
    rounds = [run / entry["base"], *(run / entry["path"] / f"round-{r:03d}" for r in range(num_rounds))]
    return Line(
        seed=entry["seed"],
        rounds=tuple(_read_evaluation(folder / "evaluation.json") for folder in rounds),
        datasets=tuple(_read(folder / "dataset" / "summary.json") for folder in rounds[1:]),
        traces=rounds[-1] / "traces.jsonl",
    )


def _read_evaluation(path: Path) -> Evaluation:
    record = _read(path)
    try:
        sampled = record["modes"]["sampled"]
        outcomes = sampled["outcomes"]
        answers = sorted(zip(outcomes["ids"], outcomes["right"], outcomes["certified"], strict=True))
        counts = [sampled["n"], sampled["right"], sampled["certified"]]
        problems = record["problems"]
        if sampled["decoding"] not in ("guided", "free"):
            raise InputError(f"sampled.decoding is {sampled['decoding']!r}, not guided or free")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: not an evaluation ({error!r}); delete it and run `certistar run` again") from error
    ids, right, certified = zip(*answers, strict=True) if answers else ((), (), ())
    if counts != [len(ids), sum(right), sum(certified)] or not ids:
        raise InputError(f"{path}: its counts (n, right, certified) {counts} are not those of its outcomes, or 0")
    return Evaluation(path, problems, record["modes"], ids, right, certified)


def _provenance(run: Path) -> dict[str, Any]:
    import yaml

    config_path = run / "config.yaml"
    config = yaml.safe_load(config_path.read_text(encoding="utf-8")) if config_path.exists() else None
    name = (config or {}).get("name") or run.resolve().name
    return {"name": name, **_read(run / "lines.json").get("provenance", {})}


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"{path} is missing: the run is not finished; run `certistar run` again to finish it"
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path} is not JSON ({error}); delete it and run `certistar run` again") from None
