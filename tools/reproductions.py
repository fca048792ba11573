"""Every figure and table of the five papers beside what makes it here: docs/papers/results.md, from a catalogue.

    python -m tools.reproductions            writes the page

A measured number is read from the result file that a run wrote, or computed from a paper's own tables; the catalogue
holds none.
"""

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from tools.autoeval.predicts import Table, correlation, predictive_power, published
from tools.capacity import Store, Workload, a100, cost
from training.configuration.section import Section, read_yaml, validated
from training.outcomes import Proportion

ROOT = Path(__file__).parents[1]
CATALOGUE = ROOT / "configs" / "papers" / "catalogue.yaml"
PAGE = ROOT / "docs" / "papers" / "results.md"
PREAMBLE = (
    "# The papers' results, and ours",
    "",
    "Written by `python -m tools.reproductions` from `configs/papers/catalogue.yaml` and from the files",
    "in `docs/results`. No large model could be loaded where this was written, and nothing was measured on a GPU:",
    "what stands under *here* comes from tiny models that the project makes itself, so compare directions and not",
    "heights. Hours are estimates from a data sheet (see [scaling](../results/scaling/README.md)).",
)
PROMPT_TOKENS = 1_500
"""Length of a few-shot prompt, for the estimate of hours."""


class Needs(Section):
    """Needs of a run; hours are estimated from it, for A100s."""

    gpus: Annotated[int, Field(ge=0)]
    attempts: int = 0
    tokens: int = 0
    """Length of a completion."""
    parameters: float = 0
    epochs: int = 0
    """Over what is kept; 0 where nothing is trained."""

    def said(self) -> str:
        """Return a sentence for people."""
        if not self.gpus:
            return "no GPU"
        return f"{self.gpus} x A100 80 GB, about {max(self.hours(), 0.1):.1f} h, {self.parameters / 1e9:.0f} B model"

    def hours(self) -> float:
        """Return hours by the cost model of docs/results/scaling: an estimate from the data sheet."""
        work = Workload(prompt_tokens=PROMPT_TOKENS, completion_tokens=self.tokens)
        found = cost(
            work, a100(self.parameters, 32), Store(), attempts=self.attempts, workers=self.gpus, kept=0.4,
            epochs=self.epochs,
        )  # fmt: skip
        return (found.sampling_s + found.training_s) / 3600


class FinalRate(Section):
    """An arm's rate before training and after its last round, out of a report.json."""

    file: str
    arm: str
    metric: Literal["accuracy", "certified"]

    def said(self) -> str:
        """Return the two rates, the last with its interval."""
        rounds = _read(self.file)["arms"][self.arm]["rounds"]
        first, last = rounds[0], rounds[-1]
        low, high = last[f"{self.metric}_interval"]
        return (
            f"{self.arm}, {self.metric}: {first[self.metric]:.1%} -> {last[self.metric]:.1%} "
            f"({low:.1%} to {high:.1%}, n = {last['n']})"
        )


class Difference(Section):
    """Difference of two arms, out of a report.json."""

    file: str
    a: str
    b: str
    metric: Literal["accuracy", "gain", "certified"]

    def said(self) -> str:
        """Return the paired difference with its interval."""
        wanted = (self.a, self.b, self.metric)
        found = next(c for c in _read(self.file)["comparisons"] if (c["a"], c["b"], c["metric"]) == wanted)
        low, high = found["interval"]
        return (
            f"{self.a} - {self.b}, {self.metric}: {found['difference'] * 100:+.1f} points "
            f"({low * 100:+.1f} to {high * 100:+.1f}, n = {found['n']})"
        )


class DatasetRate(Section):
    """A mode's rate on a data set, out of what `certistar evaluate --json` wrote."""

    file: str
    mode: str
    dataset: str
    metric: Literal["right", "certified"]

    def said(self) -> str:
        """Return the rate with its interval."""
        found = _read(self.file)[self.mode]["by_dataset"][self.dataset]
        rate = Proportion(found[self.metric], found["n"])
        low, high = rate.interval
        return f"{self.mode}, {self.metric}: {rate.rate:.1%} ({low:.1%} to {high:.1%}, n = {rate.n})"


