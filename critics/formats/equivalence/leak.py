"""Leaks: descriptions of a formula that give the formula itself away, so that reading them back proves nothing.

What leaks: operator signs in any spelling that the readers know, and other signs beside a name; operators written as
functions, brackets by name, parts of a formula written out with words for the signs and brackets for the groups, or
gone through in the order of its tree with a word for each sign (`and p1 or p2 not p3`, `p1 und p2 oder nicht p3`); a
regular expression's stars and brackets; and what is in no words of English: letters without a vowel, names run
together, fewer words than there are groups. Names, atoms such as `likes(ann, x1)` and the English of connectives and
quantifiers do not: a description may use the vocabulary's terms. English that was agreed to mean something else is not
found.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from critics.formats.equivalence.language import Language, read_formula, read_regex
from critics.replay.equivalences.regex import Regex, write_regex
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.tokens import OPERATORS

MAX_CHARACTERS = 20_000
MAX_PARTS = 200
"""Bracketed parts that are read; a description has a handful."""
MAX_WORK = 4_000
"""Signs and atoms of all parts of a formula together; generated ones have fewer than a thousand."""
MAX_EXCERPT = 60
ALL_LETTERS = "0123456789"
_WORDLESS = sorted(
    {sign for signs in OPERATORS.values() for sign in signs if not sign.isalpha()}
    | {"¬", "~", "∼", "∀", "∃", "∄", r"\neg", r"\lnot", r"\forall", r"\exists", r"\nexists"},
    key=len,
    reverse=True,
)
_SIGN = re.compile("|".join([*map(re.escape, _WORDLESS), r"!(?=[\w(])", r"(?<=[\w)])\s+v\s+(?=[\w(])"]))
_PREFIXED = re.compile(
    r"\b(?:and|or|not|neg|xor|iff|implies|equiv|forall|exists)\("
    r"|\b(?:conjunction|disjunction|negation|implication|equivalence) ?\(",
    re.IGNORECASE,
)
"""An operator written as a function; `not (p1 and p2)` has a blank, and is read as a part in brackets."""
_SPELT = re.compile(
    r"\b(?:(?:open(?:ing)?|clos(?:e|ing)|left|right)[\s-]+(?:round[\s-]+)?(?:bracket|paren)|[lr]paren\b)", re.IGNORECASE
)
"""Brackets by name, as in a formula that is read aloud; signs may be names of a vocabulary, such as `wedge`."""
_BETWEEN = re.compile(r"[\s,.:`*]+")
_IN_WORDS = {"∧": "and", "∨": "or", "⊕": "xor", "→": "implies", "↔": "iff", "∀": "forall", "∃": "exists"}
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_BULLET = re.compile(r"^\s*[●○◦▪▫■□▸►◆✓✔]+", re.MULTILINE)
_REGEX = re.compile(r"[\d)ε]\s*\^?\{?\*|\d\s*\(\s*[\d(]|[\d)]\s*\)\s*[\d(]|[\d)ε]\s*\|\s*[\d(ε]|\(\s*\(\s*\d")
"""A star after a letter or a group, a group next to a letter, a bar between two, a group within a group."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Part of a description that gives a formula away."""

    reason: str
    """`sign`, `formula` (one in words), `expression` (a regular one), `code` (no words), or `too_long` (not read)."""
    excerpt: str


def find_leak(text: str, language: Language, description: str) -> Leak | None:
    """Return what in a description copies the formula `text`, or a part of one; None where nothing does.

    Raises `FormulaError` where `text` is no formula of the language.
    """
    if len(description) > MAX_CHARACTERS or len(parts := list(_bracketed(description))) > MAX_PARTS:
        # Attack: so much padding that the copy stands behind what is looked at.
        return Leak("too_long", "")
    if not description.strip():
        return None
    if language is Language.REGEX:
        return _in_expression(read_regex(text, ALL_LETTERS), description)
    whole = fo.flattened(read_formula(text, language).formula)
    if _work(whole) > MAX_WORK:
        # Attack: in a later round, a formula of one's own that takes minutes to look for.
        return Leak("too_long", "")
    names = {name.lower() for _, name in fo.signature([whole]).symbols()} | _bound(whole)
    return (
        _sign(description, names)
        or _copied(whole, language, description, parts)
        or _reason("formula", find_traversal(description, whole, names))
        or _reason("code", _without_word_between(description, whole))
        or _reason("code", find_code(description, names, num_groups=num_groups(whole), num_bound=len(_bound(whole))))
    )


