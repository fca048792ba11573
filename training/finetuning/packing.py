"""Several examples in one row, none of which sees another: fewer padding tokens for the same gradient.

transformers tells the examples of a row apart by their positions, which start at 0 again (its models then mask
attention, or call flash attention's kernel for ragged rows); that holds only where no attention mask is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from training.finetuning.example_files import Examples
from training.lessons.dialogs import MaskedExample
from training.lessons.examples import IGNORED, Batch, Example


@dataclass(frozen=True, slots=True)
class Pack:
    """Examples that share a row."""

    examples: tuple[Example | MaskedExample, ...]

    @property
    def num_tokens(self) -> int:
        """Return the whole length."""
        return sum(example.num_tokens for example in self.examples)


def packed(examples: Examples, *, room: int) -> list[Pack]:
    """Fill rows of at most `room` tokens, the longest example first into the first row that has room (first fit).

    The order of equally long examples is kept, so equal data gives equal rows.
    """
    rows: list[list[Example | MaskedExample]] = []
    left: list[int] = []
    for example in sorted(examples, key=lambda e: -e.num_tokens):
        place = next((i for i, space in enumerate(left) if space >= example.num_tokens), len(rows))
        if place == len(rows):
            rows.append([])
            left.append(room)
        rows[place].append(example)
        left[place] -= example.num_tokens
    return [Pack(tuple(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class PackCollator:
    """Joins the examples of each row and pads rows on the right; padding is one more example without a label."""

    pad_id: int

    def __call__(self, batch: Sequence[Pack]) -> Batch:
        """Return input_ids, labels and position_ids, each of shape [batch, longest]."""
        import torch

        longest = max(pack.num_tokens for pack in batch)
        input_ids = torch.full((len(batch), longest), self.pad_id, dtype=torch.long)
        labels = torch.full_like(input_ids, IGNORED)
        positions = torch.zeros_like(input_ids)
        for row, pack in enumerate(batch):
            start = 0
            for example in pack.examples:
                end = start + example.num_tokens
                ids, learnt = _ids_and_mask(example)
                input_ids[row, start:end] = torch.tensor(ids)
                labels[row, start:end] = torch.where(torch.tensor(learnt), torch.tensor(ids), IGNORED)
                labels[row, start] = IGNORED  # or the example before it would be taught to begin this one
                positions[row, start:end] = torch.arange(end - start)
                start = end
            positions[row, start:] = torch.arange(longest - start)
        return {"input_ids": input_ids, "labels": labels, "position_ids": positions}


def _ids_and_mask(example: Example | MaskedExample) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    if isinstance(example, MaskedExample):
        return example.ids, example.learnt
    return (*example.prompt_ids, *example.completion_ids), example.learnt()
