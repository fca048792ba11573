"""`problems`: generated, or converted from a published file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, get_args

import typer

from critics.errors import InputError
from critics.problem import Problem
from rollout.problems.catalogue import Split, family
from rollout.problems.prontoqa import Ontology
from training.commands.options import Json, Out, Seed, say, say_or_print
from training.configuration.section import read_override
from training.records.store import write_new_records

EVERY = "autoeval-all"
PAPERS = ("autoeval-3cnf", "autoeval-pl", "autoeval-fol", "autoeval-fol-english", "autoeval-re")
"""AutoEval's own data sets, in the order of its figures."""
EXAMPLE = "certistar problems prontoqa --num 200 --hops 1,2,3 --out problems.jsonl"


def problems(
    name: Annotated[str, typer.Argument(help="prontoqa, proofwriter, syllogism, wason, ..: docs/problems.md.")],
    out: Out,
    num: Annotated[
        int | None, typer.Option("--num", min=1, help="How many to generate (200), or to draw of a file (all).")
    ] = None,
    seed: Seed = 0,
    hops: Annotated[str | None, typer.Option("--hops", help="PrOntoQA's hop counts, e.g. 1,2,3.")] = None,
    ontology: Annotated[
        str | None, typer.Option("--ontology", help="PrOntoQA's: fictional, false and true, by commas.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="pretrain, train, develop or test.")] = "train",
    ordered: Annotated[bool, typer.Option("--ordered", help="Do not shuffle PrOntoQA's statements.")] = False,
    source: Annotated[Path | None, typer.Option("--from", help="Convert a published file instead.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A key of the generator, e.g. depths=[1,2].")
    ] = None,
    as_json: Json = False,
) -> None:
    """Generate problems of a data set, or convert a published file to problem records."""
    if source is not None:
        from rollout.published.loaders import load_published
        from training.rounds.problems import drawn

        listed = drawn(list(load_published(source, name)), num, seed)
    else:
        keys = _prontoqa_keys(name, hops, ontology, ordered) | dict(
            read_override(each, "depths=[1,2]") for each in settings or ()
        )
        (split_,) = _words(split, get_args(Split), "--split")
        try:
            names = PAPERS if name == EVERY else (name,)
            configurations = {own: family(own).configured(keys, split_) for own in names}  # type: ignore[arg-type]
        except ValueError as error:
            raise InputError(f"problems {name}: {error}") from error
        listed = [p for own, made in configurations.items() for p in family(own).generate(made, num or 200, seed=seed)]
    records = [problem.record() for problem in listed]
    write_new_records(out, records)
    say_or_print(f"{len(records)} problems in {out}", {"problems": len(records), "out": str(out)}, as_json)
    _say_what_they_are(name, listed)


def _say_what_they_are(name: str, listed: Sequence[Problem]) -> None:
    """Say FOLIO's logic classes, and of what nothing can be certified."""
    unformalised = sum(problem.formal is None for problem in listed)
    if name == "folio":
        from rollout.published.logic_forms import class_coverage

        shares = ", ".join(f"{kind} {num}" for kind, num in class_coverage(listed).items())
        say(f"problems with statements of each logic class: {shares}")
    elif unformalised:
        say(f"{unformalised} of them have no formalisation: no guided proof of theirs can be certified")


def _prontoqa_keys(
    name: str, hops: str | None, ontology: str | None, ordered: bool
) -> dict[str, str | tuple[str, ...] | tuple[int, ...]]:
    """Return what PrOntoQA's own options ask for; raises `InputError` where they are given for another data set."""
    keys: dict[str, str | tuple[str, ...] | tuple[int, ...]] = {"ordering": "ordered"} if ordered else {}
    if ontology is not None:
        keys["ontologies"] = _words(ontology, get_args(Ontology), "--ontology")
    if hops is not None:
        if not all(part.strip().isdigit() for part in hops.split(",")):
            raise InputError(f"--hops {hops!r}: write numbers by commas, such as 1,2,3")
        keys["hops"] = tuple(int(part) for part in hops.split(","))
    if keys and name != "prontoqa":
        raise InputError(f"problems {name}: --hops, --ontology and --ordered are PrOntoQA's; write --set KEY=VALUE")
    return keys


def _words(value: str, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    words = tuple(part.strip() for part in value.split(","))
    for word in words:
        if word not in known:
            raise InputError(f"{option} {word!r}: must be one of {', '.join(known)}")
    return words
