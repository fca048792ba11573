"""Forms of contexts and texts about everyday topics, each beside forms that look like it and mean something else."""

import pytest

import certistar
from critics.grammar.reader import Reader, Reading
from critics.grammar.text import TWINS, problem_reader, read_text
from critics.replay.certificate import digest
from critics.verdict import Certified, verdict_record


def is_certified(context: str, question: str, text: str) -> bool:
    return certistar.judge(context, question, text).verdict == "certified"


def formula(text: str, *others: str) -> str | None:
    found = Reader([text, *others]).read(text)
    return str(found) if isinstance(found, Reading) else None


TESTS = "If the tests pass, the build is published. If the build is published, Ann is paid. The tests pass."
IS_PAID = "The tests pass, so the build is published. If the build is published, Ann is paid, so Ann is paid. Yes."


def test_several_things_are_spoken_of_as_one_and_no_rule_for_each_is_of_them() -> None:
    assert is_certified(TESTS, "Is Ann paid?", IS_PAID)
    assert not is_certified(TESTS.replace("The tests pass", "The tests do not pass"), "Is Ann paid?", IS_PAID)
    one = TESTS.replace("The tests pass.", "T1 is a test. T1 passes.")
    assert not is_certified(one, "Is Ann paid?", f"T1 is a test. T1 passes. {IS_PAID}")
    rule = "Everyone who lifts the piano gets a medal. The boys lift the piano. Tom is a boy."
    assert not is_certified(rule, "Do the boys get a medal?", "The boys lift the piano, so the boys get a medal. Yes.")
    text = "Tom is a boy. The boys lift the piano, so Tom lifts the piano. So Tom gets a medal. Yes."
    assert not is_certified(rule, "Does Tom get a medal?", text)


def test_what_is_so_of_each_is_not_unknown_of_several() -> None:
    context = "All tests pass. If the tests pass, Ann is paid. If the tests pass, the build is good."
    text = "Nothing says whether the tests pass. So we do not know whether Ann is paid. Answer: unknown"
    assert not is_certified(context, "Is Ann paid?", text)


def test_they_are_several_where_one_other_is_spoken_of_and_nobody_where_both_may_be_meant() -> None:
    assert (
        formula("If Tom covers the plums, they live.") == '"cover _"(tom, "the plums") → "they live"("all the plums")'
    )
    assert formula("If someone likes the dogs, they bark.") is None
    assert formula("If the dogs like the cats, they bark.") is None
    assert formula("Both printers are not warm.") is None
    assert formula("The dogs that bark are big.") is None
    assert formula("The tests all pass.") is None


URGENT = "Every release that fixes a bug is urgent. Every urgent release is shipped. R1 is a release. R1 fixes a bug."
SHIPPED = "R1 is a release that fixes a bug, so R1 is urgent. Every urgent release is shipped, so R1 is shipped. Yes."


def test_an_adjective_that_the_context_says_of_a_kind_can_be_taken_off_it() -> None:
    assert is_certified(URGENT, "Is R1 shipped?", SHIPPED)
    facts = "R1 is a release. R1 is urgent. Every urgent release is shipped."
    assert is_certified(facts, "Is R1 shipped?", "R1 is an urgent release. So R1 is shipped. Yes.")
    assert not is_certified(URGENT.replace("fixes a bug is", "has a bug is"), "Is R1 shipped?", SHIPPED)


@pytest.mark.parametrize(
    ("rule", "fact", "kind", "said"),
    [
        ("Every drive that falls is hard.", "D1 is a drive. D1 falls.", "hard drive", "hard"),
        ("Every market that opens at noon is black.", "D1 is a market. D1 opens at noon.", "black market", "black"),
        ("Every cook who prays is good.", "D1 is a cook. D1 prays.", "good cook", "good"),
        ("Every smoker who eats is heavy.", "D1 is a smoker. D1 eats.", "heavy smoker", "heavy"),
        ("D1 is big.", "D1 is a mouse. D1 is an animal.", "big animal", "big"),
        ("Every mouse that eats is big.", "D1 is a mouse. D1 eats. Every mouse is an animal.", "big animal", "big"),
        ("Every pet that naps is a cat.", "D1 is a pet. D1 naps. Every cat sleeps.", "cat pet", "a cat"),
        ("Every door that Ann paints is open.", "D1 is a door. Ann paints D1.", "open door", "open"),
    ],
)
def test_a_compound_a_doer_another_kind_and_a_verb_are_not_taken_apart(
    rule: str, fact: str, kind: str, said: str
) -> None:
    context = f"{rule} {fact} Every {kind} is sold."
    text = f"D1 is a {kind.split(' ', 1)[1]}. D1 is {said}. Every {kind} is sold, so D1 is sold. Yes."
    assert not is_certified(context, "Is D1 sold?", text)


