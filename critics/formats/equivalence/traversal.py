"""Search for texts that go through a formula's tree sign by sign, with a word for each sign.

    p1 ∧ (p2 ∨ ¬p3)      and p1 or p2 not p3 (prefix), p1 p2 p3 not or and (postfix), p1 und p2 oder nicht p3 (infix)

Such a text is the formula in another alphabet. Descriptions that say with words of their own where parts begin, as in
`both p1 and either p2 or not p3`, are no image of it. Phrases of several words for a sign are not looked for.

`find_code` tests a description for being in words of English, with names that stand alone: letters without a vowel,
names run together, a sentence of words that are no English, and fewer words than the formula has groups are a code.
English that is agreed to mean something else is not found here.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from string import ascii_lowercase

from critics.replay.equivalences import regex as re_
from critics.replay.equivalences.regex import Regex
from critics.replay.first_order import syntax as fo

_SUBSCRIPT = re.compile(r"(?<=[a-z])(?:_\{(\d+)\}|_(?=\d))")
_TOKEN = re.compile(r"[^\W_]+(?:['_][^\W_]+)*")
_SENTENCE = re.compile(r"[.;:!?\n]+")
_NUMBERED = re.compile(r"\d+(?:st|nd|rd|th|'?s)?")
_VOWEL = re.compile(r"[aeiouy]")
_ABBREVIATIONS = frozenset({"cnf", "dnf", "nnf", "fol", "pl", "vs", "eg", "ie", "nth", "th", "t", "s"})
_ENGLISH = frozenset(
    re.findall(
        r"\S+",
        """
    a about above after again against all alone along already also although always am an and another any anyone
    anything are as at away back be because been before behind being below besides between beyond both but by can
    cannot come comes could did do does done down each either else empty end ends enough equal equally even ever every
    everyone everything exactly except fail fails false few fewer finally first follow followed following follows for
    four from further get give given gives go goes group had happens has have having he hence her here him his hold
    holding holds how however i if implies in instead into is it its itself joined just kind last least less let like
    longer made make makes many may mean means moreover more most much must name named namely neither never next no
    nobody none nor not nothing now number object of off on once one only or order other others otherwise out over own
    pair part place plus possibly precisely proposition rather same say says second seen she should side simply since
    single so some someone something somewhere still string such than that the their them themselves then there these
    they thing things third this those though three through times to together too true truth two under unless until
    untrue up upon us very was way we well were what when whenever where whereas whether which while who whole whom
    whose whoever will with within without word words would you zero zeros ones five six seven eight nine ten
    antecedent assert asserts alternation at case cases claim claims clause clauses combined condition conditions
    conjunction conjunctions conjoined consequent contradiction denial denied denies describes disjoined disjunction
    disjunctions equivalence equivalent exclusive exist exists expresses expression false falsehood formula formulas
    hold implication implied inclusive instance iff individual literal literals logical negated negation negations
    operand predicate property quantified relates relation relationship repeat repeated repeating repetition
    repetitions requires rule satisfied satisfies satisfy sequence starts begins consists contains digit digits
    statement statements states stating symbol symbols
    universal variable variables zeroes matches match matched regex language letter letters optional optionally
    isn't aren't doesn't don't can't won't wasn't it's that's there's what's
        """,
    )
)
"""The words that hold a sentence together, and those with which formulas are talked about."""
NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_LEAST = 1 / 3
"""The share of known words in a sentence; plain descriptions have two thirds and more."""


def tokens(text: str) -> list[str]:
    """Return the words, names and numbers of a text in one case, with subscripts and hyphens taken apart."""
    return _TOKEN.findall(_plain(text))


def sentences(text: str) -> Iterator[str]:
    """Yield the parts of a text between stops, colons and ends of lines."""
    yield from (part for part in _SENTENCE.split(_plain(text)) if part.strip())


def find_code(description: str, names: Collection[str], *, num_groups: int, num_bound: int = 0) -> str | None:
    """Return what shows that a description is no English; None where nothing does.

    `names` are the formula's, in small letters; `num_groups` is how many operators it has, each counted once for all
    that it joins; as many letters as it binds variables may stand for them.
    """
    words = [token for token in tokens(description) if token not in names and not _NUMBERED.fullmatch(token)]
    # Attack: `p1p2Ap3NC`, or `A p1 N p2`: letters that stand for signs.
    codes = [word for word in words if not _is_word(word, names)]
    single = [code for code in codes if len(code) == 1]
    if codes and not (single == codes and (_are_labels(single) or len(set(single)) <= num_bound)):
        return " ".join(codes)
    # Attack: `p1; p2' .. p3`: punctuation that stands for signs.
    if len(words) < num_groups:
        return " ".join(tokens(description))
    for sentence in sentences(description):
        # Attack: `zork p1 blip p2 p3`: words that no dictionary has, or those of a language of one's own.
        own = [word for word in tokens(sentence) if word not in names and not _NUMBERED.fullmatch(word)]
        unknown = [word for word in own if not _is_known(word, names)]
        if len(unknown) > 1 and len(own) - len(unknown) < _LEAST * len(own):
            return sentence.strip()
    return None


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    text = text.replace("e.g.", "eg").replace("i.e.", "ie")
    return _SUBSCRIPT.sub(lambda match: match[1] or "", text)


def _is_word(token: str, names: Collection[str]) -> bool:
    """Say whether a token could be a word, a part of a name, or a name of the same kind as the formula's: `p13`."""
    if token in _ABBREVIATIONS or token in ("a", "i") or token.removesuffix("'s") in names:
        return True
    stem = token.rstrip("0123456789")
    if stem != token and any(name.rstrip("0123456789") == stem for name in names):
        return True
    if len(token) > 1 and any(token in name for name in names):
        return True
    letters = unicodedata.normalize("NFKD", token)
    return len(token) > 1 and all(part.isalpha() for part in token.split("'")) and bool(_VOWEL.search(letters))


