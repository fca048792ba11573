"""One worker that samples: a policy, loaded when it is first needed and asked for batch after batch."""

from collections.abc import Callable, Iterator
from functools import cached_property

from rollout.actor_critic.feedback import ReviewPool
from rollout.policy import Policy
from training.rounds.strategy import ActorCritic, Strategy, strategy_of
from training.workers.backend import Author, Batch, Record
from training.workers.policy import build_policy


class Sampler:
    """Asks an author; what reviews its dialogs is in processes that die with this one. Use it as a context manager."""

    def __init__(self, author: Author, load: Callable[[Author], Policy] | None = None) -> None:
        self._author = author
        self._load = load or policy_of

    def attempts(self, batch: Batch) -> Iterator[Record]:
        """Yield the attempts at a batch by problem and sample, raising a policy's error after what it wrote before."""
        seed, hinted = self._author.seed, batch.hinted
        traces = self._strategy.attempts(self._policy, batch.problems, batch.sampling, seed=seed, hinted=hinted)
        return (trace.record() for trace in traces)

    @cached_property
    def _policy(self) -> Policy:
        return self._load(self._author)

    @cached_property
    def _strategy(self) -> Strategy:
        author = self._author
        strategy = strategy_of(author.config, author.arm, trained=author.adapter is not None, review=self._reviews)
        return strategy.resampling() if author.resamples and isinstance(strategy, ActorCritic) else strategy

    @cached_property
    def _reviews(self) -> ReviewPool:
        return ReviewPool(timeout_s=self._author.config.actor_critic.timeout_s)

    def __enter__(self) -> "Sampler":
        return self

    def __exit__(self, *_: object) -> None:
        if "_reviews" in vars(self):
            self._reviews.stop()


def policy_of(author: Author) -> Policy:
    """Load an author's policy."""
    config = author.config
    style = config.model.style(author.arm.format)
    return build_policy(config.model, author.adapter, style, num_seats=config.sampling.num_seats)
