"""Comments of programs: lies beside formulas that are proved, and honest comments like them."""

from dataclasses import replace

import pytest

import certistar
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import Verdict

PIP = Problem(
    "pip", "prontoqa", "Every wren is a bird. Pip is a wren. Birds are flyers.", "True or false: Pip is a flyer."
)
RULES = """Predicates:
Wren($x, bool) ::: Is x a wren?
Facts:
Wren(Pip, True) ::: Pip is a wren.
Rules:
Wren($x, True) >>> Bird($x, True) ::: Every wren is a bird.
Bird($x, True) >>> Flyer($x, True) ::: Birds are flyers.
Query:
Flyer(Pip, True) ::: Pip is a flyer."""
FLY = Problem("fly", "folio", "All wrens are birds. Pip is a wren. Every bird can fly.", "Pip can fly.")
FOL = """Predicates:
Wren(x) ::: x is a wren.
Premises:
∀x (Wren(x) → Bird(x)) ::: All wrens are birds.
Wren(pip) ::: Pip is a wren.
∀x (Bird(x) → Fly(x)) ::: Every bird can fly.
Conclusion:
Fly(pip) ::: Pip can fly."""
CARS = Problem(
    "cars",
    "logicaldeduction",
    "In an antique car show, there are three vehicles: a truck, a motorcyle, and a bus. The truck is the newest. "
    "The bus is older than the motorcyle.",
    "Which of the following is true?",
    ("A) The truck is the oldest.", "B) The motorcyle is the oldest.", "C) The bus is the oldest."),
)
CSP = """Domain:
1: oldest
3: newest
Variables:
truck [IN] [1, 2, 3]
motorcycle [IN] [1, 2, 3]
bus [IN] [1, 2, 3]
Constraints:
truck == 3 ::: The truck is the newest.
bus < motorcycle ::: The motorcycle is newer than the bus.
AllDifferentConstraint([truck, motorcycle, bus]) ::: All vehicles have different values.
Query:
A) truck == 1 ::: The truck is the oldest.
B) motorcycle == 1 ::: The motorcycle is the oldest.
C) bus == 1 ::: The bus is the oldest."""
OF = {"rules": (PIP, RULES, "true"), "fol": (FLY, FOL, "true"), "csp": (CARS, CSP, "C")}


def told(format_: str, text: str, **changed: str) -> Verdict:
    return judge(replace(OF[format_][0], **changed), Attempt("a", OF[format_][0], format_, text))


@pytest.mark.parametrize("format_", OF)
def test_comments_that_the_problem_bears_out_change_nothing(format_: str) -> None:
    verdict = told(format_, OF[format_][1])
    assert (verdict.verdict, verdict.answer, verdict.spans) == ("certified", OF[format_][2], ())
    assert verdict.grade in ("checked", "aligned")


@pytest.mark.parametrize(
    ("format_", "old", "new"),
    [
        ("rules", ":::Pip is a flyer.", "Pip is no flyer."),
        ("rules", ":::Pip is a wren.", "Pip is not a wren."),
        ("rules", ":::Every wren is a bird.", "No wren is a bird."),
        ("rules", ":::Every wren is a bird.", "Every bird is a wren."),
        ("rules", ":::Every wren is a bird.", "Every flyer is a wren."),
        ("rules", ":::Pip is a flyer.", "Pip is a flyer. Answer: false"),
        ("fol", ":::Every bird can fly.", "No bird can fly."),
        ("fol", ":::Pip is a wren.", "Pip is not a wren."),
        ("fol", ":::Pip can fly.", "The answer is False."),
        ("csp", ":::The truck is the newest.", "The truck is the oldest."),
        ("csp", ":::The motorcycle is newer than the bus.", "The bus is newer than the motorcyle."),
        ("csp", ":::The bus is the oldest.", "The answer is A."),
    ],
)
def test_a_comment_that_says_something_else_refuses_the_program(format_: str, old: str, new: str) -> None:
    said = f"::: {old.removeprefix(':::')}"
    text = OF[format_][1]
    assert said in text
    verdict = told(format_, text.replace(said, f"::: {new}", 1))
    assert (verdict.verdict, verdict.reason) == ("unproved", "unsupported_sentence")
    assert verdict.first_bad_step is not None
    assert verdict.first_bad_step.text == new