def published_tables() -> dict[str, tuple[Table, Table]]:
    """Return the paper's pairs of tables, AutoEval's first."""
    scores = {name: table["scores"] for name, table in published().items() if "scores" in table}
    return {
        name: ({model: row[0] for model, row in rows.items()}, {model: row[1] for model, row in rows.items()})
        for name, rows in scores.items()
    }


class FromTables(Section):
    """Statistic of the AutoEval paper's own tables."""

    benchmark: str
    statistic: Literal["correlation", "predictive_power"]

    def said(self) -> str:
        """Return the statistic with its interval."""
        compute = correlation if self.statistic == "correlation" else predictive_power
        found = compute(*published_tables()[self.benchmark])
        value = found["rho" if self.statistic == "correlation" else "power"]
        low, high = found["interval"]
        return f"{self.benchmark}: {value:.2f} ({low:.2f} to {high:.2f}, {found['n']} models)"


class Output(Section):
    """A file that a command leaves, and what has to stand in it."""

    file: str
    """As the command names it, or below a folder that it names; `-` is what the command prints."""
    rows: tuple[str, ...] = ()
    """First cells of a table; keys of a JSON file, by dots; words of a figure or a page."""
    columns: tuple[str, ...] = ()
    """Headings of a table; keys below each of the rows; words of a figure or a page."""


class Grid(Section):
    """The paper's own grid: where each cell of ours stands in a file, and the paper's numbers."""

    file: str
    section: str | None = None
    """Title above the Markdown table, where a file has several with such columns."""
    rows: dict[str, str]
    """The paper's label of each row, and cells of our line, `a | b`; of JSON a path, by slashes."""
    columns: dict[str, str]
    """The paper's heading, and ours, `HEADING @ more cells of the line`; of JSON the rest of the path."""
    shares: bool = False
    """Numbers of a JSON file are shares of one."""
    paper: dict[str, list[list[float | None]]] = Field(default_factory=dict[str, list[list[float | None]]])
    """The paper's numbers, by its models, row by row; none where it has a drawing alone."""

    @model_validator(mode="after")
    def _fits(self) -> "Grid":
        sizes = {(len(cells), *{len(row) for row in cells}) for cells in self.paper.values()}
        if sizes - {(len(self.rows), len(self.columns))}:
            raise ValueError(f"{self.file}: write {len(self.rows)} rows of {len(self.columns)} numbers for each model")
        return self


class Item(Section):
    """A figure or table, or several that one command makes: the command, or the reason why there is none."""

    paper: str
    item: str
    """Begins with the paper's numbers: `figure 3, PrOntoQA`, `tables 8 to 14`."""
    what: str
    theirs: str
    config: str | None = None
    command: str | None = None
    """One command that ends in the figure or table."""
    then: str | None = None
    """A second command, behind it."""
    inputs: Annotated[dict[str, str], Field(default_factory=dict)]
    """Files that the command reads, and which data set each is of."""
    outputs: tuple[Output, ...] = ()
    grid: Grid | None = None
    """None where the paper's is a drawing, or counts alone."""
    toy: str = ""
    """Options behind the command that make it small enough for the rehearsal of tests/rehearsal."""
    quick: bool = False
    """Rehearsed with the quick tests."""
    lacks: str | None = None
    """Parts of the paper's figure or table that the command does not produce yet."""
    cannot: str | None = None
    needs: Needs = Needs(gpus=0)
    ours: tuple[FinalRate | Difference | DatasetRate | FromTables, ...] = ()
    why_not: str | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _says_what_came_of_it(self) -> "Item":
        if bool(self.command) == bool(self.cannot):
            raise ValueError(f"{self.paper}, {self.item}: write either `command` or `cannot`")
        if self.command and not self.outputs:
            raise ValueError(f"{self.paper}, {self.item}: name the `outputs` of the command")
        if [bool(self.ours), bool(self.why_not), bool(self.cannot)].count(True) != 1:
            raise ValueError(f"{self.paper}, {self.item}: write either `ours` or `why_not`, or `cannot` alone")
        return self

    @property
    def name(self) -> str:
        """How `certistar reproduce` calls it: `autoeval/figure-6`."""
        return f"{self.paper}/{re.sub(r'[^a-z0-9]+', '-', self.item.lower())}"

    @property
    def numbers(self) -> list[str]:
        """Figures and tables that the item is about, each by itself: `figure 3`."""
        found: list[str] = []
        for kind, listed in _NUMBERED.findall(self.item):
            for first, last in _RANGE.findall(listed):
                found += [f"{kind} {number}" for number in range(int(first), int(last or first) + 1)]
        return found


