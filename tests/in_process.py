"""Reviews in the test's own process, for texts that are trusted; the product's are in processes that can be killed."""

from collections.abc import Sequence
from typing import Any

from rollout.actor_critic import feedback
from rollout.programs import review as programs


def review_here(submitted: Sequence[Any]) -> list[Any]:
    """Review the replies of a dialog, or solver programs."""
    return [feedback.review(one) if isinstance(one, feedback.Reply) else programs.review(one) for one in submitted]
