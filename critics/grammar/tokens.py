"""Tokens of a sentence: words in lower case and commas, each with its place; a run of capitalised words is one name."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from critics.grammar.lexicon import INITIAL, Vocabulary, is_base, is_plural, past, third
from critics.grammar.words import (
    ALWAYS_ASKING,
    ARTICLES,
    ASKING,
    ATTITUDES,
    AUXILIARIES,
    BE,
    CLASSES,
    CONDITIONS,
    CONNECTIVES,
    COORDINATING_NAMES,
    DO,
    FUNCTION,
    HAVE,
    NUMBERS,
    PREPOSITIONS,
    SOMEONE,
)

_PIECE = re.compile(r'"[^"\n]*"|[$€£]?\b\d{1,3}(?:,\d{3})+\b|[,;]|[^\s,;"]+')
_FULL_STOP = re.compile(r"[.?!]+\s*$")
_ABBREVIATION = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Inc|Co|Ltd|No|vs))\.$")
_MARK = re.compile(
    r"[:()\[\]{}—–=<>*|\\^~→∀∃¬∧∨]|--|(?<=\s)-(?=\s)|(?<![A-Za-z\d])_|_(?![A-Za-z\d])|\b[Nn]ot-|!(?=\w)|[.?!](?=\s)"
)
_CONTRACTIONS = {
    short: (first, second) for short, first, second in (re.split(r"[=+]", each) for each in CLASSES["contractions"])
}
_JOINED: defaultdict[str, list[tuple[list[str], list[str]]]] = defaultdict(list)
"""Words that stand together for others, by the first."""
for _line in Path(__file__).with_name("joined.txt").read_text(encoding="utf-8").splitlines():
    _said, _, _other = _line.partition(" | ")
    _JOINED[_said.split(" ")[0]].append((_said.split(" "), _other.split(" ")))
_QUOTES = str.maketrans({"’": "'", "‘": "'", "`": "'", "“": '"', "”": '"', "\u00a0": " "})
_NUMBER = re.compile(r"\d+(?:\.\d+)*")
_GROUPS = re.compile(r"(?<=\d),(?=\d{3})")
_DASH = re.compile(r"(?<=\w)[–‐‑](?=\w)")
_PLAIN_MARKS = frozenset("°€£¥¢×…½¼¾%§©®™−‐‑'")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a comma or a name; `word` is lower case, `start` and `end` are its place in the sentence."""

    word: str
    start: int
    end: int
    is_name: bool = False
    is_thing: bool = False
    """True if it is an acronym or has a digit: nobody who is `he` or `she`."""

    is_quoted: bool = False
    """True if it stands in quotes: a title, or a word that somebody else would use."""

    @property
    def owns(self) -> bool:
        """True if it is a name in the genitive."""
        return self.is_name and self.word.endswith(("'s", "s'"))


class UnreadMark(Exception):  # noqa: N818
    """A mark that no sentence of the grammar holds, and where it stands."""

    def __init__(self, mark: str, start: int) -> None:
        super().__init__(mark)
        self.mark, self.start = mark, start


def tokenize(sentence: str, vocabulary: Vocabulary) -> tuple[Token, ...]:
    """Return the tokens of one sentence; raises `UnreadMark`."""
    text = _DASH.sub("-", sentence.translate(_QUOTES)).rstrip()
    if not _ABBREVIATION.search(text) or re.search(r"\b[A-Z]\.$", text) is not None:
        text = _FULL_STOP.sub("", text)
    strange = next((at for at, each in enumerate(text) if not each.isascii() and _is_strange(each)), None)
    if strange is not None:
        raise UnreadMark(text[strange], strange)
    doubtful = INITIAL.match(text)
    if doubtful is not None and doubtful[0] not in vocabulary.titles:
        # Hall B. Ann is tall.
        raise UnreadMark(".", text.index("."))
    for mark in _MARK.finditer(text):
        if mark[0] != "." or not _ABBREVIATION.search(text[: mark.end()]):
            raise UnreadMark(mark[0], mark.start())
    return tuple(_joined(list(_named(list(_pieces(text, vocabulary.titles)), vocabulary))))


