"""Training examples: a prompt and a completion as token ids, with the loss on the completion only.

An example from which nothing would be learnt, or which would not teach the model to stop, is an error and
never a warning: silent zero-token losses are what the peers' users lose days to (notes on peers, section 2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from critics.errors import InputError

IGNORED = -100
"""The label that the loss of torch and transformers skips."""


class ExampleError(InputError):
    """An example cannot be trained on; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class Example:
    """One example; `completion_ids` ends in end-of-text."""

    id: str
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    unlearnt: frozenset[int] = frozenset()
    """Places in the completion of tokens that the loss passes over."""

    @property
    def num_tokens(self) -> int:
        """Return the whole length."""
        return len(self.prompt_ids) + len(self.completion_ids)

    @property
    def num_learnt(self) -> int:
        """Return how many tokens the loss is on."""
        return len(self.completion_ids) - len(self.unlearnt)

    def learnt(self) -> tuple[bool, ...]:
        """Say of each token, the prompt's first, whether the loss is on it."""
        own = (at not in self.unlearnt for at in range(len(self.completion_ids)))
        return (*(False for _ in self.prompt_ids), *own)


def checked(example: Example, *, eos_id: int, max_tokens: int) -> Example:
    """Return the example, or raise `ExampleError` where it would teach nothing or not teach to stop."""
    if not example.completion_ids or example.completion_ids == (eos_id,):
        raise ExampleError(f"example {example.id}: no token of the completion is supervised")
    if example.completion_ids[-1] != eos_id:
        raise ExampleError(f"example {example.id}: its end-of-text token ({eos_id}) is not supervised")
    if example.num_tokens > max_tokens:
        raise ExampleError(
            f"example {example.id}: {example.num_tokens} tokens exceed training.max_tokens = {max_tokens}, and a "
            "cut would drop its end-of-text token; raise training.max_tokens or filter it out"
        )
    return example


def tokenised(example_id: str, prompt: str, completion: str, tokenizer: Any) -> Example:
    """Tokenise prompt and completion apart, as the policy does when it rolls out, and end in end-of-text."""
    prompt_ids = tokenizer(prompt, add_special_tokens=True)["input_ids"]
    if prompt_ids and prompt_ids[-1] == tokenizer.eos_token_id:
        prompt_ids = prompt_ids[:-1]
    completion_ids = tokenizer(completion, add_special_tokens=False)["input_ids"]
    return Example(example_id, tuple(prompt_ids), (*completion_ids, tokenizer.eos_token_id))


def without_end(ids: Sequence[int], tokenizer: Any) -> list[int]:
    """Return the ids without the token that ended the text: models name several, and all of them are special."""
    special = {tokenizer.eos_token_id, *(i for i, token in tokenizer.added_tokens_decoder.items() if token.special)}
    return list(ids[:-1] if ids and ids[-1] in special else ids)


def spells(ids: Sequence[int], text: str, tokenizer: Any) -> bool:
    """Say whether stored token ids, end-of-text left out, decode to the text that was judged.

    Attack: ids of another text beside a proved one.
    """
    written = without_end(ids, tokenizer)
    return tokenizer.decode(written, skip_special_tokens=False, clean_up_tokenization_spaces=False) == text


def unread_tokens(ids: Sequence[int], unread: Sequence[Sequence[int]], tokenizer: Any) -> frozenset[int]:
    """Return the places of the tokens of which some character, blanks apart, stands in a stretch that is not read.

    The last token, end-of-text, is always learnt. What a token spells is what decoding it adds to those before it.
    """
    found: set[int] = set()
    start = 0
    for place in range(len(ids) - 1):
        decoded = tokenizer.decode(
            list(ids[: place + 1]), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        text = decoded.rstrip("\ufffd")  # half a character
        end = max(start, len(text))
        first = start + len(text[start:end]) - len(text[start:end].lstrip())
        if any(first < stop and begin < max(end, first + 1) for begin, stop in unread):
            found.add(place)
        start = end
    return frozenset(found)


class Batch(TypedDict):
    """Tensors of the shape [batch, longest]."""

    input_ids: Any
    labels: Any
    attention_mask: NotRequired[Any]
    position_ids: NotRequired[Any]


@dataclass(frozen=True, slots=True)
class CompletionCollator:
    """Pads a batch on the right; prompt and padding carry the label that the loss skips."""

    pad_id: int

    def __call__(self, batch: Sequence[Example]) -> Batch:
        """Return input_ids, attention_mask and labels, each of shape [batch, longest]."""
        import torch

        longest = max(example.num_tokens for example in batch)
        shape = (len(batch), longest)
        input_ids = torch.full(shape, self.pad_id, dtype=torch.long)
        labels = torch.full(shape, IGNORED, dtype=torch.long)
        mask = torch.zeros(shape, dtype=torch.long)
        for row, example in enumerate(batch):
            end = example.num_tokens
            input_ids[row, :end] = torch.tensor((*example.prompt_ids, *example.completion_ids))
            labels[row, :end] = torch.where(torch.tensor(example.learnt()), input_ids[row, :end], IGNORED)
            mask[row, :end] = 1
        return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}
