"""Small inputs of the catalogue's commands: generated problems, and stories of our own where files are published."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from critics.problem import Problem
from rollout.problems.catalogue import family
from rollout.programs.prompt import solved_examples
from rollout.published.loaders import load_published
from rollout.records.traces import Trace

STORIES = [
    {
        "story_id": 1,
        "example_id": 1,
        "premises": ["Every baker is awake.", "Tom is a baker."],
        "premises-FOL": ["∀x (Baker(x) → Awake(x))", "Baker(tom)"],
        "conclusion": "Tom is awake.",
        "conclusion-FOL": "Awake(tom)",
        "label": "True",
    },
    {
        "story_id": 2,
        "example_id": 2,
        "premises": ["No violin is a drum.", "Tamtam is a drum."],
        "premises-FOL": ["∀x (Violin(x) → ¬Drum(x))", "Drum(tamtam)"],
        "conclusion": "Tamtam is a violin.",
        "conclusion-FOL": "Violin(tamtam)",
        "label": "False",
    },
    {
        "story_id": 3,
        "example_id": 3,
        "premises": ["Every guest drinks tea or coffee.", "Milan is a guest."],
        "premises-FOL": ["∀x (Guest(x) → Tea(x) ∨ Coffee(x))", "Guest(milan)"],
        "conclusion": "Milan drinks tea.",
        "conclusion-FOL": "Tea(milan)",
        "label": "Uncertain",
    },
]
SPLITS = {"folio's training split": slice(2), "folio's validation split": slice(2, None)}
QUESTIONS = {
    "rule": "HS",
    "logic": "fol",
    "samples": [
        {
            "id": 1,
            "context": "If Ann runs, she is warm. Ann runs.",
            "question": "Is Ann warm?",
            "answer": "yes",
        },
        {
            "id": 2,
            "context": "If Ann runs, she is warm. Ann is not warm.",
            "question": "Does Ann run?",
            "answer": "no",
        },
        {
            "id": 3,
            "logic": "pl",
            "context": "It rains or snows. It does not rain.",
            "question": "Does it snow?",
            "answer": "yes",
        },
    ],
}


def generated(name: str, num: int = 2, **keys: object) -> list[Problem]:
    """Return problems of one of our generators."""
    made = family(name)
    return list(made.generate(made.configured(keys, "test"), num, seed=5))


def solved(name: str) -> list[Problem]:
    """Return the problems of a data set that have a solved example."""
    return list({e.problem.question: e.problem for e in solved_examples() if e.problem.dataset == name}.values())


def folio(folder: Path) -> list[Problem]:
    """Return the stories as problems."""
    return list(load_published(_stories(folder / "stories.jsonl"), "folio"))


def _stories(path: Path) -> Path:
    return _lines(path, STORIES)


def _questions(path: Path) -> Path:
    path.write_text(json.dumps(QUESTIONS), encoding="utf-8")
    return path


def _lines(path: Path, records: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


MADE: Mapping[str, Callable[[Path], list[Problem]]] = {
    "prontoqa": lambda _: generated("prontoqa"),
    "prontoqa grid": lambda _: generated("prontoqa", 12, hops=[1, 2], ontologies=["fictional", "false", "true"]),
    "proofwriter two-valued": lambda _: generated("proofwriter", 4, unknown_share=0, depths=[1, 2]),
    "proofwriter": lambda _: generated("proofwriter"),
    "syllogism": lambda _: generated("syllogism", 12),
    "deontiqa": lambda _: generated("deontiqa", 1),
    "ar-lsat": lambda _: solved("ar-lsat"),
    "logicaldeduction": lambda _: solved("logicaldeduction"),
    "folio": folio,
    "folio-formulas": lambda folder: list(load_published(_stories(folder / "stories.jsonl"), "folio-formulas")),
    "multi-logieval": lambda folder: list(load_published(_questions(folder / "questions.json"), "multi-logieval")),
}


def _trips() -> list[Trace]:
    """Return what another model's trips came back with: half of the formulas, and half of their negations."""
    problems = generated("autoeval-pl", 4) + generated("autoeval-re", 2)
    formulas = [problem.formal.goal for problem in problems if problem.formal]
    claims = [
        {"language": problem.meta["language"], "left": left, "right": left if n % 2 else f"(¬{left})"}
        for n, (problem, left) in enumerate(zip(problems, formulas, strict=True))
    ]
    return [
        Trace(f"{problem.id}#0", problem, "equivalence", json.dumps(claim, ensure_ascii=False), ending="arrived")
        for problem, claim in zip(problems, claims, strict=True)
    ]


def _turned(program: str) -> str:
    """Return a program that asks for the opposite."""
    before, query = program.rsplit("Query:", 1)
    turned = query.replace("True)", "#").replace("False)", "True)").replace("#", "False)")
    return f"{before}Query:{turned}"


def put(path: Path, kind: str) -> list[Problem]:
    """Write an input of a command, and return the problems in it."""
    if kind == "folio as published":
        _stories(path)
        return folio(path.parent)
    if kind in SPLITS:
        _lines(path, STORIES[SPLITS[kind]])
        return []
    if kind == "trips":
        _lines(path, [trip.record() for trip in _trips()])
        return []
    if kind == "wrong programs":
        programs = [e for e in solved_examples() if (e.problem.dataset, e.format) == ("prontoqa", "rules")]
        attempts = [Trace(e.problem.id, e.problem, e.format, _turned(e.program)) for e in programs]
        _lines(path, [attempt.record() for attempt in attempts])
        return []
    if kind.startswith("traces of "):
        programs = [e for e in solved_examples() if e.problem.dataset == kind.removeprefix("traces of ")]
        attempts = [Trace(f"{e.problem.id}#0", e.problem, e.format, e.program + "\nA(") for e in programs]
        _lines(path, [attempt.record() for attempt in attempts])
        return [e.problem for e in programs]
    problems = [problem for name in kind.split(", ") for problem in MADE[name](path.parent)]
    _lines(path, [problem.record() for problem in problems])
    return problems
