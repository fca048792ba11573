"""A learned verifier as a filter on the forked bases: precision and recall, beside filters that learn nothing.

    python -m tools.forked_verifier forks/run-31 .. --out docs/results/forks

A run's first round of `strict` gives the attempts, and its base the verifier: one output more, all weights fine-tuned,
on prompt and attempt. It learns from half the problems; each filter is measured on the other half.
`answers` learns whether the answer is right, as a filter without a critic can; `certificates` learns what the critic
said. A score keeps as many attempts as there are certificates. `verifier.json` has the counts of each run, and
`verifier.md` is made of it (the plan: docs/results/forks/plan.md).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any

import torch
import typer
import yaml
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

from rollout.policies.policy import load_tokenizer
from rollout.records.traces import Trace, read_trace
from tools.cheap_filters import measured
from tools.lead_details import shown
from training.curation.filters import is_certified, is_right, kept, problem_key
from training.outcomes import markdown
from training.records.store import read_records, write_json, write_text

LABELS: Mapping[str, Callable[[Trace], bool]] = {"answers": is_right, "certificates": is_certified}
FIRST: Mapping[str, Callable[[Trace], bool]] = {
    "right": is_right,
    "well-formed": lambda trace: kept(trace, "well-formed"),
}
WELL_FORMED = "right, ends in the question's words, long enough"
OWN = "own log-probability"
PRIMARY = "well-formed, best by verifier of answers"
EPOCHS, RATE, BATCH = 3, 1e-3, 32

Ids = list[Tensor]


def main(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN..")],
    out: Annotated[Path, typer.Option("--out", help="The folder of verifier.json and verifier.md.")],
    learned: Annotated[bool, typer.Option(help="Train verifiers, which takes minutes a base.")] = True,
) -> None:
    """Measure filters on runs where they are not measured yet, and write the table."""
    path = out / "verifier.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for run in runs:
        before = next((of for of in found if of["run"] == run.name), None)
        if before is None or (learned and PRIMARY not in before["filters"]):
            found = [of for of in found if of is not before] + [{"run": run.name, "filters": filters(run, learned)}]
            write_json(path, sorted(found, key=lambda of: of["run"]))
    write_text(out / "verifier.md", page(json.loads(path.read_text(encoding="utf-8"))))


def filters(run: Path, learned: bool) -> dict[str, list[int]]:
    """Return each filter's counts in round 1: certified ones that it keeps, all that it keeps, all certified."""
    path = sorted(run.rglob("round-000/traces.jsonl"))[0]  # in round 1 the arms have the same attempts
    traces = [trace for trace in map(read_trace, read_records(path)) if trace.finished]
    base = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))["model"]["name"]
    seed = int(run.name.rpartition("-")[2])
    keys = sorted({problem_key(trace.problem) for trace in traces})
    shown = set(Random(seed).sample(keys, len(keys) // 2))
    learnt, tested = ([t for t in traces if (problem_key(t.problem) in shown) is half] for half in (True, False))
    found = {name: [own.count, own.n, all_.n] for name, (own, all_) in measured(tested).items()}
    num = sum(map(is_certified, tested))
    scores = scored(base, learnt, tested, seed, LABELS if learned else {})
    for first, passes in FIRST.items():
        for name, values in scores.items():
            passed = [at for at, trace in enumerate(tested) if passes(trace)]
            best = sorted(passed, key=lambda at, of=values: -of[at])[:num]
            found[f"{first}, best by {name}"] = [sum(is_certified(tested[at]) for at in best), len(best), num]
    return found


def scored(
    base: str,
    learnt: Sequence[Trace],
    tested: Sequence[Trace],
    seed: int,
    labels: Mapping[str, Callable[[Trace], bool]],
) -> dict[str, list[float]]:
    """Return each score of the tested attempts, a higher one for what is to be kept."""
    torch.manual_seed(seed)
    tokenizer = load_tokenizer(base)

    def ids(traces: Sequence[Trace]) -> tuple[Ids, list[int]]:
        prompts = [torch.tensor(tokenizer(t.prompt, add_special_tokens=False)["input_ids"]) for t in traces]
        whole = [torch.cat([prompt, torch.tensor(t.completion_ids)]) for prompt, t in zip(prompts, traces, strict=True)]
        return whole, [len(prompt) for prompt in prompts]

    own, starts = ids(tested)
    found = {OWN: log_probabilities(base, own, starts)}
    for name, label in labels.items():
        model = verifier(base, ids(learnt)[0], [label(trace) for trace in learnt], seed)
        found[f"verifier of {name}"] = outputs(model, own)
    return found


def log_probabilities(base: str, ids: Ids, starts: Sequence[int]) -> list[float]:
    """Return the mean log-probability of each attempt's tokens under the base."""
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32).eval()
    found: list[float] = []
    with torch.inference_mode():
        for own, start in zip(ids, starts, strict=True):
            chances = functional.log_softmax(model(own[None]).logits[0, start - 1 : -1], dim=-1)
            found.append(chances.gather(1, own[start:, None]).mean().item())
    return found


def verifier(base: str, ids: Ids, labels: Sequence[bool], seed: int) -> Any:
    """Return the base with one output, fine-tuned to tell the labels."""
    model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1, dtype=torch.float32).train()
    steps = EPOCHS * -(-len(ids) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)
    random = Random(seed)
    for _ in range(EPOCHS):
        order = random.sample(range(len(ids)), len(ids))
        for begin in range(0, len(ids), BATCH):
            chosen = order[begin : begin + BATCH]
            wanted = torch.tensor([float(labels[at]) for at in chosen])
            loss = functional.binary_cross_entropy_with_logits(_outputs(model, [ids[at] for at in chosen]), wanted)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    return model.eval()


def outputs(model: Any, ids: Ids) -> list[float]:
    """Return the verifier's output for each attempt."""
    with torch.inference_mode():
        return [value for at in range(0, len(ids), BATCH) for value in _outputs(model, ids[at : at + BATCH]).tolist()]


def _outputs(model: Any, ids: Ids) -> Tensor:
    padded = pad_sequence(ids, batch_first=True, padding_value=model.config.pad_token_id)
    attended = pad_sequence([torch.ones_like(own) for own in ids], batch_first=True)
    return model(padded, attention_mask=attended).logits[:, 0]


def page(found: Sequence[Mapping[str, Any]]) -> str:
    """Return the table as Markdown; the lead is in precision, over well-formed alone."""
    rows: list[list[str]] = []
    for name in max((run["filters"] for run in found), key=len):
        runs = [run for run in found if name in run["filters"]]
        counts = [run["filters"][name] for run in runs]
        ahead = [_precision(run, name) - _precision(run, WELL_FORMED) for run in runs]
        rows.append([
            f"{name} (primary)" if name == PRIMARY else name,
            f"{len(runs)}",
            shown([a / b for a, b, _ in counts]),
            shown([a / c for a, _, c in counts]),
            "" if name == WELL_FORMED else shown(ahead, is_lead=True),
        ])  # fmt: skip
    num = sum(run["filters"]["right answer"][2] for run in found)
    opening = (
        f"Half the problems of round 1, T = 1; {num:,} attempts are certified. Means over bases, and each base in the "
        "order of seeds (of four or more a 95% interval). A score keeps as many as there are certificates."
    )
    head = ["filter", "bases", "precision", "recall", "precision, over well-formed alone"]
    return f"{opening}\n\n" + markdown(head, rows, "lrrrr")


def _precision(run: Mapping[str, Any], name: str) -> float:
    certified, num, _ = run["filters"][name]
    return certified / num


if __name__ == "__main__":
    typer.run(main)
