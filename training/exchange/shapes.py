"""Shapes of other people's rows: which part of a row is the question, which the text about it, and its language.

Whatever is not certain is refused, row by row or for the whole file: a wrong guess must not certify anything. Facts of
a system prompt stay facts, and two columns that may both be the text are an error.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from critics.problem import is_list, is_object
from critics.text.reference import TRANSLATORS
from critics.text.translators.translation import TranslationError, sentences
from training.exchange.columns import ABSENT, PARTS, Parts, RowError, Shape, Values

_SENDERS = {"human": "user", "gpt": "assistant", "model": "assistant", "bot": "assistant", "chatgpt": "assistant"}
_THOUGHT = re.compile("reason|think|thought|analysis|scratchpad|refusal", re.IGNORECASE)
"""Names of what a turn may say beside its content."""


def parts_of(row: Values, shape: Shape) -> Parts:
    """Return the parts of a row, as a table would have them; raises `RowError` where they cannot be told."""
    listed = shape.columns.get("options", "").split("+")
    absent = {"context": ABSENT}
    parts = Parts(*(row.get(shape.columns[p]) if p in shape.columns else absent.get(p) for p in PARTS))
    if len(listed) > 1:
        parts = replace(parts, options=[str(row[name]) for name in listed if row.get(name) not in (None, "")])
    rationale, question = parts.rationale, parts.question
    if is_list(rationale) and rationale and all(map(is_object, rationale)):
        turns = _turns(rationale)
        asked = [] if question is None else _turns(question) if is_list(question) else [("user", question)]
        # Preferences as chats repeat what was asked in each text.
        asked = [] if turns[: len(asked)] == asked else asked
        return parts.cut(_of_turns([*asked, *turns], shape))
    if question is None and "question" not in shape.columns:
        raise RowError("no_conversation", "the conversation is no list of turns with role and content")
    if is_list(question) and question and all(map(is_object, question)):
        return parts.cut(_of_turns([*_turns(question), ("assistant", rationale)], shape))
    is_instruction = shape.columns.get("question") == "instruction"
    if not isinstance(question, str) or (parts.context is not ABSENT and not is_instruction):
        return parts
    from training.exchange.prompts import asked_of, asks

    if is_instruction:
        given = parts.context.strip() if isinstance(parts.context, str) else ""
        told = (given, question) if asks(question) else (question, given)
        return replace(parts, context=ABSENT).cut(asked_of("\n".join(told)))
    return parts.cut(asked_of(question, is_prompt=shape.columns.get("question") == "prompt"))


def _turns(value: object) -> list[tuple[str, object]]:
    """Return who says what; raises `RowError` where it is no conversation."""
    if not is_list(value) or not value or not all(map(is_object, value)):
        raise RowError("no_conversation", "the conversation is no list of turns with role and content")
    turns: list[tuple[str, object]] = []
    for turn in value:
        role = turn.get("role", turn.get("from"))
        content: object = turn.get("content", turn.get("value"))
        if is_list(content):
            texts = [p.get("text") if is_object(p) and p.get("type") == "text" else None for p in content]
            if not all(isinstance(each, str) for each in texts):  # an image or a call
                raise RowError("no_conversation", "a turn has a part that is no text")
            content = "".join(map(str, texts))
        if turn.get("tool_calls") or turn.get("tool_call_id") or turn.get("function_call"):
            role = "tool"
        if not isinstance(role, str) or not isinstance(content, str):
            raise RowError("no_conversation", "a turn has no role, or no text as its content")
        beside = next((key for key, other in turn.items() if _THOUGHT.search(key) and other), None)
        if beside is not None:
            # Attack: a proof, and falsehoods thought aloud before it, which chat templates show and nobody judges.
            raise RowError("no_conversation", f"a turn says more in {beside!r}; join it to the content, or take it out")
        turns.append((_SENDERS.get(role, role), content))
    return turns


def _of_turns(turns: Sequence[tuple[str, object]], shape: Shape) -> Parts:
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
    from training.exchange.prompts import asked_of, facts, said

    given = [str(text) for role, text in turns if role in ("system", "developer") and shape.has_system]
    told, taken = said("\n".join(given))
    parts = asked_of(str(bare[0][1]))
    context, taken = facts(" ".join(told), parts.told), (*taken, *parts.taken)
    return replace(parts, context=context, rationale=bare[1][1], taken=taken)


_GUIDED = re.compile(r"\[\[\s*(?:axiom|goal|infer|object|prop|relation)\s*:")
ARITHMETIC, FREE_TEXT = "arithmetic", "cot"
"""Formats of texts with free answers: numbers, and others."""
_COMPUTED = re.compile(r"<<[^<>]*=[^<>]*>>|^####[ \t]*[-$]?[\d.,/]+[ \t]*$|\d\)? *= *[$]?\d", re.MULTILINE)
_HEADINGS = {
    "rules": ("facts", "rules", "query"),
    "csp": ("variables", "constraints"),
    "logic-program": ("declarations", "constraints"),
    "fol": ("premises", "conclusion"),
}
_SECTION = re.compile(r"^[ \t#*]*([A-Za-z]+)[ \t*]*:[ \t*]*$|^[ \t]*#[ \t]*([A-Za-z]+)[ \t]*$", re.MULTILINE)
_FORMULA = re.compile(r"[∀∃→∧∨¬]|:::|^\s*(?:all|exists|forall) \w+\.?", re.MULTILINE)
_LINC = re.compile(r"^\s*FOL:", re.MULTILINE)


def computes(text: str) -> bool:
    """Say whether a text is a worked word problem by its marks: equations, a calculator's annotations, or `#### 72`."""
    return _COMPUTED.search(text) is not None


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


def bare_reply(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a reply as it is judged and learnt, and names of what was changed; of programs only thoughts are cut."""
    if not any(mark in text for mark in ("<", "\\boxed", "####")):
        return text, ()
    from training.exchange.prompts import bare_text

    return bare_text(text, is_english=format_of(text) == "english")


def language_of(context: str, question: str) -> str:
    """Return the data set whose language a problem is in, where its question says so by its wording alone."""
    if question.startswith("Does it follow that ") and len(sentences(context)) == 2:
        try:
            TRANSLATORS["syllogism"](context, question)
        except TranslationError:
            return "rationales"
        return "syllogism"
    return "rationales"
