"""`aligned` on rich English: what models compress passes, and a program with one thing changed does not."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from critics.audit.faithful import text_findings
from critics.formats.format import find_format
from critics.judge import judge_on_trust
from critics.logic.first_order.printing import canonical
from critics.problem import Attempt, Problem, read_attempt
from critics.text.faithfulness.beside import concluded, is_aligned
from critics.text.faithfulness.english import sentence, stem
from critics.text.faithfulness.naming import places
from rollout.problems import proofwriter
from rollout.published.first_order import load_folio
from tools.unfaithful import attacks, says_otherwise

STUDENTS = """No students who work in the library are from the computer science department.
All students who have part-time jobs offered by the university are students who work in the library.
All students who take the database course are from the computer science department.
All students instructed by professor David are taking the database course.
All students working in the lab are instructed by professor David.
James is a student working in the lab.
Jack neither has a part-time job offered by the university nor works in the lab."""
RULES = """∀x (WorkInLibrary(x) → ¬FromCS(x))
∀x (PartTimeJob(x) → WorkInLibrary(x))
∀x (TakeDatabaseCourse(x) → FromCS(x))
∀x (InstructedByDavid(x) → TakeDatabaseCourse(x))
∀x (WorkInLab(x) → InstructedByDavid(x))
WorkInLab(james)
¬(PartTimeJob(jack) ∨ WorkInLab(jack))"""
ASKED = "James does not have a part-time job offered by the university."


def outcome(premises: str, goal: str, *, context: str, question: str, answer: str = "true") -> str:
    problem = Problem("p", "folio", context, question)
    attempt = Attempt("a", problem, "fol", f"Premises:\n{premises}\nConclusion:\n{goal}\n")
    return concluded(text_findings(attempt, answer))[0]


def students(rules: str = RULES, goal: str = "¬PartTimeJob(james)", question: str = ASKED, answer: str = "true") -> str:
    return outcome(rules, goal, context=STUDENTS, question=question, answer=answer)


def test_a_compressed_program_is_aligned() -> None:
    assert students() == "passed"


def test_a_premise_that_the_proof_does_without_may_be_wrong() -> None:
    assert students(RULES.replace("¬(PartTimeJob(jack) ∨ WorkInLab(jack))", "WorkInLab(jack)")) == "passed"
    assert students(RULES + "\n¬∀x (WorkInLibrary(x) → FromCS(x))") == "passed"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("WorkInLab(james)", "WorkInLab(jack)"),
        ("→ ¬FromCS", "→ FromCS"),
        ("(TakeDatabaseCourse(x) → FromCS(x))", "(FromCS(x) → TakeDatabaseCourse(x))"),
        ("∀x (InstructedByDavid", "∃x (InstructedByDavid"),
        ("(WorkInLab(x) → InstructedByDavid(x))", "(WorkInLab(x) ∧ InstructedByDavid(x))"),
        ("(WorkInLab(x) → InstructedByDavid(x))", "InstructedByDavid(x)"),
        ("PartTimeJob(x) →", "NotPartTimeJob(x) →"),
    ],
)
def test_a_premise_that_the_proof_needs_may_not(before: str, after: str) -> None:
    assert before in RULES
    assert students(RULES.replace(before, after)) != "passed"


@pytest.mark.parametrize(
    "goal", ["PartTimeJob(james)", "¬PartTimeJob(jack)", "¬WorkInLibrary(james)", "¬TakeJob(james)"]
)
def test_the_goal_is_the_questions(goal: str) -> None:
    assert students(goal=goal) != "passed"


@pytest.mark.parametrize(
    ("premises", "goal", "context", "question", "expected"),
    [
        # What a name leaves out goes with it everywhere, or it is another thing.
        ("∀x (Cat(x) → Wild(x))\nCat(tom)", "Wild(tom)", "All big cats are wild. Tom is a cat.", "Tom is wild.", 0),
        ("∀x (Cat(x) → Wild(x))\nCat(tom)", "Wild(tom)", "All big cats are wild. Tom is a big cat.", "Tom is wild.", 1),
        # A fact may say less than its sentence; a rule may not.
        ("Brazilian(ailton)", "¬¬Brazilian(ailton)", "Ailton is a Brazillian footballer.", "Ailton is Brazilian.", 1),
        ("∀x (Red(x) → Nice(x))\nRed(bob)", "Nice(bob)",
         "If someone is red and big then they are nice. Bob is red.", "Bob is nice.", 0),
        ("∀x (Red(x) → Nice(x))\n∀x (Big(x) → Nice(x))\nRed(bob)", "Nice(bob)",
         "If someone is red and big then they are nice. Bob is red.", "Bob is nice.", 0),
        ("Big(bob)", "¬¬Big(bob)", "Bob is big or red.", "Bob is big.", 0),
        # Names that stand twice in a sentence stand twice in its formula.
        ("∀x (Sees(x, rabbit) → Visits(x, cow))\nSees(tom, rabbit)", "Visits(tom, cow)",
         "If something sees the rabbit then the rabbit visits the cow. Tom sees the rabbit.", "Tom visits the cow.", 0),
        # Quantifiers and connectives.
        ("∀x (Cat(x) → Nice(x))\nCat(tom)", "Nice(tom)", "Most cats are nice. Tom is a cat.", "Tom is nice.", 0),
        ("∀x (Cat(x) → Nice(x))\nCat(tom)", "Nice(tom)", "Some cats are nice. Tom is a cat.", "Tom is nice.", 0),
        ("∀x (Nice(x) → Cat(x))\nNice(tom)", "Cat(tom)", "Only cats are nice. Tom is nice.", "Tom is a cat.", 1),
        ("CanWin(tom)", "¬¬CanWin(tom)", "Tom wins.", "Tom wins.", 0),
        ("¬Big(tom) ∨ ¬Red(tom)\nCat(tom)", "¬Big(tom) ∨ ¬Red(tom)",
         "Tom is neither big nor red. Tom is a cat.", "Tom is neither big nor red.", 0),
    ],
)  # fmt: skip
def test_what_a_formula_may_leave_out(premises: str, goal: str, context: str, question: str, expected: int) -> None:
    found = outcome(premises, goal, context=context, question=question)
    assert (found == "passed") == bool(expected)


GREEKS = "All humans are mortal.\nAll Greeks are humans.\nTom is a man."
HUMANS = "∀x (Human(x) → Mortal(x))\n∀x (Greek(x) → Human(x))"


@pytest.mark.parametrize(
    ("premises", "expected"),
    [
        (f"{HUMANS}\nMan(tom)", "passed"),
        (HUMANS, "failed"),  # a sentence is left out
        (f"{HUMANS}\nMan(tom)\nManTom(tom)", "failed"),
        (f"{HUMANS}\nMan(tom)".replace("Greek(x)", "Greeks(x)").replace("∀x (Human(x) →", "∀x (Humans(x) →"), "failed"),
    ],
)
def test_unknown_needs_the_whole_text(premises: str, expected: str) -> None:
    question = "Some Greeks are mortal."
    goal = "∃x (Greek(x) ∧ Mortal(x))"
    assert outcome(premises, goal, context=GREEKS, question=question, answer="unknown") == expected


def test_unknown_does_not_rest_on_what_all_is_about() -> None:
    context = "If an animal barks, then it runs.\nIf an animal runs, then it is fit.\nRex barks."
    premises = "∀x (Animal(x) ∧ Barks(x) → Runs(x))\n∀x (Animal(x) ∧ Runs(x) → Fit(x))\nBarks(rex)"
    assert outcome(premises, "Fit(rex)", context=context, question="Rex is fit.", answer="unknown") == "failed"


def test_exclusive_alternatives_of_bound_variables_are_read() -> None:
    premises = "∀x ((Big(x) ∧ ¬Red(x)) ∨ (¬Big(x) ∧ Red(x)))\nBig(tom)"
    context = "Everything is either big or red. Tom is big."
    assert outcome(premises, "¬¬Big(tom)", context=context, question="Tom is big.") == "passed"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("TakeCourse", "Tom took the courses.", True),
        ("ComputerScienceDept", "Tom is from the computer science department.", True),
        ("FromCS", "Tom is from computer science.", True),
        ("diamondMine", "Diamond Mine includes Ivy.", True),
        ("rudaslaska", "Tom is from Ruda Śląska.", True),
        ("WillWin", "Tom can win.", False),
        ("wumpus", "Tom is a yumpus.", False),
        ("Cat", "Tom has a carpet.", False),
    ],
)
def test_names_are_found_in_sentences(name: str, text: str, expected: bool) -> None:
    read = sentence(text)
    assert (places(name, read, frozenset(read.stems)) is not None) == expected


def test_a_name_of_the_text_stands_for_no_other() -> None:
    read = sentence("Tom is a footballer.")
    assert places("Football", read, frozenset(read.stems)) is not None
    assert places("Football", read, frozenset(read.stems) | {"football"}) is None


def test_forms_of_a_word_have_one_stem() -> None:
    for forms in (
        "play plays played playing",
        "go goes went gone",
        "run running ran",
        "take took taken",
        "city cities",
    ):
        assert len(set(map(stem, forms.split()))) == 1, forms
    assert stem("Brazillian") == stem("Brazilian")


FIRST = pytest.mark.parametrize("num", [12, pytest.param(1_000, marks=pytest.mark.slow)])
"""The quick run tries the first annotations, the slow one all."""


def annotated(shared: Path, num: int) -> Iterator[dict[str, Any]]:
    """Yield the certified ones of FOLIO's first annotations, as judged attempts."""
    for problem in islice(load_folio(shared / "data" / "folio_validation_partA.jsonl"), num):
        premises, goal = problem.meta["premises_fol"], problem.meta["conclusion_fol"]
        text = "\n".join(["Premises:", *premises, "Conclusion:", goal])
        shown = replace(problem, meta={}, answer=None).record()
        made = {"id": problem.id, "problem": shown, "format": "fol", "completion": text}
        judgement = judge_on_trust(made)
        if judgement["verdict"] == "certified":
            yield {**made, "judgement": judgement}


