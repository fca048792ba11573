"""Questions and options of a puzzle as queries: which claims must have a model, or none, if an option is the answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from critics.replay.finite.terms import Constant, Operator, Term
from critics.text.faithfulness.puzzles.claims import at, both, count, denied
from critics.text.faithfulness.puzzles.opening import NUMBERS, Puzzle
from critics.text.faithfulness.puzzles.sentences import Language, Reader, Unread
from critics.text.question import Asked, read_question

_LETTER = re.compile(r"^\(?[A-Za-z][).]\s*")
_IF = re.compile(
    r"(?:If|Suppose(?: that)?|Assume(?: that)?) (?P<condition>.+?)(?:[,.] then |[,.] )"
    r"(?P<asked>(?:which|what|it|each|any|all|in|on)\b.*)",
    re.IGNORECASE,
)
_OPTION = r"of the following"
_TRUTH = re.compile(
    rf"(?:which (?:one )?{_OPTION}|(?:each|any|all) {_OPTION})(?: statements)? (?:\w+ )?(?:not )?"
    r"be (?:true|false)(?: except)?"
)
_LISTED = re.compile(
    rf"which one {_OPTION} (?:could|can|cannot|must)(?: not)? be (?:an? |the )?(?:accurate |possible |acceptable )?"
    r"(?:list|order|ordering|sequence|arrangement|schedule)\b(?P<rest>.*)"
)
_COMPLETE = re.compile(
    rf"which one {_OPTION} (?:could|cannot|must) be (?:a |the )?complete and accurate list of the (?P<noun>[a-z]+) "
    r"(?:of |that |who |which )?(?P<said>.*#\d+(?: [a-z]+)?)"
)
_LIST_WORDS = frozenset("of for the in which order from to are is they a an as listed at left right".split())  # noqa: SIM905
_OF_ONE = re.compile(
    rf"which one {_OPTION} (?:(?P<pairs>pairs) of )?(?P<noun>[a-z ]*?) ?"
    r"(?:must|could|can|cannot|may)(?: not)?(?: also)? (?P<said>.+)"
)
_EACH = re.compile(rf"(?:each|any|all) (?:one )?{_OPTION} could (?P<said>.+?) except")
_MOST = re.compile(
    r"what is the (?P<which>maximum|greatest|minimum|least|smallest)(?: possible)? number of (?P<noun>[a-z ]+?)"
    r"(?: who| that)?(?: (?:can|could|must)(?: be)?)? (?P<said>(?:[a-z]+ )*#\d+)(?: [a-z]+)?"
)
_WANTED: dict[Asked, bool] = {"must": False, "could": True, "cannot": False, "could_be_false": True}


@dataclass(frozen=True, slots=True)
class Query:
    """A claim, and whether it must have a model beside the conditions."""

    claim: Term
    wanted: bool


def read_queries(question: str, options: Sequence[str], puzzle: Puzzle) -> tuple[Term | None, list[list[Query]]]:
    """Return the condition that a question adds, and the queries of each option; raises `Unread`."""
    found = _IF.fullmatch(" ".join(question.split()))
    language = Language(puzzle)
    added = Reader(language).statement(language.coded(found["condition"])) if found else None
    asked = language.coded(found["asked"] if found else question).rstrip("?: ")
    mode = read_question(question)
    texts = [_LETTER.sub("", option) for option in options]
    if mode == "extreme" and (most := _MOST.fullmatch(asked)):
        return added, [_extreme(most, _number(text), language) for text in texts]
    if mode not in _WANTED:
        raise Unread(question)
    if _TRUTH.fullmatch(asked):
        claims = [Reader(language).statement(language.coded(text)) for text in texts]
    elif listed := _LISTED.fullmatch(asked):
        _check_list(listed["rest"], puzzle)
        claims = [_row(language.coded(text), puzzle) for text in texts]
    elif complete := _COMPLETE.fullmatch(asked):
        claims = [_complete(complete, language.coded(text), language) for text in texts]
    elif of_one := _OF_ONE.fullmatch(asked):
        claims = [_of_one(of_one, language.coded(text), language) for text in texts]
    else:
        claims = [_completed(asked, language.coded(text), language) for text in texts]
    is_denied = mode in ("must", "could_be_false")
    return added, [[Query(denied(claim) if is_denied else claim, _WANTED[mode])] for claim in claims]


def _check_list(rest: str, puzzle: Puzzle) -> None:
    """Raise `Unread` unless a list goes from the first place to the last."""
    end = len(puzzle.places) - 1
    rest = re.sub(rf",? ?from (?:#0 (?:to|through) #{end}\b|earliest to latest)", " ", rest).replace("'s ", " ")
    if "#" in rest or "@" in rest or not puzzle.is_one_each:
        raise Unread(rest)
    Language(puzzle).check_words(" ".join(word for word in re.findall(r"[\w']+", rest) if word not in _LIST_WORDS))


def _row(text: str, puzzle: Puzzle) -> Term:
    things = re.fullmatch(r"@\d+(?:, @\d+)+", re.sub(r",? and ", ", ", text))
    found = [int(each) for each in re.findall(r"@(\d+)", text)] if things else []
    if sorted(found) != list(range(len(puzzle.things))):
        raise Unread(text)
    return both(at(thing, place) for place, thing in enumerate(found))


def _complete(found: re.Match[str], option: str, language: Language) -> Term:
    """Read a complete list of those of whom something holds: of all others it does not."""
    language.check_words(found["noun"])
    if re.fullmatch(r"@\d+(?:,? and @\d+|, @\d+)*", option) is None:
        raise Unread(option)
    listed = {int(each) for each in re.findall(r"@(\d+)", option)}
    said = [Reader(language).statement(f"@{i} {found['said']}") for i in range(len(language.puzzle.things))]
    return both(claim if i in listed else denied(claim) for i, claim in enumerate(said))


def _of_one(found: re.Match[str], option: str, language: Language) -> Term:
    """Read `which one of the following students must perform third?`, and of pairs what both do."""
    language.check_words(found["noun"] or "")
    things = re.fullmatch(r"(@\d+)(?: and |, )(@\d+)" if found["pairs"] else r"@\d+", option)
    if things is None or re.search(r"\b(?:if|unless)\b", found["said"]):
        # Attack: what could be if Ann is first is no claim that could be true because Ann is not.
        raise Unread(option)
    subject = f"{things[1]} and {things[2]}" if found["pairs"] else option
    return Reader(language).statement(f"{subject} {found['said']}")


def _completed(asked: str, option: str, language: Language) -> Term:
    """Read `Green's design cannot be presented`, and `each of the following could be the fifth valve opened except`."""
    if found := _EACH.fullmatch(asked):
        return Reader(language).statement(f"{option} {found['said']}")
    if found := re.fullmatch(
        r"((?:@\d+|both @\d+ and @\d+)(?: \w+)?) (?:must|could|can|cannot) (?:not )?([a-z ]*)", asked
    ):
        return Reader(language).statement(f"{found[1]} {found[2]} {option}")
    raise Unread(asked)


def _extreme(found: re.Match[str], bound: int, language: Language) -> list[Query]:
    """Read `what is the maximum number of members on the finance committee?`."""
    language.check_words(found["noun"])
    said = [Reader(language).statement(f"@{i} {found['said']}") for i in range(len(language.puzzle.things))]
    is_least = found["which"] in ("minimum", "least", "smallest")
    number = count(said)
    beyond = Operator("lt" if is_least else "gt", (number, Constant(bound)))
    return [Query(Operator("eq", (number, Constant(bound))), True), Query(beyond, False)]


def _number(text: str) -> int:
    word = text.strip().lower().rstrip(".")
    if word.isdigit():
        return int(word)
    if word not in NUMBERS:
        raise Unread(text)
    return NUMBERS.index(word) + 1
