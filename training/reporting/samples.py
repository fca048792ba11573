"""Several samples of each problem: rates at k.

    1 - C(n - c, k) / C(n, k)     where c of a problem's n samples have the outcome: one of k drawn ones has it

This gives certified@k, lucky@k and answered@k; it is unbiased (Chen et al. 2021, section 2.1), its mean is over
problems, and so is the bootstrap of its interval. The number of samples of a problem must not depend on what came of
them, as where the first proof ends the attempts. What no critic could read or decide is neither certified nor lucky.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

from rollout.records.traces import Trace
from training.curation.filters import problem_key
from training.curation.outcomes import is_decided
from training.outcomes import Record, mean, rate_interval, with_interval

NAMES = ("certified", "lucky", "answered", "maj")


@dataclass(frozen=True, slots=True)
class Samples:
    """Counts of one problem's samples."""

    n: int
    certified: int
    lucky: int
    answered: int
    undecided: int
    """Samples that were not read or not decided."""
    gold: int | None
    """Votes for the gold answer; None where there is none."""
    others: tuple[int, ...]
    """Votes for each other answer."""


def samples_of(traces: Iterable[Trace], gold: Mapping[str, str] | None = None) -> list[Samples]:
    """Count the judged samples of each problem; `gold` has the answers, by id, of attempts that were judged blindly."""
    of: dict[object, list[Trace]] = defaultdict(list)
    for trace in traces:
        of[problem_key(trace.problem)].append(trace)
    found: list[Samples] = []
    for made in of.values():
        known = (gold or {}).get(made[0].problem.id, made[0].problem.answer)
        votes = Counter(trace.judged.answer for trace in made if trace.judged.answer is not None)
        # Attack: a proof of a wrong answer, which a blind critic certifies, counted as a success.
        proved = [t for t in made if t.judged.is_certified and known in (None, t.judged.answer)]
        undecided = [t for t in made if not t.judged.is_certified and not is_decided(t)]
        unsure = sum(trace.judged.answer == known for trace in undecided)
        others = tuple(sorted(num for answer, num in votes.items() if answer != known))
        lucky, right = (0, None) if known is None else (votes[known] - unsure - len(proved), votes[known])
        found.append(Samples(len(made), len(proved), lucky, votes.total(), len(undecided), right, others))
    return found


def at_k(samples: Sequence[Samples]) -> list[Record]:
    """Return the rates at 1, 2, 4, .. samples, and at as many as any problem has.

    `problems` have at least k samples, `fewer` are left out; `lucky` and `maj` are about those `with_gold` answers.
    """
    most = max((each.n for each in samples), default=0)
    rows: list[Record] = []
    for k in sorted({1 << power for power in range(most.bit_length())} | {most} - {0}):
        enough = [each for each in samples if each.n >= k]
        known = [each for each in enough if each.gold is not None]
        values = {
            "certified": [one_of(each.n, each.certified, k) for each in enough],
            "lucky": [one_of(each.n, each.lucky, k) for each in known],
            "answered": [one_of(each.n, each.answered, k) for each in enough],
            "maj": [majority_right(each.gold or 0, each.others, each.n, k) for each in known],
        }
        counts = {"k": k, "problems": len(enough), "fewer": len(samples) - len(enough), "with_gold": len(known)}
        rates = {
            n: {"rate": mean(got) if got else None, "interval": list(rate_interval(got))} for n, got in values.items()
        }
        rows.append({**counts, **rates})
    return rows


def one_of(n: int, c: int, k: int) -> float:
    """Return the chance that one of k samples, drawn from n, is among c of them."""
    if not 0 <= c <= n or not 1 <= k <= n:
        raise ValueError(f"{c} of {n} samples, {k} drawn: need 0 <= c <= n and 1 <= k <= n")
    return 1 - comb(n - c, k) / comb(n, k)


@lru_cache(maxsize=4096)
def majority_right(gold: int, others: tuple[int, ...], n: int, k: int) -> float:
    """Return the chance that most votes of k samples, drawn from n, are for the gold answer.

    `gold` and `others` are the votes for each answer among the n; samples without an answer have no vote. A tie is
    decided by lot; where nobody votes nothing is right.
    """
    silent = n - gold - sum(others)
    found = Fraction(0)
    for own in range(1, min(gold, k) + 1):
        ways = Counter({(0, 0): 1})  # of drawing so many votes for others, of which so many have as many as gold
        for num in others:
            more: Counter[tuple[int, int]] = Counter()
            for (drawn, ties), times in ways.items():
                for took in range(min(num, own, k - own - drawn) + 1):
                    more[drawn + took, ties + (took == own)] += times * comb(num, took)
            ways = more
        led = (Fraction(times * comb(silent, k - own - drawn), 1 + ties) for (drawn, ties), times in ways.items())
        found += comb(gold, own) * sum(led)
    return float(found / comb(n, k))


def at_k_rows(of: Mapping[str, Sequence[Record]]) -> list[list[str]]:
    """Return the rows of a table of several arms, its head first."""
    table = [["of", "k", "problems", *(f"{name}@k" for name in NAMES)]]
    for label, row in ((label, row) for label, found in of.items() for row in found):
        num = f"{row['problems']} ({row['fewer']} have fewer)" if row["fewer"] else f"{row['problems']}"
        rates = (with_interval(row[name]["rate"], row[name]["interval"]) for name in NAMES)
        table.append([label, f"{row['k']}", num, *rates])
    return table
