import pytest

from critics.formats.cot.critic import judge_answer
from critics.formats.guided.critic import judge_guided
from critics.problem import Attempt, Formal, Problem
from critics.text.blocks import Block, BlockError, answers_early, final_answer, split_blocks
from critics.verdict import Certified, CriticError, Malformed, Refuted, Unproved, Vacuous, Verdict, verdict_record

CONTEXT = "Rex is a dog. Every dog is warm. Every dog is not a cat."
AXIOMS = ("(dog rex)", "(dog 'x) -> (warm 'x)", "(dog 'x) -> (not (cat 'x))")
LETTERED = ("A) True", "B) False")


def problem_of(
    *,
    context: str = CONTEXT,
    question: str = "True or false: Rex is warm.",
    goal: str = "(warm rex)",
    axioms: tuple[str, ...] | None = AXIOMS,
    options: tuple[str, ...] | None = None,
    answer: str | None = None,
) -> Problem:
    """Return a user's own problem; without axioms there is no reference, and the text stands alone."""
    formal = None if axioms is None else Formal(axioms, goal)
    return Problem("p", "mine", context, question, options, answer, formal)


def judged(
    problem: Problem, *steps: str, axioms: tuple[str, ...] = AXIOMS, goal: str = "", answer: str = "true"
) -> Verdict:
    goal = goal or (problem.formal.goal if problem.formal else "(warm rex)")
    blocks = [*(f"[[axiom:{a}]]" for a in axioms), f"[[goal:{goal}]]", *(f"[[infer:{s}]]" for s in steps)]
    return judge_guided(problem, Attempt("a", problem, "guided", f"{' '.join(blocks)}\nAnswer: {answer}"))


def answered(text: str, options: tuple[str, ...] | None = None) -> str | None:
    return final_answer(text, problem_of(options=options))


def test_a_proof_of_the_goal_is_certified_true_and_one_of_its_negation_false():
    proved = judged(problem_of(), "(warm rex)")
    other = problem_of(goal="(cat rex)", question="Rex is a cat.")
    disproved = judged(other, "(not (cat rex))", answer="false")
    assert isinstance(proved, Certified)
    assert isinstance(disproved, Certified)
    assert (proved.answer, disproved.answer) == ("true", "false")


def test_a_negative_goal_is_proved_by_a_negative_fact():
    problem = problem_of(goal="(not (cat rex))", question="Rex is not a cat.")
    assert isinstance(judged(problem, "(not (cat rex))"), Certified)


def test_a_goal_that_the_context_states_needs_no_step():
    problem = problem_of(axioms=(*AXIOMS, "(warm rex)"))
    assert isinstance(judged(problem, axioms=(*AXIOMS, "(warm rex)")), Certified)


def test_a_proof_against_the_answer_refutes_it():
    for gold in (None, "false"):
        verdict = judged(problem_of(answer=gold), "(warm rex)", answer="false")
        assert isinstance(verdict, Refuted)
        assert (verdict.reason, verdict.answer) == ("answer_mismatch", "false")


def test_a_proof_against_the_gold_answer_is_not_certified():
    verdict = judged(problem_of(answer="false"), "(warm rex)")
    assert isinstance(verdict, Refuted)
    assert verdict.reason == "wrong_answer"


def test_a_right_answer_without_a_proof_is_a_lucky_guess():
    verdict = judged(problem_of(answer="true"))
    assert isinstance(verdict, Unproved)
    assert (verdict.reason, verdict.answer) == ("goal_not_reached", "true")


def test_what_does_not_parse_is_malformed_wherever_it_stands_and_whatever_it_answers():
    verdict = judged(problem_of(answer="true"), "(nonsense rex)", "(warm", answer="false")
    assert isinstance(verdict, Malformed)
    assert (verdict.reason, verdict.answer) == ("syntax", "false")


def test_a_contradictory_context_proves_nothing():
    clash = ("(dog 'x) -> (cold 'x)", "(dog 'x) -> (not (cold 'x))")
    for axioms in ((*AXIOMS, *clash), None):
        verdict = judged(problem_of(axioms=axioms), "(warm rex)", axioms=(*AXIOMS, *clash))
        assert isinstance(verdict, Vacuous)
        assert verdict.reason == "inconsistent_context"


def test_leaving_out_one_side_of_a_contradiction_does_not_help():
    problem = problem_of(axioms=(*AXIOMS, "(cold rex)", "(not (cold rex))"))
    assert isinstance(judged(problem, "(warm rex)"), Vacuous)


