"""The sixteen ambiguities of the paper, each as docs/asp-format.md decides it, and what an actor is told."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from critics.formats.asp.critic import feedback_of, judge_asp
from critics.formats.asp.examination import ProgramRun, prepare, run
from critics.formats.asp.hypothesis import QueryValue
from critics.problem import Attempt, Problem
from critics.replay.answer_sets.language import AspError
from critics.replay.answer_sets.reader import read_literal, read_program
from critics.replay.answer_sets.submission import read_test, submission_of

DOCS = Path(__file__).parents[1] / "docs" / "asp-format.md"


def completion(program: str, query: list[str] | None = None, tests: list[dict[str, Any]] | None = None) -> str:
    return json.dumps({"Model": program, "Tests": tests or [], "Query": query or []})


def outcome(program: str, *query: str, tests: list[dict[str, Any]] | None = None) -> ProgramRun:
    return run(prepare(completion(program, list(query), tests)))


def value(program: str, *query: str) -> str:
    finding = outcome(program, *query).finding
    assert isinstance(finding, QueryValue)
    return finding.value


def passes(program: str, **test: Any) -> bool:
    return not outcome(program, tests=[test]).failures


def refusal(text: str) -> str:
    with pytest.raises(AspError) as caught:
        prepare(text)
    return caught.value.reason


def test_01_both_naming_schemes_are_read_alike():
    one = {"facts": ["p."], "infer-True-All": ["a"], "infer-True-Any": ["b"], "infer-False": ["c"], "rules": ["R1"]}
    other = {"Facts": ["p."], "infer-All": ["a"], "infer_any": ["b"], "do not infer": ["c"], "Rules referenced": ["R1"]}
    assert read_test(one, 1) == read_test(other, 1)
    with pytest.raises(AspError, match="twice"):
        read_test({"infer-All": ["a"], "infer-True-All": ["b"]}, 1)


def test_02_infer_any_wants_each_literal_in_some_answer_set():
    assert passes("1 {a; b} 1.", **{"infer-Any": ["a", "b"]})
    assert not passes("1 {a; b} 1.", **{"infer-Any": ["a", "c"]})


def test_03_facts_may_hold_constraints_but_no_rules():
    assert passes("1 {go(X) : c(X)}. c(amy).", facts=[":- go(X), c(X)."], **{"expect-contradiction": True})
    assert refusal(completion("a.", tests=[{"facts": ["b :- a."], "infer-All": ["b"]}])) == "test_facts"


def test_04_every_condition_of_a_test_must_hold():
    both = {"infer-All": ["a"], "do-not-infer": ["b"]}
    assert passes("a.", **both)
    assert not passes("a. b.", **both)
    assert not passes("b :- a. {a}.", **both)


def test_05_no_contradiction_is_expected_of_a_program_that_has_one_already():
    assert outcome("a. -a.", tests=[{"facts": ["b."], "expect-contradiction": True}]) == ProgramRun(False, None, ())


def test_06_negating_a_query_is_a_constraint_and_asserts_nothing():
    fish = "-plant(X) :- fish(X). plant(X) :- tree(X). tree(fir)."
    assert value(fish, "ATOM(-fish(fir))") == "unknown"
    assert value(fish + "-fish(X) :- plant(X).", "ATOM(-fish(fir))") == "true"


def test_07_negation_in_a_query_is_strong():
    assert value("a. {b}.", "ATOM(b)", "NOT(1)") == "unknown"
    assert value("a. -b.", "ATOM(b)", "NOT(1)") == "true"
    assert refusal(completion("a.", ["ATOM(not b)"])) == "query_injection"


def test_08_either_or_is_exactly_one_however_many_there_are():
    blocks = ("ATOM(a)", "ATOM(b)", "ATOM(c)", "EITHER-OR(1,2,3)")
    assert value("a. -b. -c.", *blocks) == "true"
    assert value("a. b. c.", *blocks) == "false"
    assert value("-a. -b. -c.", *blocks) == "false"
    assert value("a. -b.", *blocks) == "unknown"


def test_09_a_variable_is_bound_by_all_or_some_or_refused():
    assert refusal(completion("a(b).", ["ATOM(a(X))"])) == "unsafe_query_var"
    assert refusal(completion("a(b).", ["ATOM(a(X))", "ATOM(c(X))", "AND(1,2)", "NOT(3)"])) == "unsafe_query_var"
    joined = ("ATOM(a(X))", "ATOM(c(X))", "AND(1,2)", "ATOM(d(X))", "ALL(3,4)")
    assert value("d(X) :- a(X), c(X).", *joined) == "true"
    assert value("d(X) :- a(X), e(X).", *joined) == "unknown"


def test_10_all_and_some_bind_every_variable_by_its_name():
    assert value("knows(Y,X) :- knows(X,Y).", "ATOM(knows(X,Y))", "ATOM(knows(Y,X))", "ALL(1,2)") == "true"
    assert value("knows(a,b). knows(b,c).", "ATOM(knows(X,Y))", "ATOM(knows(Y,X))", "SOME(1,2)") == "unknown"
    assert value("in(a,b). big(b).", "ATOM(big(Y))", "ATOM(in(X,Y))", "SOME(1,2)") == "true"
    assert refusal(completion("a(b).", ["ATOM(a(X))", "ATOM(b(Y))", "ALL(1,2)"])) == "unsafe_query_var"
    assert refusal(completion("a(b).", ["ATOM(a(X))", "ATOM(b(X,Y))", "ALL(1,2)"])) == "unsafe_query_var"


def test_11_a_choice_is_no_witness_of_some():
    some = ("ATOM(a(X))", "ATOM(b(X))", "SOME(1,2)")
    assert value("{b(X)} :- a(X). a(c).", *some) == "unknown"
    assert value("1 {b(X) : a(X)}. a(c).", *some) == "true"
    assert value("-b(X) :- a(X). -a(X) :- b(X).", *some) == "false"
    assert value(":- a(X), b(X), X != c.", *some) == "unknown"


def test_12_and_modelled_as_exactly_one_is_found_by_its_test():
    wanted = {"facts": [":- not o1."], "infer-All": ["hires(jack)", "-cleans(jack)"]}
    rest = "1 {o1; o2} 1. -hires(jack) :- o2. -cleans(jack) :- o2."
    assert not passes(rest + "1 {hires(jack); -cleans(jack)} 1 :- o1.", **wanted)
    assert passes(rest + "hires(jack) :- o1. -cleans(jack) :- o1.", **wanted)


def test_13_a_query_about_what_the_program_never_mentions_is_not_certified():
    test = {"facts": ["a(t)."], "infer-All": ["b(t)"], "rules": ["R1"]}
    made = completion("% R1: All a are b.\nb(X) :- a(X).", ["ATOM(absent(c))"], [test])
    problem = Problem("p", "mine", "", "")
    verdict = judge_asp(problem, Attempt("a", problem, "asp", made))
    assert getattr(verdict, "reason", None) == "undefined_query_pred"
    assert verdict.answer == "unknown"


def test_14_json_is_read_strictly():
    assert refusal('{"Model": "a." "Tests": []}') == "json"
    assert refusal('{"Model": "a.", "Tests": [],}') == "json"
    assert submission_of('```json\n{"Model": "a."}\n```').program.text == "a."


@pytest.mark.parametrize(
    "completion",
    [
        'Here is the program.\n\n```json\n{"Model": "a."}\n```\n\nIt says that {a} holds.',
        'Sure! {"Model": "a."} I hope that { a } is what you meant.',
        '<think>First {"Model": "b."}</think>\n{"Model": "a."}',
        '**Answer**\n```\n{\n "Model": "a."\n}\n```',
    ],
)
def test_one_object_within_prose_is_read(completion: str) -> None:
    assert submission_of(completion).program.text == "a."


@pytest.mark.parametrize(
    "completion",
    [
        '{"Model": "a."} or rather {"Model": "b."}',
        '```json\n{"Model": "a."}\n```\nand\n```json\n{"Model": "a."}\n```',
        'Draft: {"Model": "a.", "Model": "b."}',
        '{"Model": "a.\n',
        'Broken: {"Model": "a." "Tests": []} then {"Model": "b."}',
        '<think>{"Model": "a."}',
        "There is no program.",
        "",
    ],
)
def test_two_objects_and_broken_ones_are_refused(completion: str) -> None:
    with pytest.raises(AspError) as caught:
        submission_of(completion)
    assert caught.value.reason == "json"


def test_15_an_inconsistent_program_answers_nothing():
    assert outcome("a. -a.", "ATOM(b)") == ProgramRun(False, None, ())
    assert outcome("a :- not a.", "ATOM(b)").consistent is False


def test_16_nothing_depends_on_how_many_problems_the_paper_had():
    assert "203" in DOCS.read_text(encoding="utf-8")


def test_every_ambiguity_is_decided_in_writing():
    numbers = [int(n) for n in re.findall(r"^(\d+)\. \*\*", DOCS.read_text(encoding="utf-8"), re.MULTILINE)]
    assert numbers == list(range(1, 17))


def test_every_reason_of_the_critic_is_in_the_list():
    critics = Path(__file__).parents[1] / "critics"
    paths = [*critics.glob("formats/asp/*.py"), *critics.glob("replay/answer_sets/*.py")]
    source = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    makers = "(?:AspError|fault|_barred|_barred_test|FailedTest|TimedOut|Unproved)"
    raised = re.findall(makers + r'\((?:\w+, )?"(\w+)"', source)
    written = DOCS.read_text(encoding="utf-8")
    assert len(set(raised)) > 25
    assert not [reason for reason in raised if f"`{reason}`" not in written]


@pytest.mark.parametrize(
    ("program", "reason", "told"),
    [
        ("a :- b\nc.", "syntax", "line 2, column 1: '.' is expected, not 'c'; the line is: c."),
        ("m(X) := e(X).", "syntax", "line 1, column 6"),
        ("p(X) :- not q(X).", "unsafe", "unsafe variable X; no positive condition binds it"),
        ("a.\n  p(Rina).", "unsafe", "line 2, column 3: unsafe variable Rina; a constant starts with a small letter"),
        ("a ∧ b.", "non_ascii", "line 1, column 3"),
        ("café(x).", "non_ascii", "line 1, column 4"),
        ("p(“a”).", "non_ascii", "column 3"),
        ("p('abc').", "forbidden_token", "column 3"),
        ("a' :- b.", "forbidden_token", "column 1"),
        ("&diff{a}<=3.", "forbidden_token", "column 1"),
        ("p(@f()).", "forbidden_token", "column 3"),
        ("p(a;b).", "pool", "column 4"),
        ("p(X-1) :- q(X).", "arithmetic", "column 4"),
        (":~ a. [1]", "directive", "'~' is not allowed"),
        ("a :- 2 {b; c}.", "aggregate", "column 6"),
        (":- a(X) : b(X).", "conditional_literal", "column 9"),
        ("a :- not not b.", "double_negation", "column 10"),
        ("p(_) :- q(_).", "unsafe", "unsafe variable _"),
        ("{p(X) : q(X)}. q(X) :- p(X).", "recursive_choice", "line 1, column 1"),
        ("Wet(rex).", "syntax", "a predicate starts with a small letter"),
        ("p(f(a)).", "nested_term", "column 4"),
        ("a. #const n=1.", "directive", "column 4"),
        ("p(12345678).", "large_integer", "column 3"),
        ("a", "syntax", "'.' is expected"),
    ],
)  # fmt: skip
def test_an_actor_is_told_line_column_and_its_own_line(program: str, reason: str, told: str):
    with pytest.raises(AspError) as caught:
        prepare(completion(program))
    assert caught.value.reason == reason
    assert told in str(caught.value)
    assert feedback_of(completion(program)) == str(caught.value)


def test_comments_name_the_rules_below_them():
    text = (
        "% ISA Rules\n% R2: two\n%  lines\na :- b.\nb :- c. % R9: no\n\n% R3\n% R4: four\nc.\n"
        "% none\nd.\n% R2 again\ne.\n"
        "% Rule R5: é\nf.\n% R6: nothing below\n"
    )
    program = read_program(text)
    assert program.numbered() == {2: (0, 1, 4), 3: (), 4: (2,), 5: (5,), 6: ()}
    assert [block.comment for block in program.blocks] == [
        "two lines",
        "",
        "four",
        "none",
        "again",
        "é",
        "nothing below",
    ]
    assert program.block_of(3) == program.blocks[3]


def test_a_literal_is_one_ground_literal():
    assert str(read_literal(" -wet(d1, 3). ")) == "-wet(d1,3)"
    for text in ("wet(d1). wet(d1)", "1=1", "not wet(d1)", "wet(X)", "wet(d1) % dry", "wet(d1),a", "", "{a}", "a:-b"):
        with pytest.raises(AspError):
            read_literal(text)
