"""Talk about claims: comments, what the statement says and how it agrees with what was shown, rules of no use, arrows.

Whatever such talk claims is a move that is checked: `which is what we derived` gives the question an answer, `that rule
does not apply` is held to the premises. What claims nothing is of words about proofs alone.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Literal as Choice
from typing import TypeAlias

from critics.grammar.lexicon import gerund, third_person
from critics.text.english import phrases, wording
from critics.text.english.doubts import finite
from critics.text.english.moves import Aim, Claim, Given, Judged, Move, NoneAbout, NoSource, Promise, Unused

Reads: TypeAlias = Callable[[str], bool]
SOURCES: tuple[Choice["rule", "fact", "any"], ...] = ("rule", "fact", "any")
Parse: TypeAlias = Callable[[str], list[Move] | None]
"""Takes a piece of a sentence apart; None where it is no move."""
_ENDS = re.compile(r"(?=,? (?:which|and|but|yet|so|whereas|while|although|however|this|that|it)\b)|[,;] | - ")
_ARROW = re.compile(r" *(?:\u2192|->|=>|==>) *")
_TERM = re.compile(r"(?:(?:an?|the|not(?: an?)?) )?[A-Za-z]+(?: [a-z]+)?")
_ASIDE = re.compile(r"(?P<before>[^()]+?)(?: \(| - )(?P<aside>[^()]+?)\)?")
_EITHER = re.compile(r"(?<= )(?P<be>is|are) or (?:is|are)(?:n't| not)(?= )| or not(?: [a-z]+)?$")
_NESS = re.compile(r"^([a-z]{3,})ness$")
_SUBJECTS = {"him": "he", "her": "she"}
_OF_ANSWERS = re.compile(
    r"^(?:premise|rule|fact|given)s?$|answer|conclusion|result|statement|claim|question|query|solution|goal",
    re.IGNORECASE,
)
_OF_NAME = re.compile(
    rf"\b(?:about|of|on|for|at|regarding|concerning|(?i:what)) (?P<name>{phrases.NAME})(?: is| does)?$"
)
_PRONOUNS = "he|she|it|they"


def is_comment(text: str, *, is_whole: bool) -> bool:
    """Say whether a piece is of words about proofs alone; a heading stands for itself (`is_whole`)."""
    # `Answer: A` is of such words, and gives an answer.
    talk = () if phrases.ANSWERS.fullmatch(text) else (phrases.COMMENT, *([phrases.HEADINGS] if is_whole else ()))
    return any(each.fullmatch(text) is not None for each in (phrases.FILLER, phrases.FILLERS, *talk))


def given(text: str) -> list[Move] | None:
    """Read `this is given`, said of the sentence before, and `the statement is given`, said of the question."""
    if phrases.GIVEN_LAST.fullmatch(text) is not None:
        return [Given()]
    return None if phrases.GIVEN.fullmatch(text) is None else [Claim("", promise=Promise.QUOTED)]


def of_statement(text: str, reads: Reads, parse: Parse) -> list[Move] | None:
    """The statement says that A, which is what we derived; "A" contradicts it; this is what the statement says."""
    for pattern in phrases.SETTLES:
        if (match := pattern.fullmatch(text)) is not None:
            about = wording.unquoted(match["about"] or "")
            return [Judged(_told(match), about or None)] if not about or reads(about) else None
    head = phrases.OF_STATEMENT.match(text)
    if head is None:
        return None
    rest = text[head.end() :]
    for end in sorted({at.start() for at in _ENDS.finditer(rest)}):
        said, tail = wording.unquoted(rest[:end]), rest[end:].strip(" ,;-")
        if said and reads(said) and (found := _settled(said, tail, parse)) is not None:
            return [Aim(said), *found]
    return None


def _settled(said: str, tail: str, parse: Parse) -> list[Move] | None:
    """Return what is made of the statement by what stands behind it."""
    ends = [len(tail), *(at.start() for at in re.finditer(r",? (?:and |so |and so )|[,;] | - ", tail))]
    for end in ends:
        match = next((found for each in phrases.SETTLED if (found := each.fullmatch(tail[:end]))), None)
        if match is None or (value := _value(match, said)) is None:
            continue
        after = tail[end:].strip(" ,;-")
        more = [] if not after else parse(after)
        if more is not None:
            return [Judged(value), *more]
    return None


def _told(match: re.Match[str]) -> str:
    return "false" if match.groupdict().get("no") else "true"


def _value(match: re.Match[str], said: str) -> str | None:
    """Return what the question is judged to be; None where the text says less: but we have shown that she is."""
    groups = match.groupdict()
    if (who := groups.get("who")) is None:
        return _told(match)
    # Attack: the statement says that Tom is kind, but we have shown that Ann is not.
    is_same = who.lower() in _PRONOUNS.split("|") or said.lower().startswith(who.lower())
    agrees = (groups["not"] is not None) == (re.search(r"\bnot\b|n't\b", said) is not None)
    if not is_same or agrees != (groups["and"] is not None):
        return None
    return "true" if agrees else "false"


def unused(text: str, reads: Reads, parse: Parse) -> list[Move] | None:
    """Return what rule is of no use: that rule does not apply to Tom; A (not needed here)."""
    if (aside := _ASIDE.fullmatch(text)) is not None and (said := unused(aside["aside"], reads, parse)) is not None:
        before = parse(aside["before"])
        return None if not before or not all(isinstance(move, Claim) for move in before) else [*before, *said]
    text = re.sub(r"^(this|that|it)'s\b", r"\1 is", text)
    match = next((found for each in phrases.UNUSED if (found := each.fullmatch(text))), None)
    if match is None:
        return None
    about = match.groupdict().get("said")
    if about is not None and not reads(about):
        return None
    rule = [] if about is None else [Claim(about, promise=Promise.QUOTED)]
    others = match.groupdict().get("others") is not None
    if others and match["unmet"]:
        return None
    return [*rule, Unused("", match["who"], match["unmet"] is not None, others)]


def sources(text: str, reads: Reads, parse: Parse) -> list[Move] | None:
    """No rule concludes that something is red; "red" is never mentioned; the only rule with "red" in it is A."""
    match = next((found for each in phrases.NO_SOURCE if (found := each.fullmatch(text))), None)
    if match is None:
        return None
    groups, what = match.groupdict(), wording.unquoted(match["what"])
    what = what.lower() if match["what"][:1] in "\"'" or what.endswith("ness") else what
    both = _EITHER.search(what) is not None
    what = _EITHER.sub(lambda either: either["be"] or "", what)
    told = _NESS.sub(r"\1", what) if not match["kind"] else what
    doing = finite(f"Zyx {what}")
    said = what if reads(what) else f"something {doing.removeprefix('Zyx ')}" if doing[:3] == "Zyx" != what else ""
    said = f"something is {told}" if re.fullmatch(r"[a-z]+", told) and gerund(told) is None else said
    who, kind = groups.get("who") or groups.get("who2"), match["kind"] or ("fact" if "who" in groups else "any")
    if not said or not reads(said) or ("who" in groups and who is None):
        return None
    single = next((source for source in SOURCES if source == kind.rstrip("s")), None)
    only = [] if groups.get("only") is None else parse(groups["only"])
    if only is None or any(not isinstance(move, Claim) for move in only):
        return None
    moves: list[Move] = [replace(move, promise=Promise.QUOTED) for move in only if isinstance(move, Claim)]
    moves += [
        NoSource(said, one, both, bool(only), who) for one in SOURCES if one == single or not (single or one == "any")
    ]
    return moves


def known_of(text: str, _: Reads, parse: Parse) -> list[Move] | None:
    """Return what is known of a thing: what we know of Tom is that he is warm and that he is kind."""
    match = phrases.KNOWN_OF.fullmatch(text)
    if match is None:
        return None
    name = match["name"]
    told = re.sub(r"((?:^|\b(?:that|whether|if) ))(?:he|she|it)\b", rf"\1{name}", match["rest"])
    said = parse(re.sub(r",? and that |, that ", ", and ", told))
    alone = NoneAbout((name.lower(),), (), others=True, of_facts=(match["fact"] or "").startswith("fact"))
    if said and match["sole"]:
        # Attack: the only fact about Tom is that he is warm, which was inferred.
        said = [replace(move, promise=Promise.QUOTED) if isinstance(move, Claim) else move for move in said]
    is_all = match["only"] or match["sole"] or text.lower().startswith(("all", "everything"))
    return said and [*said, *([alone] if is_all else [])]


def needs(text: str, reads: Reads, _: Parse) -> list[Move] | None:
    """To use it, we would need Tom to like Ann, a step on the way. For Tom to be warm, he must be kind: a rule."""
    match = next((found for each in phrases.NEEDS if (found := each.fullmatch(text))), None)
    if match is None:
        return None
    groups = match.groupdict()
    who, other = groups["who"] or groups["who2"], groups.get("who2")
    who = other if other is not None and (who == "it" or _SUBJECTS.get(who) == other) else who
    about = f"{_SUBJECTS.get(match['who'], who)} {_third(match['verb'])}{match['rest']}"
    if other is None:
        return [Aim(about, on_the_way=True)] if reads(about) else None
    if who in _SUBJECTS or other not in (who, *_PRONOUNS.split("|")):
        return None
    goal, what = groups["goal"] or groups["goal2"], groups["what"] or groups["what2"]
    rule = f"if {who} {_third(match['verb'])}{match['rest']} then {who} {_third(goal)}{what}"
    return [Claim(rule)] if reads(rule) else None


def _third(verb: str) -> str:
    return "is" if verb == "be" else third_person(verb)


def asked(text: str, reads: Reads) -> list[Move] | None:
    """Return a question on the way: Is Tom warm? Does the bald eagle like Ann?"""
    match = phrases.ASKS_OF.fullmatch(text)
    if match is None:
        return None
    words, be = match["rest"].split(" "), match["be"].lower()
    for end in range(1, min(4, len(words))):
        who, verb, others = " ".join(words[:end]), words[end], " ".join(["", *words[end + 1 :]])
        told = f"{be} {verb}" if be != "does" else "does not" if verb == "not" else third_person(verb)
        about = f"{who[:1].upper()}{who[1:]} {told}{others}"
        if reads(about):
            return [Aim(about, on_the_way=True)]
    return None


def spoken_of(text: str) -> str | None:
    """Return a statement without the words that say of what it is: for cats: every cat is warm."""
    label, _, rest = text.partition(": ")
    if rest and not re.search(r"\d", label) and is_comment(label, is_whole=True) and _OF_ANSWERS.search(label) is None:
        # Rules we need: cats are warm. Attack: facts about Ned: he is warm, of another `he`.
        whose = _OF_NAME.search(label)
        return rest if whose is None else re.sub(r"^(?:he|she|it)\b", whose["name"], rest)
    match = phrases.SPOKEN_OF.match(text)
    rest = "" if match is None else text[match.end() :]
    is_of_it = match is not None and re.search(rf"\b{re.escape(match['about'][:4])}", rest, phrases.ANY_CASE)
    return rest if is_of_it else None


def arrows(text: str, reads: Reads, _: Parse) -> list[Move] | None:
    """Return `cat → mammal → warm` as the rules that it shows."""
    terms = _ARROW.split(text)
    if len(terms) < 2 or not all(map(_TERM.fullmatch, terms)):
        return None
    found: list[Move] = []
    for one, other in pairwise(terms):
        kind = re.sub(r"^(?:an?|the|not an?|not) ", "", one)
        subject = one if one[:1].isupper() else f"every {kind}"
        is_denied = re.match(r"not\b", one) is not None
        told = [f"{subject} is {article}{other}" for article in ("a ", "an ", "")]
        rule = next((each for each in told if reads(each)), None)
        if rule is None or is_denied:
            return None
        found.append(Claim(rule))
    return found
