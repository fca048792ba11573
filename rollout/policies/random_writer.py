"""The random writer: no model, but the sentences that a guide allows, each as likely as the next.

A guide does part of a model's work, and this writer shows how much: it stands beside every guided figure.
"""

from collections.abc import Sequence
from random import Random

from critics.errors import InputError
from critics.problem import Problem
from rollout.decoding.guide import Guide, SentenceGuide
from rollout.policies.models import RANDOM
from rollout.policies.policy import Completion
from rollout.prompts.conversation import Messages, as_text
from rollout.prompts.prompt import messages, text
from rollout.prompts.style import PromptStyle
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling


class RandomWriter:
    """A policy that reads nothing; a token limit does not apply to it, the guide's limit of sentences does."""

    def __init__(self, prompt_style: PromptStyle) -> None:
        self.digests = PolicyDigests(RANDOM)
        self.prompt_style = prompt_style

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return what a model would read, so that its texts can teach one."""
        style = self.prompt_style
        if style.kind == "chat":
            return self.conversation(messages(problem, style, hint=hint))
        return text(problem, style, hint=hint)

    def conversation(self, messages: Messages) -> str:
        """Return the conversation as text."""
        return as_text(messages)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Write one text for each guide; raises `InputError` where there is none, or one that leaves text free."""
        if guides is None:
            raise InputError("model.name: random draws among what a guide allows; set decoding to guided")
        return [_written(guide, Random(seed)) for guide, seed in zip(guides, seeds, strict=True)]


def _written(guide: Guide, chance: Random) -> Completion:
    if not isinstance(guide, SentenceGuide):
        raise InputError("model.name: random writes under the guide `english`, which leaves no text free; name it")
    text = b""
    while not guide.is_over:
        sentence = chance.choice(guide.allowed().words)
        guide.close(sentence)
        text += sentence
    return Completion(text.decode(), (), True)