def test_of_two_readings_the_one_is_meant_whose_phrases_stand_elsewhere() -> None:
    seen = "Every patient who is seen immediately gets a bed."
    rule = "Every patient with a burn is seen immediately."
    found = read_text(f"{rule} {seen}", "Does Tom get a bed?")[1]
    assert isinstance(found, Reading)
    assert str(found) == '∀x. ((patient(x) ∧ "seen immediately"(x)) → "get bed"(x))'
    assert TWINS in found.conventions
    assert not isinstance(read_text(seen, "Does Tom get a bed?")[0], Reading)
    both = f"Tom is seen. Ann immediately gets a bed. {rule} {seen}"
    assert not isinstance(read_text(both, "Does Tom get a bed?")[-2], Reading)


def test_a_certificate_names_the_sentences_of_which_other_sentences_chose_the_reading() -> None:
    """Such a proof is never `checked`: a context that plants `immediately gets a bed` chooses too."""
    rule, fact = "Every patient who is seen immediately gets a bed.", "Tom is a patient. Tom is seen."
    context = f"{rule} {fact} Ann immediately gets a bed. Everyone who immediately gets a bed is glad."
    glad = "Everyone who immediately gets a bed is glad, so Tom is glad."
    text = f"{fact} {rule} So Tom immediately gets a bed. {glad} Yes."
    verdict = certistar.judge(context, "Is Tom glad?", text)
    assert isinstance(verdict, Certified)
    assert verdict.grade == "aligned"
    record = verdict_record("a", verdict)
    assert record["certificate"]["evidence"]["formulas"]["two_readings"] == [rule.rstrip(".")]
    assert certistar.recheck([record])["accepted"] == 1
    del record["certificate"]["evidence"]["formulas"]["two_readings"]
    record["certificate"]["digest"] = digest(record["certificate"])
    assert certistar.recheck([record])["accepted"] == 0


@pytest.mark.parametrize(
    ("context", "says"),
    [
        ("Imani is a runner. She is fast.", "fast(imani)"),
        ("Project K is a project. It was approved in May.", '"was approved in _"("project k", may)'),
        ("The order arrives before nine. It is old.", 'old("the order")'),
        ("Tom has a sister. She is tall.", None),
        ("Tom has a laptop. It is warm.", None),
        ("Ann plays chess. It is old.", None),
        ("Tom likes Bob. He is tall.", None),
        ("Every runner is fast. He is tall.", None),
        ("The soup is salty. It is cold outside.", None),
        ("If Tom is old, Tom is wise. He is kind.", None),
    ],
)
def test_a_sentence_of_a_context_begins_with_a_pronoun_where_one_alone_can_be_meant(
    context: str, says: str | None
) -> None:
    found = problem_reader(context, "Is Tom old?").context()[-1]
    assert (str(found) if isinstance(found, Reading) else None) == says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("The parcel from Oslo is heavy.", 'heavy("the parcel from oslo")'),
        ("The king without Ann is sad.", None),
        ("The light is on.", 'on("the light")'),
        ("The table that Tom is on is red.", None),
        ("Tom is on or off the team.", '"on or off _"(tom, "the team")'),
        ("Bus 9 stops at the lake or at the inn.",
         '"stop at _"("bus 9", "the lake") ∨ "stop at _"("bus 9", "the inn")'),
        ("Tom is sold in Rome and in Oslo.", '"sold in _"(tom, rome) ∧ "sold in _"(tom, oslo)'),
        ("Tom is neither sold in Rome nor in Oslo.", None),
        ("Those who work at night start at noon.", '∀x. ("work at night"(x) → "start at noon"(x))'),
        ("Those who work do not start at noon.", None),
        ("Tom is a judge in the making.", '"judge in _"(tom, "the making")'),
        ("Tom is a stranger in the town.", '"stranger in _"(tom, "the town")'),
        ("Camelot is a castle in the film.", '"castle in _"(camelot, "the film")'),
        ("Orders above 100 euros are free.", '∀x. ((order(x) ∧ "above 100 euro"(x)) → free(x))'),
        ("A hive without a queen is weak.", '∀x. ((hive(x) ∧ ¬"have queen"(x)) → weak(x))'),
        ("A judge with Ann is dead.", None),
        ("A nurse who works on Ward 4 must nap.", '∀x. ((nurse(x) ∧ "work on _"(x, "ward 4")) → "must nap"(x))'),
        ("A nurse who works on Ward 4 must be dead.", None),
        ("A nurse who works on Ward 4 naps.", None),
        ("Tom is a judge or bad at chess.", 'judge(tom) ∨ "bad at chess"(tom)'),
        ("Both Tom and Ann are warm.", "warm(tom) ∧ warm(ann)"),
        ("Tom visited Rome, located in Italy.", '"in _"(rome, italy) ∧ "did visit _"(tom, rome)'),
        ("Tom visited Rome, tired of Oslo.", None),
        ("Tom neither likes Bob nor is he warm.", '¬"like _"(tom, bob) ∧ ¬warm(tom)'),
        ("Tom may work.", '"may work"(tom)'),
        ("Tom was born in May.", '"was born in _"(tom, may)'),
    ],
)  # fmt: skip
def test_places_states_months_and_those_who(text: str, says: str | None) -> None:
    assert formula(text) == says


