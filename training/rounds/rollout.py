"""Rollouts of a round: attempts and their verdicts, made by two stages that may overlap, and the file of both.

    open store of attempts -> open store of verdicts -> traces.jsonl, sorted by (problem, hint, sample)

Each arrow can be interrupted and goes on where it was: nothing is sampled twice, nothing is judged twice. All of it is
streams: a million traces need no more memory than a batch.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from time import sleep
from typing import TypeVar

from critics.errors import InputError, RunFailed
from critics.formats.names import COT, ENGLISH
from critics.judge import Judging
from critics.problem import Problem
from rollout.policies.policy import as_prompt, load_tokenizer
from rollout.problems.catalogue import content_key
from rollout.programs import first_order
from rollout.prompts.prompt import messages, text
from rollout.records.digests import PolicyDigests, adapter_weights_digest
from rollout.records.sampling import derived_seed
from rollout.records.traces import Trace, read_trace, with_judgement
from training.configuration.learning import CERTIFIED
from training.configuration.run import ArmConfig, RunConfig
from training.curation.filters import is_certified, is_right, judged, proves_label
from training.lessons.references import WRITERS, completions
from training.records.open_store import OpenStore
from training.records.store import is_stored, read_records, write_records
from training.rounds.line import WHOLE, Line, Shard, line_path
from training.rounds.problems import held_out_problems, training_problems
from training.rounds.rollout_store import RolloutKey, RolloutStore, how_asked, unit_name
from training.watchdog import OnProgress, Progress, Stage
from training.workers.replies import replies_in
from training.workers.requests import ArmPolicy, RolloutRequest
from training.workers.strategies import FirstOrderStrategy, no_review, strategy_of

Item = TypeVar("Item")
Sample = Callable[[Sequence[RolloutRequest]], Iterator[tuple[RolloutRequest, list[Trace]]]]
"""`Workers.sample` for one policy."""

OPENED = ("traces.open.jsonl", "verdicts.open.jsonl", "replies.open.jsonl")
"""The stores of a round's attempts and verdicts while it is sampled and judged, and of what a server replied."""
POLL_S = 0.25
"""Seconds until a certification looks for new attempts again."""
_WRITTEN = ("references", "proofs")
AT_A_TIME = 512
"""Traces that are judged before their verdicts are put on the disk."""


def roll_out(line: Line, number: int, adapter: Path | None, hinted: bool) -> None:
    """Sample what the round lacks of the line's shard into its open store."""
    sealed = line.sealed(number)
    if not is_stored(sealed):
        line.on_progress(Progress("sampling", "the problems of the round"))
        traces = round_traces(line, number, adapter)
        request = _request(line, number, traces, hinted=hinted)
        if number == 0 and not hinted:
            _take_over(line, ShardedRollout(traces.attempts, request, traces.batch_size, line.shard))
        with replies_in(sealed.with_name(OPENED[2])):
            traces.sample(request, line.shard)


def certify(line: Line, number: int, adapter: Path | None, hinted: bool) -> None:
    """Judge attempts until the rollout has ended; after the last pass put the sorted, judged traces in place."""
    sealed = line.sealed(number)
    if not is_stored(sealed):
        line.on_progress(Progress("sampling", "the problems of the round"))
        traces = round_traces(line, number, adapter)
        asked = _request(line, number, traces, hinted=hinted)
        traces.judge(asked)
        if hinted < line.config.star.rationalise:
            return
        traces.seal(sealed, [_request(line, number, traces, hinted=False), asked] if hinted else [asked])
    for name in OPENED:
        sealed.with_name(name).unlink(missing_ok=True)


def first_round(config: RunConfig, run: Path, arm: ArmConfig, seed: int) -> Path | None:
    """Return the file of the first round whose attempts are this arm's as well: the first arm's that asks the same.

    None where it is the arm's own. A server's replies are not shared, since nobody could be asked twice alike.
    """
    if config.model.server is not None or arm.taught_by != "itself":
        return None
    how = how_asked(config, arm)
    first = next(each for each in config.arms if each.taught_by == "itself" and how_asked(config, each) == how)
    return None if first.name == arm.name else run / line_path(config, first, seed) / "round-000" / "traces.jsonl"


