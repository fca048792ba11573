"""Formulas that a model wrote for the sentences of a problem and of a text, each beside its own sentence.

`Problem.meta["formulas"]` holds them: one for each sentence of `context`, one for the `question`, and one for each
sentence of the `text`, null where the model wrote none. They are the model's word: `beside` compares each with its
sentence, and `formalised` asks whether the text's follow from the context's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from critics.grammar.text import claim
from critics.problem import Problem, is_list, is_object
from critics.replay.first_order.parser import parse
from critics.replay.first_order.syntax import Formula, FormulaError, open_names
from critics.text.english import phrases
from critics.text.english.passage import TextSentence, lines
from critics.text.english.wording import answer_in
from critics.text.faithfulness.english import Sentence, asked, sentence

KEY = "formulas"
MAX_SENTENCES = 200
"""Sentences of a context or of a text; more are not judged."""
_EDGES = " .,:;!?\"'"
_WORD = re.compile(r"[a-z']+")
_MUST_BE = re.compile(r"\b(?:must|has to|have to) (?:also |therefore |thus |then )?be\b")
"""In a text a conclusion, and no duty."""
_ASKING = frozenset(
    """
    question statement conclusion claim query hypothesis is the following this that true false or not and unknown
    uncertain undetermined based on above information given context premises passage text determine decide whether say
    choose select answer with it correct of facts from we know can be about a in please to
    """.split()  # noqa: SIM905
)


class NoFormulas(ValueError):  # noqa: N818
    """The formulas that came with a problem are not of its sentences, or none came."""


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence, and the formula that a model wrote for it; None where there is none that can be read."""

    formula: Formula | None
    text: str


@dataclass(frozen=True, slots=True)
class Claim(Said):
    """A sentence of the text that says something."""

    clauses: tuple[str, ...]
    """The sentence, or the reason and what it is a reason for."""
    quoted: bool
    """It says that the context says so."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A sentence of the text that is an answer and nothing else."""

    value: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """A sentence of the text that says nothing: filler of the closed list, or the question again."""

    asserts: bool = False
    """True if the question is said again as what is shown: `The conclusion is that ..`."""


@dataclass(frozen=True, slots=True)
class FormalText:
    """A problem and a text with their formulas."""

    context: tuple[Said, ...]
    question: Said
    text: tuple[tuple[TextSentence, Claim | Answered | Nothing], ...]


def split(text: str, question: str = "") -> list[TextSentence]:
    """Return the sentences that a model is asked about, in order; raises `NoFormulas` where there are too many."""
    found = list(lines(text, question))
    if len(found) > MAX_SENTENCES:
        raise NoFormulas(f"more than {MAX_SENTENCES} sentences")
    return found


def read_formulas(problem: Problem, text: str) -> FormalText:
    """Lay the formulas of a problem beside its sentences and a text's; raises `NoFormulas`."""
    given = problem.meta[KEY]
    if not is_object(given) or set(given) != {"context", "question", "text"}:
        raise NoFormulas("formulas need the keys context, question, text")
    about, said = split(problem.context), split(text, problem.question)
    question = asked(problem.question)
    if question is None or not _is_plainly_asked(problem.question, question):
        raise NoFormulas("the question is in no wording that is read")
    return FormalText(
        tuple(
            Said(_formula(written), line.passage.text)
            for line, written in zip(about, _listed(given["context"], "context", about), strict=True)
        ),
        Said(_formula(given["question"]), claim(problem.question)),
        tuple(
            (line, _piece(line, formula, problem, question))
            for line, formula in zip(said, _listed(given["text"], "text", said), strict=True)
        ),
    )


def _listed(formulas: object, key: str, sentences: Sequence[TextSentence]) -> list[object]:
    if not is_list(formulas) or len(formulas) != len(sentences):
        # Attack: shift the formulas, so that each stands beside another sentence.
        raise NoFormulas(f"{key}: one formula or null is needed for each of {len(sentences)} sentences")
    return formulas


def _formula(written: object) -> Formula | None:
    """Return what is written as one closed formula; None where it is none."""
    if not isinstance(written, str):
        return None
    try:
        found = parse(written).formula
    except FormulaError:
        return None
    return None if open_names([found]) else found


def _is_plainly_asked(question: str, statement: Sentence) -> bool:
    """Say whether nothing but words such as `true, false or unknown?` stands before the statement in question."""
    words = _WORD.findall(question.lower())
    before = words[: max(0, len(words) - len(statement.words))]
    # Attack: ask whether the statement is false, and let what proves it answer `true`.
    return set(before) <= _ASKING and ("false" not in before or "true" in before) and before.count("not") == 0


def _piece(line: TextSentence, written: object, problem: Problem, question: Sentence) -> Claim | Answered | Nothing:
    value = answer_in(line)
    if value is not None:
        return Answered(value)
    told, quoted = _without_leads(line.passage.text)
    if line.is_readable and (phrases.FILLERS.fullmatch(told) or phrases.QUESTION_LEADS.fullmatch(told)):
        return Nothing()
    if line.is_readable and (again := _restated(told, problem, question)) is not None:
        return again
    return Claim(_formula(written), line.passage.text, tuple(_clauses(_MUST_BE.sub("is", told))), quoted)


def _without_leads(text: str) -> tuple[str, bool]:
    """Return a sentence without `therefore` and the like, and whether it says that the context says so."""
    told, quoted, found = text.strip(_EDGES), False, True
    while found:
        found = False
        for lead in (phrases.LEADS, phrases.QUOTES, phrases.GIVENS):
            match = lead.match(told)
            if match is not None and match.end():
                told, found = told[match.end() :].strip(_EDGES), True
                quoted = quoted or lead is phrases.QUOTES
    return told, quoted


def _clauses(told: str) -> list[str]:
    """Return the parts of `Since A, B`, `A, so B` and `B because A`; a sentence without a joint is one."""
    start = phrases.REASONS.match(told)
    if start is not None and ", " in told:
        return [part.strip(_EDGES) for part in told[start.end() :].rsplit(", ", 1)]
    for joint in (phrases.SO, phrases.BECAUSE):
        parts = [part for part in joint.split(told) if part.strip(_EDGES)]
        if len(parts) == 2:
            return parts
    return [told]


def _restated(told: str, problem: Problem, question: Sentence) -> Nothing | None:
    """Return the question said again; None where it is not, or is said as a claim, which has a formula of its own."""
    match = phrases.AIMS.match(told)
    rest = sentence(phrases.AIM_ENDS.sub("", told[match.end() :] if match is not None else told))
    if match is None:
        is_claim = rest.words == question.words and not told.endswith("?")
        return Nothing() if told == problem.question.strip(_EDGES) and not is_claim else None
    asserts = any(match[force] for force in ("aims", "heads", "claims", "concludes"))
    return Nothing(asserts) if rest.words == question.words else None