_NUMBERED = re.compile(r"\b(figure|table)s? (\d+(?:(?:, | and | to )\d+)*)")
_RANGE = re.compile(r"(\d+)(?: to (\d+))?")


class Paper(Section):
    """A paper: how many figures and tables it has, and which of them hold no results."""

    title: str
    figures: int
    tables: int
    drawings: tuple[str, ...]
    """Drawings, prompts and printed examples: nothing is measured in them."""

    @property
    def numbers(self) -> set[str]:
        """Every figure and table that holds results."""
        return {
            f"{kind} {number}"
            for kind, last in (("figure", self.figures), ("table", self.tables))
            for number in range(1, last + 1)
        } - set(self.drawings)


class Catalogue(Section):
    """All papers, and every figure and table of theirs that holds results."""

    papers: dict[str, Paper]
    items: list[Item]
    inputs: dict[str, str] = Field(default_factory=dict[str, str])
    """For each kind of input the command that makes it, or where to get it."""

    @model_validator(mode="after")
    def _names_everything(self) -> "Catalogue":
        strange = {item.paper for item in self.items} - self.papers.keys()
        if strange:
            raise ValueError(f"items name papers that are not listed: {', '.join(sorted(strange))}")
        for name, paper in self.papers.items():
            found = {number for item in self.items if item.paper == name for number in item.numbers}
            if found != paper.numbers:
                raise ValueError(f"{name}: no item, or one too many, for {', '.join(sorted(found ^ paper.numbers))}")
        return self


def catalogue(path: Path = CATALOGUE) -> Catalogue:
    """Read the catalogue; raises `ConfigError` that names the key."""
    return validated(Catalogue, read_yaml(path), [], path)


def page(found: Catalogue) -> str:
    """Return the page as Markdown."""
    lines = [*PREAMBLE]
    for key, paper in found.papers.items():
        lines += ["", f"## {paper.title}", ""]
        for item in found.items:
            if item.paper == key:
                lines += [*_shown(item), ""]
        lines.pop()
    return "\n".join(lines) + "\n"


def _shown(item: Item) -> list[str]:
    lines = [f"### {item.item[0].upper()}{item.item[1:]}: {item.what}", "", f"- **There:** {item.theirs}."]
    if item.command is None:
        return [*lines, f"- **Not to be had:** {item.cannot}."]
    both = f"`{item.command}`" + (f", then `{item.then}`" if item.then else "")
    lines.append(f"- **Run it:** `certistar reproduce {item.name}` ({item.needs.said()}), which is {both}.")
    if item.inputs:
        files = ", ".join(f"`{name}` ({dataset})" for name, dataset in item.inputs.items())
        lines.append(f"- **It reads:** {files}.")
    if item.lacks:
        lines.append(f"- **It lacks:** {item.lacks}.")
    if item.why_not:
        return [*lines, f"- **Here:** not run: {item.why_not}."]
    measured = [f"    - {number.said()}" for number in item.ours]
    return [*lines, f"- **Here:** {item.note}." if item.note else "- **Here:**", *measured]


def _read(name: str) -> dict[str, Any]:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(catalogue()), encoding="utf-8")
