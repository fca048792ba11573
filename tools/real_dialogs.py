"""Dialogs of the real model with its critic against plain resampling, at equal tokens and at equal turns.

    python -m tools.real_dialogs FEEDBACK RESAMPLED --out DIR [--trained FOLDER] [--tokenizer checkpoints/smollm2]

FEEDBACK and RESAMPLED are folders of arms that `certistar evaluate` wrote; --trained is one of dialogs with feedback
after a round of training. Of a resampled dialog the replies count that begin before the tokens of the same problem's
dialog with feedback are spent; the last one that counts is judged. `counts.json` has what came out, `table.md` is
made of that, and `attempts.tar.xz` has every dialog with its last reply's certificate, for `certistar recheck`.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from critics.errors import InputError
from critics.judge import judge_record
from rollout.actor_critic.demonstration import demonstrate
from rollout.actor_critic.feedback import Reply, review
from rollout.policies.policy import load_tokenizer
from rollout.prompts.conversation import turn_places
from rollout.records.traces import Trace, read_trace, with_judgement
from rollout.strategies.dialog import after_retries, shown
from tools.real_cells import packed, rate, table
from training.outcomes import markdown
from training.records.store import StoreError, read_records, write_json, write_text

FEEDBACK, TOKENS, TURNS, TRAINED = "feedback", "resampled, equal tokens", "resampled, equal turns", "feedback, trained"
PAIRS = ((FEEDBACK, TOKENS), (FEEDBACK, TURNS), (TRAINED, FEEDBACK))
"""Comparisons of docs/results/real-model/dialogs-plan.md; certified of the first is its primary one."""
app = typer.Typer(add_completion=False)
Count = Callable[[str], int]
Row = dict[str, Any]


def dialogs(folder: Path) -> list[Trace]:
    """Return the dialogs of an arm by their problems' ids; raises `InputError` where the folder holds none."""
    try:
        found = sorted(map(read_trace, read_records(folder / "attempts.open.jsonl")), key=lambda trace: trace.id)
    except (StoreError, OSError) as error:
        raise InputError(f"{folder}: no dialogs can be read ({error}); name an arm's folder of `evaluate`") from error
    if not found or not all(trace.turns and trace.strategy for trace in found):
        raise InputError(f"{folder}: holds attempts that are no dialogs; name an arm with `strategy: actor-critic`")
    return found


def tokens(trace: Trace, count: Count) -> list[tuple[int, int]]:
    """Return how many tokens each turn read and wrote, without the chat template's marks."""
    history = str((trace.strategy or {})["history"])
    read = [shown(trace.messages[:place], history) for place in turn_places(trace.messages)]
    return [
        (sum(count(said["content"]) for said in asked), len(turn.completion_ids))
        for asked, turn in zip(read, trace.turns, strict=True)
    ]


def within(trace: Trace, budget: int, count: Count) -> Trace:
    """Return a dialog with the turns that begin before so many tokens are spent."""
    spent = list(accumulate(sum(pair) for pair in tokens(trace, count)))
    return after_retries(trace, sum(each < budget for each in spent[:-1]))


def counts(traces: Sequence[Trace], count: Count) -> Row:
    """Return what became of the judged dialogs of a cell, in the order of their problems."""
    spent = [tokens(trace, count) for trace in traces]
    steps = [pair for trace in traces for pair in pairwise(trace.turns)]
    certified = [trace for trace in traces if trace.judged.is_certified]
    return {
        "ids": [trace.problem.id for trace in traces],
        "certified": [int(trace.judged.is_certified) for trace in traces],
        "right": [int(trace.judged.answer == trace.problem.answer) for trace in traces],
        "accepted": [int(trace.turns[-1].is_accepted) for trace in traces],
        "turns": sum(len(trace.turns) for trace in traces),
        "read": sum(read for turns in spent for read, _ in turns),
        "written": sum(written for turns in spent for _, written in turns),
        "mended": sum(after.is_accepted for _, after in steps),
        "faults": len(steps),
        "turned": sum(trace.judged.reason == "sign_turned" for trace in traces),
        "faithful": sum(map(says_what_the_reference_says, certified)),
    }


