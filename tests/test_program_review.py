"""What running a program shows, without the gold answer; and why there is no answer, in each language."""

from dataclasses import replace
from pathlib import Path

import pytest

import rollout.programs.review
from critics.errors import InputError
from critics.formats.format import find_format
from critics.problem import Attempt, Formal, Problem
from critics.workers.pool import Died, Raised
from rollout.programs.prompt import SolvedProgram, solved_examples
from rollout.programs.review import ProgramSubmission, RunReviewPool, _review, require_critic, review, without_gold
from rollout.records.steps import RunReview

MINE = Problem("p", "mine", "A context.", "A question?", None, "true")
EXAMPLES: dict[str, SolvedProgram] = {
    example.problem.dataset: example for example in solved_examples() if example.format != "z3-python"
}


def shown(dataset: str, old: str, new: str) -> RunReview:
    """Review the last example of a data set with something changed."""
    example = EXAMPLES[dataset]
    assert old in example.program
    return review(ProgramSubmission(without_gold(example.problem), example.format, example.program.replace(old, new)))


def test_no_review_depends_on_the_gold_answer():
    example = EXAMPLES["ar-lsat"]
    for answer in ("A", "B", None):
        problem = replace(example.problem, answer=answer)
        assert without_gold(problem) == replace(example.problem, answer=None)


def test_an_annotation_is_withheld_where_no_translator_reads_it_off_the_text():
    annotated = replace(MINE, dataset="folio", formal=Formal(("Cat(tom)",), "Warm(tom)"))
    assert without_gold(annotated).formal is None
    own = EXAMPLES["proofwriter"].problem
    assert without_gold(own).dataset == "proofwriter"
    paraphrased = replace(own, context="In the mornings, the old cow, being hungry, eats.", formal=Formal((), "(a b)"))
    bare = without_gold(paraphrased)
    assert (bare.formal, bare.dataset) == (None, "proofwriter, untranslated")
    program = "Predicates:\nCold($x, bool)\nFacts:\nCold(Tom, True)\nRules:\nQuery:\nCold(Ann, True)"
    assert review(ProgramSubmission(bare, "rules", program)).kind == "answered"


@pytest.mark.parametrize(
    ("dataset", "old", "new", "kind", "reason"),
    [
        ("ar-lsat", "goes(Gill) ::: The", "goes(Gil) ::: The", "unreadable", "undeclared_name"),
        ("ar-lsat", "goes(Gill) ::: The", "goes(Frey) ::: The", "undecided", "no_option_holds"),
        (
            "ar-lsat",
            "goes(Gill) ::: The",
            "And(goes(Bora), goes(Cruz)) ::: The",
            "undecided",
            "inconsistent_constraints",
        ),
        ("logicaldeduction", "canoe == 3", "canoe != 3", "undecided", "no_option_holds"),
        ("logicaldeduction", "barge > sloop", "barge > 5", "undecided", "inconsistent_constraints"),
        ("proofwriter", "Rules:", "Big(Anne, False)\nRules:", "undecided", "inconsistent_context"),
        ("folio", "Premises:", "Premises:\nPotter(orr)", "undecided", "inconsistent_premises"),
        ("folio", "Conclusion:", "", "unreadable", "sections"),
    ],
)
def test_what_comes_of_a_program_has_a_kind(dataset: str, old: str, new: str, kind: str, reason: str):
    found = shown(dataset, old, new)
    assert (found.kind, found.reason) == (kind, reason)
    assert found.told
    assert bool(found.explanation) == (kind == "undecided")
    assert (found.answer is None) == (kind != "answered")


def test_a_clash_names_the_constraints_and_no_more():
    said = shown("ar-lsat", "goes(Gill) ::: The", "And(goes(Bora), goes(Cruz)) ::: The").explanation
    assert said == (
        "These constraints cannot hold together: `Implies(goes(Bora), Not(goes(Cruz)))`; `And(goes(Bora), goes(Cruz))`"
    )


def test_options_that_fail_are_shown_by_what_rules_their_claim_out():
    said = shown("ar-lsat", "goes(Gill) ::: The", "goes(Frey) ::: The").explanation
    assert "(A) is_exception(is_sat(goes(Frey))) does not hold, because the constraints allow: goes(Bora) = " in said
    assert "the same as before, but" in said


