"""Turns of real chains of thought: sources, doubts and contradictions, and what only looks like them."""

import pytest

import certistar
from critics.formats.english.readings import judge_readings
from critics.problem import Attempt, Problem

HORSES = "All horses have hooves. No humans have hooves. Some ponies are horses."
VISA = (
    "Clerks in Rome have either a red visa or a blue visa. A clerk in Rome with a red visa needs to pay if the clerk "
    "wants to stay in Rome. Mike is a clerk. Mike needs to pay if he wants to stay in Rome. Ida has a red visa."
)
CUP = "The last cup was in Rome. Ann Lee won the last cup. Tom is a judge in the UK. "
CUP += "Every judge in the UK is commonly known."


def is_certified(context: str, question: str, text: str) -> bool:
    return certistar.judge(context, question, text).verdict == "certified"


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("No humans are horses, since no humans have hooves", True),
        ("No humans are horses, since some ponies are horses", False),
        ("No humans are ponies, since no humans have hooves", False),
    ],
)
def test_one_rule_may_be_the_reason_where_the_other_was_just_read_out(said: str, holds: bool) -> None:
    text = f"All horses have hooves. {said}. So the statement is false."
    assert is_certified(HORSES, "Some humans are horses.", text) is holds
    assert not is_certified(HORSES, "Some humans are horses.", f"{said}. So the statement is false.")


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        (
            "If some humans were horses, they would have hooves, which contradicts that no humans have hooves",
            True,
        ),
        ("If a human was a horse, then the human would have hooves, which is not possible", True),
        (
            "If some humans were horses, they would have hooves, which contradicts that all horses have hooves",
            False,
        ),
        (
            "If some ponies were horses, they would have hooves, which contradicts that no humans have hooves",
            False,
        ),
        ("If a pony was a horse, then the pony would have hooves, which is not possible", False),
        (
            "If some humans were ponies, they would have hooves, which contradicts that no humans have hooves",
            False,
        ),
    ],
)
def test_what_would_be_if_there_were_some_contradicts_what_it_denies(said: str, holds: bool) -> None:
    text = f"All horses have hooves, and no humans have hooves. {said}. Therefore, the statement is false."
    assert is_certified(HORSES, "Some humans are horses.", text) is holds


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        (
            "From the first premise, the last cup was in Rome, and from the second premise, Ann Lee won the last cup",
            True,
        ),
        (
            "From the first premise, the last cup was in Rome, and from the third premise, Ann Lee won the last cup",
            False,
        ),
        (
            "From the second premise, the last cup was in Rome, and from the second premise, Ann Lee won the last cup",
            False,
        ),
        ("The statement that the last cup was not in Rome contradicts premise 1", True),
        ("The statement that the last cup was not in Rome contradicts premise 2", False),
        ("It is not true that the last cup was not in Rome, so the statement is false", True),
        ("It is not true that Ann Lee won the last cup, so the statement is false", False),
        ("Tom is a judge in the UK, which means that Tom is a judge. The last cup was in Rome", True),
        ("Ann lee won the last cup. The last cup was in Rome", True),
        ("Ann lee is a judge. The last cup was in Rome", False),
    ],
)
def test_sources_and_denials_are_held_to(said: str, holds: bool) -> None:
    text = f"The last cup was in Rome. {said}. Therefore, the statement is false."
    assert is_certified(CUP, "The last cup was not in Rome.", text) is holds


def test_a_word_of_texts_that_the_context_has_lets_in_no_other() -> None:
    text = "Tom is a judge in the UK. So Tom is commonly known, and the statement is {}."
    assert is_certified(CUP, "Tom is commonly known.", text.format("true"))
    assert not is_certified(CUP, "Tom is commonly known.", text.format("false"))
    assert not is_certified(CUP, "The statement is true.", "Tom is a judge in the UK. So the statement is true.")


@pytest.mark.parametrize(
    ("doubt", "holds"),
    [
        ("We have no information about Mike's visa type.", True),
        ("We do not know which visa Mike has.", True),
        ("We have no information about Ida's visa type.", False),
        ("We have no information about Mike's car type.", False),
        ("We do not know which car Mike has.", False),
    ],
)
def test_nothing_is_known_of_what_a_phrase_of_the_context_names(doubt: str, holds: bool) -> None:
    text = f"Mike is a clerk. However, {doubt[0].lower() if doubt[0] != 'I' else 'I'}{doubt[1:]} "
    text += "So it is unknown whether Mike has a blue visa. Answer: unknown"
    assert is_certified(VISA, "Mike has a blue visa.", text) is holds


