"""Prompts of a round trip: a formula to be put into words, and words to be put into a formula.

Our own words for what AutoEval's prompts say (appendix F): the signs of the language, the names in the formula, and
what a reply must hold. A bare prompt is for tiny models that were trained on both directions.

A model may also be asked whether two texts mean the same. AutoEval measures how far such opinions can be trusted
(section 3.2, appendix F); nothing here believes them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from critics.formats.equivalence.language import Language
from critics.problem import Problem
from critics.text.answer_reader import read_answer as read_one
from rollout.policies.policy import ChatPolicy
from rollout.prompts.conversation import Message, message
from rollout.records.digests import ServerUse
from rollout.records.sampling import Sampling, derived_seed

ENGLISH_NAMES = "english"
"""Key of `meta` of formulas whose names are English words."""
KINDS = {
    Language.PROPOSITIONAL: "formula of propositional logic",
    Language.THREE_CNF: "formula of propositional logic",
    Language.FIRST_ORDER: "formula of first-order logic",
    Language.REGEX: "regular expression",
}


@dataclass(frozen=True, slots=True)
class FormulaNotation:
    """A formula's language, the names that stand in it, and the signs beyond the paper's that its grammar has."""

    language: Language
    propositions: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    predicates: Mapping[str, int] = field(default_factory=dict[str, int])
    """With their numbers of arguments."""
    alphabet: str | None = None
    signs: frozenset[str] = frozenset()
    english: bool = False
    """True where predicates are English verbs."""
    all_names: bool = False
    """True where whoever writes the formula is told objects and variables as well, as with FOLIO's premises."""

    def lines(self) -> list[str]:
        """Return the names as people read them, a line for each kind."""
        kinds = (("Propositions", self.propositions), ("Objects", self.objects), ("Variables", self.variables))
        lines = [f"{kind}: {', '.join(names)}" for kind, names in kinds if names]
        if self.predicates:
            lines.append(self.predicates_line())
        if self.alphabet is not None:
            lines.append(f"Letters: {', '.join(self.alphabet)}")
        return lines

    def predicates_line(self) -> str:
        """Return the predicates with places for their arguments."""
        arities = self.predicates.items()
        shown = [f"{name}({', '.join('abcd'[:arity])})" if arity else name for name, arity in arities]
        return f"Predicates: {', '.join(shown)}"


def read_notation(meta: Mapping[str, Any]) -> FormulaNotation:
    """Read what a problem's `meta` says of its formula."""
    return FormulaNotation(
        Language(meta["language"]),
        tuple(meta.get("propositions") or ()),
        tuple(meta.get("objects") or ()),
        tuple(meta.get("variables") or ()),
        meta.get("predicates") or {},
        meta.get("alphabet"),
        frozenset(meta.get("signs") or ()),
        bool(meta.get(ENGLISH_NAMES)),
        bool(meta.get("all_names")),
    )


def context(notation: FormulaNotation) -> str:
    """Return what a problem says of a formula's language and its names."""
    return "\n".join([f"A {KINDS[notation.language]}.", *notation.lines()])


def question(text: str) -> str:
    """Return what a problem asks."""
    return f"Put it into words, so that it can be written down again from the words alone: {text}"


Kind = Literal["bare", "zero-shot", "few-shot"]
_EXAMPLES_PATH = Path(__file__).with_name("examples.yaml")
_LOGIC_SIGNS = {
    "∧": "and (all of what it joins)",
    "∨": "or (at least one of what it joins)",
    "¬": "not (of the name, or of the group in parentheses, right behind it)",
}
_MORE_SIGNS = {
    "→": "if the left side, then the right side",
    "↔": "both sides or neither",
    "⊕": "one of the two sides and not both",
}
_QUANTIFIERS = {
    "∀x1.": "for every object x1; it reaches as far to the right as it can",
    "∃x1.": "for at least one object x1; it reaches as far to the right as it can",
}
_REGEX_SIGNS = {"*": "the letter or group right before it, any number of times, also never"}
_INTO_WORDS = """You are given a {kind}. Say in plain English what it says.
Someone who reads your description, and nothing else, must be able to write down an equivalent {kind}: \
{needs}, and make clear what belongs together. Use words, not the signs of the language; do not copy the {noun} or a \
part of it. Reply with the description and nothing else."""
_NEEDS = {Language.REGEX: "say which letters come in which order, and which of them, or which groups, may be repeated"}
_NEEDS_OF_LOGIC = "call every {names} by its own name"
_INTO_SIGNS = """You are given a description in English. Write the {kind} that it describes.
Reply with one {noun} and nothing else: no explanation, no definitions."""


@dataclass(frozen=True, slots=True)
class DescribedFormula:
    """A formula and its description."""

    formula: str
    description: str


