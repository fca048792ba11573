"""Reference attempts: the guided text that a perfect writer would give for a problem with a formalisation.

Used to show a base model the format (few-shot examples, the seed model's curriculum) and to prove that
the critic certifies what it should. A demonstration is an attempt like any other: it is judged, not trusted.
"""

import re
from contextlib import suppress
from typing import Literal as Choice

from critics.problem import Formal, Problem
from critics.replay.formula import (
    Literal,
    Statement,
    canonical_statement,
    is_variable,
    parse_literal,
    parse_statement,
    subterms,
)
from critics.replay.kernel import Axiom, Entry, Inference, Kernel
from critics.text.background import background
from critics.text.reference import translation
from critics.text.translators.translation import TranslationError
from rollout.prompts.sentence import read_aloud
from rollout.prompts.style import Spoken, numbered_sentences

_VALIDITY = {"true": "valid", "false": "invalid", "unknown": "invalid"}
"""Validity of an argument after a proof, a refutation and a saturation."""
Style = Choice["compact", "annotated"]
"""compact: formal blocks, each inference after the rule it applies. annotated: every axiom behind its sentence, names
marked where they stand in it as in LogicGuide's figure 2, every inference read aloud after it."""


def demonstrate(problem: Problem, formal: Formal, *, style: Style = "compact") -> str:
    """Return a completion that formalises everything, proves the goal or its negation, and answers.

    Where neither follows it infers everything, then nothing, and answers unknown.
    """
    answer, inferences = decide(formal)
    return compose(problem, formal, inferences, answer, style=style)


def decide(formal: Formal) -> tuple[str, list[Literal]]:
    """Return `true` or `false` and the inferences of a proof: none superfluous, in an order that works.

    Where neither the goal nor its negation follows: `unknown` and everything that does follow. Raises `ValueError`
    where that has no end.
    """
    answer, entries = _proof(formal)
    return answer, [entry.statement for entry in entries if isinstance(entry, Inference)]


def _proof(formal: Formal) -> tuple[str, list[Entry]]:
    kernel = Kernel()
    goal = parse_literal(formal.goal)
    for text in formal.axioms:
        kernel.add_axiom(parse_statement(text))
    kernel.mention(goal)
    decided = (goal, goal.negated())
    while kernel.offers and not any(literal in kernel.known for literal in decided):
        for literal in list(kernel.offers):
            kernel.infer(literal)
    reached = next((literal for literal in decided if literal in kernel.known), None)
    if reached is None and kernel.truncated:
        raise ValueError(f"whether {goal} follows cannot be decided: the terms grow without end")
    if reached is None:
        return "unknown", kernel.entries
    return "true" if reached == goal else "false", kernel.proof(reached)


def chain_of_thought(problem: Problem, formal: Formal, *, style: Spoken = "conclusions") -> list[str]:
    """Return the sentences of a proof, before any answer."""
    answer, entries = _proof(formal)
    inferences = [entry for entry in entries if isinstance(entry, Inference)]
    goal = parse_literal(formal.goal)
    # A goal of several parts is said as the question says it.
    asked = problem.question.partition(": ")[2] if re.search("_(?:and|or)_", goal.predicate) else None
    steps = [
        asked if asked is not None and each.statement == goal else read_aloud(each.statement, problem.context)
        for each in inferences
    ]
    if answer == "unknown":
        # Who says that nothing decides a question has to say the question, and all that bears on it.
        return [
            f"The question is: {read_aloud(goal, problem.context)}",
            problem.context,
            *steps,
            "Nothing else follows.",
        ]
    if style == "conclusions":
        return steps
    stated = _sentence_of_axiom(problem, formal)
    quoted: list[str] = []
    for each, step in zip(inferences, steps, strict=True):
        facts = [entries[place].statement for place in each.premises if isinstance(entries[place], Axiom)]
        said = [stated.get(fact) or read_aloud(fact, problem.context) for fact in facts if isinstance(fact, Literal)]
        quoted += [fact for fact in dict.fromkeys(said) if fact not in quoted]
        rule = stated.get(entries[each.rule].statement)
        quoted += [step] if rule is None else [rule, step]
    return quoted or [
        read_aloud(each.statement, problem.context) for each in entries if isinstance(each.statement, Literal)
    ]