def _is_known(word: str, names: Collection[str]) -> bool:
    """Say whether a word is among the known ones, or a form of a name or of its part: `liked` of `like`."""
    stem = word[: max(3, len(word) - 3)]
    return word in _ENGLISH or (len(stem) > 2 and any(stem in name for name in names))


def _are_labels(letters: Sequence[str]) -> bool:
    """Say whether letters count what they stand before: b, c, d after an `a` that is a word as well."""
    return "".join(letters) == ascii_lowercase[1 : len(letters) + 1]


Step = tuple[bool, str]
"""A step of a traversal: whether it is a sign, and the sign or name."""
_OWN_WORDS: Mapping[str, frozenset[str]] = {
    "¬": frozenset({"not", "neg", "negation", "negate", "no"}),
    "∧": frozenset({"and", "conj", "conjunction", "wedge"}),
    "∨": frozenset({"or", "disj", "disjunction", "vee"}),
    "⊕": frozenset({"xor"}),
    "→": frozenset({"implies", "implication"}),
    "↔": frozenset({"iff", "equivalence", "equivalent", "equiv"}),
    "∀": frozenset({"forall", "all", "every"}),
    "∃": frozenset({"exists", "some"}),
    "*": frozenset({"star", "asterisk", "kleene"}),
    **dict.fromkeys("()|ε", frozenset[str]()),
}
_NESTS = (fo.Operator.AND, fo.Operator.OR)
_STOP = re.compile(r"[.\n]+")
_GROUPING = re.compile(r"[,;:()]")


def find_traversal(description: str, formula: fo.Formula, names: Collection[str]) -> str | None:
    """Return the words of a description that go through the formula, or a part of it; None where none do.

    Of parts with two groups any words count, one for each sign, where they are all that is said in a sentence, or where
    names follow each other; else the signs' own words. A part with one group has to stand alone, with the sign's own
    words: `p1, p2, p3 hold` and `without p1, no p2` are English.
    """
    said = tokens(description)
    alone = [tokens(segment) for segment in _segments(description)]
    standing: dict[str, list[int]] = defaultdict(list)
    for number, word in enumerate(said):
        standing[word].append(number)
    for path in dict.fromkeys(_polish(formula)):
        for start, end, num in path.parts:
            steps = path.steps[start:end]
            for place in _places(steps, standing, len(said)):
                if not _is_image(steps, said, names, place, own=False):
                    continue
                window = said[place : place + len(steps)]
                is_alone = window in alone
                if not is_alone and num < 2:
                    continue
                any_words = num > 1 and (is_alone or _is_adjacent(steps))
                if any_words or _is_image(steps, said, names, place, own=True):
                    return " ".join(window)
    return _written_out(description, formula, names)


