"""Checks certificates of worked word problems: finds each equation in the text again, and computes it another way.

Sides are computed with two stacks (Dijkstra's shunting yard), and the equations are looked for in the text's plain
row of numbers and signs, words left out. That they are the equations which the problem needs is not checked.
"""

import re
from fractions import Fraction

from critics.replay.answers import free_answer, free_answers
from critics.replay.certificate import Rejected, SealedCertificate, TooLarge, of_kinds
from critics.replay.solvers import Trust

ENGINE = "certistar-arithmetic/1"
_SIGN = re.compile(r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)|(\*\*|[-+*/^()%=])")
_RANKS = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "^": 4}
_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
_OTHERS = (
    "hundred 100 thousand 1000 million 1000000 dozen 12 twice 2 double 2 doubled 2 pair 2 couple 2 triple 3 half 1/2"
)
_WORDS: dict[str, Fraction] = {
    **{word: Fraction(number) for number, word in enumerate(_UNITS.split())},
    **{word: Fraction(10 * number) for number, word in enumerate(_TENS.split(), 1)},
    **{word: Fraction(number) for word, number in re.findall(r"([a-z]+) (\S+)", f"{_OTHERS} third 1/3 quarter 1/4")},
}


def numbers_of(text: str) -> set[Fraction]:
    """Return the numbers that a problem names, in digits or in words."""
    found = {Fraction(number.replace(",", "")) for number, _ in _SIGN.findall(text) if number}
    found |= {Fraction(*map(int, pair)) for pair in re.findall(r"(\d{1,9})/([1-9]\d{0,8})", text)}
    found |= {number / 100 for number in found}  # 20%
    return found | {_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _WORDS}


@of_kinds("arithmetic")
def check_arithmetic(certificate: SealedCertificate) -> Trust:
    """Replay the equations of a text; raises `Rejected` where one does not hold, or the claim is the result of none."""
    problem, claim, evidence = certificate.problem, certificate.claim, certificate.evidence
    text, equations = evidence["completion"], evidence["equations"]
    if problem.options is not None or free_answer(claim, "number") != claim or problem.answer not in (None, claim):
        raise Rejected("claim")
    if set(free_answers(text, "number")) != {claim}:
        raise Rejected("other_attempt")
    if len(equations) > 200 or any(len(side) > 1000 for sides in equations for side in sides):
        raise TooLarge("an equation")
    _find(text, equations)
    known, results = numbers_of(f"{problem.context} {problem.question}"), set[Fraction]()
    for sides in equations:
        values = [_value(side) for side in sides if side]
        if not values or len(sides) < 2 or len(set(values)) > 1:
            raise Rejected("false_equation")
        told = [{Fraction(number.replace(",", "")) for number, _ in _SIGN.findall(side) if number} for side in sides]
        # `72 + 0`, `72 * 1` and `72` alone compute nothing.
        if any(numbers & known and values[0] not in numbers | {-n for n in numbers} for numbers in told):
            known.add(values[0])
            results.add(values[0])
    if Fraction(claim) not in results:
        raise Rejected("not_computed")
    return Trust.CHECKED


def _find(text: str, equations: list[list[str]]) -> None:
    """Find each equation's numbers and signs in the text, and let no `=` of the text be in none of them."""
    text = re.sub(
        r"(?<!\S)\*\*([^*\n]+)\*\*", r"\1", re.sub(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}", r"((\1)/(\2))", text)
    )
    for spelling, sign in (("\\times", "*"), ("\\cdot", "*"), ("\\div", "/"), *zip("×·⋅÷−–", "***/--", strict=True)):
        text = text.replace(spelling, sign)
    parts = [*re.findall(r"<<([^<>]*)>>", text), re.sub(r"<<[^<>]*>>", " ", text)]
    # A part ends in a sign that no equation holds.
    row = [sign for part in parts for sign in (*_row(part), "")]
    covered: set[int] = set()
    for sides in equations:
        wanted = "=".join(sides)
        tokens = _row(wanted)
        if re.sub(r"[\s\d.,()+*/^%=-]", "", wanted) or tokens.count("=") != len(sides) - 1:
            raise Rejected("ill_formed")
        places = [at for at in range(len(row)) if row[at : at + len(tokens)] == tokens]
        fresh = [at for at in places if all(at + n not in covered for n, sign in enumerate(tokens) if sign == "=")]
        if not fresh:
            raise Rejected("other_attempt")
        covered |= {fresh[0] + n for n, sign in enumerate(tokens) if sign == "="}
    if len(covered) < row.count("="):
        raise Rejected("equation_left_out")


def _row(text: str) -> list[str]:
    return ["^" if sign == "**" else number or sign for number, sign in _SIGN.findall(text)]


def _value(side: str) -> Fraction:
    """Return what a side is, by two stacks."""
    values: list[Fraction] = []
    signs: list[str] = []
    is_behind = False  # a number or a closed bracket
    for number, sign in _SIGN.findall(side):
        if number or sign == "(":
            if is_behind:
                raise Rejected("ill_formed")
            is_behind = bool(number)
            values += [Fraction(number.replace(",", ""))] if number else []
            signs += [] if number else ["("]
        elif sign == "%":
            values[-1] /= 100
        elif sign == ")":
            while signs[-1] != "(":
                _apply(signs.pop(), values)
            signs.pop()
        else:
            sign = ("^" if sign == "**" else sign) if is_behind else {"-": "neg"}[sign]
            while sign != "neg" and signs and signs[-1] != "(" and _binds(signs[-1], sign):
                _apply(signs.pop(), values)
            signs.append(sign)
            is_behind = False
    while signs:
        _apply(signs.pop(), values)
    (value,) = values
    return value


def _binds(before: str, sign: str) -> bool:
    return _RANKS[before] > _RANKS[sign] or (_RANKS[before] == _RANKS[sign] and sign != "^")


def _apply(sign: str, values: list[Fraction]) -> None:
    other = values.pop()
    if sign == "neg":
        values.append(-other)
        return
    one = values.pop()
    if sign == "/" and other == 0:
        raise Rejected("false_equation")
    if sign == "^" and (other.denominator != 1 or not 0 <= other <= 64):
        raise TooLarge("a power")
    value = {"+": one + other, "-": one - other, "*": one * other}.get(sign)
    values.append(one**other.numerator if sign == "^" else one / other if value is None else value)
    if values[-1].numerator.bit_length() + values[-1].denominator.bit_length() > 2_000:
        raise TooLarge("a number")