def _is_strange(letter: str) -> bool:
    """Say whether a letter looks like another, is not seen, or marks a note: of another script, or no letter at all."""
    is_latin = letter.isalpha() and unicodedata.name(letter, "").startswith("LATIN")
    return not (is_latin or letter in _PLAIN_MARKS)


def _pieces(text: str, titles: tuple[str, ...]) -> Iterator[Token]:
    """Yield raw words with their capitals, contractions taken apart; a title is one name."""
    titled = "|".join(rf"\b{re.escape(title)}(?!['\w-])" for title in titles if title in text)
    for match in re.finditer(f"{titled}|{_PIECE.pattern}", text) if titled else _PIECE.finditer(text):
        piece, start = match[0], match.start()
        if piece.startswith('"') or piece in titles:
            quoted = piece.startswith('"')
            if quoted and start == 0 and "," in (piece[-2:-1], text[match.end() : match.end() + 1]):
                # "Tom is kind", said Ann.
                raise UnreadMark(piece, start)
            yield Token(piece.strip('".,').strip(), start, match.end(), is_name=True, is_quoted=quoted)
            continue
        low = piece.lower()
        parts = _CONTRACTIONS.get(low) if low not in ("whoever", "whatever") or start == 0 else None
        if parts is None and low.endswith("n't") and len(low) > 3:
            parts = (low[:-3], "not")
        if parts is None:
            yield Token(_GROUPS.sub("", piece), start, match.end())
            continue
        first, second = parts
        middle = start + min(len(first), len(piece) - 1)
        yield Token(first.capitalize() if piece[0].isupper() else first, start, middle)
        yield Token(second, middle, match.end())


def _named(raw: list[Token], vocabulary: Vocabulary) -> Iterator[Token]:
    """Join runs of capitalised words to names, and put all others in lower case."""
    run: list[Token] = []
    skipped: Token | None = None
    for at, token in enumerate(raw):
        if token.is_name:
            yield from _closed(run)
            yield _lowered(token)
            continue
        after = raw[at + 1] if at + 1 < len(raw) else None
        if not run and after is not None and (token.word.lower(), after.word.lower()) in vocabulary.numbered:
            # Ticket 4471, and behind it `the ticket 4471` and 4471 alone.
            run += [token, after]
            yield from _closed(run)
            skipped = after
            continue
        if token is skipped:
            continue
        if not run and (noun := _noun_of(token, after, vocabulary)) is not None:
            yield Token(f"{noun} {token.word.lower()}", token.start, token.end, is_name=True)
            continue
        if _is_capital(raw, at, run, vocabulary) or (
            run and (_NUMBER.fullmatch(token.word) or _links(token, after, raw, at))
        ):
            run.append(token)
            if token.word.endswith(("'s", "'")):
                yield from _closed(run)
            continue
        yield from _closed(run)
        yield _lowered(token)
    yield from _closed(run)


def _noun_of(token: Token, after: Token | None, vocabulary: Vocabulary) -> str | None:
    """Return the noun of the one thing that a number or mark alone may mean: `K7`, or `4471` before its verb."""
    # Attack: 3 is prime. Room 3 is red.
    is_number = token.word in vocabulary.counted
    nouns = [noun for noun, mark in vocabulary.numbered if mark == token.word.lower() and not is_number]
    is_mark = re.fullmatch(r"[A-Z]-?\d+|\d+[A-Za-z]|[A-Z][a-z]+", token.word) is not None
    verb = "" if after is None else after.word.lower()
    acts = token.word.isdigit() and (verb in AUXILIARIES or (third(verb) is not None and not is_plural(verb)))
    return nouns[0] if len(nouns) == 1 and (is_mark or acts) else None


