"""How far a certified round trip can be wrong about its description, and how far a model as verifier is right.

A false positive is a trip that comes back right although its description was wrong (section 3.2): two mistakes, the
second of which happens to undo the first. How often that happens is measured by taking for a formula the description
of another one of the same complexity.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from critics.equivalence.language import Language
from rollout.formulas.verifier import FormulaPair
from rollout.traces import derived_seed
from training.autoeval.scores import exact_interval

Record = dict[str, Any]


def false_positive_probability(
    informalised: float, autoformalised: float, hallucinated: float, rounds: int = 1
) -> float:
    """Return the paper's (1 - p_I)^n (1 - p_A)^n p_H^n.

    `informalised` and `autoformalised` are the chances that one leg is right, `hallucinated` that a wrong description
    is turned into a formula equivalent to the original nevertheless. With both legs at 0 it is the bound p_H^n.
    """
    for name, value in (("p_I", informalised), ("p_A", autoformalised), ("p_H", hallucinated)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name}: {value} is no probability")
    return ((1 - informalised) * (1 - autoformalised) * hallucinated) ** rounds


def shuffled(traces: Iterable[Mapping[str, Any]], *, seed: int) -> Iterator[Record]:
    """Yield for each trip that arrived two attempts: its formula beside what came of another's description.

    The other one is of the same data set and category. `claim: crossed` is what the description led to; `claim:
    originals` compares both problems' own formulas: where those are equivalent, the description was no wrong one.
    """
    groups: dict[tuple[str, Any], list[Mapping[str, Any]]] = defaultdict(list)
    for trace in traces:
        if trace.get("ending") == "arrived":
            groups[trace["problem"]["dataset"], trace["problem"]["meta"].get("category")].append(trace)
    for listed in groups.values():
        order = sorted(listed, key=lambda trace: derived_seed(seed, "shuffle", trace["id"]))
        for own, other in zip(order, [*order[1:], *order[:1]], strict=True):
            if own["problem"]["id"] != other["problem"]["id"]:
                yield _crossed(own, other, json.loads(other["completion"])["right"], "crossed")
                yield _crossed(own, other, other["problem"]["formal"]["goal"], "originals")


def _crossed(own: Mapping[str, Any], other: Mapping[str, Any], right: str, claim: str) -> Record:
    written = {**json.loads(own["completion"]), "right": right}
    return {
        "id": f"{own['id']}~{other['id']}/{claim}",
        "claim": claim,
        "problem": own["problem"],
        "format": own["format"],
        "completion": json.dumps(written, ensure_ascii=False),
    }


def hallucination_rate(judged: Iterable[Mapping[str, Any]]) -> Record:
    """Return p_H from judged attempts of `shuffled`, with its exact interval; undecided ones make an upper bound.

    A pair counts where its originals were shown to differ.
    """
    pairs: dict[str, dict[str, str]] = defaultdict(dict)
    for attempt in judged:
        pairs[attempt["id"].rpartition("/")[0]][attempt["claim"]] = attempt["judgement"]["verdict"]
    wrong = [pair["crossed"] for pair in pairs.values() if pair.get("originals") == "refuted" and "crossed" in pair]
    hits, undecided = wrong.count("certified"), wrong.count("timeout")
    return {
        "n": len(wrong),
        "hallucinated": hits,
        "undecided": undecided,
        "rate": hits / len(wrong) if wrong else None,
        "interval": list(exact_interval(hits, len(wrong))),
        "upper": exact_interval(hits + undecided, len(wrong))[1],
        "left_out": len(pairs) - len(wrong),
    }


def verifier_pairs(traces: Iterable[Mapping[str, Any]]) -> list[FormulaPair]:
    """Return the pairs that a model is asked about: those of trips that came back with a formula (section 3.2)."""
    pairs: list[FormulaPair] = []
    for trace in traces:
        if trace["judgement"]["verdict"] in ("certified", "refuted", "vacuous", "timeout"):
            claim = json.loads(trace["completion"])
            pairs.append(FormulaPair(trace["id"], Language(claim["language"]), claim["left"], claim["right"]))
    return pairs


def verifier_score(opinions: Iterable[Mapping[str, Any]], traces: Iterable[Mapping[str, Any]]) -> Record:
    """Return the F1 score of what a model said of pairs, by id, against the critic's verdicts.

    An answer that cannot be read misses an equivalent pair, and is counted apart where the pair differs; what the
    critic did not decide has no truth to compare with.
    """
    truths = {trace["id"]: trace["judgement"]["verdict"] for trace in traces}
    counts: dict[str, int] = dict.fromkeys(
        ("tp", "fp", "tn", "fn", "unreadable_equivalent", "unreadable_different", "undecided"), 0
    )
    for opinion in opinions:
        counts[_cell(opinion["said"], truths[opinion["id"]])] += 1
    found, missed = counts["tp"], counts["fn"] + counts["unreadable_equivalent"]
    precision = found / (found + counts["fp"]) if found + counts["fp"] else None
    recall = found / (found + missed) if found + missed else None
    f1 = 2 * found / (2 * found + counts["fp"] + missed) if found + counts["fp"] + missed else None
    return {
        **counts,
        "n": sum(counts.values()) - counts["undecided"],
        "precision": precision,
        "recall": recall,
        "f1": f1,
    }


def _cell(said: str, truth: str) -> str:
    if truth not in ("certified", "vacuous", "refuted"):
        return "undecided"
    is_equivalent = truth != "refuted"
    if said == "unreadable":
        return "unreadable_equivalent" if is_equivalent else "unreadable_different"
    return {("yes", True): "tp", ("yes", False): "fp", ("no", True): "fn", ("no", False): "tn"}[said, is_equivalent]


def verifier_rows(
    opinions: Sequence[Mapping[str, Any]], traces: Sequence[Mapping[str, Any]], *, by: str = "category"
) -> list[Record]:
    """Return the F1 score for each category."""
    categories = {trace["id"]: trace["problem"]["meta"].get(by) for trace in traces}
    rows: list[Record] = []
    for category in sorted({categories[opinion["id"]] for opinion in opinions} - {None}):
        own = [opinion for opinion in opinions if categories[opinion["id"]] == category]
        rows.append({"category": category, **verifier_score(own, traces)})
    return rows
