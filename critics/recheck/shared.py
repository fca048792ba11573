"""What is not independent: readings that only the critics' own readers can do, done once more and compared.

A certificate shows what was proved. That this is what a text says (the problem's English, the attempt's program) is
read by the critics' own translators and readers, and here they read it again. So a forged reading is found, and a
mistake of the reader's is not. Nothing else in `critics.recheck` imports the critics, and a test fences that.
"""

import importlib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from critics.recheck.answers import in_terms_of
from critics.recheck.certificate import Rejected, Unchecked
from critics.recheck.consequences import follows, is_contradictory
from critics.recheck.records import attempt_text, meta_of
from critics.recheck.statements import Atom, canonical, read_atom, read_rule

TRANSLATORS = ("prontoqa", "prontoqa-ood", "proofwriter", "syllogism", "deontiqa")
"""The data sets whose English is regular; `prontoqa-ood` is read by `critics.translators.deductions`."""
EQUIVALENCE_KINDS = ("propositional-equivalence", "first-order-equivalence", "regex-equivalence")


def _critics(module: str) -> Any:
    """Import a module of the critics; the last part of its name tells which."""
    return importlib.import_module(f"critics.{module}")


def check_text(certificate: dict[str, Any], dataset: str | None) -> bool:
    """Translate the problem's text again and compare; say whether it could be.

    Where it cannot, it may still show that what is formalised is its opposite. Raises `Rejected`.
    """
    problem, source = certificate["problem"], certificate["evidence"]["reference"]
    if certificate["kind"] == "answer-sets":
        # No translator writes programs: what their rules say in words is trusted, unless the text denies it.
        check_not_denied(certificate)
        return False
    if dataset in TRANSLATORS and source == "none":
        # Attack: withhold the reference, so that any formalisation will do.
        raise Rejected("reference_is_missing")
    if dataset in TRANSLATORS and source not in ("given", dataset):
        # Attack: name a translator whose language the text is not in.
        raise Rejected("other_problem")
    language = dataset if dataset in TRANSLATORS else source
    check_not_denied(certificate)
    if language not in TRANSLATORS:
        return False
    again = _translated(language, problem["context"], problem["question"])
    if again is None:
        if source not in TRANSLATORS:
            return False
        raise Rejected("reference_is_not_the_text")
    if _meaning(*again) != _meaning(tuple(problem["formal"]["axioms"]), problem["formal"]["goal"]):
        raise Rejected("reference_is_not_the_text")
    return True


def check_not_denied(certificate: dict[str, Any]) -> None:
    """Raise `Rejected` where a text that some translator can read says something else than the claim.

    Of a problem that brings a reference, the text may leave open what the reference decides.
    """
    problem, source = certificate["problem"], certificate["evidence"]["reference"]
    if source in TRANSLATORS:
        return
    said = _decided(problem["context"], problem["question"])
    if said is None or (said == "unknown" and source != "none"):
        return
    if in_terms_of(said, problem["options"]) != certificate["claim"]:
        raise Rejected("text_says_otherwise")


@lru_cache(maxsize=128)
def _translated(language: str, context: str, question: str) -> tuple[tuple[str, ...], str] | None:
    """Return axioms and goal; None where the text is not in the language."""
    translator = _critics(f"translators.{'deductions' if language == 'prontoqa-ood' else language}")
    try:
        found = translator.translate(context, question)
    except _critics("translators.translation").TranslationError:
        return None
    return found.axioms, found.goal


@lru_cache(maxsize=128)
def _decided(context: str, question: str) -> str | None:
    """Return what the text says in the first language in which it decides the question."""
    found = None
    for language in TRANSLATORS:
        translated = _translated(language, context, question)
        if translated is None:
            continue
        try:
            said = follows(map(read_rule, translated[0]), read_atom(translated[1]))
        except Rejected:
            continue
        if said in ("true", "false"):
            return said
        found = said or found
    return found


def _meaning(axioms: tuple[str, ...], goal: str) -> tuple[Atom, frozenset[tuple[Atom, ...]]]:
    try:
        return read_atom(goal), frozenset(canonical(read_rule(axiom)) for axiom in axioms)
    except (ValueError, IndexError) as error:
        raise Rejected("ill_formed") from error


