"""Splits of generated problems: disjoint by content, whatever seed drew a problem.

The hash of what a problem states and asks decides to which split it may belong; a generator redraws until
its item belongs to the split that is wanted.
"""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Literal

from critics.problem import Problem

Split = Literal["pretrain", "train", "develop", "test"]
_NUM_BUCKETS = 16
SPLIT_BUCKETS: dict[Split, range] = {
    "pretrain": range(0, 8),
    "train": range(8, 12),
    "develop": range(12, 14),
    "test": range(14, 16),
}


def consecutive(item: Callable[..., Problem]) -> Callable[..., Iterator[Problem]]:
    """Return a data set's generator, made of the function `item(config, index, seed=..)`.

    Called as `generate(config, num, seed=.., start=..)` it yields items `start` to `start + num - 1`, each of which
    depends only on the configuration, the seed and its index.
    """

    def generate(config: object, num: int, *, seed: int, start: int = 0) -> Iterator[Problem]:
        return (item(config, index, seed=seed) for index in range(start, start + num))

    return generate


def draws(dataset: str, split: Split, seed: int, index: int) -> Iterator[random.Random]:
    """Yield new randomness for each attempt at one item, without end."""
    for attempt in count():
        yield random.Random(item_seed(dataset, split, seed, index, attempt))


def first_of_split(split: Split, drawn: Iterable[Problem]) -> Problem:
    """Return the first problem whose content belongs to a split."""
    return next(problem for problem in drawn if belongs(split, problem))


def belongs(split: Split, *problems: Problem) -> bool:
    """Say whether the content of all these problems belongs to a split."""
    return all(content_bucket(problem) in SPLIT_BUCKETS[split] for problem in problems)


def content_key(problem: Problem) -> str:
    """Return a digest of what is asked, whatever the order and the wording of the statements."""
    if problem.formal is None:
        return hashlib.sha256(f"{problem.context}\n{problem.question}".encode()).hexdigest()
    return hashlib.sha256("\n".join([*sorted(problem.formal.axioms), "?", problem.formal.goal]).encode()).hexdigest()


def content_bucket(problem: Problem) -> int:
    """Return the problem's bucket, from 0 to 15; a split owns a range of them."""
    return int(content_key(problem)[:8], 16) % _NUM_BUCKETS


def item_seed(*parts: object) -> int:
    """Return the seed of one item's randomness, from names and numbers by SHA-256."""
    return int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:8], "big")
