"""Page of recorded models' right answers, with the shares that are proved and their intervals.

    python -m tools.recorded_models [--shared ../shared] [--page docs/recorded-models.md]

Chains of small models about PrOntoQA's deduction rules, chains of GPT-4 and GPT-3.5 about ProofWriter and FOLIO, and
formalisations of FOLIO by GPT-5 and DeepSeek-R1. Everything is judged without its gold answer. The numbers are written
to docs/results/recorded-models/counts.json, and the page is made of them.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from critics.judge import judge_record
from tools.chains import chains
from training.outcomes import Proportion, markdown
from training.records.store import write_json

COUNTS = Path("docs/results/recorded-models/counts.json")
Counts = Mapping[str, Mapping[str, Mapping[str, int]]]
"""For each part and group the number of right answers by what the critic found."""
PARTS = {
    "prontoqa-ood": (
        "Small models that prove one step",
        "PrOntoQA's deduction rules, few-shot and fine-tuned (logs of arXiv:2502.15120). Right: the text ends in what "
        "was to be proved.",
    ),
    "proofwriter": (
        "GPT-4 and GPT-3.5 on ProofWriter",
        "Chains of thought (LINC's recorded outputs). Right: the answer is the label.",
    ),
    "folio": (
        "GPT-4 and GPT-3.5 on FOLIO",
        "Chains of thought (LINC's recorded outputs). Right: the answer is the label.",
    ),
    "formulas": (
        "GPT-5 and DeepSeek-R1 formalise FOLIO",
        "Formalisations of arXiv:2604.19459, some asked for plainly and some led towards an answer. Right: the answer "
        "claims true or false and is the label. `aligned`: proved, and the text bears the formulas out. `trusted`: "
        "proved, and nobody vouches for the formulas. Assumed: the formulas contradict each other, or assume what is "
        "asked.",
    ),
}
KINDS = {
    "certified": "proved",
    "aligned": "proved, aligned",
    "trusted": "proved, trusted",
    "assumed": "assumed",
    "refuted": "refuted",
    "unproved": "not proved",
    "unread": "could not be checked",
}
_UNREAD = ("malformed", "timeout", "error", "unsupported")


def count(shared: Path) -> dict[str, dict[str, dict[str, int]]]:
    """Judge everything; return what was found of right answers."""
    found: dict[str, dict[str, Counter[str]]] = {part: {} for part in PARTS}
    for part, group, record, is_right in _attempts(shared):
        verdict = judge_record(record) if is_right else None
        if verdict is not None:
            found[part].setdefault(group, Counter())[_kind(part, verdict)] += 1
    return {part: {group: dict(found[part][group]) for group in sorted(found[part])} for part in PARTS}


def _attempts(shared: Path) -> Iterator[tuple[str, str, dict[str, Any], bool]]:
    """Yield part, model, attempt and whether its answer is right."""
    for part in ("prontoqa-ood", "proofwriter", "folio"):
        for chain in chains(part, shared, "all"):
            goal = chain.problem["question"].removeprefix("Prove: ")
            proved = chain.text.partition("\n")[0].rstrip().endswith(goal)
            is_right = proved if part == "prontoqa-ood" else chain.group.endswith(" right")
            record = {"id": chain.id, "problem": chain.problem, "format": chain.format, "completion": chain.text}
            yield part, chain.id.split("/")[1], record, is_right
    with gzip.open(shared / "data" / "recorded_fol_gpt5_r1_partA.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            problem = {"id": row["id"], "context": " ".join(row["premises"]), "question": row["conclusion"]}
            record = {"id": row["id"], "problem": problem | {"dataset": "folio"}, "format": "fol"}
            is_right = row["prediction"] == row["label"] and row["label"] in ("True", "False")
            yield "formulas", row["model"], record | {"completion": row["program"]}, is_right


def _kind(part: str, verdict: Mapping[str, Any]) -> str:
    match verdict["verdict"]:
        case "certified" if part == "formulas":
            return "aligned" if verdict["certificate"]["formalisation"] == "aligned" else "trusted"
        case "vacuous":
            return "assumed"
        case kind:
            return "unread" if kind in _UNREAD else kind


def page(counts: Counts) -> str:
    """Return the page of the counts."""
    parts = ["# Right answers of recorded models, and what they rest on", "", _OPENING, ""]
    for part, (title, told) in PARTS.items():
        groups = dict(counts[part])
        total: Counter[str] = sum((Counter(dict(own)) for own in groups.values()), Counter())
        kinds = [kind for kind in KINDS if total[kind]]
        rows = [_row(name, own, kinds) for name, own in [*groups.items(), ("**all**", total)]]
        head = ["model", "right", *(KINDS[kind] for kind in kinds)]
        parts += [f"## {title}", "", told, "", markdown(head, rows, "l" + "r" * (len(kinds) + 1))]
    return "\n".join(parts).rstrip("\n") + "\n"


def _row(name: str, own: Mapping[str, int], kinds: list[str]) -> list[str]:
    num = sum(own.values())
    cells: list[str] = []
    for kind in kinds:
        low, high = Proportion(own.get(kind, 0), num).interval
        cells.append(f"{own.get(kind, 0) / num:.0%} ({low:.0%} to {high:.0%})")
    return [name, str(num), *cells]


_OPENING = (
    "`python -m tools.recorded_models` wrote this page: attempts that others recorded, judged by the critic without "
    "their gold answers. Each share is of a model's right answers, with its 95% interval (Wilson). What could not be "
    "checked is neither proved nor wrong; not proved: the critic read the text, and a step does not follow, or "
    "is missing. A proof certifies what its text or its formulas say; only `aligned` formulas "
    "are compared with the problem's words."
)


def main() -> None:
    """Judge, and write the counts and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--page", type=Path, default=Path("docs/recorded-models.md"))
    options = parser.parse_args()
    counts = count(options.shared)
    write_json(COUNTS, counts)
    options.page.write_text(page(counts), encoding="utf-8")


if __name__ == "__main__":
    main()