@pytest.mark.parametrize("format_", ["rules", "csp"])
def test_an_answer_beside_the_program_must_be_the_one_proved(format_: str) -> None:
    text = OF[format_][1]
    assert told(format_, f"The answer is {'false' if format_ == 'rules' else 'A'}.\n{text}").verdict == "unproved"
    right = told(format_, f"The answer is {'true' if format_ == 'rules' else 'C'}.\n{text}")
    assert (right.verdict, right.spans) == ("certified", ())
    assert told(format_, f"The statement is false. Answer: {right.answer}\n{text}").spans
    assert told(format_, f"Here is the program.\n{text}").verdict == "certified"


@pytest.mark.parametrize(
    ("format_", "comment"),
    [("rules", "The moon is made of cheese."), ("fol", "Pip, I dare say, sings."), ("csp", "Nobody came.")],
)
def test_a_comment_in_other_words_is_not_covered(format_: str, comment: str) -> None:
    text = OF[format_][1].replace("::: Pip is a wren.", f"::: {comment}").replace("The truck is the newest.", comment)
    verdict = told(format_, text)
    assert verdict.verdict == "certified"
    assert [text[span.start : span.end] for span in verdict.spans if span.kind == "unread"] == [comment]
    assert verdict.coverage is not None
    assert verdict.coverage < 1


@pytest.mark.parametrize("lie", ["The moon is made of cheese.", "The statement is false.", "2 + 2 = 5"])
@pytest.mark.parametrize(
    ("format_", "before"),
    [
        ("rules", "Predicates:"),
        ("rules", "Wren($x, bool)"),
        ("rules", "Facts:"),
        ("rules", "Bird($x, True) >>>"),
        ("fol", "Wren(x) :::"),
        ("fol", "Premises:"),
        ("csp", "Domain:"),
        ("csp", "1: oldest"),
        ("csp", "bus < motorcycle"),
    ],
)
@pytest.mark.parametrize("form", ["{}\n", "Conclusion: {}\n", "_Facts_: {}\n", "``` {}\n", "~~~{}\n~~~\n"])
def test_what_a_reader_of_programs_passes_over_is_read_as_a_comment(
    format_: str, before: str, lie: str, form: str
) -> None:
    """Attack: say it before the program, among its declarations, as a heading of another language, in a fence."""
    text = OF[format_][1]
    said = text.replace(before, f"{form.format(lie)}{before}", 1)
    verdict = told(format_, said)
    is_unread = any(lie.strip(".") in said[span.start : span.end] for span in verdict.spans if span.kind == "unread")
    assert verdict.verdict != "certified" or is_unread


@pytest.mark.parametrize(
    "lie", ["The moon is made of cheese.", "(The statement is false.)", "2 + 2 = 5", "Sum = 5 (so)"]
)
def test_what_stands_behind_a_query_is_read(lie: str) -> None:
    text = f"{RULES}\n{lie}"
    verdict = told("rules", text)
    assert [text[span.start : span.end] for span in verdict.spans if span.kind == "unread"] == [lie]


@pytest.mark.parametrize("lie", ["False", "1. False.", "=> false", "B", "not true", "It is false."])
def test_another_answer_behind_the_query_is_not_told(lie: str) -> None:
    """A recorded program of GPT-3.5 ends so: what it proves is true, and its last line says False."""
    for question in (PIP.question, "Is the following statement true or false? Pip is a flyer."):
        assert told("rules", f"{RULES}\n{lie}", question=question).spans
    assert not told("rules", f"{RULES}\nTrue").spans
    assert not told("rules", f"{RULES}\nPip is a flyer.").spans


@pytest.mark.parametrize("lie", ["A", "(B)", "The truck is the oldest.", "A) The truck is the oldest."])
def test_an_options_words_stand_beside_its_formula(lie: str) -> None:
    last = "::: The bus is the oldest."
    assert (
        told("csp", CSP.replace(last, f"::: {lie}")).spans
        or told("csp", CSP.replace(last, f"::: {lie}")).first_bad_step
    )
    assert told("csp", f"{lie}\n{CSP}").spans or told("csp", f"{lie}\n{CSP}").first_bad_step
    for honest in ("C", "(C)", "C) The bus is the oldest."):
        assert not told("csp", CSP.replace(last, f"::: {honest}")).spans
    assert not told("csp", f"The bus is the oldest.\n{CSP}").spans


