"""Precision and recall of `strict` and `faithful`, where nothing compares formalisations with texts.

    python -m tools.faithfulness RECORDED... --folio FILE --judged CACHE --out docs/results/faithfulness

Recorded programs (`logiclm_programs*.jsonl.gz`, their problems beside them) are judged on trust and without the gold
answer, as where there is no translator. Gold on PrOntoQA and ProofWriter: the program is certified with its translator.
Gold on FOLIO: the program's answer is the published label, which a wrong formalisation may hit. Problems whose id
hashes to an even number were for development; the other half is reported.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from critics.faithfulness.faithful import ALL_CHECKS, beside_text, concluded, findings, gather
from critics.faithfulness.finding import Finding
from critics.fol.parser import parse
from critics.fol.printing import canonical
from critics.fol.syntax import FormulaError, negated
from critics.judge import judge_on_trust, judge_record
from rollout.published.folio import load_folio
from rollout.published.recorded import load_recorded
from training.estimates import Proportion
from training.records.store import read_records, write_json, write_text

Record = dict[str, Any]
Kept = Callable[[Record], bool]
DATASETS = ("prontoqa", "proofwriter", "folio")
GOLD_CHECKED = ("prontoqa", "proofwriter")
ANNOTATED = ("as annotated", "conclusion denied")
POLARITY = "polarity_of_goal"


def judged(paths: Sequence[Path], cache: Path) -> list[Record]:
    """Return the recorded programs with `judgement` (on trust) and `is_gold`; what the cache has is not done again."""
    known = {line["id"]: line for line in read_records(cache)} if cache.exists() else {}
    found: list[Record] = []
    with cache.open("a", encoding="utf-8") as lines:
        for record in (r for path in paths for r in load_recorded(path) if r["problem"]["dataset"] in DATASETS):
            line = known.get(record["id"])
            if line is None:
                line = {"id": record["id"], **_judge(record)}
                lines.write(json.dumps(line) + "\n")
                lines.flush()
            found.append({**record, "judgement": line["trusted"], "is_gold": _is_gold(record, line)})
    return found


def _judge(record: Record) -> Record:
    blind = {**record, "problem": {**record["problem"], "answer": None}}
    checked = judge_record(blind) if record["problem"]["dataset"] in GOLD_CHECKED else None
    return {"trusted": judge_on_trust(blind), "checked": checked}


def _is_gold(record: Record, line: Record) -> bool:
    if line["checked"] is None:
        return line["trusted"]["answer"] == record["problem"]["answer"]
    return line["checked"]["verdict"] == "certified"


def is_reported(problem_id: str) -> bool:
    """Say whether a problem is in the half that nothing was chosen on."""
    return int(hashlib.sha256(problem_id.encode()).hexdigest(), 16) % 2 == 1


def measure(traces: Sequence[Record]) -> list[Record]:
    """Return a row for each data set, half, and filter: strict, faithful, and faithful without each of its checks."""
    rows: list[Record] = []
    for dataset in DATASETS:
        for half in ("development", "reported"):
            part = [t for t in traces if t["problem"]["dataset"] == dataset]
            part = [t for t in part if is_reported(t["problem"]["id"]) == (half == "reported")]
            opinions = gather(part)
            certified = [t for t in part if t["judgement"]["verdict"] == "certified"]
            found = {t["id"]: findings(t, opinions) for t in certified}
            gold = sum(t["is_gold"] for t in part)
            rows += [{"dataset": dataset, "half": half, **row} for row in _rows(certified, found, gold)]
    return rows


def _rows(certified: Sequence[Record], found: Mapping[str, Mapping[str, Finding]], gold: int) -> Iterable[Record]:
    filters: dict[str, tuple[str, ...]] = {"strict": (), "faithful": ALL_CHECKS}
    filters |= {f"faithful without {name}": tuple(c for c in ALL_CHECKS if c != name) for name in ALL_CHECKS}
    filters |= {f"{name} alone": (name,) for name in ALL_CHECKS}
    for name, checks in filters.items():
        kept = [t for t in certified if name == "strict" or _passes(found[t["id"]], checks)]
        right = sum(t["is_gold"] for t in kept)
        yield {
            "filter": name,
            "kept": len(kept),
            "precision": _shown(right, len(kept)),
            "recall": _shown(right, gold),
        }


def _passes(found: Mapping[str, Finding], checks: Sequence[str]) -> bool:
    return concluded({name: found[name] for name in checks})[0] == "passed"


def _shown(count: int, n: int) -> Record:
    proportion = Proportion(count, n)
    return {"count": count, "n": n, "rate": proportion.rate if n else None, "interval": list(proportion.interval)}


def annotated(path: Path) -> list[Record]:
    """Return what the checks beside the text say of FOLIO's annotations, as they are and with the conclusion denied."""
    counts: dict[str, dict[str, int]] = {
        name: dict.fromkeys(("passed", "failed", "nothing_applies"), 0) for name in ANNOTATED
    }
    counts |= {f"{name}: {POLARITY}": dict.fromkeys(("pass", "fail", "not applicable"), 0) for name in ANNOTATED}
    for problem in load_folio(path):
        try:
            premises = [canonical(parse(f).formula) for f in problem.meta["premises_fol"]]
            goal = parse(problem.meta["conclusion_fol"]).formula
        except FormulaError:
            continue
        shown = replace(problem, meta={}).record()
        for name, conclusion in zip(ANNOTATED, (goal, negated(goal)), strict=True):
            text = "\n".join(["Premises:", *premises, "Conclusion:", canonical(conclusion)])
            found = beside_text({"id": problem.id, "problem": shown, "format": "fol", "completion": text})
            counts[name][concluded(found)[0]] += 1
            counts[f"{name}: {POLARITY}"][found[POLARITY].word] += 1
    return [{"formalisation": name, **count} for name, count in counts.items()]


