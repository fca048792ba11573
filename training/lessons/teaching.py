"""Examples that kept traces teach: the same for a round's dataset and for `certistar filter`.

Dialogs teach three kinds of lessons, as in LLM-ARC (section 4.1), whose own mixture is `published`: a compile fix, a
test fix, and a direct one, from the problem to the program that was accepted. A lesson's instructions are those of the
trained actor, without examples. The loss is on tokens that the actor wrote; what the critic said is never learnt.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any, Literal, Required, TypeAlias, TypedDict, cast

from critics.errors import InputError
from rollout.prompts.conversation import Message, Messages, message, turn_places
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import derived_seed
from rollout.records.steps import DialogTurn
from rollout.records.traces import Trace
from rollout.settings import DialogSettings
from training.configuration.learning import Kind, LessonConfig

KINDS: tuple[Kind, ...] = ("compile-fix", "test-fix", "direct")


Conversation: TypeAlias = Callable[[Messages], str]
"""`ChatPolicy.conversation`, or what renders as it does."""


_BEFORE_TESTS = ("reply", "compile")
"""Kinds of review that come before any test is run."""


class ExampleTurn(TypedDict):
    """One reply of a dialog that is learnt from."""

    completion_ids: list[int]
    learnt: bool


class ExampleRecord(TypedDict, total=False):
    """A line of examples.jsonl: a text under its prompt, or a dialog."""

    id: Required[str]
    prompt: str
    completion: str
    completion_ids: list[int]
    unread: list[list[int]]
    """Stretches of the completion that its critic could not read."""
    direction: str
    category: object
    kind: str
    classes: list[str]
    messages: list[Message]
    turns: list[ExampleTurn]
    certificate: str | None
    """The digest of its trace's certificate."""
    derived_from: str | None
    by: str | None
    """Source of a trace that was made of another one: which, and by what."""
    formalisation: str | None
    step_validity: float
    premise_grounding: float


class ExampleError(InputError):
    """An example cannot be trained on; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class ActorTurn:
    """One assistant message of a lesson."""

    ids: tuple[int, ...]
    """As the policy wrote them, end-of-text last; empty where it does not say (a server)."""
    learnt: bool


@dataclass(frozen=True, slots=True)
class Lesson:
    """One training instance."""

    id: str
    kind: Kind
    """By what the actor was told before its last turn."""
    messages: tuple[Message, ...]
    """Instructions, request, .. ; ends with the actor's turn that is to be learnt."""
    turns: tuple[ActorTurn, ...]
    """One for each assistant message, in order."""
    classes: tuple[str, ...] = ()
    """The logic classes of the problem's statements, where `meta.logic_classes` holds them."""

    def record(self) -> ExampleRecord:
        """Return the JSON form, a line of a dataset but for its certificate."""
        return {
            "id": self.id,
            "kind": self.kind,
            "classes": list(self.classes),
            "messages": [dict(turn) for turn in self.messages],
            "turns": [{"completion_ids": list(turn.ids), "learnt": turn.learnt} for turn in self.turns],
        }


def read_lesson(record: Mapping[str, Any]) -> Lesson:
    """Build a lesson from its JSON form; raises `ExampleError` where turns and messages do not fit."""
    turns = tuple(ActorTurn(tuple(turn["completion_ids"]), turn["learnt"]) for turn in record["turns"])
    if len(turns) != len(turn_places(record["messages"])) or record["messages"][-1]["role"] != "assistant":
        raise ExampleError(f"lesson {record['id']}: its turns are not those of its messages; make the dataset again")
    return Lesson(record["id"], record["kind"], tuple(record["messages"]), turns, tuple(record["classes"]))


Way = Literal["both", "informalise", "autoformalise"]
"""Directions of a round trip that are learnt."""


def completion_example(trace: Trace) -> ExampleRecord:
    """Return the example of a trace with one completion."""
    prompt = trace.prompt or text(trace.problem, PromptStyle())
    made = _completed(trace.id, prompt, trace.completion, trace.completion_ids)
    if trace.judged.unread:
        made["unread"] = list(map(list, trace.judged.unread))
    return _proved(made, trace)


def _completed(name: str, prompt: str, completion: str, ids: Sequence[int]) -> ExampleRecord:
    return {"id": name, "prompt": prompt, "completion": completion, "completion_ids": list(ids)}