def test_kinds_and_names_of_several_words_are_doubted_about_as_others_are() -> None:
    context = "Some owls are old. All owls hunt. All that hunt are birds. Some birds are old. Ann Lee is an owl."
    text = "The premises do not tell us anything about {}. So it is unknown whether all owls are old. Answer: unknown"
    assert is_certified(context, "All owls are old.", text.format("owls being old"))
    assert is_certified(context, "All owls are old.", text.format("Ann Lee being old"))
    for known in ("Ann Lee being an owl", "owls hunting", "Ann Lee hunting"):
        assert not is_certified(context, "All owls are old.", text.format(known)), known


def test_what_cannot_be_so_is_not_so_unless_the_problem_speaks_of_what_one_can() -> None:
    text = "No bird swims, and Tom is a bird. So Tom cannot swim. The answer is no."
    assert is_certified("No bird swims. Tom is a bird.", "Does Tom swim?", text)
    assert not is_certified("No bird swims. Tom is a bird. All fish can swim.", "Does Tom swim?", text)
    assert not is_certified("No bird swims. Tom is a bird.", "Can Tom swim?", text)
    text = "The dog barks or the cat purrs. The cat does not purr. So the dog must bark. The answer is yes."
    assert is_certified("The dog barks or the cat purrs. The cat does not purr.", "Does the dog bark?", text)


NUMBERED = "Charlie is cold. Charlie is rough. If something is cold and rough then it is white. White things are kind."


@pytest.mark.parametrize(
    ("first", "second", "is_so"),
    [
        ("the first rule", "the second rule", True),
        ("rule 1", "the last rule", True),
        ("rule 3", "premise 4", True),
        ("the second rule", "the first rule", False),
        ("rule 2", "rule 1", False),
        ("the last rule", "the second rule", False),
        ("the seventh rule", "the second rule", False),
        ("premise 1", "premise 2", False),
    ],
)
@pytest.mark.parametrize("dataset", [None, "proofwriter"])
def test_a_rule_is_cited_by_its_place_among_rules_or_among_sentences(
    first: str, second: str, is_so: bool, dataset: str | None
) -> None:
    text = f"Charlie is cold and rough, so by {first} Charlie is white. By {second}, Charlie is kind. It is true."
    assert (certistar.judge(NUMBERED, "Charlie is kind.", text, dataset=dataset).verdict == "certified") is is_so


TABLES = "If the pump is old, the alarm does not ring. If the alarm does not ring, Ines does not wake. "
TABLES += "The pump is old. Table 4 is round. Everything round is heavy. Everything tall is warm. Pip sings."


@pytest.mark.parametrize(
    ("ending", "holds"),
    [
        ("So the answer is no. Answer: No", True),
        ("So the answer is no. Answer: Yes", False),
        ("The answer is no. This is false.", False),
        ("The answer is no. So Table 4 is warm.", False),
    ],
)
def test_an_answer_may_be_given_twice_and_not_taken_back(ending: str, holds: bool) -> None:
    text = f'From "The pump is old", we get that the alarm does not ring. So Ines does not wake. {ending}'
    assert is_certified(TABLES, "Does Ines wake?", text) is holds


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ("Table 4 is round, so Table 4 is heavy", True),
        ("Pip sings, so Table 4 is heavy", False),
        ("Table 4 is a table, so Table 4 is heavy", False),
        ("Table 4 is round, so Table 4 is warm", False),
        # That Tom Cook is a cook is no kind of his name's.
        ("Tom Cook is tall, so Tom Cook is paid", False),
    ],
)
def test_what_a_name_says_of_its_thing_need_not_be_told(said: str, holds: bool) -> None:
    kinds = f"{TABLES} No table barks. Tom Cook is a cook and tall. Every cook is paid."
    problem = Problem("p", "none", kinds, "Is Tom Cook paid?" if "paid" in said else "Is Table 4 heavy?")
    attempt = Attempt("a", problem, "english", f"{said}. The answer is yes.")
    assert (judge_readings(problem, attempt).verdict == "certified") is holds
