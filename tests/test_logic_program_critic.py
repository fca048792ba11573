"""The critic of `logic-program` attempts: honest programs, cheats, the shared cases, and certificates tampered with."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critics.judge import judge, judge_record
from critics.logic.programs.options import table_rows
from critics.logic.programs.z3_solver import Z3Solver
from critics.problem import Attempt, Problem
from critics.recheck.rejudging import recheck
from critics.replay.certificate import digest
from critics.replay.finite.grounding import Grounder, Tables, script
from critics.replay.finite.terms import (
    OUTSIDE,
    Application,
    Constant,
    Evaluation,
    Function,
    Operator,
    Quantified,
    Term,
    Variable,
    core_record,
    read_core,
    read_tables,
)
from critics.replay.solvers import Budget, Trust, decide
from critics.verdict import Certified, Verdict, verdict_record
from critics.workers.own_time import own_time

MEALS = """# Declarations
people = EnumSort([vlad, wendy])
meals = EnumSort([breakfast, lunch])
foods = EnumSort([fish, eggs, soup])
eats = Function([people, meals] -> [foods])

# Constraints
ForAll([m:meals], eats(vlad, m) != eats(wendy, m)) ::: never the same
eats(wendy, lunch) == fish ::: fact
eats(vlad, lunch) != eggs ::: fact

