"""The plan of an evaluation: requests, tokens, money, and whether it fits window and memory."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from critics.formats.names import EQUIVALENCE
from critics.problem import Problem
from rollout.prompts.style import FORMATS
from rollout.records.sampling import FREE
from training.configuration.run import ArmConfig
from training.hardware import HOST, device_here, device_named
from training.logs import quieten
from training.planning.forecast import CannotFit, must_fit_window, rollout_bytes, said_bytes, shape_for
from training.planning.lengths import SAMPLED, Lengths, StandIn, lead_through, lengths_of, tokens_of
from training.records.open_store import read_growing
from training.rounds.entry import ATTEMPTS, Measuring, finished, folder_of
from training.workers.strategies import NamedModel

FILLER = "? "
"""Longest rejected reply, for the upper bound of requests."""
WORDS = "It is said that this one holds. "
"""The same for a round trip, which only a description in English lets go on."""


@dataclass(frozen=True, slots=True)
class Requests:
    """Requests and tokens of some problems, in a good case and in the worst."""

    least: float
    most: float
    prompt_least: float
    prompt_most: float
    completion_least: float
    completion_most: float

    def scaled(self, factor: float) -> "Requests":
        """Return the same for `factor` times as many problems."""
        return Requests(*(getattr(self, name) * factor for name in self.__slots__))

    def line(self) -> str:
        """Return what people are told."""
        return (
            f"{_span(self.least, self.most)} requests, {_span(self.prompt_least, self.prompt_most)} tokens read, "
            f"{_span(self.completion_least, self.completion_most)} written"
        )


def plan(
    models: Sequence[NamedModel],
    arms: Sequence[ArmConfig],
    how: Measuring,
    out: Path | None,
    on: str | None,
) -> Iterator[str]:
    """Yield lines for people, an arm after the other; raises `CannotFit` where an arm could not be asked."""
    quieten()
    num = len(how.problems)
    total = len(models) * len(arms) * num * how.samples
    yield f"plan: {len(models)} models, {len(arms)} arms, {num} problems: {total:,} attempts"
    for model in models:
        for arm in arms:
            name = f"{model.label}, {arm.name}"
            if out is not None and finished(model, arm, how, out) is not None:
                yield f"{name}: finished, nothing is asked"
                continue
            own = lengths_of(model.config, arm, how.problems[:SAMPLED], how.reviews)
            yield own.line(name)
            must_fit_window({arm.name: own}, model.label)
            if num_over := max(0, round(own.uncut - own.limit)) if own.known else 0:
                yield f"  the longest reference passes sampling.max_new_tokens by {num_over}: it would be cut off"
            left = _left(model, arm, how.problems, out)
            requests = requests_of(model, arm, how, own).scaled(how.samples * left / min(num, SAMPLED))
            stored = f" ({num - left} are stored)" if left < num else ""
            yield f"  {left * how.samples} attempts left{stored}: {requests.line()}"
            yield from _memory(model, own, on)


def requests_of(model: NamedModel, arm: ArmConfig, how: Measuring, own: Lengths) -> Requests:
    """Count the requests of an arm at a few problems: with the first reply accepted, and with none ever."""
    config, problems = model.config, how.problems[:SAMPLED]
    tokens = tokens_of(config.model)
    style, limit = config.model.style(arm.format), config.sampling.max_new_tokens
    if arm.format in FORMATS:
        return _single(model, arm, own, len(problems))
    filler = WORDS if arm.format == EQUIVALENCE else FILLER
    filler *= max(1, round(limit * (tokens.estimated or 2.0) / len(filler)))
    asked = lead_through(config, arm, problems, how.reviews, StandIn(style, tokens.tokenizer, filler))
    first, every = asked.asked[0] if asked.asked else [], [p for batch in asked.asked for p in batch] + asked.rated
    read = sum(map(tokens.count, first)), sum(map(tokens.count, every))
    written = own.completion * len(first) if own.known else 0.0
    return Requests(len(first), len(every), *read, written, limit * (len(every) - len(asked.rated)))


def _single(model: NamedModel, arm: ArmConfig, own: Lengths, num: int) -> Requests:
    """One request for an attempt; under a guide, some servers are asked again after every block, with what is written.

    The worst case has as many violations as end an attempt.
    """
    server, is_guided = model.config.model.server, arm.decoding != FREE
    if server is None or not is_guided:
        return Requests(num, num, num * own.prompt, num * own.prompt, num * own.completion, num * own.limit)
    goes_on = server.kind == "completions" and server.constraint in ("auto", "guide")
    least, most = 1 if goes_on else 1 + own.blocks, 1 + own.blocks + server.max_violations
    read = [calls * (own.prompt + written / 2) for calls, written in ((least, own.completion), (most, own.limit))]
    return Requests(num * least, num * most, num * read[0], num * read[1], num * own.completion, num * own.limit)


def _left(model: NamedModel, arm: ArmConfig, problems: Sequence[Problem], out: Path | None) -> int:
    """Return how many problems have no attempt in the entry's folder."""
    path = None if out is None else folder_of(model, arm, out) / ATTEMPTS
    if path is None or not path.exists():
        return len(problems)
    stored = {record["problem"]["id"] for record in read_growing(path)}
    return sum(problem.id not in stored for problem in problems)


def _memory(model: NamedModel, own: Lengths, on: str | None) -> Iterator[str]:
    """Say what a model in this process takes; raises `CannotFit` where there is less."""
    config = model.config
    if config.model.server is not None or config.model.policy is not None:
        return
    device = device_named(on)[0] if on else device_here()
    size = 2 if device.name != HOST and config.model.dtype != "float32" else 4
    rows = config.sampling.num_seats or config.evaluation.batch_size
    needed = rollout_bytes(config, shape_for(config.model), own, size, rows=rows)
    yield f"  memory: {said_bytes(needed)} with {rows} at a time; there is {said_bytes(device.memory)} on {device.name}"
    if needed > device.memory:
        raise CannotFit(
            f"{model.label} takes about {said_bytes(needed)}, and {device.name} has {said_bytes(device.memory)}: set "
            f"evaluation.batch_size={max(1, rows // 2)}, or a smaller model"
        )


def _span(least: float, most: float) -> str:
    low, high = f"{least:,.0f}", f"{most:,.0f}"
    return low if low == high else f"{low} to {high}"
