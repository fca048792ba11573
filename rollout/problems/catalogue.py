"""Every data set that can be generated, by the name that its problems carry."""

import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_type_hints

from critics import plugins
from critics.errors import InputError
from critics.problem import Problem
from rollout.formulas import generator, languages
from rollout.problems import (
    controlled_english,
    deductions,
    deontiqa,
    knights,
    prontoqa,
    proofwriter,
    syllogism,
    wason,
    zebra,
)
from rollout.records.splits import Split


@dataclass(frozen=True, slots=True)
class Family:
    """A generator: its configuration, a frozen dataclass with a `split`, and what makes problems of one."""

    configuration: type[Any]
    generate: Callable[..., Iterator[Problem]]
    """Called as `generate(configuration, num, seed=.., start=..)`."""
    shown: Mapping[str, object] = field(default_factory=dict[str, object])
    """Keys of problems small enough to be shown, solved, in a prompt."""

    def configured(self, keys: Mapping[str, object], split: Split) -> Any:
        """Return the configuration with the given keys; raises `ValueError` that names a bad key and the remedy."""
        known = [f.name for f in fields(self.configuration) if f.name != "split"]
        for key in keys:
            if key not in known:
                near = difflib.get_close_matches(key, known, n=1)
                raise ValueError(f"{key}: is not known; " + (f"did you mean {near[0]!r}?" if near else _listed(known)))
        return _built(self.configuration, {**keys, "split": split})


FAMILIES: Mapping[str, Family] = {
    "prontoqa": Family(prontoqa.PrOntoQA, prontoqa.generate, {"hops": (2, 3), "extra_kinds": (1, 2)}),
    "proofwriter": Family(
        proofwriter.ProofWriter,
        proofwriter.generate,
        {"depths": (1, 2), "facts": (3, 4), "extra_rules": (1, 2)},
    ),
    "prontoqa-ood": Family(deductions.Deductions, deductions.generate, {"hops": (2,)}),
    "syllogism": Family(syllogism.Syllogisms, syllogism.generate),
    "wason": Family(wason.SelectionTasks, wason.generate),
    "knights": Family(knights.KnightsAndKnaves, knights.generate, {"people": (2, 3)}),
    "zebra": Family(zebra.ZebraPuzzles, zebra.generate, {"houses": (2, 3), "lists": (2,)}),
    "controlled-english": Family(controlled_english.ControlledEnglish, controlled_english.generate),
    "deontiqa": Family(
        deontiqa.DeontiQA,
        deontiqa.generate,
        {"levels": (1, 2), "extra_facts": (1, 2), "extra_rules": (1, 2)},
    ),
}
LANGUAGES: Mapping[str, Family] = {
    configuration.name: Family(configuration, generator.generate)
    for configuration in (
        languages.PropositionalFormulas,
        languages.ThreeCnfFormulas,
        languages.FirstOrderFormulas,
        languages.EnglishFirstOrderFormulas,
        languages.RegularExpressions,
        languages.OwnGrammar,
    )
}
"""Formal languages: their problems ask for a round trip, which is no question that a prompt could show solved."""
GENERATED: Mapping[str, Family] = {**FAMILIES, **LANGUAGES}


def family(dataset: str) -> Family:
    """Return a data set's generator, ours or another package's; raises `InputError` that lists the known ones."""
    if dataset in GENERATED:
        return GENERATED[dataset]
    if not is_generated(dataset):
        raise InputError(f"data set {dataset!r} has no generator; {_listed([*GENERATED, *plugins.names('datasets')])}")
    found = plugins.load("datasets", dataset)
    if not isinstance(found, Family):
        raise plugins.PluginError(
            f"plug-in {dataset!r}: a data set is a rollout.problems.catalogue.Family, not {type(found).__name__}"
        )
    return found


def is_generated(dataset: str) -> bool:
    """Say whether there is a generator of this name, here or in another package."""
    return dataset in GENERATED or dataset in plugins.names("datasets")


def _listed(names: Any) -> str:
    return f"known here: {', '.join(names)}"


def _built(configuration: type[Any], keys: Mapping[str, object]) -> Any:
    """Build the dataclass with its values' types checked, which YAML and a command line cannot promise."""
    from pydantic import TypeAdapter, ValidationError

    hints = get_type_hints(configuration)
    checked: dict[str, object] = {}
    for key, value in keys.items():
        try:
            checked[key] = TypeAdapter(hints[key]).validate_python(value)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, (key, *first["loc"])))
            raise ValueError(f"{place}: {first['msg']}, not {first['input']!r}") from error
    return configuration(**checked)
