"""Promotion: decides whether the next round starts from this round's adapter.

An adapter that answers almost nothing, or does worse than guessing, is not promoted. The thresholds are such that
chance does not reach them; between adapters that work nothing is chosen, which on the held-out problems would be
training on them.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from critics.problem import Problem
from rollout.problems.catalogue import LANGUAGES
from training.configuration.run import PromotionConfig
from training.records.run_folder import REFUSED
from training.records.store import write_json


def promoted(
    config: PromotionConfig, round_dir: Path, new: Path | None, old: Path | None, held_out: Sequence[Problem]
) -> Path | None:
    """Return the adapter to go on with after a round whose evaluation.json is in place; say in refused.json why not.

    The same evaluation gives the same decision, so a resumed run decides alike.
    """
    import json

    if new is None or new == old:
        return new
    modes = json.loads((round_dir / "evaluation.json").read_text(encoding="utf-8"))["modes"]
    reason = refusal(modes["sampled"], chance_of(held_out), config)
    if reason is None:
        return new
    write_json(round_dir / REFUSED, {"adapter": "not promoted", "reason": reason})
    return old


def refusal(mode: Mapping[str, Any], chance: float, config: PromotionConfig) -> str | None:
    """Return why the next round does not start from a policy with this mode of evaluation.json; None where it does.

    `chance` is how likely a guess is right. Only answered problems are compared with it: to abstain is no error.
    Records of versions that did not count answers are counted by those without one.
    """
    num = mode["n"]
    if not config.enabled or not num:
        return None
    answered: int = mode.get("answered", num - mode.get("no_answer", 0))
    if answered < config.min_answered * num or answered == 0:
        return f"it answers {answered} of {num} problems, fewer than promotion.min_answered = {config.min_answered:g}"
    binom: Any = import_module("scipy.stats").binom  # which a machine that is qualified may lack
    p = float(binom.cdf(mode["right"], answered, chance))
    if p < config.chance_p:
        return (
            f"{mode['right']} of {answered} answers are right where guessing has {chance:.0%}: so few come by chance "
            f"with p = {p:.1g}, less than promotion.chance_p = {config.chance_p:g}"
        )
    return None


def chance_of(problems: Sequence[Problem]) -> float:
    """Return how likely a guess is right, on average; without options it is one of the answers the data set has.

    Nobody comes back from a round trip by guessing.
    """
    answers: dict[str, set[str]] = {}
    for problem in problems:
        known = answers.setdefault(problem.dataset, {"true", "false"})
        if problem.options is None and problem.answer is not None:
            known.add(problem.answer)
    chances = [
        0.0 if problem.dataset in LANGUAGES else 1 / len(problem.options or answers[problem.dataset])
        for problem in problems
    ]
    return sum(chances) / len(chances) if chances else 0.0