BOOKS = "Books that are reserved cannot be renewed. Emma is a book. Emma is reserved. Ulysses is a book."
NOT_RENEWED = (
    "Emma is a book that is reserved. Books that are reserved cannot be renewed, so Emma cannot be renewed. No."
)


def test_what_can_be_done_by_the_context_is_claimed_and_no_mere_possibility() -> None:
    assert is_certified(BOOKS, "Can Emma be renewed?", NOT_RENEWED)
    assert not is_certified(BOOKS, "Can Ulysses be renewed?", f"{NOT_RENEWED[:-4]} So Ulysses cannot be renewed. No.")
    assert not is_certified(BOOKS, "Can Emma be renewed?", f"Ulysses can be renewed. {NOT_RENEWED}")


DERBY = "Every match in the cup is played at noon. The derby is a match in the cup. No match that is new is old."


def test_it_is_the_thing_that_the_statement_before_began_with_where_it_follows_or_says_the_same() -> None:
    text = "The derby is a match in the cup, so it is played at noon. Answer: yes"
    assert is_certified(DERBY, "Is the derby played at noon?", text)
    assert not is_certified(DERBY, "Is the derby played at noon?", text.replace("so it is", "so he is"))
    bus = "Bus 9 stops at the lake or at the inn. Bus 9 does not stop at the inn. The inn is old."
    told = "Bus 9 stops at the lake or at the inn. It does not stop at the inn. So bus 9 stops at the lake. Yes."
    assert is_certified(bus, "Does bus 9 stop at the lake?", told)
    assert not is_certified(bus, "Does bus 9 stop at the lake?", told.replace("It does not", "It is old. It does not"))


def test_a_rule_that_is_cited_by_its_place_is_the_contexts_also_in_a_numbered_line() -> None:
    context = "If Tom is a cat, Tom is warm. If Tom is warm, Tom is big. Tom is not big. If Tom is a dog, Tom is old."
    text = (
        "1. Tom is not big, so Tom is not warm (second rule).\n2. As Tom is not warm, Tom is not a cat ({} rule). No."
    )
    assert is_certified(context, "Is Tom a cat?", text.format("first"))
    assert not is_certified(context, "Is Tom a cat?", text.format("fourth"))


def test_neither_of_two_is_known_only_where_both_are_open() -> None:
    context = "Every latte is cold. Every latte has milk. Tom is a latte or Tom is cold. Ann is a drink. Ann is cold."
    text = "Nothing says whether Ann is a latte or is cold. So it is not known whether Ann is a latte. Answer: unknown"
    assert not is_certified(context, "Is Ann a latte?", text)


