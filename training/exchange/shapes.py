"""Shapes of other people's rows: which part of a row is the question, which the text about it, and its language.

Whatever is not certain is refused, row by row or for the whole file: a wrong guess must not certify anything. Therefore
only sentences of a closed list are taken out of a prompt, facts of a system prompt stay facts, a prompt is cut into
facts and question only if it ends in its one question, and two columns that may both be the text are an error.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from critics.errors import InputError
from critics.problem import is_list, is_object
from critics.text.reference import TRANSLATORS
from critics.text.translators.syllogism import ask
from critics.text.translators.translation import TranslationError, sentences
from training.configuration.section import nearest
from training.exchange.columns import ABSENT, PARTS, Parts, RowError, read_columns

_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    "context": ("context", "facts", "premises", "theory", "passage", "story"),
    "question": ("question", "problem", "query", "ask"),
    "options": ("options", "choices"),
    "answer": ("answer", "gold", "gold_answer", "label", "target", "ground_truth", "correct_answer", "expected_answer"),
    "rationale": (
        *("rationale", "completion", "reasoning", "chain_of_thought", "cot", "explanation", "solution", "why"),
        *("response", "output", "generation", "model_output"),
    ),
    "conclusion": ("conclusion",),
}
"""Names of columns by which a part is known where `--columns` says nothing."""
NO_COLUMN = "-"
"""Name in `--columns` for a part that no column is, whatever the columns are called."""
_CHAT = ("messages", "conversations", "conversation")
_SENDERS = {"human": "user", "gpt": "assistant", "model": "assistant", "bot": "assistant", "chatgpt": "assistant"}
_THOUGHT = re.compile("reason|think|thought|analysis|scratchpad|refusal", re.IGNORECASE)
"""Names of what a turn may say beside its content."""
_OF_ROLLOUTS = ("reward", "rewards", "advantage", "advantages", "metrics", "step")
"""Columns that verifiers and TRL write beside their samples."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape of a file's rows: its name for people, and the columns of its parts."""

    name: str
    columns: Mapping[str, str]

    def told(self) -> str:
        """Say which column was taken for what."""
        parts = ", ".join(f"{part}={column}" for part, column in self.columns.items())
        gold = "" if "answer" in self.columns else "; no gold answers, so that a proof of any answer is certified"
        return f"read as {self.name}: {parts}{gold}"


def shape_of(
    known: Sequence[str],
    given: Sequence[str],
    source: object,
    first: Mapping[str, Any],
    needed: Sequence[str] = ("question", "rationale"),
) -> Shape:
    """Return the shape of rows with the columns `known`, as `--columns` has it or as their names say.

    Raises `InputError` where a column that is named is not there, where two columns may be a part, or where one that
    is `needed` is nowhere.
    """
    named = read_columns(given)
    for part, column in named.items():
        if column not in (*known, NO_COLUMN):
            raise InputError(f"{source}: there is no column {column!r} ({part}); {nearest(column, list(known))}")
    own = "question" not in named and "rationale" not in named
    if own and (chat := [name for name in _CHAT if name in known]):
        if len(chat) > 1:
            raise InputError(f"{source}: {' and '.join(chat)} may both be the conversation; take one out")
        name = "chat messages" if chat[0] == "messages" else "ShareGPT conversations"
        return Shape(name, _beside(named, known, source, {"rationale": chat[0]}))
    if own and "prompt" in known and "completion" in known:
        of_rollout = [name for name in _OF_ROLLOUTS if name in known]
        name = "prompts and completions" + (f" of rollouts (with {', '.join(of_rollout)})" if of_rollout else "")
        return Shape(name, _beside(named, known, source, {"question": "prompt", "rationale": "completion"}))
    if own and "instruction" in known and "output" in known:
        taken = {"question": "instruction", "rationale": "output"}
        return Shape("Alpaca instructions", _beside(named, known, source, taken | _input(known)))
    return Shape("a table", _columns(named, known, source, first, needed))


def _input(known: Sequence[str]) -> dict[str, str]:
    return {"context": "input"} if "input" in known else {}