def into_words(notation: FormulaNotation, text: str, kind: Kind) -> list[Message] | str:
    """Return the request for a description: the turns of a conversation, or the whole prompt where it is bare."""
    if kind == "bare":
        return f"say: {text}\n"
    language = notation.language
    needs = _NEEDS.get(language) or _NEEDS_OF_LOGIC.format(
        names=("predicate, object and variable" if language is Language.FIRST_ORDER else "proposition")
    )
    task = _INTO_WORDS.format(kind=KINDS[language], noun=_noun(language), needs=needs)
    instructions = "\n\n".join([task, _signs(notation, "Signs:")])
    turns = [message("system", instructions)]
    for example in _shown(language, kind):
        turns += [message("user", _formula(language, example.formula)), message("assistant", example.description)]
    asked = "\n".join([*notation.lines(), _formula(language, text)])
    return [*turns, message("user", asked)]


def into_signs(notation: FormulaNotation, description: str, kind: Kind) -> list[Message] | str:
    """Return the request for a formula, in which nothing stands of the one that was described.

    English predicates are listed with their numbers of arguments, as in the paper: their names may have been inflected.
    Of FOLIO's premises objects and variables are listed too (prompt 10).
    """
    if kind == "bare":
        return f"write: {description}\n"
    language = notation.language
    task = _INTO_SIGNS.format(kind=KINDS[language], noun=_noun(language))
    turns = [message("system", "\n\n".join([task, _signs(notation, "Signs to write:")]))]
    for example in _shown(language, kind):
        turns += [message("user", f"Description: {example.description}"), message("assistant", example.formula)]
    known = notation.lines() if notation.all_names else [notation.predicates_line()] if notation.english else []
    return [*turns, message("user", "\n".join([*known, f"Description: {description}"]))]


def _noun(language: Language) -> str:
    return "expression" if language is Language.REGEX else "formula"


def _formula(language: Language, text: str) -> str:
    return f"{_noun(language).capitalize()}: {text}"


def _signs(notation: FormulaNotation, title: str) -> str:
    """List the signs; those beyond the paper's are told in both directions, whatever the formula has."""
    language = notation.language
    lines = [title]
    if language is Language.REGEX:
        signs = {**_REGEX_SIGNS, **({"|": "either its left side or its right side"} if "|" in notation.signs else {})}
        lines.append(f"the letters {' '.join(notation.alphabet or '01')} stand for themselves")
    else:
        signs = {**_LOGIC_SIGNS, **{sign: said for sign, said in _MORE_SIGNS.items() if sign in notation.signs}}
        signs |= _QUANTIFIERS if language is Language.FIRST_ORDER else {}
    lines += [f"{sign} {said}" for sign, said in signs.items()]
    lines.append("( ) keep together what belongs together")
    if language is Language.FIRST_ORDER:
        lines.append("name(a, b) the predicate `name` of the objects a and b")
    return "\n".join(lines)


def _shown(language: Language, kind: Kind) -> tuple[DescribedFormula, ...]:
    return examples()[language] if kind == "few-shot" else ()


@lru_cache(maxsize=1)
def examples() -> Mapping[Language, tuple[DescribedFormula, ...]]:
    """Return the solved examples of each language, from examples.yaml."""
    import yaml

    written = yaml.safe_load(_EXAMPLES_PATH.read_text(encoding="utf-8"))
    return {
        Language(name): tuple(DescribedFormula(**example) for example in listed) for name, listed in written.items()
    }


Said = Literal["yes", "no", "unreadable"]
_MEANS = {Language.REGEX: "match exactly the same words"}
_TASK = """You are given two {kinds}. Do they {means}? Think it through in a few sentences. Then end with a \
line that says `Answer: yes` or `Answer: no` and nothing else."""
_ASKED = Problem("", "", "", "Do they agree?")
_SAID: dict[str, Said] = {"true": "yes", "false": "no"}


@dataclass(frozen=True, slots=True)
class VerifiedPair:
    """Two formulas to be compared."""

    id: str
    language: Language
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class PairOpinion:
    """A policy's answer about a pair."""

    pair: VerifiedPair
    said: Said
    prompt: str
    completion: str
    seed: int
    server: ServerUse | None = None


def opinions(
    policy: ChatPolicy, pairs: Sequence[VerifiedPair], sampling: Sampling, *, seed: int
) -> Iterator[PairOpinion]:
    """Yield what the policy says of each pair, asked as one batch; raises what the policy raises."""
    prompts = [policy.conversation(_request(pair)) for pair in pairs]
    seeds = [derived_seed(seed, pair.id, "verifier") for pair in pairs]
    completions = policy.complete(prompts, None, seeds, sampling)
    for pair, prompt, own_seed, completion in zip(pairs, prompts, seeds, completions, strict=True):
        yield PairOpinion(pair, read_answer(completion.text), prompt, completion.text, own_seed, completion.server)


def read_answer(text: str) -> Said:
    """Return the one answer of a reply."""
    return _SAID.get(read_one(text, _ASKED) or "", "unreadable")


def _request(pair: VerifiedPair) -> list[Message]:
    task = _TASK.format(
        kinds=re.sub("formula|expression", r"\g<0>s", KINDS[pair.language]),
        means=_MEANS.get(pair.language, "mean the same in every case, so that they are equivalent"),
    )
    return [message("system", task), message("user", f"First: {pair.left}\nSecond: {pair.right}")]
