"""Counts of problems that keep a program that is not about them, and of honest programs that are kept.

    python -m tools.trust RECORDED [--before FILE] --out docs/results/trust

Three programs are judged at each problem of the recorded ones, with the gold answer hidden: constant programs of every
format (one for each answer, the same for all problems), another problem's recorded program of the same model, and the
honest one, whose answer is the gold one. `--before` holds lines of `id` and `verdict` by another version's critics.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from critics.judge import JudgePool
from critics.replay.grades import STRICT
from rollout.published.recorded import load_recorded
from training.estimates import Proportion
from training.records.store import write_json, write_text

Record = dict[str, Any]
DATASETS = ("folio", "ar-lsat", "proofwriter", "logicaldeduction")
TRUTHS = ("folio", "proofwriter")
PER_DATASET = 400
"""Problems of one data set, the first."""


def constants(dataset: str) -> Iterator[tuple[str, str]]:
    """Yield format and text of programs that are the same for all problems of a data set."""
    if dataset not in TRUTHS:
        for letter in range(5):
            yield "csp", _row(letter)
            yield "logic-program", _places(letter)
        return
    for sign, answer in (("", "true"), ("¬", "false")):
        yield "fol", f"Premises:\nF(a)\n∀x (F(x) → {sign}P(x))\nConclusion:\nP(a)"
        yield "fol", f"Premises:\nF(a) ∨ {sign}P(a)\n¬F(a) ∨ {sign}P(a)\nConclusion:\nP(a)"
        literal = "(not (b 'x))" if sign else "(b 'x)"
        inferred = literal.replace("'x", "tom")
        stated = f"[[axiom:(a tom)]] [[axiom:(a 'x) -> {literal}]] [[goal:(b tom)]]"
        yield "guided", f"{stated} [[infer:{inferred}]]\nAnswer: {answer}"
        value = "False" if sign else "True"
        yield "rules", f"Facts:\nA(Tom, True)\nRules:\nA($x, True) >>> B($x, {value})\nQuery:\nB(Tom, True)"
    yield "fol", "Premises:\nF(a) ∨ P(a)\nG(a) ∨ P(a)\nConclusion:\nP(a)"
    yield "rules", "Facts:\nA(Tom, True)\nRules:\nC($x, True) >>> B($x, True)\nQuery:\nB(Tom, True)"


def _row(place: int) -> str:
    names = [f"v{i}" for i in range(5)]
    lines = [f"{name} [IN] [1, 2, 3, 4, 5]" for name in names]
    options = [f"{chr(ord('A') + i)}) {name} == 1" for i, name in enumerate(names)]
    return "\n".join(
        ["Domain:", "1: first", "Variables:", *lines, "Constraints:", f"v{place} == 1",
         f"AllDifferentConstraint([{', '.join(names)}])", "Query:", *options]
    )  # fmt: skip


def _places(place: int) -> str:
    options = [f"is_valid(v(qq) == {i + 1}) ::: ({chr(ord('A') + i)})" for i in range(5)]
    head = "# Declarations\nzz = EnumSort([qq, ww])\nnums = EnumSort([1, 2, 3, 4, 5])\nv = Function([zz] -> [nums])"
    return "\n".join([head, "# Constraints", f"v(qq) + 0 == {place + 1}", "# Options", "Question ::: x", *options])


def attempts(recorded: Sequence[Record], dataset: str) -> Iterator[tuple[str, str, Record]]:
    """Yield kind, problem and attempt; gold answers are hidden."""
    own = [record for record in recorded if record["problem"]["dataset"] == dataset]
    problems = list({record["problem"]["id"]: record["problem"] for record in own}.values())[:PER_DATASET]
    for problem in problems:
        for number, (format_, text) in enumerate(constants(dataset)):
            yield f"constant {format_}", problem["id"], _at(problem, f"c{number}", format_, text)
    chosen = {problem["id"] for problem in problems}
    for model in sorted({record["model"] for record in own}):
        of_model = [r for r in own if r["model"] == model and r["problem"]["id"] in chosen]
        # Problems side by side may share their text: half the list away none does.
        for position, record in enumerate(of_model):
            other = of_model[(position + len(of_model) // 2) % len(of_model)]
            yield (
                "shuffled",
                record["problem"]["id"],
                _at(record["problem"], model, record["format"], other["completion"]),
            )
    for record in own:
        yield "honest", record["id"], {**record, "problem": {**record["problem"], "answer": None}}


def _at(problem: Record, name: str, format_: str, text: str) -> Record:
    blind = {**problem, "answer": None}
    return {"id": f"{problem['id']}#{name}", "problem": blind, "format": format_, "completion": text}


def measure(recorded: Sequence[Record], before: Mapping[str, str], jobs: int) -> tuple[list[Record], Mapping[str, int]]:
    """Return a row for each data set and kind of program, and how many recorded programs rest on their names."""
    rows: list[Record] = []
    gold = {record["id"]: record["problem"]["answer"] for record in recorded}
    renaming = Counter[str]()
    with JudgePool(jobs=jobs, timeout_s=20) as pool:
        for dataset in DATASETS:
            listed = list(attempts(recorded, dataset))
            kept: dict[str, dict[str, set[str]]] = {}
            tried: dict[str, set[str]] = {}
            for (kind, problem, record), verdict in zip(listed, pool.judge([r for *_, r in listed]), strict=True):
                certificate = verdict["certificate"]
                if kind == "honest":
                    renaming["judged otherwise"] += verdict["reason"] == "names_decide"
                    renaming["programs"] += verdict["reason"] == "names_decide" or _is_on_trust(certificate)
                if kind == "honest" and not _was_kept(record["id"], verdict, gold, before):
                    continue
                tried.setdefault(kind, set()).add(problem)
                if certificate is not None:
                    grade = certificate["formalisation"]
                    kept.setdefault("trusted", {}).setdefault(kind, set()).add(problem)
                    if grade in STRICT and not (grade == "checked" and _has_unread(verdict)):
                        kept.setdefault("strict", {}).setdefault(kind, set()).add(problem)
            for kind, problems in sorted(tried.items()):
                counts = {keep: len(kept.get(keep, {}).get(kind, ())) for keep in ("strict", "trusted")}
                rows.append({"dataset": dataset, "programs": kind, "n": len(problems), **counts})
                print(json.dumps(rows[-1]), flush=True)
    return rows, renaming


def _has_unread(verdict: Record) -> bool:
    return any(span["kind"] == "unread" for span in verdict.get("spans") or ())


def _is_on_trust(certificate: Record | None) -> bool:
    return certificate is not None and certificate["formalisation"] in ("aligned", "trusted")


def _was_kept(name: str, verdict: Record, gold: Mapping[str, str], before: Mapping[str, str]) -> bool:
    """Say whether an honest program was certified by the version before, with the gold answer."""
    if before:
        return before.get(name) == "certified"
    return verdict["certificate"] is not None and verdict["answer"] == gold[name]


def table(rows: Sequence[Record], renaming: Mapping[str, int]) -> str:
    """Return the rows in Markdown, and the sentence on renaming."""
    lines = ["| data set | programs | n | kept by strict | kept by trusted |", "|---|---|--:|--:|--:|"]
    for row in rows:
        shown = [_share(row[keep], row["n"]) for keep in ("strict", "trusted")]
        lines.append(f"| {row['dataset']} | {row['programs']} | {row['n']} | {shown[0]} | {shown[1]} |")
    honest = [row for row in rows if row["programs"] == "honest"]
    n, *kept = (sum(row[key] for row in honest) for key in ("n", "strict", "trusted"))
    lines.append(f"| all | honest | {n} | {_share(kept[0], n)} | {_share(kept[1], n)} |")
    told = _share(renaming["judged otherwise"], renaming["programs"])
    lines += ["", f"Recorded programs on trust that are judged otherwise under other names: {told}."]
    return "\n".join(lines) + "\n"


def _share(count: int, n: int) -> str:
    found = Proportion(count, n)
    low, high = found.interval
    return f"{count} = {found.rate:.1%} [{low:.1%}, {high:.1%}]"


def main() -> None:
    """Write `trust.json` and `table.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--before", type=Path, help="verdicts of the version to compare with, gold answers counted in")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    lines = given.before.read_text(encoding="utf-8").splitlines() if given.before else []
    before = {line["id"]: line["verdict"] for line in map(json.loads, lines)}
    rows, renaming = measure(list(load_recorded(given.recorded)), before, given.jobs)
    write_json(given.out / "trust.json", {"rows": rows, "renaming": dict(renaming)})
    write_text(given.out / "table.md", table(rows, renaming))


if __name__ == "__main__":
    main()
