"""Masks over vocabularies of real size, against brute force and against other engines; no invalid block ever."""

import random
import string
from bisect import bisect_left
from functools import lru_cache

import numpy as np
import pytest

from rollout.decoding import masks
from rollout.decoding.automaton import Actions, Automaton, RegularLanguage, Words, chars, literal, repeat, sequence
from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import Row
from rollout.decoding.vocabulary import ROOT, TokenTrie
from rollout.guides import logic
from tools.conformance import guide as original
from tools.gpu.decoding import END, FreshOffers, offer_sets, vocabulary


@lru_cache(maxsize=2)
def engine_of(size: int) -> MaskEngine:
    return MaskEngine(vocabulary(size), [END])


@lru_cache(maxsize=2)
def in_order(size: int) -> list[tuple[bytes, int]]:
    return sorted((token, i) for i, token in enumerate(vocabulary_of(size)) if token)


def candidates(size: int, word: bytes) -> list[int]:
    """The tokens that agree with a word on its first three bytes, as far as either goes."""
    spelled = in_order(size)
    first, last = (bisect_left(spelled, (end,)) for end in (word[:3], word[:3] + b"\xff"))
    places = [bisect_left(spelled, (word[:length],)) for length in (1, 2)]
    short = [spelled[place] for length, place in enumerate(places, 1) if spelled[place][0] == word[:length]]
    return [i for _, i in (*short, *spelled[first:last])]


@lru_cache(maxsize=2)
def by_bracket(size: int) -> tuple[np.ndarray, list[int]]:
    """Which tokens free text always allows, and those with a bracket in them."""
    spelled = [(i, token) for i, token in enumerate(vocabulary_of(size)) if token]
    without = np.zeros(size, dtype=bool)
    without[[i for i, t in spelled if b"[" not in t]] = True
    return without, [i for i, t in spelled if b"[" in t]


@lru_cache(maxsize=2)
def vocabulary_of(size: int) -> list:
    return vocabulary(size)


def legal_inside(text: bytes, left: list[bytes], later: list[list[bytes]]) -> bool:
    """Whether `text` may go on from within a block that can still be closed by any of `left`."""
    return any(
        word.startswith(text) or (text.startswith(word) and legal_free(text[len(word) :], later)) for word in left
    )


def legal_free(text: bytes, later: list[list[bytes]]) -> bool:
    """Whether `text` may stand in free text, `later` being the sets of the blocks to come."""
    _, opened, inside = text.partition(b"[[")
    return not opened or not inside or legal_inside(inside, later[0], later[1:])


class Text:
    """What a row has written, read as a whole: knows nothing of rows, automata and masks."""

    def __init__(self, sets: list[list[bytes]]) -> None:
        self.sets, self.free, self.inside = sets, b"", None

    def write(self, token: bytes) -> None:
        for byte in token:
            if self.inside is None:
                self.free += bytes([byte])
                if self.free.endswith(b"[["):
                    self.free, self.inside = b"", b""
            else:
                self.inside += bytes([byte])
                if self.inside.endswith(b"]]"):
                    assert self.inside in self.sets[0]
                    self.sets, self.inside = self.sets[1:], None

    def allowed(self, size: int) -> np.ndarray:
        if self.inside is None:
            pending = self.free[-1:] if self.free.endswith(b"[") else b""
            without, brackets = by_bracket(size)
            legal = [i for i in brackets if legal_free(pending + vocabulary_of(size)[i], self.sets)]
            allowed = without.copy()
            allowed[[END, *legal]] = True
            return np.flatnonzero(allowed)
        left = [word[len(self.inside) :] for word in self.sets[0] if word.startswith(self.inside)]
        tried = {i for start in {word[:3] for word in left} for i in candidates(size, start)}
        return np.array(sorted(i for i in tried if legal_inside(vocabulary_of(size)[i], left, self.sets[1:])))


