"""certified@k, lucky@k, answered@k and maj@k against all draws counted one by one, and under attack."""

from collections.abc import Sequence
from itertools import combinations

import pytest

from rollout.records.traces import Trace, read_trace
from training.outcomes import rate_interval
from training.reporting.samples import at_k, majority_right, one_of, samples_of

CERTIFIED = ("certified", "true")
LUCKY = ("unproved", "true")
WRONG = ("refuted", "false")
SILENT = ("unproved", None)
TIMEOUT = ("timeout", "true")
FAILED = ("error", "true")


def trace(number: int, verdict: str, answer: str | None, gold: str | None = "true", problem: str = "p") -> Trace:
    asked = {"id": problem, "dataset": "d", "context": f"{problem} is.", "question": "Is it?", "answer": gold}
    judgement = {"id": f"{problem}#{number}", "verdict": verdict, "reason": "r", "answer": answer, "feedback": ""}
    record = {"id": f"{problem}#{number}", "problem": asked, "format": "english", "completion": f"text {number}"}
    return read_trace({**record, "sample": number, "judgement": {**judgement, "certificate": None}})


def samples(*outcomes: tuple[str, str | None], gold: str | None = "true", problem: str = "p") -> list[Trace]:
    return [trace(number, *each, gold=gold, problem=problem) for number, each in enumerate(outcomes)]


def test_one_of_k_is_the_share_of_all_draws_that_have_one() -> None:
    for n in range(1, 7):
        for c in range(n + 1):
            for k in range(1, n + 1):
                draws = list(combinations(range(n), k))
                assert one_of(n, c, k) == pytest.approx(sum(min(d) < c for d in draws) / len(draws))
    for n, c, k in ((3, 1, 4), (3, 4, 1), (3, 1, 0)):
        with pytest.raises(ValueError, match="need 0 <= c <= n and 1 <= k <= n"):
            one_of(n, c, k)


def counted_majority(votes: Sequence[str | None], k: int) -> float:
    shares = []
    for draw in combinations(votes, k):
        counts = {answer: draw.count(answer) for answer in draw if answer is not None}
        most = [answer for answer in counts if counts[answer] == max(counts.values())]
        shares.append(most.count("gold") / len(most) if most else 0.0)
    return sum(shares) / len(shares)


@pytest.mark.parametrize("votes", ["ggaab-", "gab", "aabb", "ggg", "---", "gggaaabb-", "gaaaaa"])
def test_a_majority_is_the_mean_over_all_draws_with_ties_by_lot(votes: str) -> None:
    named = [{"g": "gold", "-": None}.get(each, each) for each in votes]
    others = tuple(sorted(votes.count(each) for each in set(votes) - {"g", "-"}))
    for k in range(1, len(votes) + 1):
        assert majority_right(votes.count("g"), others, len(votes), k) == pytest.approx(counted_majority(named, k))


def test_what_was_not_decided_is_neither_certified_nor_lucky() -> None:
    (found,) = samples_of(samples(CERTIFIED, LUCKY, WRONG, SILENT, TIMEOUT, FAILED, ("malformed", None)))
    assert (found.n, found.certified, found.lucky, found.undecided) == (7, 1, 1, 3)
    assert (found.answered, found.gold, found.others) == (5, 4, (1,))


def test_without_a_gold_answer_nothing_is_lucky_or_right() -> None:
    row = at_k(samples_of(samples(CERTIFIED, LUCKY, gold=None)))[-1]
    assert [row["k"], row["with_gold"], row["certified"]["rate"], row["answered"]["rate"]] == [2, 0, 1.0, 1.0]
    assert [row["lucky"]["rate"], row["maj"]["rate"], row["maj"]["interval"]] == [None, None, [0.0, 1.0]]


def test_a_blind_proof_of_a_wrong_answer_is_no_success() -> None:
    blind = samples(("certified", "false"), CERTIFIED, LUCKY, gold=None)
    (found,) = samples_of(blind, {"p": "true"})
    assert (found.certified, found.lucky, found.gold, found.others) == (1, 1, 2, (1,))


def test_problems_with_fewer_samples_are_counted_apart_and_not_stretched() -> None:
    many, few = samples(CERTIFIED, WRONG, WRONG, WRONG), samples(CERTIFIED, problem="q")
    rows = at_k(samples_of([*many, *few]))
    assert [(row["k"], row["problems"], row["fewer"]) for row in rows] == [(1, 2, 0), (2, 1, 1), (4, 1, 1)]
    assert [row["certified"]["rate"] for row in rows] == pytest.approx([(0.25 + 1) / 2, 0.5, 1.0])
    assert [row["k"] for row in at_k(samples_of(samples(*[WRONG] * 6)))] == [1, 2, 4, 6]
    assert at_k([]) == []


def test_an_interval_of_rates_stays_in_its_range_and_has_a_width_where_nothing_varies() -> None:
    assert rate_interval([]) == (0.0, 1.0)
    low, high = rate_interval([1.0] * 20)
    assert (low, high) == (pytest.approx(0.025 ** (1 / 20)), 1.0)
    low, high = rate_interval([0.0, 0.25, 0.5, 1.0] * 10)
    assert 0 < low < 0.4375 < high < 1
