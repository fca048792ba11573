"""The critic of `z3-python` attempts: a script that prints its answer, and that this answer follows from its premises.

The script is run in the jail, and what it printed is only what it claims. Premises and statement are read off the log
of its solver calls and decided again elsewhere; the answer is certified where both agree. Satisfiable is not entailed:
the published template prints `A` where premises and statement can hold together, which a statement that nothing is
known about does as well (Deng et al., appendix A).
"""

import importlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from critics.formats.z3_python.decision import (
    MAX_CONFLICTS,
    RLIMIT,
    Argument,
    Examined,
    answer_of,
    argument_of,
    decided,
    question_sets,
    refuse_closed_world,
    refuse_groundless,
    value_of,
)
from critics.formats.z3_python.exploration import explore, script_of
from critics.formats.z3_python.fidelity import refuse_other_theory
from critics.formats.z3_python.jail import UNLIMITED, JailAnswer, JailDied, Overran, run_jailed
from critics.formats.z3_python.report import (
    JailBroken,
    ScriptRuns,
    Wording,
    answer_of_text,
    read_report,
    wording,
)
from critics.formats.z3_python.values import ScriptError
from critics.problem import Attempt, Problem
from critics.replay.formula import FormulaError
from critics.replay.scripts import Mode, needed, script, written
from critics.text.question import read_question
from critics.text.reference import ReferenceMismatch, holds_in_semantics, reference
from critics.verdict import Certified, CriticError, Malformed, TimedOut, Unproved, Verdict
from critics.verdict.certificate import Reference, certify, source_name
from critics.verdict.conclusion import Refusal, brief, is_wrong, no_reference, refused, wrong_answer

LIMIT_S = 4.0
"""For all runs of a script; natural ones take 20 to 200 milliseconds."""


def report_of(completion: str, wording: Wording) -> ScriptRuns:
    """Run a completion's script in the jail; raises `Refusal` and `JailBroken`."""
    options = wording.truths is None
    importlib.import_module("z3")  # before the fork: nothing can be imported in the jail
    try:
        text = script_of(completion)
        ended = run_jailed(lambda: explore(text, options=options), limit_s=LIMIT_S)
        if isinstance(ended, JailAnswer):
            return read_report(ended.answer)
    except ScriptError as error:
        raise Refusal(Malformed, error.reason, error.told()) from error
    match ended:
        case Overran():
            raise Refusal(TimedOut, "time_limit", f"the script takes longer than {LIMIT_S:g} seconds")
        case JailDied(status) if status == UNLIMITED:
            raise JailBroken("the script's process could not be limited; judge scripts on Linux")
        case JailDied():
            # Attack: bring the solver down, so that no verdict is left.
            raise Refusal(Malformed, "crashed", "the script takes too much memory, or brings the solver down")


def examined(report: ScriptRuns, wording: Wording) -> Examined:
    """Decide a report's argument; raises `Refusal`."""
    argument = argument_of(report, wording)
    results = decided(argument, report.declarations)
    value = value_of(argument, results)
    refuse_closed_world(argument, report.declarations, results)
    return Examined(report, argument, results, value)


KIND = "z3-script"
ENGINE = "certistar-z3-script/1"


@dataclass(frozen=True, slots=True)
class ScriptEvidence:
    """A script, and what its examination leaves behind."""

    completion: str
    reference: str
    examined: Examined

    def record(self) -> dict[str, object]:
        """Return the JSON form; the same for the same script, problem and version of Z3."""
        argument, report = self.examined.argument, self.examined.report
        sets = question_sets(argument)
        declarations = needed(report.declarations, [formula for formulas in sets for formula in formulas])
        used = {token for declaration in map(written, declarations) for token in report.names if token in declaration}
        return {
            "program": self.completion,
            "reference": self.reference,
            "names": {ours: theirs for ours, theirs in sorted(report.names.items()) if ours in used},
            "declarations": list(map(written, declarations)),
            "mode": argument.mode,
            "premises": list(map(written, argument.premises)),
            "statements": list(map(written, argument.statements)),
            "value": self.examined.value,
            "checks": [
                {"script": script(report.declarations, formulas), "result": self.examined.results[formulas]}
                for formulas in sets
            ],
        }


