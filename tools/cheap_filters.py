"""Filters that read no premise, measured as certificates: precision and recall of each on the attempts of a run.

    python -m tools.cheap_filters RUN [RUN ..]

An attempt is good where the critic certified it. Each filter sees what the arms see: the gold answer, and the other
samples of the same problem. Attempts are those that the arms sampled for training, in any round.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rollout.records.traces import Trace, read_trace
from training.commands.traces import trace_files
from training.curation.filters import is_certified, is_right, kept, voted
from training.outcomes import Proportion
from training.records.store import read_records

Chosen = Callable[[Sequence[Trace]], list[Trace]]


FILTERS: Mapping[str, Chosen] = {
    "right answer": lambda traces: list(filter(is_right, traces)),
    "vote of answers": lambda traces: voted(traces, lambda trace: trace.judged.answer),
    "right, commonest text": lambda traces: list(filter(is_right, voted(traces, lambda trace: trace.completion))),
    "right, ends in the question's words, long enough": lambda traces: [t for t in traces if kept(t, "well-formed")],
}


def measured(traces: Sequence[Trace]) -> dict[str, tuple[Proportion, Proportion]]:
    """Return precision and recall of each filter against certificates."""
    finished = [trace for trace in traces if trace.finished]
    num_good = sum(map(is_certified, finished))
    found: dict[str, tuple[Proportion, Proportion]] = {}
    for name, chosen in FILTERS.items():
        passed = chosen(finished)
        num = sum(map(is_certified, passed))
        found[name] = (Proportion(num, len(passed)), Proportion(num, num_good))
    return found


def _percent(share: Proportion) -> str:
    low, high = share.interval
    return f"{share.rate:.1%} ({low:.1%}–{high:.1%})" if share.n else "none"


def main() -> None:
    """Print a table of the filters for each run and arm."""
    parser = argparse.ArgumentParser(prog="python -m tools.cheap_filters", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="Folders of runs.")
    for run in parser.parse_args().runs:
        arms: dict[str, list[Trace]] = defaultdict(list)
        for path in trace_files([run]):
            if path.name == "traces.jsonl":
                arms[path.relative_to(run).parts[0]] += map(read_trace, read_records(path))
        for arm, traces in arms.items():
            print(f"\n{run.name}, {arm}: {len(traces)} attempts, {sum(map(is_certified, traces))} certified\n")
            print("| filter | precision | recall |\n|---|---|---|")
            for name, (precision, recall) in measured(traces).items():
                print(f"| {name} | {_percent(precision)} | {_percent(recall)} |")


if __name__ == "__main__":
    main()
