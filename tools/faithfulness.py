"""Precision and recall of `strict` and `faithful`, where nothing compares formalisations with texts.

    python -m tools.faithfulness RECORDED... --folio FILE --linc FILE --judged CACHE --out docs/results/faithfulness

Recorded programs (`logiclm_programs*.jsonl.gz`, their problems beside them) are judged on trust and without the gold
answer, as where there is no translator. Gold on PrOntoQA and ProofWriter: the program is certified with its translator.
Gold on FOLIO: the program's answer is the published label, which a wrong formalisation may hit. Problems whose id
hashes to an even number were for development; the other half is reported. `--linc` adds ten recorded samples a problem
of FOLIO, by another model. What passes is then attacked (`tools.unfaithful`), and tried on other problems.
"""

import argparse
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from critics.audit.faithful import ALL_CHECKS, findings, gather, outcome, read_judged, text_findings
from critics.formats.format import find_format
from critics.judge import judge_on_trust, judge_record
from critics.logic.first_order.parser import parse
from critics.logic.first_order.printing import canonical
from critics.problem import Attempt, read_attempt
from critics.replay.first_order.syntax import FormulaError, negated
from critics.text.faithfulness.beside import concluded
from critics.text.faithfulness.finding import Finding
from critics.text.faithfulness.formalisation import Formalisation
from rollout.published.first_order import load_folio
from rollout.published.recorded import load_recorded
from tools.unfaithful import attacks, says_otherwise
from training.estimates import Proportion
from training.records.store import read_records, write_json, write_text

Record = dict[str, Any]
Kept = Callable[[Record], bool]
DATASETS = ("prontoqa", "proofwriter", "folio")
GOLD_CHECKED = ("prontoqa", "proofwriter")
ANNOTATED = ("as annotated", "conclusion denied")
POLARITY = "polarity_of_goal"
PER_KIND = 1
"""Attacks of one kind on one program's goal, and on its premises."""
ATTACKED = 10
"""Programs of each half that are attacked."""
ELSEWHERE = 2
"""Other problems that a program is tried on."""


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


def _blind(record: Record) -> Record:
    return {**record, "problem": {**record["problem"], "answer": None}}


def _judge(record: Record) -> Record:
    blind = _blind(record)
    checked = judge_record(blind) if record["problem"]["dataset"] in GOLD_CHECKED else None
    return {"trusted": judge_on_trust(blind), "checked": checked}


def _is_gold(record: Record, line: Record) -> bool:
    if line["checked"] is None:
        return line["trusted"]["answer"] == record["problem"]["answer"]
    return line["checked"]["verdict"] == "certified"


def linc(path: Path, folio: Path, cache: Path) -> list[Record]:
    """Return LINC's samples as attempts, judged as `judged` does."""
    known = {line["id"]: line for line in read_records(cache)} if cache.exists() else {}
    problems = {p.id: replace(p, meta={}).record() for p in load_folio(folio)}
    found: list[Record] = []
    with cache.open("a", encoding="utf-8") as lines:
        for record in read_records(path):
            problem = problems[record["problem_id"]]
            for number, text in enumerate(record["generations"]):
                made = {"id": f"{record['id']}#{number}", "problem": problem, "format": "fol", "completion": text}
                line = known.get(made["id"]) or {"id": made["id"], **_judge(made)}
                if made["id"] not in known:
                    lines.write(json.dumps(line) + "\n")
                found.append({**made, "judgement": line["trusted"], "is_gold": _is_gold(made, line)})
    return found


def is_reported(problem_id: str) -> bool:
    """Say whether a problem is in the half that nothing was chosen on."""
    return int(hashlib.sha256(problem_id.encode()).hexdigest(), 16) % 2 == 1


def halves(traces: Sequence[Record]) -> Iterable[tuple[str, list[Record]]]:
    """Yield the name of each half and the attempts at its problems."""
    for half in ("development", "reported"):
        yield half, [t for t in traces if is_reported(t["problem"]["id"]) == (half == "reported")]


def measure(traces: Mapping[str, Sequence[Record]]) -> list[Record]:
    """Return a row for each data set, half, and filter: strict, faithful, and faithful without each of its checks."""
    rows: list[Record] = []
    for dataset, attempts in traces.items():
        for half, part in halves(attempts):
            opinions = gather(map(read_judged, part))
            certified = [t for t in part if t["judgement"]["verdict"] == "certified"]
            found = {t["id"]: findings(read_judged(t), opinions) for t in certified}
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


