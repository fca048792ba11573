"""First-order logic as what a model writes: formulas that a solver decides, or formulas as a chain of thought.

The second is a baseline of LLM-ARC (section 4, GPT4-FT-FOL): from the problem to its formulas, and from them to an
answer of the model's own. Reference attempts are written from annotations, such as FOLIO's.
"""

from critics.formats.fol.program import read_program
from critics.formats.names import FOL
from critics.problem import Problem, is_list
from critics.replay.first_order.syntax import signature
from rollout.programs.prompt import examples_for, languages, opening, problem_text
from rollout.prompts.conversation import Messages, message
from rollout.prompts.prompt import answer_line, answer_rule

FORMAT = FOL
DEFAULT_EXAMPLES = 2
"""Solved examples where nothing else is said: as many as there are in this language."""
_TASK = """You solve logic problems by way of first-order logic. First you write every statement and the question as \
formulas in the language below. Then you ask yourself what these formulas entail, and answer."""
_VARIABLES = ("x", "y", "z", *(f"x{place}" for place in range(4, 100)))


def request(problem: Problem, num_examples: int, *, answers: bool, hint: bool = False) -> Messages:
    """Return what a model is asked: for formulas alone, or for formulas and then its own answer."""
    given_away = f"\nHint: the answer is {problem.answer}." if hint else ""
    if not answers:
        *before, asked = opening(problem, FORMAT, num_examples)
        return [*before, message("user", f"{asked['content']}{given_away}")]
    system = f"{_TASK}\n\n{languages()[FORMAT]}\n\nReply with these sections alone.{answer_rule(problem)}"
    turns = [message("system", system)]
    for example in examples_for(problem, FORMAT, num_examples):
        turns.append(message("user", problem_text(example.problem)))
        turns.append(message("assistant", f"{example.program}\n{answer_line(example.problem)}"))
    return [*turns, message("user", f"{problem_text(problem)}{given_away}")]


def reference(problem: Problem) -> str | None:
    """Return the annotation as a program of the `fol` format, formulas as published; None where there is none.

    A formula stands beside its sentence where there are as many of one as of the other. Raises `FormulaError` where
    the annotation cannot be read.
    """
    premises, conclusion = problem.meta.get("premises_fol"), problem.meta.get("conclusion_fol")
    if not is_list(premises) or not premises or not isinstance(conclusion, str):
        return None
    said = [line.strip() for line in problem.context.splitlines() if line.strip()]
    said = said if len(said) == len(premises) else [""] * len(premises)
    commented = [_commented(*each) for each in zip(premises, said, strict=True)]
    stated = ["Premises:", *commented, "Conclusion:", _commented(conclusion, problem.question)]
    used = signature(read_program("\n".join(stated)).formulas())
    predicates = [f"{name}({', '.join(_VARIABLES[:arity])})" for name, arity in used.predicates.items()]
    return "\n".join(["Predicates:", *predicates, *sorted(used.propositions), *stated])


def reference_with_answer(problem: Problem) -> str | None:
    """Return the annotation with the gold answer under it: the paper's way through formulas to an answer."""
    formulas = reference(problem)
    return None if formulas is None or problem.answer is None else f"{formulas}\n{answer_line(problem)}"


def _commented(formula: str, sentence: str) -> str:
    return " ::: ".join(" ".join(text.split()) for text in (formula, sentence) if text.split())
