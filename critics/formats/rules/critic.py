"""The critic of `rules` programs: forward chaining in the kernel, and nothing certified but a proof of the question.

Where the problem brings a reference or its text is in a language that is translated, the program's query must be the
question and its statements the context's: a valid proof of a query with the wrong polarity is a false certificate (69
of 500 recorded GPT-4 programs on ProntoQA). Without a reference what is formalised is taken on trust, and the
certificate says so. Closed worlds (ProntoQA, or options without an `unknown`) answer false for what is not derived, as
Logic-LM's interpreter does; that is no proof, so such an answer is `unproved`.
"""

from dataclasses import dataclass

from critics.formats.horn import horn_certificate
from critics.formats.rules.reader import RuleNames, elaborate, read_rules
from critics.logic.programs.sections import ProgramError, Repairs
from critics.problem import Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.derivations import check
from critics.replay.formula import FormulaError, Literal, Rule, Statement, canonical_statement, parse_statement
from critics.replay.kernel import DEFAULT_WORK_LIMIT, ArityError, Inference, Kernel, WorkLimitExceeded, saturated
from critics.replay.semantics import semantics_of
from critics.text.reference import ReferenceMismatch, Theory, reference, refuse_decided, text_contradicts, theory
from critics.verdict import Malformed, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import Reference, source_name
from critics.verdict.conclusion import Refusal, certified, is_wrong, no_reference, refused, wrong_answer


@dataclass(frozen=True, slots=True)
class Consequences:
    """Statements of a program, in the formal language, and their consequences."""

    statements: list[Statement]
    goal: Literal
    query_is_open: bool
    kernel: Kernel
    repairs: list[str]

    def reached(self) -> list[Literal]:
        """Return which of the goal and its negation follow: none, one, or both."""
        return [literal for literal in (self.goal, self.goal.negated()) if literal in self.kernel.known]


