"""An arm names its guide: it watches the sampling, the trace says which it was, and bad combinations cannot be said."""

from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from critics.errors import InputError
from critics.problem import Problem
from rollout.decoding.guide import Guide
from rollout.guides.algebra import AlgebraGuide
from rollout.guides.catalogue import GUIDES, guide_named
from rollout.guides.quote import QuoteGuide
from rollout.policies.policy import Completion, ScriptedPolicy
from rollout.records.sampling import Sampling
from rollout.records.traces import read_trace
from training.configuration.run import ArmConfig, RunConfig
from training.workers.strategies import no_review, strategy_of

PROBLEM = Problem("p", "mine", "Rex is a cat. Tom is a dog.", "Is Rex a cat?")


class Watched(ScriptedPolicy):
    """A scripted policy that keeps the guides that it was given."""

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        self.guides = guides
        return super().complete(prompts, guides, seeds, sampling)


def attempt(arm: ArmConfig) -> tuple[Watched, dict]:
    run = RunConfig.model_validate({"name": "r", "model": {"name": "m"}, "arms": [arm.model_dump()]})
    policy, strategy = Watched(["Answer: true"]), strategy_of(run, arm, trained=False, review=no_review)
    (trace,) = strategy.attempts(policy, [PROBLEM], run.sampling.sampling(arm.decoding, samples=1), seed=0)
    return policy, trace.record()


@pytest.mark.parametrize(("name", "kind"), [("algebra", AlgebraGuide), ("quote", QuoteGuide)])
def test_the_guide_that_an_arm_names_watches_its_sampling(name: str, kind: type) -> None:
    policy, record = attempt(ArmConfig(name="a", keep="naive", decoding="guided", guide=name))
    assert policy.guides is not None
    assert isinstance(policy.guides[0], kind)
    assert record["sampling"]["guide"] == name
    assert read_trace(record).record() == record


def test_logic_goes_without_saying() -> None:
    _, record = attempt(ArmConfig(name="a", keep="naive", decoding="guided"))
    assert "guide" not in record["sampling"]


def test_a_guide_quotes_from_the_problems_context() -> None:
    guide = guide_named("quote", PROBLEM)
    assert type(guide.allowed()) is type(QuoteGuide(source=PROBLEM.context, name="p").allowed())
    assert all(guide_named(name, PROBLEM).clone() for name in GUIDES)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"guide": "algebar", "decoding": "guided"}, "algebra"),
        ({"guide": "algebra", "decoding": "free"}, "decoding: guided"),
    ],
)
def test_a_guide_that_could_watch_nothing_is_refused(keys: dict[str, str], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        ArmConfig.model_validate({"name": "a", "keep": "naive", **keys})


def test_only_logic_decides_what_an_answer_is_held_to() -> None:
    with pytest.raises(ValidationError, match=r"sampling\.conclusion"):
        RunConfig.model_validate(
            {
                "name": "r",
                "model": {"name": "m"},
                "sampling": {"conclusion": "decided"},
                "arms": [{"name": "a", "keep": "naive", "decoding": "guided", "guide": "quote"}],
            }
        )
    with pytest.raises(InputError, match="quotes"):
        guide_named("quotes", PROBLEM)
