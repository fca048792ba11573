"""Errors that a score cannot see: wrong descriptions that came back right, and a model's own verdicts as verifier.

judged trips -> each formula with what came of another's description -> p_H and the paper's bound
             -> descriptions in words that a program reads          -> certified trips with a wrong one
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields

from critics.formats.equivalence.language import Language
from critics.judge import Judging
from critics.problem import RecordError
from rollout.formulas.description import DescriptionError, understand
from rollout.formulas.verifier import FormulaPair, Said
from rollout.records.sampling import derived_seed
from rollout.records.traces import Trace
from training.autoeval.false_positives import FalsePositives, Hallucinations
from training.autoeval.scores import Category, value_by
from training.curation.judging import judged


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
                yield _claiming(own, json.loads(other.completion)["right"], f"{own.id}~{other.id}/crossed")
                yield _claiming(own, _formula(other), f"{own.id}~{other.id}/originals")


def _formula(trace: Trace) -> str:
    if trace.problem.formal is None:
        raise RecordError(f"trace {trace.id}: its problem has no formula")
    return trace.problem.formal.goal


def _claiming(trace: Trace, right: str, name: str) -> Trace:
    """Return an attempt that claims of the trip's formula that it is equivalent to another one."""
    claim = {**json.loads(trace.completion), "right": right}
    return Trace(name, trace.problem, trace.format, json.dumps(claim, ensure_ascii=False))


def hallucination_rate(judged: Iterable[Trace]) -> Hallucinations:
    """Return what became of judged attempts of `shuffled`."""
    pairs: dict[str, dict[str, str]] = defaultdict(dict)
    for attempt in judged:
        pair, _, claim = attempt.id.rpartition("/")
        pairs[pair][claim] = attempt.judged.verdict
    wrong = [pair["crossed"] for pair in pairs.values() if pair.get("originals") == "refuted" and "crossed" in pair]
    return Hallucinations(len(wrong), wrong.count("certified"), wrong.count("timeout"), len(pairs) - len(wrong))


def measure_false_positives(trips: Sequence[Trace], judging: Judging, *, seed: int) -> FalsePositives | None:
    """Return p_H with its bound, and how many certified trips had a right or a wrong description, where that is known.

    Nothing is sampled anew. None for trips of several rounds: what came back is not what the first description led to.
    """
    if not trips or (trips[0].strategy or {}).get("rounds", 1) > 1:
        return None
    found = hallucination_rate(judged(shuffled(trips, seed=seed), judging))
    arrived = [trace for trace in trips if trace.legs and trace.ending == "arrived"]
    readable = described_wrongly(arrived, judged(described(arrived), judging))
    return FalsePositives(found, readable if readable["right"] + readable["wrong"] else None)


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


def verifier_pairs(traces: Iterable[Trace]) -> list[FormulaPair]:
    """Return the pairs that a model is asked about: those of trips that came back with a formula (section 3.2)."""
    pairs: list[FormulaPair] = []
    for trace in traces:
        if trace.judged.verdict in ("certified", "refuted", "vacuous", "timeout"):
            claim = json.loads(trace.completion)
            pairs.append(FormulaPair(trace.id, Language(claim["language"]), claim["left"], claim["right"]))
    return pairs


@dataclass(frozen=True, slots=True)
class VerifierScore:
    """Counts of what a model said of pairs, against the critic's verdicts.

    An answer that cannot be read misses an equivalent pair, and is counted apart where the pair differs; what the
    critic did not decide has no truth to compare with.
    """

    tp: int = 0
    fp: int = 0
    tn: int = 0
    fn: int = 0
    unreadable_equivalent: int = 0
    unreadable_different: int = 0
    undecided: int = 0

    @property
    def n(self) -> int:
        """The pairs that the critic decided."""
        return sum(getattr(self, field.name) for field in fields(self)) - self.undecided

    @property
    def precision(self) -> float | None:
        """The share of equivalent pairs among those said to be."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else None

    @property
    def recall(self) -> float | None:
        """The share of the equivalent pairs that were said to be."""
        return self.tp / (self.tp + self._missed) if self.tp + self._missed else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall."""
        total = 2 * self.tp + self.fp + self._missed
        return 2 * self.tp / total if total else None

    @property
    def _missed(self) -> int:
        return self.fn + self.unreadable_equivalent

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        rates = {"n": self.n, "precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {**asdict(self), **rates}


def verifier_score(said: Mapping[str, Said], traces: Iterable[Trace]) -> VerifierScore:
    """Return how what a model said of pairs, by id, compares with the critic's verdicts."""
    truths = {trace.id: trace.judged.verdict for trace in traces}
    return VerifierScore(**Counter(_cell(word, truths[id_]) for id_, word in said.items()))


def _cell(said: str, truth: str) -> str:
    if truth not in ("certified", "vacuous", "refuted"):
        return "undecided"
    is_equivalent = truth != "refuted"
    if said == "unreadable":
        return "unreadable_equivalent" if is_equivalent else "unreadable_different"
    return {("yes", True): "tp", ("yes", False): "fp", ("no", True): "fn", ("no", False): "tn"}[said, is_equivalent]


def verifier_rows(
    said: Mapping[str, Said], traces: Sequence[Trace], by: str = "category"
) -> dict[Category, VerifierScore]:
    """Return the score for each category of some trips, or by another key of theirs."""
    own: dict[Category, list[Trace]] = defaultdict(list)
    for trace in traces:
        category = value_by(trace, by)
        if trace.id in said and category is not None:
            own[category].append(trace)
    return {
        category: verifier_score({trace.id: said[trace.id] for trace in own[category]}, own[category])
        for category in sorted(own)
    }