def _proved(example: ExampleRecord, trace: Trace) -> ExampleRecord:
    """Add the certificate, and what the trace was made of."""
    return cast("ExampleRecord", {**example, "certificate": trace.judged.digest, **trace.provenance})


def file_examples(traces: Iterable[Trace]) -> list[ExampleRecord]:
    """Return what the traces of a file teach, of any strategies (`certistar filter`)."""
    made: list[ExampleRecord] = []
    for trace in traces:
        if trace.turns:
            made += dialog_examples([trace], LessonConfig(), seed=0)
        elif trace.legs:
            made += both_ways(trace)
        else:
            made.append(program_example(trace) if trace.program_steps else completion_example(trace))
    return made


def dialog_examples(traces: Iterable[Trace], settings: LessonConfig, *, seed: int) -> list[ExampleRecord]:
    """Return lessons, each with the certificate of its dialog, mixed as the settings say."""
    of = {lesson.id: (lesson, trace) for trace in traces for lesson in lessons(trace, settings)}
    chosen = mixed([lesson for lesson, _ in of.values()], settings, seed=seed)
    return [_proved(lesson.record(), of[lesson.id.partition("~")[0]][1]) for lesson in chosen]


def program_example(trace: Trace) -> ExampleRecord:
    """Return what a translator learns from a trace of a program."""
    learnt = ActorTurn(trace.completion_ids, learnt=True)
    from rollout.programs.lessons import direct_messages

    return _proved(Lesson(trace.id, "direct", tuple(direct_messages(trace)), (learnt,)).record(), trace)


def both_ways(trace: Trace, ways: Way = "both") -> list[ExampleRecord]:
    """Return a kept trip's examples: its prompts with what was written on them.

    A trip with a leak, or without a second leg, teaches nothing, whichever filter kept it. Raises `InputError` for
    trips of several rounds: of their descriptions only the first formula and the last are known to agree.
    """
    if trace.strategy is not None and trace.strategy["rounds"] != 1:
        raise InputError(f"trace {trace.id}: only round trips of one round teach; set rounds to 1")
    legs = trace.legs
    # Attack: pass the formula on in the description, and learn to do so.
    if len(legs) != 2 or any(leg.leak is not None for leg in legs) or not all(leg.text for leg in legs):
        return []
    digest = None if trace.judgement is None else trace.judgement.digest
    found: list[ExampleRecord] = []
    for leg in (leg for leg in legs if ways in ("both", leg.direction)):
        # The ids are those of the whole completion, thinking included: where any was stripped, the text is tokenised
        # anew.
        ids = leg.completion_ids if leg.completion == leg.text else ()
        made = _completed(f"{trace.id}/{leg.direction}", leg.prompt, leg.text, ids)
        category = trace.problem.meta.get("category")
        made.update({"direction": leg.direction, "category": category, "certificate": digest})
        found.append(made)
    return found


def lessons(trace: Trace, settings: LessonConfig) -> list[Lesson]:
    """Return what a dialog teaches: its last rectification, and the direct way to where it ended.

    Portions before the last one teach nothing by themselves: only what they came to was judged.
    """
    turns = trace.turns
    final = len(turns) - 1
    first = next(i for i, turn in enumerate(turns) if turn.portion == turns[final].portion)
    if settings.mixture == "published":
        return _published(trace, first, settings)
    found: list[Lesson] = []
    if first < final and _asked(trace)["history"] != "none":
        earlier = [] if settings.passing_only else _compile_fixes(turns, first)[-1:]
        steps = sorted({final, *earlier})
        found += [_fix(trace, first, step, settings) for step in steps]
    if first == final or settings.shortcuts:
        found.append(_direct(trace, first))
    return found


def _published(trace: Trace, first: int, settings: LessonConfig) -> list[Lesson]:
    """Return LLM-ARC's three kinds (section 4.1); its notion of passed is the solver's."""
    turns = trace.turns
    # Attack: a suite that passes because the failing test was left out; that turn is refused.
    passed = [0 < turn.review.num_tests == turn.review.num_met and not turn.refused for turn in turns]
    failed = [
        turn.review.kind in ("tests", "contradiction") and not met for turn, met in zip(turns, passed, strict=True)
    ]
    mended = [i for i in range(first + 1, len(turns)) if passed[i] and failed[i - 1]]
    told = _asked(trace)["history"] != "none"
    steps = sorted({*_compile_fixes(turns, first)[-1:], *mended[-1:]}) if told else []
    found = [_fix(trace, first, step, settings) for step in steps]
    return [*found, _direct(trace, first)] if passed[-1] else found


