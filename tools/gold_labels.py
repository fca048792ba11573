"""Audits the gold labels of every data set that this project reads, for `docs/results/gold-labels`.

    python -m tools.gold_labels DIR --out docs/results/gold-labels [--num 200] [--seed 0] [--jobs 2] [--only NAME]...

DIR holds the published files. A source that is audited already, by the same settings, is left as it is. Of the wrong
labels the first are written out.
"""

import argparse
import json
from pathlib import Path

from critics.judge import JudgePool
from tools.deontiqa.convert import load_deontiqa
from training.commands.audit_data import figures
from training.exchange.gold_labels import GYM, audited, read_labelled
from training.exchange.rationales import Reading
from training.records.store import write_json, write_records, write_text

FILES = {
    "prontoqa": ("prontoqa_seed19_1to5hop.jsonl.gz", "prontoqa"),
    "prontoqa-dev": ("prontoqa_dev_partA.jsonl.gz", "prontoqa"),
    "prontoqa-ood": ("prontoqa_ood_seed2026.jsonl.gz", "prontoqa-ood"),
    "proofwriter-train": ("proofwriter_train.jsonl.gz", "proofwriter"),
    "proofwriter-dev": ("proofwriter_dev_partA.jsonl.gz", "proofwriter"),
    "syllogism": ("syllogisms.jsonl.gz", "syllogism"),
    "wason": ("wason.jsonl.gz", "wason"),
    "deontiqa": ("deontiqa.jsonl.gz", "deontiqa"),
    "logicaldeduction": ("logicaldeduction_partA.jsonl.gz", "logicaldeduction"),
    "ar-lsat": ("arlsat_train.jsonl.gz", "ar-lsat"),
    "folio-validation": ("folio_validation_partA.jsonl", "folio"),
    "folio-train": ("folio_train.jsonl.gz", "folio"),
}
"""File and data set of each source."""
LISTED = 20
"""Wrong labels that are written out."""


def main() -> None:
    """Audit each source, and write its figures and the table of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--num", type=int, default=None, help="how many labels of each file, drawn by the seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--gym", type=int, default=5000, help=f"how many syllogisms of {GYM}; 0: none")
    parser.add_argument("--only", action="append", choices=[*FILES, GYM])
    given = parser.parse_args()
    chosen = given.only or [*FILES, *([GYM] if given.gym else [])]
    with JudgePool(jobs=given.jobs, timeout_s=60.0) as pool:
        for name in chosen:
            file, dataset = FILES.get(name, (f"{GYM}:syllogism", None))
            source = str(given.folder / file) if dataset else file
            if name == "deontiqa":
                problems = [problem.record() for problem in load_deontiqa(source)]
                source = str(given.out / "deontiqa-problems.jsonl")
                write_records(Path(source), problems)
            num = given.num if dataset else given.gym
            path = given.out / f"{name}.json"
            settings = {"num": num, "seed": given.seed, "quick": True}
            if path.exists() and json.loads(path.read_text(encoding="utf-8"))["settings"] == settings:
                continue
            labelled = read_labelled(source, Reading(dataset=dataset), num, given.seed, None)
            found = figures(audited(labelled.problems, pool.judge, quick=True), labelled, Path(source).name)
            wrong = found["wrong"]
            assert isinstance(wrong, list)
            write_json(path, {**found, "num_wrong": len(wrong), "wrong": wrong[:LISTED], "settings": settings})
            write_text(given.out / "table.md", table(given.out))


def table(folder: Path) -> str:
    """Return the table of all sources that are audited."""
    lines = [
        "| source | labels | checked | right | wrong | by reading | not checked | wrong of checked (95%) |",
        "| --- | --: | --: | --: | --: | --: | --: | --- |",
    ]
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        low, high = found["rate"]["interval"]
        rate = f"{found['rate']['rate']:.1%} ({low:.1%} to {high:.1%})" if found["checked"] else "-"
        counts = (found[key] for key in ("labels", "checked", "agree", "num_wrong", "by_reading", "not_checked"))
        lines.append(f"| {path.stem} | {' | '.join(map(str, counts))} | {rate} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
