"""The critic of `csp` attempts: honest programs, wrong translations that run, cheats, and tampered certificates."""

import gzip
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critics.formats.csp.language import read_csp
from critics.judge import judge, judge_record
from critics.logic.programs.ordering_text import At, Claim, read_ordering
from critics.logic.programs.sections import Repairs
from critics.problem import Attempt, Problem, read_problem
from critics.recheck.rejudging import recheck
from critics.replay.certificate import digest
from critics.replay.finite.search import solutions
from critics.replay.finite.terms import core_record
from critics.verdict import Certified, Verdict, verdict_record
from critics.workers.own_time import own_time

CONTEXT = (
    "The following paragraphs.\n\nOn a shelf, there are three books: a red book, a blue book, and a green book. "
    "The red book is to the left of the blue book. The green book is the rightmost."
)
OPTIONS = (
    "A) The red book is the leftmost.",
    "B) The blue book is the leftmost.",
    "C) The green book is the leftmost.",
)
BOOKS = Problem("p", "logicaldeduction", CONTEXT, "Which of the following is true?", OPTIONS, "A")
PROSE = Problem("p", "mine", "Prose.", "Which is true?", OPTIONS, "A")
PROGRAM = """Domain:
1: leftmost
3: rightmost
Variables:
red_book [IN] [1, 2, 3]
blue_book [IN] [1, 2, 3]
green_book [IN] [1, 2, 3]
Constraints:
red_book < blue_book ::: The red book is to the left of the blue book.
green_book == 3
AllDifferentConstraint([red_book, blue_book, green_book])
Query:
A) red_book == 1 ::: The red book is the leftmost.
B) blue_book == 1
C) green_book == 1
"""


def judged(program: str, problem: Problem = BOOKS) -> Verdict:
    return judge(problem, Attempt("a", problem, "csp", program))


def reason_of(verdict: Verdict) -> str:
    return "proved" if isinstance(verdict, Certified) else verdict.reason


def replaced(old: str, new: str) -> str:
    assert old in PROGRAM
    return PROGRAM.replace(old, new)


@pytest.mark.parametrize(("problem", "formalisation"), [(BOOKS, "checked"), (PROSE, "trusted")])
def test_an_honest_program_is_certified_and_rechecks(problem: Problem, formalisation: str) -> None:
    record = {"id": "a", "problem": problem.record(), "format": "csp", "completion": PROGRAM}
    verdict = judge_record(record)
    assert verdict["verdict"] == "certified"
    assert (verdict["certificate"]["formalisation"], verdict["certificate"]["repairs"]) == (formalisation, [])
    assert recheck([{**record, "judgement": verdict}])["rejected"] == []


SPELLINGS = {
    "infix Or": (replaced("green_book == 3", "green_book == 3 or green_book == 3"), "infix_or"),
    "one sign for equal": (replaced("green_book == 3", "green_book = 3"), "comparison_sign"),
    "words for values": (PROGRAM.replace("[1, 2, 3]", "[leftmost, 2, rightmost]"), "value_by_word"),
    "all variables": (
        replaced("AllDifferentConstraint([red_book, blue_book, green_book])", "AllDifferentConstraint()"),
        "all_variables_meant",
    ),
    "counted from the right": (
        PROGRAM.replace("<", ">")
        .replace("== 3", "== 0")
        .replace("== 1", "== 3")
        .replace("== 0", "== 1")
        .replace("3: r", "0: l")
        .replace("1: l", "3: l")
        .replace("0: l", "1: r"),
        None,
    ),
    "no letters": (PROGRAM.replace("A) ", "").replace("B) ", "").replace("C) ", ""), "options_by_position"),
    "letters in disorder": (PROGRAM.rpartition("B)")[0] + "C) green_book == 1\nB) blue_book == 1\n", None),
    "shorter names": (PROGRAM.replace("_book", ""), None),
    "a name put right": (PROGRAM.replace("green_book", "verdant_volume"), None),
}


@pytest.mark.parametrize(("program", "repair"), SPELLINGS.values(), ids=SPELLINGS.keys())
def test_what_models_write_is_read_and_every_repair_is_recorded(program: str, repair: str | None) -> None:
    verdict = judged(program)
    assert isinstance(verdict, Certified), verdict
    assert repair is None or repair in verdict.certificate.repairs


