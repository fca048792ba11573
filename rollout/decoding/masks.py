"""Masks: the tokens that may come next when a guide watches a row, found from the bytes that it allows.

Every token is judged by its bytes, so nothing depends on the tokenizer's taste and tokens may straddle the
markers. Finite sets are walked against the vocabulary's trie; masks are shared between rows and samples whose
keys are equal.
"""

import logging
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np

from rollout.decoding.automaton import Automaton, State, Words
from rollout.decoding.guide import CLOSE, OPEN
from rollout.decoding.rows import Place, Row, SentenceRow
from rollout.decoding.vocabulary import (
    ROOT,
    Ids,
    MoveTable,
    TokenTrie,
    TooManyStates,
    TrieLevels,
    Walk,
)

log = logging.getLogger(__name__)
_FEW_NODES = 2_000
"""Up to so many nodes below a state's bytes, one after another is faster than all at once."""
_MANY_SHARE = 0.15
"""Share of the vocabulary: a mask that allows more of it names what it refuses."""
_MOST_MASKS = 20_000
"""A finite set's masks are a few hundred bytes, so a full cache is tens of megabytes."""
_MOST_SPELLINGS = 100_000
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """The tokens that may come next: `ids`, ascending, or all tokens but those."""

    ids: Ids
    all_but: bool = False
    on_device: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """A long list as a tensor of what is refused, where it was needed: to send it at every step would take longer."""


