"""What a policy reads before it writes: the problem, and for a model that must be shown, solved examples.

The examples are made by the project's own generator and demonstration writer, so every one of them is
certified, and none can stand in a training or test split (they are drawn from the `pretrain` split).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from critics.problem import Problem
from critics.translators.prontoqa import translate
from rollout.demonstration import decide, demonstrate, kinds_of, numbered_sentences, spoken
from rollout.problems.prontoqa import PrOntoQA, generate

_EXAMPLE_SEED = 2023
_GUIDED_RULES = (
    "You solve logic problems in a fixed format. First restate each sentence and formalise it: mark objects as "
    "[[object:..]] and properties as [[prop:..]], then state the fact or rule as [[axiom:..]], with 'x for "
    "anything. Then formalise the question as [[goal:..]]. Then reason with one [[infer:..]] for each step until "
    "the goal or its negation is reached. End with a line that says Answer: true or Answer: false."
)
_COT_RULES = (
    "You solve logic problems step by step, one short sentence for each step, using nothing but the given "
    "sentences. End with a line that says Answer: true or Answer: false."
)


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """How problems are put to a policy."""

    kind: Literal["bare", "few-shot", "chat"] = "bare"
    """bare: the problem alone, for models trained on the format; few-shot: rules and solved examples as text;
    chat: the same as turns of the tokenizer's chat template."""
    examples: int = 2
    """Solved examples before the problem (LogicGuide used two when guided, four when not)."""
    format: Literal["guided", "cot"] = "guided"


def problem_text(problem: Problem, *, hint: bool = False) -> str:
    """Return the problem as the policy sees it, sentences numbered, ending before the completion's first character."""
    context = " ".join(numbered_sentences(problem.context))
    options = "".join(f"\n{option}" for option in problem.options or ())
    given_away = f"\nHint: the answer is {problem.answer}." if hint else ""
    return f"Context: {context}\nQuestion: {problem.question}{options}{given_away}\n"


def messages(problem: Problem, style: PromptStyle, *, hint: bool = False) -> list[dict[str, str]]:
    """Return system, example and user turns for a chat template or for `text`."""
    turns = [{"role": "system", "content": _GUIDED_RULES if style.format == "guided" else _COT_RULES}]
    for asked, solved in solved_examples(style.examples, style.format):
        turns += [{"role": "user", "content": asked}, {"role": "assistant", "content": solved}]
    return [*turns, {"role": "user", "content": problem_text(problem, hint=hint)}]


def text(problem: Problem, style: PromptStyle, *, hint: bool = False) -> str:
    """Return the whole prompt as text, for `bare` and `few-shot`."""
    if style.kind == "bare":
        return problem_text(problem, hint=hint)
    parts = [
        turn["content"] if turn["role"] != "assistant" else f"{turn['content']}\n###\n"
        for turn in messages(problem, style, hint=hint)
    ]
    return "\n".join(parts)


@lru_cache
def solved_examples(num: int, format_: str) -> tuple[tuple[str, str], ...]:
    """Return `num` problems with their solutions; answers alternate, hops grow from two."""
    config = PrOntoQA(hops=(2, 3), extra_kinds=(1, 2), split="pretrain")
    drawn = list(generate(config, 2 * num + 2, seed=_EXAMPLE_SEED))
    chosen = [p for i, p in enumerate(sorted(drawn, key=lambda p: p.answer == "false")) if i % 2 == 0]
    ordered = [p for pair in zip(chosen, reversed(chosen), strict=True) for p in pair][:num]
    return tuple((problem_text(p), _solution(p, format_)) for p in ordered)


def _solution(problem: Problem, format_: str) -> str:
    formal = problem.formal or translate(problem.context, problem.question)
    if format_ == "guided":
        return demonstrate(problem, formal, style="annotated")
    answer, inferences = decide(formal)
    kinds = kinds_of(formal)
    steps = " ".join(spoken(literal, kinds) for literal in inferences)
    return f"Reasoning: {steps}\nAnswer: {answer}"