CHEATS = {
    "the answer as a constraint": (
        replaced("green_book == 3", "green_book == 3\nred_book == 1"),
        "axiom_not_in_context",
    ),
    "a number that is called otherwise": (PROGRAM.replace("1: leftmost", "1: newest"), "domain_mismatch"),
    "numbers of the other end": (
        PROGRAM.replace("1: l", "0: l").replace("3: r", "1: r").replace("0: l", "3: l"),
        "domain_mismatch",
    ),
    "more than a sentence says": (
        replaced("red_book < blue_book", "red_book == blue_book - 1"),
        "axiom_not_in_context",
    ),
    "another puzzle with that answer": (replaced("green_book == 3", "red_book == 1"), "constraint_mismatch"),
    "an option turned round": (replaced("B) blue_book == 1", "B) blue_book == 3"), "goal_mismatch"),
    "a smaller domain": (replaced("green_book [IN] [1, 2, 3]", "green_book [IN] [3]"), "domain_mismatch"),
    "other objects": (PROGRAM.replace("green_book", "cat").replace("blue_book", "dog"), "names_not_in_context"),
    "a contradiction": (
        replaced("green_book == 3", "green_book == 3\nred_book > blue_book"),
        "inconsistent_constraints",
    ),
    "no constraints": (
        PROGRAM.replace(PROGRAM.partition("Constraints:\n")[2].partition("Query")[0], ""),
        "no_constraints",
    ),
    "nothing follows": (replaced("green_book == 3\n", ""), "no_option_holds"),
    "two options hold": (replaced("C) green_book == 1", "C) green_book == 3"), "several_options_hold"),
    "a tautology": (replaced("A) red_book == 1", "A) red_book == red_book"), "goal_mismatch"),
    "an option less": (replaced("C) green_book == 1\n", ""), "option_count"),
    "a letter twice": (replaced("C) green", "B) green"), "labels"),
    "Python": (replaced("green_book == 3", "__import__('os').system('true')"), "syntax"),
    "a call": (replaced("green_book == 3", "exit()"), "undeclared_function"),
    "a variable from nowhere": (replaced("green_book == 3", "white_book == 3"), "undeclared_name"),
    "a variable twice": (replaced("green_book [IN]", "red_book [IN]"), "redeclaration"),
    "no values": (replaced("green_book [IN] [1, 2, 3]", "green_book [IN] []"), "sort"),
    "division by nothing": (replaced("green_book == 3", "green_book / 0 == 3"), "undefined"),
    "a number for a truth value": (replaced("green_book == 3", "green_book + 3"), "type"),
    "nothing": ("", "variables"),
}


@pytest.mark.parametrize(("program", "reason"), CHEATS.values(), ids=CHEATS.keys())
def test_cheats_are_refused_by_name(program: str, reason: str) -> None:
    assert reason_of(judged(program)) == reason


def test_without_a_text_that_can_be_read_an_option_must_still_say_something() -> None:
    weak = replaced("A) red_book == 1", "A) red_book == red_book").replace("green_book == 3\n", "")
    assert reason_of(judged(weak, PROSE)) == "trivial_option"
    assert reason_of(judged(replaced("C) green_book", "C) blue_book"), PROSE)) == "repeated_option"


def test_the_answer_is_what_executing_yields() -> None:
    wrong = Problem("p", "logicaldeduction", CONTEXT, "Which is true?", OPTIONS, "B")
    assert (reason_of(judged(PROGRAM, wrong)), judged(PROGRAM, wrong).answer) == ("wrong_answer", "A")
    assert judged(replaced("C) green_book == 1", "C) green_book == 3")).answer is None


def test_budgets_hold() -> None:
    names = [f"v{i}" for i in range(12)]
    variables = "".join(f"{name} [IN] {list(range(12))}\n" for name in names)
    program = (
        f"Variables:\n{variables}Constraints:\n{' + '.join(names)} == 131\nQuery:\nA) v0 == 1\nB) v0 == 2\nC) v0 == 3"
    )
    started = own_time()
    assert reason_of(judged(program, PROSE)) == "too_large"
    assert own_time() - started < 5


def tampered(path: str, value: Any) -> list[str]:
    certificate = json.loads(json.dumps(judged(PROGRAM).certificate.record()))  # type: ignore[union-attr]
    *folders, last = path.split("/")
    place = certificate
    for folder in folders:
        place = place[int(folder) if folder.isdigit() else folder]
    place[int(last) if last.isdigit() else last] = value
    certificate["digest"] = digest(certificate)
    record = {"id": "a", "verdict": "certified", "answer": certificate["claim"], "certificate": certificate}
    return [rejected["reason"] for rejected in recheck([record])["rejected"]]


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("claim", "B", "claim"),
        ("evidence/constraints/red_book/0/0", 2, "not_a_model"),
        ("evidence/constraints/red_book/0/0", 9, "not_a_model"),
        ("evidence/constraints/red_book/0/0", True, "ill_formed"),
        ("evidence/options/1/0", None, "claim"),
        ("evidence/options/1/0/red_book/0/0", 2, "not_a_model"),
        ("evidence/program", PROGRAM.replace("green_book == 3\n", ""), "text_says_otherwise"),
        ("problem/context", CONTEXT.replace("left", "right"), "text_says_otherwise"),
        ("problem/context", "Prose.", "reference_is_not_the_text"),
        ("formalisation", "trusted", "ill_formed"),
        ("repairs", ["infix_or"], "repairs"),
        ("problem/answer", "B", "wrong_answer"),
    ],
)
def test_a_certificate_that_was_tampered_with_is_rejected(path: str, value: Any, reason: str) -> None:
    assert tampered(path, value) in ([reason], ["judged_otherwise"])