def judge_rules(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one program; pure, deterministic and bounded by the kernel's work limit."""
    try:
        known = reference(problem)
        stated = None if known is None else theory(known.formal)
    except (ReferenceMismatch, FormulaError, ArityError, WorkLimitExceeded) as error:
        return no_reference(error)
    try:
        run = execute(attempt.completion, problem, known)
    except Refusal as refusal:
        return refused(refusal, problem, None)
    answer = _answer(run, problem)
    try:
        _check_faithful(run, stated)
        claim = _proved(run, stated, problem, answer)
        if not run.reached():
            refuse_decided(problem, known)
    except Refusal as refusal:
        return refused(refusal, problem, answer)
    if is_wrong(claim, problem):
        return wrong_answer(claim)
    # Certify what the independent checker accepts as well; disagreement is the critic's failure.
    if text_contradicts(problem, claim, source_name(known)):
        return Unproved("text_says_otherwise", claim, "the text says something else than what is formalised")
    reached = run.reached()
    kind = "rules-proof" if reached else "rules-saturation"
    entries = run.kernel.proof(reached[0]) if reached else run.kernel.entries
    limits, program = {"work": DEFAULT_WORK_LIMIT}, (attempt.completion, run.repairs)
    certificate = horn_certificate(kind, problem, known, claim, run.goal, entries, limits, program)
    assumed = Refusal(Vacuous, "goal_assumed", "the query is decided by a fact of the program")
    return certified(certificate, check, {"goal_assumed": assumed})


def execute(completion: str, problem: Problem, known: Reference | None) -> Consequences:
    """Read the program and infer everything that follows; raises `Refusal` (malformed, timed out)."""
    repairs = Repairs()
    stated = [] if known is None else list(map(parse_statement, (*known.formal.axioms, known.formal.goal)))
    try:
        program = read_rules(completion, repairs)
        statements, goal = elaborate(program, RuleNames(stated, repairs, f"{problem.context} {problem.question}"))
    except ProgramError as error:
        raise Refusal(Malformed, error.reason, str(error)) from error
    try:
        kernel = saturated(statements, goal)
    except ArityError as error:
        raise Refusal(Malformed, "arity", str(error)) from error
    except WorkLimitExceeded as error:
        raise Refusal(TimedOut, "work_limit", str(error)) from error
    return Consequences(statements, goal, program.query_is_open, kernel, repairs.words())


def is_closed_world(problem: Problem) -> bool:
    """Say whether what does not follow is false: where the data set says so, or no option says `unknown`."""
    return semantics_of(problem.dataset).closed_world or in_terms_of("unknown", problem.options) is None


def _answer(run: Consequences, problem: Problem) -> str | None:
    """Return what the program answers; None where both or no option says it."""
    match run.reached():
        case []:
            value = "false" if is_closed_world(problem) else "unknown"
        case [literal]:
            value = "true" if literal == run.goal else "false"
        case _:
            return None
    return in_terms_of(value, problem.options)


def _check_faithful(run: Consequences, stated: Theory | None) -> None:
    """Refuse a program that contradicts itself, asks something else, or says more than the context."""
    clash = run.kernel.contradiction()
    if clash is not None:
        raise Refusal(Vacuous, "inconsistent_context", f"both {clash} and its negation follow")
    if stated is None:
        if run.query_is_open:
            # Attack: leave open what is asked, so that either answer is the right one.
            raise Refusal(Unproved, "open_query", "the query asks for a value and states none")
        derived = (run.kernel.entries[run.kernel.known[literal]].statement for literal in run.reached())
        if any(isinstance(said, Literal) and said in run.statements for said in derived):
            # Attack: with nothing to compare with, at least the query must not be a fact.
            raise Refusal(Vacuous, "goal_assumed", f"{run.goal} is decided by a fact of the program")
        return
    if stated.clash is not None:
        raise Refusal(Vacuous, "inconsistent_context", f"the context says {stated.clash} and its negation")
    if run.goal != stated.goal:
        # Attack: ask for the opposite, or for something easier, and prove that.
        raise Refusal(Unproved, "goal_mismatch", f"{run.goal} is not what the question asks")
    for statement in run.statements:
        if canonical_statement(statement) not in stated.stated:
            # Attack: add the fact or the rule that is missing.
            raise Refusal(Unproved, "axiom_not_in_context", f"the context does not say {statement}")


def _proved(run: Consequences, stated: Theory | None, problem: Problem, answer: str | None) -> str:
    """Return the answer where it is proved, or raise what bars it."""
    if answer is None:
        raise Refusal(Unproved, "no_such_option", "not exactly one option says what the program proves")
    if run.reached():
        return answer
    if is_closed_world(problem):
        raise Refusal(Unproved, "not_derived", "neither the query nor its negation follows, and that is no proof")
    if stated is None:
        # Attack: formalise next to nothing, from which nothing follows.
        raise Refusal(Unproved, "unknown_on_trust", "that nothing follows cannot be checked without a reference")
    if not stated.stated <= set(map(canonical_statement, run.statements)):
        # Attack: leave the rule out that decides the query.
        raise Refusal(Unproved, "axiom_missing", "not everything that the context says is stated")
    return answer


def explain_derivations(attempt: Attempt) -> str | None:
    """Return which statements the contradiction comes from; None where there is none."""
    try:
        run = execute(attempt.completion, attempt.problem, reference(attempt.problem))
    except (Refusal, ReferenceMismatch):
        return None
    clash = run.kernel.contradiction()
    if clash is None:
        return None
    lines: list[str] = []
    for side in (clash, clash.negated()):
        axioms = (entry.statement for entry in run.kernel.proof(side) if not isinstance(entry, Inference))
        lines.append(f"{_written(side)} follows from {'; '.join(f'`{_written(axiom)}`' for axiom in axioms)}")
    return "\n".join(lines)


def _written(statement: Statement) -> str:
    """Return a statement as programs write it."""
    if isinstance(statement, Rule):
        return f"{' && '.join(map(_written, statement.premises))} >>> {_written(statement.conclusion)}"
    arguments = [str(argument).replace("'", "$") for argument in statement.arguments]
    return f"{statement.predicate}({', '.join([*arguments, str(statement.positive)])})"
