"""A guided text taken apart: its formalisation, its inferences with the words that belong to them, its answer.

    Reasoning: (cat 'x) -> (pet 'x) [[infer:(pet tom)]] (pet 'x) -> (loved 'x) [[infer:(loved tom)]]
    Reasoning: [[infer:(pet tom)]] Tom is a pet. [[infer:(loved tom)]] Tom is loved.

A writer's words stand before each inference or after each; the ends of the reasoning tell which. Where both ends
have words, or neither and the middle has, a text is not taken apart: words beside another inference than their
own would teach nonsense.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from critics.replay.formula import Literal, Statement, parse_literal, parse_statement
from critics.text.blocks import Block, answer_start, split_blocks
from rollout.records.traces import Trace

_BLOCK = re.compile(r"\[\[.*?\]\]", re.DOTALL)
_REASONING = re.compile(r"reasoning[ \t]*:", re.IGNORECASE)


class RationaleError(ValueError):
    """The text cannot be taken apart so that words and inferences stay together."""


@dataclass(frozen=True, slots=True)
class Step:
    """One inference and the words that belong to it."""

    literal: Literal | None
    """None: the claim that nothing more can be inferred."""
    gap: str
    """The blanks before it."""
    text: str
    """Its block and its words, without blanks at the ends."""


@dataclass(frozen=True, slots=True)
class Rationale:
    """A guided text; `text` puts it together again, character by character."""

    head: str
    """Everything up to the reasoning, the formalisation included."""
    steps: tuple[Step, ...]
    ending: str
    """Text after the last step: blanks, and the answer line where there is one."""

    @property
    def text(self) -> str:
        """Return the whole text."""
        return self.head + "".join(step.gap + step.text for step in self.steps) + self.ending

    def only(self, positions: Collection[int]) -> "Rationale":
        """Keep the steps at these positions, in their order, spaced as before."""
        kept = [step for position, step in enumerate(self.steps) if position in positions]
        if kept:
            kept[0] = replace(kept[0], gap=self.steps[0].gap)
        return replace(self, steps=tuple(kept))

    def speaks_of(self, predicates: Collection[str]) -> bool:
        """Say whether the steps' words, outside their blocks, name one of these predicates, in one or many."""
        if not predicates:
            return False
        names = "|".join(re.escape(name).replace(r"\-", "[ -]") for name in sorted(predicates))
        named = re.compile(rf"(?<![\w-])(?:{names})(?:e?s)?(?![\w-])", re.IGNORECASE)
        return any(named.search(_BLOCK.sub("", step.text)) for step in self.steps)


def predicates_of(statements: Iterable[Statement]) -> set[str]:
    """Return every predicate that the statements use."""
    return {
        literal.predicate
        for statement in statements
        for literal in ([statement] if isinstance(statement, Literal) else [*statement.premises, statement.conclusion])
    }


def take_apart(text: str) -> Rationale:
    """Take a guided text apart, its blocks read as the critic reads them.

    Raises `BlockError` and `FormulaError` for what is malformed, and `RationaleError`.
    """
    blocks = split_blocks(text)
    inferences = [block for block in blocks if block.action == "infer"]
    start_of_answer = answer_start(text)
    end = len(text) if start_of_answer is None else start_of_answer
    if not inferences:
        return Rationale(text[:end], (), text[end:])
    if _end(inferences[-1]) > end:
        raise RationaleError("an inference stands in the answer line")
    start = _reasoning_start(text, blocks, inferences[0])
    pieces = [text[a:b] for a, b in pairwise(_boundaries(text, inferences, start, end))]
    steps, blanks = _steps(pieces, inferences)
    return Rationale(text[:start], steps, blanks + text[start + sum(map(len, pieces)) :])


def _steps(pieces: list[str], inferences: list[Block]) -> tuple[tuple[Step, ...], str]:
    """Return the steps, and the blanks after the last one; blanks between two go before the later one."""
    steps: list[Step] = []
    blanks = ""
    for piece, block in zip(pieces, inferences, strict=True):
        words = piece.strip()
        gap = blanks + piece[: len(piece) - len(piece.lstrip())]
        steps.append(Step(_literal(block), gap, words))
        blanks = piece[len(piece.rstrip()) :]
    return tuple(steps), blanks


def _literal(block: Block) -> Literal | None:
    return None if block.content.strip() == "nothing" else parse_literal(block.content)


def _boundaries(text: str, inferences: list[Block], start: int, end: int) -> list[int]:
    """Return where each step begins, and where the last one ends."""
    opens, closes = [block.start for block in inferences], [_end(block) for block in inferences]
    first, last = text[start : opens[0]].strip(), text[closes[-1] : end].strip()
    middle = any(text[a:b].strip() for a, b in zip(closes, opens[1:], strict=False))
    if (first and last) or (middle and not first and not last):
        raise RationaleError("whether words stand before their inference or after it cannot be told")
    return [start, *closes] if first else [start, *opens[1:], end]


def _reasoning_start(text: str, blocks: list[Block], first: Block) -> int:
    """Return the offset after `Reasoning:`, or after the formalisation where that word is missing."""
    formal = [_end(b) for b in blocks if b.action in ("axiom", "goal") and b.start < first.start]
    after = max(formal, default=0)
    marker = _REASONING.search(text, after, first.start)
    return after if marker is None else marker.end()


def _end(block: Block) -> int:
    return block.start + len(f"[[{block.action}:{block.content}]]")


SUFFIX = "~pruned"


def pruned(trace: Trace) -> Trace | None:
    """Return a draft without the inferences that the proof does not use; None where there is nothing to drop.

    Raises `RationaleError` where something should be dropped and cannot be. Dialogs are left alone, because a
    later turn answers what stood before it, and so is whatever is certified by something else than a proof:
    the claim that nothing follows needs every inference.
    """
    certificate, completion = trace.judged.certificate, trace.completion
    if trace.format != "guided" or trace.messages or certificate is None or certificate["kind"] != "horn-proof":
        return None
    steps = certificate["evidence"]["steps"]
    proof = {parse_literal(step["statement"]) for step in steps if step["by"] == "rule"}
    if completion.count("[[infer:") == len(proof):
        return None
    rationale = take_apart(completion)
    kept = [position for position, step in enumerate(rationale.steps) if step.literal in proof]
    if len(kept) != len(proof) or {rationale.steps[position].literal for position in kept} != proof:
        # Attack: the certificate is another trace's, and its proof is not in this text, or is there twice.
        raise RationaleError("the certificate's proof is not what the text infers")
    rest = rationale.only(kept)
    dropped = predicates_of(step.literal for step in rationale.steps if step.literal is not None)
    if rest.speaks_of(dropped - predicates_of(parse_statement(step["statement"]) for step in steps)):
        raise RationaleError("the words of a kept inference go back to one that would be dropped")
    return draft(trace, trace.id + SUFFIX, "prune", completion=rest.text)


def draft(trace: Trace, draft_id: str, by: str, **changes: Any) -> Trace:
    """Return a new attempt made of a trace, with where it comes from and without what holds for the trace alone.

    The token ids are emptied: they spell the old text, and fine-tuning tokenises what has none.
    """
    made = replace(trace, id=draft_id, completion_ids=(), derived_from=trace.id, by=by, judgement=None)
    return replace(made, **changes)
