"""Phrases that say that nobody knows: a head that denies, words about texts behind it, and what is not known.

The words behind the head come from a closed list in which nothing denies, so that `no premise .. states that A` says
that A is not known however they are put together.
"""

import re
from dataclasses import dataclass

from critics.grammar.lexicon import gerund, third_person
from critics.text.english import phrases
from critics.text.english.phrases import ANY_CASE, NAME

HEAD = re.compile(rf"(?:{phrases.DOUBTS.pattern})(?= |$)", ANY_CASE)
_META = (
    rf"(?:,? *(?!which \w+ (?-i:[A-Z]))(?:\b(?:the|a|an|any|our|these|those|this|that) )?"
    rf"\b(?:{phrases.NOUNS}|{phrases.WORDS})\b(?!'))*"
)
ABOUT = re.compile(rf"{_META},? *(?P<how>\b(?:whether or not|whether|(?<!that )if)\b)? *", ANY_CASE)
_DIRECT = re.compile(r"\b(?:direct|directly|explicit|explicitly)\b", ANY_CASE)
_OTHERS = re.compile(r"\b(?:others?|else|rest|further|additional|more)\b", ANY_CASE)
_NOR = re.compile(
    r",? (?:n?or|and neither) (?:that|whether|if) (?:he|she|it|they|this) (?:is|are|does|do)(?:n't| not)$"
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
    says = re.search(r"\b(?:that|(?:tells?|told) us|says?|states?|know) *$", between) is not None
    about = re.sub(
        r"(?:,? or not|,? either|(?:^|,? )either way|(?:^|,? )one way or the other)$",
        "",
        text[link.end() :].strip(" ,"),
    )
    told = _NOR.sub("", about)
    says, about = says and told == about, told
    linked = re.search(r"\b(?:connect|link|relat)(?:s|es|ing)? *$", between, ANY_CASE)
    pair = phrases.LINKED.fullmatch(about)
    about = f"between {pair['one']} and {pair['other']}" if pair and (linked or pair["whose"]) else about
    directly, others = _DIRECT.search(between) is not None, _OTHERS.search(text[: link.end()]) is not None
    is_topic = phrases.TOPIC_LEADS.search(between)
    of_last = re.match(r"(?:this|that|it|they|these) (?:also )?do", text, ANY_CASE) is not None
    return Doubt(not says or is_open is not None, directly, others, is_topic is not None, of_last, about)


def finite(topic: str) -> str:
    """Return `the cow eating the dog` as `the cow eats the dog`; the topic itself where it is none."""
    match = phrases.DOING.fullmatch(topic)
    if match is None:
        linked = re.fullmatch(
            rf"(?:between )?(?P<name>{NAME}) (?:with|to|and) being (?P<rest>[a-z]+)(?:,? or not being (?P=rest))?",
            topic,
        )
        return topic if linked is None else f"{linked['name']} is {linked['rest']}"
    # Cats being warm, cats liking milk.
    are_many = match["name"].islower() and match["name"][:4] != "the "
    if match["form"] == "being":
        return f"{match['name']} {'are' if are_many else 'is'} {match['verb'] or ''}{match['rest']}"
    base = gerund(match["form"])
    if base is None:
        return topic
    verb = f"{'do' if are_many else 'does'} not {base}" if match["verb"] else base if are_many else third_person(base)
    return f"{match['name']} {verb} {match['rest']}"


def rule_of(topic: str) -> str | None:
    """Return `between being kind and being big` as the rule that is missing; None for any other topic."""
    match = phrases.BEING.fullmatch(topic)
    return None if match is None else f"if something is {match['one']} then it is {match['other']}"


def names_of(topic: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the objects that a topic is about, and the adjectives for its traits; None where it is none.

    Of `Mike's visa type` the noun between blanks: nothing is known that is said of a visa.
    """
    match = phrases.BETWEEN.fullmatch(topic)
    if match is not None:
        return (match["one"].lower(), match["other"].lower()), ()
    match = phrases.OF_NAME.fullmatch(topic)
    if match is None:
        return None
    name = match["name"] or match["name2"] or match["name3"] or match["name4"]
    if match["kind"]:
        return (name.lower(),), (f" {match['kind']} ",)
    adjectives: list[str] = []
    for trait in re.findall(r"[a-z]+", re.sub(r"\b(?:or|and)\b", "", match["traits"] or match["traits2"] or "")):
        known = _TRAITS.get(trait) or trait.removesuffix("ness")
        if known == trait and "'" not in topic:
            return None
        adjectives += [f" {trait} "] if known == trait else known.split()
    return (name.lower(),), tuple(adjectives)
