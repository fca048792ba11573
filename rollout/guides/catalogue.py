"""Guides by the names that a configuration has for them, each at its start for one problem."""

from collections.abc import Callable, Mapping

from critics import plugins
from critics.errors import InputError
from critics.problem import Problem
from rollout.decoding.guide import Guide
from rollout.guides.algebra import AlgebraGuide
from rollout.guides.logic import LogicGuide
from rollout.guides.memory import MemoryGuide
from rollout.guides.parity import ParityGuide
from rollout.guides.peano import PeanoGuide
from rollout.guides.quote import QuoteGuide

COMPATIBLE = "compatible"
GUIDES: Mapping[str, Callable[[Problem], Guide]] = {
    "logic": LogicGuide.for_problem,
    COMPATIBLE: lambda problem: PeanoGuide(),
    "memory": lambda problem: MemoryGuide(),
    "quote": lambda problem: QuoteGuide(source=problem.context, name=problem.id),
    "algebra": lambda problem: AlgebraGuide(),
    "parity": lambda problem: ParityGuide(),
}
"""`compatible` allows what the original engine allows, bugs included; `quote` quotes the problem's context."""


def known_guides() -> list[str]:
    """Return the names of all guides, those of plug-ins last."""
    return [*GUIDES, *plugins.names("guides", GUIDES)]


def guide_named(name: str, problem: Problem) -> Guide:
    """Return a guide at its start; raises `InputError` for a name that is not known."""
    if name in GUIDES:
        return GUIDES[name](problem)
    if name not in known_guides():
        raise InputError(f"guide: {name!r} is not among {', '.join(known_guides())}")
    return plugins.load("guides", name)()
