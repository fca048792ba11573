"""Traces reduced to what their critics judged: what an untrusted file adds beside the text teaches nothing.

A prompt is kept where the problem gives it: in one of the styles that policies are asked in, whatever chat template is
round it. Token ids are left to whoever has the tokenizer and the text. Steps count where the critic of their format
judged what they came to.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from critics import registry
from critics.errors import InputError
from critics.formats.format import find_format
from critics.formats.names import COT, EQUIVALENCE
from critics.problem import is_list, is_object
from rollout.prompts.conversation import Message, message, turn_places
from rollout.prompts.prompt import messages, text
from rollout.prompts.style import FORMATS, PromptStyle
from rollout.records.steps import DialogTurn
from rollout.records.traces import Trace
from rollout.settings import DialogSettings

if TYPE_CHECKING:
    from rollout.actor_critic.feedback import Reviewing

TEMPLATE_MARKS = re.compile(
    r"(?:<[|｜][\w▁]{1,24}[|｜]>|</?[|]?[a-z_]{1,16}[|]?>|\[/?g?[A-Z_]{1,16}\]|<</?SYS>>|###|(?i:system|user|assistant|model)"
    r"|(?<=\n)Cutting Knowledge Date: [A-Z][a-z]{2,8} \d{4}\n|(?<=\n)Today Date: \d{1,2} [A-Z][a-z]{2,8} \d{4}\n"
    r"|[\s:])*"
)
"""Pattern of what a chat template may put round the turns of a conversation: names of roles, special tokens, Llama's
dates, and no other words."""
_NUM_EXAMPLES = (None, *range(9))
_STEPS = ("steps", "turns", "legs")


class NotDerivedError(InputError):
    """Something that a trace would teach is not derived from what was judged; the message is the reason."""


def without_stray_steps(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a trace's record without steps of strategies whose critic did not judge it.

    Attack: the legs of a round trip, or the turns of a dialog, beside a proof of something else.
    """
    has_turns, is_trip = record.get("completion") is None, record.get("format") == EQUIVALENCE
    kept = {"turns": has_turns, "legs": is_trip, "steps": has_turns or is_trip or _is_program(record.get("format"))}
    return {key: value for key, value in record.items() if kept.get(key, True)}


def _is_program(format_: object) -> bool:
    return format_ in registry.formats() and find_format(str(format_)).is_program


def judged_fields(trace: Trace, review: "Reviewing | None" = None) -> Trace:
    """Return the trace with a prompt that its problem gives, no token ids, and steps that lead to the judged text.

    `review` says anew what a dialog was told of the reply before its last; without it that reply is left out.
    Raises `NotDerivedError`: `prompt_not_derived` or `steps_not_judged`.
    """
    if trace.messages and trace.turns:
        # A dialog is its last reply to the problem's request, and the fault before it where the critic finds that
        # again. Attack: an earlier turn, or what the critic is said to have said of it, that teaches whatever it likes.
        places = turn_places(trace.messages)
        if len(places) != len(trace.turns) or len(trace.turns) != len(trace.steps):
            raise NotDerivedError("steps_not_judged")
        first = next(i for i, turn in enumerate(trace.turns) if turn.portion == trace.turns[-1].portion)
        asked = trace.messages[places[first] - 1]
        if not asks_for(trace, asked):
            raise NotDerivedError("prompt_not_derived")
        last = replace(trace.turns[-1], completion_ids=())
        before = () if review is None or first == len(places) - 1 else _fault_before(trace, places, review)
        said = trace.messages[places[-2] : places[-1]] if before else ()
        return replace(trace, messages=(asked, *said, trace.messages[-1]), steps=(*before, last))
    if trace.legs and trace.format == EQUIVALENCE:
        return _trip(trace)
    steps = trace.program_steps if _is_program(trace.format) else ()
    prompt = trace.prompt or text(trace.problem, PromptStyle())
    if trace.prompt is not None and not is_derived_prompt(trace.prompt, trace):
        if trace.sampling is not None and trace.policy is not None:
            raise NotDerivedError("prompt_not_derived")
        # Attack: another question before a proof of this one, in a trace that was not sampled.
        prompt = text(trace.problem, PromptStyle())
    return replace(trace, prompt=prompt, completion_ids=(), steps=steps)


def _fault_before(trace: Trace, places: Sequence[int], review: "Reviewing") -> tuple[DialogTurn, ...]:
    """Return the turn before the last, if what follows it is what the critic says of it; else nothing.

    It is read and not learnt. Attack: words of a critic that never said them.
    """
    from rollout.actor_critic.feedback import Reply
    from rollout.actor_critic.prompt import feedback_text

    turn, told = trace.turns[-2], {k: v for k, v in (trace.strategy or {}).items() if k in DialogSettings.model_fields}
    try:
        asked = DialogSettings.model_validate(told)
    except ValueError as error:
        raise NotDerivedError("steps_not_judged") from error
    wrong, said = trace.messages[places[-2]]["content"], trace.messages[places[-2] + 1 : places[-1]]
    reply = Reply.to(trace.problem, wrong, finished=turn.finished, depth=asked.depth, in_full=asked.instructions)
    [found] = review([reply])
    is_fault = found.kind not in ("clean", "unknown", "error") and not trace.turns[-1].refused
    if not is_fault or list(map(dict, said)) != [message("user", feedback_text(found))]:
        return ()
    return (replace(turn, completion_ids=(), refused=False, review=found),)