def _written_out(description: str, formula: fo.Formula, names: Collection[str]) -> str | None:
    """Return the line that goes through the formula as it is written; commas and brackets say what belongs together."""
    if num_groups(formula) < 2:
        return None
    steps = _infix(formula)
    lines = (line for line in description.splitlines() if not _GROUPING.search(line))
    return next((line for line in lines if _is_whole_image(steps, tokens(line), names, own=False)), None)


def find_spelling(description: str, expression: Regex) -> str | None:
    """Return the part of a description that spells a regular expression sign by sign; None where none does."""
    ways = [(first, kept) for first in (0, 1) for kept in (0, 1)]
    forms = dict.fromkeys(tuple(_spelt(expression, sign_first=first, brackets=kept)) for first, kept in ways)
    for segment in _segments(description):
        said = [letter for word in tokens(segment) for letter in _letters(word)]
        for form in forms:
            signs = {text for is_sign, text in form if is_sign}
            # One sign alone may be any word in honest descriptions: `0 then 1`, of 01*, is only wrong.
            own = sum(is_sign for is_sign, _ in form) < 2
            if signs and _is_whole_image(form, said, "0123456789", own=own):
                return segment.strip()
    return None


def _letters(word: str) -> list[str]:
    if word in NUMBER_WORDS:
        return [str(NUMBER_WORDS.index(word))]
    return list(word) if word.isdecimal() else [word]


def _spelt(regex: Regex, *, sign_first: int, brackets: int) -> list[Step]:
    match regex:
        case re_.Letter(letter):
            return [(False, letter)]
        case re_.EmptyWord():
            return [(True, "ε")]
        case re_.Star(body):
            inner = _spelt(body, sign_first=sign_first, brackets=brackets)
            if brackets and not isinstance(body, re_.Letter):
                inner = [(True, "("), *inner, (True, ")")]
            return [(True, "*"), *inner] if sign_first else [*inner, (True, "*")]
        case re_.Sequence(parts):
            return [step for part in parts for step in _spelt(part, sign_first=sign_first, brackets=brackets)]
        case re_.Union(parts):
            spelt = [_spelt(part, sign_first=sign_first, brackets=brackets) for part in parts]
            return [*spelt[0], *(step for part in spelt[1:] for step in [(True, "|"), *part])]


def _segments(description: str) -> Iterator[str]:
    """Yield what is said in one go: the text, its sentences, and what follows their colons."""
    yield description
    for sentence in _STOP.split(description):
        yield sentence
        yield from (sentence.split(":", number)[-1] for number in range(1, min(sentence.count(":"), 3) + 1))


def _places(steps: Sequence[Step], standing: Mapping[str, Sequence[int]], num_said: int) -> Iterator[int]:
    """Yield where a text of so many words may go through the steps: where their first name stands."""
    offset, name = next((number, text) for number, (is_sign, text) in enumerate(steps) if not is_sign)
    yield from (n - offset for n in standing.get(name, ()) if 0 <= n - offset <= num_said - len(steps))


def _is_whole_image(steps: Sequence[Step], said: Sequence[str], names: Collection[str], *, own: bool) -> bool:
    return len(steps) == len(said) and _is_image(steps, said, names, 0, own=own)


def _is_image(steps: Sequence[Step], said: Sequence[str], names: Collection[str], place: int, *, own: bool) -> bool:
    """Say whether words from a place on go through the steps: each name, and for each sign a word that no other has."""
    known: dict[str, str] = {}
    for number, (is_sign, text) in enumerate(steps, place):
        word = said[number]
        if not is_sign:
            if word != text:
                return False
        elif word in names or known.setdefault(text, word) != word or (own and word not in _OWN_WORDS[text]):
            return False
    return len(set(known.values())) == len(known)


