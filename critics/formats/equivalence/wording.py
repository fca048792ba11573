"""Test of a description for being in words of English, with names that stand alone.

Said of the text, not of its meaning: letters without a vowel, names run together, a sentence of words that are no
English, and fewer words than the formula has groups are a code. English that is agreed to mean something else is not
found here.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from string import ascii_lowercase

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
