"""Cheats that a policy trained against the clingo critic could learn, and honest attempts that look like them."""

import copy
import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from critics.formats.asp.critic import feedback_of
from critics.judge import JudgePool, judge, judge_record
from critics.problem import Attempt, Problem
from critics.recheck.rejudging import recheck
from critics.replay.answer_sets.checker import check_answer_sets
from critics.replay.answer_sets.stable_models import SearchWork
from critics.replay.certificate import Rejected, digest
from critics.verdict import Certified, Verdict, verdict_record

PROGRAM = """% R1: Dogs that swim are wet.
wet(X) :- dog(X), swims(X).
% R2: Rex is a dog.
dog(rex).
% R3: Rex swims.
swims(rex).
"""
POSITIVE = {
    "facts": ["dog(d1).", "swims(d1)."],
    "infer-All": ["wet(d1)"],
    "rules": ["R1"],
    "why": "a swimming dog must come out wet",
}
NEGATIVE = {
    "facts": ["dog(d2)."],
    "do-not-infer": ["wet(d2)"],
    "rules": ["R1"],
    "why": "a dog that is not known to swim must not be",
}
CONTEXT = "Dogs that swim are wet.\nRex is a dog.\nRex swims."
QUESTION = "Is Rex wet?"


def attempt(
    program: str = PROGRAM,
    tests: list[dict[str, Any]] | None = None,
    query: list[str] | None = None,
    *,
    premises: int | None = 3,
    answer: str | None = "true",
    context: str = CONTEXT,
    options: tuple[str, ...] | None = None,
) -> Attempt:
    asked = Problem("p", "mine", context, QUESTION, options, answer, meta={"num_premises": premises})
    tests = [POSITIVE, NEGATIVE] if tests is None else tests
    completion = {"Model": program, "Tests": tests, "Query": ["ATOM(wet(rex))"] if query is None else query}
    return Attempt("a", asked, "asp", json.dumps(completion))


def judged(made: Attempt) -> Verdict:
    return judge(made.problem, made)


def reason(made: Attempt) -> str:
    record = verdict_record("a", judged(made))
    return f"{record['verdict']} {record['reason']}"


def cases(shared: Path) -> list[dict[str, Any]]:
    lines = (shared / "adversarial" / "cases.jsonl").read_text(encoding="utf-8").split("\n")
    found = [case for case in map(json.loads, filter(None, lines)) if case["kind"] == "asp"]
    assert len(found) > 50
    return found


@pytest.mark.parametrize("context", ["", "(see the program)", CONTEXT + " Nobody dusts. Amy and Bob are customers."])
@pytest.mark.parametrize("options", [None, ("True", "False", "Uncertain")])
def test_every_recorded_cheat_is_refused_and_every_honest_attempt_certified(
    shared: Path, context: str, options: tuple[str, ...] | None
) -> None:
    wrong = []
    for case in cases(shared):
        given = case["input"]
        truth = {"True": "true", "False": "false", "Uncertain": "unknown"}[given["label"]]
        answer = truth if options is None else "ABC"[options.index(given["label"])]
        made = attempt(
            given["program"],
            given["tests"],
            given["query"],
            premises=given["premises"],
            answer=answer,
            context=context,
            options=options,
        )
        verdict = judged(made)
        if isinstance(verdict, Certified) != (case["verdict"] == "accept"):
            wrong.append((case["id"], verdict_record("a", verdict)))
    assert not wrong


