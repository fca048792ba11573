"""Guided text taken apart: `[[action:content]]` blocks, and the answer at its end."""

import re
from dataclasses import dataclass

from critics.problem import TRUTH_VALUES, Problem
from critics.replay.answers import free_answer, in_terms_of, kind_of
from critics.replay.cursor import ReasonedError

ACTIONS = ("object", "prop", "relation", "axiom", "goal", "infer")
DECORATION = " \t*_#>`"
"""Blanks and Markdown that may stand around the word of the last line, as in `**Answer:** true`."""
_ANSWER_LINE = re.compile(
    rf"^[{re.escape(DECORATION)}]*answer[{re.escape(DECORATION)}]*:", re.IGNORECASE | re.MULTILINE
)
_YES = {"yes": "true", "no": "false"}
_SUBJECT = r"(?<![a-z])(?:answer|ans|solution|verdict|label|conclusion)(?![a-z])"
_COPULA = r"(?:is|was|be|will be|must be|should be)"
_HEDGE = (
    r"(?:not|n't|never|hardly|perhaps|maybe|probably|possibly|likely|actually|really|rather|instead|also|in fact|most"
    r"|in truth|either|neither|both)"
)
# The repeats are bounded: unbounded ones would backtrack quadratically over an actor's punctuation.
ANSWER_CLAIM = re.compile(
    rf"{_SUBJECT}[\W_]{{0,9}}(?:{_COPULA}[\W_]{{1,9}})?(true|false|unknown|uncertain|(?:in)?valid)(?![a-z])(?!\W{{0,3}}or\b)"
    rf"|{_SUBJECT}[\W_]{{0,9}}(?:{_COPULA}[\W_]{{0,9}}|:[\W_]{{0,9}})({_HEDGE}[\W_]{{1,9}}(?:[a-z]{{1,9}} ){{0,3}}"
    r"(?:true|false|unknown|uncertain|(?:in)?valid))(?![a-z])"
    rf"|{_SUBJECT}[ \t]{{0,9}}(?:[:=]|{_COPULA}\b)[\W_]{{0,9}}(yes|no|[a-e])(?!\w| ?[a-z])",
    re.IGNORECASE | re.ASCII,
)
"""A claim such as `(Answer: true)`, `the answer must be FALSE`, `label=B`, `the answer is perhaps false`, which is no
value; not `answer true or false`."""


class BlockError(ReasonedError):
    """The brackets do not pair up, or a block has no known action."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block; `start` is its offset in the text."""

    action: str
    content: str
    start: int

    @property
    def end(self) -> int:
        """Place in the text where it goes on behind the block."""
        return self.start + len(self.action) + len(self.content) + 5


def split_blocks(text: str) -> list[Block]:
    """Return the blocks in order; raises `BlockError` where markers are unbalanced, nested or unknown."""
    blocks: list[Block] = []
    at = 0
    while (start := text.find("[[", at)) != -1:
        _no_stray_close(text[at:start])
        end = text.find("]]", start)
        if end == -1:
            raise BlockError("unbalanced", "the last [[ has no ]]")
        inside = text[start + 2 : end]
        if "[[" in inside:
            raise BlockError("unbalanced", f"{inside[:30]!r}: a block opens inside a block")
        action, colon, content = inside.partition(":")
        if not colon or action not in ACTIONS:
            raise BlockError("unknown_action", f"{inside[:30]!r}: the action is none of {', '.join(ACTIONS)}")
        blocks.append(Block(action, content, start))
        at = end + 2
    _no_stray_close(text[at:])
    return blocks


def _no_stray_close(text: str) -> None:
    if "]]" in text:
        raise BlockError("unbalanced", "a ]] closes no block")


def final_answer(text: str, problem: Problem) -> str | None:
    """Return the answer that the last line `Answer: ..` gives, in the problem's terms; None if there is none.

    With options, the answer is matched by its text or by its letter.
    """
    _, value = _split_answer(text)
    return None if value is None else named_answer(value, problem)


def answer_start(text: str) -> int | None:
    """Return where the last line `Answer: ..` begins; None if there is none."""
    before, value = _split_answer(text)
    return None if value is None else len(before)


def answers_early(text: str, problem: Problem) -> bool:
    """Say whether an answer stands before the last line, where the reasoning or the last line could copy it.

    That is a second line `Answer: ..`, a claim before the last block, or a later claim of another value.
    """
    before, value = _split_answer(text)
    answer = None if value is None else named_answer(value, problem)
    last_block = before.rfind("[[")
    return _ANSWER_LINE.search(before) is not None or any(
        claim.start() < last_block or named_answer(_claimed(claim), problem) != answer
        for claim in ANSWER_CLAIM.finditer(before)
        if _claimed(claim) not in ("valid", "invalid") or named_answer(_claimed(claim), problem) is not None
    )


def _claimed(claim: re.Match[str]) -> str:
    value = claim[claim.lastindex or 0].lower()
    return {"yes": "true", "no": "false"}.get(value, value)


def _split_answer(text: str) -> tuple[str, str | None]:
    """Return what stands before the last line, and that line's answer in lower case; None if it gives none.

    By hand, because a regular expression would backtrack over an actor's blanks.
    """
    before, _, line = text.rstrip().rpartition("\n")
    head, colon, value = line.partition(":")
    if not colon or head.strip(DECORATION).lower() != "answer":
        return text, None
    return before, value


def named_answer(value: str, problem: Problem) -> str | None:
    """Return what a value alone says in the problem's terms, whatever its case; None if nothing, or two things."""
    if (kind := kind_of(problem.options, problem.meta)) is not None:
        return free_answer(value, kind)
    value = value.strip(DECORATION).strip().rstrip(".").strip(DECORATION).lower()
    if problem.options is None:
        lettered = re.fullmatch(r"\(?([abc])[).:]\s+(.*)", value)
        truth = in_terms_of(value if lettered is None else lettered[2], None)
        if lettered is not None and truth != TRUTH_VALUES["abc".index(lettered[1])]:
            # A published file's options that are read without their letters are in this order: `A) True`.
            return None
        return truth if truth in TRUTH_VALUES else None
    named = {in_terms_of(value, problem.options)}
    match = re.fullmatch(r"\(?([a-z])(?:[).:](.*))?", value)
    if match is not None and ord(match[1]) - ord("a") < len(problem.options):
        named.add(match[1].upper())
        own = re.sub(r"^\(?[a-z][).:]\s*", "", problem.options[ord(match[1]) - ord("a")].lower()).strip(" .")
        if match[2] and match[2].strip() != own:
            # Attack: `A) False` hedges between the option A and the option that says False; `A) Nope` says another.
            named.add(in_terms_of(match[2], problem.options) or "another")
    named.discard(None)
    return named.pop() if len(named) == 1 else None


def answer_of(value: str, problem: Problem) -> str | None:
    """Return an answer in the problem's own terms; yes and no answer questions alone."""
    found = named_answer(value, problem)
    if found is not None or value not in _YES or not problem.question.rstrip().endswith("?"):
        return found
    return named_answer(_YES[value], problem)
