"""The critic of worked word problems: computes every equation of the text, exactly, and nothing else.

Certified means that each equation holds and that the answer is the result of one that begins from the problem's own
numbers, in one step or several. Whether these are the equations that the problem needs is on the model's word, as the
grade `trusted` says. A text without an equation is never certified.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from critics.formats.arithmetic.reader import NotReadError, chains
from critics.problem import Attempt, Problem
from critics.replay.answers import free_answer
from critics.replay.arithmetic import ENGINE, check_arithmetic, numbers_of
from critics.text.answer_reader import read_answer
from critics.verdict import Malformed, TimedOut, Unproved, Verdict
from critics.verdict.certificate import certify
from critics.verdict.conclusion import Refusal, brief, certified, refused, wrong_answer

MAX_CHARACTERS = 30_000
MAX_EQUATIONS = 200
MAX_BITS = 2_000
"""Size of a number on the way."""
MAX_DEPTH = 40
_TOKEN = re.compile(r"\s*(?:(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)|(\*\*|[-+*/^()%]))")


_NOT_FOUND = Refusal(Malformed, "not_read", "an equation is not found in the text as it is read; write it plainly")


class WorkError(ArithmeticError):
    """The numbers of an equation grow beyond the budget."""


@dataclass(slots=True)
class _Side:
    """One side of an equation under evaluation, by recursive descent."""

    tokens: list[str]
    at: int = 0
    depth: int = 0
    operands: tuple[Fraction, ...] = ()

    def sum(self) -> Fraction:
        """Return the value of terms that are added and subtracted."""
        value = self._product()
        while self._peek() in ("+", "-"):
            value = self._applied(self._next(), value, self._product())
        return value

    def _product(self) -> Fraction:
        value = self._factor()
        while self._peek() in ("*", "/"):
            value = self._applied(self._next(), value, self._factor())
        return value

    def _factor(self) -> Fraction:
        if self._peek() == "-":
            self._next()
            return -self._factor()
        value = self._atom()
        if self._peek() in ("^", "**"):
            self._next()
            power = self._factor()
            if power.denominator != 1 or not 0 <= power <= 64:
                raise WorkError("a power is a whole number up to 64")
            value = _bounded(value**power.numerator)
        return value

    def _atom(self) -> Fraction:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise WorkError("brackets are too deep")
        token = self._next()
        if token == "(":
            value = self.sum()
            if self._next() != ")":
                raise NotReadError("a bracket is not closed")
        elif token[:1].isdigit() or token[:1] == ".":
            value = Fraction(token.replace(",", ""))
            self.operands += (value,)
        else:
            raise NotReadError("a number is missing")
        self.depth -= 1
        if self._peek() == "%":
            self._next()
            value /= 100
        return value

    def _applied(self, sign: str, one: Fraction, other: Fraction) -> Fraction:
        if sign in "+-":
            return _bounded(one + other if sign == "+" else one - other)
        return _bounded(one * other if sign == "*" else one / other)

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""


def _bounded(value: Fraction) -> Fraction:
    if value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS:
        raise WorkError("a number is too large")
    return value


def _evaluated(text: str) -> tuple[Fraction, _Side]:
    """Return the value of a side; raises `NotReadError`, `WorkError` and `ZeroDivisionError`."""
    tokens, at = list[str](), 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotReadError("it holds more than numbers and signs")
        tokens.append(match[1] or match[2])
        at = match.end()
    side = _Side(tokens)
    value = side.sum()
    if side.at < len(tokens):
        raise NotReadError("two numbers stand side by side")
    return value, side


def judge_arithmetic(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt; pure and bounded."""
    text = attempt.completion
    if problem.options is not None or problem.meta.get("answers") != "number":
        # Attack: a sum in the place of an answer to any question.
        return Unproved("other_task", None, "the problem does not ask for a number; its meta.answers must be `number`")
    answer = read_answer(text, problem)
    if answer is None or len(text) > MAX_CHARACTERS:
        return Malformed("no_answer", None, "no line ends with `Answer: 72`, or says `#### 72`, once and clearly")
    if problem.answer is not None and answer != problem.answer:
        return wrong_answer(answer)
    try:
        listed = list(_computed(chains(text), problem))
    except Refusal as refusal:
        return refused(refusal, problem, answer)
    except NotReadError as error:
        return Malformed("not_read", answer, brief(str(error)))
    results = [result for _, result in listed if result is not None]
    if not results:
        return Unproved("no_equation", answer, "no equation of the text computes with a number of the problem")
    if answer not in results:
        return Unproved("answer_not_computed", answer, f"no equation gives {answer}; the last one gives {results[-1]}")
    evidence = {"completion": text, "equations": [sides for sides, _ in listed], "reference": "none"}
    made = certify("arithmetic", problem, answer, evidence, engine=ENGINE)
    return certified(made, check_arithmetic, {"other_attempt": _NOT_FOUND})


def _computed(found: list[list[str]], problem: Problem) -> Iterator[tuple[list[str], str | None]]:
    """Yield each equation with its result, None where it computes nothing of the problem's; raises `Refusal`."""
    known = numbers_of(f"{problem.context} {problem.question}")
    if len(found) > MAX_EQUATIONS:
        raise Refusal(TimedOut, "work_limit", f"the text has more than {MAX_EQUATIONS} equations")
    for sides in found:
        told = " = ".join(sides)
        try:
            values = [_evaluated(side) for side in sides if side]
        except NotReadError as error:
            raise Refusal(Malformed, "not_read", f"{told!r}: {error}") from error
        except WorkError as error:
            raise Refusal(TimedOut, "work_limit", f"{told!r}: {error}") from error
        except ZeroDivisionError as error:
            raise Refusal(Unproved, "false_equation", f"{told!r}: it divides by zero") from error
        result = values[-1][0]
        if any(value != result for value, _ in values):
            raise Refusal(Unproved, "false_equation", f"{told!r}: it is {free_answer(str(values[0][0]), 'number')}")
        # `72`, `72 + 0` and `48 - 48 + 72` compute nothing.
        fresh = [side.operands for _, side in values if result not in side.operands and -result not in side.operands]
        begins = any(not known.isdisjoint(operands) for operands in fresh)
        known |= {result} if begins else set()
        yield sides, str(result) if begins else None