def test_without_a_reference_the_certificate_says_trusted():
    for axioms, formalisation in ((AXIOMS, "given"), (None, "trusted")):
        verdict = judged(problem_of(axioms=axioms), "(warm rex)")
        assert isinstance(verdict, Certified)
        assert verdict.certificate.formalisation == formalisation
        assert (verdict.certificate.problem.formal is None) == (axioms is None)


@pytest.mark.parametrize("assumed", ["(warm rex)", "(not (warm rex))"])
def test_without_a_reference_the_goal_must_not_be_assumed(assumed: str):
    verdict = judged(problem_of(axioms=None), "(not (cat rex))", axioms=(*AXIOMS, assumed))
    assert isinstance(verdict, Vacuous)
    assert verdict.reason == "goal_assumed"


@pytest.mark.parametrize("axioms", [None, ("(dog rex)", "(dog 'x) -> (not (warm 'x))")])
def test_a_formalisation_that_decides_against_a_plain_text_is_not_certified(axioms: tuple[str, ...] | None):
    # Attack: 69 of 500 recorded programs of GPT-4 are valid proofs of a query whose polarity was flipped.
    flipped = ("(dog rex)", "(dog 'x) -> (not (warm 'x))")
    verdict = judged(problem_of(axioms=axioms), "(not (warm rex))", axioms=flipped, answer="false")
    assert isinstance(verdict, Unproved)
    assert verdict.reason == "text_says_otherwise"


def test_a_formalisation_in_other_words_than_the_text_is_left_alone():
    axioms = ("(Hund Rex)", "(Hund 'x) -> (Warmbluter 'x)")
    problem = problem_of(axioms=axioms, goal="(Warmbluter Rex)")
    assert isinstance(judged(problem, "(Warmbluter Rex)", axioms=axioms), Certified)


@pytest.mark.parametrize(
    ("axioms", "goal"),
    [
        (("(dog rex",), "(warm rex)"),
        (("(dog rex)",), "(warm 'x)"),
        (("(dog rex)", "(dog rex rex)"), "(warm rex)"),
        (("(dog rex) -> (warm 'x)",), "(warm rex)"),
    ],
)
def test_a_problem_whose_own_formalisation_is_unusable_is_nobodys_failure(axioms: tuple[str, ...], goal: str):
    verdict = judged(problem_of(axioms=axioms, goal=goal), "(warm rex)", goal="(warm rex)")
    assert isinstance(verdict, CriticError)
    assert verdict.reason == "no_reference"


def test_a_prontoqa_text_that_contradicts_its_formalisation_is_nobodys_failure():
    for formal in (Formal(AXIOMS, "(not (warm rex))"), Formal(AXIOMS[:2], "(warm rex)")):
        problem = Problem("p", "prontoqa", CONTEXT, "Rex is warm.", formal=formal)
        assert isinstance(judge_guided(problem, Attempt("a", problem, "guided", "")), CriticError)


@pytest.mark.parametrize("answer", ["A", "a", "(A)", "A.", "A) True", "(A) true.", "True", "A: True"])
def test_options_are_named_by_letter_or_by_text(answer: str):
    verdict = judged(problem_of(options=LETTERED, answer="A"), "(warm rex)", answer=answer)
    assert isinstance(verdict, Certified)
    assert verdict.answer == verdict.certificate.claim == "A"


@pytest.mark.parametrize(
    "answer",
    ["A) False", "(B) True", "C", "A or B", "A true", "AB", "A) because", "Unknown", "", "1", "Α", "true false"],
)
def test_two_options_at_once_or_none_are_no_answer(answer: str):
    verdict = judged(problem_of(options=LETTERED, answer="A"), "(warm rex)", answer=answer)
    assert isinstance(verdict, Unproved)
    assert (verdict.reason, verdict.answer) == ("no_answer", None)


def test_options_may_stand_in_any_order():
    options = ("False", "Uncertain.", "TRUE")
    assert [answered(f"Answer: {text}", options) for text in ("true", "false", "unknown", "B")] == ["C", "A", "B", "B"]
    verdict = judged(problem_of(options=options, answer="C"), "(warm rex)")
    assert isinstance(verdict, Certified)


