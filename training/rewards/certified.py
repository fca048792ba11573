"""Reward of an attempt: 1 for a certificate that `strict` or `explicit` keeps, 0 for any other verdict, None for none.

A model that is paid for `strict` certificates learns to leave the premises of its steps unsaid, where the context has
them: the proof holds without (docs/results/real-model/rewards.md). `explicit` pays a text that says them.

A proof of the model's own formulas (grade `trusted`) is worth 0, because nothing says that they are about the question:
the model would learn to prove what was not asked.

A critic that ran out of time or failed says nothing about the attempt. The reward is then None: TRL leaves it out of
the group's baseline and gives it no gradient. A 0 would teach the model to avoid what is hard to check.

Credit at the first bad step: a text is punished from there on, and not for what stands before it. Where the first bad
step is not known, the whole text is punished: it could not be read, or it stops short.
"""

import atexit
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from critics.errors import InputError
from critics.formats.format import find_format
from critics.formats.names import COT, GUIDED
from critics.formats.steps import bad_place
from critics.judge import JudgePool, Judging
from critics.problem import Attempt, Problem, is_list, is_object, read_attempt
from critics.replay.replies import reply_start, unmarked
from critics.verdict import Certified, Verdict, read_verdict
from critics.verdict.reading import UNDECIDED
from rollout.records.traces import Judgement, read_judgement

if TYPE_CHECKING:
    from rollout.problems.catalogue import Split
    from training.configuration.problems import ProblemsConfig

UNKNOWN = frozenset({"timeout", "error"})
COLUMNS = ("problem", "format")
"""Columns that a dataset must have beside `prompt`: see `rows`."""
Credit = Literal["attempt", "first_bad_step"]
"""attempt: all of a text is punished alike; first_bad_step: from its first bad step on."""
Thoughts = Literal["judged", "ignored"]
"""Treatment of what a model thinks aloud before its reply. judged: it is a part of the text, and a sentence in it that
is false or that nobody can read earns nothing. ignored: the reply alone is judged, and no token of the thought is
learnt."""
Pays = Literal["strict", "explicit"]
"""The filter whose certificates are paid; explicit: the premises of each step must be said before it."""
_NO_TEXT = ("role", "content", "name", "tool_calls", "tool_call_id", "function_call")
"""Keys of a turn that hold no text of its own."""


@dataclass(frozen=True, slots=True)
class Said:
    """The assistant's text in a completion, cut into thoughts and reply."""

    thoughts: str
    reply: str
    start: int = 0
    """The reply's first character in the completion's text."""

    def judged(self, thoughts: Thoughts) -> str:
        """Return the text that a critic is shown."""
        return self.reply if thoughts == "ignored" or not self.thoughts else f"{self.thoughts}\n{self.reply}"


def said_in(completion: Any) -> Said:
    """Return what the assistant says in a completion: a text, or the assistant's turns of a conversation.

    Attack: a proof in the turn of a tool or a user, and the bare answer in the assistant's own; falsehoods in
    `reasoning_content` or the like, which is trained on as the content is.
    """
    if isinstance(completion, str):
        start = reply_start(completion)
        return Said(unmarked(completion[:start]), completion[start:], start)
    own = [turn for turn in completion if turn.get("role") == "assistant"]
    told = [said_in(_content(turn.get("content"))) for turn in own]
    beside = [str(said) for turn in own for key, said in turn.items() if key not in _NO_TEXT and said]
    thoughts = [thought for thought in (*beside, *(each.thoughts for each in told)) if thought.strip()]
    start = told[0].start if len(told) == 1 else 0
    return Said("\n".join(thoughts), "\n".join(each.reply for each in told), start)


def _content(content: object) -> str:
    """Return the text of a turn's content; a part that is no text is named, which no critic reads."""
    if not is_list(content):
        return str(content or "")
    parts = [part if is_object(part) else {"type": "text", "text": part} for part in content]
    return "".join(str(part["text"]) if "text" in part else f"[{part.get('type')}]" for part in parts)


def reward(judged: Judgement, format_: str, pays: Pays = "strict") -> float | None:
    """Return what a verdict on an attempt of a format is worth; None: unknown, to be masked."""
    if judged.verdict in UNKNOWN:
        return None
    return float(judged.is_strict and (pays == "strict" or judged.is_explicit(format_)))