def is_taken(judgement: dict[str, Any]) -> str | None:
    """Return the answer of an attempt that is certified and aligned."""
    aligned = judgement["verdict"] == "certified" and judgement["certificate"]["formalisation"] == "aligned"
    return judgement["answer"] if aligned else None


@FIRST
def test_attacks_on_folios_annotations_are_not_aligned(shared: Path, num: int) -> None:
    """A changed goal is never taken, and a changed premise changes no answer: at most 1 in 100."""
    tried: list[str] = []
    taken: list[str] = []
    for made in annotated(shared, num):
        honest, answer = find_format(made["format"]).theory(read_attempt(made)), is_taken(made["judgement"])
        if honest is None or answer is None:
            continue
        for attack in attacks(honest, 1, seed=7):
            tried.append(attack.kind)
            found = is_taken(judge_on_trust({**made, "completion": attack.text()}))
            wrong = says_otherwise(attack, honest) if attack.changes_goal else found != answer
            taken += [f"{made['id']} {attack.kind}: {attack.text()}"] if found is not None and wrong else []
    assert len(tried) > (200 if num > 100 else 50)
    assert len(taken) <= len(tried) / 100, "\n\n".join(taken)


@FIRST
def test_a_program_of_another_problem_is_not_aligned(shared: Path, num: int) -> None:
    problems = list(load_folio(shared / "data" / "folio_validation_partA.jsonl"))
    tried = taken = 0
    for at, made in enumerate(annotated(shared, num)):
        attempt = read_attempt(made)
        for problem in problems[at % 4 :: 4]:
            if (problem.context, problem.question) != (attempt.problem.context, attempt.problem.question):
                tried += 1
                taken += is_aligned(
                    find_format(attempt.format),
                    replace(attempt, problem=replace(problem, meta={})),
                    made["judgement"]["answer"],
                )
    assert tried > 100
    assert taken == 0