def attacked(traces: Sequence[Record]) -> list[Record]:
    """Return how many attacks on aligned programs of FOLIO were certified, and came out aligned and wrong."""
    rows: list[Record] = []
    for half, part in halves(traces):
        counts: dict[tuple[str, str], list[int]] = {}
        done: set[tuple[str, Formalisation]] = set()
        for trace in part:
            honest = find_format(trace["format"]).theory(read_attempt(trace))
            if honest is None or outcome(read_judged(trace))[0] != "passed" or (trace["problem"]["id"], honest) in done:
                continue
            if len(done) == ATTACKED:
                break
            done.add((trace["problem"]["id"], honest))
            for attack in attacks(honest, PER_KIND, seed=len(trace["id"])):
                made = {**trace, "completion": attack.text()}
                judgement = judge_on_trust(_blind(made))
                count = counts.setdefault((attack.kind, "goal" if attack.changes_goal else "premise"), [0, 0, 0])
                count[0] += 1
                count[1] += judgement["verdict"] == "certified"
                is_wrong = judgement["answer"] != trace["judgement"]["answer"]
                is_wrong = says_otherwise(attack, honest) if attack.changes_goal else is_wrong
                count[2] += is_wrong and outcome(read_judged({**made, "judgement": judgement}))[0] == "passed"
        rows += [
            {"half": half, "attack": kind, "on": where, "certified": count[1], "aligned": _shown(count[2], count[0])}
            for (kind, where), count in sorted(counts.items())
        ]
    return rows


def elsewhere(dataset: str, traces: Sequence[Record]) -> list[Record]:
    """Return how many certified programs come out aligned with the next `ELSEWHERE` problems of their half."""
    rows: list[Record] = []
    for half, part in halves(traces):
        problems = list({t["problem"]["id"]: t["problem"] for t in part}.values())
        tried = aligned = 0
        for trace in part:
            if trace["judgement"]["verdict"] != "certified":
                continue
            at = next(i for i, problem in enumerate(problems) if problem["id"] == trace["problem"]["id"])
            for problem in [*problems[at + 1 :], *problems[:at]][:ELSEWHERE]:
                tried += 1
                aligned += outcome(read_judged({**trace, "problem": problem}))[0] == "passed"
        rows.append({"dataset": dataset, "half": half, "aligned": _shown(aligned, tried)})
    return rows


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
        for name, conclusion in zip(ANNOTATED, (goal, negated(goal)), strict=True):
            text = "\n".join(["Premises:", *premises, "Conclusion:", canonical(conclusion)])
            found = text_findings(Attempt(problem.id, replace(problem, meta={}), "fol", text), None)
            counts[name][concluded(found)[0]] += 1
            counts[f"{name}: {POLARITY}"][found[POLARITY].word] += 1
    return [{"formalisation": name, **count} for name, count in counts.items()]


def table(found: Mapping[str, Sequence[Record]]) -> str:
    """Return the results in Markdown: strict and faithful on the reported half, then the ablation, then FOLIO's."""
    rows = found["rows"]
    lines = ["| data set | half | filter | kept | precision (95%) | recall (95%) |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {r['dataset']} | {r['half']} | {r['filter']} | {r['kept']} | "
        f"{_cell(r['precision'])} | {_cell(r['recall'])} |"
        for r in sorted(rows, key=lambda r: (r["filter"] not in ("strict", "faithful"), r["half"] == "development"))
        if r["half"] == "reported" or r["filter"] in ("strict", "faithful")
    ]
    lines += ["", "FOLIO's annotated formulas beside their text (no agreement, nothing judged):", ""]
    lines += [f"- {row['formalisation']}: " + ", ".join(f"{k} {v}" for k, v in row.items() if k != "formalisation")
              for row in found["annotated"]]  # fmt: skip
    lines += [
        "",
        "Programs with one thing changed, of those that pass on FOLIO: aligned, and another goal or answer.",
        "",
    ]
    lines += ["| half | changed | on | certified | aligned and wrong (95%) |", "|---|---|---|---|---|"]
    lines += [f"| {r['half']} | {r['attack']} | {r['on']} | {r['certified']} | {_cell(r['aligned'])} |"
              for r in found["attacks"]]  # fmt: skip
    lines += ["", "Certified programs beside other problems than their own:", ""]
    lines += ["| data set | half | aligned (95%) |", "|---|---|---|"]
    lines += [f"| {r['dataset']} | {r['half']} | {_cell(r['aligned'])} |" for r in found["elsewhere"]]
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
    parser.add_argument("--linc", type=Path, required=True)
    parser.add_argument("--judged", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    inputs = [*asked.recorded, asked.folio, asked.linc]
    recorded = judged(asked.recorded, asked.judged)
    traces = {name: [t for t in recorded if t["problem"]["dataset"] == name] for name in DATASETS}
    samples = linc(asked.linc, asked.folio, asked.judged)
    found = {
        "rows": measure(traces | {"folio, LINC": samples}),
        "annotated": annotated(asked.folio),
        "attacks": attacked([*traces["folio"], *samples]),
        "elsewhere": [row for name, part in traces.items() for row in elsewhere(name, part)],
    }
    provenance = {
        "commit": commit(),
        "inputs": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in inputs},
        "programs": len(recorded) + len(samples),
        "split": "SHA-256 of the problem's id",
        "attacks of a kind on a program": PER_KIND,
        "programs of a half that are attacked": ATTACKED,
    }
    write_json(asked.out / "faithfulness.json", {**found, "provenance": provenance})
    write_text(asked.out / "table.md", table(found))


if __name__ == "__main__":
    main()
