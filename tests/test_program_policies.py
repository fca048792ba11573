"""The whole strategy with a model in this process: what it writes is nonsense, and all of it is a program."""

from pathlib import Path

import pytest

from critics.judge import judge_record
from rollout.policies.policy import HuggingFacePolicy
from rollout.programs.prompt import solved_examples
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.records.steps import ChosenSample, ProgramReply, Rating
from rollout.records.traces import BackupAnswer
from rollout.settings import ProgramSettings
from rollout.strategies.programs import refine
from tests.in_process import review_here

PROBLEM = next(e.problem for e in solved_examples() if e.format == "fol")


@pytest.fixture(scope="module")
def policy(tiny_model: Path) -> HuggingFacePolicy:
    return HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle())


def test_a_small_model_goes_through_the_whole_strategy(policy: HuggingFacePolicy):
    settings = ProgramSettings(name="prototype-then-refine", 
        examples=0, samples=3, max_rounds=1,
        refiners=("self-check", "implicit", "consistency", "error-feedback", "semantic"),
    )  # fmt: skip
    sampling = Sampling(samples_per_problem=2, max_new_tokens=24)
    first, second = refine(policy, [PROBLEM], settings, sampling, seed=1, review=review_here)
    for trace in (first, second):
        purposes = [step.purpose if isinstance(step, ProgramReply) else type(step) for step in trace.steps]
        assert purposes[:5] == ["sample", "sample", "sample", Rating, ChosenSample]
        assert purposes[5] == "self-check"
        assert purposes[-1] == "backup"
        assert {"implicit", "consistency", "error-feedback"} <= set(purposes)
        rated, choice = trace.steps[3:5]
        assert isinstance(rated, Rating)
        assert isinstance(choice, ChosenSample)
        totals = [one + other for one, other in zip(rated.coder, rated.reviewer, strict=True)]
        assert all(value < 0 for value in totals)
        assert choice.chosen == totals.index(max(totals))
        assert trace.backup == BackupAnswer("llm", None)
        assert judge_record(trace.record())["verdict"] == "malformed"
    assert first.steps != second.steps
    [again, _] = refine(policy, [PROBLEM], settings, sampling, seed=1, review=review_here)
    assert again.record() == first.record()