@dataclass(slots=True)
class _Found:
    """Tokens found by a walk of the trie."""

    ids: list[int] = field(default_factory=list[int])
    whole: Walk | None = None
    """Walk of the whole vocabulary, in the place of the ids."""
    states: list[State] | None = None
    """The automaton's state after each of the ids; only where it was asked for."""
    ends: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Nodes at which the block ends, and how many bytes of a token lead there."""

    def add(self, ids: tuple[int, ...], state: State) -> None:
        """Take in tokens that stay inside the block."""
        self.ids += ids
        if self.states is not None:
            self.states += [state] * len(ids)


class MaskEngine:
    """The tokens allowed to a row, exact for every token; `vocabulary[i]` is None for special tokens."""

    def __init__(
        self,
        vocabulary: Sequence[bytes | None],
        eos_ids: Sequence[int],
        *,
        spell: Callable[[bytes], list[int]] | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self.eos_ids = np.array(sorted(eos_ids), dtype=np.int64)
        self.trie = TokenTrie(vocabulary)
        self._spell = spell or self.trie.longest_match
        """The tokenizer's own spelling of a text; it is not trusted (`forced`)."""
        self._unspoken = np.setdiff1d(self.trie.special, self.eos_ids)
        self._nothing_refused = Mask(self._unspoken, all_but=True)
        self._masks: dict[Hashable, Mask] = {}
        self._opened: dict[bool, dict[int, bytes]] = {}
        self._refused: dict[Hashable, Mask] = {}
        self._needs: dict[Hashable, tuple[Ids, Ids]] = {}
        self._fewest: dict[Hashable, int] = {}
        self._held: dict[re.Pattern[bytes], Ids] = {}
        self._levels: TrieLevels | None = None
        self._tables: WeakKeyDictionary[Automaton, MoveTable | None] = WeakKeyDictionary()
        """Tables of the automata that were walked; None where a table is of no use."""

    def allowed(self, row: Row) -> Ids:
        """Return the ids that may come next, ascending; end-of-text only in free text. Never empty."""
        mask = self.mask(row)
        return self._others(mask.ids) if mask.all_but else mask.ids

    def _others(self, ids: Ids) -> Ids:
        """Return all ids but these, ascending."""
        others = np.ones(len(self.vocabulary), dtype=bool)
        others[ids] = False
        return np.flatnonzero(others)

    def _allowing(self, ids: Ids) -> Mask:
        """Return the mask that allows just these; a name may begin with half of all tokens, which none should list."""
        many = len(ids) > _MANY_SHARE * len(self.vocabulary)
        return Mask(self._others(ids), all_but=True) if many else Mask(ids)

    def mask(self, row: Row) -> Mask:
        """Return what may come next as one of two lists: what is allowed, or what is not where much is."""
        key = row.key
        mask = self._masks.get(key)
        if mask is None:
            mask, cacheable = self._free(row) if row.block is None else self._block(row)
            if cacheable:
                _keep(self._masks, key, mask, _MOST_MASKS)
        return mask

    def shares(self, row: Row) -> bool:
        """Say whether rows with the same key share its mask, which was asked for before."""
        return row.key in self._masks

    def fitting(self, row: Row, num_left: int) -> Mask:
        """Return what may come next if the text ends after `num_left` more tokens: only blocks that still fit.

        A block fits if some way to end it can be spelled exactly in the tokens left; one that only a token
        straddling its end would bring home counts as too long. Where nothing fits, everything that is allowed is.
        """
        mask = self.mask(row)
        if row.block is None:
            return self._openings_that_fit(row, mask, num_left)
        if isinstance(row.automaton, Words) and max(map(len, row.automaton.endings(row.block))) < num_left:
            return mask
        ids, needs = self._needed(row, mask)
        kept = ids[needs < num_left]
        return self._allowing(kept) if len(kept) else mask

    def fewest(self, row: Row) -> int:
        """Return how many tokens at most are needed to end the open block; 0 in free text.

        For words it is the least number of tokens; for other automata, that of one of the shortest endings.
        """
        return 0 if row.block is None else self._fewest_from(row.automaton, row.block)

    def forced(self, row: Row) -> list[int]:
        """Return the tokens that need no model: the usual spelling of the bytes that must come next, if there are any.

        The last of them is held back where a longer allowed token begins with it: the model chooses between them.
        """
        if row.block is None:
            return []
        text = row.automaton.forced(row.block)
        ids = self._spell(text)
        if b"".join(self.vocabulary[i] or b"" for i in ids) != text:
            # A tokenizer that adds a blank or normalises does not spell this text.
            ids = self.trie.longest_match(text)
        if not ids:
            return []
        before = row.after(b"".join(self.trie.bytes_of(i) for i in ids[:-1]))
        assert before is not None
        node = self.trie.follow(ROOT, self.trie.bytes_of(ids[-1]))
        longer = self.trie.below(node)[len(self.trie.ids[node]) :]
        return ids[:-1] if np.isin(longer, self.allowed(before)).any() else ids

    def _free(self, row: Row) -> tuple[Mask, bool]:
        """Return the mask in free text, or behind the last sentence, and whether rows with the same key share it."""
        if isinstance(row, SentenceRow):
            return Mask(self.eos_ids), True
        if row.place is not None and row.place.written is not None:
            return self._conclusion(row, row.place), True
        openings = self._openings(row.pending)
        held = set[int]() if row.place is None else set[int](self._touching(row.place.touched).tolist())
        refused, is_shared = list[int](), True
        for i in held.union(openings):
            verdict = None
            if i not in held:
                automaton, inside = row.guide.allowed(), openings[i]
                state, num_read = automaton.read(automaton.start, inside)
                # Where a block ends amid the bytes, what follows is up to the row.
                verdict = False if state is None else True if num_read == len(inside) else None
            if verdict is None:
                verdict = row.accepts(self.trie.bytes_of(i))
                # What a token allows that ends a block and goes on depends on what the guide learns in between.
                is_shared = is_shared and CLOSE not in openings.get(i, b"")
            if not verdict:
                refused.append(i)
        ids = tuple(sorted(refused))
        if ids and ids not in self._refused:  # the same object for the same ids, of which few are met
            unspoken = np.union1d(self._unspoken, np.array(ids, dtype=np.int64))
            _keep(self._refused, ids, Mask(unspoken, all_but=True), _MOST_MASKS)
        return self._refused[ids] if ids else self._nothing_refused, is_shared

    def _openings(self, pending: bool) -> dict[int, bytes]:
        """Return what each token writes into a block that it opens in free text, where that is anything."""
        if pending not in self._opened:
            before, tokens = OPEN[:1] if pending else b"", self.trie.opening(ROOT, 0, pending=pending)
            inside = {i: _after_open(before + self.trie.bytes_of(i)) for i in tokens}
            self._opened[pending] = {i: text for i, text in inside.items() if text}
        return self._opened[pending]

    def _block(self, row: Row) -> tuple[Mask, bool]:
        """Return the mask inside a block, and whether rows with the same key share it."""
        plain, doubtful = self._split(row, self._walked(row))
        accepted = [i for i in doubtful if row.accepts(self.trie.bytes_of(i))]
        ids = np.concatenate([plain, np.array(accepted, dtype=np.int64)])
        ids.sort(kind="stable")
        return self._allowing(ids), not doubtful

    def _walked(self, row: Row, *, states: bool = False) -> _Found:
        found, automaton, state = _Found(states=[] if states else None), row.automaton, row.block
        if isinstance(automaton, Words):
            self._walk_words(automaton.words, cast("tuple[int, int, int]", state), found)
        elif not self._walk_whole(automaton, state, found):
            self._walk(ROOT, automaton, state, 0, found)
        return found

    def _walk_whole(self, automaton: Automaton, state: State, found: _Found) -> bool:
        """Walk the whole vocabulary at once where that is faster than one node after another; say whether it was."""
        children = [self.trie.edges.get(byte, ROOT) for byte in automaton.moves(state)]
        if sum(self.trie.ends[child] - child for child in children if child != ROOT) < _FEW_NODES:
            return False
        table = self._tables.setdefault(automaton, MoveTable())
        if table is None:
            return False
        self._levels = self._levels or TrieLevels(self.trie)
        try:
            found.whole = self._levels.walk(automaton, state, table)
        except TooManyStates:
            self._tables[automaton] = None
            log.warning(
                "masks of %.60s are found token by token, some in tenths of a second: it has too many states",
                f"{automaton.key!r}",
            )
            return False
        found.ends += found.whole.ends
        return True

    def _split(self, row: Row, found: _Found) -> tuple[Ids, list[int]]:
        """Return the ids that are allowed, and those that only the row itself can judge."""
        parts = [np.array(found.ids, dtype=np.int64) if found.whole is None else found.whole.ids]
        doubtful = list[int]()
        for node, depth in found.ends:
            if isinstance(row, SentenceRow):
                parts.append(np.array(self.trie.ids[node], dtype=np.int64))
                after = [self.trie.edges.get(node << 8 | byte, ROOT) for byte in b" \n"]
                doubtful += [i for child in after if child != ROOT for i in self.trie.below(child).tolist()]
                continue
            below = self.trie.below(node)
            opening = self.trie.opening(node, depth)
            going_on = [i for i in opening if _after_open(self.trie.bytes_of(i)[depth:])]
            parts.append(np.setdiff1d(below, np.array(going_on)) if going_on else below)
            doubtful += going_on
        plain = np.concatenate(parts)
        if row.place is not None:
            held = np.isin(plain, self._touching(row.place.touched))
            doubtful += plain[held].tolist()
            plain = plain[~held]
        return plain, doubtful

    def _walk_words(self, words: Sequence[bytes], state: tuple[int, int, int], found: _Found) -> None:
        """Collect the tokens that some of the sorted words go on with; this is where the time of a step goes."""
        edges, start = self.trie.edges, state[2]
        branches = [(*state, ROOT)]
        while branches:
            low, high, at, node = branches.pop()
            if high - low == 1:
                self._walk_word(words[low], (low, at, start), node, found)
                continue
            while low < high:
                byte, after = words[low][at], low + 1
                if words[high - 1][at] == byte:
                    after = high
                while after < high and words[after][at] == byte:
                    after += 1
                child = edges.get(node << 8 | byte, ROOT)
                if child != ROOT and at + 1 == len(words[low]):
                    found.ends.append((child, at + 1 - start))
                elif child != ROOT:
                    if self.trie.ids[child]:
                        found.add(self.trie.ids[child], (low, after, at + 1))
                    if self.trie.ends[child] > child + 1:  # tokens go on from it
                        branches.append((low, after, at + 1, child))
                low = after

    def _walk_word(self, word: bytes, place: tuple[int, int, int], node: int, found: _Found) -> None:
        """Collect the tokens that one word goes on with; `place` is its number, where it stands and where it began."""
        edges, ids_at = self.trie.edges, self.trie.ids
        low, at, start = place
        for end, byte in enumerate(word[at:], start=at + 1):
            node = edges.get(node << 8 | byte, ROOT)
            if node == ROOT:
                return
            if ids_at[node] and end < len(word):
                found.add(ids_at[node], (low, low + 1, end))
        found.ends.append((node, len(word) - start))

    def _walk(self, node: int, automaton: Automaton, state: State, depth: int, found: _Found) -> None:
        """Collect the tokens below `node` that any automaton allows."""
        for byte, child in self.trie.children(node):
            after = automaton.step(state, byte)
            if after is None:
                continue
            if automaton.done(after):
                found.ends.append((child, depth + 1))
            else:
                found.add(self.trie.ids[child], after)
                self._walk(child, automaton, after, depth + 1, found)

    def _conclusion(self, row: Row, place: Place) -> Mask:
        """Return the ids that spell the rest of a conclusion, and end-of-text where it is complete."""
        found = set[int](self.eos_ids.tolist() if row.may_end else ())
        for rest in place.endings(row.conclusions):
            node = ROOT
            for byte in rest:
                node = self.trie.edges.get(node << 8 | byte, ROOT)
                if node == ROOT:
                    break
                found.update(self.trie.ids[node])
        return Mask(np.array(sorted(found), dtype=np.int64))

    def _touching(self, pattern: re.Pattern[bytes]) -> Ids:
        """Return the ids that a conclusion held to the guide may refuse."""
        if pattern not in self._held:
            found = [i for i, token in enumerate(self.vocabulary) if token and pattern.search(token)]
            self._held[pattern] = np.array(found, dtype=np.int64)
        return self._held[pattern]

    def _openings_that_fit(self, row: Row, mask: Mask, num_left: int) -> Mask:
        """Return the mask of free text without the tokens that open a block too long for the tokens left."""
        if not mask.all_but:
            return mask
        refused = set(mask.ids.tolist())
        for i in self.trie.opening(ROOT, 0, pending=row.pending):
            if i not in refused:
                opened = row.after(self.trie.bytes_of(i))
                assert opened is not None
                if self.fewest(opened) >= num_left:
                    refused.add(i)
        return mask if len(refused) == len(mask.ids) else Mask(np.array(sorted(refused), dtype=np.int64), all_but=True)

    def _needed(self, row: Row, mask: Mask) -> tuple[Ids, Ids]:
        """Return the ids that may come next and how many more tokens each of them calls for."""
        key = row.key
        if key in self._needs:
            return self._needs[key]
        found = self._walked(row, states=True)
        automaton, whole = row.automaton, found.whole
        if whole is None:
            assert found.states is not None
            needs = {i: self._fewest_from(automaton, s) for i, s in zip(found.ids, found.states, strict=True)}
        else:
            fewest = {n: self._fewest_from(automaton, whole.table.states[n]) for n in np.unique(whole.states).tolist()}
            needs = {i: fewest[n] for i, n in zip(whole.ids.tolist(), whole.states.tolist(), strict=True)}
        opening = [i for node, depth in found.ends for i in self.trie.opening(node, depth)]
        for i in opening:
            after = row.after(self.trie.bytes_of(i))
            if after is not None:
                needs[i] = self.fewest(after)
        ids = self._others(mask.ids) if mask.all_but else mask.ids
        answer = ids, np.array([needs.get(i, 0) for i in ids.tolist()], dtype=np.int64)
        if not opening:
            _keep(self._needs, key, answer, _MOST_MASKS)
        return answer

    def _fewest_from(self, automaton: Automaton, state: State) -> int:
        if isinstance(automaton, Words):
            return min(map(self._num_tokens, automaton.endings(state)))
        key = automaton.state_key(state)
        if key not in self._fewest:
            _keep(self._fewest, key, self._num_tokens(automaton.shortest(state)), _MOST_SPELLINGS)
        return self._fewest[key]

    def _num_tokens(self, text: bytes) -> int:
        """Return the least number of tokens that spell `text`, from its end to its beginning."""
        known = self._fewest.get(text)
        if known is not None:
            return known
        never = len(text) + 1
        counts = [never] * len(text) + [0]
        for start in range(len(text) - 1, -1, -1):
            node = ROOT
            for end in range(start, len(text)):
                node = self.trie.edges.get(node << 8 | text[end], ROOT)
                if node == ROOT:
                    break
                if self.trie.ids[node]:
                    counts[start] = min(counts[start], 1 + counts[end + 1])
        _keep(self._fewest, text, counts[0], _MOST_SPELLINGS)
        return counts[0]


def _after_open(text: bytes) -> bytes:
    """Return what a text writes after its first `[[`: a block's first bytes, or nothing that could be refused."""
    return text[text.find(OPEN) + len(OPEN) :]


def _keep(cache: dict[Hashable, _Value], key: Hashable, value: _Value, most: int) -> None:
    """Remember the value; a full cache is emptied, since what is asked for again comes back at once."""
    if len(cache) >= most:
        cache.clear()
    cache[key] = value
