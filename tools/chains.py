"""Counts the chains of thought of real models that are certified and kept by `strict`, among right and wrong answers.

Of the certified ones it also counts those that are explicit: the premises of each step are said before it; and of the
others those of which an excerpt is certified, the text without what nobody reads.

    python -m tools.chains [--shared ../shared] [--half odd|even|all] [--part proofwriter|folio|prontoqa-ood|attacks]
                           [--write FILE]

Three recorded files: chains of GPT-4 and GPT-3.5 about ProofWriter and FOLIO, chains of small models about PrOntoQA's
deduction rules (right: the exact proof), and the attacks, of which some are honest. The halves are by a row's place in
its file; what is developed on one is measured on the other. `--write` has one line for each chain: id and verdict.
"""

import argparse
import gzip
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import certistar
from critics.judge import judge_record

TRUTHS = {"True": "true", "False": "false", "Uncertain": "unknown", "Unknown": "unknown"}
PARTS = ("proofwriter", "folio", "prontoqa-ood", "attacks")
_ANSWER = re.compile(r"ANSWER:?\s*(\w+)")


@dataclass(frozen=True, slots=True)
class Chain:
    """A recorded chain; `group` is what it is counted under, `label` its gold answer, if it has one."""

    id: str
    group: str
    problem: dict[str, Any]
    text: str
    format: str = "english"
    label: str | None = None


def chains(part: str, shared: Path, half: str) -> Iterator[Chain]:
    """Yield the chains of one part in the order of its file."""
    for place, row in enumerate(_rows(part, shared)):
        if half != "all" and ("even", "odd")[place % 2] != half:
            continue
        problem = {"id": row["id"], "context": row["context"], "question": row["question"]}
        if part == "attacks":
            settings = row.get("settings") or {}
            meta = {"formulas": settings["meta.formulas"]} if "meta.formulas" in settings else {}
            problem |= {"dataset": settings.get("dataset", "own"), "options": row.get("options"), "meta": meta}
            yield Chain(row["id"], f"{part} {row['expected']}", problem, row["text"], row["format"])
        elif part == "prontoqa-ood":
            is_right = " ".join(row["prediction"].split()) == " ".join(row["expected"].split())
            said = f"{row['prediction']}\nThe answer is true."
            group = f"{part} {'exact' if is_right else 'other'}"
            yield Chain(row["id"], group, problem | {"dataset": "prontoqa-ood"}, said)
        elif row["dataset"] == part:
            answers = _ANSWER.findall(row["rationale"])
            group = f"{part} {'right' if answers and answers[-1] == row['label'] else 'wrong'}"
            dataset = part if part == "proofwriter" else "own"
            label = TRUTHS[row["label"]]
            yield Chain(row["id"], group, problem | {"dataset": dataset}, row["rationale"], label=label)


def _rows(part: str, shared: Path) -> Iterator[dict[str, Any]]:
    name = "prontoqa_ood" if part == "prontoqa-ood" else "folio_proofwriter"
    path = shared / "data" / f"real_chains_{name}_partA.jsonl.gz"
    if part == "attacks":
        path = shared / "adversarial" / "reading.jsonl"
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def judged(chain: Chain) -> Mapping[str, Any]:
    """Return the verdict of one chain, judged without its gold answer."""
    record = {"id": chain.id, "problem": chain.problem, "format": chain.format, "completion": chain.text}
    found = judge_record(record)
    if found["verdict"] == "certified" and not certistar.filter([record]):
        return {**found, "verdict": "not kept", "reason": "strict keeps none of its grade, or a piece is unread"}
    return found


def has_excerpt(chain: Chain) -> bool:
    """Say whether a chain without the sentences that nobody reads is certified."""
    record = {"id": chain.id, "problem": chain.problem, "format": chain.format, "completion": chain.text}
    with warnings.catch_warnings(action="ignore"):
        return bool(certistar.filter([record], text="excerpt"))


def main() -> None:
    """Count, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--half", choices=("odd", "even", "all"), default="all")
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    totals, kept, explicit, excerpts = (Counter[str]() for _ in range(4))
    reasons: dict[str, Counter[str]] = {}
    lines: list[str] = []
    for part in options.part or PARTS:
        for chain in chains(part, options.shared, options.half):
            verdict = judged(chain)
            is_certified = verdict["verdict"] == "certified"
            totals[chain.group] += 1
            kept[chain.group] += is_certified
            explicit[chain.group] += is_certified and verdict.get("explicit", True) is True
            excerpts[chain.group] += not is_certified and has_excerpt(chain)
            reasons.setdefault(chain.group, Counter())[verdict.get("reason") or "certified"] += 1
            if is_certified and chain.label not in (None, verdict["answer"]):
                print(f"certified against its label: {chain.id} says {verdict['answer']}, the label {chain.label}")
            told = [chain.id, chain.group, verdict["verdict"], verdict.get("reason"), verdict.get("feedback")]
            lines.append(json.dumps(told))
    for group, total in totals.items():
        told = f"{kept[group]} of {total} certified, {explicit[group]} explicit, excerpts of {excerpts[group]} others"
        print(f"{group}: {told}; {dict(reasons[group].most_common(6))}")
    if options.write is not None:
        options.write.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
