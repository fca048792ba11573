"""Logic classes of FOLIO's statements as a language model names them (LLM-ARC, section 3.1.1).

    python -m tools.logic_classes CONFIG folio.jsonl --out classed.jsonl

Each wording is asked about once, greedily. A statement that the model does not name a class for has none.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from critics.problem import is_object
from rollout.actor_critic.prompt import statements
from rollout.policies.policy import ChatPolicy, Interrupted
from rollout.prompts.conversation import Messages, message
from rollout.published.logic_forms import LOGIC_CLASSES, LogicClass
from rollout.records.sampling import Sampling, batches, derived_seed
from training.configuration.run import load_run
from training.records.store import write_records
from training.rounds.problems import read_problems
from training.workers.strategies import quiet_policy

DESCRIPTIONS: dict[LogicClass, str] = {
    "conditional": "a fact, or a plain rule: some conditions, joined by and or or, lead to one or more conclusions",
    "nested": "a rule or a choice whose parts are themselves compound, such as either (A and B) or (not A and C)",
    "disjunction": "two or more alternatives, at least one of them or exactly one",
    "negation": "something is not so, or two kinds of things have nothing in common",
    "exclusion": "several things that are each possible may not hold together",
    "existential": "there is something of a kind, and it is not said which",
    "equality": "two names stand for one and the same individual",
    "several-variables": "a rule about two or more different individuals and how they relate",
    "background": "common knowledge that connects the other statements and that no one needs to be told",
}
BATCH_SIZE = 20
"""Statements in one question: enough to share the instructions, few enough that no model loses count."""
_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*)\n```\s*", re.DOTALL)


def question(statements: Sequence[str]) -> Messages:
    """Return the conversation that asks for the class of each statement."""
    listed = "\n".join(f"- {name}: {description}" for name, description in DESCRIPTIONS.items())
    task = (
        "You sort English statements by their logical form, whatever they are about. The classes are:\n"
        f"{listed}\n"
        "Where several fit, take the one further down the list that decides how the statement must be formalised; "
        "take `conditional` where none of the others fits. Reply with one JSON object and nothing else: the number of "
        'each statement as the key, its class as the value, for example {"1": "negation", "2": "conditional"}.'
    )
    numbered = "\n".join(f"{number}. {statement}" for number, statement in enumerate(statements, 1))
    return [message("system", task), message("user", numbered)]


def read_classes(reply: str, num: int) -> list[LogicClass | None]:
    """Return the class of each of `num` statements; None where the reply does not name one of the nine."""
    fenced = _FENCE.fullmatch(reply)
    try:
        data = json.loads(fenced[1] if fenced else reply)
    except (ValueError, RecursionError):
        return [None] * num
    if not is_object(data):
        return [None] * num
    named = (data.get(str(number)) for number in range(1, num + 1))
    return [name if name in LOGIC_CLASSES else None for name in named]


def classify(
    policy: ChatPolicy, statements: Sequence[str], sampling: Sampling, *, seed: int, batch_size: int = BATCH_SIZE
) -> list[LogicClass | None]:
    """Ask a policy for the class of each statement; None where it gives none."""
    listed = list(batches(statements, batch_size))
    prompts = [policy.conversation(question(batch)) for batch in listed]
    seeds = [derived_seed(seed, "stratification", *batch) for batch in listed]
    completions = policy.complete(prompts, None, seeds, replace(sampling, decoding="free"))
    read = (read_classes(c.text, len(batch)) for c, batch in zip(completions, listed, strict=True))
    return [name for batch in read for name in batch]


def coverage(classes: Iterable[LogicClass | None]) -> dict[str, int]:
    """Count each of the nine classes, and `unclassified`."""
    counts = Counter(name or "unclassified" for name in classes)
    return {name: counts[name] for name in (*LOGIC_CLASSES, "unclassified")}


def main() -> None:
    """Write the problems with `meta.logic_classes` as a configuration's model has them, and print its counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", type=Path)
    parser.add_argument("problems", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    config, problems = load_run(given.config), read_problems(given.problems)
    policy = cast(ChatPolicy, quiet_policy(config, config.arms[0], None))
    own = [statements(problem) for problem in problems]
    wordings = list(dict.fromkeys(statement for listed in own for statement in listed))
    sampling = config.sampling.sampling("free", temperature=0.0, samples=1)
    try:
        named = dict(zip(wordings, classify(policy, wordings, sampling, seed=given.seed), strict=True))
    except Interrupted as error:
        raise error.reason from error
    counts = coverage(named[each] for listed in own for each in listed)
    print(f"statements of each class: {', '.join(f'{what} {num}' for what, num in counts.items())}")
    classes = [{named[each] for each in listed} for listed in own]
    found = [
        replace(problem, meta={**problem.meta, "logic_classes": [name for name in LOGIC_CLASSES if name in each]})
        for problem, each in zip(problems, classes, strict=True)
    ]
    write_records(given.out, [problem.record() for problem in found])


if __name__ == "__main__":
    main()
