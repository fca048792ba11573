"""Lessons of an actor's dialogs with the critic: which dialogs, which part of each, and which tokens.

Three kinds of lessons, as in LLM-ARC (section 4.1), whose own mixture is `published`: a compile fix, a test fix, and a
direct one, from the problem to the program that was accepted. A lesson's instructions are those of the trained actor,
without examples. The loss is on tokens that the actor wrote, by a mask over the ids that were stored when it wrote
them; what the critic said is read and never learnt.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Any, TypeAlias

from rollout.prompts.conversation import Message, Messages, message, turn_places
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import derived_seed
from rollout.records.steps import DialogTurn
from rollout.records.traces import Trace
from training.configuration.learning import Kind, LessonConfig
from training.lessons.examples import IGNORED, Batch, ExampleError, without_end

KINDS: tuple[Kind, ...] = ("compile-fix", "test-fix", "direct")
Conversation: TypeAlias = Callable[[Messages], str]
"""`ChatPolicy.conversation`, or what renders as it does."""

_BEFORE_TESTS = ("reply", "compile")
"""Kinds of review that come before any test is run."""


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

    def record(self) -> dict[str, Any]:
        """Return the JSON form, a line of a dataset."""
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
    from rollout.actor_critic.prompt import ActorPrompt, system_text

    prompt = ActorPrompt(
        tests=asked["tests"],
        guidelines=asked["guidelines"],
        incremental=asked["portion_size"] is not None,
        instructions=asked.get("instructions", True),
    )
    return message("system", system_text(prompt.trained()))


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
    chosen = {
        id(lesson)
        for kind, share in shares.items()
        for lesson in _drawn(by_kind[kind], floor(total * share + 1e-9), seed)
    }
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


def _drawn(given: Sequence[Lesson], num: int, seed: int) -> list[Lesson]:
    order = sorted(range(len(given)), key=lambda i: derived_seed(seed, "mix", given[i].id))
    return [given[i] for i in sorted(order[:num])]


@dataclass(frozen=True, slots=True)
class MaskedExample:
    """A lesson as token ids: everything that is read and written, and which of it is learnt."""

    id: str
    ids: tuple[int, ...]
    learnt: tuple[bool, ...]
    """One for each id."""

    @property
    def num_tokens(self) -> int:
        """Return the whole length."""
        return len(self.ids)

    @property
    def num_learnt(self) -> int:
        """Return how many tokens the loss is on."""
        return sum(self.learnt)


def masked_example(lesson: Lesson, conversation: Conversation, tokenizer: Any, style: PromptStyle) -> MaskedExample:
    """Tokenise a lesson: up to the first turn that is learnt as a policy reads its prompt, then turn by turn.

    Raises `ExampleError` where the template does not repeat a turn word for word, so that a mask over it would lie.
    """
    places = [place for place, turn in enumerate(lesson.messages) if turn["role"] == "assistant"]
    start = next(n for n, turn in enumerate(lesson.turns) if turn.learnt)
    said = conversation(lesson.messages[: places[start]])
    from rollout.policies.policy import prompt_ids

    ids = list(prompt_ids(tokenizer, said, style))
    learnt = [False] * len(ids)
    for place, turn in zip(places[start:], lesson.turns[start:], strict=True):
        read = conversation(lesson.messages[:place])
        between = _between(lesson, said, read, tokenizer)
        written = _written_ids(turn, lesson.messages[place]["content"], tokenizer)
        ids += [*between, *written]
        learnt += [False] * len(between) + [turn.learnt] * len(written)
        said = read + lesson.messages[place]["content"]
    return MaskedExample(lesson.id, tuple(ids), tuple(learnt))


def _between(lesson: Lesson, said: str, read: str, tokenizer: Any) -> list[int]:
    """Return the ids of what is read after what was said so far; the end-of-text after a turn is the turn's own."""
    if not read.startswith(said):
        raise ExampleError(
            f"lesson {lesson.id}: the chat template changes an earlier turn of the actor, so that its stored ids do "
            "not fit; set loss to 'final'"
        )
    rest = read[len(said) :].removeprefix(tokenizer.eos_token)
    return tokenizer(rest, add_special_tokens=False)["input_ids"] if rest else []


def _written_ids(turn: ActorTurn, content: str, tokenizer: Any) -> list[int]:
    """Return the stored ids where they say what the text says, else the text's, and end-of-text last.

    Ids go past the text where a stop string ended it, and mean nothing to another model's tokenizer.
    """
    written = without_end(turn.ids, tokenizer)
    decoded = tokenizer.decode(written, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    if not written or decoded != content:
        written = tokenizer(content, add_special_tokens=False)["input_ids"]
    return [*written, tokenizer.eos_token_id]


def checked(example: MaskedExample, *, eos_id: int, max_tokens: int) -> MaskedExample:
    """Return the example, or raise `ExampleError` where it would teach nothing, not teach to stop, or be cut."""
    learnt = [token for token, is_learnt in zip(example.ids, example.learnt, strict=True) if is_learnt]
    if not any(token != eos_id for token in learnt):
        raise ExampleError(f"lesson {example.id}: no token of the actor's is supervised")
    if example.ids[-1] != eos_id or not example.learnt[-1]:
        raise ExampleError(f"lesson {example.id}: its end-of-text token ({eos_id}) is not supervised")
    if example.num_tokens > max_tokens:
        raise ExampleError(
            f"lesson {example.id}: {example.num_tokens} tokens exceed training.max_tokens = {max_tokens}, and a cut "
            "would drop its end; raise training.max_tokens, or set the extent to 'last'"
        )
    return example


@dataclass(frozen=True, slots=True)
class MaskCollator:
    """Pads a batch on the right; what is not learnt carries the label that the loss skips."""

    pad_id: int

    def __call__(self, batch: Iterable[MaskedExample]) -> Batch:
        """Return input_ids, attention_mask and labels, each of shape [batch, longest]."""
        import torch

        examples = list(batch)
        shape = (len(examples), max(example.num_tokens for example in examples))
        input_ids = torch.full(shape, self.pad_id, dtype=torch.long)
        labels = torch.full(shape, IGNORED, dtype=torch.long)
        attention = torch.zeros(shape, dtype=torch.long)
        for row, example in enumerate(examples):
            end = example.num_tokens
            ids, learnt = torch.tensor(example.ids), torch.tensor(example.learnt)
            input_ids[row, :end] = ids
            labels[row, :end] = torch.where(learnt, ids, IGNORED)
            attention[row, :end] = 1
        return {"input_ids": input_ids, "attention_mask": attention, "labels": labels}
