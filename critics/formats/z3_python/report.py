"""Report from the jail, read with distrust: shapes, sizes, and every formula in the strict dialect.

Whatever the child was made to write, what is left after this are numbers, printed text and formulas over numbered
symbols, of which the critic then decides everything again by itself.

An answer stands on a line of its own in what is printed: an option's letter or text, or a truth value, with
`Answer:` or `The statement is` in front at most. Other lines say nothing. Where the options are truth values, or mere
letters (seed format: `A, B` for true and false, then `C` for unknown), an answer is a claim of entailment; else each
option is one.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any

from critics.formats.z3_python.values import ScriptError
from critics.logic.programs.ordering_text import At, Claim, read_ordering
from critics.problem import TRUTH_VALUES, Problem, is_list, is_object
from critics.replay.answers import in_terms_of
from critics.replay.scripts import DialectError, Term, check_declaration, check_term
from critics.text.question import Asked, adds_condition, read_question
from critics.text.reference import text_decides


@dataclass(frozen=True, slots=True)
class Check:
    """One call of `check`: the formulas by number, in the order of their adding, and what it came to."""

    formulas: tuple[int, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Reason why a run ended early."""

    is_budget: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the script."""

    printed: str
    added: frozenset[int]
    checks: tuple[Check, ...]
    open_names: tuple[str, ...]
    """Variables that are bound in one formula and free in another."""
    shared_names: tuple[str, ...]
    """Symbols that stand for several of the script's names."""
    failure: Failure | None


@dataclass(frozen=True, slots=True)
class ScriptRuns:
    """All runs of a script, by label, and their formulas."""

    declarations: tuple[Term, ...]
    names: Mapping[str, str]
    formulas: tuple[Term, ...]
    runs: Mapping[str, Run]
    unrun: tuple[int, ...]
    """Lines that add a formula in no run."""


class JailBroken(RuntimeError):  # noqa: N818
    """The jail returned something that our interpreter does not write: a fault of the critic's, or worse."""


def read_report(answer: bytes) -> ScriptRuns:
    """Read a report; raises `JailBroken`, and `ScriptError` where the script is not Python, or too much of it."""
    try:
        record = json.loads(answer)
        if "unread" in record:
            reason, message = map(str, record["unread"])
            raise ScriptError(reason, message)
        report = ScriptRuns(
            tuple(check_declaration(text) for text in record["declarations"]),
            {str(ours): str(theirs) for ours, theirs in record["names"].items()},
            tuple(check_term(text) for text in record["formulas"]),
            {str(label): _run(run) for label, run in record["runs"].items()},
            tuple(map(int, record["unrun"])),
        )
        numbers = {n for run in report.runs.values() for check in run.checks for n in check.formulas}
        numbers |= {n for run in report.runs.values() for n in run.added}
        if "base" not in report.runs or not all(0 <= number < len(report.formulas) for number in numbers):
            raise JailBroken("a run is missing, or a formula")
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError, DialectError) as error:
        raise JailBroken(f"{type(error).__name__}: {error}") from error
    return report


def _run(record: Any) -> Run:
    if not is_object(record) or not is_list(record["checks"]):
        raise JailBroken("a run is an object with checks")
    failure, checks = record["error"], record["checks"]
    if any(result not in ("sat", "unsat", "unknown") for _, result in checks):
        raise JailBroken("a check has another result")
    return Run(
        str(record["printed"]),
        frozenset(map(int, record["added"])),
        tuple(Check(tuple(map(int, formulas)), str(result)) for formulas, result in checks),
        tuple(map(str, record["open"])),
        tuple(map(str, record["shared"])),
        None if failure is None else Failure(bool(failure[0]), str(failure[1]), str(failure[2])),
    )


_LEAD = re.compile(
    r"(?:the\s+)?(?:final\s+|correct\s+)?(?:answer|option|statement|conclusion|claim|result)(?:\s+is)?\s*[:=]?\s*"
    r"(?:option\s+)?",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\(?([A-Z])\)?[.):]?")
_LABEL = re.compile(r"\(?[A-Za-z]\)?[.):]\s*")
_LETTER_AND_WORD = re.compile(r"\(?([A-C])[.):]\s*(true|false|unknown|uncertain)\.?", re.IGNORECASE)
_WORDS = {"true": "true", "false": "false", "unknown": "unknown", "uncertain": "unknown"}


