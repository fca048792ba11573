"""The critic of `guided` attempts: replays LogicGuide text in the kernel and certifies nothing but proofs.

Stricter than the paper's "strict guided" (section 4.3), which asks only that the environment hold a proof
whose outcome equals the label. Each refusal below names the attack that it stops.
"""

from dataclasses import dataclass, field

from critics.blocks import Block, BlockError, answers_early, final_answer, split_blocks
from critics.certificate import horn_certificate
from critics.checker import Rejected, check, in_terms_of
from critics.formula import (
    FormulaError,
    Literal,
    Statement,
    canonical_statement,
    parse_literal,
    parse_statement,
)
from critics.kernel import DEFAULT_WORK_LIMIT, ArityError, Axiom, Kernel, WorkLimitExceeded
from critics.problem import Attempt, Formal, Problem
from critics.reference import Reference, ReferenceMismatch, reference
from critics.verdict import Certified, CriticError, Malformed, Refuted, TimedOut, Unproved, Vacuous, Verdict

MAX_CHARACTERS = 100_000
"""Longer attempts are not read: their cost, not their content, would be the point."""


class _Refusal(Exception):  # noqa: N818
    """Why the attempt cannot be certified, carrying the kind of verdict."""

    def __init__(self, kind: type[Malformed | Unproved | Vacuous], reason: str, feedback: str) -> None:
        super().__init__(reason)
        self.kind, self.reason, self.feedback = kind, reason, feedback


@dataclass(slots=True)
class _Replay:
    """What the blocks read so far have built."""

    kernel: Kernel = field(default_factory=lambda: Kernel(work_limit=DEFAULT_WORK_LIMIT))
    axioms: list[Statement] = field(default_factory=list)
    goal: Literal | None = None
    num_inferences: int = 0