# Options
Question ::: What does Vlad eat for lunch?
is_valid(eats(vlad, lunch) == fish) ::: (A)
is_valid(eats(vlad, lunch) == eggs) ::: (B)
is_valid(eats(vlad, lunch) == soup) ::: (C)
"""
OPTIONS = ("A) fish", "B) eggs", "C) soup")


def problem(question: str = "What?", options: Sequence[str] | None = OPTIONS, answer: str | None = "C") -> Problem:
    return Problem("p", "ar-lsat", "Prose.", question, None if options is None else tuple(options), answer)


def judged(program: str, given: Problem | None = None) -> Verdict:
    given = given or problem()
    return judge(given, Attempt("a", given, "logic-program", program))


def reason_of(verdict: Verdict) -> str:
    return "proved" if isinstance(verdict, Certified) else verdict.reason


def replaced(old: str, new: str, program: str = MEALS) -> str:
    assert old in program
    return program.replace(old, new)


def test_an_honest_program_is_certified_on_trust_and_rechecks_with_a_second_solver() -> None:
    record = {"id": "a", "problem": problem().record(), "format": "logic-program", "completion": MEALS}
    verdict = judge_record(record)
    assert verdict["verdict"] == "certified"
    assert (verdict["certificate"]["formalisation"], verdict["certificate"]["repairs"]) == ("trusted", [])
    counts = recheck([{**record, "judgement": verdict}])
    assert (counts["accepted"], counts["second_opinion"], counts["rejected"]) == (1, 1, [])


SAT = MEALS.replace("is_valid", "is_sat")
SPELLINGS = {
    "infix and": (
        replaced("eats(wendy, lunch) == fish", "eats(wendy, lunch) == fish && eats(vlad, lunch) != eggs"),
        "infix_and",
    ),
    "infix And": (
        replaced("eats(wendy, lunch) == fish", "eats(wendy, lunch) == fish And eats(vlad, lunch) != eggs"),
        "infix_and",
    ),
    "an arrow": (
        replaced("eats(vlad, lunch) != eggs", "eats(wendy, lunch) == fish ==> eats(vlad, lunch) != eggs"),
        "infix_implies",
    ),
    "Iff": (
        replaced("eats(vlad, lunch) != eggs", "Iff(eats(wendy, lunch) == fish, eats(vlad, lunch) != eggs)"),
        "helper_iff",
    ),
    "nested lists": (replaced("[m:meals]", "[[m:meals]]"), "nested_quantifier_lists"),
    "a sort for two": (
        replaced(
            "ForAll([m:meals], eats(vlad, m) != eats(wendy, m))",
            "ForAll([m, n:meals], Implies(m == n, eats(vlad, m) != eats(wendy, n)))",
        ),
        "sort_for_several_variables",
    ),
    "a chain": (
        replaced(
            "eats(vlad, lunch) != eggs",
            "0 <= Count([m:meals], eats(vlad, m) == eggs) <= 1 And eats(vlad, lunch) != eggs",
        ),
        "chained_comparison",
    ),
    "AtMost": (replaced("eats(vlad, lunch) != eggs", "AtMost(0, [p:people], eats(p, lunch) == eggs)"), "helper_atmost"),
    "membership": (replaced("eats(vlad, lunch) != eggs", "eats(vlad, lunch) in [fish, soup]"), "membership"),
    "the order of an enum": (replaced("eats(vlad, lunch) != eggs", "eats(vlad, lunch) > eggs"), "order_of_members"),
    "an enum and a number": (
        replaced("eats(vlad, lunch) != eggs", "eats(vlad, lunch) == eats(wendy, lunch) + 2"),
        "arithmetic_of_members",
    ),
    "a bracket too many": (replaced("!= eggs ::: fact", "!= eggs) ::: fact"), "bracket_dropped"),
    "a bracket too few": (replaced("eats(wendy, m)) :::", "eats(wendy, m) :::"), "bracket_closed"),
    "None": (
        replaced("eats(vlad, lunch) != eggs", "eats(vlad, lunch) != None\neats(vlad, lunch) != eggs"),
        "comparison_with_none",
    ),
    "an escape": (MEALS.replace("is_valid", "is\\_valid"), "escaped_underscore"),
    "quotes": (replaced("!= eggs", "!= 'eggs'"), "quoted_name"),
    "another case": (replaced("!= eggs", "!= Eggs"), "name_spelling"),
    "a broken line": (replaced("ForAll([m:meals], ", "ForAll([m:meals],\n"), "lines_joined"),
    "a constraint that is declared": (
        replaced("\n# Constraints\n", "eats(vlad, lunch) != fish\n\n# Constraints\n"),
        "constraint_among_declarations",
    ),
    "a part of a sort": (replaced("eats = ", "liquids = EnumSort([soup])\neats = "), "subset_sort"),
    "two formulas": (
        replaced(
            "is_valid(eats(vlad, lunch) == soup)", "is_valid(eats(vlad, lunch) == soup, eats(wendy, lunch) == fish)"
        ),
        "arguments_conjoined",
    ),
    "a fence": ("```\n" + MEALS + "```", None),
    "labels in disorder": (
        MEALS.rpartition("is_valid")[0].replace(
            "is_valid(eats(vlad, lunch) == fish)",
            "is_valid(eats(vlad, lunch) == soup) ::: (C)\nis_valid(eats(vlad, lunch) == fish)",
        ),
        None,
    ),
}


@pytest.mark.parametrize(("program", "repair"), SPELLINGS.values(), ids=SPELLINGS.keys())
def test_what_models_write_is_read_and_every_repair_is_recorded(program: str, repair: str | None) -> None:
    verdict = judged(program)
    assert isinstance(verdict, Certified), verdict
    assert repair is None or repair in verdict.certificate.repairs


CHEATS = {
    "every option holds": (
        MEALS.replace("is_valid(eats(vlad, lunch) ==", "is_sat(eats(wendy, breakfast) =="),
        "several_options_hold",
    ),
    "a contradiction": (replaced("!= eggs", "== fish"), "inconsistent_constraints"),
    "no option holds": (replaced("!= eggs", "== eats(vlad, lunch)"), "no_option_holds"),
    "a tautology": (
        replaced(
            "is_valid(eats(vlad, lunch) == soup)", "is_valid(Or(eats(vlad, lunch) == soup, eats(vlad, lunch) != soup))"
        ),
        "trivial_option",
    ),
    "wrong options that cannot be": (
        SAT.replace("!= eggs", "!= lunch_")
        .replace("!= lunch_", "!= fish")
        .replace(
            "is_sat(eats(vlad, lunch) == eggs)", "is_sat(And(eats(vlad, lunch) == eggs, eats(vlad, lunch) == fish))"
        ),
        "trivial_option",
    ),
    "a helper negated": (
        replaced("is_valid(eats(vlad, lunch) == soup)", "Not(is_valid(eats(vlad, lunch) == eggs))"),
        "no_helper",
    ),
    "a helper negated by not": (
        replaced("is_valid(eats(vlad, lunch) == soup)", "not is_valid(eats(vlad, lunch) == eggs)"),
        "no_helper",
    ),
    "a helper within": (
        replaced("is_valid(eats(vlad, lunch) == soup)", "is_valid(Not(is_valid(eats(vlad, lunch) == eggs)))"),
        "nested_helper",
    ),
    "no helper": (replaced("is_valid(eats(vlad, lunch) == soup)", "eats(vlad, lunch) == soup"), "no_helper"),
    "two helpers": (
        replaced("is_valid(eats(vlad, lunch) == soup)", "is_sat(eats(vlad, breakfast) == soup)"),
        "mixed_helpers",
    ),
    "an unknown helper": (
        replaced("is_valid(eats(vlad, lunch) == soup)", "is_answer(eats(vlad, lunch) == soup)"),
        "unknown_helper",
    ),
    "an option less": (replaced("is_valid(eats(vlad, lunch) == eggs) ::: (B)\n", ""), "labels"),
    "an option less, unlabelled": (
        replaced("is_valid(eats(vlad, lunch) == eggs) ::: (B)\n", "").replace("::: (A)", "").replace("::: (C)", ""),
        "option_count",
    ),
    "a label twice": (replaced("::: (B)", "::: (C)"), "labels"),
    "another option's formula": (
        MEALS.replace("::: (C)", "::: (X)").replace("::: (A)", "::: (C)").replace("::: (X)", "::: (A)"),
        "wrong_answer",
    ),
    "the right letter on the wrong text": (
        MEALS.replace("== soup", "== fish_")
        .replace("== fish)", "== soup)")
        .replace("fish_", "fish")
        .replace("wendy, lunch) == fish", "wendy, lunch) == soup"),
        "option_mismatch",
    ),
    "Python": (replaced("!= eggs", "!= eggs) or print(1) or (True"), "syntax"),
    "Python behind a dot": (replaced("!= eggs", "!= eggs or os.system(vlad)"), "syntax"),
    "a call": (replaced("eats(vlad, lunch) != eggs", "exit()"), "undeclared_function"),
    "a lambda": (replaced("eats(vlad, lunch) != eggs", "lambda: True"), "syntax"),
    "a semicolon": (replaced("!= eggs", "!= eggs; x"), "syntax"),
    "an operator redefined": (replaced("eats = ", "Not = Function([foods] -> [bool])\neats = "), "redeclaration"),
    "a member named like a helper": (replaced("soup])", "is_sat])"), "redeclaration"),
    "a function twice": (replaced("eats = ", "eats = Function([people] -> [foods])\neats = "), "redeclaration"),
    "a member in two sorts": (replaced("eats = ", "more = EnumSort([soup, salt])\neats = "), "overlapping_sorts"),
    "a variable like a member": (
        replaced(
            "[m:meals], eats(vlad, m) != eats(wendy, m)", "[lunch:meals], eats(vlad, lunch) != eats(wendy, lunch)"
        ),
        "shadow",
    ),
    "a number for a member": (replaced("!= eggs", "!= 1"), "type"),
    "a member of another sort": (replaced("!= eggs", "!= lunch"), "type"),
    "a name from nowhere": (replaced("eats(vlad, lunch) != eggs", "eats(vlad, noon) != eggs"), "undeclared_name"),
    "a variable that nothing binds": (replaced("!= eggs", "!= eggs\neats(vlad, m) != fish"), "free_variable"),
    "all integers": (replaced("eats(vlad, lunch) != eggs", "Exists([n:int], n > 3)"), "unbounded_domain"),
    "nothing": ("", "no_options"),
    "nesting": (replaced("!= eggs", "!= " + "(" * 500 + "eggs" + ")" * 500), "depth"),
    "a long sum": (replaced("eats(vlad, lunch) != eggs", "0 < " + " + ".join(["1"] * 1000)), "depth"),
}


@pytest.mark.parametrize(("program", "reason"), CHEATS.values(), ids=CHEATS.keys())
def test_cheats_are_refused_by_name(program: str, reason: str) -> None:
    assert reason_of(judged(program)) == reason


@pytest.mark.parametrize(
    ("question", "helper", "is_right"),
    [
        ("Which one of the following must be true?", "is_valid", True),
        ("Which one of the following must be true?", "is_sat", False),
        ("Which one of the following could be true?", "is_sat", True),
        ("Which one of the following could be true?", "is_valid", False),
        ("Which one of the following CANNOT be true?", "is_sat", False),
        ("If it rains, which of the following could be true EXCEPT:", "is_sat", False),
        ("Each of the following must be false EXCEPT:", "is_valid", False),
        ("Which one would have the same effect in determining the meals?", "is_valid", False),
        ("What is the maximum number of meals that could be soup?", "is_valid", False),
    ],
)
def test_the_helpers_must_ask_what_the_question_asks(question: str, helper: str, is_right: bool) -> None:
    verdict = judged(MEALS.replace("is_valid", helper), problem(question))
    assert reason_of(verdict) == ("proved" if is_right else "goal_mismatch")


def test_a_question_that_cannot_be_read_is_never_answered() -> None:
    assert reason_of(judged(MEALS, problem("Which of these is the least likely?"))) == "question_not_read"


def test_the_answer_is_what_executing_yields_whatever_the_verdict() -> None:
    assert judged(MEALS, problem(answer="A")).answer == "C"
    assert reason_of(judged(MEALS, problem(answer="A"))) == "wrong_answer"
    assert judged(MEALS.replace("is_valid(eats(vlad, lunch) ==", "is_sat(eats(wendy, breakfast) ==")).answer is None
    assert judged(MEALS, problem(options=None, answer=None)).answer == "C"


def test_an_extreme_is_reached_and_not_passed() -> None:
    program = MEALS.partition("# Options")[0] + "".join(
        f"is_max(Count([p:people, m:meals], eats(p, m) == soup), {n}) ::: ({'ABC'[n - 1]})\n" for n in (1, 2, 3)
    ).join(("# Options\n", ""))
    verdict = judged(program, problem("What is the maximum number of soups?", ("A) 1", "B) 2", "C) 3"), "B"))
    assert isinstance(verdict, Certified)
    assert verdict.answer == "B"


def test_an_accurate_list_covers_everything_and_nothing_else() -> None:
    rows = ("[eats(vlad, lunch) == soup]", "[eats(vlad, lunch) == soup, eats(vlad, lunch) == fish]")
    options = "".join(f"is_accurate_list({row}) ::: ({letter})\n" for row, letter in zip(rows, "AB", strict=True))
    given = problem("Which is a complete and accurate list?", ("A) soup", "B) soup and fish"), "A")
    assert judged(MEALS.partition("# Options")[0] + "# Options\n" + options, given).answer == "A"


def test_sorts_of_digits_are_numbers_within_their_range() -> None:
    program = """# Declarations
