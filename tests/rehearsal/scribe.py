"""What a fair model would write for a prompt of ours: reference demonstrations, recorded programs, solved examples.

A reply follows from the prompt alone, so that a server that was started again goes on as the one before it would have.
"""

import gzip
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from critics.problem import Problem
from rollout.actor_critic.prompt import solved_examples as solved_dialogs
from rollout.programs.prompt import solved_examples as solved_programs
from training.lessons.references import WRITERS, dialogs

Turns = Sequence[Mapping[str, str]]
CUES = (
    ("label", r"`Label: `"),
    ("verifier", r"given two\b"),
    ("signs", r"given a description"),
    ("words", r"plain English what it says"),
    ("asp", r"clingo|Answer Set Program"),
    ("formulas", r"one formula for each sentence"),
    ("review", r"read programs"),
    ("z3-python", r"(?s)programs? for a solver.*\bz3\b"),
    ("logic-program", r"(?s)programs? for a solver.*# Declarations"),
    ("csp", r"(?s)programs? for a solver.*Domain"),
    ("fol", r"(?s)programs? for a solver.*∀"),
    ("rules", r"programs? for a solver"),
    ("fol", r"(?s)first-order logic.*leave the answer"),
    ("fol-cot", r"first-order logic"),
    ("guided", r"\[\["),
)
"""What a prompt asks for, by words in its instructions: the first that are found; else a chain of thought."""
SPOKEN = {
    "(": "opening", ")": "closing", "[": "beginning", "]": "ending", ",": "beside", ".": "it holds that",
    "∧": "together with", "∨": "or else", "¬": "the denial of", "→": "brings along", "∀": "for whatever",
    "∃": "for something called", "*": "as often as one likes", "0": "zero", "1": "one", "+": "at least once",
}  # fmt: skip
"""Signs of formulas in words that nobody takes for signs, and that can be read back."""

BAKER = {
    "Model": ["% R1: Every baker is awake.", "awake(X) :- baker(X).", "% R2: Tom is a baker.", "baker(tom)."],
    "Tests": [
        {"Facts": ["baker(p1)."], "infer-All": ["awake(p1)"], "Rules": ["R1"], "Explanation": "a baker is awake"}
    ],
    "Query": ["1. ATOM(awake(tom))"],
}
"""A program for the first of the stories in `tests/rehearsal/inputs.py`."""


class Scribe:
    """Writes what is asked for about known problems."""

    def __init__(self, problems: Sequence[Problem], recorded: Mapping[tuple[str, str], str] | None = None) -> None:
        self.problems = problems
        self.recorded = recorded or {}
        """Programs by format and question."""

    def write(self, turns: Turns) -> str:
        """Return a good reply to a conversation, or to a prompt that is its only turn."""
        kind, last = asked_for(turns), turns[-1]["content"]
        writers: Mapping[str, Callable[[str], str]] = {
            "words": spoken,
            "signs": written_down,
            "verifier": lambda said: "Both say the same of every name.\nAnswer: " + ("yes" if len(said) % 2 else "no"),
            "label": lambda _: "The query asks for the opposite.\nLabel: misapplied_structure",
            "formulas": lambda said: "\n".join(f"{label}: -" for label in re.findall(r"^([CTQ]\d*):", said, re.M)),
            "review": lambda _: "Context: Tom is a cat.\nQuestion: Tom is a cat.",
        }
        if kind in writers:
            return writers[kind](last)
        problem = self._about("\n".join(turn["content"] for turn in turns))
        return (problem and self._reference(problem, kind)) or _shown(turns) or "Reasoning: It follows.\nAnswer: true"

    def _about(self, text: str) -> Problem | None:
        """Return the problem whose question stands last."""
        found = [(text.rfind(problem.question), len(problem.context), problem) for problem in self.problems]
        fits = [each for each in found if each[0] >= 0 and _sentence(each[2]) in text]
        return max(fits, key=lambda each: each[:2])[2] if fits else None

    def _reference(self, problem: Problem, kind: str) -> str | None:
        if kind == "asp":
            known = {each.question: each.reply() for each in solved_dialogs()}
            told = json.dumps(BAKER, indent=1) if "Tom is awake" in problem.question else None
            return told or known.get(problem.question) or _reviewed(problem)
        if kind in WRITERS:
            made = WRITERS[kind](problem)
            return f"Reasoning: The given sentences lead to it.\n{made}" if kind == "cot" and made else made
        known = {(each.format, each.problem.question): each.program for each in solved_programs()}
        return self.recorded.get((kind, problem.question)) or known.get((kind, problem.question))


def asked_for(turns: Turns) -> str:
    """Return what the first turn asks for."""
    return next((kind for kind, cue in CUES if re.search(cue, turns[0]["content"])), "cot")


def spoken(asked: str) -> str:
    """Return a formula in words."""
    formula = asked.splitlines()[-1].partition(": ")[2]
    tokens = re.findall(r"[A-Za-z_]\w*|[^\w\s]|\d", formula)
    return f"It says: {' '.join(SPOKEN.get(token, token) for token in tokens)}"


def written_down(asked: str) -> str:
    """Return what `spoken` put into words."""
    text = asked.splitlines()[-1].partition("It says: ")[2]
    for sign, words in sorted(SPOKEN.items(), key=lambda each: -len(each[1])):
        text = re.sub(rf"\b{words}\b", sign, text)
    return text


def _sentence(problem: Problem) -> str:
    """Return a part of the context that every way of showing it keeps."""
    return re.split(r"(?<=[.?!])\s|\n", problem.context.strip())[0].removeprefix("1- ")


def _shown(turns: Turns) -> str | None:
    """Return the last reply of a solved example: what a model does that has not understood."""
    replies = [turn["content"] for turn in turns if turn["role"] == "assistant"]
    return replies[-1] if replies else None


def _reviewed(problem: Problem) -> str | None:
    from tests.in_process import review_here

    made = dialogs([problem], review_here)
    return made[0].completion if made else None


_FORMATS = {"FOLIO": "fol", "AR-LSAT": "logic-program", "LogicalDeduction": "csp", "ProntoQA": "rules"}


@lru_cache
def recorded_programs(shared: Path) -> tuple[tuple[Problem, ...], Mapping[tuple[str, str], str]]:
    """Return AR-LSAT's recorded problems, and programs that GPT-3.5 and davinci-003 wrote for them."""
    from rollout.published.loaders import load_published

    problems = {problem.id: problem for problem in load_published(shared / "data/arlsat_dev_partA.jsonl.gz", "ar-lsat")}
    with gzip.open(shared / "data/logiclm_programs_partA.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    programs = {
        (_FORMATS[each["dataset"]], problems[each["problem_id"]].question): each["program"]
        for each in records
        if each["dataset"] == "AR-LSAT" and each["problem_id"] in problems
    }
    return tuple(problems.values()), programs
