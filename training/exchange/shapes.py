"""Shapes of other people's rows: which part of a row is the question, which the text about it, and its language.

Whatever is not certain is refused, row by row or for the whole file: a wrong guess must not certify anything. Therefore
only sentences of a closed list are taken out of a prompt, facts of a system prompt stay facts, a prompt is cut into
facts and question only if it ends in its one question, and two columns that may both be the text are an error.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from critics.problem import is_list, is_object
from critics.text.reference import TRANSLATORS
from critics.text.translators.syllogism import ask
from critics.text.translators.translation import TranslationError, sentences
from training.exchange.columns import ABSENT, CHATS, LABEL, Parts, RowError, Shape

_SENDERS = {"human": "user", "gpt": "assistant", "model": "assistant", "bot": "assistant", "chatgpt": "assistant"}
_THOUGHT = re.compile("reason|think|thought|analysis|scratchpad|refusal", re.IGNORECASE)
"""Names of what a turn may say beside its content."""


def parts_of(row: Mapping[str, Any], shape: Shape) -> Parts:
    """Return the parts of a row, as a table would have them; raises `RowError` where they cannot be told."""
    parts = Parts(**{part: row.get(column) for part, column in shape.columns.items()})
    rationale, question = parts.rationale, parts.question
    if shape.columns.get("rationale") in CHATS:
        return parts.cut(_of_turns(_turns(rationale)))
    if is_list(rationale) and rationale and all(map(is_object, rationale)):
        asked = _turns(question) if is_list(question) else [("user", question)]
        return parts.cut(_of_turns([*asked, *_turns(rationale)]))
    if is_list(question) and question and all(map(is_object, question)):
        return parts.cut(_of_turns([*_turns(question), ("assistant", rationale)]))
    if isinstance(question, str) and shape.columns.get("question") == "instruction":
        given = parts.context.strip() if isinstance(parts.context, str) else ""
        told = (given, question) if _questions(question)[1] else (question, given)
        return replace(parts, context=ABSENT).cut(asked_of("\n".join(told)))
    if isinstance(question, str) and parts.context is ABSENT:
        return parts.cut(asked_of(question, is_prompt=shape.columns.get("question") == "prompt"))
    return parts


def _turns(value: object) -> list[tuple[str, object]]:
    """Return who says what; raises `RowError` where it is no conversation."""
    if not is_list(value) or not value or not all(map(is_object, value)):
        raise RowError("no_conversation", "the conversation is no list of turns with role and content")
    turns: list[tuple[str, object]] = []
    for turn in value:
        role = turn.get("role", turn.get("from"))
        said: object = turn.get("content", turn.get("value"))
        if is_list(said):
            texts = [p.get("text") if is_object(p) and p.get("type") == "text" else None for p in said]
            if not all(isinstance(each, str) for each in texts):  # an image or a call
                raise RowError("no_conversation", "a turn has a part that is no text")
            said = "".join(map(str, texts))
        if turn.get("tool_calls") or turn.get("tool_call_id") or turn.get("function_call"):
            role = "tool"
        if not isinstance(role, str) or not isinstance(said, str):
            raise RowError("no_conversation", "a turn has no role, or no text as its content")
        beside = next((key for key, other in turn.items() if _THOUGHT.search(key) and other), None)
        if beside is not None:
            # Attack: a proof, and falsehoods thought aloud before it, which chat templates show and nobody judges.
            raise RowError("no_conversation", f"a turn says more in {beside!r}; join it to the content, or take it out")
        turns.append((_SENDERS.get(role, role), said))
    return turns


def _of_turns(turns: Sequence[tuple[str, object]]) -> Parts:
    """Return the parts of one question and one reply; raises `RowError` for every other conversation.

    Attack: the reply that is judged is not the one that answers, or rests on what a tool or another turn said.
    """
    roles = [role for role, _ in turns]
    if any(role not in ("system", "developer", "user", "assistant") for role in roles):
        raise RowError("other_turns", f"it has turns of {', '.join(dict.fromkeys(roles))}; keep user and assistant")
    bare = [(role, text) for role, text in turns if role in ("user", "assistant")]
    if [role for role, _ in bare] != ["user", "assistant"] or roles[-2:] != ["user", "assistant"]:
        raise RowError(
            "several_turns", f"it has {len(bare)} turns; a row is judged that has one of the user and one reply"
        )
    given = [str(text) for role, text in turns if role in ("system", "developer")]
    facts = "\n".join(left for text in given if (left := " ".join(_said(text))))
    parts = asked_of(str(bare[0][1]))
    return replace(parts, context=_facts(facts, parts.told), rationale=bare[1][1])


def _facts(*told: str) -> object:
    """Return the context; `ABSENT` where nothing is said."""
    return "\n".join(filter(None, told)) or ABSENT


_FACTS = ("context", "facts", "premises", "theory", "passage", "story")
_ASKED = ("question", "query", "statement", "hypothesis")
_OPTION = re.compile(r"^[ \t]*\(?[A-Za-z][).:][ \t]+(.+)$", re.MULTILINE)
_TRUE_OR_FALSE = re.compile(r"(?:is it )?true or false\s*[:,?]|does it follow that\b", re.IGNORECASE)
_PLAIN = r"(?:(?! is | are |[,;:]).){0,80}"
"""Pattern of the rest of an instruction: nothing that says something of something."""
_INSTRUCTIONS = (
    r"(?:(?:let'?s|let us) )?(?:think|reason|work|solve (?:it|this|the problem))(?: it)?(?: through)?"
    r" step[ -]by[ -]step",
    r"(?:answer|respond|reply) (?:with|in|by|using|only|step|true or false|yes or no|the (?:following )?question)\b"
    + _PLAIN,
    r"(?:explain|show|give|write(?: down)?) (?:your|each|all|every) (?:reasoning|work|steps?|proof|thinking|answer)\b"
    + _PLAIN,
    rf"end (?:your (?:answer|reply|text) )?(?:with|in)\b{_PLAIN}(?:answer: ?(?:true|false|unknown|or|,|\.\.| )+)?",
    r"use (?:only|nothing but) (?:the )?(?:given|above|following) (?:facts|premises|sentences|statements|context)",
    r"you are (?:a|an) (?:(?:very|helpful|careful|honest|harmless|expert|logical|precise|concise|ai|language|reasoning"
    r"|logic)(?:,| and)? )*(?:assistant|expert|reasoner|tutor|solver|model)"
    r"(?: (?:for|in|of) (?:logic|logical reasoning|reasoning)(?: problems| puzzles)?)?",
)
"""Sentences of a prompt that state nothing; whatever else it says is a fact, or makes the row unreadable."""
_INSTRUCTION = re.compile(rf"(?:please )?(?:{'|'.join(_INSTRUCTIONS)})", re.IGNORECASE)


_ARGUMENT = re.compile(
    r"Consider these statements:\s*1\. (?P<one>[^\n]+)\n2\. (?P<other>[^\n]+)\s+"
    r"Does it logically follow that:\s*(?P<conclusion>[^\n?]+)\?(?:\s*\(Answer Yes or No\))?"
)
"""Pattern of reasoning-gym's questions about a syllogism."""


