"""The whole strategy with a model in this process: what it writes is nonsense, and all of it is a program."""

from pathlib import Path

import pytest

from critics.errors import InputError
from critics.formats.fol.program import read_program
from critics.judge import judge_record
from rollout.decoding.rows import TextRow
from rollout.policies.policy import HuggingFacePolicy
from rollout.programs.grammars import fol
from rollout.programs.grammars.catalogue import guide_for
from rollout.programs.prompt import solved_examples
from rollout.programs.review import review_here, without_gold
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.records.steps import ChosenSample, ProgramReply, Rating
from rollout.records.traces import BackupAnswer
from rollout.servers.policy import ServerPolicy
from rollout.settings import ProgramSettings, ServerSettings
from rollout.strategies.programs import refine

pytest.importorskip("llguidance")
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


def test_a_small_model_held_to_the_grammar_writes_programs_that_parse(
    policy: HuggingFacePolicy, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fol, "MAX_PREDICATES", 2)
    monkeypatch.setattr(fol, "MAX_PREMISES", 2)
    settings = ProgramSettings(examples=0, refiners=(), constrained=True)
    sampling = Sampling(samples_per_problem=8, max_new_tokens=600)
    traces = list(refine(policy, [PROBLEM], settings, sampling, seed=2, review=review_here))
    complete = [trace for trace in traces if trace.finished]
    assert len(complete) > 4
    for trace in complete:
        assert trace.review.kind in ("answered", "undecided")
        assert read_program(trace.completion).repairs == ()
        assert trace.completion_ids
    for trace in traces:
        row = TextRow(guide_for(without_gold(PROBLEM), "fol"))
        assert row.accepts(trace.steps[0].text.encode())


def test_a_server_is_not_held_to_a_grammar_without_a_word():
    served = ServerPolicy(ServerSettings(base_url="http://127.0.0.1:9/v1", model="m"), prompt_style=PromptStyle())
    with pytest.raises(InputError, match="constrained: a server is not held"):
        list(refine(served, [PROBLEM], ProgramSettings(constrained=True), Sampling(), seed=0, review=review_here))
