"""The critic of `asp` attempts: a program, tests and a query (LLM-ARC), judged by clingo.

It certifies an answer that the query gives under all answer sets of a consistent program, where every test passes
and notices a damage, nothing hands the answer over, and the second opinion accepts the certificate as well.
What it reads is in `submission`, `reader` and `query`; what the sixteen ambiguities of the paper come to is in
docs/asp-format.md. Whether the rules say what the English says is trusted, and the certificate says so.
"""

from dataclasses import asdict

from critics.formats.asp import premises
from critics.formats.asp.control import SOLVE_LIMIT, BudgetExhausted, CompileError, FailedTest, duplicates, ill_posed
from critics.formats.asp.examination import Inspection, Prepared, ProgramRun, prepare, run
from critics.problem import Attempt, Problem
from critics.replay.answer_sets.checker import ANSWER_SETS_ENGINE, ANSWER_SETS_KIND, ShownTest, check_answer_sets
from critics.replay.answer_sets.language import AspError, Mutant
from critics.replay.answers import in_terms_of
from critics.text.reference import text_contradicts
from critics.verdict import Malformed, Refuted, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import certify
from critics.verdict.conclusion import Refusal, certified, is_wrong

MAX_TOLD = 3
"""Failing tests that a verdict tells about; a dialog tells all of them (`rollout.actor_critic.feedback`)."""


def _barred(verdict: type[Unproved | Vacuous | Refuted], reason: str, feedback: str) -> Refusal:
    """Return a refusal told in full, however long: an actor mends several tests at once."""
    return Refusal(verdict, reason, feedback, max_feedback=None)


