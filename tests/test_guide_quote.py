import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critics.errors import InputError
from rollout.decoding.masks import MaskEngine, Row
from rollout.guides.quote import QuoteGuide, sentences

SOURCE = """Crème brûlée

Crème brûlée is a custard.[1] It was named by Dr. F. Massialot in 1691 (e.g. in Paris), and
the name stayed. "Is it French?" he asked. [2] Nobody knows... yet!  It is a custard.
\u5b83\u5f88\u751c\u3002\u771f\u7684\uff01 See [[the note]] here. It costs 3.50 euros [sic]

Crème brûlée is a custard.
"""
SENTENCES = [
    "Crème brûlée",
    "Crème brûlée is a custard.",
    "It was named by Dr. F. Massialot in 1691 (e.g. in Paris), and\nthe name stayed.",
    '"Is it French?" he asked.',
    "Nobody knows... yet!",
    "It is a custard.",
    "\u5b83\u5f88\u751c\u3002",
    "\u771f\u7684\uff01",
    "See [[the note]] here.",
    "It costs 3.50 euros [sic]",
    "Crème brûlée is a custard.",
]
UNQUOTABLE = {"See [[the note]] here.", "It costs 3.50 euros [sic]"}
STRADDLERS = [
    "[[",
    "]]",
    "[[quote:",
    "quote:It ",
    "[[quote:It is a custard.]] [[quote:",
    ".]]",
    ".]] [[quote:Cr\u00e8me",
    "\u5b83\u5f88",
    "stard.",
    "custard.]].",
    "!]",
    "[[quote:He",
]
VOCABULARY: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), *(t.encode() for t in STRADDLERS), b"\xa8m"]
EOS = 0


def allows(guide: QuoteGuide, block: bytes) -> bool:
    automaton = guide.allowed()
    state = automaton.start
    for byte in block + b"]]":
        state = automaton.step(state, byte)
        if state is None:
            return False
    return automaton.done(state)


def test_a_source_is_split_as_documented():
    assert list(sentences(SOURCE)) == SENTENCES


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("It is in the U.S. Army. Yes.", ["It is in the U.S. Army.", "Yes."]),
        ("Mr. Hume wrote this. \u201cWhy?\u201d He knew.", ["Mr. Hume wrote this.", "\u201cWhy?\u201d", "He knew."]),
        ("One.\r\n\r\nTwo.[3][b] Three", ["One.", "Two.", "Three"]),
        ("Pi is 3.14 or so. See a.b now.", ["Pi is 3.14 or so.", "See a.b now."]),
        ("a line\nthat goes on. \n \nnot this", ["a line\nthat goes on.", "not this"]),
        ("...", ["..."]),
        ("  \n\n [1] \n", []),
    ],
)
def test_the_rules_of_splitting(source, expected):
    assert list(sentences(source)) == expected


def test_the_sentences_and_nothing_else_can_be_quoted():
    guide = QuoteGuide(source=SOURCE)
    for sentence in SENTENCES:
        assert allows(guide, f"quote:{sentence}".encode()) == (sentence not in UNQUOTABLE)
    for block in ("quote:It is a custard", "quote:it is a custard.", "quote: It is a custard.", "quote:", "cite:x", ""):
        assert not allows(guide, block.encode())


def test_quoting_is_exact_to_the_byte():
    guide = QuoteGuide(source="Caf\u00e9 noir. Cafe\u0301 noir.")
    assert allows(guide, "quote:Caf\u00e9 noir.".encode())
    assert allows(guide, "quote:Cafe\u0301 noir.".encode())
    assert not allows(QuoteGuide(source="Caf\u00e9 noir."), "quote:Cafe\u0301 noir.".encode())
    assert not allows(guide, "quote:Caf\u00e9 noir.".encode("latin-1"))


def test_a_key_tells_sources_apart_and_names_nothing_else():
    assert QuoteGuide(source="One. Two.").key == QuoteGuide(source="Two.  One.", name="x").key
    assert QuoteGuide(source="One. Two.").key != QuoteGuide(source="One. Two. Three.").key


@pytest.mark.parametrize("source", ["", " \n", "Nothing but [[a marker]].", "a \ud800 b."])
def test_a_source_without_a_sentence_to_quote_is_refused(source):
    with pytest.raises(InputError, match="quote: the source 'web'"):
        QuoteGuide(source=source, name="web")


@settings(deadline=None)
@given(st.text(alphabet="aB .!?\n\r\t[]1\"'\u00e9\u3002\u2026", max_size=60))
def test_sentences_lie_in_order_and_leave_out_only_marks_and_white_space(source):
    at = 0
    for sentence in sentences(source):
        start = source.index(sentence, at)
        assert sentence == sentence.strip() != ""
        assert re.fullmatch(r"(\s|\[[1a]{1,4}\])*", source[at:start])
        at = start + len(sentence)
    assert re.fullmatch(r"(\s|\[[1a]{1,4}\])*", source[at:])


@settings(deadline=None)
@given(st.text(alphabet="aB .!?\n[]1\u00e9\u3002", max_size=60), st.integers(0, 2**32))
def test_whatever_the_guide_allows_stands_in_the_source(source, seed):
    try:
        guide = QuoteGuide(source=source)
    except InputError:
        return
    rng, automaton, written = random.Random(seed), guide.allowed(), bytearray()
    state = automaton.start
    while not automaton.done(state):
        byte = rng.choice([byte for byte in range(256) if automaton.step(state, byte) is not None])
        written.append(byte)
        state = automaton.step(state, byte)
    assert written.startswith(b"quote:")
    assert bytes(written[6:-2]) in source.encode()
    assert b"]]" not in written[:-1]


def test_a_mask_equals_brute_force_on_random_walks(check_masks):
    check_masks(VOCABULARY, [Row(QuoteGuide(source=SOURCE)) for _ in range(18)], lambda i: i > 256, 0.5)


def test_a_token_may_end_in_the_middle_of_a_character():
    row = Row(QuoteGuide(source=SOURCE))
    row.push(b"[[quote:Cr\xc3")
    ids = MaskEngine(VOCABULARY, [EOS]).allowed(row).tolist()
    assert [VOCABULARY[i] for i in ids] == [b"\xa8", b"\xa8m"]


def test_a_sampling_policy_quotes_only_the_source(written_under):
    guides = [QuoteGuide(source=SOURCE) for _ in range(4)]
    for written in written_under(VOCABULARY, guides, lambda t: len(t) > 1, 250):
        quoted = re.findall(r"\[\[quote:(.*?)\]\]", written, re.DOTALL)
        assert len(quoted) >= 3
        assert set(quoted) <= set(SENTENCES) - UNQUOTABLE


def test_a_long_source_is_split_in_linear_time():
    guide = QuoteGuide(source="".join(f"Sentence number {i} is here. " for i in range(20_000)))
    assert allows(guide, b"quote:Sentence number 19999 is here.")
    assert not allows(guide, b"quote:Sentence number 20000 is here.")
