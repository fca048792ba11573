"""The cost of attempts: requests and tokens, as their traces keep them, and money where prices are given."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from critics.errors import InputError
from rollout.records.digests import ServerUse
from rollout.records.traces import Trace
from training.outcomes import Record, pooled

SPENT = ("requests", "prompt_tokens", "completion_tokens", "uncounted")
"""Counts: tokens of prompts to models in this process nobody counts (0); `uncounted` are replies of a server that did
not say how many tokens they are, so that tokens and cost are too low by theirs."""


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a million tokens, in the currency of who named it."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """Return the price of a number of tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


def said_cost(cost: float) -> str:
    """Return a cost for people: two decimals, or as many as a small one needs."""
    return f"{cost:.2f}" if cost >= 1 or not cost else f"{cost:.2g}"


def priced(spent: Iterable[Record], price: Price | None) -> Record:
    """Return the sum of what was spent, with its `cost` where there is a price."""
    total: Record = pooled(spent, SPENT)
    cost = {} if price is None else {"cost": price.of(total["prompt_tokens"], total["completion_tokens"])}
    return {**total, **cost}


def spent_on(traces: Iterable[Trace]) -> Record:
    """Return the requests and tokens of attempts, whenever they were made."""
    return pooled(map(_spent, traces), SPENT)


def _spent(trace: Trace) -> Record:
    total = pooled(map(_row, _uses(trace)), SPENT)
    total["requests"] = total["requests"] or max(1, len(trace.steps))
    total["completion_tokens"] = total["completion_tokens"] or trace.num_tokens
    return total


def spent_in(uses: Iterable[ServerUse | None]) -> Record:
    """Return the cost of replies that are not attempts; None: a model in this process, whose tokens are not counted."""
    return pooled((_row(use or ServerUse(calls=1)) for use in uses), SPENT)


def _row(use: ServerUse) -> Record:
    counts = (use.get(key, 0) for key in ("calls", "prompt_tokens", "completion_tokens", "uncounted"))
    return dict(zip(SPENT, counts, strict=True))


def _uses(trace: Trace) -> Iterator[ServerUse]:
    """Yield each use of a server that a trace keeps, those of its steps and of second opinions included."""
    opinions = (turn.review.opinion for turn in trace.turns)
    for step in (trace, *trace.steps, *opinions):
        use: ServerUse | None = getattr(step, "server", None)
        if use is not None:
            yield use


def read_prices(texts: Sequence[str], labels: Sequence[str]) -> Mapping[str, Price]:
    """Read `--price` of each model: IN:OUT for all of them, or MODEL=IN:OUT; raises `InputError`."""
    prices: dict[str, Price] = {}
    for text in texts:
        label, _, numbers = text.rpartition("=")
        found = re.fullmatch(r"(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)", numbers)
        if found is None:
            raise InputError(f"--price {text!r}: write IN:OUT or MODEL=IN:OUT, the prices of a million tokens")
        if label and label not in labels:
            raise InputError(f"--price {text!r}: {label!r} is none of the models {', '.join(labels)}")
        price = Price(float(found[1]), float(found[2]))
        prices |= {label: price} if label else {each: price for each in labels if each not in prices}
    return prices