def is_derived_prompt(prompt: str, trace: Trace) -> bool:
    """Say whether a prompt is the one that asks for this trace's text, in any of our styles, and says nothing else."""
    bare = text(trace.problem, PromptStyle())
    return prompt == bare or any(_asks(prompt, turns) for turns in _conversations(trace))


def _conversations(trace: Trace) -> Iterator[Sequence[Message]]:
    """Yield the conversations that ask for this trace's text, with every number of solved examples."""
    from rollout.programs import first_order
    from rollout.programs.prompt import opening

    problem, format_ = trace.problem, trace.format
    is_program = _is_program(format_)
    for num in _NUM_EXAMPLES:
        if is_program and num is not None:
            yield opening(problem, format_, num)
        elif not is_program:
            for style in FORMATS:
                yield messages(problem, PromptStyle("few-shot", num, style))
        if format_ == COT and num is not None:
            yield first_order.request(problem, num, answers=True)


def _asks(prompt: str, turns: Sequence[Message] | str) -> bool:
    """Say whether a prompt is this conversation, as text, as JSON, or within the marks of a chat template."""
    if isinstance(turns, str):
        return prompt == turns
    if prompt.startswith("[{"):
        return prompt == json.dumps([dict(turn) for turn in turns], ensure_ascii=False)
    place = 0
    for turn in turns:
        content = turn["content"].strip()
        found = prompt.find(content, place)
        if found < 0 or not TEMPLATE_MARKS.fullmatch(prompt, place, found):
            return False
        place = found + len(content)
    return TEMPLATE_MARKS.fullmatch(prompt, place) is not None


def asks_for(trace: Trace, asked: Message) -> bool:
    """Say whether a request of a dialog is for its problem, or for the last statements after a reply of it."""
    from rollout.actor_critic import prompt as actor

    said, problem = asked["content"], trace.problem
    if asked["role"] != "user" or said == actor.opening(problem):
        return asked["role"] == "user"
    listed = actor.statements(problem)
    replies = [turn["content"] for turn in trace.messages if turn["role"] == "assistant"]
    before = [None, *(reply for reply in replies if _is_part(reply, trace.messages[-1]["content"]))]
    return any(
        said == actor.portion(listed[start:], start + 1, query=problem.question, so_far=so_far)
        for start in range(1, len(listed))
        for so_far in before
    )


def _is_part(reply: str, final: str) -> bool:
    """Say whether everything that an earlier reply wrote stands in the reply that was judged."""
    try:
        part, whole = json.loads(reply), json.loads(final)
    except ValueError:
        return False
    if not is_object(part) or not is_object(whole):
        return False
    return all(key in whole and _entries(part[key]) <= _entries(whole[key]) for key in part)


def _entries(value: object) -> set[str]:
    return {json.dumps(entry, sort_keys=True) for entry in (value if is_list(value) else [value])}


def _trip(trace: Trace) -> Trace:
    """Return a round trip whose legs lead from the problem's formula to the formula that was judged."""
    from critics.formats.equivalence.language import Language
    from critics.formats.equivalence.leak import find_leak
    from rollout.formulas.prompt import into_signs, into_words, read_notation

    problem, legs = trace.problem, trace.legs
    if len(legs) != len(trace.steps):
        raise NotDerivedError("steps_not_judged")
    if len(legs) != 2 or any(leg.leak is not None for leg in legs):
        return replace(trace, steps=tuple(replace(leg, completion_ids=()) for leg in legs))
    outward, back = legs
    claim: Any = json.loads(trace.completion)
    if problem.formal is None or not is_object(claim):
        raise NotDerivedError("steps_not_judged")
    formula = problem.formal.goal
    said = (outward.direction, back.direction, claim.get("left"), claim.get("right"))
    if said != ("informalise", "autoformalise", formula, back.text):
        raise NotDerivedError("steps_not_judged")
    if find_leak(formula, Language(problem.meta["language"]), outward.text) is not None:
        raise NotDerivedError("leak")
    notation = read_notation(problem.meta)
    if not any(
        _asks(outward.prompt, into_words(notation, formula, kind))
        and _asks(back.prompt, into_signs(notation, outward.text, kind))
        for kind in ("bare", "zero-shot", "few-shot")
    ):
        raise NotDerivedError("prompt_not_derived")
    return replace(trace, steps=tuple(replace(leg, completion_ids=()) for leg in legs))