def test_attacks_on_proofwriter_are_not_aligned() -> None:
    taken = tried = 0
    for problem in proofwriter.generate(proofwriter.ProofWriter(), 12, seed=5):
        assert problem.formal is not None
        axioms = [f"[[axiom:{axiom}]]" for axiom in problem.formal.axioms]
        goal = problem.formal.goal
        honest = find_format("guided").theory(Attempt("a", problem, "guided", f"{' '.join(axioms)} [[goal:{goal}]]"))
        assert honest is not None
        asked = Attempt("a", replace(problem, formal=None), "fol", "")
        text = "\n".join(["Premises:", *map(canonical, honest.premises), "Conclusion:", canonical(honest.goal)])
        assert is_aligned(find_format("fol"), replace(asked, completion=text), "true"), problem
        for attack in attacks(honest, 1, seed=3):
            if attack.changes_goal:
                tried += 1
                taken += is_aligned(find_format("fol"), replace(asked, completion=attack.text()), "true")
    assert tried > 25
    assert taken == 0, (taken, tried)


def test_no_word_of_a_lexicon_is_lost() -> None:
    text = (Path(__file__).parents[1] / "critics" / "text" / "faithfulness" / "verbs.txt").read_text(encoding="utf-8")
    assert all(re.fullmatch(r"[a-z]+ [a-z]+", line) for line in text.splitlines())
    assert stem("written") == stem("write")