@dataclass(frozen=True, slots=True)
class Wording:
    """Spelling of a problem's answers."""

    options: tuple[str, ...] | None
    truths: Mapping[str, str] | None
    """The answer for each truth value; None where the options are statements of their own."""

    def answers(self, printed: str) -> set[str]:
        """Return every answer that stands on a line of the output."""
        return {answer for line in printed.splitlines() if (answer := self._answer(line)) is not None}

    def _answer(self, line: str) -> str | None:
        text = line.strip().strip("*`'\"").strip()
        lead = _LEAD.match(text)
        for core in {text, text[lead.end() :]} if lead is not None else {text}:
            found = self._meant(core.strip().strip("*`'\""))
            if found is not None:
                return found
        return None

    def _meant(self, text: str) -> str | None:
        plain = _plain(text)
        for letter, option in _lettered(self.options or ()):
            if plain in (_plain(option), _plain(_LABEL.sub("", option, count=1))) and plain:
                return letter
        letter = _LETTER.fullmatch(text)
        if letter is not None:
            return self._by_letter(letter[1])
        both = _LETTER_AND_WORD.fullmatch(text)
        if both is not None and self.truths is not None:  # both say the same, or neither does
            word = self.truths.get(_WORDS[both[2].lower()])
            return word if word == self._by_letter(both[1]) else None
        if self.truths is not None and plain in _WORDS:
            return self.truths.get(_WORDS[plain])
        return None

    def _by_letter(self, letter: str) -> str | None:
        if self.options is None:
            return dict(zip("ABC", TRUTH_VALUES, strict=True)).get(letter)
        return letter if ord(letter) - ord("A") < len(self.options) else None


def wording(options: Sequence[str] | None) -> Wording:
    """Return how answers to a problem with these options are written."""
    if options is None:
        return Wording(None, {value: value for value in TRUTH_VALUES})
    listed = tuple(options)
    said = {value: in_terms_of(value, listed) for value in TRUTH_VALUES}
    truths = {value: letter for value, letter in said.items() if letter is not None}
    if "true" in truths and len(truths) > 1:
        return Wording(listed, truths)
    if 2 <= len(listed) <= 3 and all(_plain(option) == letter.lower() for letter, option in _lettered(listed)):
        return Wording(listed, dict(zip(TRUTH_VALUES, "ABC"[: len(listed)], strict=False)))
    return Wording(listed, None)


def _lettered(options: Sequence[str]) -> list[tuple[str, str]]:
    return [(chr(ord("A") + position), option) for position, option in enumerate(options)]


def _plain(text: str) -> str:
    return text.strip().strip(".()").strip().lower()


MAX_OBJECTS = 7
"""In a row; the published texts' most."""


def answer_of_text(problem: Problem, written: Wording) -> str | None:
    """Return the text's own answer, `none` where no option is the only one; None where it is in no such language."""
    if written.truths is None:
        return _answer_of_row(problem.context, written.options or (), problem.question)
    said = text_decides(problem.dataset, problem.context, problem.question)
    return None if said is None else written.truths.get(said, "none")


_SATISFIED: dict[Asked | None, Callable[[list[bool]], bool]] = {
    "must": all,
    "fact": all,
    "could": any,
    "cannot": lambda truths: not any(truths),
    "could_be_false": lambda truths: not all(truths),
}
"""By what is asked of an option: whether its truth in each of the orders is so."""


@lru_cache(maxsize=64)
def _answer_of_row(context: str, options: tuple[str, ...], question: str) -> str | None:
    """Return the one option that is as asked in the orders that LogicalDeduction's sentences allow, or `none`."""
    asked = None if adds_condition(question) else read_question(question)
    text = read_ordering(context, options)
    if text is None or len(text.objects) > MAX_OBJECTS or asked not in _SATISFIED:
        return None

    def holds(claim: Claim, row: tuple[str, ...]) -> bool:
        place = row.index(claim.one)
        return place == claim.position if isinstance(claim, At) else place < row.index(claim.other)

    rows = [row for row in permutations(text.objects) if all(holds(claim, row) for claim in text.statements)]
    found = [[holds(claim, row) for row in rows] for claim in text.options]
    holding = [number for number, truths in enumerate(found) if _SATISFIED[asked](truths)]
    return chr(ord("A") + holding[0]) if rows and len(holding) == 1 else "none"
