"""Reference replies in the dialog: the program with tests that a careful actor writes.

There are some for problems in controlled English.

Each rule and each test stands under the sentence that it comes from, which is what a small model needs to learn to
write them. A demonstration is a reply like any other: the critic judges it, and nothing is taken on trust.
"""

import json
from dataclasses import dataclass

from critics.problem import Problem
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
    condition: str = "infer-All"

    def record(self, *, brief: bool = False) -> dict[str, str | list[str]]:
        """Return the JSON form: the rule and its words first, so that they are read before the test is written."""
        return {
            "Rules": [f"R{self.number}"],
            **({} if brief else {"Explanation": self.premise}),
            "Facts": list(self.facts),
            self.condition: list(self.inferred),
        }


@dataclass(frozen=True, slots=True)
class ReplyDraft:
    """A reply in parts, which can be changed one by one."""

    sections: tuple[PromptSection, ...]
    tests: tuple[DraftTest, ...]
    query: tuple[str, ...]

    def text(self, *, brief: bool = False) -> str:
        """Return the reply, on one line; `brief`: without the tests' explanations, which are for people."""
        lines = [line for s in self.sections for line in (f"% R{s.number}: {s.premise}", *s.rules)]
        tests = [test.record(brief=brief) for test in self.tests]
        return json.dumps({"Model": lines, "Tests": tests, "Query": list(self.query)})


def demonstrate(problem: Problem, *, brief: bool = False) -> str:
    """Return a reply for which the critic certifies the answer; raises `ValueError` where it cannot read the text."""
    return draft(problem).text(brief=brief)


def draft(problem: Problem) -> ReplyDraft:
    """Return the parts of a reply: rules for every premise, a test for each that is no fact, and the query.

    Raises `ValueError` where the text cannot be read.
    """
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
