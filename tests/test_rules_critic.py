"""The critic of `rules` programs: honest ones in every spelling, cheats, and certificates that were tampered with."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critics.formats.rules.reader import read_rules
from critics.judge import judge, judge_record
from critics.logic.programs.sections import MAX_CHARACTERS, Repairs
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.certificate import digest
from critics.verdict import Certified, Verdict, verdict_record

CONTEXT = "Rex is a dog. Every dog is a mammal. Mammals are warm. Tom is a cat. Every cat is not a dog."
QUESTION = "True or false: Rex is warm."
TRUTH = ("A) True", "B) False")
PROGRAM = """Predicates:
Dog($x, bool) ::: Is x a dog?
Facts:
Dog(Rex, True) ::: Rex is a dog.
Cat(Tom, True)
Rules:
Dog($x, True) >>> Mammal($x, True) ::: Every dog is a mammal.
Mammal($x, True) >>> Warm($x, True)
Cat($x, True) >>> Dog($x, False)
Query:
Warm(Rex, True) ::: Rex is warm.
"""
TRANSLATED = Problem("p", "prontoqa", CONTEXT, QUESTION, TRUTH, answer="A")
TRUSTED = Problem("p", "mine", "Prose.", "Is Rex warm?", ("A) True", "B) False", "C) Unknown"), answer="A")
OPEN = Problem(
    "p",
    "proofwriter",
    "Bob is red. If someone is red then they are kind.",
    "Bob is big.",
    (*TRUTH, "C) Unknown"),
    answer="C",
)


def judged(program: str, problem: Problem = TRANSLATED) -> Verdict:
    return judge(problem, Attempt("a", problem, "rules", program))


def certificate_of(program: str, problem: Problem = TRANSLATED) -> dict[str, Any]:
    verdict = judged(program, problem)
    assert isinstance(verdict, Certified), verdict
    return verdict.certificate.record()


def rechecked(certificate: dict[str, Any], **more: Any) -> list[str]:
    record = {"id": "a", "verdict": "certified", "answer": certificate["claim"], "certificate": certificate, **more}
    return [rejected["reason"] for rejected in recheck([record])["rejected"]]


@pytest.mark.parametrize("problem", [TRANSLATED, TRUSTED], ids=["translated", "trusted"])
def test_a_proof_of_the_question_is_certified_and_rechecks(problem: Problem) -> None:
    certificate = certificate_of(PROGRAM, problem)
    assert certificate["kind"] == "rules-proof"
    assert certificate["claim"] == "A"
    assert certificate["repairs"] == []
    assert certificate["formalisation"] == ("checked" if problem is TRANSLATED else "trusted")
    assert rechecked(certificate) == []


SPELLINGS = {
    "rules among the facts": (PROGRAM.replace("Rules:\n", ""), "rule_among_facts"),
    "a plural": (PROGRAM.replace("Mammal($x, True) >>>", "Mammals($x, True) >>>"), "names_merged"),
    "another case": (PROGRAM.replace("Dog(Rex", "dog(Rex"), "names_merged"),
    "no value": (PROGRAM.replace("Dog(Rex, True)", "Dog(Rex)"), "implicit_true"),
    "Not": (PROGRAM.replace("Dog($x, False)", "Not(Dog($x, True))"), "negation_sign"),
    "a sign for not": (PROGRAM.replace("Dog($x, False)", "¬Dog($x, True)"), "negation_sign"),
    "= False": (PROGRAM.replace("Dog($x, False)", "Dog($x) = False"), "value_after_atom"),
    "an arrow": (PROGRAM.replace(">>>", "->"), "arrow"),
    "a rule turned round": (
        PROGRAM.replace("Mammal($x, True) >>> Warm($x, True)", "Warm($x, True) <<< Mammal($x, True)"),
        "reversed_rule",
    ),
    "a variable without its sign": (PROGRAM.replace("$x", "x"), "bare_variable"),
    "a pronoun": (PROGRAM.replace("$x", "Something"), "bare_variable"),
    "prose behind the query": (PROGRAM + "(Note: this is the query.)\n", "text_after_query"),
    "prose before the program": ("the program\n" + PROGRAM, "text_before_program"),
    "facts in two places": (PROGRAM.replace("Query:", "Facts:\nQuery:"), "repeated_section"),
}


@pytest.mark.parametrize(("program", "repair"), SPELLINGS.values(), ids=SPELLINGS.keys())
def test_what_models_write_is_read_and_every_repair_is_recorded(program: str, repair: str) -> None:
    certificate = certificate_of(program)
    assert repair in certificate["repairs"]
    assert rechecked(certificate) == []


def replaced(old: str, new: str) -> str:
    assert old in PROGRAM
    return PROGRAM.replace(old, new)


CHEATS = {
    "the query's polarity": (replaced("Warm(Rex, True) :::", "Warm(Rex, False) :::"), "wrong_answer"),
    "both polarities": (
        replaced("Warm(Rex, True) :::", "Warm(Rex, False) :::").replace("Warm($x, True)", "Warm($x, False)"),
        "goal_mismatch",
    ),
    "an easier query": (replaced("Warm(Rex, True) :::", "Dog(Rex, True) :::"), "goal_mismatch"),
    "a query about three": (replaced("Warm(Rex, True) :::", "Warm(Rex, Tom, Max, True) :::"), "arity"),
    "the answer as a fact": (replaced("Cat(Tom, True)", "Warm(Rex, True)"), "axiom_not_in_context"),
    "a bridge": (replaced("Cat(Tom, True)", "Dog(Rex, True) >>> Warm(Rex, True)"), "axiom_not_in_context"),
    "a rule about everything": (replaced("Cat(Tom, True)", "Warm($x, True)"), "axiom_not_in_context"),
    "a rule turned round": (
        replaced("Cat($x, True) >>> Dog($x, False)", "Warm($x, True) >>> Dog($x, True)"),
        "axiom_not_in_context",
    ),
    "a contradiction": (replaced("Cat(Tom, True)", "Cat(Rex, True)"), "inconsistent_context"),
    "two queries": (PROGRAM + "Dog(Rex, True)\n", "multiple_queries"),
    "a query about everything": (replaced("Warm(Rex, True) :::", "Warm($x, True) :::"), "free_variable"),
    "a conclusion from nowhere": (replaced("Warm($x, True)\n", "Warm($y, True)\n"), "unbound_head_var"),
    "no query": (PROGRAM.partition("Query:")[0], "no_query"),
    "nothing but a query": ("Query:\nWarm(Rex, True)", "no_rules"),
    "Python": (replaced("Cat(Tom, True)", "__import__('os').system('true')"), "syntax"),
    "a reserved name": (replaced("Cat(Tom, True)", "nothing(Tom, True)"), "name"),
    "a thousand negations": (replaced("Cat(Tom, True)", "Not(" * 400 + "Cat(Tom)" + ")" * 400), "syntax"),
    "too long": (PROGRAM + "\n" * MAX_CHARACTERS, "too_long"),
}


@pytest.mark.parametrize(("program", "reason"), CHEATS.values(), ids=CHEATS.keys())
def test_cheats_are_refused_by_name(program: str, reason: str) -> None:
    verdict = judged(program)
    assert not isinstance(verdict, Certified)
    assert verdict.reason == reason


TRUSTED_CHEATS = {
    "the query is a fact": (replaced("Cat(Tom, True)", "Warm(Rex, True)"), "goal_assumed"),
    "the query is left open": (
        PROGRAM.replace("Predicates:", "Predicates:\nWarm($x, bool)").replace(
            "Warm(Rex, True) :::", "Warm(Rex, ?) :::"
        ),
        "open_query",
    ),
    "a contradiction": (replaced("Cat(Tom, True)", "Cat(Rex, True)"), "inconsistent_context"),
}


@pytest.mark.parametrize(("program", "reason"), TRUSTED_CHEATS.values(), ids=TRUSTED_CHEATS.keys())
def test_without_a_reference_the_query_must_still_be_derived(program: str, reason: str) -> None:
    verdict = judged(program, TRUSTED)
    assert not isinstance(verdict, Certified)
    assert verdict.reason == reason


def test_what_is_not_derived_is_false_and_unproved_in_a_closed_world() -> None:
    question = "True or false: Tom is warm."
    problem = Problem("p", "prontoqa", CONTEXT, question, TRUTH, answer="B")
    verdict = judged(replaced("Warm(Rex, True) :::", "Warm(Tom, True) :::"), problem)
    assert not isinstance(verdict, Certified)
    assert (verdict.reason, verdict.answer) == ("not_derived", "B")


OPEN_PROGRAM = "Facts:\nRed(Bob, True)\nRules:\nRed($x, True) >>> Kind($x, True)\nQuery:\nBig(Bob, True)\n"


def test_unknown_is_certified_where_everything_that_the_text_says_is_stated() -> None:
    certificate = certificate_of(OPEN_PROGRAM, OPEN)
    assert (certificate["kind"], certificate["claim"]) == ("rules-saturation", "C")
    assert rechecked(certificate) == []


def test_unknown_is_not_certified_where_a_rule_is_left_out_or_nothing_can_be_compared() -> None:
    short = judged(OPEN_PROGRAM.replace("Red($x, True) >>> Kind($x, True)\n", ""), OPEN)
    trusted = judged(OPEN_PROGRAM, Problem("p", "mine", "Prose.", "Big?", OPEN.options, answer="C"))
    assert not isinstance(short, Certified)
    assert not isinstance(trusted, Certified)
    assert (short.reason, short.answer) == ("axiom_missing", "C")
    assert (trusted.reason, trusted.answer) == ("unknown_on_trust", "C")


def test_a_reference_that_comes_with_the_problem_is_held_to() -> None:
    formal = Formal(("(dog rex)", "(dog 'x) -> (warm 'x)"), "(warm rex)")
    problem = Problem("p", "mine", "Prose.", "Is Rex warm?", TRUTH, answer="A", formal=formal)
    program = "Facts:\nDog(Rex, True)\nRules:\nDog($x, True) >>> Warm($x, True)\nQuery:\nWarm(Rex, True)"
    assert certificate_of(program, problem)["formalisation"] == "given"
    assert not isinstance(judged(program.replace("Dog($x", "Cat($x"), problem), Certified)


def test_work_is_bounded() -> None:
    facts = "".join(f"Likes(o{i}, o{(i + 1) % 60}, True)\n" for i in range(60))
    joins = " && ".join(f"Likes($v{i}, $w{i}, True)" for i in range(6))
    verdict = judged(f"Facts:\n{facts}Rules:\n{joins} >>> Big($v0, True)\nQuery:\nBig(o1, True)", TRUSTED)
    assert not isinstance(verdict, Certified)
    assert verdict.reason == "work_limit"


def tampered(path: str, value: Any) -> dict[str, Any]:
    certificate = json.loads(json.dumps(certificate_of(PROGRAM)))
    *folders, last = path.split("/")
    place = certificate
    for folder in folders:
        place = place[int(folder) if folder.isdigit() else folder]
    place[last] = value
    return {**certificate, "digest": digest(certificate)}


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("claim", "B", "wrong_claim"),
        ("evidence/program", OPEN_PROGRAM, "goal_mismatch"),
        ("evidence/program", PROGRAM.replace("Cat(Tom", "Dog(Tom"), "axiom_not_in_context"),
        ("evidence/program", PROGRAM.replace("Dog(Rex, True) :::", "Dog(Tom, True) :::"), "axiom_not_in_program"),
        ("evidence/steps/0/statement", "(dog tom)", "invalid_step"),
        ("evidence/goal", "(not (warm rex))", "claim"),
        ("repairs", ["names_merged"], "repairs"),
        ("engine", "certistar-horn/1", "unknown_kind"),
        ("formalisation", "trusted", "ill_formed"),
        ("kind", "horn-proof", "unknown_kind"),
    ],
)
def test_a_certificate_that_was_tampered_with_is_rejected(path: str, value: Any, reason: str) -> None:
    found = rechecked(tampered(path, value))
    assert len(found) == 1
    if reason != "wrong_claim":
        assert found in ([reason], ["judged_otherwise"])


def test_a_certificate_belongs_to_the_program_of_its_attempt() -> None:
    record = {"id": "a", "problem": TRANSLATED.record(), "format": "rules", "completion": PROGRAM}
    trace = {**record, "judgement": judge_record(record)}
    assert recheck([trace])["rejected"] == []
    assert [r["reason"] for r in recheck([{**trace, "completion": PROGRAM + "\n"}])["rejected"]] == ["other_attempt"]


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="PQ(),$xTrue False>&¬!=:\nFactsRulesQuery", max_size=200))
def test_no_text_makes_the_critic_fail(text: str) -> None:
    for program in (text, f"Facts:\n{text}\nQuery:\nWarm(Rex, True)", PROGRAM + text):
        record = verdict_record("a", judged(program))
        assert record["verdict"] != "error"


def test_blanks_up_to_the_limit_change_nothing() -> None:
    spaces = " " * (MAX_CHARACTERS - len(PROGRAM) - 10)
    assert read_rules(PROGRAM + spaces, Repairs()) == read_rules(PROGRAM, Repairs())
