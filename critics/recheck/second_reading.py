"""The part of a re-check that shares code with the critics: their readers read the texts a second time.

A certificate shows what was proved. That the problem's English and the attempt's program say just that is a matter of
reading, and these readers are the critics' own. So this module finds a forged reading, and no mistake of a reader.
Shared with the critics are:

* `critics.text.reference`, its `TRANSLATORS`, `FIRST_ORDER` and `PUZZLES`: the problem's text in regular English;
* `critics.formats.asp`: the reader of answer set programs, and what their words show of premises and answer;
* `critics.logic.programs`: the readers of `rules`, `csp` and `logic-program`, their repairs and tests of fidelity;
* `critics.logic.first_order`: the parser of formulas, and the match of a program's names with a reference's;
* `critics.formats.equivalence`: the readers of both sides;
* `critics.formats.english`: the reader of chains of thought, and its whole trial of the text;
* `critics.text.faithfulness`: whether a text bears out an attempt that was taken on trust;
* `critics.formats.z3_python`: the interpreter, which runs a script once more in its jail (needs Z3).

Everything else in a re-check is `critics.replay`, which imports the standard library and nothing of the critics; of
`critics.recheck`, only this module and `text_reading`, for the problem's text, import a critic. In the other direction
critics take a few plain things from `critics.replay`, so that a mistake in these could pass both: an answer in a
problem's own terms (`answers`), the types of finite programs' terms, without what computes with them (`finite.terms`),
the spelling of SMT-LIB (`smtlib`), the tables of semantics and grades (`semantics`, `grades`), and a cursor over tokens
(`cursor`). Readers are imported late: most files hold one kind.
"""

import re
from collections.abc import Callable
from dataclasses import replace

from critics.problem import Attempt
from critics.recheck.records import Origin
from critics.recheck.text_reading import EQUIVALENCE_KINDS, problem_of
from critics.replay.certificate import UNTRUSTED, Rejected, SealedCertificate, TooLarge, Unchecked
from critics.replay.formula import canonical_statement, parse_literal, parse_statement
from critics.replay.saturations import is_contradictory
from critics.replay.solvers import installed
from critics.verdict import Certified
from critics.verdict.certificate import Certificate


def check_reading(origin: Origin, certificate: SealedCertificate) -> None:
    """Raise `Rejected` unless an attempt says what its certificate is about, read by the critic's own reader."""
    evidence = certificate.evidence
    own = evidence.get("program", evidence.get("completion"))
    if origin.attempt is not None and own is not None and origin.attempt != own:
        # Attack: attach the certificate of an honest attempt to another.
        raise Rejected("other_attempt")
    reader = _READERS.get(certificate.kind)
    if reader is not None:
        with UNTRUSTED:
            try:
                reader(origin, certificate)
            except (TooLarge, RecursionError) as error:
                raise Rejected("too_large") from error


def _answer_sets(origin: Origin, certificate: SealedCertificate) -> None:
    """Premises must state what the answer and the tests rest on, as far as words show that."""
    from critics.formats.asp import premises
    from critics.formats.asp.examination import read_submission
    from critics.replay.answer_sets.language import AspError
    from critics.replay.answer_sets.query import read_query

    evidence, problem = certificate.evidence, certificate.problem
    if origin.has_problem and origin.meta.get("num_premises") != evidence["num_premises"]:
        raise Rejected("other_problem")
    try:
        submission = read_submission(evidence["completion"])
        query = read_query(submission.query)
    except AspError as error:
        raise Rejected("ill_formed") from error
    program = submission.program
    source = premises.Source(evidence["num_premises"], problem.context, problem.question)
    cores = [rule for test in evidence["tests"] for rule in test["core"] or ()]
    barred = {
        "coverage": premises.missing_premise(program, source) is not None,
        "undefined_predicate": bool(premises.undefined(submission)),
        "query_not_in_premises": premises.unknown_in_query(program, query, source) is not None,
        "test_constant_in_program": any(
            premises.treated_constant(program, test, query, source) is not None for test in submission.tests
        ),
        "goal_is_fact": premises.unstated_goal(submission, evidence["support"], query, source) is not None,
        "untested_answer": premises.untested(submission, evidence["support"]),
        "tripwire_rule": any(premises.is_tripwire(program, rule, source) for rule in cores),
    }
    for reason in barred:
        if barred[reason]:
            raise Rejected(reason)


_BLOCK = re.compile(r"\[\[(axiom|infer|goal):([^\[\]]*)\]\]")


def _canonical(text: str) -> str:
    return canonical_statement(parse_statement(text))


