"""Errors that a score cannot see: wrong descriptions that came back right, and a model's own verdicts as verifier.

judged trips -> each formula with what came of another's description -> p_H and the paper's bound
             -> descriptions in words that a program reads          -> certified trips with a wrong one
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from critics.formats.equivalence.language import Language
from critics.judge import Judging
from critics.problem import RecordError
from rollout.formulas.description import DescriptionError, understand
from rollout.formulas.prompt import Said, VerifiedPair
from rollout.records.sampling import derived_seed
from rollout.records.traces import Trace
from training.autoeval.scores import Category, false_positives, hallucinations, share, trips_of
from training.curation.filters import judged
from training.outcomes import Record


def shuffled(traces: Iterable[Trace], *, seed: int) -> Iterator[Trace]:
    """Yield for each trip that arrived two attempts: its formula beside what came of another's description.

    The other one is of the same data set and category. An id ends with `/crossed` for what the description led to, and
    with `/originals` for both problems' own formulas: where those are equivalent, the description was no wrong one.
    """
    groups: dict[tuple[str, Category], list[Trace]] = defaultdict(list)
    for trace in traces:
        if trace.ending == "arrived":
            groups[trace.problem.dataset, trace.problem.meta.get("category")].append(trace)
    for listed in groups.values():
        order = sorted(listed, key=lambda trace: derived_seed(seed, "shuffle", trace.id))
        for own, other in zip(order, [*order[1:], *order[:1]], strict=True):
            if own.problem.id != other.problem.id:
                if other.problem.formal is None:
                    raise RecordError(f"trace {other.id}: its problem has no formula")
                yield _claiming(own, json.loads(other.completion)["right"], f"{own.id}~{other.id}/crossed")
                yield _claiming(own, other.problem.formal.goal, f"{own.id}~{other.id}/originals")


def _claiming(trace: Trace, right: str, name: str) -> Trace:
    """Return an attempt that claims of the trip's formula that it is equivalent to another one."""
    claim = {**json.loads(trace.completion), "right": right}
    return Trace(name, trace.problem, trace.format, json.dumps(claim, ensure_ascii=False))


def hallucination_rate(judged: Iterable[Trace]) -> Record:
    """Return what became of judged attempts of `shuffled`: p_H is the share that led to an equivalent formula.

    `n` pairs have originals that were shown to differ; the others are left out. `upper` is the upper end of the exact
    interval, every undecided pair counted as equivalent.
    """
    pairs: dict[str, dict[str, str]] = defaultdict(dict)
    for attempt in judged:
        pair, _, claim = attempt.id.rpartition("/")
        pairs[pair][claim] = attempt.judged.verdict
    wrong = [pair["crossed"] for pair in pairs.values() if pair.get("originals") == "refuted" and "crossed" in pair]
    return hallucinations(len(wrong), wrong.count("certified"), wrong.count("timeout"), len(pairs) - len(wrong))


def measure_false_positives(trips: Sequence[Trace], judging: Judging, *, seed: int) -> Record | None:
    """Return how often a wrong description came back right: p_H with its bound, and trips by their description.

    `descriptions` counts certified trips by what their description is, where any can be read. Nothing is sampled anew.
    None for trips of several rounds: what came back is not what the first description led to.
    """
    if not trips or (trips[0].strategy or {}).get("rounds", 1) > 1:
        return None
    found = hallucination_rate(judged(shuffled(trips, seed=seed), judging))
    arrived = [trace for trace in trips if trace.legs and trace.ending == "arrived"]
    readable = described_wrongly(arrived, judged(described(arrived), judging))
    return false_positives(found, readable if readable["right"] + readable["wrong"] else None)


def described(traces: Iterable[Trace]) -> Iterator[Trace]:
    """Yield for each trip an attempt that claims of the formula what its description says, read word for word.

    Judged, they say which descriptions are right. A description in other words claims nothing, and is malformed.
    """
    for trace in traces:
        language = Language(json.loads(trace.completion)["language"])
        try:
            right = understand(trace.legs[0].text, language)
        except DescriptionError:
            right = ""
        yield _claiming(trace, right, trace.id)


