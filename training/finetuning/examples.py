"""A dataset folder's examples as rows of token ids with a mask of what is learnt, each checked before the first step.

An example from which nothing would be learnt, or which would not teach the model to stop, is an error and never a
warning. Under `layout: packed` several examples share a row and none sees another: transformers tells them apart by
their positions, which start at 0 again (its models then mask attention, or call flash attention's kernel for ragged
rows); that holds only where no attention mask is given.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired, TypeAlias, TypedDict

from critics.formats.names import GUIDED
from rollout.policies.policy import as_prompt, prompt_ids
from rollout.prompts.conversation import message, turn_places
from rollout.prompts.style import PromptStyle
from training.configuration.fine_tuning import LossOn, TrainingConfig
from training.configuration.model import ModelConfig
from training.lessons.teaching import Conversation, ExampleError, Lesson, read_lesson
from training.lineage.revocation import check_unrevoked
from training.records.store import Record, read_records

log = logging.getLogger(__name__)
IGNORED = -100
"""The label that the loss of torch and transformers skips."""
_OPENING = 8
"""Characters of the chat template by which a prompt is seen to be one of its."""


@dataclass(frozen=True, slots=True)
class Example:
    """One example: everything that is read and written, and which of it is learnt; it ends in end-of-text."""

    id: str
    ids: tuple[int, ...]
    learnt: tuple[bool, ...]
    """One for each id."""

    @classmethod
    def of(cls, example_id: str, prompt: Sequence[int], completion: Sequence[int]) -> "Example":
        """Return the example of a prompt, which is read, and a completion, which is learnt."""
        return cls(example_id, (*prompt, *completion), (False,) * len(prompt) + (True,) * len(completion))

    @property
    def num_tokens(self) -> int:
        """Return the whole length."""
        return len(self.ids)

    @property
    def num_learnt(self) -> int:
        """Return how many tokens the loss is on."""
        return sum(self.learnt)


Row: TypeAlias = tuple[Example, ...]
"""The examples that share a row: one, or a pack."""


def length(row: Row) -> int:
    """Return the tokens of a row."""
    return sum(example.num_tokens for example in row)


def examples_path(data: Path) -> Path:
    """Return where a dataset folder holds its examples; raises `ExampleError` where there are none."""
    path = data / "examples.jsonl"
    if not path.exists():
        raise ExampleError(f"{path} does not exist; `certistar filter` makes such a folder")
    check_unrevoked(data)
    return path


def read_examples(
    data: Path, model: ModelConfig, tokenizer: Any, *, max_tokens: int, loss_on: LossOn = "completion"
) -> list[Example]:
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
    style = model.style(GUIDED)
    if kinds == {True}:
        made = [
            masked_example(read_lesson(r), lambda turns: as_prompt(turns, tokenizer, style), tokenizer, style)
            for r in records
        ]
    else:
        _warn_of_other_prompts(path, records, tokenizer, style)
        made = [_completed(record, tokenizer, style) for record in records]
    if loss_on == "covered":
        made = [_covered(*pair, tokenizer) for pair in zip(made, records, strict=True)]
        # Of what no critic reads at all nothing but end-of-text is left.
        made = [e for e, record in zip(made, records, strict=True) if not record.get("unread") or e.num_learnt > 1]
        if not made:
            raise ExampleError("training.loss_on: no example has a token that is covered")
    return [checked(example, eos_id=tokenizer.eos_token_id, max_tokens=max_tokens) for example in made]


def _warn_of_other_prompts(path: Path, records: list[Record], tokenizer: Any, style: PromptStyle) -> None:
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


def _completed(record: Record, tokenizer: Any, style: PromptStyle) -> Example:
    """Return the example of a prompt, tokenised as the policy does it, or a template's special tokens come twice."""
    stored, completion = tuple(record.get("completion_ids") or ()), record["completion"]
    if stored and spells(stored, completion, tokenizer):
        written = without_end(stored, tokenizer)
        end = [tokenizer.eos_token_id] * (len(stored) - len(written))  # the one end that is taught
    else:
        written, end = tokenizer(completion, add_special_tokens=False)["input_ids"], [tokenizer.eos_token_id]
    return Example.of(record["id"], prompt_ids(tokenizer, record["prompt"], style), [*written, *end])


def _covered(example: Example, record: Record, tokenizer: Any) -> Example:
    """Return the example without a loss on tokens of its completion's stretches that the critic could not read."""
    if not record.get("unread"):
        return example
    start = example.learnt.index(True)
    unread = unread_tokens(example.ids[start:], record["unread"], tokenizer)
    learnt = tuple(at >= start and at - start not in unread for at in range(example.num_tokens))
    return Example(example.id, example.ids, learnt)


