"""Certificates of texts whose sentences are entailed one by one: premises, steps, the question, and two models."""

from collections.abc import Sequence
from dataclasses import dataclass

from critics.logic.first_order.solvers import DEFAULT_BUDGET, contingent, decided, version
from critics.problem import Problem
from critics.replay.first_order.models import Model
from critics.replay.first_order.reader import canonical
from critics.replay.first_order.syntax import Formula
from critics.replay.grades import Grade
from critics.text.english.moves import Move
from critics.text.english.passage import TextSentence
from critics.verdict import Unproved
from critics.verdict.certificate import Certificate, certify
from critics.verdict.conclusion import Refusal

KIND = "english-entailment"
ENGINE = "certistar-english-fol/1"


@dataclass(frozen=True, slots=True)
class Step:
    """Claim of a sentence of the text, by its place among the text's sentences."""

    sentence: int
    says: Formula


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence of the text with its moves, each with the formula of its statement, if it has one."""

    line: TextSentence
    moves: tuple[tuple[Move, Formula | None], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A problem and a text as one reading of `either` has them."""

    premises: tuple[Formula, ...]
    places: dict[int, int]
    """By the number of a sentence of the context, its place among the premises."""
    goal: Formula
    told: tuple[Told, ...]
    is_whole: bool
    """True if each sentence of the context is read."""
    chosen: tuple[str, ...] = ()
    """Sentences with two readings, of which others decide."""
    num_granted: int = 0
    """Number of the last premises, which no sentence says, for they tell what words mean."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Value that the text proves, and its steps."""

    value: str
    steps: tuple[Step, ...]
    unsaid: tuple[str, ...] = ()
    """Premises that a step rests on and that no sentence said before it."""


class BadMove(Exception):  # noqa: N818
    """A sentence that does not hold, or is not read."""

    def __init__(self, index: int, text: str, refusal: Refusal) -> None:
        super().__init__(text)
        self.index, self.text, self.refusal = index, text, refusal
        self.claim: Formula | None = None
        """Claim that does not follow."""
        self.case: Case | None = None
        """What is read of problem and text, up to it."""


def models_of(premises: Sequence[Formula], goal: Formula, result: str) -> tuple[Model, Model]:
    """Return a model of the premises with the answer, and one in which the answer is otherwise; raises `Refusal`."""
    found = decided(premises, goal)
    if found.result != result:
        raise Refusal(Unproved, "goal_not_reached", "the context says otherwise, or leaves it open")
    model = found.fails if result == "false" else found.holds
    other = found.fails if result == "unknown" else contingent(goal, found.result)
    assert model is not None, "a result comes with its models"
    assert other is not None, "a result comes with its models"
    return model, other


def chain_certificate(
    problem: Problem,
    claim: str,
    grade: Grade,
    completion: str,
    formulas: object,
    premises: Sequence[Formula],
    goal: Formula,
    outcome: Outcome,
    models: tuple[Model, Model],
) -> Certificate:
    """Return the certificate, digest included: premises and steps before it entail each step, the steps the answer.

    `formulas` are as the model wrote them (`Problem.meta`); of readings by the grammar the data set whose conventions
    they have, and the knowledge that the problem declares. The `models` are those of `models_of`.
    """
    model, other = models
    evidence = {
        "reference": "axioms" if grade == "given" else "none",
        "completion": completion,
        "formulas": formulas,
        "premises": list(map(canonical, premises)),
        "steps": [{"sentence": step.sentence, "says": canonical(step.says)} for step in outcome.steps],
        "goal": canonical(goal),
        "result": outcome.value,
        "models": {"premises": model.record(), "contingent": other.record()},
    }
    limits = {"rlimit": DEFAULT_BUDGET.rlimit, "wall_ms": DEFAULT_BUDGET.wall_ms}
    return certify(KIND, problem, claim, evidence, engine=f"{ENGINE} {version()}", limits=limits, grade=grade)
