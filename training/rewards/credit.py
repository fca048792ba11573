"""Credit at the first bad step: a text is punished from there on, and not for what stands before it.

Where the first bad step is not known, the whole text is punished: it could not be read, or it stops short.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from critics.formats.format import find_format
from critics.formats.steps import bad_place
from critics.problem import Attempt
from critics.verdict import Certified, Verdict
from critics.verdict.reading import UNDECIDED

Credit = Literal["attempt", "first_bad_step"]
"""attempt: all of a text is punished alike; first_bad_step: from its first bad step on."""


def bad_start(attempt: Attempt, verdict: Verdict) -> int | None:
    """Return where the first bad step begins, in characters of the completion; None where none is known."""
    bad = verdict.first_bad_step
    if isinstance(verdict, Certified) or verdict.coverage is None or (bad is not None and bad.reason in UNDECIDED):
        return None
    steps = find_format(attempt.format).steps(attempt.problem, attempt.completion)
    at = bad_place(verdict, steps)
    return None if at is None or at >= len(steps) else steps[at].start


def tokens_before(ids: Sequence[int], start: int, decode: Callable[[Sequence[int]], str]) -> int:
    """Return how many tokens end at or before a character; one that straddles it belongs to what follows."""
    for num in range(1, len(ids) + 1):
        if len(decode(ids[:num])) > start:
            return num - 1
    return len(ids)


def credited(trainer: Any) -> Any:
    """Return a TRL GRPO trainer class whose negative advantages begin at the first bad step.

    The trainer's one reward function is a `CertifiedReward`, which knows the places. TRL computes its loss for
    advantages of each token where a subclass gives them so; rewards, baselines and the loss stay as they are.
    """

    class Credited(trainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            made: Any = trainer._generate_and_score_completions(self, inputs)
            ids, mask = made["completion_ids"], made["completion_mask"]
            spread: Any = made["advantages"].unsqueeze(1).repeat(1, ids.size(1))
            for row, start in enumerate(self.reward_funcs[0].bad_starts):
                if start is not None and made["advantages"][row] < 0:
                    said = ids[row][mask[row].bool()].tolist()
                    spread[row, : tokens_before(said, start, self._decoded)] = 0
            return {**made, "advantages": spread}

        def _decoded(self, ids: Sequence[int]) -> str:
            return str(self.processing_class.decode(ids, skip_special_tokens=True))

    return Credited
