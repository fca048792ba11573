"""A problem's proof as sentences: facts and rules as its context has them, and what each step concludes."""

import re
from dataclasses import dataclass

from critics.problem import Problem
from critics.replay.formula import Literal, parse_literal, parse_statement
from critics.replay.kernel import Axiom, Inference, Kernel
from critics.text.theories.scheduling import SIGNATURE
from critics.text.theories.scheduling_english import sentence
from rollout.prompts.sentence import read_aloud


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a proof in English: the facts and the rule that it uses, and what it concludes."""

    facts: tuple[str, ...]
    rule: str | None
    """None where the rule is the calculus of syllogisms."""
    conclusion: str


@dataclass(frozen=True, slots=True)
class Proof:
    """A problem with its proof, step by step."""

    problem: Problem
    hops: tuple[Hop, ...]
    goal: str
    value: str


def proof_of(problem: Problem) -> Proof | None:
    """Return the kernel's proof in the context's own sentences; None where nothing decides the question."""
    assert problem.formal is not None
    goal = parse_literal(problem.formal.goal)
    kernel = Kernel()
    sentences = re.split(r"(?<=\.)\s+", problem.context.strip())
    for axiom in problem.formal.axioms:
        kernel.add_axiom(parse_statement(axiom))
    kernel.saturate()
    reached = next((g for g in (goal, goal.negated()) if g in kernel.known), None)
    if reached is None:
        return None
    said = dict(zip(problem.formal.axioms, sentences, strict=False))
    entries = kernel.proof(reached)

    def text(index: int) -> str:
        statement = entries[index].statement
        if str(statement) in said:
            return said[str(statement)]
        assert isinstance(statement, Literal)
        return aloud(statement)

    def aloud(literal: Literal) -> str:
        if problem.dataset == "deontiqa":
            sorts: dict[str, str] = {}
            for axiom in problem.formal.axioms if problem.formal is not None else ():
                sorts |= SIGNATURE.sorts_in(parse_statement(axiom), sorts)
            return sentence(literal, sorts)
        return read_aloud(literal, problem.context)

    hops: list[Hop] = []
    for entry in entries:
        if isinstance(entry, Inference):
            by = entries[entry.rule]
            assert isinstance(by, Axiom)
            rule = said.get(str(by.statement))
            facts = tuple(dict.fromkeys(text(p) for p in entry.premises))
            hops.append(Hop(facts, rule, aloud(entry.statement)))
    if not hops:
        return None
    return Proof(problem, tuple(hops), aloud(goal), "true" if reached == goal else "false")


def inner(sentence: str) -> str:
    """Return a sentence as it stands inside another one: no full stop, and a capital for names alone."""
    text = sentence.removesuffix(".")
    first = text.split(" ")[0]
    common = {"The", "Every", "Each", "All", "If", "Some", "No", "Everything", "Something"}
    if first in common or (" are " in text and not text.startswith(("If", "The"))) or first.endswith(","):
        return text[0].lower() + text[1:]
    return text