def certified(program: str) -> dict[str, Any]:
    verdict = judged(program, PROSE)
    assert isinstance(verdict, Certified), verdict
    return verdict.certificate.record()


def rechecked(certificate: dict[str, Any]) -> dict[str, Any]:
    return recheck([{"id": "a", "verdict": "certified", "answer": "A", "certificate": certificate}])


INCREASING = (
    "Variables:\n"
    + "".join(f"book{i} [IN] {list(range(8))}\n" for i in range(8))
    + "Constraints:\n"
    + "".join(f"book{i} < book{i + 1}\n" for i in range(7))
    + "Query:\nA) book0 == 0\nB) book1 == 0\nC) book2 == 1\n"
)


@pytest.mark.parametrize(
    ("program", "forged"),
    [
        (
            replaced("green_book == 3\n", "").replace("A) red_book == 1", "A) red_book < 3"),
            ("A) red_book < 3", "A) red_book < 2"),
        ),
        (INCREASING, ("A) book0 == 0", "A) book0 == 1")),
    ],
    ids=["of few assignments", "of many"],
)
def test_a_forged_entailment_is_found_by_trying_everything(program: str, forged: tuple[str, str]) -> None:
    certificate = certified(program)
    counts = rechecked(certificate)
    assert (counts["accepted"], counts["second_opinion"]) == (1, 0)
    certificate["evidence"] = {**certificate["evidence"], "program": program.replace(*forged)}
    certificate["digest"] = digest(certificate)
    assert [r["reason"] for r in rechecked(certificate)["rejected"]] == ["judged_otherwise"]
    read = read_csp(program.replace(*forged), Repairs())
    core = core_record(read.declared.functions, read.constraints, [option.record() for option in read.options])
    certificate["evidence"] = {**certificate["evidence"], "core": core}
    certificate["digest"] = digest(certificate)
    assert [r["reason"] for r in rechecked(certificate)["rejected"]] == ["has_a_model"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"),
            st.sampled_from(["<", ">", "!=", "=="]),
            st.sampled_from(["a", "b", "c", "d", "2", "3 - 1", "a + 1"]),
        ),
        max_size=4,
    )
)
def test_the_search_finds_what_trying_everything_finds(parts: list[tuple[str, str, str]]) -> None:
    variables = "".join(f"{name} [IN] [1, 2, 3, 4]\n" for name in "abcd")
    constraints = "".join(f"{left} {sign} {right}\n" for left, sign, right in parts)
    text = f"Variables:\n{variables}Constraints:\n{constraints}AllDifferentConstraint()\nQuery:\nA) a == 1\n"
    program = read_csp(text, Repairs())
    found = {tuple(s.values()) for s in solutions(program.declared.functions, program.constraints)}
    python = [f"{left} {sign} {right}" for left, sign, right in parts]
    tried = {p for p in permutations(range(1, 5)) if all(eval(e, dict(zip("abcd", p, strict=True))) for e in python)}
    assert found == tried


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="red_book <>=!+-[IN]123,():\nAB)Query", max_size=120))
def test_no_text_makes_the_critic_fail(text: str) -> None:
    for program in (text, replaced("green_book == 3", text), PROGRAM + text):
        assert verdict_record("a", judged(program))["verdict"] != "error"


def meets(claim: Claim, order: dict[str, int]) -> bool:
    if isinstance(claim, At):
        return order[claim.one] == claim.position
    return order[claim.one] < order[claim.other]


def test_the_texts_of_logical_deduction_are_read_and_lead_to_the_labels(shared: Path) -> None:
    with gzip.open(shared / "data" / "logicaldeduction_partA.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines][::6]
    assert len(records) > 140
    for record in records:
        problem = read_problem(record)
        text = read_ordering(problem.context, problem.options or ())
        assert text is not None, record["id"]
        orders = [dict(zip(text.objects, p, strict=True)) for p in permutations(range(len(text.objects)))]
        left = [order for order in orders if all(meets(claim, order) for claim in text.statements)]
        holding = [i for i, option in enumerate(text.options) if left and all(meets(option, order) for order in left)]
        assert ["ABCDEFG"[i] for i in holding] == [problem.answer], record["id"]
