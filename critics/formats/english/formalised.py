"""The critic of texts in rich English, whose sentences a model wrote down in first-order logic, one by one.

The grammar reads each sentence, and a formula counts where it says the same. Formulas of the context that do are the
premises. Each sentence of the text must have a formula that is found in it and is entailed by the premises and the
sentences before; the text's own sentences must entail the answer. What a solver cannot tell is not entailed. The
certificate is on a model's word: `aligned` where every check of every sentence passes, else `trusted`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from critics.formats.english.entailed_text import Outcome, Step, chain_certificate, models_of
from critics.formats.english.formulas import KEY, Answered, Claim, FormalText, NoFormulas, Nothing, read_formulas
from critics.logic.first_order.solvers import Answer, can_fail
from critics.problem import Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order.syntax import Formula, FormulaError, negated
from critics.text.blocks import answer_of, answers_early
from critics.text.english.passage import coverage, painted
from critics.text.faithfulness.alignment import Failed, Finding, Names, NotApplicable, Passed, ReadProblem
from critics.text.reference import text_contradicts
from critics.verdict import Certified, Malformed, TimedOut, Unproved, Verdict
from critics.verdict.conclusion import Refusal, brief, is_wrong, refused, wrong_answer
from critics.verdict.reading import NOT_READ, TOO_MUCH_WORK, BadStep, Span, TextReading

MAX_CHARACTERS = 30_000


@dataclass(frozen=True, slots=True)
class _Judged:
    """One claim of the text: where it stands, and what is wrong with it, if anything."""

    index: int
    claim: Claim
    refusal: Refusal | None
    alignment: Finding


def judge_formalised(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one text by the formulas that came with its problem; bounded by a solver's budget for each sentence."""
    text = attempt.completion
    if len(text) > MAX_CHARACTERS:
        return Malformed("too_long", None, f"more than {MAX_CHARACTERS} characters")
    try:
        formal = read_formulas(problem, text)
    except NoFormulas as error:
        return Malformed("formulas_unreadable", None, brief(str(error)))
    claims = [piece for _, piece in formal.text if isinstance(piece, Claim)]
    read = ReadProblem(problem, [clause for each in claims for clause in each.clauses])
    written = [each.formula for each in (*formal.context, formal.question, *claims) if each.formula is not None]
    names = read.names(written)
    given = [
        (formula, read.beside(formula, [said.text], names, is_given=True))
        for said in formal.context
        if (formula := said.formula)
    ]
    found = [(formula, finding) for formula, finding in given if not isinstance(finding, Failed)]
    values = {answer_of(piece.value, problem) for _, piece in formal.text if isinstance(piece, Answered)}
    answer = next(iter(values)) if len(values) == 1 else None
    for stated in ([each for each in found if isinstance(each[1], Passed)], found):
        judged = _judged(formal, [formula for formula, _ in stated], read, names)
        if all(each.refusal is None for each in judged) or len(stated) == len(found):
            break
    try:
        asked = (
            None
            if formal.question.formula is None
            else read.beside(formal.question.formula, [formal.question.text], names)
        )
        verdict = _verdict(problem, text, formal, stated, judged, answer, asked)
    except Refusal as refusal:
        verdict = refused(refusal, problem, answer)
    except FormulaError as error:
        verdict = Malformed(error.reason, answer, brief(str(error)))
    passed = sum(isinstance(finding, Passed) for _, finding in given)
    grounding = passed / len(given) if given else 0.0
    return replace(verdict, reading=_reading(text, formal, judged, grounding))


def _judged(formal: FormalText, stated: Sequence[Formula], read: ReadProblem, names: Names) -> list[_Judged]:
    """Return the claims in order; what does not hold is no premise of those behind it."""
    judged: list[_Judged] = []
    known = list(stated)
    for index, (_, piece) in enumerate(formal.text):
        if not isinstance(piece, Claim):
            continue
        alignment: Finding = NotApplicable()
        if piece.formula is None:
            refusal = Refusal(Malformed, "not_read", f"{piece.text!r} has no formula that can be read")
        else:
            alignment = read.beside(piece.formula, piece.clauses, names)
            refusal = _refusal(piece, piece.formula, alignment, known, stated)
            known += [piece.formula] if refusal is None else []
        judged.append(_Judged(index, piece, refusal, alignment))
    return judged


def _refusal(
    claim: Claim, formula: Formula, alignment: Finding, known: Sequence[Formula], stated: Sequence[Formula]
) -> Refusal | None:
    if isinstance(alignment, Failed):
        # Attack: bananas in the text, and a proof in the formulas.
        return Refusal(Unproved, "formalised_otherwise", f"{claim.text!r}: {alignment.reason}")
    given = [[premise] for premise in stated] if claim.quoted else [known]
    found = {can_fail(some, formula) for some in given}
    if Answer.UNSATISFIABLE in found:
        return None
    if Answer.UNDECIDED in found:
        return Refusal(TimedOut, "solver_budget", f"whether {claim.text!r} follows could not be told")
    return Refusal(Unproved, "unsupported_sentence", f"{claim.text!r} does not follow")


