"""Reference replies for zebra puzzles: an answer set program with tests, of any text that is read as one.

A test of a clue states what becomes possible without it: the program with the clue has to contradict that.
"""

import re
from dataclasses import replace
from itertools import islice

from critics.problem import Problem
from critics.text.translators.zebra import ORDINALS, Clue, Solution, Zebra, read_question, read_zebra
from rollout.actor_critic.demonstration import DraftTest, PromptSection, ReplyDraft

_ABSENT = {
    "left": "not left(X, Y)",
    "directly left": "not directly_left(X, Y)",
    "beside": "not directly_left(X, Y), not directly_left(Y, X)",
    "1 between": "not left_by_2(X, Y), not left_by_2(Y, X)",
    "2 between": "not left_by_3(X, Y), not left_by_3(Y, X)",
    "same": "X != Y",
    "not same": "X = Y",
}


def demonstrate(problem: Problem) -> str:
    """Return a reply for which the critic certifies the answer; raises `ValueError` where it cannot read the text."""
    return draft(problem).text()


def draft(problem: Problem) -> ReplyDraft:
    """Return the parts of a reply; raises `TranslationError` where the text cannot be read."""
    zebra = read_zebra(problem.context)
    asked = read_question(problem.question, zebra)
    if not isinstance(asked.other, int) or asked.relation != "at":
        raise ValueError(f"{problem.question!r} does not ask whether something is in a house")
    sections = [_row(zebra)]
    for name, values in zebra.listed:
        sections.append(_listed(len(sections) + 1, name, values))
    first_clue = len(sections) + 1
    sections += [
        PromptSection(number, clue.sentence, (_rule(clue),)) for number, clue in enumerate(zebra.clues, first_clue)
    ]
    (solution,) = islice(zebra.solutions(), 1)
    tests = [_of_row(zebra, asked, solution)]
    for number, clue in enumerate(zebra.clues, first_clue):
        if not isinstance(clue.other, int) and (test := _of_clue(zebra, clue, number)) is not None:
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


def _listed(number: int, name: str, values: tuple[str, ...]) -> PromptSection:
    kind = _constant(name.split()[-1])
    rules = (
        f"1 {{house(X, H) : house(H)}} 1 :- {kind}(X).",
        f":- house(X, H), house(Y, H), {kind}(X), {kind}(Y), X != Y.",
        *(f"{kind}({_constant(value)})." for value in values),
    )
    return PromptSection(number, f"Each house has its own {kind}: {', '.join(values)}.", rules)


def _rule(clue: Clue) -> str:
    if isinstance(clue.other, int):
        return f"{'-' if clue.relation == 'not at' else ''}{_house(clue.one, clue.other)}."
    return f":- house({_constant(clue.one)}, X), house({_constant(clue.other)}, Y), {_ABSENT[clue.relation]}."


def _of_row(zebra: Zebra, asked: Clue, solution: Solution) -> DraftTest:
    """Return a test that nothing is in two houses."""
    at = solution[asked.one]
    elsewhere = asked.other if isinstance(asked.other, int) and asked.other != at else (at + 1) % zebra.houses
    facts, inferred = (f"{_house(asked.one, at)}.",), (f"-{_house(asked.one, elsewhere)}",)
    return DraftTest(1, "Nothing is in two houses.", facts, inferred)


def _of_clue(zebra: Zebra, clue: Clue, number: int) -> DraftTest | None:
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