def masked_example(lesson: Lesson, conversation: Conversation, tokenizer: Any, style: PromptStyle) -> Example:
    """Tokenise a lesson: up to the first turn that is learnt as a policy reads its prompt, then turn by turn.

    Raises `ExampleError` where the template does not repeat a turn word for word, so that a mask over it would lie.
    """
    places = turn_places(lesson.messages)
    start = next(n for n, turn in enumerate(lesson.turns) if turn.learnt)
    said = conversation(lesson.messages[: places[start]])
    ids = list(prompt_ids(tokenizer, said, style))
    learnt = [False] * len(ids)
    for place, turn in zip(places[start:], lesson.turns[start:], strict=True):
        read, content = conversation(lesson.messages[:place]), lesson.messages[place]["content"]
        if not read.startswith(said):
            raise ExampleError(
                f"lesson {lesson.id}: the chat template changes an earlier turn of the actor, so that its stored ids "
                "do not fit; set loss to 'final'"
            )
        # The end-of-text after a turn is the turn's own.
        rest = read[len(said) :].removeprefix(tokenizer.eos_token)
        between: list[int] = tokenizer(rest, add_special_tokens=False)["input_ids"] if rest else []
        # Stored ids go past the text where a stop string ended it, and mean nothing to another model's tokenizer.
        written = without_end(turn.ids, tokenizer)
        if not written or not spells(turn.ids, content, tokenizer):
            written = tokenizer(content, add_special_tokens=False)["input_ids"]
        ids += [*between, *written, tokenizer.eos_token_id]
        learnt += [False] * len(between) + [turn.learnt] * (len(written) + 1)
        said = read + content
    return Example(lesson.id, tuple(ids), tuple(learnt))


def checked(example: Example, *, eos_id: int, max_tokens: int) -> Example:
    """Return the example, or raise `ExampleError` where it would teach nothing, not teach to stop, or be cut."""
    learnt = [token for token, is_learnt in zip(example.ids, example.learnt, strict=True) if is_learnt]
    if not any(token != eos_id for token in learnt):
        raise ExampleError(f"example {example.id}: no token of it is supervised")
    if example.ids[-1] != eos_id or not example.learnt[-1]:
        raise ExampleError(f"example {example.id}: its end-of-text token ({eos_id}) is not supervised")
    if example.num_tokens > max_tokens:
        raise ExampleError(
            f"example {example.id}: {example.num_tokens} tokens exceed training.max_tokens = {max_tokens}, and a cut "
            "would drop its end-of-text token; raise training.max_tokens or filter it out; of dialogs, the extent "
            "'last' is shorter"
        )
    return example


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


def rows_of(examples: Sequence[Example], config: TrainingConfig) -> list[Row]:
    """Return what the Trainer sees as its data set, without blank rows."""
    if config.layout == "packed":
        return packed(examples, room=config.max_tokens)
    return [(example,) for example in examples]


def packed(examples: Sequence[Example], *, room: int) -> list[Row]:
    """Fill rows of at most `room` tokens, the longest example first into the first row that has room (first fit).

    The order of equally long examples is kept, so equal data gives equal rows.
    """
    rows: list[list[Example]] = []
    left: list[int] = []
    for example in sorted(examples, key=lambda e: -e.num_tokens):
        place = next((i for i, space in enumerate(left) if space >= example.num_tokens), len(rows))
        if place == len(rows):
            rows.append([])
            left.append(room)
        rows[place].append(example)
        left[place] -= example.num_tokens
    return list(map(tuple, rows))


class Batch(TypedDict):
    """Tensors of the shape [batch, longest]."""

    input_ids: Any
    labels: Any
    attention_mask: NotRequired[Any]
    position_ids: NotRequired[Any]


@dataclass(frozen=True, slots=True)
class Collator:
    """Joins the examples of each row and pads rows on the right; what is not learnt has the label of no loss."""

    pad_id: int
    packed: bool = False
    """Rows are packs: positions in the place of an attention mask, and padding is one more example."""

    def __call__(self, batch: Sequence[Row]) -> Batch:
        """Return a batch."""
        import torch

        shape = (len(batch), max(map(length, batch)))
        input_ids = torch.full(shape, self.pad_id, dtype=torch.long)
        labels = torch.full_like(input_ids, IGNORED)
        mask, positions = torch.zeros_like(input_ids), torch.zeros_like(input_ids)
        for row, examples in enumerate(batch):
            start = 0
            for example in examples:
                end = start + example.num_tokens
                ids = torch.tensor(example.ids)
                input_ids[row, start:end] = ids
                labels[row, start:end] = torch.where(torch.tensor(example.learnt), ids, IGNORED)
                if self.packed:
                    labels[row, start] = IGNORED  # or the example before it would be taught to begin this one
                mask[row, start:end] = 1
                positions[row, start:end] = torch.arange(end - start)
                start = end
            positions[row, start:] = torch.arange(shape[1] - start)
        if self.packed:
            return {"input_ids": input_ids, "labels": labels, "position_ids": positions}
        return {"input_ids": input_ids, "attention_mask": mask, "labels": labels}