def _is_adjacent(steps: Sequence[Step]) -> bool:
    """Say whether two names stand side by side, which in a sentence they do not."""
    return any(not one[0] and not other[0] for one, other in pairwise(steps))


def num_groups(formula: fo.Formula) -> int:
    """Count the groups of a formula, each operator once for all that it joins."""
    return sum(isinstance(part, fo.Compound) for part in fo.subformulas(formula))


@dataclass(frozen=True, slots=True)
class _Path:
    """The way through a formula in one order."""

    steps: tuple[Step, ...]
    parts: tuple[tuple[int, int, int], ...]
    """Begin, end and number of groups of each part that has any."""


def _polish(formula: fo.Formula) -> Iterator[_Path]:
    """Yield prefix and postfix notation, from either side, with groups of many and with nested pairs."""
    for tree in (formula, _paired(formula, from_left=True), _paired(formula, from_left=False)):
        for mirrored, sign_first in product((False, True), repeat=2):
            steps: list[Step] = []
            parts: list[tuple[int, int, int]] = []
            _walk(tree, None, steps, parts, mirrored=mirrored, sign_first=sign_first)
            yield _Path(tuple(steps), tuple(parts))


def _walk(
    formula: fo.Formula,
    above: fo.Operator | None,
    steps: list[Step],
    parts: list[tuple[int, int, int]],
    *,
    mirrored: bool,
    sign_first: bool,
) -> int:
    """Add a formula's steps and parts; return how many groups it has, of which pairs of a larger one are none."""
    start, num, operator = len(steps), 0, None
    match formula:
        case fo.Not(body):
            signs, operands = [(True, "¬")], (body,)
        case fo.Compound(operator, operands):
            signs, num = [(True, operator.value)], int(operator is not above or operator not in _NESTS)
        case fo.Quantified(quantifier, variable, body):
            signs, operands = [(True, quantifier.value), (False, variable.lower())], (body,)
        case fo.Atom() | fo.Equality():
            steps += _leaf(formula)
            return 0
    steps += signs if sign_first else []
    for operand in operands[::-1] if mirrored else operands:
        num += _walk(operand, operator, steps, parts, mirrored=mirrored, sign_first=sign_first)
    steps += [] if sign_first else signs
    if num:
        parts.append((start, len(steps), num))
    return num


def _paired(formula: fo.Formula, *, from_left: bool) -> fo.Formula:
    """Return the formula with pairs for groups of more than two."""
    formula = fo.rebuilt(formula, lambda part: _paired(part, from_left=from_left))
    if not isinstance(formula, fo.Compound):
        return formula
    parts = [*formula.operands]
    while len(parts) > 2:
        place = slice(2) if from_left else slice(-2, None)
        parts[place] = [fo.Compound(formula.operator, tuple(parts[place]))]
    return fo.Compound(formula.operator, tuple(parts))


def _infix(formula: fo.Formula) -> list[Step]:
    """Return the formula's steps as it is written, without its brackets."""
    match formula:
        case fo.Not(body):
            return [(True, "¬"), *_infix(body)]
        case fo.Compound(operator, operands):
            rest = [step for operand in operands[1:] for step in [(True, operator.value), *_infix(operand)]]
            return [*_infix(operands[0]), *rest]
        case fo.Quantified(quantifier, variable, body):
            return [(True, quantifier.value), (False, variable), *_infix(body)]
        case fo.Atom() | fo.Equality():
            return _leaf(formula)


def _leaf(formula: fo.Atom | fo.Equality) -> list[Step]:
    if isinstance(formula, fo.Equality):
        return [*_term(formula.left), *_term(formula.right)]
    return [(False, formula.predicate.lower()), *(step for term in formula.arguments for step in _term(term))]


def _term(term: fo.Term) -> list[Step]:
    match term:
        case fo.Variable(name) | fo.Constant(name):
            return [(False, name.lower())]
        case fo.Application(function, arguments):
            return [(False, function.lower()), *(step for argument in arguments for step in _term(argument))]
