"""Rows that are parts of one text: batches and what was asked, a row for each step; and rollouts of NeMo-Gym."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from critics.errors import InputError
from critics.problem import is_list, is_object
from rollout.records.traces import Judgement
from training.exchange.columns import Values
from training.records.store import Record
from training.records.tables import Row, Rows

_NUMBERS = ("step_index", "step_number", "step_id", "step_idx", "step_no", "index")
_TEXTS = ("problem_id", "question_id", "trace_id", "sample_id", "example_id", "id", "question", "prompt", "problem")
"""Columns that are equal for all steps of one text."""
_REPLIES = (
    ("response.body.choices.0.message.content", "response.body.choices.0.finish_reason", "length"),
    ("response.body.output.-1.content.0.text", "response.body.status", "incomplete"),
    ("result.message.content.0.text", "result.message.stop_reason", "max_tokens"),
)
"""Places of the reply, of why it ended, and of a cut, in batches of OpenAI (chats, responses) and Anthropic."""
_ASKED = ("body.messages", "body.input", "params.messages")


def with_questions(rows: Rows, source: object) -> Rows:
    """Join a batch's replies with its input's lines by `custom_id`, as chat messages; raises `InputError`."""
    asked = {row.values["custom_id"]: row for row in rows.rows if "body" in row.values or "params" in row.values}
    if not asked:
        told = "these are a batch's replies without what was asked"
        raise InputError(f"{source}: {told}; name its input as well, as in `certistar filter 'batch_*.jsonl'`")
    joined: list[Row] = []
    unreadable = list(rows.unreadable)
    for place, row in enumerate(rows.rows):
        name = row.values.get("custom_id")
        if name in asked and row is asked[name]:
            continue
        if name not in asked:
            unreadable.append(row.unreadable("no_question", f"nothing was asked under the custom_id {name!r}"))
            continue
        reply, cut = _reply(row.values)
        if reply is None or cut:
            error = _at(row.values, "error.message") or _at(row.values, "response.body.error.message") or "no text"
            told = "the reply was cut off by its token limit" if cut else f"there is no reply: {error}"
            unreadable.append(row.unreadable("cut_off" if cut else "no_rationale", told))
            continue
        body = asked[name].values
        system = _at(body, "body.instructions") or _at(body, "params.system")
        turns = next((found for path in _ASKED if (found := _at(body, path)) is not None), None)
        before = [{"role": "system", "content": system}] if system else []
        listed = turns if is_list(turns) else [{"role": "user", "content": turns}]
        messages = [*before, *listed, {"role": "assistant", "content": reply}]
        beside = _at(body, "body.metadata")
        values = {**(beside if is_object(beside) else {}), "id": name, "messages": messages}
        joined.append(replace(row, values=values, of=(place,)))
    answered = {
        row.values.get("custom_id") for row in rows.rows if "body" not in row.values and "params" not in row.values
    }
    missing = [row for name, row in asked.items() if name not in answered]
    unreadable += [row.unreadable("no_rationale", "the batch's output has no reply to it") for row in missing]
    return replace(rows, rows=joined, unreadable=unreadable)


def with_messages(rows: Rows) -> Rows:
    """Read rollouts of NeMo-Gym as chat messages: what was asked, and the one message of the response.

    Items of type `reasoning` are left out. A rollout with other items, or one that was cut off, cannot be read.
    """
    read: list[Row] = []
    unreadable = list(rows.unreadable)
    for row in rows.rows:
        asked, system = (_at(row.values, f"responses_create_params.{key}") for key in ("input", "instructions"))
        made: Any = _at(row.values, "response.output") or []
        items = [item for item in made if _at(item, "type") != "reasoning"]
        texts = [_plain(_at(item, "content")) for item in items]
        others = sorted({str(_at(item, "type")) for item in items if _at(item, "type") != "message"})
        if _at(row.values, "response.status") == "incomplete" or _at(row.values, "response.incomplete_details"):
            unreadable.append(row.unreadable("cut_off", "the reply was cut off by its token limit"))
        elif others or not all(isinstance(text, str) for text in texts):
            # Attack: a reply that rests on what a tool said, which nobody judges.
            told = ", ".join(others) or "content that is no output_text"
            unreadable.append(
                row.unreadable("other_turns", f"the response has {told}; a row is judged that has one text")
            )
        else:
            turns: list[Any] = asked if is_list(asked) else [{"role": "user", "content": asked}]
            said = [turn | {"content": _plain(turn.get("content"))} if is_object(turn) else turn for turn in turns]
            replies = [{"role": "assistant", "content": text} for text in texts]
            before = [{"role": "system", "content": system}] if system else []
            places = [_at(row.values, f"_ng_{of}_index") for of in ("task", "rollout")]
            named = {} if None in places else {"id": "-".join(map(str, places))}
            read.append(replace(row, values={**row.values, **named, "messages": [*before, *said, *replies]}))
    return replace(rows, rows=read, unreadable=unreadable)


def _plain(content: Any) -> Any:
    """Return the parts of a turn's text as one; what holds anything else as it is."""
    if not is_list(content) or any(_at(part, "type") not in ("input_text", "output_text") for part in content):
        return content
    return "".join(str(_at(part, "text")) for part in content)


