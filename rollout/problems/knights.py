"""Knights and knaves: everybody speaks the truth or lies, and their statements leave exactly one way.

Whether the statements have one solution is found by trying everything (`critics.text.translators.knights`); the
critic of `fol` decides the same by Z3, and a re-check by cvc5. `meta` has the translation, of which `certistar
demonstrate --format fol` writes attempts.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from critics.problem import Problem
from critics.text.translators.knights import Island, Joined, Kind, Said, decide, read_island, stated, translate
from rollout.problems.splits import Split, belongs, consecutive, draws

DATASET = "knights"
Form = Literal["kind", "not", "same", "different", "and", "or", "either", "if", "iff", "not-both"]
FORMS: tuple[Form, ...] = get_args(Form)
_NAMES = ("Ada", "Ben", "Cleo", "Dov", "Esme", "Finn", "Gita", "Hugo", "Iris", "Juno", "Kofi", "Lena", "Milo", "Nell")
_FRAME = (
    "Everybody on this island is either a knight or a knave. Knights always tell the truth, and knaves always lie. "
    "{names} live here."
)
_SIGNS = {"and": "∧", "or": "∨", "either": "⊕", "if": "→", "iff": "↔", "same": "↔", "different": "⊕"}
_WORDS = {"and": "{} and {}", "or": "{} or {}", "either": "either {} or {}, but not both", "if": "if {} then {}",
          "iff": "{} if and only if {}", "not-both": "it is not the case that both {} and {}"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class KnightsAndKnaves:
    """Settings of the generator. Sizes and answers are spread evenly over consecutive items."""

    people: Sequence[int] = (2, 3, 4)
    """Number of people who live there, and speak once each."""
    forms: Sequence[Form] = FORMS
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.people or not all(2 <= num <= 5 for num in self.people):
            raise ValueError(f"people: {list(self.people)} must be some of 2, 3, 4 and 5")
        if not self.forms or not set(self.forms) <= set(FORMS):
            raise ValueError(f"forms: {list(self.forms)} must name some of {', '.join(FORMS)}")


def item(config: KnightsAndKnaves, index: int, *, seed: int) -> Problem:
    """Return item `index`, redrawn until its statements have one solution and its content belongs to the split."""
    num, is_true = config.people[(index // 2) % len(config.people)], index % 2 == 0
    for rng in draws(DATASET, config.split, seed, index):
        names = rng.sample(_NAMES, num)
        claims = [_claim(rng.choice(config.forms), names, rng) for _ in names]
        island = Island(tuple(names), "knight", "knave", tuple(zip(names, (said for said, _ in claims), strict=True)))
        solutions = island.solutions()
        if len(solutions) != 1:
            continue
        lines = [f"{name} says that {words}." for name, (_, words) in zip(names, claims, strict=True)]
        rng.shuffle(lines)
        context = "\n".join([_FRAME.format(names=f"{', '.join(names[:-1])} and {names[-1]}"), *lines])
        asked = rng.choice(names)
        question = f"True or false: {asked} is a {'knight' if (asked in solutions[0]) == is_true else 'knave'}."
        problem = posed(f"{DATASET}/{config.split}/{seed}/{index}", context, question, is_true=is_true)
        if belongs(config.split, problem):
            return replace(problem, meta={"people": num, **problem.meta})
    raise AssertionError("draws have no end")


generate = consecutive(item)


def posed(id_: str, context: str, question: str, *, is_true: bool) -> Problem:
    """Return a problem with the translation of its text, which must have the answer; raises `TranslationError`."""
    formal = translate(context, question)
    answer = "true" if is_true else "false"
    meta = {"premises_fol": list(stated(formal, context)), "conclusion_fol": formal.goal}
    solutions = len(read_island(context).solutions())
    if solutions != 1:
        meta |= {"inexpressible": f"the statements have {solutions or 'no'} solutions"}
    elif decide(context, question) != answer:
        meta |= {"inexpressible": f"the text does not say that this is {answer}"}
    return Problem(id_, DATASET, context, question, answer=answer, meta=meta)


def _claim(form: Form, names: Sequence[str], rng: random.Random) -> tuple[Said, str]:
    """Return a claim and its words, about different people where it is about two."""
    kinds = [Kind(name, rng.random() < 0.5) for name in rng.sample(names, 2)]
    said = [f"{kind.name} is a {'knight' if kind.truthful else 'knave'}" for kind in kinds]
    match form:
        case "kind":
            return kinds[0], said[0]
        case "not":
            return Joined("¬", (kinds[0],)), said[0].replace(" is a ", " is not a ")
        case "same" | "different":
            pair = tuple(replace(kind, truthful=True) for kind in kinds)
            which = "the same kind" if form == "same" else "different kinds"
            return Joined(_SIGNS[form], pair), f"{pair[0].name} and {pair[1].name} are of {which}"
        case "not-both":
            return Joined("¬", (Joined("∧", tuple(kinds)),)), _WORDS[form].format(*said)
        case _:
            return Joined(_SIGNS[form], tuple(kinds)), _WORDS[form].format(*said)