def _said(text: str) -> list[str]:
    """Return the sentences of a text without instructions."""
    parts = (part for line in text.splitlines() for part in re.split(r"(?<=[.?!])\s+", line.strip()) if part)
    return [each for each in parts if _INSTRUCTION.fullmatch(each.strip().rstrip(".!:").strip()) is None]


def _questions(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of a prompt without instructions, and those among them that ask."""
    said = _said(text)
    return said, [each for each in said if each.endswith("?") or _TRUE_OR_FALSE.match(each)]


def asked_of(prompt: str, *, is_prompt: bool = True) -> Parts:
    """Cut a prompt into its facts and its one question; a column's own question that cannot be cut stays whole.

    Raises `RowError` where a prompt has no question or several, or says something behind it: an answer, say.
    """
    if (argument := _ARGUMENT.fullmatch(prompt.strip())) is not None:
        given = f"{argument['one'].rstrip('.')}. {argument['other'].rstrip('.')}."
        return Parts(context=given, question=ask(argument["conclusion"]))
    labels = list(LABEL.finditer(prompt))
    if labels and any(label["name"].lower() in _ASKED for label in labels):
        return _labelled(prompt, labels)
    said, asked = _questions(prompt)
    if len(asked) == 1 and said[-1] == asked[0]:
        return Parts(context=_facts(" ".join(said[:-1])), question=asked[0])
    if not is_prompt:
        return Parts(question=prompt)
    if len(asked) > 1:
        raise RowError("several_questions", f"the prompt asks {len(asked)} questions; keep one")
    where = "says something behind its question" if asked else "has no sentence that asks"
    raise RowError(
        "no_question", f"the prompt {where}; write `Context: ..` and `Question: ..`, or name columns by --columns"
    )


def _labelled(prompt: str, labels: Sequence[re.Match[str]]) -> Parts:
    """Return the parts of a prompt with headings; raises `RowError` where one comes twice, or an answer is given."""
    before = " ".join(_said(prompt[: labels[0].start()]))
    sections = {
        label["name"].lower(): prompt[label.end() : following].strip()
        for label, following in zip(labels, [*(m.start() for m in labels[1:]), len(prompt)], strict=True)
    }
    if len(sections) < len(labels):
        raise RowError("several_questions", "the prompt has a heading twice, as solved examples have; keep one problem")
    for name in ("answer", "reasoning", "solution", "proof", "rationale"):
        if _said(sections.get(name, "")):
            # Attack: the text, or the answer, within what is asked.
            raise RowError("answer_in_prompt", f"the prompt says something under {name!r}; take it out")
    asked = [sections[name] for name in _ASKED if name in sections]
    question = " ".join(_said(" ".join(asked)))
    given = [sections[name] for name in _FACTS if name in sections]
    # Our own prompts number their facts.
    given = [re.sub(r"(?:(?<=^)|(?<=[.?!] )|(?<=\n))\d+- ", "", each) if each[:3] == "1- " else each for each in given]
    facts = _facts(before, *given)
    listed = sections.get("options") or sections.get("choices")
    options = _OPTION.findall(listed) if listed else None
    if options == []:
        raise RowError("options_unreadable", "the prompt's options are not lettered lines")
    return Parts(context=facts, question=question, options=options)


_GUIDED = re.compile(r"\[\[\s*(?:axiom|goal|infer|object|prop|relation)\s*:")
_HEADINGS = {
    "rules": ("facts", "rules", "query"),
    "csp": ("variables", "constraints"),
    "logic-program": ("declarations", "constraints"),
    "fol": ("premises", "conclusion"),
}
_SECTION = re.compile(r"^[ \t#*]*([A-Za-z]+)[ \t*]*:[ \t*]*$|^[ \t]*#[ \t]*([A-Za-z]+)[ \t]*$", re.MULTILINE)
_FORMULA = re.compile(r"[∀∃→∧∨¬]|:::|^\s*(?:all|exists|forall) \w+\.?", re.MULTILINE)
_LINC = re.compile(r"^\s*FOL:", re.MULTILINE)


def format_of(text: str) -> str:
    """Return the format that a text is written in; English where nothing says otherwise.

    A wrong guess is a text that its critic cannot read: each critic reads its own format and no other.
    """
    if _GUIDED.search(text):
        return "guided"
    if re.search(r'"Model"\s*:', text) and re.search(r'"Query"\s*:', text):
        return "asp"
    headings = {(a or b).lower() for a, b in _SECTION.findall(text)}
    for name, needed in _HEADINGS.items():
        if headings.issuperset(needed) and (name != "fol" or _FORMULA.search(text)):
            return name
    if _LINC.search(text) and "TEXT:" in text:
        return "fol"
    if re.search(r"\bSolver\(\)", text) and re.search(r"^\s*(?:from z3|import z3)", text, re.MULTILINE):
        return "z3-python"
    return "english"


def language_of(context: str, question: str) -> str:
    """Return the data set whose language a problem is in, where its question says so by its wording alone."""
    if question.startswith("Does it follow that ") and len(sentences(context)) == 2:
        try:
            TRANSLATORS["syllogism"](context, question)
        except TranslationError:
            return "rationales"
        return "syllogism"
    return "rationales"
