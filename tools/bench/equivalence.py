"""Deciding equivalences of generated formulas with counterparts made here, and generating the formulas.

`*_ms` is deciding alone, from trees, with the witness of a difference evaluated; reading the two texts is a row of its
own. The median and the 99th percentile are over pairs, each pair's time a median of repeats. `strings_per_s` is how
many formulas the generators of the paper's grammars make with `JOBS` processes, balanced and without duplicates, the
start of the processes included; `strings_per_cpu_s` how many one process makes in a second of its own time, as many of
each data set. `judged_per_s` is how many attempts of all languages the critic judges, with reading and certificates.
"""

import json
import random
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter, process_time
from typing import Any

from critics.formats.equivalence.critic import decide_regex, judge_equivalence
from critics.formats.equivalence.decision import decide_first_order, decide_propositional
from critics.formats.equivalence.language import Language, read_expression, read_formula, read_regex
from critics.formats.equivalence.sampling import UndecidedPair
from critics.problem import Attempt, Problem
from critics.replay.equivalences.regex import Regex, write_regex
from critics.replay.first_order.reader import canonical
from critics.replay.first_order.syntax import Formula
from rollout.formulas.generator import generate
from rollout.formulas.languages import (
    FirstOrderFormulas,
    Formulas,
    PropositionalFormulas,
    RegularExpressions,
    ThreeCnfFormulas,
)
from tools.bench.counterparts import formula_counterpart, regex_counterpart
from tools.bench.timing import Timing, interleaved
from tools.gpu.cells import BenchRow

NUM_PAIRS = 200
"""Pairs of each language; a hundredth of them are two."""
MAX_REPEATS = 5
JOBS = 2
NUM_STRINGS = 10_000
"""Strings of each data set: about the paper's sizes."""
STRINGS_A_REPEAT = 100
GENERATORS: tuple[Formulas, ...] = (
    ThreeCnfFormulas(),
    PropositionalFormulas(),
    FirstOrderFormulas(),
    RegularExpressions(),
)
"""Those of the paper's five data sets that need no lexicon."""


def equivalence(repeats: int) -> list[BenchRow]:
    """Measure propositional, first-order and regular pairs, and their generators."""
    n = max(1, min(repeats, MAX_REPEATS))
    num = min(NUM_PAIRS, 20 * repeats)
    propositional = _formula_pairs(PropositionalFormulas(), num)
    first_order = _formula_pairs(FirstOrderFormulas(), num)
    regexes = _regex_pairs(num)
    ms = _decided_ms(decide_first_order, first_order, n)
    texts = [
        *((Language.PROPOSITIONAL, canonical(left), canonical(right)) for left, right in propositional),
        *((Language.FIRST_ORDER, canonical(left), canonical(right)) for left, right in first_order),
        *((Language.REGEX, write_regex(left), write_regex(right)) for left, right in regexes),
    ]
    undecided = sum(isinstance(decide_first_order(*pair), UndecidedPair) for pair in first_order)
    return [
        BenchRow("propositional_ms", _median(_decided_ms(decide_propositional, propositional, n)), "ms", None, n * num),
        BenchRow("first_order_ms", _median(ms), "ms", None, n * num),
        BenchRow("first_order_p99_ms", _percentile_99(ms), "ms", None, n * num),
        BenchRow("first_order_undecided", undecided / num, "share", None, num),
        BenchRow("regex_ms", _median(_decided_ms(decide_regex, regexes, n)), "ms", None, n * num),
        BenchRow("reading_ms", _reading_ms(texts, n), "ms", None, n * len(texts)),
        BenchRow("judged_per_s", _judged_per_s(texts), "1/s", None, len(texts)),
        *_strings_rows(min(NUM_STRINGS, STRINGS_A_REPEAT * repeats)),
    ]


def _formula_pairs(config: Formulas, num: int) -> list[tuple[Formula, Formula]]:
    made = [read_formula(text, config.language).formula for text in _texts(config, num)]
    return [(formula, formula_counterpart(_rng(config, i), formula)) for i, formula in enumerate(made)]


def _regex_pairs(num: int) -> list[tuple[Regex, Regex]]:
    config = RegularExpressions()
    made = map(read_regex, _texts(config, num))
    return [(regex, regex_counterpart(_rng(config, i), regex)) for i, regex in enumerate(made)]


def _texts(config: Formulas, num: int) -> list[str]:
    return [problem.formal.goal for problem in generate(config, num, seed=0) if problem.formal is not None]


def _rng(config: Formulas, number: int) -> random.Random:
    return random.Random(f"bench equivalence {config.name} {number}")


def _decided_ms(decide: Callable[[Any, Any], Any], pairs: Sequence[tuple[Any, Any]], repeats: int) -> list[float]:
    """Return each pair's time."""
    timings = [
        Timing(str(number), lambda pair=pair: _seconds(lambda: decide(*pair))) for number, pair in enumerate(pairs)
    ]
    return [seconds * 1e3 for seconds in interleaved(timings, repeats).values()]


def _reading_ms(texts: Sequence[tuple[Language, str, str]], repeats: int) -> float:
    """Return the median time of reading both sides of a pair."""
    timings = [
        Timing(
            str(number),
            lambda texts=texts: _seconds(lambda: [read_expression(text, texts[0]) for text in texts[1:]]),
        )
        for number, texts in enumerate(texts)
    ]
    return _median([*interleaved(timings, repeats).values()]) * 1e3


def _judged_per_s(texts: Sequence[tuple[Language, str, str]]) -> float:
    """Return how many attempts of all languages are judged a second, reading and certificates included."""
    problem = Problem("bench", "autoeval", "", "")
    attempts = [
        Attempt(
            str(number), problem, "equivalence", json.dumps({"language": language.value, "left": one, "right": other})
        )
        for number, (language, one, other) in enumerate(texts)
    ]
    return len(attempts) / _seconds(lambda: [judge_equivalence(problem, attempt) for attempt in attempts])


def _strings_rows(num: int) -> list[BenchRow]:
    """Return how many formulas are generated a second, as many of each data set: by processes, and by one alone."""
    for config in GENERATORS:
        # The tables of a grammar are made once.
        _texts(config, 1)
    with ProcessPoolExecutor(JOBS) as pool:
        wall_s = _seconds(lambda: list(pool.map(_texts, GENERATORS, [num] * len(GENERATORS))))
    cpu_s = _seconds(lambda: [_texts(config, num) for config in GENERATORS], process_time)
    total = num * len(GENERATORS)
    return [
        BenchRow("strings_per_s", total / wall_s, "1/s", None, total),
        BenchRow("strings_per_cpu_s", total / cpu_s, "1/s", None, total),
    ]


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


def _percentile_99(values: Sequence[float]) -> float:
    return sorted(values)[max(0, -(-99 * len(values) // 100) - 1)]


def _seconds(work: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    began = clock()
    work()
    return clock() - began