_ASKED: dict[str, Mode] = {
    "must": "unsat", "cannot": "unsat", "list": "unsat", "could": "sat", "could_be_false": "sat",
}  # fmt: skip
"""The result of an option's check that lets it hold, by what the question asks of it."""


_NEGATED: dict[str, bool] = {"must": True, "could_be_false": True, "could": False, "cannot": False}
"""True where an option's check tests the negation of what the option says, by what the question asks of it."""


def judge_script(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one script; where its process cannot be limited, the verdict is `error`, and nothing is run."""
    written = wording(problem.options)
    try:
        known = reference(problem)
    except (ReferenceMismatch, FormulaError) as error:
        return no_reference(error)
    try:
        report = report_of(attempt.completion, written)
        return _judged(problem, attempt.completion, known, written, report)
    except Refusal as refusal:
        return refused(refusal, problem, None)
    except JailBroken as error:
        return CriticError("jail_broken", None, brief(str(error)))


def _judged(
    problem: Problem, completion: str, known: Reference | None, written: Wording, report: ScriptRuns
) -> Verdict:
    answer = answer_of(report, written)
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    try:
        found = examined(report, written)
        if known is None:
            refuse_groundless(found.argument, found.value)
        if answer != answer_for(found.value, written):
            # Attack: print true because premises and statement can hold together.
            raise Refusal(Unproved, "not_entailed", f"what follows is {found.value}, and not what the script prints")
        if found.argument.mode != "truth" and read_question(problem.question) is None:
            raise Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(problem.question)}")
        if asks_otherwise(problem.question, found.argument, problem.options):
            raise Refusal(Unproved, "goal_mismatch", "the options' checks do not ask what the question asks")
        if known is not None:
            refuse_other_theory(found, known)
            if not holds_in_semantics(problem, known, found.value):
                raise Refusal(
                    Unproved, "other_semantics", "the data set's rules run forwards, which does not lead there"
                )
        if text_says_otherwise(problem, written, source_name(known), answer):
            raise Refusal(Unproved, "text_says_otherwise", "the formulas answer something else than the text asks")
    except Refusal as refusal:
        return refused(refusal, problem, answer)
    assert answer is not None
    certificate = certify(
        KIND,
        problem,
        answer,
        ScriptEvidence(completion, source_name(known), found),
        engine=ENGINE,
        formal=None if known is None else known.formal,
        limits={"rlimit": RLIMIT, "conflicts": MAX_CONFLICTS},
    )
    return Certified(answer, certificate)


def answer_for(value: str, written: Wording) -> str | None:
    """Return an examination's value in the problem's terms."""
    return value if written.truths is None else written.truths.get(value)


_NEGATIVE = re.compile(r"\b(?:not|no|never|neither|nor|none|cannot|nobody|nothing|without|un\w+)\b|n't", re.IGNORECASE)


def asks_otherwise(question: str, argument: Argument, options: Sequence[str] | None) -> bool:
    """Say whether the options' checks ask what must be where the question asks what could be, or the other way.

    To say that an option must hold, or could fail, is to test its negation; where no option denies anything, the tests
    have to be negations, or none of them all.
    """
    asked = read_question(question)
    if argument.mode == "truth" or asked in (None, "unsaid"):
        return False
    if asked != "fact" and _ASKED.get(asked) != argument.mode:
        return True
    if argument.mode == "unsat" and asked == "fact":
        asked = "must"
    # Attack: test what each option says where its negation is to be tested, so that what is impossible is the answer.
    denied = [isinstance(tested, tuple) and tested[0] in ("not", "distinct") for tested in argument.statements]
    if asked not in _NEGATED or any(map(_NEGATIVE.search, options or ())):
        return False
    return all(denied) if not _NEGATED[asked] else not any(denied)


def text_says_otherwise(problem: Problem, written: Wording, source: str, answer: str | None) -> bool:
    """Say whether the text, where it is in a language that can be read, answers something else.

    Of a problem that brings a reference (`source`), the text may leave open what the reference decides.
    """
    said = answer_of_text(problem, written)
    if said is None or said == answer:
        return False
    is_open = written.truths is not None and said == written.truths.get("unknown", "none")
    return not is_open or source != "given"
