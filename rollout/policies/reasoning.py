"""Policies in the place of a model's plain text: models that think first, and the random writer, which is no model.

A guide does part of a model's work, and the random writer shows how much: it stands beside every guided figure.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar, cast

from critics.errors import InputError
from critics.problem import Problem
from critics.replay.replies import ends_thinking, opened_thinking, without_thinking
from rollout.decoding.guide import Guide, SentenceGuide
from rollout.policies.models import RANDOM
from rollout.policies.policy import ChatPolicy, Completion, Interrupted, Policy, StyledPolicy
from rollout.prompts.conversation import Messages
from rollout.prompts.style import PromptStyle
from rollout.records.digests import PolicyDigests, ServerUse
from rollout.records.sampling import Sampling, derived_seed

Told = TypeVar("Told")
_OPEN, _CLOSE = "<think>\n", "</think>"
_COUNTED = ("calls", "prompt_tokens", "completion_tokens", "uncounted")


class AnswersOnly:
    """A policy whose completions are the answers of another one's, without its thinking.

    With a budget the thought is written first, unguided and up to so many tokens, and then the answer, under the guide
    where there is one. Without a budget both are one completion, and no guide can watch it.
    """

    def __init__(self, policy: Policy, budget: int | None = None) -> None:
        self.digests = policy.digests
        self._policy = policy
        self._budget = budget

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return what the other one reads."""
        return self._policy.prompt(problem, hint=hint)

    def conversation(self, messages: Messages) -> str:
        """Return what the other one reads of a conversation."""
        return cast("ChatPolicy", self._policy).conversation(messages)

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Return what follows the thinking; empty where the thinking was never ended."""
        if self._budget is None:
            if guides is not None:
                raise InputError("model.thinking_budget: a guide needs it, to know where it begins to watch")
            return _changed(lambda: self._policy.complete(prompts, guides, seeds, sampling), prompts, _answer)
        # Thoughts are written, those that are not over are ended, and each is answered after its own.
        budget = self._budget
        opened = [prompt if opened_thinking(prompt) else f"{prompt}{_OPEN}" for prompt in prompts]
        thinking = replace(sampling, decoding="free", conclusion="free", max_new_tokens=budget, stop=_CLOSE)
        try:
            thoughts = self._policy.complete(opened, None, seeds, thinking)
        except Interrupted as error:
            raise Interrupted([None] * len(prompts), error.reason) from error
        # A thought that ended of itself, without its tag, is closed as one is that ran out of tokens.
        ended = [f"{one.text.rstrip()}\n{_CLOSE}\n\n" for one in thoughts]
        asked = [prompt + thought for prompt, thought in zip(opened, ended, strict=True)]
        own = [derived_seed(seed, "answer") for seed in seeds]
        before = list(zip(ended, thoughts, strict=True))
        return _changed(lambda: self._policy.complete(asked, guides, own, sampling), before, _joined)


def _changed(
    write: Callable[[], list[Completion]], told: Sequence[Told], change: Callable[[Told, Completion], Completion]
) -> list[Completion]:
    """Return what is written, each completion changed by what is told of it, also where the writing is interrupted."""
    try:
        return [change(each, one) for each, one in zip(told, write(), strict=True)]
    except Interrupted as error:
        pairs = zip(told, error.completions, strict=True)
        changed = [None if one is None else change(each, one) for each, one in pairs]
        raise Interrupted(changed, error.reason) from error


def _joined(before: tuple[str, Completion], answer: Completion) -> Completion:
    """Return an answer with its thought beside it, and the costs of both."""
    thought, written = before
    server = answer.server
    if server is not None and (first := written.server) is not None:
        costs = {key: first.get(key, 0) + server.get(key, 0) for key in _COUNTED}
        server = cast("ServerUse", {**server, **costs})
    return replace(_bare(answer, answer.text.lstrip(), thought + answer.text), server=server)


def _bare(completion: Completion, text: str, thoughts: str) -> Completion:
    """Return a completion with another text; its ids go, so that training tokenises what is left."""
    return replace(completion, text=text, ids=(), forced=(), log_probabilities=(), thoughts=thoughts)


def _answer(prompt: str, completion: Completion) -> Completion:
    """Return a completion without thinking."""
    # Attack: a thought that the template opened and nothing ended, which has no tag to be known by.
    cut_off = opened_thinking(prompt) and not ends_thinking(completion.text)
    answer = "" if cut_off else without_thinking(completion.text)
    return completion if answer == completion.text else _bare(completion, answer, completion.text)


class RandomWriter(StyledPolicy):
    """A policy that reads nothing; a token limit does not apply to it, the guide's limit of sentences does.

    Its prompts are what a model would read, so that its texts can teach one.
    """

    def __init__(self, prompt_style: PromptStyle) -> None:
        self.digests = PolicyDigests(RANDOM)
        self.prompt_style = prompt_style

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