def _take_over(line: Line, rollout: "ShardedRollout") -> None:
    """Store what another arm was answered in its first round, where it asked the same; what it lacks is sampled."""
    path = first_round(line.config, line.run, line.arm, line.seed)
    if path is None or not is_stored(path):
        return
    missing = {problem.id: batch for batch in rollout.missing() for problem in batch.problems}
    found: list[Trace] = []
    for name, traces in groupby(map(read_trace, read_records(path, checksum=True)), key=lambda t: t.problem.id):
        if (batch := missing.get(name)) is None:
            continue
        problem = next(each for each in batch.problems if each.id == name)
        found += [replace(trace, problem=problem, judgement=None) for trace in traces if not trace.hint]
        if name == batch.problems[-1].id:
            rollout.store.keep(found, batch)
            found = []


def round_traces(line: Line, number: int, adapter: Path | None) -> "RoundTraces":
    """Return the round's attempts and verdicts, as far as they are there."""
    attempts, verdicts = (OpenStore(line.round_path(number) / name) for name in OPENED[:2])
    policy = ArmPolicy(line.config, line.arm, adapter, derived_seed(line.seed, "rollout", number))
    return RoundTraces(
        rollout_store(line, attempts, policy),
        verdicts,
        partial(line.workers.sample, policy),
        line.workers.judge,
        line.config.sampling.batch_size,
        line.count,
        line.on_progress,
    )


def rollout_store(line: Line, store: OpenStore, policy: ArmPolicy, **how: str) -> RolloutStore:
    """Return a policy's attempts in a store, named by whose they are and how they were asked; `how`: else."""
    weights = None if policy.adapter is None else adapter_weights_digest(policy.adapter)
    digests = PolicyDigests(line.base_digest, weights)
    asked = {**how_asked(line.config, line.arm), **how}
    return RolloutStore(store, RolloutKey(asked, policy.seed, digests, line.config.model.server is None))


def _request(line: Line, number: int, traces: "RoundTraces", *, hinted: bool) -> RolloutRequest:
    """Return the round's problems, or with their answer as a hint once more those that were not solved."""
    config, decoding = line.config.sampling, line.arm.decoding
    problems = training_problems(line.config, line.seed, number)
    if not line.arm.gold:
        problems = [replace(problem, answer=None) for problem in problems]
    refuse_leaks(problems, line.held_out)
    plain = RolloutRequest(problems, config.sampling(decoding))
    if not hinted:
        return plain
    again = _failed(line, problems, traces.judged(plain))
    return RolloutRequest(again, config.sampling(decoding, samples=1), hinted=True)


def _failed(line: Line, problems: Sequence[Problem], traces: Iterable[Trace]) -> list[Problem]:
    """Return the problems that no trace solved in the sense of the arm's filter."""
    own = {"proved": proves_label} | dict.fromkeys(CERTIFIED, is_certified)
    solves = own.get(line.arm.keep, is_right)
    solved = {trace.problem.id for trace in traces if solves(trace)}
    return [problem for problem in problems if problem.id not in solved and problem.answer is not None]


def refuse_leaks(problems: Sequence[Problem], held_out: Sequence[Problem]) -> None:
    """Raise `RunFailed` where a problem's content is in two splits, under any ids."""
    kept_aside = {content_key(problem) for problem in held_out}
    leaked = [problem.id for problem in problems if content_key(problem) in kept_aside]
    if leaked:
        raise RunFailed(
            f"{len(leaked)} training problem(s) stand among the held-out ones ({leaked[0]}); take them out of one file"
        )


