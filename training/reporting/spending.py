"""The cost of attempts: requests and tokens, as their traces keep them, and money where prices are given."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from critics.errors import InputError
from rollout.records.server_use import ServerUse
from rollout.records.traces import Trace


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


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests and tokens of some attempts."""

    requests: int = 0
    prompt_tokens: int = 0
    """Of models in this process nobody counts them: 0."""
    completion_tokens: int = 0
    uncounted: int = 0
    """Replies of a server that did not say how many tokens they are: tokens and cost are too low by theirs."""
    cost: float | None = None
    """None: no price was given."""

    def priced(self, price: Price | None) -> "Spent":
        """Return the same with its cost."""
        cost = None if price is None else price.of(self.prompt_tokens, self.completion_tokens)
        return Spent(self.requests, self.prompt_tokens, self.completion_tokens, self.uncounted, cost)

    def plus(self, other: "Spent") -> "Spent":
        """Return the sum, without its cost."""
        names = ("requests", "prompt_tokens", "completion_tokens", "uncounted")
        return Spent(*(getattr(self, name) + getattr(other, name) for name in names))

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {key: value for key, value in asdict(self).items() if value is not None}


def spent_on(traces: Iterable[Trace]) -> Spent:
    """Return what the attempts have cost, whenever they were made."""
    requests = prompts = completions = uncounted = 0
    for trace in traces:
        uses = list(_uses(trace))
        requests += sum(use.get("calls", 0) for use in uses) or max(1, len(trace.steps))
        prompts += sum(use.get("prompt_tokens", 0) for use in uses)
        completions += sum(use.get("completion_tokens", 0) for use in uses) or trace.num_tokens
        uncounted += sum(use.get("uncounted", 0) for use in uses)
    return Spent(requests, prompts, completions, uncounted)


def spent_in(uses: Iterable[ServerUse | None]) -> Spent:
    """Return the cost of replies that are not attempts; None: a model in this process, whose tokens are not counted."""
    total = Spent()
    for use in uses:
        told = use or ServerUse(calls=1)
        counts = (told.get(key, 0) for key in ("calls", "prompt_tokens", "completion_tokens", "uncounted"))
        total = total.plus(Spent(*counts))
    return total


def _uses(trace: Trace) -> Iterator[ServerUse]:
    """Yield each use of a server that a trace keeps, those of its steps and of second opinions included."""
    if trace.server is not None:
        yield trace.server
    opinions = (turn.review.opinion for turn in trace.turns)
    for step in (*trace.steps, *opinions):
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