def table(rows: Sequence[Record], formulas: Sequence[Record]) -> str:
    """Return the results in Markdown: strict and faithful on the reported half, then the ablation, then FOLIO's."""
    lines = ["| data set | half | filter | kept | precision (95%) | recall (95%) |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {r['dataset']} | {r['half']} | {r['filter']} | {r['kept']} | "
        f"{_cell(r['precision'])} | {_cell(r['recall'])} |"
        for r in sorted(rows, key=lambda r: (r["filter"] not in ("strict", "faithful"), r["half"] == "development"))
        if r["half"] == "reported" or r["filter"] in ("strict", "faithful")
    ]
    lines += ["", "FOLIO's annotated formulas beside their text (no agreement, nothing judged):", ""]
    lines += [f"- {row['formalisation']}: " + ", ".join(f"{k} {v}" for k, v in row.items() if k != "formalisation")
              for row in formulas]  # fmt: skip
    return "\n".join(lines) + "\n"


def _cell(value: Record) -> str:
    if value["rate"] is None:
        return "none kept"
    low, high = value["interval"]
    return f"{value['count']}/{value['n']} = {value['rate']:.1%} ({low:.1%} to {high:.1%})"


def main() -> None:
    """Measure and write `faithfulness.json` and `table.md`."""
    from training.lineage.provenance import commit

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recorded", nargs="+", type=Path)
    parser.add_argument("--folio", type=Path, required=True)
    parser.add_argument("--judged", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    inputs = [*asked.recorded, asked.folio]
    traces = judged(asked.recorded, asked.judged)
    rows, formulas = measure(traces), annotated(asked.folio)
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs}
    provenance = {
        "commit": commit(),
        "inputs": digests,
        "programs": len(traces),
        "split": "SHA-256 of the problem's id",
    }
    write_json(asked.out / "faithfulness.json", {"rows": rows, "annotated": formulas, "provenance": provenance})
    write_text(asked.out / "table.md", table(rows, formulas))


if __name__ == "__main__":
    main()
