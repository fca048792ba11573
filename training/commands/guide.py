"""`guide`: positions of texts under a guide, and what it allows after each."""

import json
import sys
from collections import deque
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args

import typer

from critics.errors import InputError
from critics.problem import Problem
from critics.text.blocks import ACTIONS
from rollout.decoding.automaton import Automaton, Words
from rollout.decoding.guide import CLOSE, Guide
from rollout.guides.catalogue import guide_named, known_guides
from rollout.records.sampling import ENGLISH
from training.commands.options import say
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
    if name == ENGLISH:
        raise InputError(f"guide {name!r}: writes whole texts about a problem; name it in an arm and run `evaluate`")
    if mode not in get_args(Mode):
        raise InputError(f"--mode {mode!r}: must be one of {', '.join(get_args(Mode))}")
    if mode != "fixed" and name != "logic":
        raise InputError(f"--mode {mode}: only the guide `logic` has it; leave it out")
    if (source is not None) != (name == "quote"):
        raise InputError("--source FILE: the guide `quote` needs the text to quote from, and no other guide has one")
    about = Problem("", "", "", "") if source is None else Problem(source.name, "", read_text(source), "")
    if mode == "fixed":
        return guide_named(name, about)
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
        offers: list[str] | None = getattr(guide, "offers") if action == "infer" else None  # noqa: B009
        if offers is not None:
            is_closing = content.endswith("]")
            offers = [o for o in offers if (o == content[:-1] if is_closing else o.startswith(content))]
        return _LOGIC_STATES.get(action, "name"), offers
    actions = finite_words(guide.allowed(), "", colon=True)
    if not colon or (actions is not None and action not in actions):
        return "action", None if actions is None else [a for a in actions if not colon and a.startswith(typed)]
    words = finite_words(guide.allowed(), typed)
    return "block", None if words is None else [word.partition(":")[2] for word in words]


def finite_words(automaton: Automaton, typed: str, *, colon: bool = False) -> list[str] | None:
    """Return the words that begin with `typed`, or what stands before their colons, sorted and without `]]`.

    None where they are too many to list. The search is breadth first: every state that waits leads to one word at
    least, so that too many are soon noticed.
    """
    start = typed.encode("utf-8", "replace")
    if isinstance(automaton, Words):
        words = [word for word in automaton.words if word.startswith(start)]
    else:
        state = automaton.start
        for byte in start:
            state = None if automaton.done(state) else automaton.step(state, byte)
            if state is None:
                return []
        words, waiting = list[bytes](), deque([(state, start)])
        for _ in range(_MAX_NODES):
            if not waiting or len(words) + len(waiting) > _MAX_WORDS:
                break
            state, read = waiting.popleft()
            if automaton.done(state) or (colon and read.endswith(b":")):
                words.append(read)
                continue
            after = ((byte, automaton.step(state, byte)) for byte in range(256))
            waiting.extend((place, read + bytes([byte])) for byte, place in after if place is not None)
        if waiting:
            return None
    found = (word.partition(b":")[0] if colon else word.removesuffix(CLOSE) for word in words)
    return sorted({word.decode(errors="replace") for word in found})


EXAMPLE = "certistar guide logic --batch texts.jsonl --out allowed.jsonl"


def guide(
    name: Annotated[str, typer.Argument(help="logic, memory, quote, algebra or parity.")],
    batch: Annotated[
        Path | None, typer.Option("--batch", help='Texts, {"id", "text"} as JSON lines; lines as you type, if none.')
    ] = None,
    mode: Annotated[
        str,
        typer.Option("--mode", help="For logic: fixed, or compatible with the original engine, in a clone."),
    ] = "fixed",
    out: Annotated[Path | None, typer.Option("--out", help="Where to write; standard output, if none.")] = None,
    source: Annotated[Path | None, typer.Option("--source", help="For quote: the text to quote from.")] = None,
) -> None:
    """Say for each text where it stands under a guide, and what the guide allows next."""
    own = build_guide(name, mode, source)
    if batch is None:
        for line in sys.stdin:
            here = position(own, line.rstrip("\n"))
            print(json.dumps({"state": here.state, "allowed": here.allowed, "goal": here.goal}), flush=True)
        return
    records = list(read_records(batch))
    for number, record in enumerate(records, 1):
        if key := next((key for key in ("id", "text") if not isinstance(record.get(key), str)), None):
            raise InputError(f"{batch}: record {number}: {key!r} must be a string")
    shown = {"mode": mode} if name == "logic" else {}
    # A text that the original engine refuses says so, and decides nothing.
    lines = [
        {"id": record["id"], "state": here.state, "allowed": here.allowed, "goal": here.goal, **shown}
        | ({} if here.unusable is None else {"unusable": here.unusable})
        | ({"dropped": list(here.dropped)} if here.dropped else {})
        for record, here in ((record, position(own, record["text"])) for record in records)
    ]
    if out is None:
        for line in lines:
            print(json.dumps(line))
    else:
        write_records(out, lines)
    say(f"{len(lines)} answers{'' if out is None else f' in {out}'}")
