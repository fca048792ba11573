"""The critic of `guided` attempts: replays LogicGuide text in the kernel and certifies nothing but proofs.

The answer is proved by an inference of the goal or of its negation, and `unknown` by inferring everything that
follows from everything that is stated, down to `[[infer:nothing]]`, without meeting either.

Stricter than the paper's "strict guided" (section 4.3), which asks only that the environment hold a proof
whose outcome equals the label. Each refusal below names the attack that it stops. Where the problem has no
reference, what the attempt formalises is taken on trust, and its certificate says so.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from critics.formats.guided.read_outs import Account, unread
from critics.formats.guided.sentence_reader import ProseReader, sentence_reader
from critics.formats.guided.support import Blocks, Support
from critics.formats.horn import horn_certificate
from critics.problem import Attempt, Formal, Problem
from critics.replay.answers import in_terms_of
from critics.replay.derivations import check
from critics.replay.formula import (
    BLANKS,
    FormulaError,
    Literal,
    Statement,
    canonical_statement,
    is_variable,
    parse_literal,
    parse_name,
    parse_statement,
    subterms,
)
from critics.replay.kernel import (
    DEFAULT_WORK_LIMIT,
    ArityError,
    Axiom,
    Entry,
    Kernel,
    WorkLimitExceeded,
    literals_of,
    saturated,
)
from critics.replay.sorts import SortError
from critics.text.background import background
from critics.text.blocks import Block, BlockError, answers_early, final_answer, split_blocks
from critics.text.pieces import pieces
from critics.text.reference import (
    ReferenceMismatch,
    Theory,
    is_trusting,
    reference,
    refuse_decided,
    text_contradicts,
    theory,
)
from critics.verdict import Malformed, Refuted, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import Reference, source_name
from critics.verdict.conclusion import (
    MAX_QUOTED,
    Refusal,
    brief,
    certified,
    is_wrong,
    no_reference,
    refused,
    wrong_answer,
)

MAX_CHARACTERS = 100_000
"""Longer attempts are not read: their cost, not their content, would be the point."""


@dataclass(slots=True)
class _Replay:
    """State that the moves so far have built."""

    stated: Theory | None
    """Theory of what the problem says, where that is known."""
    kernel: Kernel
    axioms: list[Statement]
    """Everything that is assumed, with what nobody has to state."""
    goal: Literal | None = None
    inferring: bool = False
    finished: bool = False
    blocks: list[Block] = field(default_factory=list[Block])
    block: Block | None = None
    """The block that is being read or played; None once all are."""


def judge_guided(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt, its blocks and what stands beside them.

    Pure, deterministic and bounded by the kernel's work limit.
    """
    text = attempt.completion
    answer = final_answer(text, problem)
    try:
        known = reference(problem)
        replay = _start(problem, known)
    except (ReferenceMismatch, FormulaError, ArityError, SortError) as error:
        return no_reference(error, answer)
    except WorkLimitExceeded as error:
        return refused(Refusal(TimedOut, "work_limit", str(error)), problem, answer)
    claim: str | None = None
    refusal: Verdict | None = None
    try:
        _replay(text, replay)
        claim = _proved_claim(text, problem, replay, answer)
        _check_open(replay, problem, known)
        refusal = wrong_answer(answer) if is_wrong(answer, problem) else None
    except (ReferenceMismatch, FormulaError, ArityError, SortError) as error:
        return no_reference(error, answer)
    except WorkLimitExceeded as error:
        refusal = refused(Refusal(TimedOut, "work_limit", str(error)), problem, answer)
    except Refusal as refused_for:
        refusal = refused(refused_for, problem, answer)
    if isinstance(refusal, Malformed):
        return replace(refusal, reading=unread(text, replay.block, refusal.feedback))
    account = _account(problem, text, known, replay, answer, refusal)
    if refusal is None and (bad := account.bad) is not None:
        # Attack: train on a proof whose text says something else.
        refusal = Unproved("unsupported_sentence", answer, brief(f"{bad.text[:MAX_QUOTED]!r}: {bad.reason}"))
    if refusal is not None:
        return replace(refusal, reading=account.reading(()))
    assert claim is not None
    entries = _evidence(replay)
    return replace(_certified(problem, known, replay, claim, entries), reading=account.reading(entries))


def _account(
    problem: Problem,
    text: str,
    known: Reference | None,
    replay: _Replay,
    answer: str | None,
    refusal: Verdict | None,
) -> Account:
    """Account for the text up to the block that was refused, or to the answer where the refusal is about all."""
    granted = frozenset(map(canonical_statement, background(problem.dataset).statements()))
    assumed = frozenset(replay.axioms)
    stated: Collection[Statement] = replay.axioms if replay.stated is None else replay.stated.axioms

    @cache
    def reader() -> ProseReader | None:
        if is_trusting() or replay.goal is None:
            return None
        own = Formal(tuple(map(str, replay.axioms)), str(replay.goal))
        return sentence_reader(problem, own if known is None else known.formal, is_whole=known is not None)

    def is_stated(statement: Statement) -> bool:
        if replay.stated is not None:
            return replay.stated.states(statement)
        # The context of a text on trust may say more than the attempt formalises.
        return statement in assumed or ((read := reader()) is not None and read.states(statement))

    came_to = Blocks(
        replay.kernel,
        replay.goal,
        is_stated,
        cache(lambda: {name for one in stated for literal in literals_of(one) for name in _names(literal)}),
        lambda statement: bool(granted) and canonical_statement(statement) in granted,
        answer,
        replay.finished,
    )

    account = Account(text, pieces(text, replay.blocks), Support(problem, came_to, reader))
    account.take(replay.block, refusal)
    return account


