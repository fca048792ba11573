"""Prompts and replies of other people's rows taken apart: instructions, facts and the one question; thoughts, answers.

Whatever is not certain stays a fact or makes the row unreadable: a wrong guess must not certify anything. Therefore a
sentence of a prompt is taken out only if each of its words is one of a closed list that says nothing of any subject,
and if it neither gives an answer nor asks for one that is not there.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from critics.replay.replies import thought_place, unmarked, without_thinking
from critics.text.translators.syllogism import ask
from training.exchange.columns import ABSENT, LABEL, Parts, RowError

_FACTS = ("context", "facts", "premises", "theory", "passage", "story")
_ASKED = ("question", "query", "statement", "hypothesis", "claim")
_OPTION = re.compile(r"^[ \t]*\(?[A-Za-z][).:][ \t]+(.+)$", re.MULTILINE)
_TRUE_OR_FALSE = re.compile(r"(?:is it )?true or false\s*[:,?]|does it follow that\b", re.IGNORECASE)
_LEADS, _OTHERS = (
    frozenset(words.split())
    for words in Path(__file__).with_name("task_words.txt").read_text(encoding="utf-8").split("\n\n")
)
"""First words of sentences that ask for something, or that lead in; and words that state nothing of any subject."""
_OF_TASKS = _LEADS | _OTHERS
_WORD = re.compile(r"[\w'’-]+")
_PLACEHOLDER = re.compile(r"\\boxed\{[^{}]*\}|</?[A-Za-z_]+/?>|\{[a-z_ ]*\}|\[[a-z_ ]*\]|\.\.+|…")
_GIVES = re.compile(r"\b(?:true|false|unknown|uncertain|yes|no|valid|invalid)\b", re.IGNORECASE)
_ANSWERS = re.compile(r"\W*(?:final |correct )?answer\W*[:=]\W*\w", re.IGNORECASE)
_DENIES = r"(?:false|unknown|uncertain|no|not|none|invalid|nothing|neither)\b"
_STATES = re.compile(
    rf"\b(?:is|are|be)(?: (?:only|all|always))? {_DENIES}|\bas {_DENIES}(?! or)|\bif\b.*\b(?:is|are) {_DENIES}.*\bif\b"
    rf"|^(?!(?:below|given|here|it|there|you)\b)\w+ (?:is|are)\b|:\W*(?:{_GIVES.pattern})\W*$"
    rf"|>\W*(?:{_GIVES.pattern})\W*</",
    re.IGNORECASE,
)
"""Statements among words of tasks: `state is a word`, `note: the rules are false`, `true if it is false`."""
_LEAD_IN = re.compile(r"(?P<lead>[^:.?!\n]{3,160}):\s+(?P<rest>\S.*)")
_SKELETON = re.compile(
    r"^[ \t]*#+[ \t]*(?:instructions?|inputs?|response|output|task|user|assistant|system)[ \t]*:?[ \t]*$|"
    r"^[ \t]*(?:\*\*)?(?:instructions?|inputs?|response|output|task)(?:\*\*)?[ \t]*:(?:\*\*)?",
    re.IGNORECASE | re.MULTILINE,
)
"""Headings of instruction prompts, which say nothing."""
_ARGUMENT = re.compile(
    r"Consider these statements:\s*1\. (?P<one>[^\n]+)\n2\. (?P<other>[^\n]+)\s+"
    r"Does it logically follow that:\s*(?P<conclusion>[^\n?]+)\?(?:\s*\(Answer Yes or No\))?"
)
"""Pattern of reasoning-gym's questions about a syllogism."""


def _words(sentence: str) -> list[str]:
    return [word for word in _WORD.findall(_PLACEHOLDER.sub(" ", sentence.lower()).replace("’", "'")) if word != "_"]


def _is_of_tasks(sentence: str) -> bool:
    """Say whether a sentence speaks of nothing but tasks, and gives no answer: `the statement is true` gives one."""
    told, asked = list(_GIVES.finditer(sentence)), re.search(r"\b(?:whether|if)\b", sentence, re.IGNORECASE)
    gives = len({each[0].lower() for each in told}) == 1 or _STATES.search(sentence)
    # Attack: `answer true or true`, `put \\boxed{true}`, `answer A`.
    if gives and (asked is None or any(each.start() < asked.end() for each in told)):
        return False
    return _OF_TASKS.issuperset(_words(sentence)) and (
        bool(told) or len(set(re.findall(r"\b[A-E]\b(?! (?!or\b|and\b)\w)", sentence))) != 1
    )