def _lowered(token: Token) -> Token:
    return token if token.word.islower() else replace(token, word=token.word.lower())


def _closed(run: list[Token]) -> Iterator[Token]:
    if run:
        word = " ".join(re.sub(r"[^\w&'+#./-]", "", token.word) for token in run).lower().rstrip(".")
        is_thing = all(re.search(r"\d|^[A-Z]{2,}\W*$", token.word) for token in run)
        yield Token(word, run[0].start, run[-1].end, is_name=True, is_thing=is_thing)
        run.clear()


def _is_capital(raw: list[Token], at: int, run: list[Token], vocabulary: Vocabulary) -> bool:
    """Say whether a word belongs to a name by its capital, or by a digit among its letters."""
    word = raw[at].word
    low = word.lower()
    if not (word[:1].isupper() or (re.search(r"\d", word) and re.search(r"[A-Za-z]", word))):
        return False
    function = low in FUNCTION or low in NUMBERS or low.removesuffix("'s") in SOMEONE
    if at and ((word.isupper() and (len(word) > 1 or run)) or (run and low not in AUXILIARIES | CONNECTIVES)):
        function = False
    before = raw[at - 1].word.lower() if at else ""
    if (word == "A" and run) or (word == "May" and (before in (*PREPOSITIONS, *ARTICLES) or before.isdigit())):
        return True
    if function or low in ARTICLES:
        return False
    if at:
        return True
    return vocabulary.starts_as_name(re.sub(r"'s$", "", word), raw[1].word if len(raw) > 1 else "")


def _links(token: Token, after: Token | None, raw: list[Token], at: int) -> bool:
    """Say whether a small word joins two parts of one name: `de`, `of`, `of the`."""
    if after is None:
        return False
    if token.word == "&" or token.word in COORDINATING_NAMES:
        return after.word[:1].isupper()
    second = raw[at + 2] if at + 2 < len(raw) else None
    if token.word == "of":
        return after.word[:1].isupper() or (after.word == "the" and second is not None and second.word[:1].isupper())
    return token.word == "the" and raw[at - 1].word == "of" and after.word[:1].isupper()


_WEATHER = re.compile(
    r"it (?:(?:is|was|will|does|did|has|had|can|may|might)(?: not)? )?(?:rain|snow|drizzle|thunder|storm)(?:s|ed|ing)?"
    r"(?= (?:,|and|or|but|then|so|when|if|unless|because|outside|today|now|in|at|on) |$| ?$)"
)
_IF_NOT = re.compile(r"or (?:, )?if (?:not|(?:he|she|it|they) (?:do|does|is|are|can|did|was|were)( not)?) ,(?: then)? ")


def _without_end(tokens: list[Token]) -> list[Token]:
    """Leave out `either` behind a denial and `too` behind a comma, as `also`; `there` is where the one name was."""
    words = [token.word for token in tokens]
    denied = {"not", "no", "never"} & {*words[:-2]} and words.count("either") == 1
    if denied and words[-1] == "either" and (not is_base(words[-2]) or words[-3] in ("a", "the")):
        return tokens[:-1]  # Not: does not like either.
    if words[-2:] == [",", "too"]:
        return tokens[:-2]
    places = [at for at in range(1, len(tokens)) if tokens[at].is_name]
    if words[-1:] == ["there"] and len(places) == 1 and words[places[0] - 1] in ("in", "at", "through", "into"):
        at = tokens[-1]
        word = "at" if words[places[0] - 1] == "at" else "in"
        return [*tokens[:-1], Token(word, at.start, at.end), replace(tokens[places[0]], start=at.start, end=at.end)]
    return tokens


def _meant(words: list[str], at: int) -> tuple[int, list[str]] | None:
    """Return how many words stand for others, and for which; None where they may be themselves."""
    for said, meant in _JOINED.get(words[at], ()):
        if words[at : at + len(said)] == said and _joins(words, at, said, meant):
            return len(said), meant
    return None


