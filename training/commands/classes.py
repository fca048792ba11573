"""`problems --classes-by`: logic classes of statements as a model names them (LLM-ARC, figure 2 and appendix 7.1)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from critics.errors import InputError
from critics.problem import Problem
from rollout.actor_critic.prompt import statements
from rollout.policies.policy import ChatPolicy, Interrupted
from rollout.published.stratification import LOGIC_CLASSES, classify, coverage
from training.commands.messages import say
from training.configuration.run import load_run


def classified(name: str, problems: Sequence[Problem], config_path: Path, *, seed: int) -> list[Problem]:
    """Return FOLIO's problems with `meta.logic_classes` as a configuration's model has them, and say its counts.

    Each wording is asked about once, greedily. A statement that the model does not name a class for has none.
    """
    from training.workers.policy import quiet_policy

    if name != "folio":
        raise InputError(f"problems {name}: --classes-by is for FOLIO, whose statements have logic classes")
    config = load_run(config_path)
    policy = cast("ChatPolicy", quiet_policy(config, config.arms[0], None))
    own = [statements(problem) for problem in problems]
    wordings = list(dict.fromkeys(statement for listed in own for statement in listed))
    sampling = config.sampling.sampling("free", temperature=0.0, samples=1)
    try:
        named = dict(zip(wordings, classify(policy, wordings, sampling, seed=seed), strict=True))
    except Interrupted as error:
        raise error.reason from error
    counts = coverage(named[each] for listed in own for each in listed)
    say(f"statements of each class: {', '.join(f'{what} {num}' for what, num in counts.items())}")
    return [
        replace(problem, meta={**problem.meta, "logic_classes": _in_order({named[each] for each in listed})})
        for problem, listed in zip(problems, own, strict=True)
    ]


def _in_order(found: set[str | None]) -> list[str]:
    return [name for name in LOGIC_CLASSES if name in found]
