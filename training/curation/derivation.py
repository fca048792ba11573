"""Traces made of traces: certified texts cut to what is proved, and what failed relabelled in hindsight.

    judged traces -> drafts -> judged anew -> derived traces, each in its original's place

A draft is worth what its own certificate says. A failed trace whose draft is not certified stays what it was; of a
certified one whose text is cut, the cut text and its verdict take the place, so that what no critic could read is never
trained on.

The text that is proved is its format's matter (`Format.proved`): the canonical program, or the sentences that
something stands behind, and in English those alone that the answer rests on. A guided text is pruned as well, to the
inferences that its proof uses: a writer's words stand before each inference or after each, and the ends of the
reasoning tell which. Where that cannot be told, no inference is dropped: words beside another would teach nonsense.

Hindsight makes of a failed trace, whose first inferences are sound, an attempt at one of the goals that it does prove:
another question about the same context, the words kept with their inferences, what the proof does not use dropped, and
the answer that the proof gives. It is done for data sets alone whose language is translated, so that the new question
is known to ask what it should, and never to a trace that assumes what its context does not say.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from critics.formats.format import find_format
from critics.judge import Judging
from critics.problem import Attempt, Formal, Problem
from critics.replay.answers import in_terms_of
from critics.replay.formula import FormulaError, Literal, Statement, canonical_statement, parse_literal, parse_statement
from critics.replay.kernel import ArityError, Inference, Kernel, WorkLimitExceeded
from critics.replay.sorts import SortError
from critics.text.blocks import Block, BlockError, answer_start, split_blocks
from critics.text.reference import ReferenceMismatch, reference, theory
from critics.verdict.certificate import Reference
from critics.verdict.reading import Span
from rollout.problems.catalogue import content_key
from rollout.prompts.prompt import problem_text
from rollout.records.sampling import derived_seed
from rollout.records.traces import Judgement, Trace
from training.curation.filters import judged, kept

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
    is_guided = trace.format == "guided"
    written = _masked(completion, spans) if is_guided else completion
    text = find_format(trace.format).proved(Attempt(trace.id, problem, trace.format, written), spans)
    if is_guided:
        is_proof = judged.certificate["kind"] == "horn-proof"
        text = _MASKED.sub("", pruned(text, judged.certificate["evidence"]["steps"]) if is_proof else text)
    if text.strip() == completion.strip():
        return None
    return draft(trace, f"{trace.id}~proved", "proved", completion=text, sampled=completion)


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


def draft(trace: Trace, draft_id: str, by: str, **changes: Any) -> Trace:
    """Return a new attempt made of a trace, with where it comes from and without what holds for the trace alone.

    The token ids are emptied: they spell the old text, and fine-tuning tokenises what has none.
    """
    return replace(trace, id=draft_id, completion_ids=(), derived_from=trace.id, by=by, judgement=None, **changes)


SPOKEN = ("prontoqa", "proofwriter")
"""The data sets that ask whether one sentence is true, in words that `rollout.prompts.sentence` can write."""
FAILED = ("refuted", "unproved")
"""The verdicts on a text that was read to its end; `timeout` and `error` say nothing about it."""

_UNREADABLE = (BlockError, RationaleError, FormulaError, ArityError, SortError, WorkLimitExceeded, ReferenceMismatch)
_BLOCK_OR_LABEL = re.compile(r"\[\[[^\]]*\]\]|(?:formali[sz]ed[ \t])?(?:context|goal|reasoning)[ \t]*:", re.IGNORECASE)
_ABOUT_ITS_GOAL = re.compile(
    r"\b(?:goal|question|query|answer|claim|statement|contradict\w*|true|false)\b", re.IGNORECASE
)
_LEAD = re.compile(r".*[:?]\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Sound:
    """A trace's sound beginning: its inferences as text, and the kernel that made them."""

    problem: Problem
    known: Reference
    rationale: Rationale
    kernel: Kernel


def relabelled(trace: Trace) -> Trace | None:
    """Return the draft of an attempt at the deepest other goal that a failed trace proves; None if there is none.

    Whether the goal or its negation is asked, and which of several equally deep ones, depends on the trace's id
    alone. A dialog is left alone: its earlier turns are about the old question.
    """
    if trace.format != "guided" or trace.messages:
        return None
    with suppress(*_UNREADABLE):
        if (sound := _sound_beginning(trace)) is None:
            return None
        asked = parse_literal(sound.known.formal.goal)
        proved = [s.literal for s in sound.rationale.steps if s.literal not in (None, asked, asked.negated())]
        # The longest proof first, ties by a hash.
        proved.sort(key=lambda lit: (-len(_proof(sound, lit)), derived_seed("hindsight", trace.id, lit)))
        return next((made for literal in proved if (made := _attempt_at(literal, sound, trace))), None)
    return None