def judge_guided(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt; pure, deterministic and bounded by the kernel's work limit."""
    answer = final_answer(attempt.completion, problem)
    try:
        known = reference(problem)
    except (ReferenceMismatch, FormulaError) as error:
        return CriticError("no_reference", answer, f"the problem's own text could not be formalised: {error}")
    try:
        replay = _replay(attempt.completion)
        claim = _proved_claim(attempt.completion, problem, known, replay, answer)
    except _Refusal as refusal:
        return _refused(refusal, problem, answer)
    except WorkLimitExceeded as error:
        return TimedOut("work_limit", answer, str(error))
    if problem.answer is not None and answer != problem.answer:
        return Refuted("wrong_answer", answer, f"the answer is not {answer}")
    if claim != answer:
        return Refuted("answer_mismatch", answer, f"the inferences prove {claim}, and the answer says {answer}")
    return _certified(problem, known, replay, claim)


def _refused(refusal: _Refusal, problem: Problem, answer: str | None) -> Verdict:
    """A text that parses but has the wrong answer is refuted, whatever else is wrong with it."""
    wrong = answer is not None and problem.answer is not None and answer != problem.answer
    if wrong and refusal.kind is not Malformed:
        return Refuted("wrong_answer", answer, f"the answer is not {answer}; {refusal.feedback}")
    return refusal.kind(refusal.reason, answer, refusal.feedback)


def _replay(text: str) -> _Replay:
    if len(text) > MAX_CHARACTERS:
        raise _Refusal(Malformed, "too_long", f"more than {MAX_CHARACTERS} characters")
    replay = _Replay()
    try:
        for block in split_blocks(text):
            _replay_block(block, replay)
    except (BlockError, FormulaError) as error:
        raise _Refusal(Malformed, error.reason, str(error)) from error
    except ArityError as error:
        raise _Refusal(Malformed, "arity", str(error)) from error
    return replay


def _replay_block(block: Block, replay: _Replay) -> None:
    if block.action == "axiom":
        statement = parse_statement(block.content)
        if replay.num_inferences:
            # Attack: assume late what could not be derived.
            raise _Refusal(Unproved, "axiom_after_inference", f"{statement} is assumed after the first inference")
        replay.kernel.add_axiom(statement)
        replay.axioms.append(statement)
    elif block.action == "goal":
        if replay.goal is not None:
            # Attack: prove something easy, then declare it the goal.
            raise _Refusal(Unproved, "multiple_goals", "the goal is set more than once")
        replay.goal = parse_literal(block.content)
    elif block.action == "infer":
        _replay_inference(block.content, replay)
    else:
        _check_name(block)


def _replay_inference(content: str, replay: _Replay) -> None:
    replay.num_inferences += 1
    kernel = replay.kernel
    if content.strip() == "nothing":
        if kernel.offers:
            raise _Refusal(Unproved, "invalid_step", "something can still be inferred")
        return
    literal = parse_literal(content)
    if literal in kernel.known:
        if isinstance(kernel.entries[kernel.known[literal]], Axiom):
            # Attack: pass a given fact off as reasoning.
            raise _Refusal(Unproved, "restates_axiom", f"{literal} is given, not inferred")
        # Attack: lengthen the rationale with what is known.
        raise _Refusal(Unproved, "repeated_step", f"{literal} is inferred already")
    if literal not in kernel.offers:
        raise _Refusal(Unproved, "invalid_step", f"{literal} does not follow in one step")
    kernel.infer(literal)


def _check_name(block: Block) -> None:
    parse_literal(f"({block.content} x)")


def _proved_claim(
    text: str, problem: Problem, known: Reference | None, replay: _Replay, answer: str | None
) -> str | None:
    """Return the answer that the replayed proof gives, in the problem's terms, or raise what bars it."""
    goal = replay.goal
    formal = None if known is None else known.formal
    if goal is None:
        raise _Refusal(Unproved, "no_goal", "no [[goal:..]] is set")
    _check_formalisation(formal, replay, goal)
    if goal in replay.kernel.known:
        value = "true"
    elif goal.negated() in replay.kernel.known:
        value = "false"
    else:
        # Attack: answer "false" because nothing was derived.
        raise _Refusal(Unproved, "goal_not_reached", f"neither {goal} nor its negation is inferred")
    if answer is None:
        raise _Refusal(Unproved, "no_answer", "the last line is not Answer: true or Answer: false")
    if answers_early(text):
        # Attack: write the answer first and decorate it with a proof.
        raise _Refusal(Unproved, "answer_in_context", "the answer is given before the reasoning ends")
    _check_consistency(formal, replay)
    return in_terms_of(value, problem.options)


def _check_formalisation(formal: Formal | None, replay: _Replay, goal: Literal) -> None:
    """Compare with the reference; without one, at least the goal must not be assumed."""
    if formal is None:
        if goal in replay.axioms or goal.negated() in replay.axioms:
            raise _Refusal(Vacuous, "goal_assumed", f"{goal} is decided by an axiom")
        return
    if goal != parse_literal(formal.goal):
        # Attack: prove an easier goal than the question's.
        raise _Refusal(Unproved, "goal_mismatch", f"{goal} is not what the question asks")
    stated = {canonical_statement(parse_statement(axiom)) for axiom in formal.axioms}
    for axiom in replay.axioms:
        if canonical_statement(axiom) not in stated:
            # Attack: assume the goal, or a rule that leads to it.
            raise _Refusal(Unproved, "axiom_not_in_context", f"the context does not say {axiom}")


def _check_consistency(formal: Formal | None, replay: _Replay) -> None:
    """Refuse contradictory assumptions, from which the goal and its negation both follow."""
    kernel = Kernel(work_limit=DEFAULT_WORK_LIMIT)
    axioms = replay.axioms if formal is None else [parse_statement(axiom) for axiom in formal.axioms]
    for axiom in axioms:
        kernel.add_axiom(axiom)
    kernel.saturate()
    clash = kernel.contradiction()
    if clash is not None:
        raise _Refusal(Vacuous, "inconsistent_context", f"both {clash} and its negation follow")


def _certified(problem: Problem, reference_: Reference | None, replay: _Replay, claim: str | None) -> Verdict:
    """Certify what the independent checker accepts as well; disagreement is the critic's failure."""
    assert replay.goal is not None
    assert claim is not None
    known = replay.kernel.known
    reached = replay.goal if replay.goal in known else replay.goal.negated()
    limits = {"work": DEFAULT_WORK_LIMIT}
    certificate = horn_certificate(
        problem, reference_, claim, replay.goal, replay.kernel.proof(reached), limits
    )
    try:
        check(certificate)
    except Rejected as rejection:
        return CriticError("checker_disagrees", claim, f"the independent checker says {rejection}")
    return Certified(claim, certificate)
