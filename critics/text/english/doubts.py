"""Phrases that say that nobody knows: a head that denies, words about texts behind it, and what is not known.

The words behind the head come from a closed list in which nothing denies, so that `no premise .. states that A` says
that A is not known however they are put together.
"""

import re
from dataclasses import dataclass

from critics.grammar.lexicon import gerund, third_person
from critics.text.english.phrases import ANY_CASE, MANNER, NAME, NOUNS, WE, WORDS

_META = rf"(?:,? *(?:\b(?:the|a|an|any|our|these|those|this|that) )?\b(?:{NOUNS}|{WORDS})\b(?!'))*"
HEAD = re.compile(
    rf"(?:{WE} {MANNER}(?:do not|don't|cannot|can't|can not|could not|couldn't|are unable to|are not able to|"
    rf"have no|lack|see no|find no|are not|aren't|can neither|have not|haven't|also do not|also don't)(?: {MANNER})?"
    rf"(?: ?(?:have|find|see|been|yet|currently|be)\b)*"
    r"|there(?: is| are|'s| exists?) (?:also )?(?:no|not|nothing|insufficient)|there (?:isn't|aren't)"
    rf"|without (?:any |further |more |additional )*(?:knowing|knowledge|information|evidence)"
    rf"|{WE}'re (?:not|unable to)|{WE} (?:know|have|see|find|are (?:given|told)) nothing"
    rf"|the rest of the {NOUNS} (?:do|does)(?: not|n't)"
    rf"|the (?:given |provided )*{NOUNS}(?: given| provided)? (?:is|are) (?:insufficient|not (?:sufficient|enough))"
    rf"|(?:none|neither) of|no(?= (?:\w+ )?{NOUNS}\b)|nothing|(?:the|this) {NOUNS} lacks?"
    rf"|(?:(?:the|these|those|our|this|that|it|they)(?: (?:given|provided|other|above|two|three))*(?: {NOUNS})?"
    rf"(?: (?:given|provided|above))?|premises?(?: \d+)?) (?:also )?(?:do|does|did|is|are)(?: (?:also|still|only))?"
    r"(?: not|n't)(?! true| false)"
    r"|(?:it|this|that) (?:can(?:not|'t| not)|could not) (?:also |therefore |thus )?be"
    r"|it(?: is| remains|'s) (?:also |still |therefore |thus |then )*(?:uncertain|unclear|unknown|undetermined|"
    r"impossible (?:to|for us to))|it(?: is|'s| was) (?:also |still )?not)(?= |$)",
    ANY_CASE,
)
ABOUT = re.compile(rf"{_META},? *(?P<how>\b(?:whether or not|whether|(?<!that )if)\b)? *", ANY_CASE)
_DIRECT = re.compile(r"\b(?:direct|directly|explicit|explicitly)\b", ANY_CASE)
_OTHERS = re.compile(r"\b(?:others?|else|rest|further|additional|more)\b", ANY_CASE)
_TOPIC = re.compile(rf"(?P<name>{NAME})(?:'s? \w+)? (?P<verb>not )?(?P<form>[a-z]+ing)\b *(?P<rest>.*)")
_BETWEEN = re.compile(rf"(?:the )?(?:relationships? )?between (?P<one>{NAME}) and (?P<other>{NAME})")
_LINKED = re.compile(
    rf"(?P<one>{NAME})(?P<whose>'s? relationships?)? (?:and|to|with) (?P<other>{NAME})(?: specifically| directly)?"
)
_BEING = re.compile(
    r"(?:(?:relationship )?between )?being (?P<one>[a-z, ]+?) (?:and|to|with|implies|means) being (?P<other>[a-z]+)"
)
_OF_NAME = re.compile(
    rf"(?P<name>{NAME}|his|her|its|their)(?:'s?)? (?P<traits>[a-z]+(?:(?:, or |, and |, | or | and )[a-z]+)*?)"
    r"(?: or lack thereof)?"
    rf"|the (?P<traits2>[a-z]+(?:(?: or | and )[a-z]+)*) of (?P<name2>{NAME})|(?P<name3>{NAME}|him|her|it)"
)
_TRAITS = {
    "color": "red blue green white black yellow purple brown orange pink gray",
    "age": "young old", "size": "big small large tall little", "temperature": "cold hot warm cool",
    "intelligence": "smart", "fur": "furry", "texture": "rough smooth furry", "shape": "round",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sentence that begins with a claim of not knowing."""

    both_ways: bool
    """True if the denial is said not to be known either."""
    directly: bool
    """True if only what is said in so many words is spoken of."""
    others: bool
    """True if it is of what was not said before."""
    is_topic: bool
    """True if a topic may follow: `information about`."""
    of_last: bool
    """True if it is of what was said right before: `this does not tell us whether`."""
    about: str
    """The statement or the topic that is not known, and what stands behind it; empty for the question."""


def doubt(text: str) -> Doubt | None:
    """Return the claim of not knowing with which a sentence begins; None where it begins with none."""
    head = HEAD.match(text)
    if head is None:
        return None
    link = ABOUT.match(text, head.end())
    assert link is not None
    between = text[head.end() : link.end()]
    is_open = re.search(r"un(?:certain|clear|known|determined)|impossible", head[0], ANY_CASE)
    is_open = is_open or re.match("without", head[0], ANY_CASE)
    if is_open is None and not between.strip(" ,"):
        # `It is not warm` is a statement.
        return None
    says = re.search(r"\bthat *$", between) is not None
    about = re.sub(r"(?:,? or not|,? either)$", "", text[link.end() :].strip(" ,"))
    linked = re.search(r"\b(?:connect|link|relat)(?:s|es|ing)? *$", between, ANY_CASE)
    pair = _LINKED.fullmatch(about)
    about = f"between {pair['one']} and {pair['other']}" if pair and (linked or pair["whose"]) else about
    directly, others = _DIRECT.search(between) is not None, _OTHERS.search(text[: link.end()]) is not None
    is_topic = re.search(
        r"\b(?:about|on|regarding|of|concerning|to|relationships?|links?|determine|(?:mention|connect|link)(?:s|ing)?|involv(?:es?|ing)|"
        r"specif(?:y|ies|ying)) *$",
        between,
        ANY_CASE,
    )
    of_last = re.match(r"(?:this|that|it|they|these) (?:also )?do", text, ANY_CASE) is not None
    return Doubt(not says or is_open is not None, directly, others, is_topic is not None, of_last, about)


def finite(topic: str) -> str:
    """Return `the cow eating the dog` as `the cow eats the dog`; the topic itself where it is none."""
    match = _TOPIC.fullmatch(topic)
    if match is None:
        linked = re.fullmatch(
            rf"(?:between )?(?P<name>{NAME}) (?:with|to|and) being (?P<rest>[a-z]+)(?:,? or not being (?P=rest))?",
            topic,
        )
        return topic if linked is None else f"{linked['name']} is {linked['rest']}"
    if match["form"] == "being":
        return f"{match['name']} is {match['verb'] or ''}{match['rest']}"
    base = gerund(match["form"])
    if base is None:
        return topic
    verb = f"does not {base}" if match["verb"] else third_person(base)
    return f"{match['name']} {verb} {match['rest']}"


def rule_of(topic: str) -> str | None:
    """Return `between being kind and being big` as the rule that is missing; None for any other topic."""
    match = _BEING.fullmatch(topic)
    return None if match is None else f"if something is {match['one']} then it is {match['other']}"


def names_of(topic: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the objects that a topic is about, and the adjectives for its traits; None where it is none."""
    match = _BETWEEN.fullmatch(topic)
    if match is not None:
        return (match["one"].lower(), match["other"].lower()), ()
    match = _OF_NAME.fullmatch(topic)
    if match is None:
        return None
    name = match["name"] or match["name2"] or match["name3"]
    adjectives: list[str] = []
    for trait in re.findall(r"[a-z]+", re.sub(r"\b(?:or|and)\b", "", match["traits"] or match["traits2"] or "")):
        known = _TRAITS.get(trait) or trait.removesuffix("ness")
        if known == trait:
            return None
        adjectives += known.split()
    return (name.lower(),), tuple(adjectives)
