"""Reading formulas and regular expressions as models write them: policies, wrappers, refusals, and floods."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critics.formats.equivalence.language import Language, is_alphabet, read_expression, read_formula, read_regex
from critics.replay.equivalences.automaton import distinguishing_word
from critics.replay.equivalences.regex import MAX_DEPTH, MAX_SYMBOLS, write_regex
from critics.replay.first_order.reader import canonical
from critics.replay.first_order.syntax import FormulaError, flattened

EXPRESSIONS = {
    "a star binds to one letter": ("01*", "0(1*)"),
    "a star binds to a group": ("(01)*", "(01)*"),
    "a star of a star": ("0**", "(0*)*"),
    "a union binds loosest": ("01|1*0", "(01)|(1*0)"),
    "a label": ("Regex: 1*0", "1*0"),
    "a bold label": ("**Answer:** 1*0", "1*0"),
    "a label in brackets": ("[REGULAR EXPRESSION]\n1*0", "1*0"),
    "quotes": ('"01*"', "01*"),
    "back-ticks": ("`(01)*`", "(01)*"),
    "a fence": ("```regex\n(01)*\n```", "(01)*"),
    "slashes": ("/(01)*/", "(01)*"),
    "anchors": ("^(01)*$", "(01)*"),
    "LaTeX": (r"$(0^{*}1)$", "0*1"),
    "LaTeX without braces": ("(0^*1)", "0*1"),
    "a final stop": ("(01)*.", "(01)*"),
    "escapes": (r"\(01\)\*", "(01)*"),
    "blanks": ("0 1 *", "01*"),
    "blanks that cannot be seen": ("0\u200b1*\u00a0", "01*"),
    "the empty word": ("ε", "()"),
    "the empty word in a group": ("(())0", "()0"),
    "another star": ("(01)∗", "(01)*"),
}
REFUSED_EXPRESSIONS = {
    "nothing": ("", "empty", 1),
    "a label alone": ("Answer:", "empty", 8),
    "a star of nothing": ("*01", "syntax", 1),
    "a star of nothing behind a label": ("Answer: *01", "syntax", 9),
    "a star at the beginning of a group": ("0(*1)", "syntax", 3),
    "a parenthesis too few": ("(0(1)", "syntax", 1),
    "a parenthesis too many": ("01)", "syntax", 3),
    "a side of nothing": ("0|", "syntax", 3),
    "a side of nothing in a group": ("(|0)1", "syntax", 2),
    "no side in the middle": ("0||1", "syntax", 3),
    "plus": ("0+1", "character", 2),
    "optional": ("0?1", "character", 2),
    "a count": ("0{3}", "character", 2),
    "a huge count": ("(0{1000000}){1000000}", "character", 3),
    "a class": ("[01]*", "character", 1),
    "a wildcard": ("0.1", "character", 2),
    "dots": ("0...", "character", 2),
    "a back-reference": (r"(0)\1", "character", 4),
    "the empty language": ("∅", "character", 1),
    "a letter that is not declared": ("012", "character", 3),
    "a digit of another script": ("0１", "character", 2),
    "two lines": ("0*1\n1*0", "character", 4),
    "prose": ("I cannot do that", "character", 1),
}
FLOODS = {
    "parentheses": "(" * 15_000,
    "groups": "(" * 6_000 + "0" + ")" * 6_000,
    "stars": "0" + "*" * 15_000,
    "stars and groups": "(" * 60 + "0" + "*" * 100 + ")" * 60,
    "letters": "01" * 9_000,
    "empty words": "()" * 9_000,
    "unions": "0|" * 9_000 + "1",
    "labels": "answer: " * 2_400,
    "stops": "." * 19_000,
    "dollars": "$" * 19_000,
    "anchors": "^" * 19_000,
    "fences": "```\n" * 4_000,
    "blanks": "0" + " " * 19_000 + "!",
    "too many characters": "0" * 30_000,
}
FORMULAS = {
    "the dot reaches as far as it can": ("∀x1. P(x1) → Q(p1)", "∀x1. (p(x1) → q(p1))"),
    "arrows group to the right": ("p1 → p2 → p3", "p1 → (p2 → p3)"),
    "a letter for a sign": ("p1 v p2", "p1 ∨ p2"),
    "a letter for a sign without a blank": ("p1v p2v ¬p3", "p1 ∨ p2 ∨ ¬p3"),
    "C": ("p1 && !p2 || p3", "(p1 ∧ ¬p2) ∨ p3"),
    "two variables": ("∀ x1, x2. pred1(x1, x2)", "∀x1. ∀x2. pred1(x1, x2)"),
    "free variables stay free": ("pred1(x1) ∧ (∃x1. pred2(x1))", "pred1(x1) ∧ (∃x1. pred2(x1))"),
    "case says nothing": ("Recall(Rita) ∧ recall(RITA)", "recall(rita) ∧ recall(rita)"),
}
REFUSED_FORMULAS = {
    "a quantifier": ("∀x1. p1", Language.PROPOSITIONAL, "language"),
    "arguments": ("p1 ∧ pred1(p2)", Language.THREE_CNF, "language"),
    "equality of propositions": ("p1 = p2", Language.PROPOSITIONAL, "language"),
    "equality": ("pred1(p1) ∧ p1 = p2", Language.FIRST_ORDER, "language"),
    "a truth value": ("p1 ∨ 1", Language.PROPOSITIONAL, "language"),
    "a truth value in words": ("p1 ∨ true", Language.PROPOSITIONAL, "syntax"),
    "a predicate that is a word of the language": ("exists(x1)", Language.FIRST_ORDER, "language"),
    "two arities": ("pred1(p1) ∨ pred1(p1, p2)", Language.FIRST_ORDER, "arity"),
    "a predicate as a function": ("pred1(pred2(p1)) ∧ pred2(p1)", Language.FIRST_ORDER, "role"),
    "a sign that may mean two things": ("p1 + p2", Language.PROPOSITIONAL, "character"),
    "a caret": ("p1 ^ p2", Language.PROPOSITIONAL, "character"),
    "a zero-width space in a name": ("p\u200b1", Language.PROPOSITIONAL, "syntax"),
    "text that turns around": ("p1 ∧ \u202ep2", Language.PROPOSITIONAL, "character"),
}


@pytest.mark.parametrize("case", EXPRESSIONS)
def test_an_expression_reads_as_it_is_meant(case: str) -> None:
    text, expected = EXPRESSIONS[case]
    assert read_regex(text) == read_regex(expected)


@pytest.mark.parametrize("case", REFUSED_EXPRESSIONS)
def test_an_expression_that_is_none_is_refused_with_its_place(case: str) -> None:
    text, reason, place = REFUSED_EXPRESSIONS[case]
    with pytest.raises(FormulaError, match=rf"\(at character {place}\)") as caught:
        read_regex(text)
    assert caught.value.reason == reason


def test_only_declared_letters_are_read() -> None:
    assert write_regex(read_regex("200(00)*1", "012")) == "200(00)*1"
    assert is_alphabet("012")
    assert not any(map(is_alphabet, ("", "00", "ab", "0*", "٠", None, ["0"], "01234567890")))


@pytest.mark.parametrize("case", FLOODS)
def test_a_flood_of_signs_ends_soon(case: str) -> None:
    start = time.process_time()
    for language in Language:
        try:
            read_expression(FLOODS[case], language)
        except FormulaError as error:
            assert error.reason in ("too_long", "too_deep", "syntax", "character", "empty", "language")  # noqa: PT017
    assert time.process_time() - start < 2


def test_the_deepest_expression_can_be_written_and_compared() -> None:
    deep = "(0|" * (MAX_DEPTH // 2 - 2) + "1*" + ")" * (MAX_DEPTH // 2 - 2)
    regex = read_regex(deep)
    assert read_regex(write_regex(regex)) == regex
    assert distinguishing_word(regex, read_regex("0|1*"), "01") is None
    assert read_regex("0*" * (MAX_SYMBOLS // 2))


@given(st.text("01()*|^$ .`/\\ε{}+?2\n") | st.text(max_size=20))
@settings(max_examples=200, deadline=None)
def test_any_text_is_an_expression_that_reads_back_or_an_error(text: str) -> None:
    try:
        regex = read_regex(text)
    except FormulaError:
        return
    assert read_regex(write_regex(regex)) == regex


@pytest.mark.parametrize("case", FORMULAS)
def test_a_formula_reads_as_it_is_meant(case: str) -> None:
    text, expected = FORMULAS[case]
    assert canonical(read_formula(text, Language.FIRST_ORDER).formula) == expected


@pytest.mark.parametrize("case", REFUSED_FORMULAS)
def test_a_formula_outside_its_language_is_refused(case: str) -> None:
    text, language, reason = REFUSED_FORMULAS[case]
    with pytest.raises(FormulaError) as caught:
        read_formula(text, language)
    assert caught.value.reason == reason


def test_what_was_mended_is_said() -> None:
    assert read_formula("p1v p2.", Language.PROPOSITIONAL).repairs == ("final_stop", "glued_or")


def test_letters_that_look_alike_are_two_names() -> None:
    latin, cyrillic = (read_formula(name, Language.PROPOSITIONAL).formula for name in ("p1", "р1"))
    assert latin != cyrillic


def test_every_torture_case_goes_the_right_way(shared: Path) -> None:
    lines = (shared / "data" / "formula_torture.jsonl").read_text(encoding="utf-8").splitlines()
    cases = list(map(json.loads, lines))
    assert len(cases) == 82
    for case in cases:
        language, expected = Language(case["language"]), case["expected"].get("parse_equal_to")
        if expected is None:
            with pytest.raises(FormulaError):
                read_expression(case["text"], language)
        elif language is Language.REGEX:
            assert distinguishing_word(read_regex(case["text"]), read_regex(expected), "01") is None, case
        else:
            found, wanted = (flattened(read_formula(text, language).formula) for text in (case["text"], expected))
            assert found == wanted, case
