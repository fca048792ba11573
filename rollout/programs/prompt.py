"""Prompts for solver programs: each language in our own words, solved examples, and the feedback on a draft.

The same texts serve both papers' strategies: translation and error feedback (000, section 2; 001, section 3.2), the
refiners of 001, and its reviewer, which reads a program and writes the problem.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from critics.formats.names import CSP, FOL, LOGIC_PROGRAM, RULES
from critics.problem import Problem
from rollout.prompts.conversation import Message, message

_FOLDER = Path(__file__).parent
FORMATS: Mapping[str, str] = {
    "prontoqa": RULES,
    "prontoqa-ood": RULES,
    "proofwriter": RULES,
    "logicaldeduction": CSP,
    "ar-lsat": LOGIC_PROGRAM,
    "folio": FOL,
}
"""The language of a data set's programs where a configuration names none."""
STAND_IN = FOL
"""The language of problems of any other data set."""
FAITHFUL = "FAITHFUL"
"""Reply of a checker that finds nothing wrong with a program."""
_FENCED = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SolvedProgram:
    """A problem and a program that is certified for it."""

    problem: Problem
    format: str
    program: str


@dataclass(frozen=True, slots=True)
class MendedProgram:
    """A program before and after a refiner spoke."""

    purpose: str
    before: str
    told: str
    """The solver's words about the program before; empty where the refiner tells nothing of it."""
    after: SolvedProgram

    def said(self) -> str:
        """Return what the refiner says."""
        return unreadable_text(self.told) if self.purpose == "error-feedback" else mending(prompts()[self.purpose])


@lru_cache
def prompts() -> Mapping[str, str]:
    """Return what a policy is asked, by name."""
    return {name: text for name, text in _read("prompts.yaml").items() if isinstance(text, str)}


@lru_cache
def _read(name: str) -> Any:
    import yaml

    return yaml.safe_load((_FOLDER / name).read_text(encoding="utf-8"))


def languages() -> Mapping[str, str]:
    """Return the description of each language, by its format."""
    return _read("prompts.yaml")["languages"]


@lru_cache
def mended_examples() -> tuple[MendedProgram, ...]:
    """Return all demonstrations of refiners (001, appendix A)."""
    return tuple(
        MendedProgram(record["purpose"], record["before"].strip(), record.get("told", ""), _example(record, number))
        for number, record in enumerate(_read("mending.yaml"))
    )


@lru_cache
def solved_examples() -> tuple[SolvedProgram, ...]:
    """Return all examples, two for each data set."""
    return tuple(_example(record, number) for number, record in enumerate(_read("examples.yaml")))


def _example(record: Mapping[str, Any], number: int) -> SolvedProgram:
    options = None if record.get("options") is None else tuple(record["options"])
    context = record["context"].strip().replace("\n", " ")
    problem = Problem(f"example-{number}", record["dataset"], context, record["question"], options, record["answer"])
    return SolvedProgram(problem, record["format"], record["program"].strip())


def examples_for(problem: Problem, format_: str, num: int) -> list[SolvedProgram]:
    """Return at most `num` examples in a language, those of the problem's own data set first."""
    known = [example for example in solved_examples() if example.format == format_]
    return sorted(known, key=lambda example: example.problem.dataset != problem.dataset)[:num]


def opening(problem: Problem, format_: str, num_examples: int) -> list[Message]:
    """Return the conversation up to the policy's first program: instructions, examples, the problem."""
    system = "\n\n".join([prompts()["task"], languages()[format_], prompts()["reply"]])
    shown = examples_for(problem, format_, num_examples)
    solved = [turn for e in shown for turn in _exchange(problem_text(e.problem), e.program)]
    return [message("system", system), *solved, message("user", problem_text(problem))]


def reviewing(problem: Problem, format_: str, num_examples: int, program: str) -> list[Message]:
    """Return the conversation that asks for the problem behind a program: examples turned round (001, section 3.2)."""
    system = "\n\n".join([prompts()["review"], languages()[format_]])
    shown = examples_for(problem, format_, num_examples)
    solved = [turn for e in shown for turn in _exchange(e.program, problem_text(e.problem))]
    return [message("system", system), *solved, message("user", program)]


def answering(problem: Problem) -> list[Message]:
    """Return the conversation that asks for the answer itself."""
    wanted = "true, false or unknown" if problem.options is None else "the letter of one option"
    return [message("system", prompts()["answer"].format(wanted)), message("user", problem_text(problem))]


def problem_text(problem: Problem) -> str:
    """Return the problem as a policy sees it; its gold answer is none of the policy's business."""
    options = "".join(f"\n{option}" for option in problem.options or ())
    return f"Context: {problem.context}\nQuestion: {problem.question}{options}"


def about(opened: Sequence[Message], program: str, said: str, shown: Sequence[MendedProgram] = ()) -> list[Message]:
    """Return the conversation in which something is said about a program that was written.

    Demonstrations stand before the problem, which is the last message of what `opened` the conversation.
    """
    mended: list[Message] = []
    for each in shown:
        mended += _exchange(problem_text(each.after.problem), each.before)
        mended += _exchange(each.said(), each.after.program)
    return [*opened[:-1], *mended, opened[-1], message("assistant", program), message("user", said)]


def mending(said: str) -> str:
    """Return a request for a better program."""
    return f"{said}\n{prompts()['reply']}"


def unreadable_text(told: str) -> str:
    """Return what is said about a program that cannot be read or run."""
    return mending(f"The solver cannot run the program: {told}\nMend that, and keep what is right.")


def explained_text(explanation: str) -> str:
    """Return what is said where the solver shows why there is no answer."""
    begun = "The program runs and gives no answer. This is what the solver finds:"
    ending = "Compare that with the problem: which statement is wrong, or which one is missing? Mend it."
    return mending(f"{begun}\n{explanation}\n{ending}")


def feedback_text(kind: str, told: str) -> str:
    """Return the solver's feedback on a program: no answer, one that is not believed, or nothing that could be run."""
    match kind:
        case "answered":
            said = f"The program gives an answer, and it proves nothing: {told}\nSay what the problem says."
        case "undecided":
            said = f"The program runs and gives no answer: {told}\n"
            said += "Find out which statement says too much or too little."
        case _:
            return unreadable_text(told)
    return mending(said)


def program_in(reply: str) -> str:
    """Return the program of a reply: what stands in its last code fence, else all of it."""
    found = _FENCED.findall(reply)
    return (found[-1] if found else reply).strip()


def _exchange(asked: str, replied: str) -> list[Message]:
    return [message("user", asked), message("assistant", replied)]
