"""Replies of models: where the answer stands among thoughts, special tokens, fences and prose.

A reply is cut and never rewritten: critic, checker and whoever trains on it read the same characters. What stands
around an answer counts as unread, so that cutting hides nothing.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

_TAGS = "think|thinking|thought|reasoning|analysis|scratchpad"
_END = re.compile(rf"</(?:{_TAGS})>|◁/think▷|\[/THINK\]|<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE)
_BEGIN = re.compile(rf"<(?:{_TAGS})>|◁think▷|\[THINK\]|<\|channel\|>\s*analysis\s*<\|message\|>", re.IGNORECASE)
_MARKS = re.compile(r"<\|(?:end|return|im_end|eot_id|start|message|channel)\|>")
_TOKEN = (
    r"<\|(?:(?:im_)?(?:start|end)|return|message|channel|pad|endoftext|(?:begin|end)_of_text"
    r"|eo[tm]_id|(?:start|end)_header_id|assistant|user|system)\|>"
    r"|<｜(?:(?:begin|end)▁of▁sentence|▁pad▁|Assistant|User)｜>|</?s>|<(?:eos|bos|pad|end_of_turn|start_of_turn)>"
)
"""Special tokens of tokenizers, which end a text where they were decoded with it; others may say something."""
_BEFORE, _BEHIND = (
    re.compile(rf"(?:\s*+(?:{_TOKEN})){{0,8}}+\s*+"),
    re.compile(rf"(?<!\s)\s*+(?:(?:{_TOKEN})\s*+){{0,8}}+\Z"),
)
"""Attack: a row of special tokens without end."""
_BARE = re.compile(
    r"[\s*_#$]*(?:<(?:answer|final)>\s*)?(?:(?:so|therefore|thus|hence),?\s+)?"
    r"(?:the\s+(?:statement|claim|conclusion)\s+is\s+|(?:the\s+)?(?:final\s+|correct\s+)?answer(?:\s+is)?\s*:?\s*)?"
    r"[*_$\s]*(?:\\boxed\{(?:\\text\{)?)?[*_\s(]*(?:[A-E]|true|false|yes|no|unknown|uncertain|undetermined|valid|invalid)"
    r"[*_\s).}$]*(?:</(?:answer|final)>\s*)?",
    re.IGNORECASE,
)
"""A reply that says its answer and no reason, of at most `MAX_BARE` characters."""
MAX_BARE = 80
_TAGGED = re.compile(r"<(answer|solution|program|final)>(.*)</\1>", re.DOTALL | re.IGNORECASE)
_LANGUAGES = (
    "text|txt|plain|plaintext|markdown|md|json|python3?|py|prolog|asp|clingo|lp|logic|fol|smt2?|z3|minizinc|mzn"
    "|english|guided|pyke|problog|rules|csp|equivalence|logic-program|z3-python|tptp"
)
"""Attack: a false sentence where the language of a fence stands."""
_FENCE = re.compile(rf"[ \t]*(?:```|~~~|\'\'\')[ \t]*(?:{_LANGUAGES})?[ \t]*", re.IGNORECASE)
_MARK = re.compile(rf"[ \t]*(?:{_TOKEN}|</?(?:answer|solution|program|final)>|[-=_*#]{{3,}})*[ \t]*", re.IGNORECASE)
"""A line that says nothing."""
_PROSE = re.compile(r"(?=.*[a-z])[*_]*[A-Z][\w'’*-]*(?:[,;:]?[ \t]+[\w'’\"“”*-]+){2,}[*_]*[.!?:][*_]*[ \t]*")
_ANSWER = re.compile(
    r"[*_]*(?:(?:the|so|final|correct)[ \t]+)*answer[*_ \t]*(?::|is\b)[ \t\w*_().'’:-]{1,80}", re.IGNORECASE
)
_OBJECT = re.compile(r"\{\s*\"")
"""Start of an object; the braces of a choice rule or of a set have no name behind them."""
Place = tuple[int, int]
"""Begin and end of a part of a reply."""


def opened_thinking(prompt: str) -> bool:
    """Say whether a prompt ends within a thought, as templates leave it that open the thought themselves."""
    begins = [begin.end() for begin in _BEGIN.finditer(prompt)]
    return bool(begins) and _END.search(prompt, begins[-1]) is None and not prompt[begins[-1] :].strip()


def ends_thinking(text: str) -> bool:
    """Say whether a thought ends somewhere in a text."""
    return _END.search(text) is not None


def thinking_end(text: str) -> int:
    """Return where the last thought ends; 0 where none does."""
    return max((match.end() for match in _END.finditer(text)), default=0)


def is_thinking(text: str) -> bool:
    """Say whether a thought is begun and not ended where a text stops."""
    return _BEGIN.search(text, thinking_end(text)) is not None


def reply_start(text: str) -> int:
    """Return where the reply behind a thought begins; the end of the text where a thought is never ended."""
    return len(text) if is_thinking(text) else thinking_end(text)


def before_thought_end(text: str) -> int:
    """Return where a text stops before the mark with which it ends a thought; its length where it ends none."""
    marks = list(_END.finditer(text))
    return len(text[: marks[-1].start()].rstrip()) if marks and not text[marks[-1].end() :].strip() else len(text)


def thought_place(text: str) -> Place | None:
    """Return where the only thought of a text stands with its reply, where that is a bare answer; else None.

    A template may have begun the thought in the prompt.
    """
    begins, ends = (list(mark.finditer(text)) for mark in (_BEGIN, _END))
    if len(ends) != 1 or len(begins) > 1 or (begins and text[: begins[0].start()].strip()):
        return None
    behind = _BEHIND.search(text)
    end = len(text) if behind is None else behind.start()
    reply = text[ends[0].end() : end]
    # Attack: blanks without end, which the pattern would try in every way.
    is_bare = len(reply) <= MAX_BARE and _BARE.fullmatch(reply) is not None
    return (begins[0].end() if begins else 0, end) if is_bare else None


def unmarked(thought: str) -> str:
    """Return what a thought says, without the marks of its begin and its end."""
    return _MARKS.sub("", _END.sub("\n", _BEGIN.sub("\n", thought))).strip()


def without_thinking(text: str) -> str:
    """Return the answer alone, stripped; empty where the thinking was never ended.

    The answer is what follows the last end of thinking, because many chat templates open the thinking in the prompt.
    An opening that is never closed takes everything after it along.
    """
    start, end = _behind_thoughts(text)
    return _MARKS.sub("", text[start:end]).strip()


def _behind_thoughts(text: str) -> Place:
    start = thinking_end(text)
    begin = _BEGIN.search(text, start)
    return start, len(text) if begin is None else begin.start()


def answer_place(text: str) -> Place:
    """Return where a reply's answer stands: behind all thoughts, without special tokens and a tag around all of it."""
    start, end = _behind_thoughts(text)
    if start == 0 and end == len(text) and not any(mark in text for mark in ("<", "```", "~~~", "'''")):
        return 0, end
    start = min(end, _trimmed_start(text, start, end))
    behind = _BEHIND.search(text, start, end)
    end = end if behind is None else behind.start()
    tagged = _TAGGED.fullmatch(text, start, end)
    if tagged is not None and tagged[0].count(f"<{tagged[1]}>") == 1:
        start, end = tagged.span(2)
    lines = [(at, to) for at, to in _lines(text, (start, end)) if text[at:to].strip()]
    fences = [line for line in lines if _FENCE.fullmatch(text, *line)]
    return (fences[0][1], fences[1][0]) if len(fences) == 2 and fences == [lines[0], lines[-1]] else (start, end)