def _joins(words: list[str], at: int, said: list[str], meant: list[str]) -> bool:
    """Say whether `at least one` opens a subject, and other words are no conjunction, or certainly one.

    The meals provided that day; a rope as long as the pole; slept as long as she sang; knows exactly when she sings.
    """
    lead, behind = words[:at], words[at + len(said) :]
    if meant[0] not in ("if", "only", "unless"):
        is_led = not lead or lead[-1] in CONDITIONS or "there" in lead[-2:] or (at == 1 and lead[0] in AUXILIARIES)
        return meant != ["some"] or is_led or behind[:1] == ["of"]
    if behind[:1] == ["by"] or not lead or said == ["once"]:
        return not lead and meant == ["if"] and behind[:1] != ["by"] and (said != ["once"] or not is_past(words))
    if len(meant) > 2:
        acts = third(lead[-1]) or ((past(lead[-1]) or is_base(lead[-1])) and not {*BE, *ARTICLES} & {*lead[-2:-1]})
        return not (acts or is_past(lead) or (ASKING | ALWAYS_ASKING | ATTITUDES) & {*lead})
    is_state = lead[-1] not in BE and HAVE.keys().isdisjoint(lead) and not {*BE, *DO, *HAVE}.isdisjoint(behind)
    return not is_past(lead) and (meant != ["if"] or lead[-1] == "," or (len(said) > 1 and is_state))


def is_past(words: list[str]) -> bool:
    """Say whether a clause tells of the past by its verb."""
    told = any(word in ("was", "were", "did", "had") for word in words)
    return told or (AUXILIARIES.isdisjoint(words) and any(past(word) and not is_base(word) for word in words))


def _joined(tokens: list[Token]) -> Iterator[Token]:
    """Join `no one`, `he or she`, and a place with what it lies in: `in Portland, Oregon`."""
    at, tokens = 0, _without_end(tokens)
    said_words = [token.word for token in tokens]
    while at < len(tokens):
        words = tuple([token.word for token in tokens[at : at + 3]])
        idle = _IF_NOT.match(" ".join(token.word for token in tokens[at : at + 10])) if words[0] == "or" else None
        if idle is not None and (idle[1] or " if not " in idle[0] or any(token.word == "not" for token in tokens[:at])):
            # A or, if not, then B: A or B.
            yield tokens[at]
            at += len(idle[0].split())
            continue
        said = " ".join(token.word for token in tokens[at : at + 5]) if words[0] == "it" else ""
        if _WEATHER.match(f"{said} "):
            yield from (Token(word, tokens[at].start, tokens[at].end) for word in ("the", "weather"))
            at += 1
        elif (found := _meant(said_words, at)) is not None:
            yield from (Token(word, tokens[at].start, tokens[at + found[0] - 1].end) for word in found[1])
            at += found[0]
        elif _is_place(tokens, at):
            yield Token(f"{words[0]}, {words[2]}", tokens[at].start, tokens[at + 2].end, is_name=True)
            at += 3
        else:
            yield tokens[at]
            at += 1


def _is_place(tokens: list[Token], at: int) -> bool:
    if not at or at + 2 >= len(tokens) or tokens[at - 1].word not in PREPOSITIONS or tokens[at + 1].word != ",":
        return False
    listed = [token.word for token in tokens[at + 3 : at + 5]]
    told = tokens[at].word == tokens[at + 2].word or (listed and (third(listed[0]) or past(listed[0])))
    if told or (tokens[0].word in CONDITIONS and not AUXILIARIES.isdisjoint(listed[:1])):
        # If people like Tom, Tom likes them. If Tom is with Ann, Bob is kind.
        return False
    if listed[:1] in (["and"], ["or"]) or (listed[:1] == [","] and listed[1:] in (["and"], ["or"])):
        return False
    return tokens[at].is_name and tokens[at + 2].is_name
