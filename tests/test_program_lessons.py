"""What a finished trace of programs teaches, and what it would have been with fewer refinements."""

from dataclasses import replace
from typing import Any

from critics.judge import judge_record
from rollout.policies.policy import Completion, ScriptedPolicy
from rollout.programs.lessons import after_refinements, direct_messages
from rollout.programs.prompt import opening, solved_examples
from rollout.records.sampling import Sampling
from rollout.records.steps import ChosenSample, versions
from rollout.records.traces import Trace, with_judgement
from rollout.settings import ProgramSettings
from rollout.strategies.programs import refine
from tests.in_process import review_here

LSAT = next(e for e in solved_examples() if e.format == "logic-program")
GOOD = LSAT.program
WEAK = GOOD.replace("speaks(Levy) == Tuesday ::: Levy speaks on Tuesday.\n", "")
BROKEN = GOOD.replace("speaks(Levy) ==", "speaks(Levi) ==")


def traced(script: list[str], **options: Any) -> Trace:
    settings = ProgramSettings(**options)
    replies = [Completion(text, (number, 2), True) for number, text in enumerate(script)]
    policy = ScriptedPolicy(replies)
    [trace] = refine(policy, [LSAT.problem], settings, Sampling(), seed=1, review=review_here)
    return trace


def test_versions_are_the_chosen_sample_and_what_was_kept_of_its_refinements():
    record = traced([BROKEN, WEAK, BROKEN, GOOD], samples=2, prototypers=("random",), refiners=("error-feedback",))
    [chosen] = [step.chosen for step in record.steps if isinstance(step, ChosenSample)]
    known = versions(record.program_steps)
    assert known[0].text == (BROKEN, WEAK)[chosen]
    assert known[-1].text == record.completion == GOOD
    assert [reply.asked is None for reply in known] == [True] + [False] * (len(known) - 1)


def test_a_direct_lesson_leads_from_the_problem_to_the_program_without_examples():
    record = traced([BROKEN, GOOD])
    messages = direct_messages(record)
    assert messages[:-1] == opening(LSAT.problem, "logic-program", 0)
    assert [turn["role"] for turn in messages] == ["system", "user", "assistant"]
    assert messages[-1]["content"] == GOOD


def test_a_trace_with_fewer_refinements_is_what_a_run_with_fewer_would_be():
    whole = traced([BROKEN, WEAK, GOOD], max_rounds=4)
    for num in range(3):
        shorter = traced([BROKEN, WEAK, GOOD], max_rounds=num)
        cut = after_refinements(with_judgement(whole, judge_record(whole.record())), num)
        assert replace(cut, strategy=None, judgement=None) == replace(shorter, strategy=None)
    assert after_refinements(whole, 9) == whole


def test_a_check_is_no_refinement():
    script = [WEAK, "Levy is forgotten.", GOOD]
    cut = after_refinements(traced(script, refiners=("self-check",)), 0)
    assert (cut.completion, len(cut.steps)) == (WEAK, 1)