FACT_TEST = {"facts": [], "infer-All": ["wet(rex)"], "rules": ["R1"]}
CHEATS: dict[str, tuple[Attempt, str]] = {
    "the goal as one more fact under a premise": (attempt(PROGRAM + "wet(rex)."), "vacuous goal_is_fact"),
    "the goal under a number of its own": (attempt(PROGRAM + "% R4: Rex is wet.\nwet(rex)."), "vacuous goal_is_fact"),
    "the goal under a comment without a number": (attempt(PROGRAM + "% Rex\nwet(rex)."), "vacuous goal_is_fact"),
    "the goal for a premise, the number of premises unknown": (
        attempt(PROGRAM.replace("swims(rex)", "wet(rex)"), premises=None),
        "vacuous goal_is_fact",
    ),
    "a general bridge that no comment covers": (
        attempt(PROGRAM + "wet(X) :- dog(X), dog(rex)."),
        "unproved test_failed",
    ),
    "a bridge for one individual": (attempt(PROGRAM + "% so\nwet(rex) :- swims(rex)."), "vacuous goal_is_fact"),
    "choose the goal, forbid its absence": (
        attempt(PROGRAM.replace("wet(X) :-", "wetter(X) :-") + "{wet(rex)}. :- not wet(rex)."),
        "unproved test_failed",
    ),
    "demand the goal under a premise": (
        attempt(PROGRAM.replace("swims(rex).", "{wet(rex)}.\n:- not wet(rex).")),
        "vacuous goal_is_fact",
    ),
    "what is not known is false": (
        attempt(
            PROGRAM.replace("swims(rex).", "-wet(X) :- dog(X), not wet(X)."),
            [POSITIVE, {**NEGATIVE, "rules": ["R3"], "infer-All": ["-wet(d2)"]}],
            answer="false",
        ),
        "vacuous goal_is_fact",
    ),
    "default over what only itself derives": (
        attempt(
            PROGRAM.replace("swims(X).", "not dry(X).").replace("swims(rex).", "dry(X) :- dry(X), dog(X)."),
            [{**POSITIVE, "facts": ["dog(d1)."]}, {**NEGATIVE, "facts": ["dog(d2).", "dry(d2)."]}],
        ),
        "unproved coverage",
    ),
    "a premise that says nothing": (
        attempt(PROGRAM.replace("swims(rex).", "swims(X) :- swims(X).").replace(", swims(X)", ""), [POSITIVE]),
        "unproved coverage",
    ),
    "one rule under two numbers": (
        attempt(PROGRAM.replace("swims(rex).", "wet(Y) :- swims(Y), dog(Y)."), answer="unknown"),
        "unproved coverage",
    ),
    "a test about a constant that the program treats on its own": (
        attempt(
            PROGRAM + "% R4\nwet(d1) :- dog(d1).", [{**POSITIVE, "facts": ["dog(d1)."], "rules": ["R4"]}, NEGATIVE]
        ),
        "vacuous test_constant_in_program",
    ),
    "a question about someone else": (
        attempt(query=["ATOM(wet(rx))"], answer="unknown"),
        "vacuous undefined_query_const",
    ),
    "a question about another arity": (
        attempt(query=["ATOM(wet(rex,rex))"], answer="unknown"),
        "vacuous undefined_query_pred",
    ),
    "duplicates padded with facts about nothing": (
        attempt(
            tests=[POSITIVE, {"facts": ["odd(e).", "dog(e).", "swims(e)."], "infer-All": ["wet(e)"], "rules": ["R1"]}]
        ),
        "vacuous duplicate_tests",
    ),
    "one explanation with another number in it": (
        attempt(tests=[{**POSITIVE, "why": "case 1"}, {**NEGATIVE, "why": "Case  2!"}]),
        "vacuous duplicate_rationale",
    ),
    "a tautology": (attempt(query=["ATOM(wet(rex))", "NOT(1)", "OR(1,2)"]), "malformed trivial_query"),
    "all that is so is so": (
        attempt(query=["ATOM(wet(X))", "ATOM(wet(X))", "ALL(1,2)"]),
        "malformed trivial_query",
    ),
    "an implication from what is denied": (
        attempt(
            PROGRAM + "% R4: No dog flies.\n-flies(X) :- dog(X).",
            query=["ATOM(flies(rex))", "ATOM(wet(rex))", "IF-THEN(1,2)"],
            answer="unknown",
            premises=4,
        ),
        "vacuous vacuous_if",
    ),
    "all of what cannot be": (
        attempt(
            PROGRAM + "% R4: No dog flies.\n-flies(X) :- dog(X).\n% R5: Only dogs fly.\ndog(X) :- flies(X).",
            query=["ATOM(flies(X))", "ATOM(wet(X))", "ALL(1,2)"],
            answer="unknown",
            premises=5,
        ),
        "vacuous vacuous_all",
    ),
    "two lists of tests": (
        Attempt("a", attempt().problem, "asp", attempt().completion.replace('"Tests": [', '"Tests": [], "Tests": [')),
        "malformed json",
    ),
    "the literal is its own fact": (
        attempt(tests=[{**POSITIVE, "facts": ["dog(d1).", "wet(d1)."]}]),
        "vacuous literal_is_own_fact",
    ),
    "a rule among a test's facts": (
        attempt(tests=[{**POSITIVE, "facts": ["dog(d1).", "wet(X) :- dog(X)."]}]),
        "malformed test_facts",
    ),
    "a choice among a test's facts": (attempt(tests=[{**POSITIVE, "facts": ["{dog(d1)}."]}]), "malformed test_facts"),
    "code behind a bare carriage return": (
        attempt(PROGRAM.replace("Rex swims.\n", "Rex swims.\rwet(rex).\n")),
        "malformed forbidden_token",
    ),
    "an atom that the critic uses": (attempt(PROGRAM + "__t0."), "malformed reserved_name"),
    "a quoted constant with a quote in it": (attempt(PROGRAM + 'p("a\\"b").'), "malformed forbidden_token"),
    "an integer that wraps": (attempt(PROGRAM + "p(99999999999)."), "malformed large_integer"),
    "a tripwire under a premise": (
        attempt(
            PROGRAM.replace("swims(rex).", "swims(rex).\n:- swims, testing."),
            [{"facts": ["testing.", "swims."], "expect-contradiction": True, "rules": ["R3"]}],
        ),
        "vacuous tripwire_rule",
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_new_cheats_are_refused(name: str) -> None:
    made, expected = CHEATS[name]
    assert reason(made) == expected
    untold = attempt().problem
    unlabelled = Problem("p", "mine", made.problem.context, QUESTION, meta=made.problem.meta)
    assert untold.answer is not None
    assert not isinstance(judge(unlabelled, made), Certified)


def test_an_honest_attempt_is_certified_in_every_dress() -> None:
    flat = json.loads(attempt().completion)
    nested = [
        {"Facts": t["facts"], "Test-Condition": {k: v for k, v in t.items() if k not in ("facts", "rules", "why")},
         "Rules being tested": t["rules"], "Explanation for test": t["why"]}
        for t in flat["Tests"]
    ]  # fmt: skip
    for completion in (
        json.dumps(flat),
        json.dumps({**flat, "Model": PROGRAM.splitlines()}),
        json.dumps({**flat, "Tests": nested, "Query": ["1. ATOM(wet(rex))."]}),
        f"```json\n{json.dumps(flat, indent=1)}\n```",
    ):
        made = Attempt("a", attempt().problem, "asp", completion)
        verdict = judged(made)
        assert isinstance(verdict, Certified), verdict
        assert verdict.answer == "true"
        assert feedback_of(completion) is None


def test_an_exception_that_a_premise_states_is_honest() -> None:
    program = "% R1: Birds fly unless they are penguins.\nflies(X) :- bird(X), not penguin(X).\n"
    program += "% R2: Ida is a bird.\nbird(ida)."
    tests = [
        {"facts": ["bird(b)."], "infer-All": ["flies(b)"], "rules": ["R1"]},
        {"facts": ["bird(c).", "penguin(c)."], "do-not-infer": ["flies(c)"], "rules": ["R1"]},
    ]
    for context in ("", "Birds fly unless they are penguins. Ida is a bird."):
        made = attempt(program, tests, ["ATOM(flies(ida))"], premises=2, context=context)
        assert reason(made) == "certified proved"
        assert not isinstance(judged(attempt(program, tests[:1], ["ATOM(flies(ida))"], premises=2)), Certified)
    silent = attempt(program, tests, ["ATOM(flies(ida))"], premises=2, context="Birds fly. Ida is a bird.")
    assert reason(silent) == "vacuous goal_is_fact"


def test_individuals_of_the_problem_may_be_tested() -> None:
    program = "% R1: Some customers go out.\n1 {out(X) : customer(X)}.\n% R2\ncustomer(amy).\n% R3\ncustomer(bob)."
    tests = [{"facts": [], "infer-Any": ["out(amy)", "out(bob)"], "rules": ["R1"]}]
    for context in ("", "Some customers go out. Amy and Bob are customers."):
        made = attempt(program, tests, ["ATOM(out(amy))"], context=context, answer="unknown")
        assert reason(made) == "certified proved"
    other = attempt(program, tests, ["ATOM(out(amy))"], context="Some customers go out. Amy is one.", answer="unknown")
    assert reason(other) == "vacuous test_constant_in_program"


def test_answers_come_in_the_terms_of_the_options() -> None:
    options = ("False", "Uncertain", "True")
    verdict = judged(attempt(options=options, answer="C"))
    assert isinstance(verdict, Certified)
    assert verdict.answer == "C"
    assert reason(attempt(options=options, answer="A")) == "refuted wrong_answer"
    assert reason(attempt(options=("Yes", "True"), answer=None)) == "unproved no_such_option"
    assert isinstance(judged(attempt(answer=None)), Certified)


def test_an_answer_is_given_whatever_the_verdict() -> None:
    failing = attempt(tests=[{**NEGATIVE, "facts": ["dog(d2).", "swims(d2)."]}])
    verdict = judged(failing)
    assert verdict_record("a", verdict)["answer"] == "true"
    assert reason(failing) == "unproved test_failed"
    assert reason(attempt(answer="false")) == "refuted wrong_answer"
    assert reason(attempt(query=[])) == "unproved no_query"


def test_a_completion_that_is_anything_gets_a_verdict() -> None:
    completions = ["", "{}", "[]", "null", '"Model"', '{"Model": 3}', '{"Model": []}', "{" * 100_000, "\ud800"]
    completions += ['{"Model": "a.", "Tests": {}}', '{"Model": "a.", "Tests": [3]}', '{"Model": "a.", "Query": [1]}']
    completions += [
        '{"Model": "% \\ud800\\na."}',
        '{"Model": "a.", "Extra": 1}',
        '{"Model": "a", "Query": ["ATOM(a)"]}',
    ]
    for completion in completions:
        made = Attempt("a", attempt().problem, "asp", completion)
        record = verdict_record("a", judged(made))
        assert record["verdict"] in ("malformed", "vacuous"), (completion[:40], record)
        record["feedback"].encode()


def test_the_same_reply_gets_the_same_certificate() -> None:
    first, second = judged(attempt()), judged(attempt())
    assert isinstance(first, Certified)
    assert first == second


def mutants(value: Any) -> list[Any]:
    """Return values near this one: another number, a shorter or longer list, another text, something missing."""
    match value:
        case bool() | None:
            return [not value, [0]]
        case int():
            return [value + 1, -1, True]
        case str():
            return [value + "x", "", "unknown" if value != "unknown" else "true"]
        case list():
            inner = [[*value[:i], new, *value[i + 1 :]] for i, item in enumerate(value) for new in mutants(item)]
            return [*inner, *(value[:i] + value[i + 1 :] for i in range(len(value))), [*value, *value[:1]], None]
        case dict():
            changed = [{**value, key: new} for key, item in value.items() for new in mutants(item)]
            return [*changed, *({k: v for k, v in value.items() if k != key} for key in value)]
        case _:
            raise TypeError(value)


CONTRADICTION = {
    "facts": ["dog(d3).", "swims(d3).", "dusty(d3)."],
    "expect-contradiction": True,
    "rules": ["R4"],
    "why": "it cannot be dusty as well",
}


@pytest.mark.parametrize("query", ["ATOM(wet(rex))", "ATOM(dusty(rex))", "ATOM(dusty(dog))"])
def test_no_mutant_of_the_evidence_is_accepted(query: str) -> None:
    made = attempt(
        PROGRAM + "% R4: Nothing wet is dusty, not even a dog.\n-dusty(X) :- wet(X).",
        [POSITIVE, NEGATIVE, CONTRADICTION],
        [query],
        premises=4,
        answer=None,
    )
    verdict = judged(made)
    assert isinstance(verdict, Certified), verdict
    good = copy.deepcopy(verdict.certificate.record())
    assert check_answer_sets(good)
    parts = [("evidence", key, value) for key, value in good["evidence"].items() if key != "completion"]
    parts += [("", key, good[key]) for key in ("kind", "claim", "formalisation", "engine", "repairs", "limits")]
    near = [(owner, key, value, new) for owner, key, value in parts for new in mutants(value)]
    changed = [(owner, key, new) for owner, key, value, new in near if json.dumps(new) != json.dumps(value)]
    accepted = []
    for owner, key, new in changed:
        forged = copy.deepcopy(good)
        (forged[owner] if owner else forged)[key] = new
        try:
            forged["digest"] = digest(forged)
            check_answer_sets(forged)
        except (Rejected, TypeError, ValueError):
            continue
        accepted.append((key, new))
    # Nothing depends on the limit that the critic had; fewer premises than there are is for the trace to deny.
    assert {key for key, _ in accepted} == {"limits"}
    assert len(changed) > 60


def test_a_certificate_of_another_program_is_rejected() -> None:
    verdict = judged(attempt())
    assert isinstance(verdict, Certified)
    good = verdict.certificate.record()
    for old, new in (
        ("swims(rex).", "swims(max)."),
        ("wet(X) :- dog(X), swims(X).", "wet(X) :- dog(X)."),
        ("wet(X) :- dog(X), swims(X).", "wet(X) :- swims(X), dog(X), not dry(X)."),
        ("ATOM(wet(rex))", "ATOM(-wet(rex))"),
        ("wet(d2)", "wet(d3)"),
        ("swims(d1).", "swims(d2)."),
        ("% R3:", "% R4:"),
        ("dog(rex).", "dog(rex). :- dog(rex)."),
    ):
        forged = copy.deepcopy(good)
        assert old in forged["evidence"]["completion"]
        forged["evidence"]["completion"] = forged["evidence"]["completion"].replace(old, new)
        forged["digest"] = digest(forged)
        with pytest.raises(Rejected):
            check_answer_sets(forged)
    with pytest.raises(Rejected, match="digest"):
        check_answer_sets({**good, "claim": "false"})


def test_recheck_ties_a_certificate_to_its_trace() -> None:
    made = attempt()
    record = {"id": "a", "problem": made.problem.record(), "format": "asp", "completion": made.completion}
    trace = {**record, "judgement": judge_record(record)}
    assert recheck([trace])["accepted"] == recheck([trace])["second_opinion"] == 1
    assert recheck([trace["judgement"]])["accepted"] == 1
    other = json.dumps({**json.loads(made.completion), "Query": ["ATOM(dog(rex))"]})
    for changed in (
        {"completion": other},
        {"completion": None, "messages": [{"role": "assistant", "content": other}]},
        {"problem": {**record["problem"], "meta": {"num_premises": 4}}},
        {"problem": {**record["problem"], "question": "Is Rex dry?"}},
        {"messages": [3], "completion": None},
    ):
        report = recheck([{**trace, **changed}])
        assert report["accepted"] == 0, changed
        assert report["rejected"][0]["reason"] in ("other_attempt", "other_problem", "ill_formed", "judged_otherwise")


def test_a_text_that_the_project_can_read_is_not_contradicted() -> None:
    context = "Every dog is a mammal. Rex is a dog. Mammals are warm."
    program = "% R1: Every dog is a mammal.\nmammal(X) :- dog(X).\n% R2: Rex is a dog.\ndog(rex).\n"
    program += "% R3: Mammals are warm.\n{}warm(X) :- mammal(X).\n"
    tests = [{"facts": ["mammal(m)."], "infer-All": ["{}warm(m)"], "rules": ["R3"]}]
    for sign, expected in (("", "certified proved"), ("-", "unproved text_says_otherwise")):
        problem = Problem("p", "mine", context, "True or false: Rex is warm.", meta={"num_premises": 3})
        shown = json.loads(json.dumps(tests).replace("{}", sign))
        completion = json.dumps({"Model": program.replace("{}", sign), "Tests": shown, "Query": ["ATOM(warm(rex))"]})
        made = Attempt("a", problem, "asp", completion)
        assert reason(made) == expected


def bomb(program: str, **parts: Any) -> dict[str, Any]:
    made = attempt(program, **parts)
    return {"id": "b", "problem": made.problem.record(), "format": "asp", "completion": made.completion}


BOMBS = {
    "counting without end": "p(0). p(X+1) :- p(X).",
    "a range": "p(1..100000000).",
    "doubling terms": "p(s(0),0). p(s((X,X)),N+1) :- p(X,N).",
    "a function without end": "n(z). n(s(X)) :- n(X).",
    "constants to the power of variables": "d(1;2;3). "
    + " ".join(f"d(c{i})." for i in range(20))
    + " p(A,B,C,D,E,F,G) :- d(A),d(B),d(C),d(D),d(E),d(F),d(G).",
    "the same without a pool": " ".join(f"d(c{i})." for i in range(20))
    + " p(A,B,C,D,E,F,G) :- d(A),d(B),d(C),d(D),d(E),d(F),d(G).",
    "a file": '#include "/etc/passwd".',
    "a script": "#script (python)\nimport os\ndef main(c): os._exit(0)\n#end.",
    "minus signs": "p(" + "-" * 15_000 + "1).",
    "brackets": "p(" + "(" * 15_000 + ").",
    "pigeons": " ".join(f"p(a{i})." for i in range(12))
    + " ".join(f"h(b{i})." for i in range(11))
    + " 1 {at(X,Y) : h(Y)} 1 :- p(X). :- at(X,Y), at(Z,Y), X != Z.",
    "many rules": "a. " * 5_000,
    "a long program": "% " + "x" * 100_000,
}


def test_bombs_end_within_the_limit_and_the_pool_still_works() -> None:
    honest = attempt()
    good = {"id": "g", "problem": honest.problem.record(), "format": "asp", "completion": honest.completion}
    here = sorted(Path().iterdir())
    with JudgePool(jobs=1, timeout_s=3) as pool:
        assert next(pool.judge([good]))["verdict"] == "certified"
        num_open = _num_open()
        for name, program in BOMBS.items():
            verdict = next(pool.judge([bomb(program)]))
            assert verdict["verdict"] in ("malformed", "timeout"), (name, verdict)
        assert next(pool.judge([good]))["verdict"] == "certified"
    assert _num_open() <= num_open + 2
    assert sorted(Path().iterdir()) == here


def _num_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_query_of_many_assumptions_ends_within_the_limit() -> None:
    names = [f"a{i}" for i in range(12)]
    program = "% R1\n" + " ".join(f"{{p({n})}}." for n in names)
    blocks = [f"ATOM(p({n}))" for n in names] + [
        f"OR({','.join(map(str, range(1, 13)))})",
        "ATOM(q(z))",
        "IF-THEN(13,14)",
    ]
    start = time.process_time()
    verdict = judged(attempt(program + "\n% R2\nq(X) :- p(X).", query=blocks, premises=2, answer=None))
    assert not isinstance(verdict, Certified)
    assert time.process_time() - start < 10


def test_an_undecided_question_is_a_timeout_and_never_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("critics.formats.asp.control._OPTIONS", ("--warn=none", "--solve-limit=1,1"))
    program = "% R1: one of two\n1 {p(X); q(X)} 1 :- d(X).\n% R2: d\n" + " ".join(f"d(c{i})." for i in range(9))
    pairs = "\n".join(f":- p(c{i}), p(c{j})." for i in range(9) for j in range(i))
    pairs += "\n".join(f":- q(c{i}), q(c{j})." for i in range(9) for j in range(i))
    assert reason(attempt(program + "\n% R3: no two\n" + pairs, query=["ATOM(p(c0))"])) == "timeout solver_limit"


def test_an_unfit_second_opinion_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("critics.replay.answer_sets.checker.SearchWork", partial(SearchWork, 10))
    assert reason(attempt()) == "timeout work_limit"


def test_a_worker_cannot_take_all_memory() -> None:
    code = (
        "import resource, critics.workers.own_time as l; l.confine(); print(resource.getrlimit(resource.RLIMIT_AS)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 2**30 < int(done.stdout) < 2**34