days = EnumSort([1, 2, 3])
talks = EnumSort([X, Y, Z])
day = Function([talks] -> [days])
# Constraints
Distinct([t:talks], day(t))
day(X) > day(Y) + 1
# Options
is_valid(day(Z) == 1) ::: (A)
is_valid(day(Z) == 2) ::: (B)
"""
    verdict = judged(program, problem("Which one must be true?", ("A) Z is on 1", "B) Z is on 2"), "B"))
    assert isinstance(verdict, Certified)


BOMBS = {
    "quantifiers": MEALS.replace("vlad, wendy", ", ".join(["vlad", "wendy", *(f"p{i}" for i in range(150))])).replace(
        "ForAll([m:meals], eats(vlad, m) != eats(wendy, m))",
        "ForAll([a:people, b:people, c:people, d:people], "
        "Or(eats(a, lunch) != eats(b, lunch), eats(c, lunch) == eats(d, lunch)))",
    ),
    "products": """# Declarations
x = Function([] -> [int])
y = Function([] -> [int])
z = Function([] -> [int])
# Constraints
x() * x() * x() + y() * y() * y() + z() * z() * z() == 114
# Options
is_sat(x() > 3) ::: (A)
is_sat(x() > 4) ::: (B)
""",
    "pigeons": "# Declarations\np = EnumSort(["
    + ", ".join(f"p{i}" for i in range(14))
    + "])\nh = EnumSort(["
    + ", ".join(f"h{i}" for i in range(13))
    + "])\nhome = Function([p] -> [h])\n# Constraints\nForAll([a:p, b:p], Implies(a != b, home(a) != home(b)))\n"
    + "# Options\nis_sat(home(p0) == h0)\nis_sat(home(p0) == h1)\n",
}


@pytest.mark.parametrize("program", BOMBS.values(), ids=BOMBS.keys())
def test_budgets_hold(program: str) -> None:
    started = own_time()
    verdict = judged(program, problem(options=None, answer=None))
    assert not isinstance(verdict, Certified)
    assert verdict_record("a", verdict)["verdict"] in ("timeout", "vacuous", "unproved")
    assert own_time() - started < 15


def test_the_shared_cases_come_out_as_they_should(shared: Path) -> None:
    lines = (shared / "adversarial" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["kind"] == "logic_program"]
    assert len(cases) >= 11
    for case in cases:
        letters = [f"{chr(ord('A') + i)})" for i in range(case["input"]["n_options"])]
        verdict = judged(case["input"]["program"], problem("q", letters, case["input"]["label"]))
        assert isinstance(verdict, Certified) == (case["verdict"] == "accept"), case["id"]


def tampered(path: str, value: Any) -> list[str]:
    certificate = json.loads(json.dumps(judged(MEALS).certificate.record()))  # type: ignore[union-attr]
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
        ("claim", "A", "claim"),
        ("evidence/constraints", None, "ill_formed"),
        ("evidence/constraints/eats/0/2", 7, "not_a_model"),
        ("evidence/options/2/0", {"eats": []}, "ill_formed"),
        ("evidence/options/0/0", None, "claim"),
        ("evidence/program", MEALS.replace("!= eggs", "== fish"), "other_program"),
        ("evidence/core/constraints/2", ["eq", ["call", "eats", 0, 1], 0], "not_a_model"),
        ("evidence/core/constraints/2", True, "has_a_model"),
        ("evidence/core/options/0/mode", "sat", "not_a_model"),
        ("evidence/core/options/0/formulas", [True], "not_a_model"),
        ("evidence/core/functions/eats/values", [0], "not_a_model"),
        ("problem/question", "Which one of the following could be true?", "goal_mismatch"),
        ("problem/options", ["A) soup", "B) eggs", "C) fish"], "option_mismatch"),
        ("formalisation", "checked", "ill_formed"),
        ("repairs", ["infix_and"], "repairs"),
        ("kind", "program", "unknown_kind"),
    ],
)
def test_a_certificate_that_was_tampered_with_is_rejected(path: str, value: Any, reason: str) -> None:
    assert tampered(path, value) in ([reason], ["judged_otherwise"])


FUNCTIONS = {
    "f": Function(((0, 1, 2),), (0, 1, 2), is_boolean=False),
    "p": Function(((0, 1, 2),), None, is_boolean=True),
}
VALUES = (
    st.integers(0, 2).map(Constant)
    | st.integers(0, 2).map(lambda n: Application("f", (Constant(n),)))
    | st.just(Variable("v"))
)
NUMBERS: st.SearchStrategy[Term] = st.recursive(
    VALUES,
    lambda inner: (
        st.builds(lambda a: Application("f", (a,)), inner)
        | st.builds(lambda a, b: Operator("add", (a, b)), inner, inner)
    ),
    max_leaves=3,
)
ATOMS: st.SearchStrategy[Term] = st.builds(
    lambda o, a, b: Operator(o, (a, b)), st.sampled_from(["eq", "ne", "lt", "ge"]), NUMBERS, NUMBERS
) | st.builds(lambda a: Application("p", (a,)), NUMBERS)
FORMULAS: st.SearchStrategy[Term] = st.recursive(
    ATOMS,
    lambda inner: (
        st.builds(
            lambda o, a, b: Operator(o, (a, b)), st.sampled_from(["and", "or", "implies", "iff", "xor"]), inner, inner
        )
        | st.builds(lambda a: Operator("not", (a,)), inner)
        | st.builds(lambda k, a: Quantified(k, (("v", (0, 1, 2)),), a), st.sampled_from(["forall", "exists"]), inner)
        | st.builds(
            lambda a, n: Operator("ge", (Quantified("count", (("v", (0, 1, 2)),), a), Constant(n))),
            inner,
            st.integers(0, 3),
        )
    ),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(FORMULAS)
def test_the_solvers_and_the_evaluator_agree_on_every_model(body: Term) -> None:
    formula = Quantified("exists", (("v", (0, 1, 2)),), body)
    grounder = Grounder(FUNCTIONS)
    ground = grounder.ground(formula)
    outcome = Z3Solver(grounder.unknowns(), [ground]).check()
    if outcome.values is not None:
        assert evaluated(formula, grounder.model(outcome.values))
    else:
        assert outcome.decided
        for values, truths in product(product(range(3), repeat=4), product((False, True), repeat=3)):
            tables = {
                "f": dict(zip([(0,), (1,), (2,), OUT], values, strict=True)),
                "p": {(i,): t for i, t in enumerate(truths)},
            }
            assert not evaluated(formula, tables)
    assert decide(script(grounder.unknowns(), [ground]), Budget()) == (
        outcome.values is not None,
        Trust.SECONDED,
    )


def evaluated(formula: Term, tables: Tables) -> bool:
    core = read_core(core_record(FUNCTIONS, [formula], []))
    return Evaluation(core.functions, read_tables(table_rows(tables), core.functions)).holds(core.constraints[0])


OUT = OUTSIDE


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="eats(vlad,lunch) ==!<>&|+[]:#\nForAllNotisvd123'\"-", max_size=120))
def test_no_text_makes_the_critic_fail(text: str) -> None:
    for program in (text, replaced("eats(vlad, lunch) != eggs", text), replaced("eats = ", f"{text}\neats = ")):
        assert verdict_record("a", judged(program))["verdict"] != "error"
