"""Guides by the names that a configuration has for them, each at its start for one problem; imported when asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any
from weakref import WeakKeyDictionary

from critics import registry
from critics.errors import InputError
from critics.problem import Problem, object_of, read_problem, text_of
from rollout.decoding.guide import Guide
from rollout.records.sampling import ENGLISH

GUIDES: Mapping[str, str] = {
    "logic": "rollout.guides.logic:LogicGuide",
    "memory": "rollout.guides.memory:MemoryGuide",
    "quote": "rollout.guides.quote:QuoteGuide",
    "algebra": "rollout.guides.algebra:AlgebraGuide",
    "parity": "rollout.guides.parity:ParityGuide",
    ENGLISH: "rollout.guides.english:EnglishGuide",
}
"""`quote` quotes the problem's context; `english` writes a whole chain of thought, the others what is in `[[ ]]`."""


def known_guides() -> list[str]:
    """Return the names of all guides, those of plug-ins last."""
    return [*GUIDES, *registry.names("guides", GUIDES)]


def guide_named(name: str, problem: Problem, max_sentences: int | None = None) -> Guide:
    """Return a guide at its start; raises `InputError` for a name that is not known.

    A guide that starts from a problem has `for_problem`; others need no argument. `max_sentences` is for `english`.
    """
    if name == ENGLISH:
        from rollout.guides.english import EnglishGuide

        return EnglishGuide.for_problem(problem, max_sentences)
    if name in GUIDES:
        module, _, kind = GUIDES[name].partition(":")
        made = getattr(import_module(module), kind)
    elif name in known_guides():
        made = registry.load("guides", name)
    else:
        raise InputError(f"guide: {name!r} is not among {', '.join(known_guides())}")
    for_problem = getattr(made, "for_problem", None)
    return made() if for_problem is None else for_problem(problem)


@dataclass(frozen=True, slots=True)
class GuideRecipe:
    """A guide's name, its problem, whether its answer is held to what it decides, and most sentences of a text."""

    name: str
    problem: Problem
    is_concluding: bool = False
    max_sentences: int | None = None

    def guide(self) -> Guide:
        """Return the guide; raises `InputError` for one that is not known, or decides no goal."""
        if not self.is_concluding:
            made = guide_named(self.name, self.problem, self.max_sentences)
        elif self.name == "logic":
            from rollout.decoding.rows import ConcludingGuide
            from rollout.guides.logic import LogicGuide

            made = ConcludingGuide(LogicGuide.for_problem(self.problem), self.problem)
        else:
            raise InputError(f"guide: {self.name!r} decides no goal; set sampling.conclusion to free")
        _RECIPES[made] = self
        return made

    def record(self) -> dict[str, Any]:
        """Return the JSON form, without the gold answer: whoever writes need not have it."""
        problem = replace(self.problem, answer=None, formal=None, meta={})
        most = {} if self.max_sentences is None else {"max_sentences": self.max_sentences}
        return {"guide": self.name, "problem": problem.record(), "concludes": self.is_concluding, **most}


_RECIPES: WeakKeyDictionary[Guide, GuideRecipe] = WeakKeyDictionary()


def recipe_of(guide: Guide) -> GuideRecipe | None:
    """Return what a guide was made of, which is at its start still; None for one that no recipe made."""
    return _RECIPES.get(guide)


def read_recipe(record: object) -> GuideRecipe:
    """Build a recipe from its JSON form; raises `InputError` naming the key."""
    data = object_of(record, "recipe")
    name, problem = text_of(data, "guide", "recipe"), read_problem(data.get("problem"))
    most = data.get("max_sentences")
    return GuideRecipe(name, problem, data.get("concludes") is True, most if isinstance(most, int) else None)