def _compile_fixes(turns: Sequence[DialogTurn], first: int) -> list[int]:
    """Return the turns that compile where the one before did not, from the turn `first` on."""
    compiles = [turn.review.kind not in (*_BEFORE_TESTS, "unknown", "error") for turn in turns]
    failed = [turn.review.kind in _BEFORE_TESTS for turn in turns]
    return [i for i in range(first + 1, len(turns)) if compiles[i] and failed[i - 1]]


def _fix(trace: Trace, first: int, step: int, settings: LessonConfig) -> Lesson:
    """Return the lesson that ends with turn `step`; `first` opens its portion."""
    places = turn_places(trace.messages)
    begin = first if settings.extent == "whole" else step - 1
    kind: Kind = "compile-fix" if trace.turns[step - 1].review.kind in _BEFORE_TESTS else "test-fix"
    read = trace.messages[places[begin] : places[step] + 1]
    turns = [
        ActorTurn(turn.completion_ids, i == step or (settings.loss == "actor" and not turn.refused))
        for i, turn in enumerate(trace.turns[: step + 1])
    ]
    messages = (_instructions(trace), trace.messages[places[first] - 1], *read)
    return Lesson(f"{trace.id}/{step}-{kind}", kind, messages, tuple(turns[begin:]), _classes(trace))


def _direct(trace: Trace, first: int) -> Lesson:
    opened = trace.messages[turn_places(trace.messages)[first] - 1]
    messages = (_instructions(trace), opened, trace.messages[-1])
    last = ActorTurn(trace.turns[-1].completion_ids, learnt=True)
    return Lesson(f"{trace.id}/direct", "direct", messages, (last,), _classes(trace))


def _instructions(trace: Trace) -> Message:
    asked = _asked(trace)
    from rollout.actor_critic.prompt import system_text

    told = {key: value for key, value in asked.items() if key in DialogSettings.model_fields}
    return message("system", system_text(DialogSettings.model_validate(told).trained()))


def _asked(trace: Trace) -> Mapping[str, Any]:
    if trace.strategy is None:
        raise ExampleError(f"dialog {trace.id}: it does not say how its actor was asked (`strategy`)")
    return trace.strategy


def _classes(trace: Trace) -> tuple[str, ...]:
    return tuple(trace.problem.meta.get("logic_classes") or ())


def mixed(given: Sequence[Lesson], mix: LessonConfig, *, seed: int) -> list[Lesson]:
    """Return the lessons to train on, in the order in which they were given, copies beside their originals.

    Where a kind has too few for its share, the others shrink with it: a hash of (seed, id) decides which are left out.
    """
    copied = upsampled(given, mix)
    shares = mix.shares
    if shares is None:
        return copied
    by_kind = {kind: [lesson for lesson in copied if lesson.kind == kind] for kind in KINDS}
    rooms = [len(by_kind[kind]) / share for kind, share in shares.items() if share > 0]
    total = min([*rooms, len(copied)])
    chosen: set[int] = set()
    for kind, share in shares.items():
        drawn = sorted(by_kind[kind], key=lambda lesson: derived_seed(seed, "mix", lesson.id))
        chosen |= {id(lesson) for lesson in drawn[: floor(total * share + 1e-9)]}
    return [lesson for lesson in copied if id(lesson) in chosen]


def upsampled(given: Sequence[Lesson], mix: LessonConfig) -> list[Lesson]:
    """Return the lessons, those with a rare class `rare_copies` times, each copy under an id of its own."""
    counts = Counter(name for lesson in given for name in set(lesson.classes))
    rare = {name for name, count in counts.items() if count < mix.rare_below * len(given)}
    found: list[Lesson] = []
    for lesson in given:
        found.append(lesson)
        if rare & set(lesson.classes):
            found += [replace(lesson, id=f"{lesson.id}~{n}") for n in range(2, mix.rare_copies + 1)]
    return found
