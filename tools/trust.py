"""Counts of problems that keep a program that is not about them, and of honest programs that are kept.

    python -m tools.trust RECORDED [--formulas FORMULAS] [--before trust.json] --out docs/results/trust

Three programs are judged at each problem of the recorded ones, with the gold answer hidden: constant programs of every
format (one for each answer, the same for all problems), another problem's recorded program of the same model, and the
honest one, whose answer is the gold one. FORMULAS are recorded formalisations of FOLIO: right ones, of which a share is
graded `aligned`, and wrong ones, of which none should be. `--before` is what another version's critics gave.
"""

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from critics.judge import JudgePool
from critics.replay.grades import STRICT
from rollout.published.recorded import load_recorded
from training.outcomes import Proportion
from training.records.store import write_json, write_text

Record = dict[str, Any]
DATASETS = ("folio", "ar-lsat", "proofwriter", "logicaldeduction")
TRUTHS = ("folio", "proofwriter")
KEPT = ("strict", "trusted")
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


def measure(recorded: Sequence[Record], jobs: int) -> list[Record]:
    """Return a row for each data set and kind of program."""
    rows: list[Record] = []
    gold = {record["id"]: record["problem"]["answer"] for record in recorded}
    with JudgePool(jobs=jobs, timeout_s=20) as pool:
        for dataset in DATASETS:
            listed = list(attempts(recorded, dataset))
            kept: dict[str, dict[str, set[str]]] = {}
            tried: dict[str, set[str]] = {}
            for (kind, problem, record), verdict in zip(listed, pool.judge([r for *_, r in listed]), strict=True):
                certificate = verdict["certificate"]
                if kind == "honest" and verdict["answer"] != gold[record["id"]]:
                    continue
                tried.setdefault(kind, set()).add(problem)
                if certificate is not None:
                    grade = certificate["formalisation"]
                    kept.setdefault("trusted", {}).setdefault(kind, set()).add(problem)
                    if grade in STRICT and not _has_unread(verdict):
                        kept.setdefault("strict", {}).setdefault(kind, set()).add(problem)
            for kind, problems in sorted(tried.items()):
                counts = {keep: len(kept.get(keep, {}).get(kind, ())) for keep in KEPT}
                rows.append({"dataset": dataset, "programs": kind, "n": len(problems), **counts})
                print(json.dumps(rows[-1]), flush=True)
    return rows


def _has_unread(verdict: Mapping[str, Any]) -> bool:
    return any(span["kind"] == "unread" for span in verdict.get("spans") or ())


def formulas(path: Path, jobs: int) -> list[Record]:
    """Return rows of the recorded formalisations whose answer is the gold one, and of the others."""
    kept: dict[str, Counter[str]] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines, JudgePool(jobs=jobs, timeout_s=20) as pool:
        listed = list(map(json.loads, lines))
        for row, verdict in zip(listed, pool.judge(map(formalised, listed)), strict=True):
            counts = kept.setdefault("right" if row["prediction"] == row["label"] else "wrong", Counter())
            counts["n"] += 1
            certificate = verdict["certificate"]
            grade = None if certificate is None else certificate["formalisation"]
            counts["trusted"] += certificate is not None
            counts["strict"] += grade in STRICT and not _has_unread(verdict)
    empty = {"n": 0, "strict": 0, "trusted": 0}
    return [{"dataset": "folio, GPT-5 and R1", "programs": kind, **empty, **kept[kind]} for kind in sorted(kept)]


def formalised(row: Record) -> Record:
    """Return a recorded formalisation as an attempt."""
    problem = {"id": row["id"], "dataset": "folio", "context": " ".join(row["premises"]), "question": row["conclusion"]}
    return {"id": row["id"], "problem": problem, "format": "fol", "completion": row["program"]}


def table(rows: Sequence[Record], before: Sequence[Record]) -> str:
    """Return the rows in Markdown."""
    head = "| data set | programs | n | kept by strict before | kept by strict | kept by trusted before | by trusted |"
    lines = [head, "|---|---|--:|--:|--:|--:|--:|"]
    old = {(row["dataset"], row["programs"]): row for row in before}
    for row in rows:
        then = old.get((row["dataset"], row["programs"]))
        named = f"| {row['dataset']} | {row['programs']} | {row['n']} "
        of_each = ((_share(then[keep], then["n"]) if then else "", _share(row[keep], row["n"])) for keep in KEPT)
        lines.append(named + "".join(f"| {shown} " for pair in of_each for shown in pair) + "|")
    return "\n".join(lines) + "\n"


def _share(count: int, n: int) -> str:
    found = Proportion(count, n)
    low, high = found.interval
    return f"{count} = {found.rate:.1%} [{low:.1%}, {high:.1%}]"


def main() -> None:
    """Write `trust.json` and `table.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--formulas", type=Path, help="recorded formalisations of FOLIO")
    parser.add_argument("--before", type=Path, help="trust.json of the version to compare with")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    before = json.loads(given.before.read_text(encoding="utf-8"))["rows"] if given.before else []
    rows = measure(list(load_recorded(given.recorded)), given.jobs)
    rows += formulas(given.formulas, given.jobs) if given.formulas else []
    write_json(given.out / "trust.json", {"rows": rows, "before": before})
    write_text(given.out / "table.md", table(rows, before))


if __name__ == "__main__":
    main()
