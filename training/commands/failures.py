"""`failures`: why programs that run are wrong, by a model's opinion, and a sheet on which people check it."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from critics.errors import InputError
from training.commands.messages import say
from training.commands.options import Adapter, Config, Json, Out, Overrides, Seed

if TYPE_CHECKING:
    from rollout.policies.policy import ChatPolicy
    from rollout.programs.failures import Label
    from training.reporting.label_sheets import SheetRow

EXAMPLE = "certistar failures configs/z3_refinement.yaml attempts.jsonl --out labels.jsonl --sheet sheet.csv"


def failures(
    config: Config,
    file: Annotated[Path, typer.Argument(help="Attempts or traces as JSON lines.", show_default=False)],
    out: Out,
    sheet: Annotated[
        Path | None,
        typer.Option("--sheet", help="Write a CSV sheet that people fill in; models' labels are not on it."),
    ] = None,
    num: Annotated[int, typer.Option("--num", min=1, help="Rows of the sheet.")] = 50,
    labelled: Annotated[
        Path | None, typer.Option("--labelled", help="Instead: how far a sheet that was filled in agrees with --out.")
    ] = None,
    problems: Annotated[
        list[Path] | None, typer.Option("--problems", help="Of recorded programs without theirs (repeatable).")
    ] = None,
    adapter: Adapter = None,
    seed: Seed = 0,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Have a model say which kind of mistake made each program wrong that runs; no critic believes what it says."""
    from rollout.programs.failures import SCHEMES, label_attempts
    from rollout.records.sampling import batches
    from rollout.records.traces import read_judgement
    from training.commands.attempts import judging, read_attempts
    from training.configuration.run import ArmConfig, load_run
    from training.configuration.strategies import SingleConfig
    from training.records.store import write_records
    from training.reporting.label_sheets import SheetRow, chosen, write_sheet
    from training.workers.policy import quiet_policy

    if labelled is not None:
        _compare(out, labelled, as_json)
        return
    sheets = {} if sheet is None else _sheets(sheet)
    loaded, given = load_run(config, overrides), read_attempts(file, problems)
    judgements = list(map(read_judgement, judging(1, 10.0)(dict(each.record) for each in given)))
    reader = ArmConfig(name="failures", keep="unfiltered", decoding="free", strategy=SingleConfig(name="cot"))
    policy = cast("ChatPolicy", quiet_policy(loaded, reader, adapter))
    sampling, size = loaded.sampling.sampling("free", samples=1), loaded.evaluation.batch_size
    attempts = [(each.attempt, judged) for each, judged in zip(given, judgements, strict=True)]
    labels: list[Label] = []
    for batch in batches(attempts, size):
        labels += label_attempts(policy, batch, sampling, seed=seed)
    write_records(out, (label.record() for label in labels))
    models = [str(each.record.get("model") or "") for each in given]
    rows = [SheetRow(attempt, judged.answer, model) for (attempt, judged), model in zip(attempts, models, strict=True)]
    for scheme, path in sheets.items():
        if own := [label.id for label in labels if label.scheme == scheme]:
            write_sheet(path, SCHEMES[scheme], rows, chosen(own, num, seed=seed))
    _say(labels, rows, as_json)


def _sheets(sheet: Path) -> dict[str, Path]:
    """Return a new file for each question; that about translations is the one that was named."""
    from rollout.programs.failures import SCHEMES, TRANSLATION

    sheets = {n: sheet if n == TRANSLATION.name else sheet.with_stem(f"{sheet.stem}-{n}") for n in SCHEMES}
    for path in sheets.values():
        if path.exists():
            raise InputError(f"{path}: is there already, and somebody may have filled it in; name another --sheet")
    return sheets


def _say(labels: Sequence["Label"], rows: Sequence["SheetRow"], as_json: bool) -> None:
    of = {row.attempt.id: (row.attempt.problem.dataset, row.model or "") for row in rows}
    counts = Counter((*of[label.id], label.label) for label in labels)
    if as_json:
        keys = ("dataset", "model", "label", "count")
        told = [dict(zip(keys, (*names, count), strict=True)) for names, count in sorted(counts.items())]
        print(json.dumps({"attempts": len(rows), "labelled": len(labels), "labels": told}))
        return
    say(f"{len(labels)} of {len(rows)} programs run and are wrong, or leave open which option they mean")
    for (dataset, model, label), count in sorted(counts.items()):
        say(f"{' '.join(filter(None, (dataset, model)))}: {label.replace('_', ' ')} {count}")


def _compare(out: Path, labelled: Path, as_json: bool) -> None:
    """Print how far the labels of a sheet agree with the model's."""
    from rollout.programs.failures import SCHEMES
    from training.records.store import read_records
    from training.reporting.label_sheets import agreement, read_sheet

    labels = list(read_records(out))
    scheme = next((name for name in SCHEMES if any(label.get("scheme") == name for label in labels)), None)
    if scheme is None:
        raise InputError(f"{out}: holds no labels; it must be what `certistar failures --out` wrote")
    said = {str(label["id"]): str(label["label"]) for label in labels}
    found = agreement(said, read_sheet(labelled, SCHEMES[scheme]))
    if as_json:
        print(json.dumps(found))
        return
    kappa = "unknown" if found["kappa"] is None else f"{found['kappa']:.2f}"
    say(f"{found['agreed']} of {found['n']} labels agree, Cohen's kappa {kappa}")
