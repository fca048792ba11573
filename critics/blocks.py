"""Guided text taken apart: `[[action:content]]` blocks, the free text between them, and the answer at its end."""

import re
from dataclasses import dataclass

from critics.checker import in_terms_of
from critics.problem import TRUTH_VALUES, Problem

ACTIONS = ("object", "prop", "relation", "axiom", "goal", "infer")
_ANSWER_LINE = re.compile(r"(?:^|\n)[ \t]*answer[ \t]*:[ \t]*([^\n]*?)[ \t]*\Z", re.IGNORECASE)
_ANSWER_VALUE = r"(?:true|false|unknown|uncertain|yes|no|\(?[a-e]\b[).]?)"
# The repeats are bounded: unbounded ones would backtrack quadratically over an actor's punctuation.
_CLAIMED_ANSWER = re.compile(rf"\banswer\b\W{{0,9}}(?:is|was|will be|must be|should be)?\W{{0,9}}{_ANSWER_VALUE}(?!\w)", re.IGNORECASE)


class BlockError(ValueError):
    """The brackets do not pair up, or a block has no known action; `reason` is machine-readable."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Block:
    """One block; `start` is its offset in the text."""

    action: str
    content: str
    start: int


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
            raise BlockError("unbalanced", f"[[{inside[:30]!r}: a block opens inside a block")
        action, colon, content = inside.partition(":")
        if not colon or action not in ACTIONS:
            raise BlockError("unknown_action", f"[[{inside[:30]}]]: the action must be one of {', '.join(ACTIONS)}")
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
    match = _ANSWER_LINE.search(text.rstrip())
    if match is None:
        return None
    value = match.group(1).strip().rstrip(".").strip()
    if problem.options is None:
        return value.lower() if value.lower() in TRUTH_VALUES else None
    by_text = in_terms_of(value.lower(), problem.options)
    letter = re.fullmatch(r"\(?([A-Za-z])(?:[).].*)?", value)
    if by_text is None and letter and ord(letter.group(1).upper()) - ord("A") < len(problem.options):
        return letter.group(1).upper()
    return by_text


def answers_early(text: str) -> bool:
    """Say whether the text gives an answer away before its last line, where the reasoning could copy it."""
    match = _ANSWER_LINE.search(text.rstrip())
    before = text[: match.start()] if match else text
    return _CLAIMED_ANSWER.search(before) is not None