def _verdict(
    problem: Problem,
    text: str,
    formal: FormalText,
    found: Sequence[tuple[Formula, Finding]],
    judged: Sequence[_Judged],
    answer: str | None,
    asked: Finding | None,
) -> Verdict:
    """Certify, or raise `Refusal`."""
    for each in judged:
        if each.refusal is not None:
            raise each.refusal
    ended = text
    for line, piece in formal.text[-1:]:
        if isinstance(piece, Answered):  # it may be no line of its own
            ended = f"{text[: line.passage.span[0]]}\nAnswer: {piece.value}"
    if answer is None or answers_early(ended, problem):
        raise Refusal(Malformed, "no_answer", "the text has no answer, or more than one")
    goal = formal.question
    if goal.formula is None or asked is None:
        raise Refusal(Malformed, "not_read", f"the question {goal.text!r} has no formula that can be read")
    if isinstance(asked, Failed):
        raise Refusal(Unproved, "goal_mismatch", f"the question's formula is another: {asked.reason}")
    steps = [(each.index, each.claim.formula) for each in judged if each.claim.formula is not None]
    result = _result(goal.formula, [formula for _, formula in steps])
    claim = in_terms_of(result, problem.options)
    if claim is None:
        raise Refusal(Unproved, "no_option", f"no option, or more than one, says {result}")
    if claim != answer:
        raise Refusal(Unproved, "text_answers_otherwise", f"the text answers {answer}, and its sentences say {claim}")
    if is_wrong(claim, problem):
        return wrong_answer(claim)
    first = next(index for index, (_, piece) in enumerate(formal.text) if isinstance(piece, Claim))
    said = [line.passage.text for line, piece in formal.text[first:] if isinstance(piece, Nothing) and piece.asserts]
    if said and result == "false":
        # Attack: say what was refuted once more, in the guise of the question.
        raise Refusal(Unproved, "unsupported_sentence", f"{said[0]!r}: its denial is proved")
    if text_contradicts(problem, claim, "none"):
        raise Refusal(Unproved, "text_says_otherwise", "a translator reads the text otherwise")
    passes = all(isinstance(each, Passed) for each in (asked, *(f for _, f in found), *(e.alignment for e in judged)))
    stated = tuple(formula for formula, _ in found)
    told = tuple(Step(index, formula) for index, formula in steps)
    models, grade = models_of(stated, goal.formula, result), "aligned" if passes else "trusted"
    formulas, outcome = problem.meta[KEY], Outcome(result, told)
    made = chain_certificate(problem, claim, grade, text, formulas, stated, goal.formula, outcome, models)
    return Certified(claim, made)


def _result(goal: Formula, steps: Sequence[Formula]) -> str:
    """Return what the text's own sentences say of the question."""
    found = {"true": can_fail(steps, goal), "false": can_fail(steps, negated(goal))}
    for result, answer in found.items():
        if answer is Answer.UNSATISFIABLE:
            return result
    if Answer.UNDECIDED in found.values():
        raise Refusal(TimedOut, "solver_budget", "whether the text answers the question could not be told")
    # Attack: the answer alone, or true sentences that do not lead to it.
    raise Refusal(Unproved, "goal_not_reached", "the sentences of the text do not entail an answer")


def _reading(text: str, formal: FormalText, judged: Sequence[_Judged], grounding: float) -> TextReading:
    """Return what stands behind each sentence, and the shares of steps that follow and of premises that are found."""
    held = {each.index for each in judged if each.refusal is None}
    spans = painted(_spans(formal, held), (), text)
    bad = next((each for each in judged if each.refusal is not None), None)
    first = None
    if bad is not None and bad.refusal is not None:
        # A step whose formula is none, is another, or takes too long is not known to be bad.
        unknown = {"not_read": NOT_READ, "formalised_otherwise": NOT_READ, "solver_budget": TOO_MUCH_WORK}
        first = BadStep(bad.index, bad.claim.text, unknown.get(bad.refusal.reason, bad.refusal.reason))
    validity = len(held) / len(judged) if judged else 0.0
    return TextReading(coverage(spans, text), spans, first, validity, grounding)


def _spans(formal: FormalText, held: set[int]) -> Iterable[Span]:
    for index, (line, piece) in enumerate(formal.text):
        start, end = line.passage.span
        if isinstance(piece, Claim):
            yield Span(start, end, "step" if index in held else "unread")
        else:
            yield Span(start, end, "answer" if isinstance(piece, Answered) else "filler")