def unsigned_content(problem: Problem) -> str:
    """Return a digest of what is asked in which context; the same for a question and for its negation."""
    with suppress(*_UNREADABLE):
        if (known := reference(problem)) is not None:
            axioms = {canonical_statement(parse_statement(axiom)) for axiom in known.formal.axioms}
            goal = parse_literal(known.formal.goal)
            problem = replace(problem, formal=Formal(tuple(axioms), str(goal if goal.positive else goal.negated())))
    return content_key(problem)


def _sound_beginning(trace: Trace) -> _Sound | None:
    """Replay an attempt up to the first move that the critic would refuse; None if it then infers nothing."""
    known = reference(trace.problem)
    if known is None or known.source not in SPOKEN:
        return None
    kernel = Kernel()
    num = _replay(split_blocks(trace.completion), theory(known.formal).stated, kernel)
    if not num:
        return None
    rationale = take_apart(trace.completion)
    return _Sound(trace.problem, known, replace(rationale, steps=rationale.steps[:num]), kernel)


def _replay(blocks: list[Block], stated: frozenset[str], kernel: Kernel) -> int:
    """Play sound moves into the kernel; return how many of them are inferences."""
    num, goals = 0, 0
    for block in blocks:
        if block.action == "axiom":
            statement = parse_statement(block.content)
            # Attack: have a wrong formalisation laundered. One axiom that the context does not say ends it all.
            if num or canonical_statement(statement) not in stated:
                return num
            kernel.add_axiom(statement)
        elif block.action == "goal":
            goals += 1
            if num or goals > 1:
                return num
        elif block.action == "infer":
            literal = None if block.content.strip() == "nothing" else parse_literal(block.content)
            if not goals or literal is None or literal not in kernel.offers:
                return num
            kernel.infer(literal)
            num += 1
    return num


def _proof(sound: _Sound, literal: Literal) -> list[Literal]:
    return [entry.statement for entry in sound.kernel.proof(literal) if isinstance(entry, Inference)]


def _attempt_at(literal: Literal, sound: _Sound, trace: Trace) -> Trace | None:
    """Return the draft that proves `literal` where it, or its negation, is asked; None if it cannot be written."""
    # Half of the questions ask the negation, so that no answer is more frequent than the other.
    asked, truth = (literal, "true") if derived_seed("hindsight", trace.id) % 2 == 0 else (literal.negated(), "false")
    proof = _proof(sound, literal)
    problem = _problem(sound, asked, truth, len(proof), f"{trace.id}~hindsight")
    completion = _completion(sound, literal, asked, truth)
    if problem is None or completion is None:
        return None
    prompt, old_text = trace.prompt, problem_text(sound.problem).strip()
    if prompt is not None:
        # Whatever stands around the old problem's text, worked examples or a chat template's marks, stays.
        if prompt.count(old_text) != 1:
            return None
        prompt = prompt.replace(old_text, problem_text(problem).strip())
    return draft(trace, problem.id, "hindsight", problem=problem, completion=completion, finished=True, prompt=prompt)


def _problem(sound: _Sound, asked: Literal, truth: str, hops: int, problem_id: str) -> Problem | None:
    """Return the problem that asks `asked` of the same context; None where it cannot be put in words or options."""
    old, formal = sound.problem, sound.known.formal
    answer, question = in_terms_of(truth, old.options), _question(old, asked)
    # A goal that can be asserted in words and not denied would always have the same answer.
    if answer is None or question is None or _question(old, asked.negated()) is None:
        return None
    # What else `meta` says may be about the old question.
    meta = {key: value for key, value in old.meta.items() if key == "ontology"} | {"hops": hops}
    new = Formal(formal.axioms, str(asked))
    return replace(old, id=problem_id, question=question, answer=answer, formal=new, meta=meta)


def _question(problem: Problem, asked: Literal) -> str | None:
    """Put a goal in the words of the problem's own question; only what translates back to it is returned."""
    from rollout.prompts.sentence import read_aloud

    lead = _LEAD.match(problem.question)
    question = f"{lead[0] if lead else ''}{read_aloud(asked, problem.context)}"
    with suppress(ReferenceMismatch):
        known = reference(replace(problem, question=question, formal=None))
        return question if known is not None and parse_literal(known.formal.goal) == asked else None
    return None


