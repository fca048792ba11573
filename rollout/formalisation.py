"""Other people's rationales in a critic's language: a policy writes down formally what a free text says.

The formal version is judged like any attempt. That it says what the text says stays the policy's word: whoever trains
on the text does so on trust in its formalisation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from critics.problem import Problem
from rollout.conversation import Messages, message
from rollout.guide import Guide
from rollout.policy import ChatPolicy, Completion
from rollout.programs.prompt import LANGUAGES, opening, program_in
from rollout.prompt import PromptStyle, messages
from rollout.traces import Sampling

FORMATS = ("guided", *LANGUAGES)
"""The formats that a policy can be asked to write a rationale in."""
RATIONALE = "rationale"
"""The key of `Problem.meta` that holds the text."""
_TASK = """Somebody wrote this about the problem:

{}

Write down formally, in the format above, what that text assumes, how it reasons, and what it comes to. Do not mend it \
and do not solve the problem in another way: where the text is wrong, so is its formal version."""
_EXAMPLES: Mapping[str, int] = {"guided": 2}


class Formaliser:
    """A policy that reads a problem with its rationale as a request for the rationale's formal version."""

    def __init__(self, policy: ChatPolicy, format_: str) -> None:
        self.digests = policy.digests
        self._policy = policy
        self._format = format_

    def prompt(self, problem: Problem, *, hint: bool = False) -> str:
        """Return the conversation; there is no hint, because the text has its own answer."""
        assert not hint
        return self._policy.conversation(request(problem, self._format))

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        """Write as the policy does; of a program, what stands in its code fence."""
        written = self._policy.complete(prompts, guides, seeds, sampling)
        if self._format == "guided":
            return written
        return [replace(completion, text=program_in(completion.text)) for completion in written]


def request(problem: Problem, format_: str, num_examples: int | None = None) -> Messages:
    """Return what a policy is asked: the format's rules and examples, the problem, and the text about it."""
    num = _EXAMPLES.get(format_, 1) if num_examples is None else num_examples
    if format_ == "guided":
        *before, asked = messages(problem, PromptStyle("chat", num, "guided"))
    else:
        *before, asked = opening(problem, format_, num)
    task = _TASK.format(str(problem.meta[RATIONALE]).strip())
    return [*before, message("user", f"{asked['content']}\n{task}")]
