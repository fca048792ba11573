"""The mask of a row is exactly the set of tokens whose bytes the guide allows, whatever they straddle."""

import pytest

from critics.replay.formula import parse_statement
from critics.replay.kernel import Kernel
from rollout.decoding.automaton import Words
from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import GuideViolation, Row
from rollout.guides.logic import LogicGuide

AXIOMS = ("(cat 'x) -> (warm 'x)", "(cat 'x) -> (not (dog 'x))", "(cat tom)")
STRADDLERS = [
    "[[",
    " [[",
    "]]",
    ")]]",
    "))]]",
    ")]].",
    ")]] [[",
    ")]] [[infer:(",
    "] [[infer:(warm",
    "[[infer:(",
    "[[axiom:(",
    "[[nope:",
    "]]\nAnswer",
    "(warm",
    "(not (dog tom))",
    " tom)]] so [",
    "[",
    "[infer:",
    "x [",
    "warm",
    "tom",
    ")]] [[goal:(a b)]]",
    "infer:nothing]]",
    "axiom:(a 'x) -> (b 'x)]]",
    " -> (",
    "'x",
    "goal:(",
    "object:",
    "prop:a]]",
    "[[[",
    "]",
]
VOCABULARY: list[bytes | None] = [None, *(bytes([b]) for b in range(32, 127)), *(t.encode() for t in STRADDLERS)]
EOS = 0


def guide() -> LogicGuide:
    kernel = Kernel()
    for axiom in AXIOMS:
        kernel.add_axiom(parse_statement(axiom))
    return LogicGuide(kernel)


def test_a_mask_equals_brute_force_on_random_walks(check_masks):
    check_masks(VOCABULARY, [Row(guide()) for _ in range(40)], lambda i: i > 95, 0.7)


def test_an_inference_block_holds_only_what_follows():
    row = Row(guide())
    row.push(b"so [[infer:")
    written = {chr(VOCABULARY[i][0]) for i in MaskEngine(VOCABULARY, [EOS]).allowed(row) if len(VOCABULARY[i]) == 1}  # type: ignore
    assert written == {"("}
    row.push(b"(not (dog tom))]] [[infer:(w")
    assert row.accepts(b"arm tom)]]")
    assert not row.accepts(b"arm rex)]]")


def test_a_token_may_close_a_block_and_open_the_next_with_what_was_learnt_between():
    row = Row(guide())
    row.push(b"[[infer:(warm tom")
    assert row.accepts(b")]] [[infer:(not (dog tom))]]")
    assert not row.accepts(b")]] [[infer:(warm tom)]]")


def test_end_of_text_is_refused_inside_a_block():
    engine, row = MaskEngine(VOCABULARY, [EOS]), Row(guide())
    assert EOS in engine.allowed(row)
    row.push(b"[[ax")
    assert EOS not in engine.allowed(row)


def test_probing_a_token_changes_nothing():
    row = Row(guide())
    row.push(b"[[infer:(warm tom)")
    before = (row.block, row.guide.key)
    assert row.accepts(b"]]")
    assert (row.block, row.guide.key) == before


def test_pushing_a_refused_token_is_an_error():
    row = Row(guide())
    with pytest.raises(GuideViolation):
        row.push(b"[[infer:(dog")


def test_words_walk_like_the_set_they_are():
    words = Words([b"ab]]", b"abc]]", b"b]]"])
    for word in (b"ab]]", b"abc]]", b"b]]"):
        state = words.start
        for position, byte in enumerate(word):
            assert not words.done(state)
            state = words.step(state, byte)
            assert state is not None, (word, position)
        assert words.done(state)
    assert words.step(words.start, ord("c")) is None