def _in_expression(whole: Regex, description: str) -> Leak | None:
    match = _REGEX.search(_BOLD.sub(r"\1", description)) or _SPELT.search(description)
    num_stars = write_regex(whole).count("*")
    return (
        _reason("expression", None if match is None else match[0])
        or _sign_of_another_script(description)
        or _reason("expression", find_spelling(description, whole))
        or _reason("code", find_code(description, (), num_groups=min(1, num_stars)))
    )


def _reason(reason: str, found: str | None) -> Leak | None:
    return None if found is None else Leak(reason, found[:MAX_EXCERPT])


def _sign(description: str, names: Collection[str]) -> Leak | None:
    known = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    # Attack: `p1 + p2` or `#p3`: a sign that no reader knows, but that beside a name can only be an operator.
    beside = re.compile(rf"\b(?:{known})\s*[+*=<>#@%]+\s*(?:{known})\b|(?<!\w)[-+#@%](?:{known})\b", re.IGNORECASE)
    # Attack: `IMPLIES(AND(p1, p2), NOT(p3))`, or `open bracket p1 and p2 close bracket implies not p3`.
    searches = (_SIGN.search, _PREFIXED.search, _SPELT.search, beside.search)
    found = next((match[0].strip() for search in searches if (match := search(description)) is not None), None)
    return _reason("sign", found) or _sign_of_another_script(description)


def _without_word_between(description: str, whole: fo.Formula) -> str | None:
    """Return two propositions that stand side by side: what joins them is said elsewhere, as in prefix notation."""
    known = "|".join(re.escape(part.predicate) for part in fo.subformulas(whole) if isinstance(part, fo.Atom))
    if any(isinstance(part, fo.Atom) and part.arguments for part in fo.subformulas(whole)):
        return None
    # Attack: `the conjunction of p1 the disjunction of p2 p3`, with phrases of several words for the signs.
    match = re.search(rf"\b(?:{known})[ \t]+(?:{known})\b", description, re.IGNORECASE)
    return None if match is None else match[0]


def _sign_of_another_script(description: str) -> Leak | None:
    """Return a mathematical sign, picture or mark over a letter that English has no use for; bullets are no such."""
    # Attack: `p1 \N{BLACK STAR} p2`, or a bar over what is denied.
    unbulleted = _BULLET.sub("", description)
    kinds = {"Sm", "So", "Mn", "Me"}
    signs = (each for each in unbulleted if not each.isascii() and unicodedata.category(each) in kinds)
    return _reason("sign", next(signs, None))


def _copied(whole: fo.Formula, language: Language, description: str, parts: Sequence[str]) -> Leak | None:
    for part in parts:
        formula = _read(part, language)
        # Attack: `(p1 and (p2 or not p3))`, which our own reader would take for the formula.
        if formula is not None and num_groups(formula) > 1:
            return _reason("formula", part)
    bare = _BETWEEN.sub("", description.lower())
    for inner in fo.subformulas(whole):
        # Attack: `It says that p1 and (p2 or not p3) hold`, in which the copy has no brackets of its own.
        if num_groups(inner) > 1 and (copied := _without_outer(_in_words(inner))) in bare:
            return _reason("formula", copied)
    for line in description.splitlines():
        if num_groups(whole) > 1 and (read := _read(line, language)) is not None and fo.flattened(read) == whole:
            return _reason("formula", line)
    return None


def _bracketed(text: str) -> Iterator[str]:
    """Yield what stands in brackets, outer before inner, lists of arguments left out."""
    opened: list[int] = []
    found: list[tuple[int, int]] = []
    for position, character in enumerate(text):
        if character in "([":
            opened.append(position)
        elif character in ")]" and opened:
            start = opened.pop()
            if start == 0 or not (text[start - 1].isalnum() or text[start - 1] == "_"):
                found.append((start, position + 1))
    for start, end in sorted(found):
        yield text[start:end]