def says_what_the_reference_says(trace: Trace) -> bool:
    """Say whether a certified program has no rule that the reference lacks under its premise, and asks the same."""
    own, gold = (
        review(Reply.to(trace.problem, text, finished=True, depth="compile")).written
        for text in (trace.completion, demonstrate(trace.problem))
    )
    return set(own.program.splitlines()) <= set(gold.program.splitlines()) and own.query == gold.query


def page(cells: Mapping[str, Row]) -> str:
    """Return rates, the comparisons of the plan, and what the dialogs cost, as Markdown."""
    head = ["dialogs", "accepted (95%)", "turns", "tokens read", "written", "retries that the critic accepts"]
    rows = [
        [
            *(name, rate(cell["accepted"]), *(f"{cell[key]:,}" for key in ("turns", "read", "written"))),
            f"{cell['mended']} of {cell['faults']}",
            str(cell["turned"]),
            f"{cell['faithful']} of {sum(cell['certified'])}",
        ]
        for name, cell in cells.items()
    ]
    head += ["refused for a sign", "certified as the reference has it"]
    pairs = [pair for pair in PAIRS if set(pair) <= cells.keys()]
    return f"{table(cells, pairs)}\n{markdown(head, rows, 'lrrrrrrr')}"


def cells_of(feedback: Sequence[Trace], resampled: Sequence[Trace], count: Count) -> dict[str, list[Trace]]:
    """Return the dialogs of the plan's cells; raises `InputError` where the arms were asked other problems."""
    if [trace.id for trace in feedback] != [trace.id for trace in resampled]:
        raise InputError("FEEDBACK and RESAMPLED: were asked other problems, or one of them is not finished")
    budgets = [sum(map(sum, tokens(trace, count))) for trace in feedback]
    most = max(turn.retry for trace in feedback for turn in trace.turns)
    return {
        FEEDBACK: list(feedback),
        TOKENS: [within(trace, budget, count) for trace, budget in zip(resampled, budgets, strict=True)],
        TURNS: [after_retries(trace, most) for trace in resampled],
    }


def judged(trace: Trace) -> Trace:
    """Return a dialog with the verdict on its last reply."""
    return with_judgement(trace, judge_record(trace.record()))


def archived(trace: Trace) -> Row:
    """Return a judged dialog's record without the ids of its tokens."""
    record = replace(trace, steps=tuple(replace(turn, completion_ids=()) for turn in trace.turns)).record()
    return {**record, "judgement": {key: value for key, value in record["judgement"].items() if key != "id"}}


@app.command()
def main(
    feedback: Annotated[Path, typer.Argument()],
    resampled: Annotated[Path, typer.Argument()],
    out: Annotated[Path, typer.Option("--out", help="The folder of the results.")],
    trained: Annotated[Path | None, typer.Option("--trained", help="Dialogs with feedback after training.")] = None,
    tokenizer: Annotated[Path, typer.Option("--tokenizer", help="The model's folder.")] = Path("checkpoints/smollm2"),
) -> None:
    """Compare dialogs with resampling; write counts.json, table.md and attempts.tar.xz."""
    try:
        given = dialogs(feedback), dialogs(resampled)
        cells = {} if trained is None else {TRAINED: dialogs(trained)}
        if not (tokenizer / "tokenizer.json").exists():
            raise InputError(f"{tokenizer}: the model is not there; run `make real`, or name its folder by --tokenizer")
        words = load_tokenizer(str(tokenizer))
        count: Count = lambda said: len(words(said)["input_ids"])  # noqa: E731
        cells = {**cells_of(*given, count), **cells}
        attempts = {name: list(map(judged, traces)) for name, traces in cells.items()}
        found = {name: counts(traces, count) for name, traces in attempts.items()}
        made = page(found)
    except InputError as error:
        print(f"real_dialogs: {error}", file=sys.stderr)
        raise typer.Exit(2) from error
    write_json(out / "counts.json", found)
    write_text(out / "table.md", made)
    packed({name: list(map(archived, traces)) for name, traces in attempts.items()}, out / "attempts.tar.xz")
    print(made)


if __name__ == "__main__":
    app()
