"""`aligned`: the grammar reads each sentence and the formulas say no more; whatever else a text says is no pass."""

import pytest

from critics.judge import judge
from critics.problem import Attempt, Problem

RULE = "∀x (Cat(x) → Warm(x))"


def grade(context: str, question: str, *premises: str, goal: str = "Warm(tom)") -> str | None:
    problem = Problem("p", "mine", context, question)
    text = "\n".join(["Premises:", *premises, "Conclusion:", goal])
    verdict = judge(problem, Attempt("a", problem, "fol", text))
    return getattr(verdict, "grade", None)


def test_formulas_that_say_what_the_sentences_say_are_aligned() -> None:
    for context in ("Every cat is warm. Tom is a cat.", "Tom is a cat. All cats are warm. Some dogs bark.",
                    "Cats are warm. Tom is a cat."):  # fmt: skip
        assert grade(context, "Tom is warm.", RULE, "Cat(tom)") == "aligned", context
    remote = "All employees who work remotely have a laptop. Anna is an employee. Anna works remotely."
    rule = "∀x (Employee(x) ∧ WorksRemotely(x) → HasLaptop(x))"
    facts = ("Employee(anna)", "WorksRemotely(anna)")
    assert grade(remote, "Does Anna have a laptop?", rule, *facts, goal="HasLaptop(anna)") == "aligned"
    cow = "Everything that likes the bald eagle is big. The cow likes the bald eagle."
    likes = ("∀x (Likes(x, bald_eagle) → Big(x))", "Likes(cow, bald_eagle)")
    assert grade(cow, "The cow is big.", *likes, goal="Big(cow)") == "aligned"


FACTS = ("Tom ate a cat", "Tom wants a cat", "It is a myth that Tom is a cat", "Tom is a former cat", "Is Tom a cat?",
         "Tom is anything but a cat", "Tom might be a cat", "Tom is almost a cat", "Tom is a cat until noon",
         "Tom is like a cat", "Nobody says that Tom is a cat", "Tom was a cat", "Tom will be a cat", "Tom has a cat",
         "Either Tom is a cat or Ann is a cat")  # fmt: skip


@pytest.mark.parametrize("said", FACTS)
def test_a_fact_that_its_sentence_does_not_state_is_not_aligned(said: str) -> None:
    end = "" if said.endswith("?") else "."
    assert grade(f"Every cat is warm. {said}{end}", "Tom is warm.", RULE, "Cat(tom)") != "aligned"


RULES = """Only cats are warm|None but cats are warm|Some cats are warm|Cats are often warm|Most cats are warm
Cats are not all warm|No cat is warm|Three cats are warm|These cats are warm|A cat may be warm|Are all cats warm?
Cats that Tom chases are warm|If a cat sleeps then it is warm""".replace("\n", "|").split("|")


@pytest.mark.parametrize("said", RULES)
def test_a_rule_that_its_sentence_does_not_state_is_not_aligned(said: str) -> None:
    end = "" if said.endswith("?") else "."
    assert grade(f"{said}{end} Tom is a cat.", "Tom is warm.", RULE, "Cat(tom)") != "aligned"


@pytest.mark.parametrize("question", ["Only Tom is warm.", "Is Tom hardly warm?", "Was Tom warm?", "Ann is warm.",
                                      "Tom is not warm.", "Is Tom warm or big?"])  # fmt: skip
def test_another_question_is_not_aligned(question: str) -> None:
    assert grade("Every cat is warm. Tom is a cat.", question, RULE, "Cat(tom)") != "aligned"


def test_a_relation_turned_round_is_not_aligned() -> None:
    rule = "∀x (Chased(x, ann) → Warm(x))"
    context = "Everything that chased Ann is warm. Ann chased Tom."
    assert grade(context, "Tom is warm.", rule, "Chased(tom, ann)") != "aligned"


def test_two_names_for_one_phrase_are_not_aligned() -> None:
    assert grade("Every cat is warm. Tom is a cat.", "Tom is warm.", "∀x (Cats(x) → Warm(x))", "Cats(tom)",
                 "¬Cat(tom)") != "aligned"  # fmt: skip


def test_an_invented_premise_beside_the_proof_is_not_aligned() -> None:
    assert grade("Every cat is warm. Tom is a cat.", "Tom is warm.", RULE, "Cat(tom)", "¬Warm(ann)") != "aligned"


def test_either_counts_only_where_both_of_its_meanings_decide() -> None:
    context = "Either Tom is warm or Tom is big. Tom is big."
    premises = ("Warm(tom) ⊕ Big(tom)", "Big(tom)")
    assert grade(context, "Tom is warm.", *premises) != "aligned"


def test_a_name_is_found_whatever_its_capitals_and_accents() -> None:
    context, rule = "If KiKi is a cat then KiKi is warm. KiKi is a cat. Náutico is big.", "Cat({0}) → Warm({0})"
    for name, is_found in (("KiKi", True), ("Nautico", False), ("KiKo", False)):
        found = grade(context, "KiKi is warm.", rule.format(name), f"Cat({name})", goal=f"Warm({name})")
        assert (found == "aligned") == is_found, name
    # Attack: no ice for a notice; only names of individuals are spelled together.
    notice = ("∀x (NotIce(x) → Warm(x))", "NotIce(tom)")
    assert grade("Every notice is warm. Tom is a notice.", "Tom is warm.", *notice) != "aligned"