def _names(literal: Literal) -> Iterator[str]:
    """Yield a literal's predicate, and the objects and functions that it speaks of."""
    yield literal.predicate
    for term in subterms(literal):
        if not is_variable(term):
            yield term if isinstance(term, str) else term.function


def _start(problem: Problem, known: Reference | None) -> _Replay:
    """Return the state before the first block: what the data set takes for granted, where the reference has it."""
    stated = None if known is None else theory(known.formal)
    granted = background(problem.dataset)
    kernel = Kernel(signature=granted.signature)
    axioms = [s for s in granted.statements() if stated is None or canonical_statement(s) in stated.stated]
    for axiom in axioms:
        kernel.add_axiom(axiom)
    return _Replay(stated, kernel, axioms)


def _replay(text: str, replay: _Replay) -> _Replay:
    """Read all blocks before any is played, so that what does not parse is malformed whatever comes first."""
    if len(text) > MAX_CHARACTERS:
        raise Refusal(Malformed, "too_long", f"more than {MAX_CHARACTERS} characters")
    try:
        replay.blocks = split_blocks(text)
        for block, move in list(_moves(replay)):
            replay.block = block
            move(replay)
        replay.block = None
    except (BlockError, FormulaError) as error:
        raise Refusal(Malformed, error.reason, str(error)) from error
    except ArityError as error:
        raise Refusal(Malformed, "arity", str(error)) from error
    except SortError as error:
        raise Refusal(Malformed, "sort", str(error)) from error
    return replay


def _moves(replay: _Replay) -> Iterator[tuple[Block, Callable[[_Replay], None]]]:
    """Yield each block that does something, with what it does to the state, which raises `Refusal`."""
    for block in replay.blocks:
        replay.block = block
        if block.action == "axiom":
            yield block, partial(_assume, parse_statement(block.content))
        elif block.action == "goal":
            yield block, partial(_aim, parse_literal(block.content))
        elif block.action == "infer":
            is_nothing = block.content.strip(BLANKS) == "nothing"
            yield block, _infer_nothing if is_nothing else partial(_infer, parse_literal(block.content))
        else:
            parse_name(block.content)


def _assume(statement: Statement, replay: _Replay) -> None:
    if replay.inferring:
        # Attack: assume late what could not be derived.
        raise Refusal(Unproved, "axiom_after_inference", f"{statement} is assumed after the first inference")
    if replay.stated is not None and not replay.stated.states(statement):
        # Attack: assume the goal, or a rule that leads to it.
        raise Refusal(Unproved, "axiom_not_in_context", f"the context does not say {statement}")
    replay.kernel.add_axiom(statement)
    replay.axioms.append(statement)


def _aim(goal: Literal, replay: _Replay) -> None:
    if replay.goal is not None:
        # Attack: prove something easy, then declare it the goal.
        raise Refusal(Unproved, "multiple_goals", "the goal is set more than once")
    if replay.inferring:
        # Attack: infer whatever there is, then declare it the goal.
        raise Refusal(Unproved, "goal_after_inference", f"{goal} becomes the goal after the first inference")
    if replay.stated is not None and goal != replay.stated.goal:
        # Attack: prove an easier goal than the question's.
        raise Refusal(Unproved, "goal_mismatch", f"{goal} is not what the question asks")
    replay.kernel.mention(goal)
    replay.goal = goal


def _infer(literal: Literal, replay: _Replay) -> None:
    replay.inferring = True
    kernel = replay.kernel
    if literal in kernel.known:
        if isinstance(kernel.entries[kernel.known[literal]], Axiom):
            # Attack: pass a given fact off as reasoning.
            raise Refusal(Unproved, "restates_axiom", f"{literal} is given, not inferred")
        # Attack: lengthen the rationale with what is known.
        raise Refusal(Unproved, "repeated_step", f"{literal} is inferred already")
    if literal not in kernel.offers:
        raise Refusal(Unproved, "invalid_step", f"{literal} does not follow in one step")
    kernel.infer(literal)


def _infer_nothing(replay: _Replay) -> None:
    replay.inferring = True
    if replay.kernel.offers:
        raise Refusal(Unproved, "invalid_step", "something can still be inferred")
    if replay.finished:
        # Attack: lengthen the rationale with nothing.
        raise Refusal(Unproved, "repeated_step", "that nothing can be inferred is said already")
    replay.finished = True


