"""Replies of reasoning models: what they think aloud before they answer is not the answer."""

import re

_TAGS = "think|thinking|thought|reasoning|analysis|scratchpad"
_END = re.compile(rf"</(?:{_TAGS})>|◁/think▷|\[/THINK\]|<\|channel\|>\s*final\s*<\|message\|>", re.IGNORECASE)
_BEGIN = re.compile(rf"<(?:{_TAGS})>|◁think▷|\[THINK\]|<\|channel\|>\s*analysis\s*<\|message\|>", re.IGNORECASE)
_MARKS = re.compile(r"<\|(?:end|return|im_end|eot_id|start|message|channel)\|>")


def opened_thinking(prompt: str) -> bool:
    """Say whether a prompt ends within a thought, as templates leave it that open the thought themselves."""
    begins = [begin.end() for begin in _BEGIN.finditer(prompt)]
    return bool(begins) and _END.search(prompt, begins[-1]) is None and not prompt[begins[-1] :].strip()


def ends_thinking(text: str) -> bool:
    """Say whether a thought ends somewhere in a text."""
    return _END.search(text) is not None


def _ended(text: str) -> int:
    return max((match.end() for match in _END.finditer(text)), default=0)


def is_thinking(text: str) -> bool:
    """Say whether a thought is begun and not ended where a text stops."""
    ended = _ended(text)
    return _BEGIN.search(text, ended) is not None


def reply_start(text: str) -> int:
    """Return where the reply behind a thought begins; the end of the text where a thought is never ended."""
    ended = _ended(text)
    begin = _BEGIN.search(text, ended)
    return ended if begin is None else len(text)


def unmarked(thought: str) -> str:
    """Return what a thought says, without the marks of its begin and its end."""
    return _MARKS.sub("", _END.sub("\n", _BEGIN.sub("\n", thought))).strip()


def without_thinking(text: str) -> str:
    """Return the answer alone, stripped; empty where the thinking was never ended.

    The answer is what follows the last end of thinking, because many chat templates open the thinking in the prompt.
    An opening that is never closed takes everything after it along.
    """
    rest = text[_ended(text) :]
    begin = _BEGIN.search(rest)
    if begin is not None:
        rest = rest[: begin.start()]
    return _MARKS.sub("", rest).strip()
