"""Attempts and their verdicts: two stages that may overlap, and the file that both make."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from critics.problem import Problem
from rollout.digests import PolicyDigests
from rollout.policy import adapter_weights_digest
from rollout.splits import content_key
from rollout.traces import derived_seed, read_trace
from training.curation.filters import is_certified, is_right
from training.records.store import OpenStore, is_stored
from training.rounds.line import Line, Progress, RunError
from training.rounds.problems import training_problems
from training.rounds.questions import Pass
from training.rounds.traces import RoundTraces
from training.rounds.work_units import Asking, StoredUnits, how_asked
from training.watchdog import Beat
from training.workers.backend import Author

OPENED = ("traces.open.jsonl", "verdicts.open.jsonl")
"""The stores of a round's attempts and verdicts while it is sampled and judged."""


def roll_out(line: Line, number: int, adapter: Path | None, hinted: bool) -> None:
    """Sample what the round lacks of the line's share into its open store."""
    if not is_stored(line.sealed(number)):
        line.pulse(Beat("sampling", "the problems of the round"))
        traces = round_traces(line, number, adapter)
        traces.sample(_pass(line, number, traces, hinted=hinted), line.portion)


def certify(line: Line, number: int, adapter: Path | None, hinted: bool) -> None:
    """Judge attempts until the rollout has ended; after the last pass put the sorted, judged traces in place."""
    sealed = line.sealed(number)
    if not is_stored(sealed):
        line.pulse(Beat("sampling", "the problems of the round"))
        traces = round_traces(line, number, adapter)
        asked = _pass(line, number, traces, hinted=hinted)
        traces.judge(asked, line.rollout_ended)
        if hinted < line.config.star.rationalise:
            return
        traces.seal(sealed, [_pass(line, number, traces, hinted=False), asked][not hinted :])
    for name in OPENED:
        sealed.with_name(name).unlink(missing_ok=True)


def num_batches(line: Line) -> int:
    """Return how many batches the problems of a round are asked in."""
    return ceil(line.config.star.problems_per_round / line.config.sampling.batch_size)


def round_traces(line: Line, number: int, adapter: Path | None) -> RoundTraces:
    """Return the round's attempts and verdicts, as far as they are there."""
    attempts, verdicts = (OpenStore(line.round_path(number) / name) for name in OPENED)
    author = Author(line.config, line.arm, adapter, derived_seed(line.seed, "rollout", number))
    return RoundTraces(
        stored_units(line, attempts, author),
        verdicts,
        lambda wanted: line.workers.sample(author, wanted),
        line.workers.judge,
        line.config.sampling.batch_size,
        lambda num: line.report(Progress(attempts=num)),
        line.pulse,
    )


def _pass(line: Line, number: int, traces: RoundTraces, *, hinted: bool) -> Pass:
    """Return the round's problems, or with their answer as a hint once more those that were not solved."""
    config, decoding = line.config.sampling, line.arm.decoding
    problems = training_problems(line.config, line.seed, number)
    _refuse_leaks(problems, line.held_out)
    plain = Pass(problems, config.sampling(decoding))
    if not hinted:
        return plain
    again = _failed(line, problems, traces.judged(plain))
    return Pass(again, config.sampling(decoding, samples=1), hinted=True)


def stored_units(line: Line, store: OpenStore, author: Author, **how: str) -> StoredUnits:
    """Return an author's attempts in their store, named by whose they are and how they were asked; `how`: else."""
    weights = None if author.adapter is None else adapter_weights_digest(author.adapter)
    digests = PolicyDigests(line.base_digest, weights)
    asked = {**how_asked(line.config, line.arm), **how}
    return StoredUnits(store, Asking(asked, author.seed, digests, line.config.model.server is None))


def _failed(line: Line, problems: Sequence[Problem], traces: Iterable[Mapping[str, Any]]) -> list[Problem]:
    """Return the problems that no trace solved in the sense of the arm's filter."""
    solves = is_certified if line.arm.keep in ("strict", "faithful") else is_right
    solved = {trace.problem.id for trace in map(read_trace, traces) if solves(trace)}
    return [problem for problem in problems if problem.id not in solved and problem.answer is not None]


def _refuse_leaks(problems: Sequence[Problem], held_out: Sequence[Problem]) -> None:
    """No problem may stand in two splits, whatever its id: contents are compared."""
    kept_aside = {content_key(problem) for problem in held_out}
    leaked = [problem.id for problem in problems if content_key(problem) in kept_aside]
    if leaked:
        raise RunError(
            f"{len(leaked)} training problem(s) stand among the held-out ones ({leaked[0]}); take them out of one file"
        )
