"""Reference replies in the dialog: the program with tests that a careful actor writes.

There are some for problems in controlled English, and for any text that is read as a zebra puzzle.

Each rule and each test stands under the sentence that it comes from, which is what a small model needs to learn to
write them. A demonstration is a reply like any other: the critic judges it, and nothing is taken on trust.
"""

import json
import re
from dataclasses import dataclass, replace

from critics.problem import Problem
from critics.text.translators.zebra import ORDINALS, Clue, Zebra, read_question, read_zebra
from rollout.actor_critic.prompt import statements
from rollout.problems.controlled_english import (
    All,
    Claim,
    EitherOr,
    IfThen,
    Is,
    Trait,
    implications,
    read_claim,
    traits,
    trial,
)

_ANYBODY = "X"


@dataclass(frozen=True, slots=True)
class PromptSection:
    """One numbered premise, and the rules under it."""

    number: int
    premise: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DraftTest:
    """A test of one premise's rules."""

    number: int
    premise: str
    facts: tuple[str, ...]
    inferred: tuple[str, ...]
    """None where the facts contradict the program."""
    condition: str = "infer-All"

    def record(self) -> dict[str, object]:
        """Return the JSON form: the rule and its words first, so that they are read before the test is written."""
        return {
            "Rules": [f"R{self.number}"],
            "Explanation": self.premise,
            "Facts": list(self.facts),
            self.condition: list(self.inferred) or True,
        }


@dataclass(frozen=True, slots=True)
class ReplyDraft:
    """A reply in parts, which can be changed one by one."""

    sections: tuple[PromptSection, ...]
    tests: tuple[DraftTest, ...]
    query: tuple[str, ...]

    def text(self) -> str:
        """Return the reply, on one line."""
        lines = [line for s in self.sections for line in (f"% R{s.number}: {s.premise}", *s.rules)]
        reply = {"Model": lines, "Tests": [test.record() for test in self.tests], "Query": list(self.query)}
        return json.dumps(reply)


def demonstrate(problem: Problem) -> str:
    """Return a reply for which the critic certifies the answer; raises `ValueError` where it cannot read the text."""
    return draft(problem).text()


def draft(problem: Problem) -> ReplyDraft:
    """Return the parts of a reply: rules for every premise, a test for each that is no fact, and the query.

    Raises `ValueError` where the text cannot be read, `TranslationError` that of a zebra puzzle.
    """
    if problem.dataset == "zebra":
        return _puzzle(problem)
    premises = statements(problem)
    claims = [read_claim(premise) for premise in premises]
    sections: list[PromptSection] = []
    tests: list[DraftTest] = []
    for number, (premise, claim) in enumerate(zip(premises, claims, strict=True), 1):
        sections.append(PromptSection(number, premise, rules(claim)))
        if isinstance(claim, Is):
            continue
        if (way := trial(claims, claim)) is None:
            raise ValueError(f"nothing that {premise!r} speaks of is possible, so no test of it can be written")
        supposed, expected = way
        tests.append(DraftTest(number, premise, (f"{literal(supposed)}.",), (literal(expected),)))
    asked = [f"ATOM({literal(trait)})" for trait in traits(read_claim(problem.question))]
    if len(asked) != 1:
        raise ValueError(f"{problem.question!r} is not a statement about one person")
    return ReplyDraft(tuple(sections), tuple(tests), tuple(asked))


def rules(claim: Claim) -> tuple[str, ...]:
    """Return the rules of a claim, in both directions where it has two."""
    match claim:
        case Is(trait):
            return (f"{literal(trait)}.",)
        case EitherOr(one, other):
            choice = f"1 {{{literal(one)}; {literal(other)}}} 1."
            return choice, _rule(one, other.negated()), _rule(other, one.negated())
        case All() | IfThen():
            return tuple(_rule(*way) for way in implications(claim, [_ANYBODY]))


def _rule(condition: Trait, conclusion: Trait) -> str:
    return f"{literal(conclusion)} :- {literal(condition)}."


def literal(trait: Trait) -> str:
    """Return a trait in the program's language: `-brave(ada)`."""
    name = trait.name if trait.name == _ANYBODY else trait.name.lower()
    return f"{'' if trait.positive else '-'}{trait.adjective}({name})"


