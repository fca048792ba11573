import functools

import pytest

from critics.replay.formula import (
    MAX_NAME_LENGTH,
    MAX_PREMISES,
    FormulaError,
    Literal,
    canonical_statement,
    parse_literal,
    parse_name,
    parse_statement,
)

LONGEST = "a" * MAX_NAME_LENGTH
BUSHY = functools.reduce(lambda term, _: f"(f {term} {term} {term} {term})", range(6), "a")
LOOK_ALIKES = ["\u00a0", "\u2028", "\u200b", "\u3000", "\x00", "\x0b", "\x1c", "\x85", "\ufeff"]
"""Blanks to a person or to Unicode, and nothing to the formal language."""


def refused(text: str) -> str:
    """Return the reason for which a statement is refused."""
    with pytest.raises(FormulaError) as error:
        parse_statement(text)
    assert len(str(error.value)) < 300
    assert str(error.value).isprintable()
    return error.value.reason


def same(one: str, other: str) -> bool:
    return canonical_statement(parse_statement(one)) == canonical_statement(parse_statement(other))


@pytest.mark.parametrize(
    "text",
    [
        "(cat tom)",
        "(not (cat tom))",
        "(likes tom tom)",
        "(cat 'x) -> (warm 'x)",
        "(likes 'x 'y) -> (not (likes 'y 'x)) -> (sad 'x)",
        "(cat tom) -> (warm tom)",
        "(cat 'x)",
        "(not (likes 'x tom))",
        "(obligatory (accept (invite anna kickoff)))",
        "(low 'p 'e) -> (not (obligatory (remind (days-before 'p 'e) daily)))",
        "(real-number 7) -> (not (imaginary_number 7))",
        f"({LONGEST} {LONGEST})",
    ],
)
def test_a_statement_prints_as_it_was_written(text: str):
    assert str(parse_statement(text)) == text


def test_blanks_between_tokens_are_free():
    spaced = parse_statement(" ( cat\t'x )->(not\r\n(warm 'x) )\n")
    assert spaced == parse_statement("(cat 'x) -> (not (warm 'x))")


@pytest.mark.parametrize("blank", LOOK_ALIKES)
def test_what_only_looks_like_a_blank_is_no_blank(blank: str):
    assert refused(f"(cat{blank}tom)") == "syntax"
    assert refused(f"(cat tom){blank}") == "syntax"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "syntax"),
        (" ", "syntax"),
        ("cat tom", "syntax"),
        ("(cat tom", "syntax"),
        ("(cat tom))", "syntax"),
        ("(cat tom) (dog tom)", "syntax"),
        ("(cat tom) ->", "syntax"),
        ("-> (cat tom)", "syntax"),
        ("(cat tom) -> -> (dog tom)", "syntax"),
        ("(cat (dog))", "arity"),
        ("(cat ((dog) tom))", "syntax"),
        ("(cat ('f tom))", "syntax"),
        ("(cat (not tom))", "reserved_name"),
        ("(cat (not (dog tom)))", "reserved_name"),
        ("(cat (f a b c d e))", "arity"),
        ("((f a) tom)", "syntax"),
        ("(p " + "(f " * 40 + "a" + ")" * 41, "depth"),
        ("(p " + "(f a " * 60_000, "depth"),
        (f"(p {BUSHY})", "depth"),
        ("(cat tom) => (dog tom)", "syntax"),
        ("(cat 'X)", "syntax"),
        ("(cat 'xy)", "syntax"),
        ("('x tom)", "syntax"),
        ("(cat -tom)", "syntax"),
        ("(cat tom-)", "syntax"),
        ("(cat to--m)", "syntax"),
        ("(сat tom)", "syntax"),
        ("（cat tom）", "syntax"),
        ("(cat tom) → (dog tom)", "syntax"),
        ("(cat ’x) -> (dog ’x)", "syntax"),
        ("(cat ７)", "syntax"),
        ("(cat tom) /* (dog tom) */", "syntax"),
        (f"({LONGEST}a tom)", "syntax"),
        ("(" * 90_000, "syntax"),
        (" " * 90_000 + "!", "syntax"),
        ("(cat)", "arity"),
        ("(cat a b c)", "arity"),
        ("(cat 'x) -> (warm 'y)", "unbound_head_var"),
        ("(cat tom) -> (warm 'x)", "unbound_head_var"),
        ("(not (not (cat tom)))", "double_negation"),
        ("(not " * 20_000, "double_negation"),
        ("(not cat)", "reserved_name"),
        ("(not tom tom)", "reserved_name"),
        ("(cat not)", "reserved_name"),
        ("(nothing tom)", "reserved_name"),
        ("(p a) -> " * (MAX_PREMISES + 1) + "(q a)", "too_many_premises"),
    ],
)
def test_nothing_else_is_a_statement(text: str, reason: str):
    assert refused(text) == reason


def test_a_goal_is_one_ground_literal():
    assert parse_literal("(not (cat tom))") == Literal(False, "cat", ("tom",))
    for text in ("(cat 'x)", "(cat tom) -> (dog tom)", "nothing", ""):
        with pytest.raises(FormulaError):
            parse_literal(text)


def test_a_name_is_one_word():
    assert parse_name(" real-number ") == "real-number"
    for text in ("", "a b", "'x", "not", "nothing", "(a)", "x) -> (y", LONGEST + "a", "é"):
        with pytest.raises(FormulaError):
            parse_name(text)


def test_renamed_variables_and_reordered_premises_make_no_other_statement():
    assert same("(cat 'x) -> (warm 'x)", "(cat 'q) -> (warm 'q)")
    assert same("(p 'x) -> (q 'y) -> (r 'x 'y)", "(q 'x) -> (p 'y) -> (r 'y 'x)")
    assert same("(r 'x 'y) -> (r 'y 'z) -> (r 'x 'z)", "(r 'c 'a) -> (r 'a 'b) -> (r 'c 'b)")
    assert same("(r 'z 'y) -> (r 'y 'x) -> (r 'z 'x)", "(r 'x 'y) -> (r 'y 'z) -> (r 'x 'z)")


def test_what_means_something_else_is_another_statement():
    rule = "(p 'x) -> (r 'x 'y) -> (q 'x)"
    for other in (
        "(p 'x) -> (r 'y 'x) -> (q 'x)",
        "(p 'y) -> (r 'x 'y) -> (q 'x)",
        "(p 'x) -> (r 'x 'x) -> (q 'x)",
        "(p 'x) -> (r 'x 'y) -> (q 'y)",
        "(p 'x) -> (r 'x tom) -> (q 'x)",
        "(p 'x) -> (r 'x 'y) -> (not (q 'x))",
        "(p 'x) -> (not (r 'x 'y)) -> (q 'x)",
        "(p 'x) -> (p 'x) -> (r 'x 'y) -> (q 'x)",
        "(q 'x) -> (r 'x 'y) -> (p 'x)",
    ):
        assert not same(rule, other)


def test_variables_are_replaced_at_once():
    assert Literal(True, "r", ("'x", "'y")).substitute({"'x": "'y", "'y": "a"}).arguments == ("'y", "a")
