"""Guides by the names that a configuration has for them, each at its start for one problem; imported when asked for."""

from collections.abc import Mapping
from importlib import import_module

from critics import registry
from critics.errors import InputError
from critics.problem import Problem
from rollout.decoding.guide import Guide

GUIDES: Mapping[str, str] = {
    "logic": "rollout.guides.logic:LogicGuide",
    "memory": "rollout.guides.memory:MemoryGuide",
    "quote": "rollout.guides.quote:QuoteGuide",
    "algebra": "rollout.guides.algebra:AlgebraGuide",
    "parity": "rollout.guides.parity:ParityGuide",
}
"""`quote` quotes the problem's context."""


def known_guides() -> list[str]:
    """Return the names of all guides, those of plug-ins last."""
    return [*GUIDES, *registry.names("guides", GUIDES)]


def guide_named(name: str, problem: Problem) -> Guide:
    """Return a guide at its start; raises `InputError` for a name that is not known.

    A guide that starts from a problem has `for_problem`; others need no argument.
    """
    if name in GUIDES:
        module, _, kind = GUIDES[name].partition(":")
        made = getattr(import_module(module), kind)
    elif name in known_guides():
        made = registry.load("guides", name)
    else:
        raise InputError(f"guide: {name!r} is not among {', '.join(known_guides())}")
    for_problem = getattr(made, "for_problem", None)
    return made() if for_problem is None else for_problem(problem)
