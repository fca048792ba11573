"""Names of a formalisation beside the words of its problem's text: a bar, and never a proof of what a text says."""

from critics.problem import Problem
from critics.replay.first_order.syntax import Formula
from critics.text.faithfulness.english import Sentence, asked, sentence, sentences
from critics.text.faithfulness.formalisation import Formalisation, atoms_of
from critics.text.faithfulness.naming import places
from critics.text.faithfulness.signs import SignedAtom

_ADDING = frozenset({"and", "or", "but", "nor", "who", "which"})
MAX_PREMISES = 400
"""More are not compared: each is laid beside every sentence."""


def is_about_another_text(problem: Problem, formalised: Formalisation) -> bool:
    """Say whether the goal names what the question does not, or a premise what no one sentence puts together.

    So it is where the question or a formula's signs cannot be read.
    """
    question, goal = asked(problem.question), atoms_of(formalised.goal)
    premises = [atoms_of(premise) for premise in formalised.premises[: MAX_PREMISES + 1]]
    if question is None or goal is None or len(premises) > MAX_PREMISES:
        return True
    context = sentences(problem.context)
    vocabulary = frozenset(stem for each in (*context, question) for stem in each.stems if stem)
    # Attack: state more premises than the text can hold.
    room = sum(1 + len(s.commas) + sum(word in _ADDING for word in s.words) for s in context)
    if len(premises) > room or not _names_all(goal, question, vocabulary):
        return True
    return any(atoms is None or not any(_names_all(atoms, s, vocabulary) for s in context) for atoms in premises)


def unspoken(formula: Formula, text: str) -> tuple[str, ...]:
    """Return the names of a formula that a sentence has no words for; all of them where its signs cannot be read."""
    told, atoms = sentence(text), atoms_of(formula)
    if atoms is None:
        return ("a formula whose signs have no one reading",)
    names = dict.fromkeys(name for atom in atoms for name in atom.names())
    return tuple(name for name in names if places(name, told, frozenset(told.stems)) is None)


def _names_all(atoms: tuple[SignedAtom, ...], sentence: Sentence, vocabulary: frozenset[str]) -> bool:
    return all(places(name, sentence, vocabulary) is not None for atom in atoms for name in atom.names())