def test_options_that_hold_are_shown_by_what_forces_them():
    first = next(e for e in solved_examples() if e.format == "logic-program")
    program = first.program.replace("is_valid(speaks(Khan) == Wednesday)", "is_valid(speaks(Levy) == Tuesday)")
    found = review(ProgramSubmission(without_gold(first.problem), "logic-program", program))
    assert found.reason == "several_options_hold"
    assert "(B) is_valid(speaks(Levy) == Tuesday) holds, because of `speaks(Levy) == Tuesday`" in found.explanation
    assert "(A) is_valid(speaks(Ito) == Monday) holds, because of " in found.explanation


def test_two_solutions_of_a_csp_program_are_shown_where_they_differ():
    said = shown("logicaldeduction", "canoe == 3", "canoe != 3").explanation
    assert said.startswith("(A) ferry == 5 does not hold, because the constraints allow: ferry = ")
    assert said.endswith("(C) sloop == 4 does not hold, because the constraints allow: the same")


def test_a_csp_option_that_is_forced_names_its_constraints():
    said = shown("logicaldeduction", "A) ferry == 5", "A) dinghy == 1").explanation
    assert "(A) dinghy == 1 holds, because of `dinghy == 1`" in said
    assert "(C) sloop == 4 holds, because of " in said


def test_two_derivations_are_shown_in_the_programs_own_language():
    said = shown("proofwriter", "Rules:", "Big(Anne, False)\nRules:").explanation
    assert said == "big(anne, True) follows from `big(anne, True)`\nbig(anne, False) follows from `big(anne, False)`"
    said = shown("proofwriter", "Facts:", "Facts:\nYoung(Anne, True)\nNice(Anne, False)").explanation
    assert "`smart($x, True) >>> nice($x, True)`" in said


def test_premises_that_clash_are_a_smallest_set():
    said = shown("folio", "Premises:", "Premises:\nPotter(orr)").explanation
    assert said.startswith("These premises cannot hold together: ")
    assert "Painter" not in said
    assert said.count("`") == 2 * 4


def test_an_open_conclusion_is_shown_by_two_models():
    two = replace(MINE, options=("A) True", "B) False"), answer=None)
    program = "Predicates:\nPremises:\n∀x (Cat(x) → Warm(x))\nConclusion:\nWarm(tom)"
    found = review(ProgramSubmission(two, "fol", program))
    assert (found.kind, found.reason) == ("undecided", "no_option")
    assert "The premises leave `Warm(tom)` open." in found.explanation
    assert "They allow that it fails: " in found.explanation


def test_there_is_nothing_to_explain_of_a_program_that_answers_or_cannot_be_read():
    for example in solved_examples():
        attempt = Attempt("a", example.problem, example.format, example.program)
        if example.format != "fol":  # of two models there is always something to show
            assert find_format(attempt.format).explain(attempt) is None
        assert find_format(attempt.format).explain(replace(attempt, completion="nonsense")) is None
    assert find_format("asp").explain(Attempt("a", MINE, "asp", "{}")) is None


def test_a_language_without_a_critic_is_named():
    with pytest.raises(InputError, match="no critic runs 'prose' programs"):
        require_critic("prose")


def test_a_program_that_takes_too_long_is_killed_and_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    slow = "import time\nimport rollout.programs.review\nreal = rollout.programs.review.review\n"
    slow += "def review(one):\n    time.sleep(60 if one.program == 'slow' else 0)\n    return real(one)\n"
    (tmp_path / "slow_review.py").write_text(slow, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    import slow_review  # type: ignore[import-not-found]

    monkeypatch.setattr(rollout.programs.review, "review", slow_review.review)
    example = EXAMPLES["ar-lsat"]
    good = ProgramSubmission(without_gold(example.problem), example.format, example.program)
    with RunReviewPool(timeout_s=2) as pool:
        found = pool([replace(good, program="slow"), good, replace(good, program="?")])
    assert (found[0].kind, found[0].reason, found[0].answer) == ("unknown", "time_limit", None)
    assert [reviewed.answer for reviewed in found[1:]] == ["D", None]


def test_a_critic_that_dies_is_an_error():
    for outcome in (Died("gone"), Raised(MemoryError("gone"))):
        found = _review(outcome)
        assert (found.kind, found.answer) == ("error", None)