def check_reading(record: dict[str, Any], certificate: dict[str, Any]) -> None:
    """Raise `Rejected` unless an attempt says what its certificate is about, read by the critic's own reader."""
    text, evidence = attempt_text(record), certificate["evidence"]
    own = evidence.get("program", evidence.get("completion"))
    if text is not None and own is not None and text != own:
        # Attack: attach the certificate of an honest attempt to another.
        raise Rejected("other_attempt")
    reader = _READERS.get(certificate["kind"])
    if reader is not None:
        try:
            reader(record, certificate)
        except (_critics("programs.core").TooLarge, RecursionError) as error:
            raise Rejected("too_large") from error
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise Rejected("ill_formed") from error


def _answer_sets(record: dict[str, Any], certificate: dict[str, Any]) -> None:
    if (
        record.get("problem") is not None
        and meta_of(record).get("num_premises") != certificate["evidence"]["num_premises"]
    ):
        raise Rejected("other_problem")


_BLOCK = re.compile(r"\[\[(axiom|infer|goal):([^\[\]]*)\]\]")


def _blocks(record: dict[str, Any], certificate: dict[str, Any]) -> None:
    """A guided attempt must infer what its certificate infers, aim at its goal, and assume only what is given."""
    text = attempt_text(record)
    if text is None:
        return
    written: dict[str, set[Any]] = {"axiom": set(), "infer": set(), "goal": set()}
    for action, statement in _BLOCK.findall(text):
        if statement.strip() != "nothing":
            written[action].add(canonical(read_rule(statement)))
    evidence = certificate["evidence"]
    inferred = {canonical(read_rule(step["statement"])) for step in evidence["steps"] if step["by"] == "rule"}
    if not inferred <= written["infer"] or canonical(read_rule(evidence["goal"])) not in written["goal"]:
        # Attack: lend an attempt the certificate of another one at the same problem.
        raise Rejected("other_attempt")
    formal = certificate["problem"]["formal"]
    if formal is not None and not written["axiom"] <= {canonical(read_rule(axiom)) for axiom in formal["axioms"]}:
        # An axiom that the proof does not use is the attempt's word all the same.
        raise Rejected("axiom_not_in_context")


def _rules(_: dict[str, Any], certificate: dict[str, Any]) -> None:
    """The derivation's axioms and goal must be the program's, and all of the program the reference's."""
    evidence, formal = certificate["evidence"], certificate["problem"]["formal"]
    formula, sections, names = _critics("formula"), _critics("programs.sections"), _critics("programs.rule_names")
    given = [] if formal is None else [*formal["axioms"], formal["goal"]]
    repairs = sections.Repairs()
    program = _critics("programs.rule_reader").read_rules(evidence["program"], repairs)
    read, goal = names.elaborate(program, names.Vocabulary([formula.parse_statement(s) for s in given], repairs))
    _check_repairs(repairs.words(), certificate)
    if formal is None and program.query_is_open:
        raise Rejected("open_query")
    if read_atom(str(goal)) != read_atom(evidence["goal"]):
        raise Rejected("goal_mismatch")
    statements = [read_rule(str(statement)) for statement in read]
    said = set(map(canonical, statements))
    axioms = [read_rule(step["statement"]) for step in evidence["steps"] if step["by"] == "axiom"]
    if not set(map(canonical, axioms)) <= said:
        raise Rejected("axiom_not_in_program")
    if formal is not None and not said <= {canonical(read_rule(axiom)) for axiom in formal["axioms"]}:
        raise Rejected("axiom_not_in_context")
    if is_contradictory(statements, read_atom(evidence["goal"])):
        raise Rejected("inconsistent_context")


def _solutions(_: dict[str, Any], certificate: dict[str, Any]) -> None:
    """The core must be the program's; where the puzzle's text can be read, the program must say the same."""
    evidence, problem, repairs = (
        certificate["evidence"],
        certificate["problem"],
        _critics("programs.sections").Repairs(),
    )
    program = _critics("programs.csp_reader").read_csp(evidence["program"], repairs)
    _check_repairs(repairs.words(), certificate)
    difference = _critics("programs.csp_text").difference_from_text(problem["context"], problem["options"], program)
    if evidence["reference"] != ("none" if difference is None else "text"):
        raise Rejected("reference_is_not_the_text")
    if difference:
        raise Rejected("text_says_otherwise")
    if _critics("programs.csp_certificate").core_of(program) != evidence["core"]:
        raise Rejected("other_program")


