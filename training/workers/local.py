"""Workers of this machine: the policy in this process, critics in processes that can be killed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property

from critics.judge import JudgePool
from rollout.policy import Policy
from training.workers.backend import Author, Batch, Record
from training.workers.sampler import Sampler


class LocalWorkers:
    """Samples here and judges in `critics` processes."""

    def __init__(self, *, critics: int = 1, load: Callable[[Author], Policy] | None = None) -> None:
        self._critics = critics
        self._load = load
        self._open = ExitStack()

    def sample(self, author: Author, batches: Sequence[Batch]) -> Iterator[tuple[Batch, list[Record]]]:
        """Yield each batch with its attempts, in order."""
        with Sampler(author, self._load) as sampler:
            for batch in batches:
                yield from _attempted(sampler, batch)

    def judge(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield verdict records in the attempts' order."""
        return self._judges.judge(records)

    @cached_property
    def _judges(self) -> JudgePool:
        return self._open.enter_context(JudgePool(jobs=self._critics))

    def __enter__(self) -> "LocalWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


def _attempted(sampler: Sampler, batch: Batch) -> Iterator[tuple[Batch, list[Record]]]:
    """Yield the batch once, and raise what it failed of after what was written before."""
    records: list[Record] = []
    try:
        records.extend(sampler.attempts(batch))
    except BaseException:
        yield batch, records
        raise
    yield batch, records
