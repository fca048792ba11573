"""Attempts of the random writer with the prompts that a model will read, to fine-tune it on what is certified of them.

    python -m tools.from_nothing CONFIG --num 400 --seed 1 --out attempts.jsonl    then filter and train on it
    python -m tools.from_nothing --ordered KEPT --out ordered.jsonl                what `filter --text proved` kept

Ordered, each sentence stands as late as it can: before the step that rests on it, facts before rules. No model writes
and no gold answer is read: problems of split `pretrain` lose theirs before anything else.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from critics.verdict.reading import Span
from rollout.policies.reasoning import RandomWriter
from rollout.problems.catalogue import family
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace, read_trace
from rollout.strategies.single import sample
from training.configuration.run import load_run
from training.records.store import read_records, write_new_records
from training.rounds.rollout import prompts


def ordered(trace: Trace) -> Trace:
    """Return a trace with the sentences of its proof in the order in which they are used; to be judged again."""
    assert trace.judged.certificate is not None
    evidence = trace.judged.certificate["evidence"]
    entries, spans = evidence["entries"], [Span(**span) for span in trace.judged.others["spans"]]
    said = {span.by: trace.completion[span.start : span.end] for span in spans if span.kind in ("premise", "step")}
    text: list[str] = []

    def write(at: int) -> None:
        for premise in sorted(entries[at]["premises"], key=lambda each: "->" in entries[each]["says"]):
            write(premise)
        if at in said and said[at] not in text:
            text.append(said[at])

    answer = next(span for span in spans if span.kind == "answer")
    assert answer.by is not None
    write(answer.by)
    return replace(trace, completion=f"{' '.join(text)}\n{trace.completion[answer.start : answer.end]}", judgement=None)


def main() -> None:
    """Write the attempts; the first arm of the configuration says how problems are put."""
    parser = argparse.ArgumentParser(prog="python -m tools.from_nothing", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("config", type=Path, nargs="?", help="whose model is to learn, on problems like whose")
    parser.add_argument("--num", type=int, default=400, help="problems, one attempt each")
    parser.add_argument("--sentences", type=int, default=12, help="the most that an attempt may have")
    parser.add_argument("--seed", type=int, default=1, help="of problems and writer")
    parser.add_argument("--set", action="append", default=[], help="override a key, as the product's commands do")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--ordered", type=Path, help="a folder that filter wrote, in the place of a configuration")
    asked = parser.parse_args()
    if asked.ordered is not None:
        kept = map(read_trace, read_records(asked.ordered / "certificates.jsonl"))
        write_new_records(asked.out, (ordered(trace).record() for trace in kept))
        return
    config = load_run(asked.config, asked.set)
    arm = config.arms[0]
    kind, prompt = family(config.problems.dataset), prompts(config, arm)
    keys = {key: getattr(config.problems, key) for key in config.problems.model_fields_set - {"dataset"}}
    drawn = [
        replace(one, answer=None)
        for one in kind.generate(kind.configured(keys, "pretrain"), asked.num, seed=asked.seed)
    ]
    sampling = Sampling(guide="english", max_sentences=asked.sentences)
    style = config.model.style(arm.format)
    written = sample(RandomWriter(style), drawn, sampling, seed=asked.seed, format_=arm.format)
    write_new_records(asked.out, (replace(trace, prompt=prompt(trace.problem)).record() for trace in written))


if __name__ == "__main__":
    main()