def next_token(rng: random.Random, row: Row, ids: np.ndarray, size: int) -> bytes:
    """Prefer what is long inside blocks, and what opens one outside."""
    tokens = vocabulary_of(size)
    if row.block is None:
        return rng.choice([b" [[", b"[[", b" [", b"[[[", tokens[int(rng.choice(ids[2:]))], b"] [[infer: ("])
    long = [i for i in ids if len(tokens[i]) > 2]
    return tokens[int(rng.choice(long if long and rng.random() < 0.7 else ids))]


@pytest.mark.parametrize("size", [32_000, pytest.param(128_000, marks=pytest.mark.slow)])
def test_masks_equal_brute_force_at_full_size(size):
    engine, num_states, num_straddling = engine_of(size), 0, 0
    for seed in range(42):
        rng, sets = random.Random(seed), offer_sets(20, (5, 50, 200)[seed % 3], seed=seed)
        row, text = Row(FreshOffers(f"brute {seed}", sets)), Text(sets)
        while num_states < 24 * (seed + 1):
            ids = engine.allowed(row)
            assert np.array_equal(ids, text.allowed(size)), text.inside
            num_straddling += row.block is not None and any(b"]]" in vocabulary_of(size)[i][:-2] for i in ids)
            token = next_token(rng, row, ids, size)
            if not row.accepts(token):
                token = b" "
            row.push(token)
            text.write(token)
            num_states += 1
    assert num_states >= 1_000
    assert num_straddling > 10


def write_blocks(engine: MaskEngine, num_blocks: int, *, seed: int) -> int:
    """Write at random under the masks; return how many tokens it took. `Text` asserts that every block is offered."""
    rng, num_tokens, num_written = random.Random(seed), 0, 0
    tokens = engine.vocabulary
    while num_written < num_blocks:
        sets = offer_sets(40, rng.choice((1, 5, 50)), seed=rng.randrange(10**9))
        row, text = Row(FreshOffers(f"blocks {seed} {num_written}", sets)), Text(sets)
        while len(text.sets) > 3 and num_written + 40 - len(text.sets) < num_blocks:
            mask = engine.mask(row)
            if mask.all_but:
                opening = [t for t in (b" [[", b"[[", b"] [[infer: (", b"x") if row.accepts(t)]
                token = rng.choice(opening)
            else:
                token = tokens[int(rng.choice(mask.ids))]
            assert token is not None
            row.push(token)
            text.write(token)
            num_tokens += 1
        num_written += 40 - len(text.sets)
    return num_tokens


def test_no_block_is_invalid():
    assert write_blocks(engine_of(32_000), 1_500, seed=1) > 1_500


@pytest.mark.slow
def test_no_block_of_a_hundred_thousand_is_invalid():
    assert write_blocks(engine_of(128_000), 100_000, seed=2) > 100_000


@pytest.mark.parametrize("size", [32_000, 128_000])
def test_masks_equal_those_of_xgrammar(size):
    """Its grammar is one block and free text after it, in which no other block begins."""
    xgrammar = pytest.importorskip("xgrammar", reason="an oracle for tests alone: pip install --no-deps xgrammar")
    tokens = vocabulary_of(size)
    described = xgrammar.TokenizerInfo(
        [token or b"" for token in tokens], xgrammar.VocabType.RAW, vocab_size=size, stop_token_ids=[END]
    )
    compiler, num_states = xgrammar.GrammarCompiler(described), 0
    for seed in range(32):
        rng, sets = random.Random(seed), offer_sets(2, (5, 50)[seed % 2], seed=seed)
        words = " | ".join(f'"{word.decode()}"' for word in sets[0])
        compiled = compiler.compile_grammar(f'root ::= ({words}) tail\ntail ::= ([^[] | "[" [^[])* ("[" | "[[")?')
        matcher, row = xgrammar.GrammarMatcher(compiled), Row(FreshOffers(f"xgrammar {size} {seed}", sets))
        row.push(b"[[")
        bitmask = xgrammar.allocate_token_bitmask(1, size)
        while row.block is not None and row.guide.key[1] == 0:
            matcher.fill_next_token_bitmask(bitmask)
            bits = np.unpackbits(bitmask.numpy().view(np.uint8), bitorder="little")[:size]
            ids = engine_of(size).allowed(row)
            # What opens the next block and writes into it is beyond a grammar that is fixed beforehand.
            beyond = [i for i in ids.tolist() if b"[[" in tokens[i][:-2]]
            assert np.flatnonzero(bits).tolist() == np.setdiff1d(ids, beyond).tolist()
            choice = int(rng.choice(np.setdiff1d(ids, beyond)))
            assert matcher.accept_token(choice)
            row.push(tokens[choice])
            num_states += 1
    assert num_states > 250