@pytest.mark.parametrize("options", [("Warm", "Cold"), ("True", "true"), ("B) True", "A) False"), ()])
def test_options_that_do_not_say_what_is_proved_bar_a_certificate(options: tuple[str, ...]):
    verdict = judged(problem_of(options=options), "(warm rex)", answer="A")
    assert isinstance(verdict, Unproved)
    assert verdict.reason == "no_such_option"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Answer: true", "true"),
        ("so\n answer :\tFALSE. \n\n", "false"),
        ("Answer: unknown", "unknown"),
        ("Answer: uncertain", "unknown"),
        ("\r\nAnswer: true\r\n", "true"),
        ("Answer: true...", "true"),
        ("Answer: false\nAnswer: true", "true"),
        ("Answer:", None),
        ("Answer: ", None),
        ("Answer: maybe", None),
        ("Answer: not true", None),
        ("Answer: true, probably", None),
        ("Answer: true\nBye", None),
        ("The Answer: true", None),
        ("Answer; true", None),
        ("Answer: true: false", None),
        ("Anſwer: true", None),
        ("Answer: true\rfalse", None),
        ("Answer：true", None),
        ("Answer: A", None),
        ("true", None),
        ("", None),
        ("\n", None),
    ],
)
def test_the_answer_is_the_last_line(text: str, answer: str | None):
    assert answered(text) == answer


@pytest.mark.parametrize(
    "text",
    [
        "Answer: {0}\n[[infer:(p a)]]\nAnswer: {0}",
        "answer={0} [[infer:(p a)]]\nAnswer: {0}",
        "(ANSWER - {0}) [[infer:(p a)]]\nAnswer: {0}",
        "The answer should be: {0}. [[infer:(p a)]]\nAnswer: {0}",
        "verdict_{0} [[infer:(p a)]]\nAnswer: {0}",
        "Solution: **{0}** [[infer:(p a)]]\nAnswer: {0}",
        "[[infer:(p a)]] answer: {1}\nAnswer: {0}",
        "[[infer:(p a)]]\nAnswer: {0}\n\nAnswer: {0}",
        "[[infer:(p a)]]\nAnswer: dunno\nAnswer: {0}",
        "The answer is no! [[infer:(p a)]]\nAnswer: {0}",
        "Answer: B) [[infer:(p a)]]\nAnswer: {0}",
    ],
)
@pytest.mark.parametrize("options", [None, LETTERED])
def test_an_answer_before_the_reasoning_ends_or_a_second_one_is_early(text: str, options: tuple[str, ...] | None):
    assert answers_early(text.format("true", "false"), problem_of(options=options))


@pytest.mark.parametrize(
    "text",
    [
        "[[infer:(p a)]]\nAnswer: true",
        "Answer true or false: [[infer:(p a)]]\nAnswer: true",
        "Answers are true. [[infer:(p a)]]\nAnswer: true",
        "To answer a question, e.g. this one, [[infer:(p a)]]\nAnswer: true",
        "There is no answer. No cat is a dog. [[infer:(p a)]]\nAnswer: true",
        "The conclusion is a goal. [[infer:(p a)]]\nAnswer: true",
        "[[infer:(p a)]] So the answer is true.\nAnswer: true",
        "[[infer:(p a)]] The answer must be yes.\nAnswer: true",
    ],
)
@pytest.mark.parametrize("options", [None, LETTERED])
def test_words_about_answers_are_no_answer(text: str, options: tuple[str, ...] | None):
    assert not answers_early(text, problem_of(options=options))


def test_blocks_are_found_in_order_with_their_offsets():
    assert split_blocks("a [[axiom:(p a)]] b [[infer:x:y]]") == [
        Block("axiom", "(p a)", 2),
        Block("infer", "x:y", 20),
    ]
    assert split_blocks("[ ] ]") == []


@pytest.mark.parametrize(
    "text", ["[[", "]]", "[[]]", "[[axiom]]", "[[axiom:a", "[[axiom:[[axiom:a]]]]", "[[axiom :a]]", "[[\x00:a]]"]
)
def test_brackets_that_are_no_block_are_refused_in_printable_words(text: str):
    with pytest.raises(BlockError) as error:
        split_blocks(text)
    assert str(error.value).isprintable()


@pytest.mark.parametrize(
    ("text", "gold", "kind", "answer"),
    [
        ("It must be.\nAnswer: true", "true", Unproved, "true"),
        ("Answer: true", None, Unproved, "true"),
        ("Answer: false", "true", Refuted, "false"),
        ("Rex is warm.", "true", Malformed, None),
    ],
)
def test_free_text_is_never_certified(text: str, gold: str | None, kind: type, answer: str | None):
    problem = problem_of(answer=gold)
    verdict = judge_answer(problem, Attempt("a", problem, "cot", text))
    assert isinstance(verdict, kind)
    assert verdict.answer == answer


def test_a_verdict_record_has_the_designs_keys():
    record = verdict_record("a", judged(problem_of(), "(warm rex)"))
    assert list(record)[:6] == ["id", "verdict", "reason", "answer", "feedback", "certificate"]
    assert list(record)[6:] == ["coverage", "spans", "first_bad_step"]
    assert record["certificate"]["limits"] == {"work": 100_000}