def _sentence_of_axiom(problem: Problem, formal: Formal) -> dict[Statement, str]:
    """Return the sentence that says each axiom; there is none for what the question or the data set adds."""
    axioms = [parse_statement(axiom) for axiom in formal.axioms]
    sentences = [re.sub(r"^\d+- ", "", sentence) for sentence in numbered_sentences(problem.context)]
    if len(sentences) == len(axioms):
        return dict(zip(axioms, sentences, strict=True))
    saying: dict[str, list[str]] = {}
    for sentence in sentences:
        with suppress(TranslationError, KeyError):
            for axiom in translation(problem.dataset, sentence, problem.question).axioms:
                saying.setdefault(axiom, []).append(sentence)
    alone = {axiom: said[0] for axiom, said in saying.items() if len(said) == 1}
    return {axiom: alone[text] for axiom, text in zip(axioms, formal.axioms, strict=True) if text in alone}


def compose(
    problem: Problem, formal: Formal, inferences: list[Literal], answer: str, *, style: Style = "compact"
) -> str:
    """Write the guided text for given inferences, right or wrong."""
    # Nobody has to state what the data set grants.
    granted = set(map(canonical_statement, background(problem.dataset).statements()))
    stated = [a for a in formal.axioms if not granted or canonical_statement(parse_statement(a)) not in granted]
    if style == "compact":
        context = " ".join(f"{i}- [[axiom:{axiom}]]" for i, axiom in enumerate(stated, 1))
        steps = " ".join(_after_its_rule(formal, inferences))
    else:
        context = " ".join(_annotated(problem.context, stated))
        steps = " ".join(f"[[infer:{literal}]] {read_aloud(literal, problem.context)}" for literal in inferences)
    if answer == "unknown":
        steps = f"{steps} [[infer:nothing]]".lstrip()
    said = _VALIDITY[answer] if problem.options is not None and set(problem.options) == {"Valid", "Invalid"} else answer
    return f"Formalized context: {context}\nFormalized goal: [[goal:{formal.goal}]]\nReasoning: {steps}\nAnswer: {said}"


def read_out(problem: Problem, formal: Formal, inferences: list[Literal], answer: str) -> str:
    """Write a chain of thought for given inferences, right or wrong: what is given of single things, then each step."""
    facts = [statement for statement in map(parse_statement, formal.axioms) if isinstance(statement, Literal)]
    said = [read_aloud(literal, problem.context) for literal in (*facts, *inferences)]
    return f"{' '.join(said)}\nAnswer: {answer}"


def _after_its_rule(formal: Formal, inferences: list[Literal]) -> list[str]:
    """Name the rule before each inference; a small model that reads it out learns to look it up."""
    kernel = Kernel()
    for axiom in formal.axioms:
        kernel.add_axiom(parse_statement(axiom))
    steps: list[str] = []
    for literal in inferences:
        if literal in kernel.offers:
            rule, _ = kernel.offers[literal]
            steps.append(str(kernel.entries[rule].statement))
            kernel.infer(literal)
        steps.append(f"[[infer:{literal}]]")
    return steps


def _annotated(context: str, axioms: list[str]) -> list[str]:
    """Mark each name where its sentence has it as a word of its own; others stand behind it, and then the axiom."""
    sentences = numbered_sentences(context)
    if len(sentences) != len(axioms):
        sentences = [f"{i}-" for i in range(1, len(axioms) + 1)]
    marked: list[str] = []
    for sentence, axiom in zip(sentences, axioms, strict=True):
        behind: list[str] = []
        for block in _declarations(parse_statement(axiom)):
            name = block[2:-2].partition(":")[2]
            found = re.search(rf"(?<![\w\[:-]){re.escape(name)}(?![\w\]-])", sentence)
            if found is None:
                behind.append(block)
            else:
                sentence = sentence[: found.start()] + block + sentence[found.end() :]
        marked.append(" ".join([sentence, *behind, f"[[axiom:{axiom}]]"]))
    return marked


def _declarations(statement: Statement) -> list[str]:
    """Return a block for every name; a function is a relation for want of an action of its own."""
    literals = [statement] if isinstance(statement, Literal) else [*statement.premises, statement.conclusion]
    blocks: dict[str, None] = {}
    for literal in literals:
        kind = "prop" if len(literal.arguments) == 1 else "relation"
        blocks[f"[[{kind}:{literal.predicate}]]"] = None
        for term in subterms(literal):
            if not isinstance(term, str):
                blocks[f"[[relation:{term.function}]]"] = None
            elif not is_variable(term):
                blocks[f"[[object:{term}]]"] = None
    return list(blocks)