def _work(formula: fo.Formula) -> int:
    """Return how many signs and atoms all parts of a formula have together."""
    total, waiting = 0, [(formula, 1)]
    while waiting and total <= MAX_WORK:
        current, depth = waiting.pop()
        total += depth
        match current:
            case fo.Not(body) | fo.Quantified(body=body):
                waiting.append((body, depth + 1))
            case fo.Compound(_, operands):
                waiting += [(operand, depth + 1) for operand in operands]
            case fo.Atom() | fo.Equality():
                pass
    return total


def _bound(formula: fo.Formula) -> set[str]:
    return {part.variable.lower() for part in fo.subformulas(formula) if isinstance(part, fo.Quantified)}


def _read(text: str, language: Language) -> fo.Formula | None:
    try:
        return read_formula(text, language).formula
    except fo.FormulaError:
        return None


def _without_outer(text: str) -> str:
    return text[1:-1] if text.startswith("(") else text


def _in_words(formula: fo.Formula) -> str:
    """Return a formula with words for its signs, without blanks and stops."""
    match formula:
        case fo.Not(body):
            return f"not{_in_words(body)}"
        case fo.Compound(operator, operands):
            return f"({_IN_WORDS[operator.value].join(map(_in_words, operands))})"
        case fo.Quantified(quantifier, variable, body):
            return f"{_IN_WORDS[quantifier.value]}{variable}{_in_words(body)}"
        case fo.Atom(predicate, arguments):
            return predicate + (f"({''.join(map(_term, arguments))})" if arguments else "")
        case fo.Equality(left, right):
            return f"{_term(left)}={_term(right)}"


def _term(term: fo.Term) -> str:
    match term:
        case fo.Variable(name) | fo.Constant(name):
            return name
        case fo.Application(function, arguments):
            return f"{function}({''.join(map(_term, arguments))})"


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


_PAUSE = re.compile(r"[.,;:()\n]+")
"""Ends of what is said in one go; commas and brackets say what belongs together, as a code has no need to."""


def find_traversal(description: str, formula: fo.Formula, names: Collection[str]) -> str | None:
    """Return what goes through a formula, or a part of it, in one go: its names in order, and no more words than signs.

    The names may come backwards, and the words for the signs may be any.
    """
    paths: dict[str, int] = {}
    for part in fo.subformulas(formula):
        if num_groups(part) > 1:
            leaves = [name.lower() for inner in fo.subformulas(part) for name in _names(inner)]
            paths.update({" ".join(order): _num_signs(part) for order in (leaves, leaves[::-1])})
    for said in map(tokens, _PAUSE.split(description)):
        own = [word for word in said if word in names]
        # Attack: `p1 and p2 or not p3`, `and p1 or p2 not p3`, or any other words in their places.
        if 1 < len(said) - len(own) <= paths.get(" ".join(own), 0):
            return " ".join(said)
    return None


def _names(part: fo.Formula) -> Iterator[str]:
    """Yield the names that a part has beside those of its own parts."""
    if isinstance(part, fo.Quantified):
        yield part.variable
    elif isinstance(part, fo.Atom):
        yield part.predicate
        yield from (term.name for term in part.arguments if not isinstance(term, fo.Application))


def _num_signs(formula: fo.Formula) -> int:
    parts = list(fo.subformulas(formula))
    joins = sum(len(part.operands) - 1 for part in parts if isinstance(part, fo.Compound))
    return joins + sum(isinstance(part, fo.Not | fo.Quantified) for part in parts)


def find_spelling(description: str, expression: Regex) -> str | None:
    """Return the part of a description that spells a regular expression sign by sign; None where none does."""
    text = write_regex(expression)
    letters = [sign for sign in text if sign.isdigit()]
    for segment in _PAUSE.split(description):
        said = [letter for word in tokens(segment) for letter in _letters(word)]
        num_words = sum(not letter.isdigit() for letter in said)
        # One sign alone may be any word in honest descriptions: `0 then 1`, of 01*, is only wrong.
        if 1 < num_words <= len(text) - len(letters) and [letter for letter in said if letter.isdigit()] == letters:
            return segment.strip()
    return None


def _letters(word: str) -> list[str]:
    if word in NUMBER_WORDS:
        return [str(NUMBER_WORDS.index(word))]
    return list(word) if word.isdecimal() else [word]


def num_groups(formula: fo.Formula) -> int:
    """Count the groups of a formula, each operator once for all that it joins."""
    return sum(isinstance(part, fo.Compound) for part in fo.subformulas(formula))