def judge_asp(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge a program with tests and a query. Needs a killable worker: grounding cannot be interrupted."""
    answer: str | None = None
    try:
        prepared = prepare(attempt.completion)
        outcome = run(prepared)
        answer = None if outcome.finding is None else in_terms_of(outcome.finding.value, problem.options)
        return _judged(problem, attempt, prepared, outcome, answer)
    except Refusal as refusal:
        return refusal.verdict(answer)
    except AspError as error:
        return Malformed(error.reason, answer, str(error))
    except CompileError as error:
        return Malformed("compile", answer, str(error))
    except BudgetExhausted:
        return TimedOut("solver_limit", answer, f"a question takes more than {SOLVE_LIMIT} conflicts")
    except MemoryError:
        return TimedOut("memory_limit", answer, "the program takes more memory than is allowed")


def source_of(problem: Problem) -> premises.Source:
    """Return what the problem says about its premises."""
    num = problem.meta.get("num_premises")
    known = num if isinstance(num, int) and not isinstance(num, bool) and num >= 0 else None
    return premises.Source(known, problem.context, problem.question)


def feedback_of(completion: str) -> str | None:
    """Return what an actor is told about compiling, consistency and tests; None where there is nothing to mend.

    It never depends on the gold answer, and so is fit for a dialog.
    """
    try:
        prepared = prepare(completion)
        outcome = run(prepared)
        _check_outcome(prepared, outcome, Inspection(prepared))
    except (AspError, CompileError) as error:
        return str(error)
    except Refusal as refusal:
        return refusal.feedback
    except BudgetExhausted:
        return f"a question takes more than {SOLVE_LIMIT} conflicts"
    return None


def _judged(problem: Problem, attempt: Attempt, prepared: Prepared, outcome: ProgramRun, answer: str | None) -> Verdict:
    inspection = Inspection(prepared)
    if outcome.consistent and is_wrong(answer, problem):
        return Refuted("wrong_answer", answer, f"the query gives {answer}, which is not the answer")
    _check_outcome(prepared, outcome, inspection)
    if outcome.finding is None:
        return Unproved("no_query", None, "there is no query")
    if answer is None:
        return Unproved("no_such_option", None, f"not exactly one option says {outcome.finding.value}")
    source = source_of(problem)
    _check_premises(prepared, outcome, source)
    if text_contradicts(problem, answer, "none"):
        # Attack: formalise the opposite of a text that the project can read by itself.
        return Unproved("text_says_otherwise", answer, "the text says something else than what is formalised")
    support = _support(inspection, prepared, outcome, source)
    kills, cores = _check_adequacy(inspection, source)
    if premises.untested(prepared.submission, support):
        raise _barred(Vacuous, "untested_answer", "no test is of a rule that the answer rests on")
    witnesses = [
        None if core is not None else inspection.witness(frozenset({f"__x{i}"})) for i, core in enumerate(cores)
    ]
    names = [[mutant.name for mutant in killed] for killed in kills]
    evidence = {
        "completion": attempt.completion,
        "num_premises": source.num_premises,
        "reference": "none",
        "witness": inspection.witness(frozenset()),
        "value": outcome.finding.value,
        "support": list(support),
        "tests": [asdict(ShownTest(*shown)) for shown in zip(witnesses, cores, names, strict=True)],
        "num_mutants": len(inspection.damages),
    }
    limits = {"conflicts": SOLVE_LIMIT}
    certificate = certify(ANSWER_SETS_KIND, problem, answer, evidence, engine=ANSWER_SETS_ENGINE, limits=limits)
    return certified(certificate, check_answer_sets)


def _check_outcome(prepared: Prepared, outcome: ProgramRun, inspection: Inspection) -> None:
    """Raise what any program and any tests must not do, whatever the problem."""
    tests, program = prepared.submission.tests, prepared.submission.program
    if not outcome.consistent:
        # Attack: from a contradiction every query follows.
        told = inspection.explained(frozenset(), None, "The program contradicts itself")
        raise _barred(Vacuous, "base_inconsistent", told)
    if not tests:
        raise _barred(Vacuous, "no_tests", "there are no tests")
    posed = [failure for i, test in enumerate(tests) if (failure := ill_posed(i, test, program)) is not None]
    if posed:
        raise _barred(Vacuous, posed[0].reason, "; ".join(map(str, posed)))
    if outcome.failures:
        told = "\n".join(map(inspection.told, outcome.failures[:MAX_TOLD]))
        raise _barred(Unproved, "test_failed", told)
    if absent := premises.undefined(prepared.submission):
        raise _barred(Vacuous, "undefined_predicate", f"nothing can make {', '.join(absent)} true")
    if (repeated := duplicates(tests, program)) is not None:
        # Attack: one test under many names inflates the number that pass.
        raise _barred(Vacuous, repeated, "two tests, or two of their explanations, are the same")


def _check_premises(prepared: Prepared, outcome: ProgramRun, source: premises.Source) -> None:
    assert outcome.finding is not None
    assert prepared.query is not None
    program = prepared.submission.program
    if outcome.finding.flags:
        raise _barred(Vacuous, outcome.finding.flags[0], "the hypothesis of the query contradicts the program")
    if (missing := premises.missing_premise(program, source)) is not None:
        raise _barred(Unproved, "coverage", missing)
    if (unknown := premises.unknown_in_query(program, prepared.query, source)) is not None:
        # Attack: misspell the query, so that nothing is known about it.
        reason, _, told = unknown.partition(": ")
        raise _barred(Vacuous, reason, told)
    for position, test in enumerate(prepared.submission.tests):
        if (constant := premises.treated_constant(program, test, prepared.query, source)) is not None:
            told = f"test {position + 1}: {constant} is a constant that the program treats on its own"
            raise _barred(Vacuous, "test_constant_in_program", told)


def _support(
    inspection: Inspection, prepared: Prepared, outcome: ProgramRun, source: premises.Source
) -> tuple[int, ...]:
    assert outcome.finding is not None
    assert prepared.query is not None
    if outcome.finding.value == "unknown":
        return ()
    support = inspection.support(outcome.finding.value, source)
    if not support:
        raise _barred(Vacuous, "trivial_query", "the query has its value without any rule")
    if (given := premises.unstated_goal(prepared.submission, support, prepared.query, source)) is not None:
        raise _barred(Vacuous, "goal_is_fact", given)
    return support


def _check_adequacy(
    inspection: Inspection, source: premises.Source
) -> tuple[list[tuple[Mutant, ...]], list[list[int] | None]]:
    """Return what each test kills, and the core of each contradiction; raises where a test could not fail."""
    program, tests = inspection.program, inspection.prepared.submission.tests
    kills = inspection.kills()

    def barred(position: int, reason: str) -> Refusal:
        return _barred(Vacuous, reason, str(FailedTest(position, reason)))

    cores: list[list[int] | None] = []
    for position, test in enumerate(tests):
        named = tuple(i for number in test.rules for i in program.numbered()[number])
        core = inspection.core(frozenset({f"__x{position}"}), named) if test.contradiction else None
        cores.append(None if core is None else list(core))
        if core is not None and any(premises.is_tripwire(program, rule, source) for rule in core):
            raise barred(position, "tripwire_rule")
        if core is not None and not set(core) & set(named):
            raise barred(position, "rule_not_exercised")
        if not kills[position]:
            # Attack: a test that passes whatever its rules say.
            raise barred(position, "kills_no_mutant")
    return kills, cores
