"""Flaws of a mediocre actor: one part of a reference reply changed, as small models and large ones do.

A seed model that made no mistakes would have nothing to learn from a critic. Some flaws the critic sees at once, some
only a certificate does (a test that cannot fail), and some only the gold answer does (another question asked).
"""

import random
import re
from dataclasses import replace

from rollout.actor_critic.demonstration import DraftTest, PromptSection, ReplyDraft
from rollout.problems.controlled_english import adjectives, read_claim
from tools.seeds.configuration import FlawsConfig


def flawed(draft: ReplyDraft, flaws: FlawsConfig, rng: random.Random) -> ReplyDraft:
    """Return the draft with each part spoilt at its rate."""
    words = sorted({word for section in draft.sections for word in _adjectives(section.premise)})
    copied = [_miscopied(s, words, rng) if rng.random() < flaws.word else s for s in draft.sections]
    sections = tuple(_section(section, flaws, rng) for section in copied)
    tests = tuple(_test(test, flaws, rng) for test in draft.tests)
    query = tuple(_negated_query(block) if rng.random() < flaws.query else block for block in draft.query)
    return ReplyDraft(sections, tests, query)


def _miscopied(section: PromptSection, words: list[str], rng: random.Random) -> PromptSection:
    """Return the section with another adjective of the problem in the place of one of its own."""
    wrong = rng.choice(_adjectives(section.premise))
    pattern = re.compile(rf"\b{wrong}\b")
    put = rng.choice([word for word in words if word != wrong])
    return replace(
        section,
        premise=pattern.sub(put, section.premise),
        rules=tuple(pattern.sub(put, rule) for rule in section.rules),
    )


def _adjectives(premise: str) -> list[str]:
    return list(adjectives(read_claim(premise)))


def _section(section: PromptSection, flaws: FlawsConfig, rng: random.Random) -> PromptSection:
    if rng.random() < flaws.rule:
        section = replace(section, rules=_spoilt_rules(section.rules, rng))
    if rng.random() < flaws.syntax:
        section = replace(section, rules=_unreadable(section.rules, rng))
    return section


def _spoilt_rules(rules: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """Return rules of which one says the opposite, goes the wrong way round, or is left out."""
    at = rng.randrange(len(rules))
    head, arrow, body = rules[at].removesuffix(".").partition(" :- ")
    if arrow and rng.random() < 0.3:
        wrong = f"{body} :- {head}."
    elif len(rules) > 1 and rng.random() < 0.5:
        return rules[:at] + rules[at + 1 :]
    elif head.startswith("1 {"):
        wrong = rules[at].replace("} 1.", "} 2.")
    else:
        wrong = f"{opposite(head)}{arrow}{body}."
    return (*rules[:at], wrong, *rules[at + 1 :])


def _unreadable(rules: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """Return rules of which the last has a variable that nothing binds, or lacks its full stop."""
    last = rules[-1]
    if "(X)" in last and rng.random() < 0.7:
        head, arrow, body = last.partition(" :- ")
        return (*rules[:-1], f"{head}{arrow}{body.replace('(X)', '(kim)')}")
    return (*rules[:-1], last.removesuffix("."))


def _test(test: DraftTest, flaws: FlawsConfig, rng: random.Random) -> DraftTest:
    if rng.random() < flaws.test:
        return _failing(test, rng)
    if rng.random() < flaws.idle_test:
        return _idle(test)
    return test


def _failing(test: DraftTest, rng: random.Random) -> DraftTest:
    """Return a test that demands the opposite, the converse (which an either-or has), or that nothing follows."""
    (given,), (expected,) = test.facts, test.inferred
    match rng.randrange(3):
        case 0:
            return replace(test, inferred=(opposite(expected),))
        case 1:
            return replace(test, facts=(f"{expected}.",), inferred=(given.removesuffix("."),))
        case _:
            return replace(test, condition="do-not-infer")


def _idle(test: DraftTest) -> DraftTest:
    """Return a test that the converse does not follow, which most damages to a rule leave as it is."""
    (given,), (expected,) = test.facts, test.inferred
    return replace(test, facts=(f"{expected}.",), inferred=(given.removesuffix("."),), condition="do-not-infer")


def _negated_query(block: str) -> str:
    return f"ATOM({opposite(block.removeprefix('ATOM(').removesuffix(')'))})"


def opposite(literal: str) -> str:
    """Return the strong complement of a literal's text."""
    return literal[1:] if literal.startswith("-") else f"-{literal}"
