"""Texts cut to what is proved, or to what is read.

    judged traces -> cut texts -> judged anew -> derived traces, each in its original's place

A cut text is worth what its own certificate says; text and verdict take the original's place, so that what no critic
could read is never trained on.

The text that is proved is its format's matter (`Format.proved`): the canonical program, or the sentences that
something stands behind, and in English those alone that the answer rests on. A guided text is pruned as well, to the
inferences that its proof uses: a writer's words stand before each inference or after each, and the ends of the
reasoning tell which. Where that cannot be told, no inference is dropped: words beside another would teach nonsense.

An excerpt is a text that is not certified, without its sentences that nobody reads. What is left is judged as a text
of its own: a sentence that is read and does not hold refuses it, and so does a step that needed what was cut.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from critics.formats.format import find_format
from critics.formats.names import GUIDED
from critics.judge import Judging
from critics.problem import Attempt
from critics.replay.answers import in_terms_of
from critics.replay.formula import FormulaError, Literal, Statement, parse_literal, parse_statement
from critics.text.blocks import Block, BlockError, answer_start, split_blocks
from critics.verdict.reading import NOT_READ, Span
from rollout.records.traces import Judgement, Trace
from training.configuration.learning import Text
from training.curation.filters import judged, kept

MAX_CUTS = 16
"""Sentences that are cut out of one text at most; each cut is judged."""

_BLOCK = re.compile(r"\[\[.*?\]\]", re.DOTALL)
_MASKED = re.compile(r" *\0+")
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
    # The reasoning starts after that word, or after the formalisation where it is missing.
    formal = [_end(b) for b in blocks if b.action in ("axiom", "goal") and b.start < inferences[0].start]
    start = max(formal, default=0)
    if (marker := _REASONING.search(text, start, inferences[0].start)) is not None:
        start = marker.end()
    steps: list[Step] = []
    blanks, bounds = "", _boundaries(text, inferences, start, end)
    for (a, b), block in zip(pairwise(bounds), inferences, strict=True):
        piece = text[a:b]  # blanks between two steps go before the later one
        literal = None if block.content.strip() == "nothing" else parse_literal(block.content)
        steps.append(Step(literal, blanks + piece[: len(piece) - len(piece.lstrip())], piece.strip()))
        blanks = piece[len(piece.rstrip()) :]
    return Rationale(text[:start], tuple(steps), blanks + text[bounds[-1] :])


def _boundaries(text: str, inferences: list[Block], start: int, end: int) -> list[int]:
    """Return where each step begins, and where the last one ends."""
    opens, closes = [block.start for block in inferences], [_end(block) for block in inferences]
    first, last = text[start : opens[0]].strip(), text[closes[-1] : end].strip()
    middle = any(text[a:b].strip() for a, b in zip(closes, opens[1:], strict=False))
    if (first and last) or (middle and not first and not last):
        raise RationaleError("whether words stand before their inference or after it cannot be told")
    return [start, *closes] if first else [start, *opens[1:], end]


def _end(block: Block) -> int:
    return block.start + len(f"[[{block.action}:{block.content}]]")


def proved(trace: Trace) -> Trace | None:
    """Return a draft of a certified trace whose text is what its critic read; None where that is the whole text.

    Dialogs and round trips are left alone, because a later turn answers what stood before it, and texts with a model's
    formulas, which stand for their sentences one by one.
    """
    judged, problem, completion = trace.judged, trace.problem, trace.completion
    if trace.messages or trace.legs or judged.certificate is None or "formulas" in problem.meta:
        return None
    spans = _needed(judged)
    is_guided = trace.format == GUIDED
    written = _masked(completion, spans) if is_guided else completion
    text = find_format(trace.format).proved(Attempt(trace.id, problem, trace.format, written), spans)
    if is_guided:
        is_proof = judged.certificate["kind"] == "horn-proof"
        text = _MASKED.sub("", pruned(text, judged.certificate["evidence"]["steps"]) if is_proof else text)
    if text.strip() == completion.strip():
        return None
    # The token ids spell the old text, and fine-tuning tokenises what has none.
    changes: Any = {"completion": text, "sampled": completion, "completion_ids": (), "judgement": None}
    return replace(trace, id=f"{trace.id}~proved", derived_from=trace.id, by="proved", **changes)


def excerpt(trace: Trace) -> Trace | None:
    """Return a draft of a trace without the first sentence that its critic does not read; None where that is not why.

    A line of which no word is left goes with its number.
    """
    bad: Any = trace.judged.others.get("first_bad_step")
    text = trace.completion
    is_plain = not (trace.messages or trace.legs or "formulas" in trace.problem.meta)
    if not is_plain or trace.judged.verdict != "malformed" or not bad or not _is_unread(bad["reason"]):
        return None
    said, at = find_format(trace.format).steps(trace.problem, text), int(bad["index"])
    if at >= len(said) or bad["text"] not in said[at].text:
        return None
    start, end = said[at].start, said[at].end
    # **Goal:** is one sentence with its marks.
    while start and text[start - 1] in "*_`\"'" and text[start - 1] == text[end : end + 1]:
        start, end = start - 1, end + 1
    begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    stop = len(text) if stop < 0 else stop
    if not any(map(str.isalpha, text[begin:start] + text[end:stop])):
        start, end = begin, stop + 1
    left = text[:start] + text[end:].removeprefix(" ")
    changes: Any = {"completion": left, "completion_ids": (), "judgement": None, "by": "excerpt"}
    of = trace.derived_from or trace.id
    return replace(trace, id=f"{of}~excerpt", derived_from=of, sampled=trace.sampled or text, **changes)


def _is_unread(reason: str) -> bool:
    return reason.startswith(NOT_READ) or "is not read" in reason


def _needed(judged: Judgement) -> list[Span]:
    """Return the spans without what the answer of an English proof does not rest on; all where it assumes anything."""
    evidence: Any = judged.certificate and judged.certificate["evidence"]
    spans = [Span(**span) for span in judged.others.get("spans") or ()]
    entries = evidence.get("entries", ())
    if not entries or evidence["closure"] is not None or {e["how"] for e in entries} - {"context", "rule", "chain"}:
        return spans
    used = {span.by for span in spans if span.kind == "answer"}
    for at in (at for at in reversed(range(len(entries))) if at in used):  # premises stand before what rests on them
        used.update(entries[at]["premises"])
    return [span for span in spans if span.kind not in ("premise", "step") or span.by is None or span.by in used]


def _masked(text: str, spans: Sequence[Span]) -> str:
    """Return a text of the same length without what is not read: where words stood is seen, and not which."""
    for span in (span for span in spans if span.kind == "unread"):
        text = text[: span.start] + "\0" * (span.end - span.start) + text[span.end :]
    return text


def pruned(text: str, steps: Sequence[Any]) -> str:
    """Return a guided text without the inferences that a proof's steps do not use; the same where that cannot be told.

    Whatever is certified by something else than a proof is never pruned: that nothing follows needs every inference.
    """
    proof = {parse_literal(step["statement"]) for step in steps if step["by"] == "rule"}
    if text.count("[[infer:") == len(proof):
        return text
    try:
        rationale = take_apart(text)
    except (RationaleError, BlockError, FormulaError):
        return text
    kept = [position for position, step in enumerate(rationale.steps) if step.literal in proof]
    rest = rationale.only(kept)
    dropped = predicates_of(step.literal for step in rationale.steps if step.literal is not None)
    # Attack: the certificate is another trace's, and its proof is not in this text, or is there twice.
    is_other = len(kept) != len(proof) or {rationale.steps[position].literal for position in kept} != proof
    # The words of a kept inference may go back to one that would be dropped.
    goes_back = rest.speaks_of(dropped - predicates_of(parse_statement(step["statement"]) for step in steps))
    return text if is_other or goes_back else rest.text


def derive(traces: Sequence[Trace], judging: Judging, text: Text = "proved") -> tuple[list[Trace], int]:
    """Return the traces with the cut ones in their originals' places, and how many are not certified once cut.

    A pure function of the traces and of what `judging` says of the cut texts. Of excerpts only certified ones are cut.
    """
    is_excerpt = text == "excerpt"
    made_by = excerpt if is_excerpt else proved
    tried = ((i, trace) for i, trace in enumerate(traces) if is_excerpt or kept(trace, "trusted"))
    drafts = {i: made for i, trace in tried if (made := made_by(trace))}
    derived, failed = list(traces), 0
    for _ in range(MAX_CUTS if is_excerpt else 1):
        if not drafts:
            break
        more: dict[int, Trace] = {}
        for position, made in zip(drafts, judged(drafts.values(), judging), strict=True):
            # That nobody knows rests on all that was said: what was cut may have been its reason.
            is_open = made.judged.answer == in_terms_of("unknown", made.problem.options)
            if not is_excerpt or (made.judged.is_certified and not is_open):
                derived[position] = made
                failed += not made.judged.is_certified
            elif (further := excerpt(made)) is not None:
                more[position] = further
        drafts = more
    return derived, failed
