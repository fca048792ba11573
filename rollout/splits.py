"""Splits of generated problems: disjoint by content, whatever seed drew a problem.

The hash of what a problem states and asks decides to which split it may belong; a generator redraws until
its item belongs to the split that is wanted.
"""

import hashlib
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
