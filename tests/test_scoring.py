"""How likely a text is to a policy: in this process, behind a server, and where nobody can tell."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from critics.errors import InputError, RunFailed
from rollout.decoding.choice import score_batch
from rollout.decoding.rows import Request
from rollout.decoding.sampling import sample_batch
from rollout.policies.policy import HuggingFacePolicy, ScoringPolicy, ScriptedPolicy, prompt_ids
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Switches
from rollout.servers.policy import ServerPolicy
from rollout.settings import ServerSettings
from tests.rehearsal.server import Sent, completion, listening, sent

PROMPTS = ["Context: Every cat is warm.", "Context: Tom is a cat. ServerRequest: Is Tom warm?", "Context: A."]
RESTS = ["Tom is warm.", "Answer: true", "Every dog is small and every cat is not."]


@pytest.fixture(scope="module")
def policy(tiny_model: Path) -> HuggingFacePolicy:
    return HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle())


def test_a_score_is_the_sum_over_the_continuations_tokens(policy: HuggingFacePolicy):
    for prompt, rest in zip(PROMPTS, RESTS, strict=True):
        before = prompt_ids(policy.tokenizer, prompt, policy.prompt_style)
        after = policy.tokenizer(rest, add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logits = policy.model(torch.tensor([[*before, *after]])).logits[0].log_softmax(-1)
        expected = sum(float(logits[len(before) + n - 1, token]) for n, token in enumerate(after))
        assert policy.score([prompt], [rest])[0] == pytest.approx(expected, abs=1e-4)


def test_neither_the_batch_nor_its_order_changes_a_score(policy: HuggingFacePolicy):
    together = policy.score(PROMPTS, RESTS)
    assert together == pytest.approx([policy.score([p], [r])[0] for p, r in zip(PROMPTS, RESTS, strict=True)], abs=1e-4)
    assert together[::-1] == pytest.approx(policy.score(PROMPTS[::-1], RESTS[::-1]), abs=1e-4)


def test_a_sample_has_the_score_that_it_was_drawn_with(policy: HuggingFacePolicy):
    ids = prompt_ids(policy.tokenizer, PROMPTS[1], policy.prompt_style)
    request = Request(ids, 3, None)
    sample_batch(
        policy.model, [request], policy._masks, temperature=1.0, max_new_tokens=12, pad_id=0,
        eos_id=policy.tokenizer.eos_token_id, switches=Switches(log_probabilities=True),
    )  # fmt: skip
    [score] = score_batch(policy.model, [(ids, request.output)], pad_id=0)
    assert score == pytest.approx(sum(request.log_probabilities), abs=1e-3)


def test_nothing_is_certain_and_a_text_after_nothing_has_no_score(policy: HuggingFacePolicy):
    assert policy.score([PROMPTS[0]], [""]) == [0.0]
    with pytest.raises(ValueError, match="this one is empty"):
        score_batch(policy.model, [([], [1])], pad_id=0)


def test_policies_that_can_rate_are_told_from_those_that_cannot(policy: HuggingFacePolicy):
    assert isinstance(policy, ScoringPolicy)
    assert not isinstance(ScriptedPolicy([]), ScoringPolicy)


@dataclass
class Echo:
    """Echoes prompts, a token for each word, of which the nth has the log-probability -n."""

    silent: bool = False
    gaps: bool = False
    bodies: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""

    def answer(self, _: str, body: dict[str, Any]) -> Sent:
        self.bodies.append(body)
        words = [*body["prompt"].split(" "), "more"]
        values: list[float | None] = [None, *(-float(n) for n in range(1, len(words)))]
        if self.gaps:
            values[-2] = None
        more = {} if self.silent else {"logprobs": {"tokens": words, "token_logprobs": values}}
        return sent(completion("", "length", chat=False, usage=(len(words) - 1, 1), **more))


@pytest.fixture
def echo() -> Iterator[Echo]:
    found = Echo()
    with listening(found.answer) as found.url:
        yield found


def served(url: str, **options: Any) -> ServerPolicy:
    return ServerPolicy(ServerSettings(base_url=url, model="m", **options), prompt_style=PromptStyle())


def test_a_server_that_echoes_rates_the_words_behind_the_prompt(echo: Echo):
    assert served(echo.url).score(["a b c", "a b c", "a"], [" d e", " d", " b"]) == [-7.0, -3.0, -1.0]
    assert len(echo.bodies) == 5
    assert all(body["echo"] is True and body["max_tokens"] == 1 for body in echo.bodies)


def test_a_server_that_does_not_echo_is_named(echo: Echo):
    echo.silent = True
    with pytest.raises(InputError, match="write coder-reviewer-own in the place"):
        served(echo.url).score(["a b"], [" c"])
    with pytest.raises(InputError, match="set it to completions"):
        served(echo.url, kind="chat").score(["[]"], ["c"])


def test_a_log_probability_that_is_missing_is_not_taken_for_certain(echo: Echo):
    echo.gaps = True
    with pytest.raises(RunFailed, match="leaves out"):
        served(echo.url).score(["a b"], [" c"])