def rescored(rows: Rows, paid: Mapping[int, tuple[Judgement, bool]]) -> tuple[list[Record], dict[str, int]]:
    """Return rollouts with our `reward`, 1 or 0, and how often both verifiers paid; `paid` is by the rows' positions.

    What could not be checked is left out, since a reward of 0 would say that it was.
    """
    made: list[Record] = []
    counts = {"neither": 0, "ours_alone": 0, "theirs_alone": 0, "both": 0}
    for position, (judged, is_paid) in paid.items():
        if judged.verdict not in ("error", "timeout"):
            before: Any = json.loads(rows.rows[position].raw)
            told = {"verdict": judged.verdict, "reason": judged.reason, "reward": before.get("reward")}
            made.append({**before, "reward": float(is_paid), "certistar": told})
            counts[list(counts)[2 * ((before.get("reward") or 0) > 0) + is_paid]] += 1
    return made, counts | {"not_checked": len(rows.rows) + len(rows.unreadable) - len(made)}


def _reply(row: Values) -> tuple[str | None, bool]:
    for text, why, cut in _REPLIES:
        if isinstance(found := _at(row, text), str):
            return found, _at(row, why) == cut
    return None, False


def _at(value: Any, path: str) -> Any:
    """Return what lies at a path of keys and places; None where there is nothing."""
    for key in path.split("."):
        if is_object(value):
            value = value.get(key)
        elif is_list(value) and value:
            value = value[int(key)] if key.lstrip("-").isdigit() and int(key) < len(value) else None
        else:
            return None
    return value


def with_steps(rows: Rows, step: str, known: Sequence[str]) -> Rows:
    """Join the rows of one text's steps, which follow one another; their numbers start again with each text."""
    number = next((name for name in _NUMBERS if name in known), None)
    same = [name for name in _TEXTS if name in known]
    by = same[:1] if same and len({repr(row.values.get(same[0])) for row in rows.rows}) < len(rows.rows) else same[1:]
    numbered = list(enumerate(rows.rows))
    joined: list[Row] = []
    for _, group in groupby(numbered, key=lambda each: [repr(each[1].values.get(name)) for name in by]):
        for part in _restarted(list(group), number):
            first = part[0][1]
            values = {**first.values, step: "\n".join(str(row.values.get(step) or "") for _, row in part)}
            raw = (",\n" if rows.kind == "json" else "\n").join(row.raw.rstrip("\n") for _, row in part)
            joined.append(replace(first, values=values, raw=raw, of=tuple(place for place, _ in part)))
    return replace(rows, rows=joined)


def _restarted(group: list[tuple[int, Row]], number: str | None) -> Iterator[list[tuple[int, Row]]]:
    """Yield the texts of rows about one question: a number that is no larger than the last begins another."""
    part: list[tuple[int, Row]] = []
    for each in group:
        if part and number is not None and _number(each[1], number) <= _number(part[-1][1], number):
            yield part
            part = []
        part.append(each)
    yield part


def _number(row: Row, name: str) -> float:
    try:
        return float(row.values.get(name) or 0)
    except (TypeError, ValueError):
        return 0.0
