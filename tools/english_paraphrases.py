"""Writes the 200 English paraphrases of `tests/data/english_paraphrases.jsonl`: ten styles, three data sets.

The styles were written before the reader of the format `english` was. Each style has ten lines of the half `tuning`, on
which the reader may be tried, and ten of the half `held-out`, on which it may not.

    python tools/english_paraphrases.py tests/data/english_paraphrases.jsonl
"""

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from critics.grammar.inflection import plural
from critics.problem import Problem
from critics.replay.formula import Literal, parse_literal, parse_statement
from critics.replay.kernel import Axiom, Inference, Kernel
from critics.text.theories.scheduling import SIGNATURE
from critics.text.theories.scheduling_english import sentence
from rollout.problems.prontoqa import PrOntoQA
from rollout.problems.prontoqa import item as prontoqa
from rollout.problems.proofwriter import ProofWriter
from rollout.problems.proofwriter import item as proofwriter
from rollout.problems.syllogism import Syllogisms
from rollout.problems.syllogism import item as syllogism
from rollout.prompts.sentence import read_aloud

SEED = 17
PER_STYLE = (("prontoqa", 8), ("proofwriter", 8), ("syllogism", 4))


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


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _premises(hop: Hop) -> list[str]:
    return [*hop.facts, *([hop.rule] if hop.rule else [])]


def since(proof: Proof) -> str:
    """Style 1: Since A and B, C."""
    lines = [f"Since {_joined([inner(p) for p in _premises(hop)])}, {inner(hop.conclusion)}." for hop in proof.hops]
    return " ".join(lines) + f" Therefore, the {_subject(proof)} is {_value(proof)}.\nAnswer: {_value(proof)}"


def steps(proof: Proof) -> str:
    """Style 2: Step 1: .. Step 2: .."""
    lines: list[str] = []
    for number, hop in enumerate(proof.hops, 1):
        told = " ".join(f"We are given that {inner(p)}." if i == 0 else p for i, p in enumerate(_premises(hop)))
        lines.append(f"Step {number}: {told} Therefore, {inner(hop.conclusion)}.")
    return "\n".join([*lines, f"Conclusion: The {_subject(proof)} is {_value(proof)}.", f"Answer: {_value(proof)}"])


def bullets(proof: Proof) -> str:
    """Style 3: markdown with headings, bullets and bold."""
    lines = ["**Reasoning:**", ""]
    for hop in proof.hops:
        lines += [f"- {premise}" for premise in _premises(hop)]
        lines.append(f"- **Therefore, {inner(hop.conclusion)}.**")
    return "\n".join([*lines, "", f"**Answer:** {_value(proof).capitalize()}"])


def so(proof: Proof) -> str:
    """Style 4: A, and B, so C."""
    lines: list[str] = []
    for hop in proof.hops:
        first, *others = _premises(hop)
        told = ", and ".join([first.removesuffix("."), *map(inner, others)])
        lines.append(f"{told}, so {inner(hop.conclusion)}.")
    return " ".join(lines) + f" The answer is {_value(proof)}."


def because(proof: Proof) -> str:
    """Style 5: C because A and B."""
    lines = [
        f"{h.conclusion.removesuffix('.')}, because {_joined([inner(p) for p in _premises(h)])}." for h in proof.hops
    ]
    return "\n".join([*lines, f"So the answer is: {_value(proof)}."])


def restated(proof: Proof) -> str:
    """Style 6: the question first, then We know that .."""
    lines = [f"We need to determine whether {_asked(proof)}."]
    for hop in proof.hops:
        first, *others = _premises(hop)
        lines.append(f"We know that {inner(first)}.")
        lines += [f"We also know that {inner(other)}." for other in others]
        lines.append(f"This means that {inner(hop.conclusion)}.")
    return " ".join([*lines, f"Hence, the {_subject(proof)} is {_value(proof)}."])


def quoting(proof: Proof) -> str:
    """Style 7: According to the context .."""
    lines: list[str] = []
    for number, hop in enumerate(proof.hops):
        facts = [fact for fact in hop.facts if number == 0 or fact in proof.problem.context]
        told = [*facts, *([hop.rule] if hop.rule else [])]
        lines += [
            f"According to the context, {inner(p)}." if i == 0 else f"The context also says that {inner(p)}."
            for i, p in enumerate(told)
        ]
        lines.append(f"It follows that {inner(hop.conclusion)}.")
    return " ".join([*lines, f"So the {_subject(proof)} is {_value(proof)}.", f"Answer: {_value(proof)}"])


