"""The section that says which problems: generated, or read from a file."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, model_validator

from critics.errors import InputError
from critics.problem import Problem
from rollout.problems.catalogue import GENERATED, LANGUAGES, Split, family, is_generated
from rollout.problems.prontoqa import Form, Ontology
from training.configuration.section import Rate, Section

YamlOntology = Annotated[
    Ontology,
    BeforeValidator(lambda v: str(v).lower() if isinstance(v, bool) else v, json_schema_input_type=Ontology | bool),
]
"""YAML reads the names `true` and `false` as booleans."""


class ProblemsConfig(Section):
    """Problems to generate, or a file to read."""

    file: str | None = None
    """A file of problems, a published file, or a table of your own (docs/problems.md); of the other keys `dataset`
    alone then matters."""
    hub: str | None = None
    """A data set of the Hub in the place of a file, with its split: `yale-nlp/FOLIO:train`, under `dataset: folio`."""
    dataset: str = "prontoqa"
    """Data set that is generated (`rollout.problems.catalogue`)."""
    answers: Literal["number", "text"] | None = None
    """Free answers of a table of your own; None: numbers where all of its answers are, else true, false and options."""
    hops: list[int] = [1, 2, 3, 4, 5]
    ontologies: list[YamlOntology] = ["fictional"]
    extra_kinds: tuple[int, int] = (0, 3)
    forks: tuple[int, int] = (0, 0)
    """Least and most dead ends beside the proof's chain; with any, the opposite property ends a chain of another name,
    so that a right answer at the end of many true sentences need not be proved."""
    property_rate: Rate = 1.0
    forms: tuple[Form, ...] = ("Every", "Each", "plural")
    ordering: Literal["random", "ordered"] = "random"
    family: dict[str, Any] = {}
    """The keys of another data set's generator, as its dataclass names them; PrOntoQA's stand beside this one."""

    @model_validator(mode="after")
    def _can_be_generated(self) -> Self:
        if self.hub is not None and (self.dataset != "folio" or self.file is not None):
            raise ValueError(f"hub: {self.hub!r} needs `dataset: folio`, which alone is read from the Hub, and no file")
        own = self.dataset == "prontoqa"
        for key in ("family",) if own else _PRONTOQA_KEYS:
            if getattr(self, key) != type(self).model_fields[key].get_default(call_default_factory=True):
                raise ValueError(f"{key}: " + ("PrOntoQA's keys stand beside it" if own else "write it under family"))
        if is_generated(self.dataset):
            self._configured("train")
        elif self.source is None:
            raise ValueError(f"dataset: {self.dataset!r} has no generator; known here: {', '.join(GENERATED)}")
        return self

    @property
    def source(self) -> str | None:
        """The file or hub name that the problems are read from; None: they are generated."""
        return self.file if self.hub is None else self.hub

    @property
    def named_dataset(self) -> str | None:
        """The data set of a file where it is said; None: the file's records show it."""
        return None if self.dataset == "prontoqa" else self.dataset

    def generate(self, split: Split, num: int, *, seed: int, start: int = 0) -> Iterator[Problem]:
        """Yield problems `start` to `start + num - 1` of a split."""
        return family(self.dataset).generate(self._configured(split), num, seed=seed, start=start)

    def categories(self) -> Sequence[int]:
        """Return the categories of formulas, or the hops, that a curriculum orders; raises `InputError` without any."""
        if self.source is not None or self.dataset not in ("prontoqa", *LANGUAGES):
            raise InputError(f"first: is for generated problems of {', '.join(('prontoqa', *LANGUAGES))}")
        return self.hops if self.dataset == "prontoqa" else self._configured("train").categories

    def of_categories(self, categories: Sequence[int]) -> "ProblemsConfig":
        """Return the same for some categories of formulas, or numbers of hops."""
        if self.dataset == "prontoqa":
            return self.model_copy(update={"hops": list(categories)})
        return self.model_copy(update={"family": {**self.family, "categories": list(categories)}})

    def _configured(self, split: Split) -> Any:
        made = family(self.dataset)
        if self.dataset == "prontoqa":
            return made.configured({key: getattr(self, key) for key in _PRONTOQA_KEYS}, split)
        try:
            return made.configured(self.family, split)
        except ValueError as error:
            raise ValueError(f"family.{error}") from error


_PRONTOQA_KEYS = ("hops", "ontologies", "extra_kinds", "forks", "property_rate", "forms", "ordering")
