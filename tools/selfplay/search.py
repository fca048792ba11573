"""The search: mutate what was certified, judge it in a killable pool, and look for what must not be.

It is a hill climb on what critics accept: a changed attempt that is still certified is mutated further. The same seed
and number of iterations give the same attempts, whatever the machine, except where a critic's time limit ran out.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from critics.judge import judge_record
from critics.problem import Attempt
from critics.recheck.index import recheck_evidence
from critics.verdict import VerdictRecord
from rollout.problems.catalogue import item_seed
from tools.selfplay.mutation import mutated
from tools.selfplay.seeds import Seed, is_false, seeds

Record = dict[str, Any]
NUM_SEEDS = 24
BATCH = 40
"""Attempts judged together: mutants of one batch do not build on each other."""
MAX_CORPUS = 400
UNDECIDED = ("time_limit", "solver_budget", "too_large")
"""Why a re-check gives up: on a busy machine a jailed script may run out of seconds. It tells nothing either way."""


@dataclass(slots=True)
class Tally:
    """Findings of one format's search."""

    format: str
    iterations: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])
    """Verdicts, findings, and `trusted_certified`, `trusted_other_answer`."""

    def record(self) -> Record:
        """Return the JSON form."""
        return {"format": self.format, "iterations": self.iterations, **dict(sorted(self.counts.items()))}


@dataclass(slots=True)
class Search:
    """The state of one format's search."""

    tally: Tally
    seed: int
    corpus: list[Seed]
    grown: int = 0

    def batch(self, num: int) -> list[tuple[int, Seed]]:
        """Return the next mutants, each with its iteration."""
        start = self.tally.iterations
        return [(index, self._mutant(index)) for index in range(start, start + num)]

    def _mutant(self, index: int) -> Seed:
        rng = random.Random(item_seed("self-play", self.tally.format, self.seed, index))
        # Of both kinds alike: what is trusted is certified so much more often that it would take the search over.
        kind = rng.choice(sorted({one.kind for one in self.corpus}))
        parent = rng.choice([one for one in self.corpus if one.kind == kind])
        others = [one.attempt.completion for one in self.corpus]
        text = mutated(rng, parent.attempt.completion, others, self.tally.format)
        attempt = Attempt(f"{self.tally.format}-{self.seed}-{index}", parent.attempt.problem, self.tally.format, text)
        return Seed(attempt, parent.kind, parent.truth)

    def keep(self, certified: Seed) -> None:
        """Mutate a certified mutant further; beyond `MAX_CORPUS` it takes the place of an earlier one."""
        if len(self.corpus) < MAX_CORPUS:
            self.corpus.append(certified)
        else:
            self.corpus[NUM_SEEDS + self.grown % (MAX_CORPUS - NUM_SEEDS)] = certified
        self.grown += 1


def begin(format_: str, seed: int) -> Search:
    """Return a search at its start."""
    return Search(Tally(format_), seed, seeds(format_, seed, NUM_SEEDS))


def try_record(record: Any) -> VerdictRecord:
    """Judge an attempt, and re-check what was certified; `rejected` says why its certificate does not hold."""
    verdict = judge_record(record)
    report = recheck_evidence([{**record, "judgement": verdict}])
    rejected = report["rejected"][0]["reason"] if report["rejected"] else None
    return cast("VerdictRecord", {**verdict, "rejected": rejected})


def advance(
    search: Search, judging: Callable[[Iterable[object]], Iterable[Mapping[str, Any]]], num: int = BATCH
) -> Iterator[Record]:
    """Judge the next mutants and yield what must not be, as records that a test can replay."""
    batch = search.batch(num)
    verdicts = judging([mutant.attempt.record() for _, mutant in batch])
    for (index, mutant), verdict in zip(batch, verdicts, strict=True):
        search.tally.iterations += 1
        search.tally.counts[verdict["verdict"]] += 1
        finding = _finding(search, index, mutant, verdict)
        if finding is not None:
            search.tally.counts[finding] += 1
            yield {
                "finding": finding,
                "seed": search.seed,
                "iteration": index,
                "truth": mutant.truth,
                "kind": mutant.kind,
                "attempt": mutant.attempt.record(),
                "verdict": verdict,
            }
        elif verdict["verdict"] == "certified":
            search.keep(mutant)


def _finding(search: Search, index: int, mutant: Seed, verdict: Mapping[str, Any]) -> str | None:
    if verdict["verdict"] == "error":
        return "critic_failed"
    if verdict["verdict"] != "certified":
        return None
    if verdict["rejected"] in UNDECIDED:
        search.tally.counts["recheck_undecided"] += 1
        return None
    if verdict["rejected"] is not None:
        return "rejected_certificate"
    rng = random.Random(item_seed("truth", search.seed, index))
    is_wrong = is_false(mutant, mutant.attempt.completion, verdict["answer"], rng)
    if mutant.kind == "checked" or mutant.truth is None:
        return "wrong_answer" if is_wrong else None
    # On trust another formalisation is another problem: counted, and stopped by a gold answer alone.
    search.tally.counts["trusted_certified"] += 1
    search.tally.counts["trusted_other_answer"] += is_wrong
    return None


def tallies(searches: Sequence[Search]) -> list[Record]:
    """Return every format's tally."""
    return [search.tally.record() for search in searches]