def _completion(sound: _Sound, literal: Literal, asked: Literal, truth: str) -> str | None:
    """Return the text with the new goal, the proof's inferences with their words, and the new answer."""
    head = _with_goal(sound.rationale.head, asked)
    proof = _proof(sound, literal)
    positions = [position for position, step in enumerate(sound.rationale.steps) if step.literal in proof]
    kept = replace(sound.rationale, head=head, ending="").only(positions)
    # The old goal and the inferences that the proof has no use for are left behind.
    old = [parse_literal(sound.known.formal.goal), *(s.literal for s in sound.rationale.steps if s.literal is not None)]
    left = predicates_of(old) - predicates_of(entry.statement for entry in sound.kernel.proof(literal))
    if kept.speaks_of(left) or _ABOUT_ITS_GOAL.search(_BLOCK_OR_LABEL.sub("", kept.text)):
        # `This contradicts the goal.` and `(cat 'x) -> (warm 'x)` were said of the old question.
        return None
    return f"{kept.text}\nAnswer: {truth}"


def _with_goal(head: str, goal: Literal) -> str:
    """Replace the one goal block; raises `RationaleError` where words beside it could restate the old question."""
    (block,) = (block for block in split_blocks(head) if block.action == "goal")
    before, after = head[: block.start], head[_end(block) :]
    beside = before.rpartition("]]")[2] + after.partition("[[")[0]
    if _BLOCK_OR_LABEL.sub("", beside).strip(" \t\r\n."):
        raise RationaleError("the goal is put in words as well, which cannot be rewritten")
    return f"{before}[[goal:{goal}]]{after}"


@dataclass(frozen=True, slots=True)
class Derivation:
    """Settings of what is derived of traces, and the problems that none of it may be about."""

    proved: bool = False
    hindsight: bool = False
    held_out: frozenset[str] | None = None
    """Contents of held-out problems (`contents_of`); None: there is nothing to compare with."""


def contents_of(problems: Iterable[Problem]) -> frozenset[str]:
    """Return what held-out problems ask, comparable whatever the wording, the order and the sign of the question."""
    return frozenset(map(unsigned_content, problems))


def derive(traces: Sequence[Trace], derivation: Derivation, judging: Judging) -> tuple[list[Trace], Counter[str]]:
    """Return the traces with the derived ones in their originals' places, and how many drafts came to nothing.

    A pure function of the traces and of what `judging` says of the drafts. Counted are `cut_failed`, a text that is not
    certified once it is cut; `relabel_failed`, not certified anew; and `leaked`, about a held-out problem.
    """
    failures: Counter[str] = Counter()
    drafts = {i: made for i, trace in enumerate(traces) if (made := _draft(trace, derivation, failures)) is not None}
    derived = list(traces)
    for position, made in zip(drafts, judged(drafts.values(), judging), strict=True):
        if made.judged.is_certified or made.by == "proved":
            derived[position] = made
        if not made.judged.is_certified:
            failures["cut_failed" if made.by == "proved" else "relabel_failed"] += 1
    return derived, failures


def derivation_counts(
    kept_traces: Iterable[Trace], failures: Counter[str], derivation: Derivation
) -> dict[str, int | None]:
    """Return the funnel's counts: derived traces among the kept ones, and failures; `leaked` null: not compared."""
    by = Counter(trace.by for trace in kept_traces if trace.derived_from)
    counts: dict[str, int | None] = {}
    if derivation.proved:
        counts |= {"cut": by["proved"], "cut_failed": failures["cut_failed"]}
    if derivation.hindsight:
        leaked = None if derivation.held_out is None else failures["leaked"]
        counts |= {"relabelled": by["hindsight"], "relabel_failed": failures["relabel_failed"], "leaked": leaked}
    return counts


def _draft(trace: Trace, derivation: Derivation, failures: Counter[str]) -> Trace | None:
    if derivation.proved and kept(trace, "trusted"):
        return proved(trace)
    if not derivation.hindsight or trace.judged.verdict not in FAILED:
        return None
    made, held_out = relabelled(trace), derivation.held_out
    if made is not None and held_out is not None and unsigned_content(made.problem) in held_out:
        # Attack: ask a held-out question, or its negation, of the same context in training.
        failures["leaked"] += 1
        return None
    return made
