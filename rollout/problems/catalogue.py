"""Data sets that can be generated, by name and imported when asked for, and their disjoint splits.

The hash of what a problem states and asks decides to which split it may belong; a generator redraws until
its item belongs to the split that is wanted.
"""

import difflib
import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from itertools import count
from typing import Any, Literal, TypeAlias, get_type_hints

from critics import registry
from critics.errors import InputError
from critics.problem import Problem

Split = Literal["pretrain", "train", "develop", "test"]
_NUM_BUCKETS = 16
SPLIT_BUCKETS: dict[Split, range] = {
    "pretrain": range(0, 8),
    "train": range(8, 12),
    "develop": range(12, 14),
    "test": range(14, 16),
}


def consecutive(item: Callable[..., Problem]) -> Callable[..., Iterator[Problem]]:
    """Return a data set's generator, made of the function `item(config, index, seed=..)`.

    Called as `generate(config, num, seed=.., start=..)` it yields items `start` to `start + num - 1`, each of which
    depends only on the configuration, the seed and its index.
    """

    def generate(config: object, num: int, *, seed: int, start: int = 0) -> Iterator[Problem]:
        return (item(config, index, seed=seed) for index in range(start, start + num))

    return generate


def draws(dataset: str, split: Split, seed: int, index: int) -> Iterator[random.Random]:
    """Yield new randomness for each attempt at one item, without end."""
    for attempt in count():
        yield random.Random(item_seed(dataset, split, seed, index, attempt))


def first_of_split(split: Split, drawn: Iterable[Problem]) -> Problem:
    """Return the first problem whose content belongs to a split."""
    return next(problem for problem in drawn if belongs(split, problem))


def belongs(split: Split, *problems: Problem) -> bool:
    """Say whether the content of all these problems belongs to a split."""
    return all(content_bucket(problem) in SPLIT_BUCKETS[split] for problem in problems)


def content_key(problem: Problem) -> str:
    """Return a digest of what is asked, whatever the order and the wording of the statements."""
    if problem.formal is None:
        return hashlib.sha256(f"{problem.context}\n{problem.question}".encode()).hexdigest()
    return hashlib.sha256("\n".join([*sorted(problem.formal.axioms), "?", problem.formal.goal]).encode()).hexdigest()


def content_bucket(problem: Problem) -> int:
    """Return the problem's bucket, from 0 to 15; a split owns a range of them."""
    return int(content_key(problem)[:8], 16) % _NUM_BUCKETS


def item_seed(*parts: object) -> int:
    """Return the seed of one item's randomness, from names and numbers by SHA-256."""
    return int.from_bytes(hashlib.sha256("\x1f".join(map(str, parts)).encode()).digest()[:8], "big")


Setting: TypeAlias = "str | int | float | Sequence[Setting] | Mapping[str, Setting] | None"
"""A value of a generator's configuration, as YAML can say it."""


@dataclass(frozen=True, slots=True)
class Family:
    """A generator: its configuration, a frozen dataclass with a `split`, and what makes problems of one."""

    configuration: type[Any]
    generate: Callable[..., Iterator[Problem]]
    """Called as `generate(configuration, num, seed=.., start=..)`."""
    shown: Mapping[str, Setting] = field(default_factory=dict[str, Setting])
    """Keys of problems small enough to be shown, solved, in a prompt."""

    def configured(self, keys: Mapping[str, Setting], split: Split) -> Any:
        """Return the configuration with the given keys; raises `ValueError` that names a bad key and the remedy."""
        known = [f.name for f in fields(self.configuration) if f.name != "split"]
        for key in keys:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                raise ValueError(f"{key}: is not known; " + (f"did you mean {near[0]!r}?" if near else _listed(known)))
        return _built(self.configuration, {**keys, "split": split})


QUESTIONS: Mapping[str, str] = {
    "prontoqa": "rollout.problems.prontoqa:PrOntoQA",
    "proofwriter": "rollout.problems.proofwriter:ProofWriter",
    "prontoqa-ood": "rollout.problems.deductions:Deductions",
    "syllogism": "rollout.problems.syllogism:Syllogisms",
    "wason": "rollout.problems.wason:SelectionTasks",
    "controlled-english": "rollout.problems.controlled_english:ControlledEnglish",
    "deontiqa": "rollout.problems.deontiqa:DeontiQA",
}
"""Questions in English: the configuration of each data set, in a module with its `generate`."""
LANGUAGES: Mapping[str, str] = {
    "autoeval-pl": "rollout.formulas.generator:PropositionalFormulas",
    "autoeval-3cnf": "rollout.formulas.generator:ThreeCnfFormulas",
    "autoeval-fol": "rollout.formulas.generator:FirstOrderFormulas",
    "autoeval-fol-english": "rollout.formulas.generator:EnglishFirstOrderFormulas",
    "autoeval-re": "rollout.formulas.generator:RegularExpressions",
    "autoeval-own": "rollout.formulas.generator:OwnGrammar",
}
"""Formal languages: their problems ask for a round trip, which is no question that a prompt could show solved."""
GENERATED: Mapping[str, str] = {**QUESTIONS, **LANGUAGES}
_SHOWN: Mapping[str, Mapping[str, Sequence[int]]] = {
    "prontoqa": {"hops": (2, 3), "extra_kinds": (1, 2)},
    "proofwriter": {"depths": (1, 2), "facts": (3, 4), "extra_rules": (1, 2)},
    "prontoqa-ood": {"hops": (2,)},
    "deontiqa": {"levels": (1, 2), "extra_facts": (1, 2), "extra_rules": (1, 2)},
}


def family(dataset: str) -> Family:
    """Return a data set's generator, ours or another package's; raises `InputError` that lists the known ones."""
    if dataset in GENERATED:
        module, _, configuration = GENERATED[dataset].partition(":")
        found = import_module(module)
        return Family(getattr(found, configuration), found.generate, _SHOWN.get(dataset, {}))
    if not is_generated(dataset):
        raise InputError(f"data set {dataset!r} has no generator; {_listed([*GENERATED, *registry.names('datasets')])}")
    made = registry.load("datasets", dataset)
    if not isinstance(made, Family):
        raise registry.PluginError(
            f"plug-in {dataset!r}: a data set is a rollout.problems.catalogue.Family, not {type(made).__name__}"
        )
    return made


def is_generated(dataset: str) -> bool:
    """Say whether there is a generator of this name, here or in another package."""
    return dataset in GENERATED or dataset in registry.names("datasets")


def _listed(names: Any) -> str:
    return f"known here: {', '.join(names)}"


def _built(configuration: type[Any], keys: Mapping[str, Setting]) -> Any:
    """Build the dataclass with its values' types checked, which YAML and a command line cannot promise."""
    from pydantic import TypeAdapter, ValidationError

    hints = get_type_hints(configuration)
    checked: dict[str, Setting] = {}
    for key, value in keys.items():
        try:
            checked[key] = TypeAdapter(hints[key]).validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, (key, *first["loc"])))
            raise ValueError(f"{place}: {first['msg']}, not {first['input']!r}") from error
    return configuration(**checked)