class RewardedAttempt(TypedDict):
    """An attempt with its verdict, its certificate and what it was paid."""

    id: str
    problem: object
    format: str
    completion: str
    prompt: str
    judgement: Any
    reward: float | None


class CertifiedReward:
    """A reward function as TRL's GRPOTrainer and RLOOTrainer call it.

    The dataset has the columns of `rows`. `record` is called with each judged attempt, so that a run can show what
    every reward rests on. With `thoughts="ignored"` the trainer must be `credited`, or thoughts are learnt unjudged.
    """

    __name__ = "certified"

    def __init__(
        self,
        judge: Judging,
        record: Callable[[RewardedAttempt], None] = lambda _: None,
        thoughts: Thoughts = "judged",
        pays: Pays = "strict",
    ) -> None:
        self._judge = judge
        self._record = record
        self._calls = 0
        self._pays: Pays = pays
        self.thoughts: Thoughts = thoughts
        self.bad_starts: list[int | None] = []
        """Places at which the first bad steps of the last call's attempts begin; None where none is known."""
        self.are_thinking: list[bool] = []
        """For each of them, True where it thinks aloud before its reply."""

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Return one reward a completion; raises `InputError` where a column is missing."""
        if missing := next((name for name in COLUMNS if name not in columns), None):
            raise InputError(f"reward: the dataset has no column {missing!r}; make it with training.rewards.rows")
        self._calls += 1
        told = list(map(said_in, completions))
        given = zip(columns["problem"], columns["format"], told, strict=True)
        attempts = [
            {
                "id": f"{self._calls}/{number}",
                "problem": json.loads(problem),
                "format": format_,
                "completion": said.judged(self.thoughts),
            }
            for number, (problem, format_, said) in enumerate(given)
        ]
        rewards: list[float | None] = []
        self.bad_starts, self.are_thinking = [], [bool(said.thoughts) for said in told]
        for attempt, prompt, said, verdict in zip(attempts, prompts, told, self._judge(attempts), strict=True):
            rewards.append(reward(read_judgement(verdict), attempt["format"], self._pays))
            is_located = rewards[-1] == 0 and (self.thoughts == "ignored" or not said.thoughts)
            start = bad_start(read_attempt(attempt), read_verdict(verdict)) if is_located else None
            self.bad_starts.append(None if start is None else start + said.start)
            asked = prompt if isinstance(prompt, str) else "\n".join(_content(turn.get("content")) for turn in prompt)
            told = {**attempt, "prompt": asked, "judgement": verdict, "reward": rewards[-1]}
            self._record(cast("RewardedAttempt", told))
        return rewards


@cache
def _critics() -> JudgePool:
    closing = ExitStack()
    atexit.register(closing.close)
    return closing.enter_context(JudgePool(jobs=int(os.environ.get("CERTISTAR_JOBS", "1"))))


def certified(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
    """Return rewards by critics of this process, for TRL's own scripts: `training.rewards.certified.certified`.

    `CERTISTAR_JOBS` says how many processes judge (1); `CERTISTAR_TRACES` names a file to which every attempt is added
    with its verdict and certificate (of several training processes one each, with its rank in the name).
    """
    return _paid("strict", prompts, completions, columns)


def explicit(prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
    """Return rewards as `certified` does, for texts that also say the premises of each step before it."""
    return _paid("explicit", prompts, completions, columns)


def _paid(pays: Pays, prompts: Sequence[Any], completions: Sequence[Any], columns: Any) -> list[float | None]:
    path, rank = os.environ.get("CERTISTAR_TRACES"), os.environ.get("RANK", "0")
    shown: list[RewardedAttempt] = []
    rewards = CertifiedReward(_critics().judge, shown.append, pays=pays)(prompts, completions, **columns)
    if path is not None:
        own = Path(path) if rank == "0" else Path(path).with_stem(f"{Path(path).stem}-{rank}")
        with own.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(trace, ensure_ascii=False) + "\n" for trace in shown)
    return rewards


class RewardRow(TypedDict):
    """A row that TRL trains on: the prompt, and the columns that the reward reads."""

    prompt: object
    problem: str
    format: str


def rows(problems: Iterable[Problem], prompt: Callable[[Problem], Any], format_: str) -> Iterator[RewardRow]:
    """Yield what TRL trains on.

    A problem is JSON text, since a table of nested records would fill in keys that a problem does not have.
    """
    for problem in problems:
        yield {"prompt": prompt(problem), "problem": json.dumps(problem.record()), "format": format_}


def rewarded_problems(source: "ProblemsConfig", num: int, split: "Split", seed: int) -> list[Problem]:
    """Return `num` problems to reward attempts at; raises `InputError` where one has no answer."""
    from training.rounds.problems import load_problems

    if source.source is None:
        found = list(source.generate(split, num, seed=seed))
    else:
        found = list(islice(load_problems(Path(source.source), source.named_dataset, source.answers), num))
    unanswered = [problem.id for problem in found if problem.answer is None]
    if unanswered:
        raise InputError(f"problem {unanswered[0]!r}: has no answer, and an attempt would be rewarded for any proof")
    return found


def reward_rows(path: Path, format_: str | None) -> list[RewardRow]:
    """Return what TRL's scripts train on for the problems of a file: a chat prompt, and what the reward reads."""
    from rollout.prompts.prompt import messages
    from rollout.prompts.style import PromptStyle
    from training.configuration.problems import ProblemsConfig

    asked = format_ or COT
    if asked != COT and asked != GUIDED:
        raise InputError(f"--format {format_!r}: write cot, for sentences, or guided")
    found = rewarded_problems(ProblemsConfig(file=str(path)), 10**9, "train", 0)
    return list(rows(found, lambda problem: messages(problem, PromptStyle("chat", 0, asked)), asked))


