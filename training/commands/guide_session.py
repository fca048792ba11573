"""Positions of texts under a guide: what it allows after each."""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from critics.errors import InputError
from critics.problem import Problem
from critics.text.blocks import ACTIONS
from rollout.decoding.automaton import Automaton, Words
from rollout.decoding.guide import CLOSE, Guide
from rollout.guides.catalogue import guide_named, known_guides
from training.records.store import read_records, read_text, write_records

Mode: TypeAlias = Literal["fixed", "compatible"]

_MAX_WORDS = 200
_MAX_NODES = 1000
"""Limits of the search of a guide's grammar, beyond which its words count as too many to list."""
_LOGIC_STATES = {"axiom": "axiom", "goal": "goal", "infer": "infer"}
"""The states inside a block of a known action; every other action is followed by a name."""


@dataclass(frozen=True, slots=True)
class Position:
    """Position of a text: `free`, `action` or, inside a block, what is being written."""

    state: str
    allowed: list[str] | None
    """Words that may stand here as a whole, given what is typed of it, sorted; None where that is not finite."""
    goal: str | None
    unusable: str | None = None
    """Reason for which the original engine would have stopped before; only the `compatible` mode has such texts."""
    dropped: tuple[str, ...] = ()
    """The blocks that changed nothing because they mean nothing, each with the reason; of the guide `logic`."""


def build_guide(name: str, mode: str = "fixed", source: Path | None = None) -> Guide:
    """Return a guide at its start; raises `InputError` for a name, a mode or a source that it does not have."""
    if name not in known_guides():
        raise InputError(f"guide {name!r}: must be one of {', '.join(known_guides())}")
    if mode not in get_args(Mode):
        raise InputError(f"--mode {mode!r}: must be one of {', '.join(get_args(Mode))}")
    if mode != "fixed" and name != "logic":
        raise InputError(f"--mode {mode}: only the guide `logic` has it; leave it out")
    if (source is not None) != (name == "quote"):
        raise InputError("--source FILE: the guide `quote` needs the text to quote from, and no other guide has one")
    about = Problem("", "", "", "") if source is None else Problem(source.name, "", read_text(source), "")
    return _original() if mode == "compatible" else guide_named(name, about)


def _original() -> Guide:
    """Return the original engine's guide, which stands in a clone of the repository alone."""
    try:
        return import_module("tools.conformance.guide").PeanoGuide()
    except ModuleNotFoundError as error:
        raise InputError(
            "--mode compatible: the original engine's bugs are for conformance tests and not installed; run it in a "
            "clone of the repository (python -m training guide logic --mode compatible)"
        ) from error


def position(guide: Guide, text: str) -> Position:
    """Return where `text` stands once its blocks are played to a clone of `guide`."""
    guide = guide.clone()
    closed, typed = split_open(text)
    for block in closed:
        guide.close(block.encode("utf-8", "replace"))
    state, allowed = ("free", None) if typed is None else _inside(guide, typed)
    goal: str | None = getattr(guide, "goal_status", None)
    return Position(state, allowed, goal, getattr(guide, "unusable", None), getattr(guide, "dropped", ()))


def split_open(text: str) -> tuple[list[str], str | None]:
    """Return the closed blocks without their markers, and what is typed of an open one; nothing nests."""
    closed: list[str] = []
    at = 0
    while (start := text.find("[[", at)) != -1:
        end = text.find("]]", start + 2)
        if end == -1:
            return closed, text[start + 2 :]
        closed.append(text[start + 2 : end])
        at = end + 2
    return closed, None


def _inside(guide: Guide, typed: str) -> tuple[str, list[str] | None]:
    """Return the state inside an open block, and the whole actions or contents that continue what is typed."""
    action, colon, content = typed.partition(":")
    if hasattr(type(guide), "offers"):  # the guide `logic`, or the original's
        known: list[str] = getattr(guide, "actions", sorted(ACTIONS))
        if not colon or action not in known:
            return "action", [a for a in known if not colon and a.startswith(typed)]
        offers = _continuing(getattr(guide, "offers"), content) if action == "infer" else None  # noqa: B009
        return _LOGIC_STATES.get(action, "name"), offers
    actions = action_names(guide.allowed())
    if not colon or (actions is not None and action not in actions):
        return "action", None if actions is None else [a for a in actions if not colon and a.startswith(typed)]
    words = finite_words(guide.allowed(), typed)
    return "block", None if words is None else [word.partition(":")[2] for word in words]


def _continuing(offers: list[str], content: str) -> list[str]:
    if content.endswith("]"):
        return [offer for offer in offers if offer == content[:-1]]
    return [offer for offer in offers if offer.startswith(content)]


def finite_words(automaton: Automaton, typed: str) -> list[str] | None:
    """Return the words that begin with `typed`, sorted and without `]]`; None where they are too many to list."""
    start = typed.encode("utf-8", "replace")
    if isinstance(automaton, Words):
        words = [word for word in automaton.words if word.startswith(start)]
    else:
        words = _search(automaton, start, colon=False)
    return None if words is None else sorted(word.removesuffix(CLOSE).decode(errors="replace") for word in words)


def action_names(automaton: Automaton) -> list[str] | None:
    """Return what may stand before the colon of a block, sorted."""
    if isinstance(automaton, Words):
        words = [word.partition(b":")[0] for word in automaton.words]
    else:
        words = _search(automaton, b"", colon=True)
    return None if words is None else sorted({word.decode(errors="replace") for word in words})


def _search(automaton: Automaton, start: bytes, *, colon: bool) -> list[bytes] | None:
    """Return the words from `start` on, or only what stands before their colons, breadth first.

    Every state that waits leads to one word at least, so that too many words are soon noticed.
    """
    state = automaton.start
    for byte in start:
        state = None if automaton.done(state) else automaton.step(state, byte)
        if state is None:
            return []
    words: list[bytes] = []
    waiting = deque([(state, start)])
    for _ in range(_MAX_NODES):
        if not waiting or len(words) + len(waiting) > _MAX_WORDS:
            break
        state, read = waiting.popleft()
        if automaton.done(state) or (colon and read.endswith(b":")):
            words.append(read.removesuffix(b":"))
            continue
        after = ((byte, automaton.step(state, byte)) for byte in range(256))
        waiting.extend((place, read + bytes([byte])) for byte, place in after if place is not None)
    return None if waiting else words


def answer_batch(name: str, mode: str, source: Path | None, batch: Path, out: Path | None) -> int:
    """Write one line for each `{"id", "text"}` line, in order, to `out` or standard output; return their number."""
    guide = build_guide(name, mode, source)
    shown = {"mode": mode} if name == "logic" else {}
    lines = [{"id": id_, **_answer(position(guide, text), shown)} for id_, text in _texts(batch)]
    if out is None:
        for line in lines:
            print(json.dumps(line))
    else:
        write_records(out, lines)
    return len(lines)


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    for number, record in enumerate(read_records(path), 1):
        for key in ("id", "text"):
            if not isinstance(record.get(key), str):
                raise InputError(f"{path}: record {number}: {key!r} must be a string")
        yield record["id"], record["text"]


def _answer(here: Position, shown: dict[str, str]) -> dict[str, str | list[str] | None]:
    """Return the answer for a text; a text that the original engine refuses says so, and decides nothing."""
    unusable = {} if here.unusable is None else {"unusable": here.unusable}
    dropped = {"dropped": list(here.dropped)} if here.dropped else {}
    return {"state": here.state, "allowed": here.allowed, "goal": here.goal, **shown, **unusable, **dropped}