def _blocks(origin: Origin, certificate: SealedCertificate) -> None:
    """A guided attempt must infer what its certificate infers, aim at its goal, and assume only what is given."""
    if origin.attempt is None:
        return
    written: dict[str, set[str]] = {"axiom": set(), "infer": set(), "goal": set()}
    for action, statement in _BLOCK.findall(origin.attempt):
        if statement.strip() != "nothing":
            written[action].add(_canonical(statement))
    evidence, formal = certificate.evidence, certificate.problem.formal
    inferred = {_canonical(step["statement"]) for step in evidence["steps"] if step["by"] == "rule"}
    if not inferred <= written["infer"] or _canonical(evidence["goal"]) not in written["goal"]:
        # Attack: lend an attempt the certificate of another one at the same problem.
        raise Rejected("other_attempt")
    if formal is not None and not written["axiom"] <= {_canonical(axiom) for axiom in formal.axioms}:
        # An axiom that the proof does not use is the attempt's word all the same.
        raise Rejected("axiom_not_in_context")


def _rules(_: Origin, certificate: SealedCertificate) -> None:
    """The derivation's axioms and goal must be the program's, and all of the program the reference's."""
    from critics.formats.rules.reader import RuleNames, elaborate, read_rules
    from critics.logic.programs.sections import Repairs

    evidence, formal, repairs = certificate.evidence, certificate.problem.formal, Repairs()
    text = f"{certificate.problem.context} {certificate.problem.question}"
    program = read_rules(evidence["program"], repairs)
    given = [] if formal is None else [*formal.axioms, formal.goal]
    read, goal = elaborate(program, RuleNames([parse_statement(text) for text in given], repairs, text))
    _check_repairs(repairs.words(), certificate)
    if formal is None and program.query_is_open:
        raise Rejected("open_query")
    if goal != parse_literal(evidence["goal"]):
        raise Rejected("goal_mismatch")
    said = set(map(canonical_statement, read))
    if not {_canonical(step["statement"]) for step in evidence["steps"] if step["by"] == "axiom"} <= said:
        raise Rejected("axiom_not_in_program")
    if formal is not None and not said <= {_canonical(axiom) for axiom in formal.axioms}:
        raise Rejected("axiom_not_in_context")
    if is_contradictory(read, goal):
        raise Rejected("inconsistent_context")


def _solutions(_: Origin, certificate: SealedCertificate) -> None:
    """The core must be the program's; where the puzzle's text can be read, the program must say the same."""
    from critics.formats.csp.critic import core_of, other_question
    from critics.formats.csp.reader import read_csp
    from critics.formats.csp.text import difference_from_text
    from critics.logic.programs.sections import Repairs

    evidence, problem, repairs = certificate.evidence, certificate.problem, Repairs()
    program = read_csp(evidence["program"], repairs)
    _check_repairs(repairs.words(), certificate)
    difference = difference_from_text(problem.context, problem.options, program)
    if certificate.reference != ("none" if difference is None else "text"):
        raise Rejected("reference_is_not_the_text")
    if difference:
        raise Rejected("text_says_otherwise")
    if core_of(program) != evidence["core"]:
        raise Rejected("other_program")
    if (otherwise := other_question(problem.question, compared=difference is not None)) is not None:
        raise Rejected(otherwise.reason)


def _models(_: Origin, certificate: SealedCertificate) -> None:
    """The core must be the program's, and the program must ask what the question asks."""
    from critics.formats.logic_program.critic import core_of
    from critics.formats.logic_program.fidelity import bar_of
    from critics.formats.logic_program.reader import read_logic_program
    from critics.logic.programs.sections import Repairs
    from critics.replay.finite.grounding import Grounder

    evidence, problem, repairs = certificate.evidence, certificate.problem, Repairs()
    program = read_logic_program(evidence["program"], repairs)
    _check_repairs(repairs.words(), certificate)
    grounder = Grounder(program.declared.functions)
    formulas = [[grounder.ground(formula) for formula in option.formulas] for option in program.options]
    claimed = ord(certificate.claim) - ord("A")
    barred = bar_of(problem.question, problem.options, program, formulas, claimed)
    if barred is not None:
        raise Rejected(barred.reason)
    if core_of(program) != evidence["core"]:
        raise Rejected("other_program")


def _check_repairs(noted: list[str], certificate: SealedCertificate) -> None:
    if noted != certificate.repairs:
        raise Rejected("repairs")


def canonical_formulas(texts: list[str]) -> list[str]:
    """Return formulas in any notation in canonical text; raises `ValueError`."""
    from critics.logic.first_order.parser import parse
    from critics.logic.first_order.printing import canonical as printed

    return [printed(parse(text).formula) for text in texts]


def _formulas(origin: Origin, certificate: SealedCertificate) -> None:
    """The attempt's formulas must be the certificate's."""
    from critics.formats.fol.program import in_terms_of_theory, read_program
    from critics.logic.first_order.printing import canonical as printed
    from critics.logic.first_order.theory import read_theory

    formal, evidence = problem_of(certificate, None).formal, certificate.evidence
    if origin.attempt is None:
        return
    program = read_program(origin.attempt)
    if formal is not None:
        program = in_terms_of_theory(program, read_theory(formal))
    if [printed(formula) for formula in program.formulas()] != [*evidence["premises"], evidence["conclusion"]]:
        raise Rejected("other_attempt")
    if list(program.repairs) != certificate.repairs:
        raise Rejected("other_attempt")