@pytest.mark.parametrize(
    ("text", "is_proof"),
    [
        ("Let's use proof by contradiction. {}", True),
        ("Working backwards from what we know: {}", True),
        ("According to the first sentence, every cat is a mammal. {}", True),
        ("According to the second sentence, every cat is a mammal. {}", False),
        ("✅ {}", True),
        ("❌ {}", False),
        ("① {}", True),
        ("Let's use proof that Rex is big. {}", False),
        ("We cannot tell. {}", False),
        ("**Step-by-step solution**\n{}", True),
        ("We start with the disjunction: Rex is a cat or Rex is a dog. {}", False),
        ("From the text, Rex is a cat. {}", True),
        ("From the text, Rex is a dog. {}", False),
        ("| # | Claim | Source |\n|---|---|---|\n| 1 | Rex is a cat. | premise 2 |\n\n{}", True),
        ("| # | Claim | Source |\n|---|---|---|\n| 1 | Rex is a cat. | premise 1 |\n\n{}", False),
        ("For Rex, we know that he is a cat. {}", True),
        ("For Tom, we know that he is a cat. {}", False),
        ("Rex is a cat. Rex is a mammal (from 1 and the rule that every cat is a mammal). {}", True),
        ("Rex is a cat. Rex is a mammal (from 1 and the rule that every dog is a mammal). {}", False),
    ],
)
def test_a_phrase_that_says_nothing_is_passed_over_and_a_citation_is_held(text: str, is_proof: bool) -> None:
    context = "Every cat is a mammal. Rex is a cat. Mammals are warm. Tom is a dog."
    proof = "Rex is a cat, so Rex is a mammal. Mammals are warm, so Rex is warm. Yes."
    assert is_certified(context, "Is Rex warm?", text.format(proof)) == is_proof


EXAM = "Every student who passes the exam gets a prize. Omar is a student. Omar passes the exam. Omar likes Bob."
WINS = "Omar is a student. {} Answer: yes"


@pytest.mark.parametrize(
    ("said", "is_proof"),
    [
        ("If he passes the exam, he gets a prize. He passes the exam. Therefore, he gets a prize.", True),
        ("He passes the exam. Every student who passes the exam gets a prize. Therefore, he gets a prize.", True),
        ("He passes the exam. Students who pass the exam get a prize, so he gets a prize.", True),
        ("If Bob passes the exam, he gets a prize. He passes the exam. Therefore, he gets a prize.", False),
        ("He likes Bob. Every student who passes the exam gets a prize. Therefore, he gets a prize.", False),
        ("Bob is a student. Every student who passes the exam gets a prize. Therefore, he gets a prize.", False),
        ("He passes the exam. Every student who passes the exam gets a prize. Therefore, it gets a prize.", False),
        ("Every student who passes the exam gets a prize, and he gets a prize.", False),
        ("He passes the exam. Everyone who likes the exam gets a prize, so he gets a prize.", False),
    ],
)
def test_he_is_whom_alone_the_statements_before_are_about(said: str, is_proof: bool) -> None:
    assert is_certified(EXAM, "Does Omar get a prize?", WINS.format(said)) == is_proof


def test_a_person_in_a_rule_may_be_he() -> None:
    context = "Every student who likes the teacher is paid. Omar is a student. Omar likes the teacher."
    rule = "Every student who likes the teacher is paid"
    text = f"Omar is a student. Omar likes the teacher. {rule}, so he is paid. Answer: yes"
    assert not is_certified(context, "Is Omar paid?", text)
    assert is_certified(context, "Is Omar paid?", text.replace("so he", "so Omar"))


def test_a_reason_behind_what_would_be_is_of_the_same_one() -> None:
    context = "Every student who passes the exam gets a prize. Omar is a student. Omar gets no prize. Bob is a student."
    text = "If Omar passed the exam, he would get a prize, since he is a student. But Omar gets no prize. Answer: no"
    context, text = (each.replace("gets no prize", "does not get a prize") for each in (context, text))
    assert is_certified(context, "Does Omar pass the exam?", text)
    assert not is_certified(context, "Does Omar pass the exam?", text.replace("a student.", "a dean."))