@dataclass(frozen=True, slots=True)
class ShardedRollout:
    """A request, the store of its attempts, and the shard of them that is sampled here."""

    store: RolloutStore
    request: RolloutRequest
    batch_size: int
    shard: Shard = WHOLE

    @property
    def num_attempts(self) -> int:
        """Number of attempts in the shard."""
        return sum(batch.num_attempts for batch in self._batches())

    def missing(self) -> list[RolloutRequest]:
        """Return what the store lacks of the shard, batch by batch."""
        listed = (batch.about(self.store.missing(batch)) for batch in self._batches())
        return [batch for batch in listed if batch.problems]

    def stored(self) -> Iterator[Trace]:
        """Yield all attempts that the store holds, by problem and sample."""
        for batch in self.request.batches(self.batch_size):
            yield from self.store.stored(batch)

    def _batches(self) -> Iterator[RolloutRequest]:
        return islice(self.request.batches(self.batch_size), self.shard.number, None, self.shard.of)


def sample_missing(
    rollouts: Sequence[ShardedRollout],
    sample: Sample,
    stage: Stage,
    count: Callable[[int], None],
    on_progress: OnProgress,
) -> None:
    """Sample what the stores lack; each batch is counted once its attempts are on the disk."""
    missing = [(rollout, batch) for rollout in rollouts for batch in rollout.missing()]
    left = {id(batch): (rollout, batch) for rollout, batch in missing}
    total = sum(rollout.num_attempts for rollout in rollouts)
    done = 0

    def tell(new: int) -> None:
        nonlocal done
        done += new
        count(new)
        if left:
            _, batch = next(iter(left.values()))
            on_progress(Progress(stage, f"the policy to answer {batch.name}", done, total))

    tell(total - sum(batch.num_attempts for _, batch in missing))
    for batch, traces in sample([batch for _, batch in missing]):
        rollout, _ = left.pop(id(batch))
        rollout.store.keep(traces, batch)
        tell(batch.num_attempts)


@dataclass(frozen=True)
class RoundTraces:
    """A round's attempts and verdicts while they are being made."""

    attempts: RolloutStore
    verdicts: OpenStore
    sampling: Sample
    judging: Judging
    batch_size: int
    count: Callable[[int], None]
    """Told of each batch how many attempts it has, once they are sampled."""
    on_progress: OnProgress

    def sample(self, request: RolloutRequest, shard: Shard = WHOLE) -> None:
        """Sample what the store lacks of a shard, batch by batch."""
        rollout = ShardedRollout(self.attempts, request, self.batch_size, shard)
        sample_missing([rollout], self.sampling, "sampling", self.count, self.on_progress)

    def judge(self, request: RolloutRequest) -> None:
        """Judge what has no verdict yet, as it arrives, until everything that is asked for has one."""
        # The names that a batch's attempts come under take a while to find.
        left = {unit: (batch, self.attempts.names(batch)) for unit, batch in self._named(request)}
        num_each = request.sampling.samples_per_problem
        num_all = len(request.problems) * num_each
        num_seen = -1
        while left:
            if (num_now := self.attempts.store.catch_up()) == num_seen:
                sleep(POLL_S)  # and no progress is told, so that a rollout that came to too little is found out
                continue
            num_seen = num_now
            for chunk in chunks(self._unjudged(left), AT_A_TIME):
                self._judge(chunk, self.verdicts.num_records, num_all)
            for unit, (batch, _) in list(left.items()):
                if self.verdicts.count(unit) >= len(batch.problems) * num_each:
                    del left[unit]
            self.on_progress(Progress("sampling", "attempts to be judged", self.verdicts.num_records, num_all))

    def _judge(self, chunk: Sequence[tuple[str, Trace]], num_done: int, num_all: int) -> None:
        self.on_progress(Progress("judging", f"the verdict on {chunk[0][1].id}", num_done, num_all))
        verdicts = self.judging([trace.record() for _, trace in chunk])
        told = (
            Progress("judging", f"verdicts from {trace.id} on", number, num_all)
            for number, (_, trace) in enumerate(chunk, num_done)
        )
        self.verdicts.append(
            {"unit": unit, "id": trace.id, "judgement": verdict}
            for (unit, trace), verdict, _ in zip(chunk, verdicts, map(self.on_progress, told), strict=True)
        )

    def judged(self, request: RolloutRequest) -> Iterator[Trace]:
        """Yield the traces with their verdicts, by problem and sample."""
        for unit, batch in self._named(request):
            verdicts = {record["id"]: record["judgement"] for record in self.verdicts.unit(unit)}
            for trace in self.attempts.stored(batch):
                yield with_judgement(trace, verdicts[trace.id])

    def seal(self, path: Path, requests: Sequence[RolloutRequest]) -> None:
        """Put the sorted traces in place, merged from streams that are each in order."""
        place = {problem.id: number for number, problem in enumerate(requests[0].problems)}
        streams = map(self.judged, requests)
        merged = heapq.merge(*streams, key=lambda t: (place[t.problem.id], t.hint, t.sample))
        write_records(path, (trace.record() for trace in merged), checksum=True)

    def _unjudged(self, left: Mapping[str, tuple[RolloutRequest, Sequence[str]]]) -> Iterator[tuple[str, Trace]]:
        for unit, (batch, names) in left.items():
            if sum(map(self.attempts.store.count, names)) > self.verdicts.count(unit):
                done = {record["id"] for record in self.verdicts.unit(unit)}
                yield from ((unit, t) for t in self.attempts.stored(batch) if t.id not in done)

    def _named(self, request: RolloutRequest) -> Iterator[tuple[str, RolloutRequest]]:
        """Yield the batches with the names under which their verdicts are stored."""
        return ((unit_name(batch, self.attempts.key), batch) for batch in request.batches(self.batch_size))


def chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items `size` at a time."""
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


def write_references(line: Line, number: int) -> None:
    """Put a round's judged references in place, where the arm learns from references."""
    sealed = line.sealed(number)
    if is_stored(sealed):
        return
    progress = Progress("sampling", "the references of the round")
    line.on_progress(progress)
    traces = _references(line, number) if line.arm.taught_by in _WRITTEN else []
    write_records(sealed, (trace.record() for trace in judged(traces, line.judging(progress))), checksum=True)


def _references(line: Line, number: int) -> list[Trace]:
    problems = training_problems(line.config, line.seed, number)
    refuse_leaks(problems, line.held_out)
    return completions(problems, shown_to(line.arm), prompts(line.config, line.arm))


def require_problems(config: RunConfig) -> None:
    """Raise `InputError`, before anything is asked: files are too short, or nobody wrote what an arm learns from."""
    for arm in (arm for arm in config.arms if arm.taught_by in _WRITTEN):
        write = WRITERS[shown_to(arm)]
        if all(write(problem) is None for problem in training_problems(config, config.seeds[0], 0)):
            raise InputError(
                f"arm {arm.name}: no problem has a reference for `strategy: {arm.strategy.name}`; it takes gold "
                "answers and, for formulas, annotations"
            )
    if config.problems.source is not None:
        training_problems(config, config.seeds[0], config.star.rounds - 1)
    if config.held_out is not None:
        held_out_problems(config, config.seeds[0])


def shown_to(arm: ArmConfig) -> str:
    """Return which references an arm can learn from: the gold answer goes with any prompt for an answer."""
    if arm.taught_by == "proofs":
        return ENGLISH
    return COT if arm.format == "answer" else arm.format


def prompts(config: RunConfig, arm: ArmConfig) -> Callable[[Problem], str]:
    """Return what gives an arm's prompts; only the tokenizer of its model is loaded, for the chat template."""
    style = config.model.style(arm.format)
    strategy = strategy_of(config, arm, trained=False, review=no_review)
    tokenizer = load_tokenizer(config.model.pinned) if style.kind == "chat" else None

    def prompt(problem: Problem) -> str:
        if isinstance(strategy, FirstOrderStrategy):
            asked = first_order.request(problem, strategy.num_examples, answers=strategy.answers)
            return as_prompt(asked, tokenizer, style)
        if style.kind == "chat":
            return as_prompt(messages(problem, style), tokenizer, style)
        return text(problem, style)

    return prompt
