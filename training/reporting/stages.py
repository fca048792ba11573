"""Stages of programs: what their prototype, and each refiner after it, come to (Elezabi and Akoush, tables 1 to 5).

The paper's three rates. *Executable* is a program that prints one option: constraints that leave none, or several, are
errors. *Executable accuracy* is the share of right answers among these. *Overall accuracy* also counts the back-up's
answer, where no program gives one; without a back-up such problems are wrong.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from critics.problem import Attempt
from rollout.programs.taxonomy import ERRORS, Category, diagnose, prints_an_option
from rollout.records.traces import Trace
from training.estimates import Proportion
from training.outcomes import Record
from training.tables import markdown, percent


def stage_of(name: str, traces: Sequence[Trace]) -> Record:
    """Count judged attempts as they stood after one stage."""
    executable = [prints_an_option(trace.judged) for trace in traces]
    right = [_is_gold(trace, trace.judged.answer) for trace in traces]
    saved = [trace.backup is not None and _is_gold(trace, trace.backup.answer) for trace in traces]
    each = list(zip(executable, right, saved, strict=True))
    found = {
        "executable": [int(ran) for ran, _, _ in each],
        "executable_right": [int(ran and own) for ran, own, _ in each],
        "overall": [int(own if ran else backed) for ran, own, backed in each],
    }
    counts = {key: sum(values) for key, values in found.items()}
    return {"stage": name, "n": len(traces), **counts, "outcomes": found}


def _is_gold(trace: Trace, answer: str | None) -> bool:
    return trace.problem.answer is not None and answer == trace.problem.answer


def errors_of(traces: Iterable[Trace]) -> dict[str, int]:
    """Count the outcomes of executing judged programs, all categories in their order (table 3)."""
    counts = Counter(diagnose(_attempt(trace), trace.judged).category for trace in traces)
    return {category.value: counts[category] for category in Category}


def _attempt(trace: Trace) -> Attempt:
    return Attempt(trace.id, trace.problem, trace.format, trace.completion)


def stage_rates(stage: Record) -> list[Proportion]:
    """Return executable rate, executable accuracy and overall accuracy."""
    pairs = (("executable", "n"), ("executable_right", "executable"), ("overall", "n"))
    return [Proportion(stage[count], stage[of]) for count, of in pairs]


def stage_lines(stages: Sequence[Record]) -> Iterator[str]:
    """Yield a line of text for each stage."""
    for stage in stages:
        shares = zip(("executable", "right of executable", "overall"), stage_rates(stage), strict=True)
        shown = (f"{what} {percent(rate, '-')}" for what, rate in shares)
        yield f"after {stage['stage']}: {', '.join(shown)}"


def stage_tables(arms: Mapping[str, tuple[Sequence[Record], Mapping[str, int]]]) -> str:
    """Return, for arms of programs, Markdown tables of the last stages, of all stages, and of errors; else nothing."""
    programs = {name: (stages, errors) for name, (stages, errors) in arms.items() if stages}
    if not programs:
        return ""
    rates = ("executable rate", "executable accuracy", "overall accuracy")
    last = [[name, str(stages[-1]["n"]), *_cells(stages[-1])] for name, (stages, _) in programs.items()]
    each = [[name, stage["stage"], *_cells(stage)] for name, (stages, _) in programs.items() for stage in stages]
    paper = {category.value for category in ERRORS}
    kinds = [[what, *(str(errors.get(what, 0)) for _, errors in programs.values())] for what in map(str, Category)]
    total = [str(sum(num for what, num in errors.items() if what in paper)) for _, errors in programs.values()]
    parts = (
        ("Programs, after their last stage", markdown(["arm", "n", *rates], last)),
        ("Programs, stage by stage", markdown(["arm", "after", *rates], each)),
        ("Errors of programs", markdown(["category", *programs], [*kinds, ["the paper's nine", *total]])),
    )
    return "".join(f"\n## {title}\n\n{made}" for title, made in parts)


def _cells(stage: Record) -> list[str]:
    return [f"{percent(rate, '-')} ({rate.count} of {rate.n})" for rate in stage_rates(stage)]
