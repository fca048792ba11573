"""What a policy reads before it writes a program: examples that are what they claim, and nothing that gives away."""

from collections import Counter
from dataclasses import replace

import pytest

from critics import registry
from critics.judge import judge
from critics.problem import Attempt
from critics.verdict import Certified
from rollout.programs.prompt import (
    FORMATS,
    MendedProgram,
    SolvedProgram,
    examples_for,
    languages,
    mended_examples,
    opening,
    problem_text,
    program_in,
    reviewing,
    solved_examples,
)
from rollout.programs.review import ProgramSubmission, review, without_gold


@pytest.mark.parametrize("example", solved_examples(), ids=lambda e: f"{e.format}-{e.problem.id}")
def test_every_example_is_certified_as_the_prompt_shows_it(example: SolvedProgram):
    attempt = Attempt("example", example.problem, example.format, example.program)
    verdict = judge(example.problem, attempt)
    assert isinstance(verdict, Certified), verdict
    assert verdict.answer == example.problem.answer
    shown = review(ProgramSubmission(without_gold(example.problem), example.format, example.program))
    assert (shown.kind, shown.is_barred, shown.answer) == ("answered", False, example.problem.answer)


@pytest.mark.parametrize("example", mended_examples(), ids=lambda e: e.purpose)
def test_a_demonstration_of_a_refiner_mends_what_the_solver_says_is_wrong(example: MendedProgram):
    problem, format_ = without_gold(example.after.problem), example.after.format
    before, after = (
        review(ProgramSubmission(problem, format_, text)) for text in (example.before, example.after.program)
    )
    assert before.kind == ("undecided" if example.purpose == "implicit" else "unreadable")
    assert example.told in ("", before.told)
    assert (after.kind, after.is_barred, after.answer) == ("answered", False, example.after.problem.answer)


def test_there_are_two_examples_for_each_data_set_with_different_answers():
    for dataset in ("prontoqa", "proofwriter", "logicaldeduction", "ar-lsat", "folio"):
        own = [e for e in solved_examples() if (e.problem.dataset, e.format) == (dataset, FORMATS[dataset])]
        assert len(own) == 2
        assert own[0].problem.answer != own[1].problem.answer


def test_every_language_that_a_data_set_has_is_described_and_judged():
    assert {*FORMATS.values(), "z3-python"} == set(languages()) <= set(registry.formats())
    scripts = [example.problem.dataset for example in solved_examples() if example.format == "z3-python"]
    assert Counter(scripts) == dict.fromkeys(("prontoqa", "proofwriter", "folio", "logicaldeduction"), 2)


def test_examples_of_the_same_data_set_come_first():
    folio = next(e.problem for e in solved_examples() if e.problem.dataset == "folio")
    prontoqa = next(e.problem for e in solved_examples() if e.problem.dataset == "prontoqa")
    assert [e.problem.dataset for e in examples_for(prontoqa, "rules", 3)] == ["prontoqa", "prontoqa", "proofwriter"]
    assert [e.problem.dataset for e in examples_for(folio, "rules", 1)] == ["prontoqa"]
    assert [e.problem.dataset for e in examples_for(folio, "z3-python", 3)] == ["folio", "folio", "prontoqa"]


def test_the_gold_answer_is_in_no_prompt():
    for example in solved_examples():
        problem = example.problem
        others = [replace(problem, answer=answer) for answer in ("A", "B", None)]
        for texts in ([opening(p, example.format, 2) for p in others], [reviewing(p, "fol", 2, "x") for p in others]):
            assert texts[0] == texts[1] == texts[2]


def test_the_reviewer_reads_programs_and_writes_problems():
    example = next(e for e in solved_examples() if e.format == "fol")
    turns = reviewing(example.problem, "fol", 2, "the program")
    shown = examples_for(example.problem, "fol", 2)
    assert [turn["role"] for turn in turns] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert (turns[1]["content"], turns[2]["content"]) == (shown[0].program, problem_text(shown[0].problem))
    assert turns[-1]["content"] == "the program"


@pytest.mark.parametrize(
    ("reply", "program"),
    [
        ("A\nB\n", "A\nB"),
        ("Here it is:\n```\nA\nB\n```\nDone.", "A\nB"),
        ("```\nold\n```\nBetter:\n```prolog\nnew\n```", "new"),
        ("~~~\nA\n~~~", "A"),
        ("```text\ncut off", "cut off"),
        ("Write `p` in ``` marks", "Write `p` in ``` marks"),
        ("", ""),
    ],
)
def test_a_program_is_what_stands_in_the_last_fence_else_all_of_a_reply(reply: str, program: str):
    assert program_in(reply) == program