def _proved_claim(text: str, problem: Problem, replay: _Replay, answer: str | None) -> str:
    """Return the answer that the replayed proof gives, in the problem's terms, or raise what bars it."""
    value = _decided(replay, answer, problem.options)
    claim = in_terms_of(value, problem.options)
    if claim is None:
        raise Refusal(Unproved, "no_such_option", "not exactly one option says what the inferences prove")
    if answer is None:
        raise Refusal(Unproved, "no_answer", "the last line is not Answer: true or Answer: false")
    if answers_early(text, problem):
        # Attack: write the answer first and decorate it with a proof.
        raise Refusal(Unproved, "answer_in_context", "an answer is given before the last line")
    _check_consistency(replay)
    if claim != answer:
        raise Refusal(Refuted, "answer_mismatch", f"the inferences prove {claim}, the answer says {answer}")
    return claim


def _decided(replay: _Replay, answer: str | None, options: tuple[str, ...] | None) -> str:
    """Return true where the goal is reached, false for its negation, unknown where neither follows."""
    if replay.goal is None:
        raise Refusal(Unproved, "no_goal", "no [[goal:..]] is set")
    if replay.stated is None and _is_assumed(replay.goal, replay.axioms):
        # Attack: with nothing to compare with, at least the goal must not be assumed.
        raise Refusal(Vacuous, "goal_assumed", f"{replay.goal} is decided by an axiom")
    if replay.goal in replay.kernel.known:
        return "true"
    if replay.goal.negated() in replay.kernel.known:
        return "false"
    if not replay.finished or answer is None or answer != in_terms_of("unknown", options):
        # Attack: answer "false" because nothing was derived.
        raise Refusal(Unproved, "goal_not_reached", f"neither {replay.goal} nor its negation is inferred")
    _check_exhaustive(replay)
    return "unknown"


def _is_assumed(goal: Literal, axioms: list[Statement]) -> bool:
    """Say whether an axiom, or an instance of a universal one, decides the goal."""
    assumed = Kernel()
    for axiom in axioms:
        if isinstance(axiom, Literal) or not axiom.premises:
            assumed.add_axiom(axiom)
    assumed.mention(goal)
    return any(decided in assumed.known or decided in assumed.offers for decided in (goal, goal.negated()))


def _check_exhaustive(replay: _Replay) -> None:
    """Refuse `unknown` where something that was left out could decide the goal."""
    if replay.stated is None:
        # Attack: formalise next to nothing, from which nothing follows.
        raise Refusal(Unproved, "unknown_on_trust", "that nothing follows cannot be checked without a reference")
    if not replay.stated.stated <= set(map(canonical_statement, replay.axioms)):
        # Attack: leave the axiom out that decides the goal.
        raise Refusal(Unproved, "axiom_missing", "not everything that the context says is stated")
    if replay.kernel.truncated:
        raise Refusal(Unproved, "undecidable", "the terms grow without end, so the inferences have none")


def _check_open(replay: _Replay, problem: Problem, known: Reference | None) -> None:
    """Refuse `unknown` where the semantics is classical, and reasoning backwards or by cases decides the goal."""
    assert replay.goal is not None
    if replay.kernel.known.keys().isdisjoint((replay.goal, replay.goal.negated())):
        refuse_decided(problem, known)


def _check_consistency(replay: _Replay) -> None:
    """Refuse contradictory assumptions, from which the goal and its negation both follow.

    Universal facts may contradict each other about the goal's objects alone.
    """
    stated = replay.stated
    clash = saturated(replay.axioms, replay.goal).contradiction() if stated is None else stated.clash
    if clash is not None:
        raise Refusal(Vacuous, "inconsistent_context", f"both {clash} and its negation follow")


def _reached(replay: _Replay) -> Literal | None:
    """Return the goal, or its negation, whichever was inferred."""
    assert replay.goal is not None
    return next((g for g in (replay.goal, replay.goal.negated()) if g in replay.kernel.known), None)


def _evidence(replay: _Replay) -> list[Entry]:
    """Return the entries of the proof, or everything that follows where neither the goal nor its negation does."""
    reached = _reached(replay)
    return replay.kernel.entries if reached is None else replay.kernel.proof(reached)


def _certified(
    problem: Problem, known: Reference | None, replay: _Replay, claim: str, entries: Sequence[Entry]
) -> Verdict:
    """Certify what the independent checker accepts as well; disagreement is the critic's failure."""
    assert replay.goal is not None
    if text_contradicts(problem, claim, source_name(known)):
        # Attack: formalise the opposite of a text that nobody has formalised, or what it leaves open.
        return Unproved("text_says_otherwise", claim, "the text says something else than what is formalised")
    limits = {"work": DEFAULT_WORK_LIMIT}
    kind = "horn-saturation" if _reached(replay) is None else "horn-proof"
    certificate = horn_certificate(kind, problem, known, claim, replay.goal, entries, limits)
    return certified(certificate, check)
