import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.decoding.automaton import accepts
from rollout.decoding.masks import MaskEngine, Row
from rollout.guides.memory import MemoryGuide

BLOCK = re.compile(r"(set|get):([A-Za-z0-9_][A-Za-z0-9_-]{0,23})=([A-Za-z0-9_.,'-](?: ?[A-Za-z0-9_.,'-]){0,79})")
STRADDLERS = [
    "[[",
    "]]",
    "[[set:",
    "[[get:",
    "set:a=",
    "get:a=",
    "get:a=b]",
    "=b",
    "b]]",
    "b]] [[get:a=b]]",
    "c]] [[get:a=",
    "]] [[set:a=c]] [[get:a=c]]",
    "a=b]].",
    "[[put:",
    "  ",
    "' ",
]
VOCABULARY: list[bytes | None] = [None, *(bytes([b]) for b in range(256)), *(t.encode() for t in STRADDLERS)]
EOS = 0


def allows(guide: MemoryGuide, block: str) -> bool:
    return accepts(guide.allowed(), f"{block}]]".encode())


def after(*blocks: str) -> MemoryGuide:
    guide = MemoryGuide()
    for block in blocks:
        guide.close(block.encode())
    return guide


def rechecked(blocks: list[str]) -> dict[str, str]:
    """Replay blocks on a dictionary of our own; fails where one is ill-formed or gives what is not there."""
    store: dict[str, str] = {}
    for block in blocks:
        match = BLOCK.fullmatch(block)
        assert match is not None, block
        action, key, value = match.groups()
        if action == "get":
            assert value == store[key], block
        else:
            store[key] = value
    return store


def walk(guide: MemoryGuide, rng: random.Random) -> str:
    """Write one random block and hand it to the guide."""
    automaton, written = guide.allowed(), bytearray()
    state = automaton.start
    while not automaton.done(state):
        # Letters of few kinds, so that keys meet again.
        open_ = [byte for byte in range(256) if automaton.step(state, byte) is not None]
        byte = rng.choice([b for b in open_ if b in b"setg:=ab]"] or open_)
        written.append(byte)
        state = automaton.step(state, byte)
    block = bytes(written[:-2])
    guide.close(block)
    return block.decode()


def test_nothing_can_be_got_before_it_is_set():
    guide = MemoryGuide()
    assert not allows(guide, "get:John=kitchen")
    assert allows(guide, "set:John=kitchen")
    guide.close(b"set:John=kitchen")
    assert allows(guide, "get:John=kitchen")
    assert not allows(guide, "get:Mary=kitchen")
    assert not allows(guide, "get:John=garden")


def test_the_last_value_is_forced():
    guide = after("set:John=kitchen", "set:Mary=hall", "set:John=garden")
    assert allows(guide, "get:John=garden")
    assert not allows(guide, "get:John=kitchen")
    assert allows(guide, "get:Mary=hall")
    guide.close(b"set:John=kitchen")
    assert allows(guide, "get:John=kitchen")
    assert not allows(guide, "get:John=garden")


@pytest.mark.parametrize("block", ["set:a b=c", "set:=c", "set:a=", "set:a= c", "set:a=c ", "set:a=b  c", "set:a=b=c"])
def test_ill_formed_blocks_are_refused_and_change_nothing(block):
    guide = MemoryGuide()
    assert not allows(guide, block)
    guide.close(block.encode())
    assert guide.values == {}


def test_values_hold_what_texts_hold():
    for value in ("the red car", "St. John's, 3", "x_1-y", "a" * 80):
        assert allows(MemoryGuide(), f"set:where_is-it={value}")
    for value in ("a" * 81, "caf\u00e9", "[x", "x]", "a\nb"):
        assert not allows(MemoryGuide(), f"set:where_is-it={value}")


def test_a_clone_goes_its_own_way():
    guide = after("set:a=b")
    copy = guide.clone()
    copy.close(b"set:a=c")
    assert allows(guide, "get:a=b")
    assert allows(copy, "get:a=c")
    assert guide.key != copy.key
    assert guide.clone().key == guide.key


def test_masks_while_setting_are_shared_between_memories():
    rows = [Row(after("set:a=b")), Row(MemoryGuide())]
    for row in rows:
        row.push(b"[[set:x")
    assert rows[0].key == rows[1].key


def test_one_engine_keeps_memories_apart():
    engine, token = MaskEngine(VOCABULARY, [EOS]), VOCABULARY.index(b"get:a=b]")
    for value, offered in (("b", True), ("c", False), ("b", True)):
        row = Row(after(f"set:a={value}"))
        row.push(b"[[")
        assert (token in engine.allowed(row)) == offered


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_no_bytes_make_closing_fail(block):
    guide = after("set:a=b")
    guide.close(block)
    guide.close(b"set:" + block)
    guide.close(b"get:" + block)
    assert all(BLOCK.fullmatch(f"set:{key}={value}") for key, value in guide.values.items())


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_the_guide_allows_passes_a_replay_of_our_own(seed):
    rng, guide = random.Random(seed), MemoryGuide()
    assert rechecked([walk(guide, rng) for _ in range(6)]) == guide.values


@settings(deadline=None)
@given(st.text(alphabet="setg:=ab -.'[]", max_size=14))
def test_the_guide_allows_exactly_the_grammar(text):
    guide = after("set:a=b", "set:b=a")
    for block in (text, f"set:{text}", f"get:{text}", f"set:a={text}"):
        match = BLOCK.fullmatch(block)
        known = block in ("get:a=b", "get:b=a")
        assert allows(guide, block) == (match is not None and (match[1] == "set" or known))


def test_a_mask_equals_brute_force_on_random_walks(check_masks):
    rows = [Row(MemoryGuide()) for _ in range(24)]
    check_masks(VOCABULARY, rows, lambda i: i > 256 or (VOCABULARY[i] or b"") in b"ab=]", 0.8)


def test_a_token_that_sets_and_gets_knows_the_new_value():
    row = Row(after("set:a=b"))
    assert row.accepts(b"so [[set:a=c]] [[get:a=c]]")
    assert not row.accepts(b"so [[set:a=c]] [[get:a=b]]")
    row.push(b"so [[get:a=b]]")


def test_a_sampling_policy_gets_only_what_it_set(written_under):
    guides, num_got = [MemoryGuide() for _ in range(4)], 0
    for written in written_under(VOCABULARY, guides, lambda t: len(t) > 1 or t in b"ab=]", 200):
        blocks = re.findall(r"\[\[(.*?)\]\]", written, re.DOTALL)
        rechecked(blocks)
        num_got += sum(block.startswith("get:") for block in blocks)
    assert num_got >= 10
