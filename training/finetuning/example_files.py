"""A dataset folder's examples as token ids, each checked before the first step."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from rollout.policies.policy import as_prompt, prompt_ids
from rollout.prompts.conversation import Messages, message
from rollout.prompts.style import PromptStyle
from training.configuration.fine_tuning import LossOn
from training.configuration.model import ModelConfig
from training.lessons import dialogs
from training.lessons.dialogs import MaskedExample, masked_example, read_lesson
from training.lessons.examples import Example, ExampleError, checked, spells, tokenised, unread_tokens, without_end
from training.lineage.revocation import check_unrevoked
from training.records.store import read_records

log = logging.getLogger(__name__)
_OPENING = 8
"""Characters of the chat template by which a prompt is seen to be one of its."""
Examples: TypeAlias = list[Example] | list[MaskedExample]
"""Examples of one kind: completions of prompts, or dialogs with a mask."""


def examples_path(data: Path) -> Path:
    """Return where a dataset folder holds its examples; raises `ExampleError` where there are none."""
    path = data / "examples.jsonl"
    if not path.exists():
        raise ExampleError(f"{path} does not exist; `certistar filter` makes such a folder")
    check_unrevoked(data)
    return path


def read_examples(
    data: Path, model: ModelConfig, tokenizer: Any, *, max_tokens: int, loss_on: LossOn = "completion"
) -> Examples:
    """Read a dataset folder's examples and check each; raises `ExampleError` or `StoreError`."""
    path = examples_path(data)
    records = list(read_records(path))
    if not records:
        raise ExampleError(f"{path}: there is no example to train on")
    if twice := next((r for r in records if "messages" in r and ("prompt" in r or "completion" in r)), None):
        raise ExampleError(f"{path}: example {twice.get('id')!r} has messages and a text of its own; keep one of them")
    kinds = {"messages" in record for record in records}
    if len(kinds) > 1:
        raise ExampleError(f"{path}: holds completions and dialogs; filter them into folders of their own")
    style = model.style("guided")
    if kinds == {True}:
        return _read_lessons(records, tokenizer, style, max_tokens)
    _warn_of_other_prompts(path, records, tokenizer, style)
    return _read_completions(records, tokenizer, style, max_tokens, loss_on)


def _warn_of_other_prompts(path: Path, records: list[dict[str, Any]], tokenizer: Any, style: PromptStyle) -> None:
    """Tell where prompts do not begin as the chat template does: the model will be asked in another way than it learns.

    Attempts that came without a prompt, as those of `demonstrate` without `--config`, were given a bare one.
    """
    if style.kind != "chat":
        return
    asked, told = message("user", "the question"), message("system", "the question")
    opened = [as_prompt(turns, tokenizer, style).partition("the question")[0] for turns in ([asked], [told, asked])]
    openings = tuple(text[:_OPENING] for text in opened)
    others = sum(not record["prompt"].startswith(openings) for record in records)
    if others:
        log.warning(
            "%s: %d of %d prompts do not begin with %r as model.prompt: chat does; write them by "
            "`certistar demonstrate --config`, or set model.prompt to what they are",
            *(path, others, len(records), openings[0]),
        )


def _read_completions(
    records: list[dict[str, Any]], tokenizer: Any, style: PromptStyle, limit: int, loss_on: LossOn
) -> list[Example]:
    examples: list[Example] = []
    for record in records:
        prompt = tuple(prompt_ids(tokenizer, record["prompt"], style))
        stored = tuple(record.get("completion_ids") or ())
        if stored and spells(stored, record["completion"], tokenizer):
            written = without_end(stored, tokenizer)
            end = (tokenizer.eos_token_id,) * (len(stored) - len(written))  # the one end that is taught
            example = Example(record["id"], prompt, (*written, *end))
        else:
            # The prompt is tokenised as the policy does it, or a chat template's special tokens would come twice.
            example = tokenised(record["id"], record["prompt"], record["completion"], tokenizer)
            example = replace(example, prompt_ids=prompt)
        if loss_on == "covered" and record.get("unread"):
            unlearnt = unread_tokens(example.completion_ids, record["unread"], tokenizer)
            example = replace(example, unlearnt=unlearnt)
            if example.num_learnt < 2:
                continue  # nothing but end-of-text is left
        examples.append(checked(example, eos_id=tokenizer.eos_token_id, max_tokens=limit))
    if not examples:
        raise ExampleError("training.loss_on: no example has a token that is covered")
    return examples


def _read_lessons(records: list[dict[str, Any]], tokenizer: Any, style: PromptStyle, limit: int) -> list[MaskedExample]:
    def conversation(messages: Messages) -> str:
        return as_prompt(messages, tokenizer, style)

    made = [masked_example(read_lesson(record), conversation, tokenizer, style) for record in records]
    return [dialogs.checked(example, eos_id=tokenizer.eos_token_id, max_tokens=limit) for example in made]
