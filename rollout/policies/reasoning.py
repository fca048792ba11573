"""Reasoning models as policies: their thoughts are kept beside the answer and are no part of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from critics.errors import InputError
from critics.problem import Problem
from critics.text.thinking import ends_thinking, opened_thinking, without_thinking
from rollout.decoding.guide import Guide
from rollout.policies.policy import ChatPolicy, Completion, Interrupted, Policy
from rollout.prompts.conversation import Messages
from rollout.records.digests import ServerUse
from rollout.records.sampling import Sampling, derived_seed

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
        if self._budget is not None:
            return self._after_thoughts(prompts, guides, seeds, sampling, self._budget)
        if guides is not None:
            raise InputError("model.thinking_budget: a guide needs it, to know where it begins to watch")
        try:
            written = self._policy.complete(prompts, guides, seeds, sampling)
        except Interrupted as error:
            pairs = zip(prompts, error.completions, strict=True)
            stripped = [None if one is None else _answer(prompt, one) for prompt, one in pairs]
            raise Interrupted(stripped, error.reason) from error
        return [_answer(prompt, one) for prompt, one in zip(prompts, written, strict=True)]

    def _after_thoughts(
        self,
        prompts: Sequence[str],
        guides: Sequence[Guide] | None,
        seeds: Sequence[int],
        sampling: Sampling,
        budget: int,
    ) -> list[Completion]:
        """Have thoughts written, end those that are not, and have each answered after its own."""
        opened = [prompt if opened_thinking(prompt) else f"{prompt}{_OPEN}" for prompt in prompts]
        thinking = replace(sampling, decoding="free", conclusion="free", max_new_tokens=budget, stop=_CLOSE)
        try:
            thoughts = self._policy.complete(opened, None, seeds, thinking)
        except Interrupted as error:
            raise Interrupted([None] * len(prompts), error.reason) from error
        # A thought that ended of itself, without its tag, is closed as one is that ran out of tokens.
        ended = [f"{one.text.rstrip()}\n{_CLOSE}\n\n" for one in thoughts]
        asked = [prompt + thought for prompt, thought in zip(opened, ended, strict=True)]
        try:
            answers: Sequence[Completion | None] = self._policy.complete(
                asked, guides, [derived_seed(seed, "answer") for seed in seeds], sampling
            )
        except Interrupted as error:
            raise Interrupted(_joined(ended, thoughts, error.completions), error.reason) from error
        return [one for one in _joined(ended, thoughts, answers) if one is not None]


def _joined(
    ended: Sequence[str], thoughts: Sequence[Completion], answers: Sequence[Completion | None]
) -> list[Completion | None]:
    """Return the answers with their thoughts beside them; ids go, so that training tokenises what is left."""
    return [
        None
        if answer is None
        else replace(
            answer,
            text=answer.text.lstrip(),
            ids=(),
            forced=(),
            log_probabilities=(),
            thoughts=thought + answer.text,
            server=_both(before.server, answer.server),
        )
        for thought, before, answer in zip(ended, thoughts, answers, strict=True)
    ]


def _both(first: ServerUse | None, second: ServerUse | None) -> ServerUse | None:
    """Return the record of the second request with the costs of both."""
    if first is None or second is None:
        return second
    costs = {key: first.get(key, 0) + second.get(key, 0) for key in _COUNTED}
    return cast("ServerUse", {**second, **costs})


def _answer(prompt: str, completion: Completion) -> Completion:
    """Return a completion without thinking; its ids go with it, so that training tokenises what is left."""
    # Attack: a thought that the template opened and nothing ended, which has no tag to be known by.
    cut_off = opened_thinking(prompt) and not ends_thinking(completion.text)
    answer = "" if cut_off else without_thinking(completion.text)
    if answer == completion.text:
        return completion
    return replace(completion, text=answer, ids=(), forced=(), log_probabilities=(), thoughts=completion.text)