def _trimmed_start(text: str, start: int, end: int) -> int:
    found = _BEFORE.match(text, start, end)
    return start if found is None else found.end()


def program_place(text: str, place: Place, is_part: Callable[[str], bool] = lambda _: False) -> Place:
    """Return where a program stands in an answer: inside its one fence, or between lines of prose.

    `is_part` says that a line can only be the program's: then it is never prose, and a fence is not the whole.
    """
    lines = list(_lines(text, place))
    fences = [number for number, (begin, end) in enumerate(lines) if _FENCE.fullmatch(text, begin, end)]
    if len(fences) == 2:
        first, last = fences
        # Attack: a second program beside the fence, that another reader takes for the first.
        if any(is_part(text[begin:end]) for begin, end in [*lines[:first], *lines[last + 1 :]]):
            return place
        lines = lines[first + 1 : last]
    elif len(fences) > 2:
        return place

    def is_beside(line: Place) -> bool:
        said = text[line[0] : line[1]].strip()
        is_mark = _MARK.fullmatch(said) or _FENCE.fullmatch(said)
        return bool(is_mark) or (not is_part(said) and bool(_PROSE.fullmatch(said) or _ANSWER.fullmatch(said)))

    while lines and is_beside(lines[0]):
        lines.pop(0)
    while lines and is_beside(lines[-1]):
        lines.pop()
    return (lines[0][0], lines[-1][1]) if lines else place


def _lines(text: str, place: Place) -> Iterator[Place]:
    at, end = place
    while at <= end:
        stop = text.find("\n", at, end)
        stop = end if stop == -1 else stop
        yield at, stop
        at = stop + 1


def around(text: str, place: Place) -> Iterator[Place]:
    """Yield the lines around an answer that say something, thoughts apart; fences, tags and special tokens do not."""
    start = min(place[0], thinking_end(text))
    for begin, end in (*_lines(text, (start, place[0])), *_lines(text, (place[1], len(text)))):
        said = text[begin:end].strip()
        if said and not _MARK.fullmatch(said) and not _FENCE.fullmatch(said):
            yield begin, end


def json_object(text: str) -> tuple[object, Place]:
    """Return the one JSON object of a text, and where it stands; raises `ValueError` where there are two, or none.

    Strict JSON: a tolerant reader would choose among readings. Prose and fences may stand around it.
    """
    begins = _OBJECT.search(text)
    start = 0 if begins is None else begins.start()
    try:
        data, end = json.JSONDecoder(object_pairs_hook=_without_repeats).raw_decode(text, start)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if text[:start].rstrip().endswith(("[", ",")) or text[end:].lstrip().startswith(("]", ",", "{", "[")):
        raise ValueError("it stands within another one, or beside")
    if _OBJECT.search(text, end) is not None:
        # Attack: one program for the reader that takes the first object, another for the one that takes the last.
        raise ValueError("there are two")
    # Half a surrogate pair, which JSON can spell and a certificate's UTF-8 cannot, raises a `ValueError` here.
    json.dumps(data, ensure_ascii=False).encode()
    return data, (start, end)


def object_place(text: str) -> Place:
    """Return where the one JSON object of an answer stands; the answer's own place where it has none, or several."""
    start, end = answer_place(text)
    try:
        _, (begin, stop) = json_object(text[start:end])
    except ValueError:
        return start, end
    return start + begin, start + stop


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Attack: show one list of tests to a reader that takes the first of two, run the other.
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)