def bad_start(attempt: Attempt, verdict: Verdict) -> int | None:
    """Return where the first bad step begins, in characters of the completion; None where none is known."""
    bad = verdict.first_bad_step
    if isinstance(verdict, Certified) or verdict.coverage is None or (bad is not None and bad.reason in UNDECIDED):
        return None
    steps = find_format(attempt.format).steps(attempt.problem, attempt.completion)
    at = bad_place(verdict, steps)
    return None if at is None or at >= len(steps) else steps[at].start


def tokens_before(ids: Sequence[int], start: int, decode: Callable[[Sequence[int]], str]) -> int:
    """Return how many tokens end at or before a character; one that straddles it belongs to what follows."""
    for num in range(1, len(ids) + 1):
        if len(decode(ids[:num])) > start:
            return num - 1
    return len(ids)


def credited(trainer: Any, credit: Credit = "first_bad_step") -> Any:
    """Return a TRL GRPO trainer class that gives advantages to the tokens that they are about.

    Negative ones begin at the first bad step, if `credit` says so, and ignored thoughts have none. The trainer's one
    reward function is a `CertifiedReward`, which knows the places. TRL computes its loss for advantages of each token
    where a subclass gives them so; rewards, baselines and the loss stay as they are.
    """

    class Credited(trainer):
        def _generate_and_score_completions(self, inputs: Any) -> Any:
            decode = self.processing_class.decode
            decoded, spelled = (partial(decode, skip_special_tokens=skip) for skip in (True, False))
            made: Any = trainer._generate_and_score_completions(self, inputs)
            ids, mask, paid = made["completion_ids"], made["completion_mask"], self.reward_funcs[0]
            spread: Any = made["advantages"].unsqueeze(1).repeat(1, ids.size(1))
            for row, (start, is_thinking) in enumerate(zip(paid.bad_starts, paid.are_thinking, strict=True)):
                said = ids[row][mask[row].bool()].tolist()
                if is_thinking and paid.thoughts == "ignored":
                    # Attack: falsehoods in a thought, learnt because the reply behind it is proved.
                    begins = reply_start(spelled(said))
                    spread[row, : tokens_before(said, begins, spelled) if begins else None] = 0
                if start is not None and made["advantages"][row] < 0 and credit == "first_bad_step":
                    spread[row, : tokens_before(said, start, decoded)] = 0
            return {**made, "advantages": spread}

    return Credited