def numbered(proof: Proof) -> str:
    """Style 8: numbered lines that cite each other."""
    lines: list[str] = []
    places: dict[str, int] = {}
    for hop in proof.hops:
        for premise in _premises(hop):
            if premise not in places:
                places[premise] = len(lines) + 1
                lines.append(f"{len(lines) + 1}. {premise}")
        cited = _joined([str(places[premise]) for premise in _premises(hop)])
        places.setdefault(hop.conclusion, len(lines) + 1)
        lines.append(f"{len(lines) + 1}. From {cited} it follows that {inner(hop.conclusion)}.")
    return "\n".join([*lines, "", f"Answer: {_value(proof)}"])


def chatty(proof: Proof) -> str:
    """Style 9: what a chat model writes."""
    lines = ["Let's think step by step."]
    openers = ["First", "Next", "Then"]
    for number, hop in enumerate(proof.hops):
        first, *others = _premises(hop)
        lines.append(f"{openers[min(number, 2)]}, {inner(first)}.")
        lines += [f"Note that {inner(other)}." for other in others]
        lines.append(f"Thus, {inner(hop.conclusion)}.")
    lines.append(f"So, the correct answer is **{_value(proof).capitalize()}**.")
    return " ".join(lines)


def reworded(proof: Proof) -> str:
    """Style 10: rules in other words (All, Any, If something .. then it ..), must be, is also, isn't."""
    lines: list[str] = []
    for number, hop in enumerate(proof.hops):
        facts = [_contracted(fact) for fact in hop.facts]
        told = [*facts, *([_other_words(hop.rule, number)] if hop.rule else [])]
        lines += told
        lines.append(f"Consequently, {_modal(inner(hop.conclusion), number)}.")
    return " ".join([*lines, f"Thus the {_subject(proof)} is {_value(proof)}."]) + f"\n\nFinal answer: {_value(proof)}"


def _other_words(rule: str, turn: int) -> str:
    """Return a PrOntoQA rule in other words; the rules of the other data sets stay as they are."""
    match = re.fullmatch(r"(?:Every|Each) (.+) is (.+)\.", rule)
    if match is None:
        return rule
    noun, said = match[1], match[2]
    article = "an" if noun[0] in "aeiou" else "a"
    if turn % 3 == 0:
        return f"If something is {article} {noun}, then it is {said}."
    if turn % 3 == 1:
        return f"Any {noun} is {said}."
    rest = said.removeprefix("not ")
    many = plural(rest.split(" ", 1)[1]) if rest.startswith(("a ", "an ")) else rest
    return f"All {plural(noun)} are {'not ' if said.startswith('not ') else ''}{many}."


def _contracted(sentence: str) -> str:
    return sentence.replace(" is not ", " isn't ")


def _modal(text: str, turn: int) -> str:
    if " is not " in text or " is " not in text:
        return text
    return text.replace(" is ", " must be " if turn % 2 else " is also ", 1)


def _asked(proof: Proof) -> str:
    return inner(proof.goal)


def _subject(proof: Proof) -> str:
    return "argument" if proof.problem.dataset == "syllogism" else "statement"


def _value(proof: Proof) -> str:
    if proof.problem.dataset == "syllogism":
        return {"true": "valid", "false": "invalid"}[proof.value]
    return proof.value


STYLES: tuple[Callable[[Proof], str], ...] = (
    since, steps, bullets, so, because, restated, quoting, numbered, chatty, reworded,
)  # fmt: skip


def proofs(dataset: str, num: int) -> Iterator[Proof]:
    """Yield the first problems of a data set that have a proof."""
    found, index = 0, 0
    while found < num:
        match dataset:
            case "prontoqa":
                problem = prontoqa(PrOntoQA(hops=(1, 2, 3, 4, 5)), index, seed=SEED)
            case "proofwriter":
                problem = proofwriter(ProofWriter(depths=(1, 2, 3)), index, seed=SEED)
            case _:
                problem = syllogism(Syllogisms(), index, seed=SEED)
        index += 1
        proof = proof_of(problem)
        if proof is not None and (dataset != "syllogism" or proof.value == "true"):
            found += 1
            yield proof


def records() -> Iterator[dict[str, object]]:
    """Yield the attempts, with style and half."""
    found = {dataset: list(proofs(dataset, num * len(STYLES))) for dataset, num in PER_STYLE}
    for number, style in enumerate(STYLES):
        for dataset, num in PER_STYLE:
            for turn in range(num):
                proof = found[dataset][turn * len(STYLES) + number]
                yield {
                    "id": f"english/{style.__name__}/{dataset}/{turn}",
                    "style": style.__name__,
                    "half": "tuning" if turn < num // 2 else "held-out",
                    "format": "english",
                    "problem": proof.problem.record(),
                    "completion": style(proof),
                }


if __name__ == "__main__":
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records())