_ABSENT = {
    "left": "not left(X, Y)",
    "directly left": "not directly_left(X, Y)",
    "beside": "not directly_left(X, Y), not directly_left(Y, X)",
    "1 between": "not left_by_2(X, Y), not left_by_2(Y, X)",
    "2 between": "not left_by_3(X, Y), not left_by_3(Y, X)",
    "same": "X != Y",
    "not same": "X = Y",
}


def _puzzle(problem: Problem) -> ReplyDraft:
    """Return the parts of a reply to a zebra puzzle.

    A test of a clue states what becomes possible without it: the program with the clue has to contradict that.
    """
    zebra = read_zebra(problem.context)
    asked = read_question(problem.question, zebra)
    if not isinstance(asked.other, int) or asked.relation != "at":
        raise ValueError(f"{problem.question!r} does not ask whether something is in a house")
    sections = [_row(zebra)]
    for name, values in zebra.listed:
        kind = _constant(name.split()[-1])
        rules = (
            f"1 {{house(X, H) : house(H)}} 1 :- {kind}(X).",
            f":- house(X, H), house(Y, H), {kind}(X), {kind}(Y), X != Y.",
            *(f"{kind}({_constant(value)})." for value in values),
        )
        told = f"Each house has its own {kind}: {', '.join(values)}."
        sections.append(PromptSection(len(sections) + 1, told, rules))
    solution = next(zebra.solutions())
    at = solution[asked.one]
    elsewhere = asked.other if asked.other != at else (at + 1) % zebra.houses
    facts, inferred = (f"{_house(asked.one, at)}.",), (f"-{_house(asked.one, elsewhere)}",)
    tests = [DraftTest(1, "Nothing is in two houses.", facts, inferred)]
    for number, clue in enumerate(zebra.clues, len(sections) + 1):
        sections.append(PromptSection(number, clue.sentence, (_of_clue(clue),)))
        if not isinstance(clue.other, int) and (test := _test_of_clue(zebra, clue, number)) is not None:
            tests.append(test)
    return ReplyDraft(tuple(sections), tuple(tests), (f"ATOM({_house(asked.one, asked.other)})",))


def _row(zebra: Zebra) -> PromptSection:
    names = ORDINALS[: zebra.houses]
    pairs = [(i, j) for i in range(zebra.houses) for j in range(i + 1, zebra.houses)]
    facts = [f"left({names[i]}, {names[j]})." for i, j in pairs]
    facts += [f"directly_left({names[i]}, {names[j]})." for i, j in pairs if j == i + 1]
    facts += [f"left_by_{j - i}({names[i]}, {names[j]})." for i, j in pairs if j - i > 1]
    places = [f"house({name})." for name in names]
    only = "-house(X, H) :- house(X, G), house(H), G != H."
    return PromptSection(1, f"There are {zebra.houses} houses from left to right.", (only, *places, *facts))


def _of_clue(clue: Clue) -> str:
    if isinstance(clue.other, int):
        return f"{'-' if clue.relation == 'not at' else ''}{_house(clue.one, clue.other)}."
    return f":- house({_constant(clue.one)}, X), house({_constant(clue.other)}, Y), {_ABSENT[clue.relation]}."


def _test_of_clue(zebra: Zebra, clue: Clue, number: int) -> DraftTest | None:
    """Return a test that the clue is broken by what would be possible without it; None of a clue that is not needed."""
    without = replace(zebra, clues=tuple(one for one in zebra.clues if one != clue))
    other = next((solution for solution in without.solutions() if not clue.fits(solution)), None)
    if other is None:
        return None
    facts = tuple(f"{_house(value, other[value])}." for value in (clue.one, str(clue.other)))
    return DraftTest(number, f"This cannot be: {clue.sentence}", facts, (), "expect-contradiction")


def _house(value: str, at: int) -> str:
    return f"house({_constant(value)}, {ORDINALS[at]})"


def _constant(value: str) -> str:
    name = re.sub(r"\W+", "_", value.lower()).strip("_")
    return name if name[:1].isalpha() else f"v{name}"
