"""Workers of this machine: the policy in this process, critics in processes that can be killed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property

from critics.judge import JudgePool, Judging
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.policies.policy import Policy
from rollout.records.traces import Trace
from training.workers.requests import ArmPolicy, RolloutRequest
from training.workers.strategies import ActorCritic, Strategy, build_policy, strategy_of


class LocalWorkers:
    """Samples here and judges in `critics` processes."""

    def __init__(self, *, critics: int = 1, load: Callable[[ArmPolicy], Policy] | None = None) -> None:
        self._critics = critics
        self._load = load
        self._open = ExitStack()

    def sample(
        self, policy: ArmPolicy, requests: Sequence[RolloutRequest]
    ) -> Iterator[tuple[RolloutRequest, list[Trace]]]:
        """Yield each request with its attempts, in order."""
        with Sampler(policy, self._load) as sampler:
            for request in requests:
                traces: list[Trace] = []
                try:
                    traces.extend(sampler.attempts(request))
                except BaseException:
                    yield request, traces  # what was written before the policy failed
                    raise
                yield request, traces

    @property
    def judge(self) -> Judging:
        """The critics' processes, which start with the first attempt."""
        return self._judges.judge

    @cached_property
    def _judges(self) -> JudgePool:
        return self._open.enter_context(JudgePool(jobs=self._critics))

    def __enter__(self) -> "LocalWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()


class Sampler:
    """An arm's policy, loaded when it is first needed; its dialogs are reviewed in processes that die with this one.

    Use it as a context manager.
    """

    def __init__(self, policy: ArmPolicy, load: Callable[[ArmPolicy], Policy] | None = None) -> None:
        self._arm_policy = policy
        self._load = load or policy_of

    def attempts(self, request: RolloutRequest) -> Iterator[Trace]:
        """Yield the attempts by problem and sample, raising a policy's error after what it wrote before."""
        seed, hinted = self._arm_policy.seed, request.hinted
        return self._strategy.attempts(self._policy, request.problems, request.sampling, seed=seed, hinted=hinted)

    @cached_property
    def _policy(self) -> Policy:
        return self._load(self._arm_policy)

    @cached_property
    def _strategy(self) -> Strategy:
        of = self._arm_policy
        strategy = strategy_of(of.config, of.arm, trained=of.adapter is not None, review=self._reviews)
        return strategy.resampling() if of.resamples and isinstance(strategy, ActorCritic) else strategy

    @cached_property
    def _reviews(self) -> DialogReviewPool:
        return DialogReviewPool(timeout_s=self._arm_policy.config.actor_critic.timeout_s)

    def __enter__(self) -> "Sampler":
        return self

    def __exit__(self, *_: object) -> None:
        if "_reviews" in vars(self):
            self._reviews.stop()


def policy_of(policy: ArmPolicy) -> Policy:
    """Load an arm's policy."""
    config = policy.config
    style = config.model.style(policy.arm.format)
    return build_policy(config.model, policy.adapter, style, num_seats=config.sampling.num_seats)
