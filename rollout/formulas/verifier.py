"""A language model as verifier: it is asked whether two formulas mean the same, and its last line is read.

AutoEval measures how far such opinions can be trusted (section 3.2, appendix F); nothing here believes them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from critics.formats.equivalence.language import Language
from critics.problem import Problem
from critics.text.answer_reader import read_answer as read_one
from rollout.policies.policy import ChatPolicy
from rollout.prompts.conversation import Message, message
from rollout.records.digests import ServerUse
from rollout.records.sampling import Sampling, derived_seed

Said = Literal["yes", "no", "unreadable"]
_KINDS = {
    Language.PROPOSITIONAL: "formulas of propositional logic",
    Language.THREE_CNF: "formulas of propositional logic",
    Language.FIRST_ORDER: "formulas of first-order logic",
    Language.REGEX: "regular expressions",
}
_MEANS = {Language.REGEX: "match exactly the same words"}
_TASK = """You are given two {kind}. Do they {means}? Think it through in a few sentences. Then end with a \
line that says `Answer: yes` or `Answer: no` and nothing else."""
_ASKED = Problem("", "", "", "Do they agree?")
_SAID: dict[str, Said] = {"true": "yes", "false": "no"}


@dataclass(frozen=True, slots=True)
class VerifiedPair:
    """Two formulas to be compared."""

    id: str
    language: Language
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class PairOpinion:
    """A policy's answer about a pair."""

    pair: VerifiedPair
    said: Said
    prompt: str
    completion: str
    seed: int
    server: ServerUse | None = None


def opinions(
    policy: ChatPolicy, pairs: Sequence[VerifiedPair], sampling: Sampling, *, seed: int
) -> Iterator[PairOpinion]:
    """Yield what the policy says of each pair, asked as one batch; raises what the policy raises."""
    prompts = [policy.conversation(_request(pair)) for pair in pairs]
    seeds = [derived_seed(seed, pair.id, "verifier") for pair in pairs]
    completions = policy.complete(prompts, None, seeds, sampling)
    for pair, prompt, own_seed, completion in zip(pairs, prompts, seeds, completions, strict=True):
        yield PairOpinion(pair, read_answer(completion.text), prompt, completion.text, own_seed, completion.server)


def read_answer(text: str) -> Said:
    """Return the one answer of a reply."""
    return _SAID.get(read_one(text, _ASKED) or "", "unreadable")


def _request(pair: VerifiedPair) -> list[Message]:
    task = _TASK.format(
        kind=_KINDS[pair.language],
        means=_MEANS.get(pair.language, "mean the same in every case, so that they are equivalent"),
    )
    return [message("system", task), message("user", f"First: {pair.left}\nSecond: {pair.right}")]