def spellings(text: bytes, tokens: list[bytes]) -> int:
    """The least number of tokens that spell a text, by trying all."""
    if not text:
        return 0
    return 1 + min((spellings(text[len(t) :], tokens) for t in tokens if text.startswith(t)), default=10**6)


def test_near_the_limit_only_blocks_that_still_fit():
    letters = [bytes([byte]) for byte in range(32, 127)]
    tokens = [*letters, b"ab", b"abc", b"[[a", b"]]", b"c]]", b" [[", b"cd", b"d]] [[", b"bcd]"]
    engine = MaskEngine([None, *tokens], [0])
    sets = [[b"abcd]]", b"ab]]", b"xxxxxxxx]]"]] * 9
    for seed in range(30):
        rng, row = random.Random(seed), Row(FreshOffers("fit", sets))
        for left in range(14, 0, -1):
            ids = engine.fitting(row, left)
            listed = set(ids.ids.tolist())
            allowed = set(range(len(tokens) + 1)) - listed if ids.all_but else listed
            for token_id in engine.allowed(row).tolist():
                after = row if token_id == 0 else row.after(tokens[token_id - 1])
                inside = after is not None and after.block is not None
                need = min(spellings(e, tokens) for e in after.automaton.endings(after.block)) if inside else 0
                assert (token_id in allowed) == (need < left), (row.block, token_id, left)
            choice = rng.choice(sorted(allowed))
            if choice:
                row.push(tokens[choice - 1])
        assert row.block is None


def test_what_is_forced_is_what_all_words_left_have_in_common():
    tokens = [bytes([byte]) for byte in range(256)] + [b"infer: (", b"infer", b"warm", b" tom", b")]]", b")]].", b")"]
    engine = MaskEngine(tokens, [])
    row = Row(FreshOffers("forced", [[b"infer: (warm tom)]]", b"infer: (warm rex)]]"]]))
    assert engine.forced(row) == []
    row.push(b"[[")
    assert b"".join(tokens[i] for i in engine.forced(row)) == b"infer: (warm "[:-1]
    row.push(b"infer: (warm t")
    written = b"".join(tokens[i] for i in engine.forced(row))
    assert written == b"om"
    row.push(written)
    assert engine.forced(row) == []


def test_a_spelling_that_is_not_the_text_is_not_used():
    tokens = [bytes([byte]) for byte in range(256)]
    engine = MaskEngine(tokens, [], spell=lambda text: [32, *text])
    row = Row(FreshOffers("spelled", [[b"abc]]"]]))
    row.push(b"[[")
    assert bytes(engine.forced(row)) == b"abc]]"


def test_the_trie_finds_what_sorting_finds():
    tokens = vocabulary(3_000)
    trie = TokenTrie(tokens)
    for start in (b" t", b"(", b"infer", b"]]"):
        node = trie.follow(ROOT, start)
        assert node != ROOT
        assert sorted(trie.below(node).tolist()) == [i for i, t in enumerate(tokens) if t and t.startswith(start)]
        longer = {bytes([byte]) for byte, _ in trie.children(node)}
        assert longer == {t[len(start) :][:1] for t in tokens if t and t.startswith(start) and len(t) > len(start)}