def _beside(
    named: Mapping[str, str], known: Sequence[str], source: object, taken: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the columns of a conversation, with the id and the answers that stand beside it."""
    found = {part: column for part in ("id", "answer", "options") if (column := _named(part, known, source, named))}
    return {part: column for part, column in {**found, **taken, **named}.items() if column != NO_COLUMN}


def _columns(
    named: Mapping[str, str], known: Sequence[str], source: object, first: Mapping[str, Any], needed: Sequence[str]
) -> Mapping[str, str]:
    of_text = () if "rationale" in needed else ("rationale", "conclusion")
    wanted = [part for part in PARTS if part in named or part not in of_text]
    found = {part: column for part in wanted if (column := _named(part, known, source, named))}
    if "rationale" in needed and "rationale" not in found and _is_prose(first.get(found.get("answer", ""))):
        found["rationale"] = found.pop("answer")  # GSM8K calls it so
    if "question" in needed and "question" not in found and (asked := _statement(named, known, source, first)):
        found = {"question": asked, **{part: column for part, column in found.items() if column != asked}}
    for part in needed:
        if part not in found:
            shown = ", ".join(map(repr, known)) or "none"
            raise InputError(
                f"{source}: no column is known to be the {part}; say which by --columns {part}=NAME (there are {shown})"
            )
    return found


_LABELS = ("true", "false", "unknown", "uncertain")


def _statement(
    named: Mapping[str, str], known: Sequence[str], source: object, first: Mapping[str, object]
) -> str | None:
    """Return the column of what is asked in FOLIO: a conclusion that the gold answer calls true or false.

    Without such an answer it may be what the text concludes, about a question that is not there.
    """
    column, label = (_named(part, known, source, named) for part in ("conclusion", "answer"))
    said = None if "conclusion" in named or column is None else first.get(column)
    is_statement = isinstance(said, str) and len(said.split()) > 2 and not _LABEL.search(said)
    return column if is_statement and str(first.get(label or "")).strip().lower() in _LABELS else None


def _is_prose(value: object) -> bool:
    return isinstance(value, str) and len(value.split()) > 8


def _named(part: str, known: Sequence[str], source: object, named: Mapping[str, str]) -> str | None:
    """Return the column of a part, as it is given or by its name; raises `InputError` where two may be it."""
    if part in named:
        return None if named[part] == NO_COLUMN else named[part]
    taken = set(named.values())
    by_name = {name.lower().replace(" ", "_"): name for name in known}
    found = [by_name[each] for each in _SPELLINGS[part] if each in by_name and by_name[each] not in taken]
    if len(found) > 1:
        # Attack: a gold rationale beside what a model wrote, and the one judged in the place of the other.
        raise InputError(
            f"{source}: {' and '.join(map(repr, found))} may each be the {part}; say which by --columns "
            f"{part}={found[0]}"
        )
    return found[0] if found else None


def parts_of(row: Mapping[str, Any], shape: Shape) -> Parts:
    """Return the parts of a row, as a table would have them; raises `RowError` where they cannot be told."""
    parts = Parts(**{part: row.get(column) for part, column in shape.columns.items()})
    rationale, question = parts.rationale, parts.question
    if shape.columns.get("rationale") in _CHAT:
        return parts.cut(_of_turns(_turns(rationale)))
    if is_list(rationale) and rationale and all(map(is_object, rationale)):
        asked = _turns(question) if is_list(question) else [("user", question)]
        return parts.cut(_of_turns([*asked, *_turns(rationale)]))
    if is_list(question) and question and all(map(is_object, question)):
        return parts.cut(_of_turns([*_turns(question), ("assistant", rationale)]))
    if isinstance(question, str) and shape.columns.get("question") == "instruction":
        return replace(parts, context=ABSENT).cut(asked_of(_instructed(question, parts.context)))
    if isinstance(question, str) and parts.context is ABSENT:
        return parts.cut(asked_of(question, is_prompt=shape.columns.get("question") == "prompt"))
    return parts


def _instructed(instruction: str, given: object) -> str:
    told = given.strip() if isinstance(given, str) else ""
    is_question = bool(_questions(instruction)[1])
    return f"{told}\n{instruction}" if is_question else f"{instruction}\n{told}"


def _turns(value: object) -> list[tuple[str, object]]:
    """Return who says what; raises `RowError` where it is no conversation."""
    if not is_list(value) or not value or not all(map(is_object, value)):
        raise RowError("no_conversation", "the conversation is no list of turns with role and content")
    turns: list[tuple[str, object]] = []
    for turn in value:
        role = turn.get("role", turn.get("from"))
        said: object = turn.get("content", turn.get("value"))
        if is_list(said):
            said = "".join(map(_text_part, said))
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


def _text_part(part: object) -> str:
    """Return the text of a part of a turn; raises `RowError` where it is an image or a call."""
    if is_object(part) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return part["text"]
    raise RowError("no_conversation", "a turn has a part that is no text")


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
    facts = "\n".join(left for text in given if (left := _without_instructions(text)))
    parts = asked_of(str(bare[0][1]))
    return replace(parts, context=_facts(facts, parts.told), rationale=bare[1][1])


def _facts(*told: str) -> object:
    """Return the context; `ABSENT` where nothing is said."""
    return "\n".join(filter(None, told)) or ABSENT


_LABEL = re.compile(
    r"^[ \t]*(?:#+ |\*\*)?(?P<name>context|facts|premises|theory|passage|story|question|query|statement|hypothesis|"
    r"options|choices|answer|reasoning|solution|proof|rationale)(?:\*\*)?[ \t]*:(?:\*\*)?",
    re.IGNORECASE | re.MULTILINE,
)
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


def _is_instruction(sentence: str) -> bool:
    return _INSTRUCTION.fullmatch(sentence.strip().rstrip(".!:").strip()) is not None


def _without_instructions(text: str) -> str:
    return " ".join(sentence for sentence in _sentences(text) if not _is_instruction(sentence))


_ARGUMENT = re.compile(
    r"Consider these statements:\s*1\. (?P<one>[^\n]+)\n2\. (?P<other>[^\n]+)\s+"
    r"Does it logically follow that:\s*(?P<conclusion>[^\n?]+)\?(?:\s*\(Answer Yes or No\))?"
)
"""Pattern of reasoning-gym's questions about a syllogism."""


def _sentences(text: str) -> list[str]:
    return [part for line in text.splitlines() for part in re.split(r"(?<=[.?!])\s+", line.strip()) if part]


def _questions(text: str) -> tuple[list[str], list[str]]:
    """Return the sentences of a prompt without instructions, and those among them that ask."""
    said = [sentence for sentence in _sentences(text) if not _is_instruction(sentence)]
    return said, [each for each in said if each.endswith("?") or _TRUE_OR_FALSE.match(each)]


def asked_of(prompt: str, *, is_prompt: bool = True) -> Parts:
    """Cut a prompt into its facts and its one question; a column's own question that cannot be cut stays whole.

    Raises `RowError` where a prompt has no question or several, or says something behind it: an answer, say.
    """
    if (argument := _ARGUMENT.fullmatch(prompt.strip())) is not None:
        given = f"{argument['one'].rstrip('.')}. {argument['other'].rstrip('.')}."
        return Parts(context=given, question=ask(argument["conclusion"]))
    labels = list(_LABEL.finditer(prompt))
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
    before = _without_instructions(prompt[: labels[0].start()])
    sections = {
        label["name"].lower(): prompt[label.end() : following].strip()
        for label, following in zip(labels, [*(m.start() for m in labels[1:]), len(prompt)], strict=True)
    }
    if len(sections) < len(labels):
        raise RowError("several_questions", "the prompt has a heading twice, as solved examples have; keep one problem")
    for name in ("answer", "reasoning", "solution", "proof", "rationale"):
        if _without_instructions(sections.get(name, "")):
            # Attack: the text, or the answer, within what is asked.
            raise RowError("answer_in_prompt", f"the prompt says something under {name!r}; take it out")
    asked = [sections[name] for name in _ASKED if name in sections]
    question = _without_instructions(" ".join(asked))
    facts = _facts(before, *(_unnumbered(sections[name]) for name in _FACTS if name in sections))
    listed = sections.get("options") or sections.get("choices")
    options = _OPTION.findall(listed) if listed else None
    if options == []:
        raise RowError("options_unreadable", "the prompt's options are not lettered lines")
    return Parts(context=facts, question=question, options=options)


def _unnumbered(facts: str) -> str:
    """Return facts without the numbers that our own prompts give them."""
    return re.sub(r"(?:(?<=^)|(?<=[.?!] )|(?<=\n))\d+- ", "", facts) if facts.startswith("1- ") else facts


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


def told_formats(formats: Iterable[str]) -> str:
    """Say how many texts are in which language."""
    listed = list(formats)
    return ", ".join(f"{listed.count(name)} {name}" for name in dict.fromkeys(listed))
