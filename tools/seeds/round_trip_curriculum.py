"""Lessons that train the embedded seed model of round trips: formulas into words, and words into formulas.

How much is wrong on purpose in what it learns is in the configuration.
"""

import re
from collections.abc import Iterator
from typing import Any

from rollout.problems.catalogue import family
from tools.seeds.configuration import FormulaPhaseConfig, RoundTripPretrainingConfig
from tools.seeds.piece_tokenizer import EOS, PAD, common_pieces, piece_tokenizer
from tools.seeds.round_trips import Lesson, bare_lessons

_PIECE = re.compile(
    r"[a-z]+\d+ |\ (?:and|or|then|to|at|by|end)\b\ ? | [a-z-]+:?\ ? | \ [∧∨→↔⊕]\  | [∧∨→↔⊕¬∀∃]", re.VERBOSE
)
"""Names alone, so that formulas and descriptions share them; blanks go with the words and signs."""
_MIN_COUNT = 10
_NUM_SAMPLED = 2000
_BETWEEN_TIMES = 1000
"""Step of the seed each time; phases are 1 apart."""


def lessons(config: RoundTripPretrainingConfig, phase: FormulaPhaseConfig, *, seed: int) -> Iterator[Lesson]:
    """Yield two lessons for each formula of the phase; each depends on configuration, seed and index alone."""
    made = family(config.round_trips)
    configured = made.configured(phase.family, "pretrain")
    for time in range(phase.times):
        own = seed + _BETWEEN_TIMES * time
        problems = made.generate(configured, phase.num_formulas, seed=own)
        yield from bare_lessons(problems, seed=own, error_rate=phase.error_rate, unreadable_rate=phase.unreadable_rate)


def build_round_trip_tokenizer(config: RoundTripPretrainingConfig) -> Any:
    """Return a tokenizer in which every name, word and sign of the lessons is one token."""
    pieces = common_pieces(_sample(config), _PIECE, min_count=_MIN_COUNT)
    return piece_tokenizer(pieces, (EOS, PAD))


def _sample(config: RoundTripPretrainingConfig) -> Iterator[str]:
    last = config.phases[-1].model_copy(update={"num_formulas": _NUM_SAMPLED, "times": 1})
    for lesson in lessons(config, last, seed=config.seed * 100 + 99):
        yield lesson.prompt + lesson.completion
