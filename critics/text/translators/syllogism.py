"""Syllogisms (Dasgupta et al. 2022, as LogicGuide uses them, section 4.2) into Horn rules over kinds.

    All dogs are mammals.          (all dogs mammals)
    No dogs are birds.             (not (some dogs birds))
    Some dogs are pets.            (some dogs pets)
    Some dogs are not pets.        (not (all dogs pets))

Kinds are the objects of this language: `some` asserts that something exists, and Horn rules over individuals have no
existential quantifier. With the rules of `CALCULUS` beside the two premises, an argument is valid if and only if its
conclusion can be inferred; tests compare all forms with all models. A kind may be empty: `All dogs are mammals` does
not say that there are dogs, so weakened moods such as Darapti are invalid. `There are dogs.` behind the premises says
it. No published label depends on this.

A problem has two premises about three kinds, one of which they share, and a conclusion about two of them. Such premises
never contradict each other and force no kind to be empty; other figures would need more rules. The rules of `EXISTENCE`
are added where the conclusion is about the kinds of one premise (a conversion beside a distractor), and where a kind is
said to have members.
"""

import re
from dataclasses import dataclass
from itertools import permutations

from critics.grammar.inflection import is_plural, singular
from critics.problem import Formal
from critics.replay.formula import MAX_NAME_LENGTH, Literal
from critics.text.translators.translation import FUNCTION_WORDS, QUANTIFYING_WORDS, WORD, TranslationError, sentences

CALCULUS = (
    "(all 'x 'y) -> (all 'y 'z) -> (all 'x 'z)",
    "(all 'x 'y) -> (not (some 'y 'z)) -> (not (some 'x 'z))",
    "(some 'x 'y) -> (all 'y 'z) -> (some 'x 'z)",
    "(some 'x 'y) -> (not (some 'y 'z)) -> (not (all 'x 'z))",
    "(not (all 'x 'y)) -> (all 'z 'y) -> (not (all 'x 'z))",
    "(not (all 'x 'y)) -> (all 'x 'z) -> (not (all 'z 'y))",
    "(some 'x 'y) -> (some 'y 'x)",
    "(not (some 'x 'y)) -> (not (some 'y 'x))",
)
"""Barbara, Celarent, Darii, Ferio, Baroco, Bocardo, and the two conversions: none can be missed."""

EXISTENCE = (
    "(some 'x 'y) -> (some 'x 'x)",
    "(not (all 'x 'y)) -> (some 'x 'x)",
)
"""Kinds that must have members. A syllogism proper needs neither rule: they prove nothing new there."""

OPTIONS = ("Valid", "Invalid")
"""Valid: the goal follows. Invalid: it is refuted, or nothing decides it."""

_LEAD = "Does it follow that "
_RELATIVE = re.compile(r"(?P<head>\S+) (?:that|who) (?:(?:are|can|have) )?(?P<rest>.+)")
_MAX_WORDS = 2


@dataclass(frozen=True, slots=True)
class _Categorical:
    """One statement: its literal over two kinds, their words, and the sentence that says so."""

    sentence: str
    literal: Literal
    kinds: tuple[str, str]
    named: tuple[str, str]


def ask(conclusion: str) -> str:
    """Return the question that asks whether a conclusion, a sentence of its own, follows."""
    return f"{_LEAD}{conclusion[:1].lower()}{conclusion[1:].removesuffix('.')}?"


def translate(context: str, question: str) -> Formal:
    """Return the premises in order, the kinds that are said to have members, and the rules; the goal is the conclusion.

    The question is what `ask` returns. Raises `TranslationError` for whatever is no syllogism.
    """
    said = sentences(context)
    premises = [_read(sentence, sentence) for sentence in said[:2]]
    if len(premises) != 2:
        raise TranslationError(context, f"a syllogism has two premises, not {len(premises)}")
    conclusion = _read(question, concluded(question))
    _check_figure(context, premises, conclusion)
    known = {kind for premise in premises for kind in premise.kinds}
    members = [_inhabited(sentence, known) for sentence in said[2:]]
    is_proper = all(set(conclusion.kinds) != set(premise.kinds) for premise in premises)
    rules = CALCULUS if is_proper and not members else (*CALCULUS, *EXISTENCE)
    return Formal((*(str(premise.literal) for premise in premises), *members, *rules), str(conclusion.literal))


def peopled(context: str, question: str) -> str:
    """Return the context with a sentence that each of its kinds has members; raises `TranslationError`."""
    translate(context, question)
    premises = (_read(sentence, sentence) for sentence in sentences(context)[:2])
    kinds = dict.fromkeys(kind for premise in premises for kind in premise.named)
    return " ".join([*sentences(context)[:2], *(f"There are {kind}." for kind in kinds)])