def _models(_: dict[str, Any], certificate: dict[str, Any]) -> None:
    """The core must be the program's, and the program must ask what the question asks."""
    evidence, repairs = certificate["evidence"], _critics("programs.sections").Repairs()
    program = _critics("programs.logic_program").read_logic_program(evidence["program"], repairs)
    _check_repairs(repairs.words(), certificate)
    grounder = _critics("programs.grounding").Grounder(program.declared.functions)
    formulas = [[grounder.ground(formula) for formula in option.formulas] for option in program.options]
    claimed = ord(certificate["claim"]) - ord("A")
    barred = _critics("programs.fidelity").bar_of(certificate["problem"], program, formulas, claimed)
    if barred is not None:
        raise Rejected(barred.reason)
    if _critics("programs.options_certificate").core_of(program) != evidence["core"]:
        raise Rejected("other_program")


def _check_repairs(noted: list[str], certificate: dict[str, Any]) -> None:
    if noted != certificate["repairs"]:
        raise Rejected("repairs")


def canonical_formulas(texts: list[str]) -> list[str]:
    """Return formulas in any notation in canonical text; raises `ValueError`."""
    parser, printing = _critics("fol.parser"), _critics("fol.printing")
    return [printing.canonical(parser.parse(text).formula) for text in texts]


def _formulas(record: dict[str, Any], certificate: dict[str, Any]) -> None:
    """The attempt's formulas must be the certificate's."""
    text, formal, evidence = attempt_text(record), certificate["problem"]["formal"], certificate["evidence"]
    if text is None:
        return
    program, theory, printing = (
        _critics("fol.program").read_program(text),
        _critics("fol.theory"),
        _critics("fol.printing"),
    )
    if formal is not None:
        given = _critics("problem").Formal(tuple(formal["axioms"]), formal["goal"])
        program = theory.in_terms_of_theory(program, theory.read_theory(given))
    if [printing.canonical(f) for f in program.formulas()] != [*evidence["premises"], evidence["conclusion"]]:
        raise Rejected("other_attempt")
    if list(program.repairs) != certificate["repairs"]:
        raise Rejected("other_attempt")


def _expressions(record: dict[str, Any], certificate: dict[str, Any]) -> None:
    """Both sides must be in canonical text, the attempt's, and the left one the formula that the problem names."""
    evidence, formal, meta = certificate["evidence"], certificate["problem"]["formal"], meta_of(record)
    language, pairs, critic = (_critics(f"equivalence.{name}") for name in ("language", "pair", "critic"))
    alphabet = meta.get("alphabet", _critics("equivalence.regex").ALPHABET)
    if not language.is_alphabet(alphabet):
        raise Rejected("ill_formed")
    own = language.Language(evidence["language"])
    pair = pairs.read_pair(own, evidence["left"], evidence["right"], evidence["detail"].get("alphabet", alphabet))
    if getattr(pair, "repairs", ()) or pairs.texts(pair) != (evidence["left"], evidence["right"]):
        raise Rejected("not_canonical")
    if formal is not None and not pairs.is_left(pair, formal["goal"]):
        raise Rejected("goal_mismatch")
    text = attempt_text(record)
    if text is None:
        return
    written = critic.read_attempt_pair(text, alphabet)
    same = pairs.texts(written) == pairs.texts(pair) and getattr(written, "language", own) is own
    if not same or type(written) is not type(pair) or list(getattr(written, "repairs", ())) != certificate["repairs"]:
        raise Rejected("other_attempt")
    if formal is not None and not critic.is_of_language(written, meta.get("language")):
        raise Rejected("other_problem")


def check_task(certificate: dict[str, Any], dataset: str | None) -> None:
    """Raise `Rejected` where an equivalence answers a data set that asks for something else."""
    if certificate["kind"] in EQUIVALENCE_KINDS and dataset in _critics("equivalence.critic").OTHER_TASKS:
        # Attack: certify any answer `true` by the equivalence of a formula with itself.
        raise Rejected("other_task")


def _script(_: dict[str, Any], certificate: dict[str, Any]) -> None:
    """The script must argue what the evidence holds: it is run again, in the jail."""
    try:
        importlib.import_module("z3")
    except ImportError as error:
        raise Unchecked("needs_z3") from error
    _critics("scripts.second_run").check_script(certificate)


_READERS: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "horn-proof": _blocks,
    "horn-saturation": _blocks,
    "answer-sets": _answer_sets,
    "rules-proof": _rules,
    "rules-saturation": _rules,
    "csp-model": _solutions,
    "program-options": _models,
    "fol-entailment": _formulas,
    "z3-script": _script,
    **dict.fromkeys(EQUIVALENCE_KINDS, _expressions),
}
