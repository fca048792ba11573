"""Hindsight: a failed trace whose first inferences are sound proves something, if not what was asked.

Such a trace becomes a draft of an attempt at one of the goals that it does prove: another question about the same
context, the words kept with their inferences, what the proof does not use dropped, and the answer that the proof
gives. The draft is judged like any attempt. It is made for data sets alone whose language is translated, so that
the new question is known to ask what it should, and never of a trace that assumes what its context does not say.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from critics.problem import Formal, Problem
from critics.replay.answers import in_terms_of
from critics.replay.formula import FormulaError, Literal, canonical_statement, parse_literal, parse_statement
from critics.replay.kernel import ArityError, Inference, Kernel, WorkLimitExceeded
from critics.replay.sorts import SortError
from critics.text.blocks import Block, BlockError, split_blocks
from critics.text.reference import ReferenceMismatch, reference, theory
from critics.verdict.certificate import Reference
from rollout.problems.splits import content_key
from rollout.prompts.prompt import problem_text
from rollout.prompts.sentence import read_aloud
from rollout.records.sampling import derived_seed
from rollout.records.traces import Trace
from training.curation.rationale import Rationale, RationaleError, draft, predicates_of, take_apart

SUFFIX = "~hindsight"
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
    try:
        sound = _sound_beginning(trace)
        if sound is None:
            return None
        return next((made for literal in _goals(sound, trace.id) if (made := _attempt_at(literal, sound, trace))), None)
    except _UNREADABLE:
        return None


def unsigned_content(problem: Problem) -> str:
    """Return a digest of what is asked in which context; the same for a question and for its negation."""
    try:
        known = reference(problem)
        if known is None:
            return content_key(problem)
        axioms = {canonical_statement(parse_statement(axiom)) for axiom in known.formal.axioms}
        goal = parse_literal(known.formal.goal)
    except _UNREADABLE:
        return content_key(problem)
    return content_key(replace(problem, formal=Formal(tuple(axioms), str(goal if goal.positive else goal.negated()))))


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


def _goals(sound: _Sound, trace_id: str) -> Iterator[Literal]:
    """Yield what else is proved than what was asked, the longest proof first, ties by a hash."""
    asked = parse_literal(sound.known.formal.goal)
    proved = [s.literal for s in sound.rationale.steps if s.literal not in (None, asked, asked.negated())]
    yield from sorted(proved, key=lambda lit: (-len(_proof(sound, lit)), derived_seed("hindsight", trace_id, lit)))


def _proof(sound: _Sound, literal: Literal) -> list[Literal]:
    return [entry.statement for entry in sound.kernel.proof(literal) if isinstance(entry, Inference)]


def _attempt_at(literal: Literal, sound: _Sound, trace: Trace) -> Trace | None:
    """Return the draft that proves `literal` where it, or its negation, is asked; None if it cannot be written."""
    # Half of the questions ask the negation, so that no answer is more frequent than the other.
    straight = derived_seed("hindsight", trace.id) % 2 == 0
    asked, truth = (literal, "true") if straight else (literal.negated(), "false")
    proof = _proof(sound, literal)
    problem = _problem(sound, asked, truth, len(proof), trace.id + SUFFIX)
    completion = _completion(sound, literal, asked, truth)
    if problem is None or completion is None:
        return None
    prompt = None if trace.prompt is None else _prompt(trace.prompt, sound.problem, problem)
    if trace.prompt is not None and prompt is None:
        return None
    changes = {"problem": problem, "completion": completion, "finished": True, "prompt": prompt}
    return draft(trace, problem.id, "hindsight", **changes)


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
    lead = _LEAD.match(problem.question)
    question = f"{lead[0] if lead else ''}{read_aloud(asked, problem.context)}"
    try:
        known = reference(replace(problem, question=question, formal=None))
    except ReferenceMismatch:
        return None
    return question if known is not None and parse_literal(known.formal.goal) == asked else None


def _completion(sound: _Sound, literal: Literal, asked: Literal, truth: str) -> str | None:
    """Return the text with the new goal, the proof's inferences with their words, and the new answer."""
    head = _with_goal(sound.rationale.head, asked)
    proof = _proof(sound, literal)
    positions = [position for position, step in enumerate(sound.rationale.steps) if step.literal in proof]
    kept = replace(sound.rationale, head=head, ending="").only(positions)
    if kept.speaks_of(_left_behind(sound, literal)) or _ABOUT_ITS_GOAL.search(_BLOCK_OR_LABEL.sub("", kept.text)):
        # `This contradicts the goal.` and `(cat 'x) -> (warm 'x)` were said of the old question.
        return None
    return f"{kept.text}\nAnswer: {truth}"


def _left_behind(sound: _Sound, literal: Literal) -> set[str]:
    """Return the predicates of the old goal and of the inferences that a proof has no use for."""
    old = [parse_literal(sound.known.formal.goal), *(s.literal for s in sound.rationale.steps if s.literal is not None)]
    return predicates_of(old) - predicates_of(entry.statement for entry in sound.kernel.proof(literal))


def _with_goal(head: str, goal: Literal) -> str:
    """Replace the one goal block; raises `RationaleError` where words beside it could restate the old question."""
    (block,) = (block for block in split_blocks(head) if block.action == "goal")
    old = f"[[goal:{block.content}]]"
    before, after = head[: block.start], head[block.start + len(old) :]
    beside = before.rpartition("]]")[2] + after.partition("[[")[0]
    if _BLOCK_OR_LABEL.sub("", beside).strip(" \t\r\n."):
        raise RationaleError("the goal is put in words as well, which cannot be rewritten")
    return f"{before}[[goal:{goal}]]{after}"


def _prompt(prompt: str, old: Problem, new: Problem) -> str | None:
    """Return the prompt with the new problem's text for the old one's; None where that does not stand there once.

    Whatever stands around it, worked examples or a chat template's marks, stays.
    """
    asked = problem_text(old).strip()
    return prompt.replace(asked, problem_text(new).strip()) if prompt.count(asked) == 1 else None