def is_instruction(sentence: str) -> bool:
    """Say whether a sentence states nothing and asks nothing of its own."""
    words = _words(sentence)
    words = words[1:] if words[:1] == ["please"] else words
    # Attack: the answer itself, within what is asked.
    return not words or (words[0] in _LEADS and not _ANSWERS.match(sentence) and _is_of_tasks(sentence))


def said(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of a text without instructions, and the instructions."""
    kept: list[str] = []
    taken: list[str] = []
    for line in _SKELETON.sub("", text).splitlines():
        for part in filter(None, re.split(r"(?<=[.?!])\s+", line.strip())):
            led = _LEAD_IN.fullmatch(part)
            if is_instruction(part):
                taken += [part] if _words(part) else []
            elif led and is_instruction(led["lead"]) and not re.search(r"(?<!or )\bnot\b", led["lead"]):
                taken.append(led["lead"])
                asks = {"true", "false"} <= set(_words(led["lead"])) and not _TRUE_OR_FALSE.match(led["rest"])
                kept.append(f"True or false: {led['rest']}" if asks else led["rest"])
            else:
                kept.append(part)
    return kept, taken


def _asks(sentence: str) -> bool:
    return sentence.endswith("?") or _TRUE_OR_FALSE.match(sentence) is not None


def asks(text: str) -> bool:
    """Say whether a text has a question of its own, and not of the statement before or behind it."""
    return any(_asks(each) and not _is_general(each) for each in said(text)[0])


def _is_general(sentence: str) -> bool:
    words = set(_words(re.sub(r"\bor not\b", "", sentence, flags=re.IGNORECASE)))
    # Attack: `is the following statement false?`, and the answer to whether it is true.
    denies = words & {"false", "falsehood", "invalid", "unknown", "uncertain"}
    is_turned = "not" in words or (denies and not words & {"true", "truth", "valid", "yes"})
    return _asks(sentence) and not is_turned and _OF_TASKS.issuperset(words)


def _without_general(sentences: list[str]) -> tuple[list[str], list[str]]:
    """Take questions out that only ask about another sentence: `Is the following statement true or false?`.

    What they ask about is then the last sentence, which becomes the question unless it asks itself.
    """
    general = [each for each in sentences if _is_general(each)]
    if len(general) != 1 or len(sentences) < 2:
        return sentences, []
    place, left = sentences.index(general[0]), [each for each in sentences if each != general[0]]
    if not any(map(_asks, left)):
        is_behind = place == len(sentences) - 1 and {"true", "false"} <= set(_words(general[0]))
        if not is_behind and (place != len(sentences) - 2 or "statement" not in general[0].lower()):
            return sentences, []
        left[-1] = f"True or false: {left[-1]}"
    return left, general


def facts(*told: str) -> object:
    """Return the context; `ABSENT` where nothing is said."""
    return "\n".join(filter(None, told)) or ABSENT


def asked_of(prompt: str, *, is_prompt: bool = True) -> Parts:
    """Cut a prompt into its facts and its one question; a column's own question that cannot be cut stays whole.

    Raises `RowError` where a prompt has no question or several, or says something behind it: an answer, say.
    """
    if (argument := _ARGUMENT.fullmatch(prompt.strip())) is not None:
        given = f"{argument['one'].rstrip('.')}. {argument['other'].rstrip('.')}."
        return Parts(context=given, question=ask(argument["conclusion"]))
    labels = list(LABEL.finditer(prompt))
    if labels and any(_name(label) in _ASKED for label in labels):
        return _labelled(prompt, labels)
    sentences, taken = said(prompt)
    sentences, general = _without_general(sentences)
    asked = list(filter(_asks, sentences))
    if len(asked) == 1 and sentences[-1] == asked[0]:
        return Parts(context=facts(" ".join(sentences[:-1])), question=asked[0], taken=(*taken, *general))
    if not is_prompt:
        return Parts(question=prompt)
    if len(asked) > 1:
        raise RowError("several_questions", f"the prompt asks {len(asked)} questions; keep one")
    where = f"says {sentences[-1]!r} behind its question" if asked else "has no sentence that asks"
    raise RowError(
        "no_question", f"the prompt {where}; write `Context: ..` and `Question: ..`, or name columns by --columns"
    )


def _name(label: re.Match[str]) -> str:
    return (label["name"] or label["heading"]).lower()


def _labelled(prompt: str, labels: Sequence[re.Match[str]]) -> Parts:
    """Return the parts of a prompt with headings; raises `RowError` where one comes twice, or an answer is given."""
    before, taken = said(prompt[: labels[0].start()])
    sections = {
        _name(label): prompt[label.end() : following].strip()
        for label, following in zip(labels, [*(m.start() for m in labels[1:]), len(prompt)], strict=True)
    }
    if len(sections) < len(labels):
        raise RowError("several_questions", "the prompt has a heading twice, as solved examples have; keep one problem")
    for name in ("answer", "reasoning", "solution", "proof", "rationale"):
        if said(sections.get(name, ""))[0]:
            # Attack: the text, or the answer, within what is asked.
            raise RowError("answer_in_prompt", f"the prompt says something under {name!r}; take it out")
    asked, more = said(" ".join(sections[name] for name in _ASKED if name in sections))
    asked, general = _without_general(asked)
    before, most_general = _without_general([*before, *asked])
    before, asked = (before[: -len(asked)], before[-len(asked) :]) if asked else (before, asked)
    given = [sections[name] for name in _FACTS if name in sections]
    # Our own prompts number their facts.
    given = [re.sub(r"(?:(?<=^)|(?<=[.?!] )|(?<=\n))\d+- ", "", each) if each[:3] == "1- " else each for each in given]
    listed = sections.get("options") or sections.get("choices")
    options = _OPTION.findall(listed) if listed else None
    if options == []:
        raise RowError("options_unreadable", "the prompt's options are not lettered lines")
    left_out = (*taken, *more, *general, *most_general)
    return Parts(context=facts(" ".join(before), *given), question=" ".join(asked), options=options, taken=left_out)


_TAGS = re.compile(r"</?(?:reasoning|rationale|explanation|proof|solution|response|output|final)>", re.IGNORECASE)
_ANSWER_TAG = re.compile(
    r"\s*<(final_)?answer>\s*(?:answer:)?\s*([^<>\n]{1,80}?)\s*</(?:final_)?answer>\s*", re.IGNORECASE
)
_BOX = re.compile(r"\\boxed\{(?:\\(?:text|textbf|mathrm)\{)?([^{}]{1,80})\}?\}")
_SO = re.compile(r"^(?:so|thus|therefore|hence)\b,? *", re.IGNORECASE)
_HASHES = re.compile(r"^####[ \t]*(.{1,80})$", re.MULTILINE)


def bare_text(text: str, *, is_english: bool = True) -> tuple[str, tuple[str, ...]]:
    """Return a reply as it is judged and learnt, and names of what was changed: thoughts, tags, answers in boxes.

    What is thought aloud is taken out, but for its marks alone where a bare answer stands behind it. An answer in tags,
    in a box or behind `####` becomes a line `Answer: ..`; whatever else stands in its line stays a sentence, unless it
    says nothing, as `The final answer is` does.
    """
    changed: list[str] = []
    if "<think" in text or "</think" in text:
        is_bare = is_english and thought_place(text) is not None
        text, changed = (unmarked(text), ["marks"]) if is_bare else (without_thinking(text), ["thoughts"])
    if not is_english:
        return text, tuple(changed)
    if not any(mark.search(text) for mark in (_TAGS, _ANSWER_TAG, _BOX, _HASHES)):
        return text, tuple(changed)
    bare = _TAGS.sub("", _ANSWER_TAG.sub(r"\nAnswer: \2\n", text))
    lines = bare.splitlines()
    for place, line in enumerate(lines):
        box = _BOX.search(line) or _HASHES.fullmatch(line.strip())
        if box is not None:
            beside = _SO.sub("", line.replace(box[0], "").strip(" \t$.:*#"))
            answer = f"Answer: {box[1].strip()}"
            lines[place] = f"{beside}.\n{answer}" if _words(beside) and not _is_of_tasks(beside) else answer
    return "\n".join(lines).strip(), (*changed, "tags and boxes")
