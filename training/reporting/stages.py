"""Stages of programs: what their prototype, and each refiner after it, come to (Elezabi and Akoush, tables 1 to 5).

The paper's three rates. *Executable* is a program that prints one option: constraints that leave none, or several, are
errors. *Executable accuracy* is the share of right answers among these. *Overall accuracy* also counts the back-up's
answer, where no program gives one; without a back-up such problems are wrong.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from critics.problem import Attempt
from rollout.programs.taxonomy import ERRORS, Category, diagnose, prints_an_option
from rollout.records.traces import Trace
from training.estimates import Proportion
from training.tables import markdown, percent

_COUNTED = ("n", "executable", "executable_right", "overall")


@dataclass(frozen=True, slots=True)
class Stage:
    """Attempts as they stood after one stage."""

    name: str
    counts: Mapping[str, int]
    outcomes: Mapping[str, Sequence[int]]
    """0 or 1 for each attempt under each name that is counted."""

    def rates(self) -> tuple[Proportion, Proportion, Proportion]:
        """Return executable rate, executable accuracy and overall accuracy."""
        n, executable, right, overall = (self.counts[name] for name in _COUNTED)
        return Proportion(executable, n), Proportion(right, executable), Proportion(overall, n)

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"stage": self.name, **self.counts, "outcomes": self.outcomes}


def stage_of(name: str, traces: Sequence[Trace]) -> Stage:
    """Count judged attempts at one stage."""
    executable = [prints_an_option(trace.judged) for trace in traces]
    right = [_is_gold(trace, trace.judged.answer) for trace in traces]
    saved = [trace.backup is not None and _is_gold(trace, trace.backup.answer) for trace in traces]
    each = list(zip(executable, right, saved, strict=True))
    outcomes = {
        "executable": [int(ran) for ran, _, _ in each],
        "executable_right": [int(ran and own) for ran, own, _ in each],
        "overall": [int(own if ran else backed) for ran, own, backed in each],
    }
    return Stage(name, {"n": len(traces), **{key: sum(values) for key, values in outcomes.items()}}, outcomes)


def _is_gold(trace: Trace, answer: str | None) -> bool:
    return trace.problem.answer is not None and answer == trace.problem.answer


def read_stage(record: Mapping[str, Any]) -> Stage:
    """Read the JSON form."""
    return Stage(record["stage"], {name: record[name] for name in _COUNTED}, record["outcomes"])


def errors_of(traces: Iterable[Trace]) -> dict[str, int]:
    """Count the outcomes of executing judged programs, all categories in their order (table 3)."""
    counts = Counter(diagnose(_attempt(trace), trace.judged).category for trace in traces)
    return {category.value: counts[category] for category in Category}


def _attempt(trace: Trace) -> Attempt:
    return Attempt(trace.id, trace.problem, trace.format, trace.completion)


def stage_lines(stages: Sequence[Stage]) -> Iterator[str]:
    """Yield a line of text for each stage."""
    for stage in stages:
        shares = zip(("executable", "right of executable", "overall"), stage.rates(), strict=True)
        shown = (f"{what} {percent(rate, '-')}" for what, rate in shares)
        yield f"after {stage.name}: {', '.join(shown)}"


def stage_tables(arms: Mapping[str, tuple[Sequence[Stage], Mapping[str, int]]]) -> str:
    """Return, for arms of programs, Markdown tables of the last stages, of all stages, and of errors; else nothing."""
    programs = {name: (stages, errors) for name, (stages, errors) in arms.items() if stages}
    if not programs:
        return ""
    rates = ("executable rate", "executable accuracy", "overall accuracy")
    last = [[name, str(stages[-1].counts["n"]), *_cells(stages[-1])] for name, (stages, _) in programs.items()]
    each = [[name, stage.name, *_cells(stage)] for name, (stages, _) in programs.items() for stage in stages]
    paper = {category.value for category in ERRORS}
    kinds = [[what, *(str(errors.get(what, 0)) for _, errors in programs.values())] for what in map(str, Category)]
    total = [str(sum(num for what, num in errors.items() if what in paper)) for _, errors in programs.values()]
    parts = (
        ("Programs, after their last stage", markdown(["arm", "n", *rates], last)),
        ("Programs, stage by stage", markdown(["arm", "after", *rates], each)),
        ("Errors of programs", markdown(["category", *programs], [*kinds, ["the paper's nine", *total]])),
    )
    return "".join(f"\n## {title}\n\n{made}" for title, made in parts)


def _cells(stage: Stage) -> list[str]:
    return [f"{percent(rate, '-')} ({rate.count} of {rate.n})" for rate in stage.rates()]
