"""Statistics of a generated data set, beside what AutoEval's paper says of its own (appendices D and M)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from critics.formats.equivalence.language import Language
from critics.problem import Problem
from critics.replay.first_order.parser import parse
from rollout.formulas.sameness import is_constant, names_key
from training.autoeval.scores import STRATA, value_of
from training.outcomes import Record

PAPER: Mapping[str, str] = {
    "autoeval-pl": "about 20,000 in 10 batches of 50 a category; 90% (17.7k) are different once all names are one",
    "autoeval-3cnf": "about 10,000 in 10 batches of 50 a category; 85% (8,550) are different once all names are one",
    "autoeval-fol": "about 19,000 in 10 batches of 50 a category",
    "autoeval-fol-english": "about 19,000 in 10 batches of 50 a category",
    "autoeval-re": "about 20,000 in 10 batches of 50 a category; less than 10% have more than 7 states or edges",
}
"""Sizes in section 3.3.1 and appendices E, I and M, which say nothing of binding quantifiers, constants or repeats."""
LARGE = 7
"""States or edges beyond which the paper calls an automaton rare."""
_NAMES = (
    (re.compile(r"\b([a-z]+)\d+\b"), r"\1"),
    (re.compile(r"\b[a-z]+\("), "pred("),
    (re.compile(r"\b[A-Z]\w*"), "p"),
)
"""Numbered names, and English ones: verbs before their arguments, first names."""


def statistics_of(problems: Sequence[Problem], categories: Sequence[int] = ()) -> Record:
    """Return the statistics of one data set's formulas.

    `short`: how many there are of categories that have fewer than their share, of those that were asked for;
    `by_metric`: how many have each value of a metric (appendix I, figures 9 and 10). Of formulas also shares by the
    number of `quantifiers`, and of those that bind something.
    """
    texts = [problem.formal.goal for problem in problems if problem.formal is not None]
    counts = Counter(dict.fromkeys(categories, 0))
    counts.update(problem.meta["category"] for problem in problems)
    is_regex = Language(problems[0].meta["language"]) is Language.REGEX
    shares: Record = {}
    if any("binding" in problem.meta for problem in problems) and not is_regex:
        for key in ("quantifiers", "binding"):
            found = Counter(problem.meta.get(key, 0) for problem in problems)
            shares[key] = {str(value): count / len(problems) for value, count in sorted(found.items())}
    by_metric: Record = {}
    for by in ("operators", *STRATA):
        values = Counter(value for problem in problems if (value := value_of(problem, by)) is not None)
        if len(values) > 1:
            by_metric[by] = {str(value): n for value, n in sorted(values.items())}
    return {
        "n": len(texts),
        "categories": len(counts),
        "fewest_in_one": min(counts.values()),
        "most_in_one": max(counts.values()),
        "short": {str(c): n for c, n in sorted(counts.items()) if n < len(texts) // len(counts)},
        "repeats": len(texts) - len(set(texts)),
        **(_automata(problems) if is_regex else _texts(texts)),
        **shares,
        "by_metric": by_metric,
    }


def _texts(texts: Sequence[str]) -> Record:
    """Return what is constant or repeated, which is sought and not taken on trust.

    `skeletons` is the share of different texts once all names are one, as the paper counts it.
    """
    # As they are written: in which models a formula is looked at depends on its names, capitals included.
    formulas, skeletons = [parse(text).formula for text in texts], list(texts)
    for names, one in _NAMES:
        skeletons = [names.sub(one, text) for text in skeletons]
    return {
        "repeats_but_for_names": len(formulas) - len(set(map(names_key, formulas))),
        "constant": sum(map(is_constant, formulas)),
        "skeletons": len(set(skeletons)) / len(texts),
    }


def _automata(problems: Sequence[Problem]) -> Record:
    """Return the sizes of minimal automata; `large` is the share with more than `LARGE` states or edges."""
    sized = [problem.meta for problem in problems if problem.meta.get("states") is not None]
    states = sorted(meta["states"] for meta in sized)
    large = sum(max(meta["states"], meta["edges"]) > LARGE for meta in sized)
    return {"median_states": states[len(states) // 2], "most_states": states[-1], "large": large / len(sized)}


def said(dataset: str, found: Record) -> list[str]:
    """Return the statistics as lines for people, the paper's last."""
    least, most = found["fewest_in_one"], found["most_in_one"]
    lines = [f"{found['n']} in {found['categories']} categories, {least} to {most} in each; {found['repeats']} repeats"]
    if found["short"]:
        short = ", ".join(f"{category} ({n})" for category, n in found["short"].items())
        lines.append(f"categories that have no more formulas: {short}")
    if "large" in found:
        lines.append(
            f"minimal automata: median {found['median_states']} states, at most {found['most_states']}; "
            f"{found['large']:.0%} have more than {LARGE} states or edges"
        )
    else:
        lines.append(
            f"{found['repeats_but_for_names']} repeats but for names and order; {found['constant']} not seen both to "
            f"hold and to fail; with one name for all, {found['skeletons']:.0%} are different texts"
        )
    if "binding" in found:
        shares = ", ".join(f"{number}: {share:.0%}" for number, share in found["binding"].items())
        lines.append(f"quantifiers that bind something: {shares}")
    return [*lines, f"the paper's: {PAPER[dataset]}"] if dataset in PAPER else lines


def describe(file: Path, figure: Path | None) -> None:
    """Print what each data set in a file is made of, and draw figures 9 and 10 where asked to."""
    from tools.autoeval.figures import counts_figure
    from training.records.store import write_text
    from training.rounds.problems import read_problems

    listed = list(read_problems(file))
    found = {name: statistics_of([p for p in listed if p.dataset == name]) for name in {p.dataset: 0 for p in listed}}
    for name, own in found.items():
        print(f"{name}:", *said(name, own), sep="\n  ")
        print(f"  by_metric: {', '.join(own['by_metric'])}")
    if figure is not None:
        write_text(figure, counts_figure({name: own["by_metric"] for name, own in found.items()}))
