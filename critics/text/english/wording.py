"""Other words for what the data sets' English says: `all cats are dogs` for `Cats are dogs`.

Each rewriting keeps the meaning exactly, and gives a sentence for a reader that refuses what it does not know. What
would change the meaning is left alone: `not every`, `most`, `only`, `may`.
"""

import re
from collections.abc import Iterator

_CONTRACTED = (
    (re.compile(r"\b(is|are|does|do)n't\b", re.IGNORECASE), r"\1 not"),
    (re.compile(r"\b(it|that|there|he|she)'s\b", re.IGNORECASE), r"\1 is"),
    (re.compile(r"\bthey're\b", re.IGNORECASE), "they are"),
)
_ADVERBS = r"(?:also|therefore|thus|hence|then|indeed|consequently)"
_SOFTENED = (
    (re.compile(rf"\b(is|are|does|do|it|they)(?: +{_ADVERBS})+(?= )", re.IGNORECASE), r"\1"),
    # `Tom is not therefore a cat` denies that it follows.
    (re.compile(r"\b(is|are) not +(?:also|indeed)(?= )", re.IGNORECASE), r"\1 not"),
    (re.compile(r"\b(?:must|has to|have to)(?: +also)? +(not +)?be\b", re.IGNORECASE), r"is \1"),
    (re.compile(r"\b(is|are) both (?=[^,]+ and )", re.IGNORECASE), r"\1 "),
    (re.compile(r"(?:,? +(?:as well|too))$", re.IGNORECASE), ""),
    (re.compile(r"^([A-Z][a-z]*) (?:also|therefore|thus|hence|then) (?=[a-z])"), r"\1 "),
    (re.compile(r" +"), " "),
)
_ALL_OF = re.compile(r"all (?P<rest>[^,]+ are .+)", re.IGNORECASE)
_ANY = re.compile(r"(?:any|all|every|each|an?) (?P<noun>[^,]+?) is (?P<rest>.+)", re.IGNORECASE)
_NO_ONE = re.compile(r"no (?P<noun>[^,]+?) is (?P<rest>[^,]+)", re.IGNORECASE)
_NO_ONES = re.compile(r"no (?P<noun>[^,]+?) are (?P<rest>[^,]+)", re.IGNORECASE)
_BEARER = r"(?:something|someone|anything|anyone|somebody|anybody|a thing|an object|an animal|x)"
_IF_KIND = re.compile(
    rf"if {_BEARER} is (?P<article>an?) (?P<noun>[a-z -]+?),? (?:then )?(?:it|they|he|she|x|that thing|that object)"
    r" (?:is|are) (?P<rest>.+)",
    re.IGNORECASE,
)
_WHAT_IS_KIND = re.compile(
    r"(?:everything|anything|everyone|anyone|everybody|anybody|something|whatever|whoever)(?: +(?:that|who|which))? is"
    r" an? (?P<noun>[a-z -]+?),? is (?P<rest>.+)",
    re.IGNORECASE,
)
_WHAT_IS = re.compile(
    r"(?P<bearer>everything|anything|everyone|anyone|everybody|anybody|something|someone)(?: +(?:that|who|which)) is"
    r" (?P<condition>[a-z -]+?),? is (?P<rest>.+)",
    re.IGNORECASE,
)
_THINGS_THAT_ARE = re.compile(
    r"(?:all )?(?P<kind>things|people) (?:that|who) are (?P<condition>[a-z -]+?),? are (?P<rest>.+)", re.IGNORECASE
)
_IF_WITHOUT_THEN = re.compile(r"if (?P<condition>[^,]+(?:, and [^,]+)?), (?P<rest>(?!then\b).+)", re.IGNORECASE)
_PERSONS = ("everyone", "anyone", "everybody", "anybody", "someone")


PRONOUN = re.compile(r"(?:he|she|it)(?= (?:is|does|has) )", re.IGNORECASE)


def plain(text: str) -> str:
    """Return a sentence's words without contractions, quotes around it, and adverbs that say nothing."""
    text = " ".join(text.split()).strip(" \"'").rstrip(".,:;").strip(" \"'")
    for pattern, replacement in (*_CONTRACTED, *_SOFTENED):
        text = pattern.sub(replacement, text)
    return text.strip()


def variants(text: str, *, of_kinds: bool, of_conditions: bool) -> Iterator[str]:
    """Yield a sentence as it stands, then in the other words that mean the same, each with capital and full stop.

    `of_kinds`: the language's rules have kinds as their subjects (`Every cat is ..`); `of_conditions`: they begin
    with a condition (`If someone is kind then ..`).
    """
    yield _sentence(text)
    for other in (*(_of_kinds(text) if of_kinds else ()), *(_of_conditions(text) if of_conditions else ())):
        yield _sentence(other)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _of_kinds(text: str) -> Iterator[str]:
    if (match := _ALL_OF.fullmatch(text)) is not None:
        yield match["rest"]
    if (match := _ANY.fullmatch(text)) is not None:
        yield f"Every {match['noun']} is {match['rest']}"
    if (match := _NO_ONE.fullmatch(text)) is not None and not match["rest"].startswith("not "):
        yield f"Every {match['noun']} is not {match['rest']}"
    if (match := _NO_ONES.fullmatch(text)) is not None and not match["rest"].startswith("not "):
        yield f"{match['noun']} are not {match['rest']}"
    if (match := _IF_KIND.fullmatch(text) or _WHAT_IS_KIND.fullmatch(text)) is not None:
        yield f"Every {match['noun']} is {match['rest']}"


def _of_conditions(text: str) -> Iterator[str]:
    if (match := _IF_WITHOUT_THEN.fullmatch(text)) is not None:
        yield f"If {match['condition']} then {match['rest']}"
    if (match := _THINGS_THAT_ARE.fullmatch(text)) is not None:
        opening = "something is" if match["kind"].lower() == "things" else "someone is"
        pronoun = "it is" if match["kind"].lower() == "things" else "they are"
        yield f"If {opening} {match['condition']} then {pronoun} {match['rest']}"
    if (match := _WHAT_IS.fullmatch(text)) is not None:
        bearer, pronoun = ("someone", "they are") if match["bearer"].lower() in _PERSONS else ("something", "it is")
        yield f"If {bearer} is {match['condition']} then {pronoun} {match['rest']}"


def with_name(text: str, name: str | None) -> str:
    """Return a sentence whose subject, a pronoun, is replaced by the one name that it can stand for."""
    match = PRONOUN.match(text)
    return text if name is None or match is None else f"{name}{text[match.end() :]}"