def described_wrongly(trips: Iterable[Trace], descriptions: Iterable[Trace]) -> dict[str, int]:
    """Return how many certified trips had a wrong description; both are judged, in the same order.

    A description that could not be decided, or read, is told apart from one that is right and from one that is wrong.
    """
    counts = {"certified": 0, "right": 0, "wrong": 0, "unreadable": 0, "undecided": 0}
    names = {"certified": "right", "vacuous": "right", "refuted": "wrong", "malformed": "unreadable"}
    for trip, description in zip(trips, descriptions, strict=True):
        if trip.judged.is_certified:
            counts["certified"] += 1
            counts[names.get(description.judged.verdict, "undecided")] += 1
    return counts


def verifier_pairs(traces: Iterable[Trace]) -> list[VerifiedPair]:
    """Return the pairs that a model is asked about: those of trips that came back with a formula (section 3.2)."""
    asked = (t for t in traces if t.judged.verdict in ("certified", "refuted", "vacuous", "timeout"))
    claims = ((trace.id, json.loads(trace.completion)) for trace in asked)
    return [VerifiedPair(id_, Language(claim["language"]), claim["left"], claim["right"]) for id_, claim in claims]


CELLS = ("tp", "fp", "tn", "fn", "unreadable_equivalent", "unreadable_different", "undecided")
"""Answers of a model about pairs, against the critic's verdicts: true or false, positive (equivalent) or negative.

An answer that cannot be read misses an equivalent pair, and is counted apart where the pair differs; what the critic
did not decide has no truth to compare with.
"""


def verifier_record(counts: Mapping[str, int]) -> Record:
    """Return counts by cell with n, the pairs that the critic decided, and precision, recall and F1."""
    told = {cell: counts.get(cell, 0) for cell in CELLS}
    missed = told["fn"] + told["unreadable_equivalent"]
    rates = {
        "n": sum(told.values()) - told["undecided"],
        "precision": share(told["tp"], told["tp"] + told["fp"]),
        "recall": share(told["tp"], told["tp"] + missed),
        "f1": share(2 * told["tp"], 2 * told["tp"] + told["fp"] + missed),
    }
    return {**told, **rates}


def verifier_score(said: Mapping[str, Said], traces: Iterable[Trace]) -> Record:
    """Return how what a model said of pairs, by id, compares with the critic's verdicts."""
    truths = {trace.id: trace.judged.verdict for trace in traces}
    return verifier_record(Counter(_cell(word, truths[id_]) for id_, word in said.items()))


def _cell(said: str, truth: str) -> str:
    if truth not in ("certified", "vacuous", "refuted"):
        return "undecided"
    is_equivalent = truth != "refuted"
    if said == "unreadable":
        return "unreadable_equivalent" if is_equivalent else "unreadable_different"
    return {("yes", True): "tp", ("yes", False): "fp", ("no", True): "fn", ("no", False): "tn"}[said, is_equivalent]


def verifier_rows(said: Mapping[str, Said], traces: Sequence[Trace], by: str = "category") -> list[Record]:
    """Return a row for each category, or another key, of each data set; `STRATA` that do not vary have none."""
    table = trips_of(trace for trace in traces if trace.id in said)
    if table.empty:
        return []
    table["cell"] = [_cell(said[name], verdict) for name, verdict in zip(table["id"], table["verdict"], strict=True)]
    known = table[table[by].notna()]
    varied = known.groupby("dataset")[by].transform("nunique") > (0 if by == "category" else 1)
    return [
        {"dataset": dataset, "category": category, **verifier_record(Counter(own["cell"]))}
        for (dataset, category), own in known[varied].groupby(["dataset", by])
    ]
