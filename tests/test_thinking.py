"""Reasoning models: what they think stays beside the answer, also under a guide, and a cut-off thought is none."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.problem import Formal, Problem
from critics.text.answer_reader import read_answer
from rollout.guides.logic import LogicGuide
from rollout.policies.policy import Completion, HuggingFacePolicy, ScriptedPolicy, load_tokenizer
from rollout.policies.reasoning import AnswersOnly
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.servers.policy import ServerPolicy
from rollout.settings import ServerSettings
from rollout.strategies.single import sample
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig

PIP = Problem("p", "mine", "Pip is a wren. Every wren is red.", "Pip is red.", answer="true")
FREE = Sampling(decoding="free", max_new_tokens=40)
QWEN = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}"
    "<|assistant|>{% if enable_thinking is defined and enable_thinking is false %}<think>\n\n</think>\n\n"
    "{% endif %}{% endif %}"
)
"""As Qwen3's template has it."""
OPENING = QWEN.split("{% if enable")[0] + "<think>\n{% endif %}"
"""As templates of DeepSeek-R1's kind have it: the reply begins within the thought."""


class Recording(ScriptedPolicy):
    """A script that remembers what it was asked."""

    def __init__(self, completions: list[str | Completion]) -> None:
        super().__init__(completions)
        self.asked: list[tuple[str, bool, Sampling]] = []

    def complete(self, prompts: Any, guides: Any, seeds: Any, sampling: Sampling) -> list[Completion]:
        self.asked += [(prompt, guides is not None, sampling) for prompt in prompts]
        return super().complete(prompts, guides, seeds, sampling)


def test_a_thought_that_the_template_opened_and_nothing_ended_is_no_answer() -> None:
    policy = AnswersOnly(
        ScriptedPolicy(["The answer is true, I think. Answer: true", "Hm.\n</think>\n\nAnswer: false"])
    )
    cut, ended = policy.complete(["Q<think>\n", "Q<think>\n"], None, [0, 1], FREE)
    assert (cut.text, cut.thoughts) == ("", "The answer is true, I think. Answer: true")
    assert (ended.text, read_answer(ended.text, PIP)) == ("Answer: false", "false")
    [spoken] = AnswersOnly(ScriptedPolicy(["Answer: true"])).complete(["Q"], None, [0], FREE)
    assert spoken.text == "Answer: true"


def test_with_a_budget_the_guide_begins_where_the_thought_ends() -> None:
    policy = Recording(["Pip is a wren [[not a block", "Formalized context: 1- [[axiom:(wren pip)]]\nAnswer: true"])
    [trace] = sample(AnswersOnly(policy, 17), [PIP], replace(FREE, decoding="guided"), seed=3, format_="guided")
    (thought, is_guided, thinking), (asked, then_guided, answering) = policy.asked
    assert (is_guided, then_guided) == (False, True)
    assert (thinking.max_new_tokens, thinking.stop, answering.max_new_tokens) == (17, "</think>", 40)
    assert asked == f"{thought}Pip is a wren [[not a block\n</think>\n\n"
    assert thought == f"{trace.prompt}<think>\n"
    assert trace.completion.startswith("Formalized context")
    assert "[[not a block" in trace.thoughts


def test_a_guide_without_a_budget_is_refused() -> None:
    guided = LogicGuide.for_problem(PIP)
    with pytest.raises(InputError, match="thinking_budget"):
        AnswersOnly(ScriptedPolicy(["x"])).complete(["Q"], [guided], [0], FREE)
    with pytest.raises(ValueError, match="thinking_budget"):
        RunConfig.model_validate({"name": "t", "model": {"name": "m", "thinking": "stripped"}})
    model = {"name": "m", "thinking": "stripped", "thinking_budget": 8}
    assert RunConfig.model_validate({"name": "t", "model": model}).model.thinking_budget == 8
    for other in ({"thinking": "disabled"}, {"server": {"base_url": "http://h/v1", "model": "m", "kind": "chat"}}):
        with pytest.raises(ValueError, match="thinking"):
            RunConfig.model_validate({"name": "t", "model": {**model, **other}})


@pytest.mark.parametrize(("thinking", "ending"), [("kept", "<|assistant|>"), ("disabled", "</think>\n\n")])
def test_templates_and_servers_are_told_whether_to_think(tiny_model: Path, tmp_path: Path, thinking: Any, ending: str):
    tokenizer = load_tokenizer(str(tiny_model))
    tokenizer.chat_template = QWEN
    shutil.copytree(tiny_model, tmp_path, dirs_exist_ok=True)
    tokenizer.save_pretrained(tmp_path)
    style = ModelConfig(name="m", prompt="chat", thinking=thinking).style("cot")
    served = ServerPolicy(
        ServerSettings(base_url="http://127.0.0.1:9/v1", model="m"), prompt_style=style, tokenizer=str(tmp_path)
    )
    assert served.prompt(PIP).endswith(ending)
    chat = ServerPolicy(ServerSettings(base_url="http://127.0.0.1:9/v1", model="m", kind="chat"), prompt_style=style)
    told = {"chat_template_kwargs": {"enable_thinking": False}} if thinking == "disabled" else {}
    assert dict(chat.settings.extra_body) == told


def test_a_model_in_this_process_thinks_up_to_its_budget_and_answers_under_the_guide(tiny_model: Path) -> None:
    policy = AnswersOnly(HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle()), 6)
    problem = replace(PIP, formal=Formal(("(wren pip)", "(wren 'x) -> (red 'x)"), "(red pip)"))
    traces = list(sample(policy, [problem], replace(FREE, decoding="guided"), seed=1, format_="guided"))
    assert traces[0].thoughts.endswith(traces[0].completion or traces[0].thoughts)
    assert "</think>" in traces[0].thoughts
    assert "</think>" not in traces[0].completion or traces[0].completion_ids == ()