def statement(sentence: str) -> tuple[str, str, str]:
    """Return a statement's mood (A, E, I or O), its subject and its predicate; raises `TranslationError`."""
    read = _read(sentence, sentence)
    relation, is_positive = read.literal.predicate, read.literal.positive
    mood = ("A" if is_positive else "O") if relation == "all" else ("I" if is_positive else "E")
    return mood, *read.kinds


def _inhabited(sentence: str, known: set[str]) -> str:
    kind = sentence.removeprefix("There are ").removesuffix(".").replace(" ", "-")
    if not sentence.startswith("There are ") or kind not in known:
        raise TranslationError(sentence, "after two premises a syllogism says 'There are Xs.' of its kinds and no more")
    return f"(some {kind} {kind})"


def concluded(question: str) -> str:
    """Return the conclusion that a question asks about, as a sentence; raises `TranslationError`."""
    text = " ".join(question.split())
    if not text.startswith(_LEAD) or not text.endswith("?"):
        raise TranslationError(question, f"a question must have the form '{_LEAD}all Xs are Ys?'")
    claim = text.removeprefix(_LEAD).removesuffix("?")
    return f"{claim[:1].upper()}{claim[1:]}."


def _read(sentence: str, text: str) -> _Categorical:
    quantifier, _, rest = text.partition(" ")
    if quantifier not in ("All", "No", "Some") or not rest.endswith("."):
        raise TranslationError(sentence, "it has not the form 'All|No|Some Xs are Ys.' or 'Some Xs are not Ys.'")
    positive, subject, predicate = _parts(sentence, quantifier, rest.removesuffix("."))
    if subject == predicate:
        raise TranslationError(sentence, "its two kinds are one")
    kinds = subject.replace(" ", "-"), predicate.replace(" ", "-")
    if max(map(len, kinds)) > MAX_NAME_LENGTH:
        raise TranslationError(sentence, f"a kind's name is longer than {MAX_NAME_LENGTH} letters")
    # `No` is the negation of `some`, and `some .. not` that of `all`.
    relation = "all" if quantifier == "All" or not positive else "some"
    literal = Literal(positive and quantifier != "No", relation, kinds)
    return _Categorical(sentence, literal, kinds, (subject, predicate))


def _parts(sentence: str, quantifier: str, rest: str) -> tuple[bool, str, str]:
    """Return whether the predicate is affirmed, subject and predicate; `are` may stand inside one as well."""
    pieces = rest.split(" are ")
    readings: list[tuple[bool, str, str]] = []
    for at in range(1, len(pieces)):
        subject, predicate = " are ".join(pieces[:at]), " are ".join(pieces[at:])
        affirmed = predicate.removeprefix("not ")
        if _is_kind(subject) and _is_kind(affirmed):
            readings.append((affirmed == predicate, subject, affirmed))
    if len(readings) != 1:
        raise TranslationError(sentence, "it cannot be read in exactly one way as two kinds joined by 'are'")
    if not readings[0][0] and quantifier != "Some":
        raise TranslationError(sentence, f"{quantifier!r} with 'not' may mean two things")
    return readings[0]


def _is_kind(text: str) -> bool:
    """Accept one or two words, or one with a relative clause of one or two: `people who read books`."""
    relative = _RELATIVE.fullmatch(text)
    if relative is not None:
        return _are_plain([relative["head"]]) and _are_plain(relative["rest"].split(" "))
    return _are_plain(text.split(" "))


def _are_plain(words: list[str]) -> bool:
    return len(words) <= _MAX_WORDS and all(
        WORD.fullmatch(word) is not None
        and word not in FUNCTION_WORDS | QUANTIFYING_WORDS
        # `non-smokers` hides a negation.
        and not word.startswith("non-")
        for word in words
    )


def _check_figure(context: str, premises: list[_Categorical], conclusion: _Categorical) -> None:
    kinds = sorted({kind for premise in premises for kind in premise.kinds})
    if len(kinds) != 3 or not set(conclusion.kinds) <= set(kinds):
        raise TranslationError(context, f"its premises' kinds {kinds} are not three, two of them in the conclusion")
    for one, other in permutations(kinds, 2):
        # Attack: `old people` are people and `cat` means cats, so what does not follow formally may follow.
        if _content(one) <= _content(other) or (is_plural(one) and singular(one) == other):
            raise TranslationError(context, f"{one!r} and {other!r} are related by more than the premises")


def _content(kind: str) -> set[str]:
    return set(kind.split("-")) - FUNCTION_WORDS