def test_lincs_lines_are_texts_formulas_or_comments() -> None:
    pairs = [("All wrens are birds.", "all x. (Wren(x) -> Bird(x))"), ("Pip is a wren.", "Wren(pip)"),
             ("Every bird can fly.", "all x. (Bird(x) -> Fly(x))"), ("Pip can fly.", "Fly(pip)")]  # fmt: skip
    text = "\n".join(f"TEXT: {said}\nFOL: {formula}" for said, formula in pairs)
    assert (told("fol", text).verdict, told("fol", text).spans) == ("certified", ())
    lie = text.replace("TEXT: Pip is", "The statement is false.\nTEXT: Pip is")
    assert [lie[span.start : span.end] for span in told("fol", lie).spans if span.kind == "unread"] == [
        "The statement is false."
    ]


def test_a_proof_beside_facts_that_nobody_tells_is_on_trust() -> None:
    for fact in ("¬Wren(ned)", "¬Bird(rex)"):
        assert told("fol", FOL.replace("Conclusion:", f"{fact}\nConclusion:")).grade == "trusted"


def test_a_comment_may_say_it_in_other_words() -> None:
    for said in ("All wrens are birds.", "Wrens are birds", "1. Every wren is a bird.", "Any wren is a bird."):
        assert told("rules", RULES.replace("::: Every wren is a bird.", f"::: {said}")).verdict == "certified"


def test_values_behind_a_query_are_not_its_answer() -> None:
    for values in ("(True, False, Unknown)", "(True)"):
        assert told("rules", f"{RULES} {values}").verdict == "certified"


WREN = {"dataset": "prontoqa", "question": "True or false: Pip is feathered."}
WREN["context"] = "Pip is a wren. Every wren is a bird. Birds are feathered. Ned is a newt. Every newt is not a bird."
SCRIPT = """from z3 import *
Thing = DeclareSort("Thing")
wren, bird, feathered = (Function(name, Thing, BoolSort()) for name in ("wren", "bird", "feathered"))
pip, x = Consts("pip x", Thing)
s = Solver()
s.add(wren(pip))
s.add(ForAll([x], Implies(wren(x), bird(x))))
s.add(ForAll([x], Implies(bird(x), feathered(x))))
{}
s.add(Not(feathered(pip)))
print("True" if s.check() == unsat else "Unknown")"""


@pytest.mark.parametrize(
    "line",
    [
        "assert True, 'Pip is a newt'", "names = ['pip', 'newts are birds']", "why = {'why': 'Every newt is a bird'}",
        "print('Every newt is a bird') if True else None", "print(f'Pip is a newt')", "f'Pip is a newt'",
        "for why in ['Every newt is a bird']:\n    pass", "why = 'Pip is a newt'.upper()", "'Pip is' + ' a newt'",
        "if True:\n    print('Every newt is a bird')",
    ],
)  # fmt: skip
def test_a_falsehood_in_any_string_of_a_script_is_not_kept(line: str) -> None:
    problem = {"id": "p", **WREN}
    honest, lying = (
        {"id": "a", "problem": problem, "format": "z3-python", "completion": SCRIPT.format(said)}
        for said in ("told = 'Every wren is a bird'", line)
    )
    assert len(certistar.filter([honest])) == 1
    assert certistar.filter([lying]) == []


@pytest.mark.parametrize(
    "said", ["Only cats are warm", "every cat is warm, they say", "no cat", "cats are made of cheese"]
)
def test_a_claim_beside_a_predicate_is_not_kept(said: str) -> None:
    def row(told: str) -> dict[str, str]:
        program = f"Predicates:\nCat($x, bool) ::: {told}\nFacts:\nCat(Tom, True)\nRules:\n"
        program += "Cat($x, True) >>> Warm($x, True)\nQuery:\nWarm(Tom, True)"
        return {"context": "Every cat is warm. Tom is a cat.", "question": "Tom is warm.", "rationale": program}

    assert len(certistar.filter([row("Does x belong to the cats?"), row(said)])) == 1