def _expressions(origin: Origin, certificate: SealedCertificate) -> None:
    """Both sides must be in canonical text, the attempt's, and the left one the formula that the problem names."""
    from critics.formats.equivalence.critic import (
        FormulaPair,
        Pair,
        is_left,
        is_of_language,
        read_attempt_pair,
        read_pair,
        texts,
    )
    from critics.formats.equivalence.language import ALPHABET, Language, is_alphabet

    evidence, formal = certificate.evidence, certificate.problem.formal
    alphabet = origin.meta.get("alphabet", ALPHABET)
    if not is_alphabet(alphabet):
        raise Rejected("ill_formed")

    def language_and_repairs(pair: Pair) -> tuple[Language, list[str]]:
        return (pair.language, list(pair.repairs)) if isinstance(pair, FormulaPair) else (Language.REGEX, [])

    own = Language(evidence["language"])
    pair = read_pair(own, evidence["left"], evidence["right"], evidence["detail"].get("alphabet", alphabet))
    if language_and_repairs(pair)[1] or texts(pair) != (evidence["left"], evidence["right"]):
        raise Rejected("not_canonical")
    if formal is not None and not is_left(pair, formal.goal):
        raise Rejected("goal_mismatch")
    if origin.attempt is None:
        return
    written = read_attempt_pair(origin.attempt, alphabet)
    if texts(written) != texts(pair) or language_and_repairs(written) != (own, certificate.repairs):
        raise Rejected("other_attempt")
    if formal is not None and not is_of_language(written, origin.meta.get("language")):
        raise Rejected("other_problem")


def _script(_: Origin, certificate: SealedCertificate) -> None:
    """The script must argue what the evidence holds: it is run again, in the jail."""
    if installed("z3") is None:
        raise Unchecked("needs_z3")
    from critics.formats.z3_python.critic import judge_script

    evidence, problem = certificate.evidence, problem_of(certificate, certificate.reference)
    if certificate.reference != "given":
        problem = replace(problem, formal=None)
    verdict = judge_script(problem, Attempt("", problem, "z3-python", evidence["program"]))
    if verdict.reason == "no_jail":
        raise Unchecked("no_jail")
    if not isinstance(verdict, Certified):
        raise Rejected(verdict.reason)
    again = verdict.certificate
    if again.claim != certificate.claim:
        raise Rejected("claim")
    if again.evidence.record() != evidence or again.problem.formal != problem_of(certificate, None).formal:
        raise Rejected("evidence_is_not_the_script")


def _english(_: Origin, certificate: SealedCertificate) -> None:
    """The text must be read and judged again to the same evidence, sentence by sentence."""
    from critics.formats.english.critic import judge_english

    problem, evidence = problem_of(certificate, certificate.reference), certificate.evidence
    again = judge_english(problem, Attempt("", problem, "english", evidence["completion"])).certificate
    if again is None or again.evidence.record() != evidence or again.claim != certificate.claim:
        raise Rejected("other_attempt")
    if again.problem.formal != problem.formal:
        raise Rejected("reference_is_not_the_text")


def _chain(origin: Origin, certificate: SealedCertificate) -> None:
    """Each formula must stand beside its sentence as its critic finds it; the text is judged again."""
    from critics.formats.english.formalised import judge_formalised
    from critics.formats.english.readings import judge_readings

    evidence = certificate.evidence
    if evidence["formulas"] is None:
        problem = replace(problem_of(certificate, origin.dataset), formal=None)
        again = judge_readings(problem, Attempt("", problem, "english", evidence["completion"])).certificate
        _check_again(again, certificate)
        return
    if origin.has_problem and origin.meta.get("formulas") != evidence["formulas"]:
        raise Rejected("other_problem")
    problem = replace(problem_of(certificate, None), formal=None, meta={"formulas": evidence["formulas"]})
    again = judge_formalised(problem, Attempt("", problem, "english", evidence["completion"])).certificate
    _check_again(again, certificate)


def _check_again(again: Certificate | None, certificate: SealedCertificate) -> None:
    """Compare what the critic says of the text again with what the certificate holds."""
    evidence = certificate.evidence
    if again is None or again.claim != certificate.claim or again.formalisation != certificate.grade:
        raise Rejected("other_attempt")
    read = again.evidence.record()
    if any(read[key] != evidence[key] for key in read.keys() - {"models"}):
        raise Rejected("other_attempt")


_READERS: dict[str, Callable[[Origin, SealedCertificate], None]] = {
    "horn-proof": _blocks,
    "horn-saturation": _blocks,
    "answer-sets": _answer_sets,
    "rules-proof": _rules,
    "rules-saturation": _rules,
    "csp-model": _solutions,
    "program-options": _models,
    "fol-entailment": _formulas,
    "z3-script": _script,
    "english-proof": _english,
    "english-entailment": _chain,
    **dict.fromkeys(EQUIVALENCE_KINDS, _expressions),
}