def test_reading_many_bytes_at_once_is_reading_them_one_by_one():
    words = Words(offer_sets(1, 200, seed=3)[0])
    for seed in range(300):
        rng = random.Random(seed)
        word = rng.choice(words.words)
        at, length = rng.randrange(len(word)), rng.randrange(1, 12)
        state = words.start
        for byte in word[:at]:
            state = words.step(state, byte)
        text = word[at : at + length] if rng.random() < 0.7 else rng.choice(words.words)[at : at + length]
        slow = state
        for byte in text:
            slow = None if slow is None or words.done(slow) else words.step(slow, byte)
        assert words.leap(state, text) == slow
    assert words.shortest(words.start) == min(words.words, key=len)


REGULAR = {
    "logic": (lambda: Actions(logic.formalising(plain=True)), b"axiom:(not (visits 'x mouse)) -> (kind 'x)]]"),
    "terms": (lambda: Actions(logic.formalising(plain=False)), b"goal:(likes (father-of tom) bald_eagle)]]"),
    "peano axiom": (original._axiom, b"(cat 'x) -> (mammal 'x)]]"),
    "peano equation": (original._equation, b"(x + 3) = 2 * y]]"),
}


@pytest.mark.parametrize("name", REGULAR)
@pytest.mark.parametrize("size", [8_000, pytest.param(128_000, marks=pytest.mark.slow)])
def test_a_walk_of_the_whole_vocabulary_is_a_walk_of_its_nodes(name, size, monkeypatch):
    monkeypatch.setattr(masks, "_FEW_NODES", 0)
    engine, automaton, rng = engine_of(size), REGULAR[name][0](), random.Random(name)
    states = [automaton.start]
    for byte in REGULAR[name][1][:-1]:
        states.append(automaton.step(states[-1], byte))
    for _ in range(8):
        state = rng.choice(states)
        for _ in range(rng.randrange(10)):
            state = rng.choice(list(automaton.moves(state).values()))
            if automaton.done(state):
                break
            states.append(state)
    assert None not in states
    for state in rng.sample(states, 10):
        whole, node_by_node = masks._Found(), masks._Found(states=[])
        assert engine._walk_whole(automaton, state, whole)
        engine._walk(ROOT, automaton, state, 0, node_by_node)
        assert whole.whole is not None
        assert whole.whole.ids.tolist() == sorted(node_by_node.ids)
        assert sorted(whole.ends) == sorted(node_by_node.ends)
        after = dict(zip(node_by_node.ids, node_by_node.states or [], strict=True))
        found = [whole.whole.table.states[number] for number in whole.whole.states]
        assert found == [after[i] for i in whole.whole.ids.tolist()]


class Endless(Automaton):
    """All words of letters, under an automaton that forgets nothing: no two states are one."""

    key, start = "endless", b""

    def step(self, state: bytes, byte: int) -> bytes | None:
        if state.endswith(b"]"):
            return state + b"]" if byte == ord("]") else None
        return state + bytes([byte]) if bytes([byte]).isalpha() or (state and byte == ord("]")) else None

    def done(self, state: bytes) -> bool:
        return state.endswith(b"]]")

    def state_key(self, state: bytes) -> bytes:
        return state


def test_an_automaton_that_is_walked_slowly_is_named_once(caplog):
    engine, automaton = MaskEngine(vocabulary(32_000), [END]), Endless()
    regular = RegularLanguage("letters", sequence(repeat(chars(string.ascii_letters)), literal("]]")))
    rows = [row_inside(each) for each in (automaton, regular)]
    assert np.array_equal(*(engine.allowed(row) for row in rows))
    rows[0].push(b"abc")
    engine.allowed(rows[0])
    assert [record.getMessage()[:40] for record in caplog.records] == ["masks of 'endless' are found token by to"]


def row_inside(automaton) -> Row:
    """A row whose guide allows one block, of the automaton."""

    class Guide:
        key = "one"

        def allowed(self):
            return automaton

        def close(self, block: bytes) -> None: ...

        def clone(self):
            return self

    row = Row(Guide())
    row.push(b"[[")
    return row
