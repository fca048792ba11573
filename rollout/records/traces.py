"""Traces: everything that one attempt read and wrote, what it was sampled with, and what a critic said of it.

`Trace` is the one form of an attempt in memory, from the policy to the report. JSON is read by `read_trace` and written
by `Trace.record`, where files are read and written and nowhere else.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, get_args

from critics.formats.names import COT, ENGLISH
from critics.problem import Problem, RecordError, is_object, read_attempt
from critics.replay.grades import STRICT, Grade, grade_of
from critics.verdict import VERDICTS
from rollout.records.digests import PolicyDigests, ServerUse, read_digests
from rollout.records.sampling import Decoding, Sampling, Switches
from rollout.records.steps import DialogTurn, Ending, Leg, ProgramStep, RunReview, Step, read_steps, versions

GRADE = "grade"
"""Key of a judgement whose certificate was left out."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Critic's verdict on a trace, as a file keeps it: a certificate may have been left out to save memory."""

    verdict: str
    reason: str
    answer: str | None
    feedback: str
    certificate: Mapping[str, Any] | None = None
    others: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Keys that only some critics add, in JSON."""

    @property
    def is_certified(self) -> bool:
        """True if the critic certified the attempt."""
        return self.verdict == "certified"

    @property
    def grade(self) -> Grade | None:
        """On whose word the formulas say what the text says; None where nothing is certified, or it was not kept."""
        if self.certificate is None or not self.is_certified:
            return self.others.get(GRADE)
        word, source = self.certificate["formalisation"], self.certificate["evidence"].get("reference")
        return word if source is None else grade_of(word, source)

    @property
    def is_strict(self) -> bool:
        """True if somebody beside the model vouches for what is proved, and its text holds nothing but that.

        Attack: a proof, and falsehoods beside it in words that the reader of the data set's language cannot read.
        """
        return self.is_certified and self.grade in STRICT and not self.unread

    def is_explicit(self, format_: str) -> bool:
        """Say whether each step's premises were said before it; guided texts and programs state all that they use."""
        return self.others.get("explicit", format_ not in (ENGLISH, COT)) is True

    @property
    def unread(self) -> tuple[tuple[int, int], ...]:
        """The stretches of the text behind which nothing stands, and which are no filler."""
        return tuple((s["start"], s["end"]) for s in self.others.get("spans") or () if s["kind"] == "unread")

    def without_certificate(self) -> "Judgement":
        """Return it with the grade in the certificate's place: thousands of certificates fill the memory."""
        return replace(self, certificate=None, others={**self.others, GRADE: self.grade})

    @property
    def digest(self) -> str | None:
        """Digest of the certificate."""
        return None if self.certificate is None else self.certificate["digest"]

    def record(self, trace_id: str) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "id": trace_id,
            "verdict": self.verdict,
            "reason": self.reason,
            "answer": self.answer,
            "feedback": self.feedback,
            "certificate": self.certificate,
            **self.others,
        }


@dataclass(frozen=True, slots=True)
class BackupAnswer:
    """Answer that was had otherwise where no program gave one; it is no answer of the program's."""

    kind: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class Trace:
    """One attempt with all that is needed to judge it, to train on it, or to write it again."""

    id: str
    problem: Problem
    format: str
    completion: str
    """Text that a critic judges; of a dialog the last reply."""
    prompt: str | None = None
    """Text that was read before it; None for a strategy whose steps hold their own prompts, and where nobody says."""
    completion_ids: tuple[int, ...] = ()
    """As the policy wrote them; empty where they do not spell the completion or nobody says."""
    finished: bool = True
    """False where the token limit cut the completion off."""
    sample: int = 0
    seed: int = 0
    hint: bool = False
    """True if the prompt for sampling gave the answer away (rationalisation); `prompt` never does."""
    sampling: Sampling | None = None
    """None for an attempt that was not sampled here: a demonstration, or somebody else's text."""
    policy: PolicyDigests | None = None
    strategy: Mapping[str, Any] | None = None
    """Settings of a strategy of several requests, in JSON; None for one request."""
    messages: tuple[Mapping[str, str], ...] = ()
    """Messages of a dialog; they end with the actor's last turn."""
    steps: tuple[Step, ...] = ()
    """Steps of a strategy of several requests, in order; empty for one request."""
    ending: Ending | None = None
    """Ending of a round trip."""
    backup: BackupAnswer | None = None
    server: ServerUse | None = None
    """Use of a server: how it was asked for the completion, and the cost; None where no server wrote it."""
    forced: tuple[int, ...] = ()
    """Positions in `completion_ids` that were forced, so that no model was asked for them (`Switches.jump_forward`)."""
    log_probabilities: tuple[float, ...] = ()
    """Log-probability of each of `completion_ids` under the model without any mask; empty where not asked for."""
    thoughts: str = ""
    """The whole text, where thoughts were taken out of the completion; `completion_ids` are then empty."""
    derived_from: str | None = None
    """Id of the trace that this one was made of."""
    by: str | None = None
    """Name of the step that made it of that one: proved."""
    sampled: str = ""
    """The text as it was sampled, where `completion` is what is proved of it; nothing judges it."""
    judgement: Judgement | None = None

    @property
    def turns(self) -> tuple[DialogTurn, ...]:
        """Turns of a dialog, one for each assistant message; empty for anything else."""
        return tuple(step for step in self.steps if isinstance(step, DialogTurn))

    @property
    def legs(self) -> tuple[Leg, ...]:
        """Legs of a round trip, two for each round; empty for anything else. The last round may lack its second one."""
        return tuple(step for step in self.steps if isinstance(step, Leg))

    @property
    def program_steps(self) -> tuple[ProgramStep, ...]:
        """Steps that led to a solver program; empty for anything else."""
        return tuple(step for step in self.steps if isinstance(step, ProgramStep))

    @property
    def review(self) -> RunReview | None:
        """Review of the last version of a solver program; None for anything else."""
        return versions(self.program_steps)[-1].review if self.program_steps else None

    @property
    def judged(self) -> Judgement:
        """The judgement of a trace that is known to have one; raises `RecordError` where it has none."""
        if self.judgement is None:
            raise RecordError(f"trace {self.id}: it has no judgement; run `certistar judge` first")
        return self.judgement

    @property
    def num_tokens(self) -> int:
        """Number of tokens that the policy wrote, in all steps."""
        if self.turns or self.legs:
            return sum(len(step.completion_ids) for step in (*self.turns, *self.legs))
        return len(self.completion_ids)

    @property
    def provenance(self) -> dict[str, str | None]:
        """Origin: the trace that it was made of, and the step; nothing for a trace that was sampled."""
        return {} if self.derived_from is None else {"derived_from": self.derived_from, "by": self.by}

    def record(self) -> dict[str, Any]:
        """Return the JSON form: the attempt first, everything else beside it."""
        said = {"messages": list(map(dict, self.messages))} if self.messages else {"completion": self.completion}
        is_whole = self.prompt is not None and self.sampling is not None
        has_ids = bool(self.completion_ids) or is_whole or self.derived_from is not None
        return {
            "id": self.id,
            "problem": self.problem.record(),
            "format": self.format,
            **said,
            **({} if self.prompt is None else {"prompt": self.prompt}),
            **({"completion_ids": list(self.completion_ids)} if has_ids else {}),
            **self._sampled(),
            **self.provenance,
            **({"sampled": self.sampled} if self.sampled else {}),
            **({} if self.judgement is None else {"judgement": self.judgement.record(self.id)}),
        }

    def _sampled(self) -> dict[str, Any]:
        if self.sampling is None or self.policy is None:
            whose = {} if self.policy is None else {"policy": self.policy.record()}
            return whose if self.finished else {"finished": False, **whose}
        backup = None if self.backup is None else asdict(self.backup)
        return {
            **({"steps": [step.record() for step in self.steps]} if self.steps else {}),
            **({} if self.ending is None else {"ending": self.ending}),
            "finished": self.finished,
            **({"accepted": self.turns[-1].is_accepted} if self.turns else {}),
            **({} if self.review is None else {"review": self.review.record(), "backup": backup}),
            "sample": self.sample,
            "hint": self.hint,
            "seed": self.seed,
            **({} if self.strategy is None else {"strategy": dict(self.strategy)}),
            "sampling": self.sampling.record(),
            "policy": self.policy.record(),
            **({} if self.server is None else {"server": dict(self.server)}),
            **({"forced": list(self.forced)} if self.sampling.switches.jump_forward else {}),
            **({"log_probabilities": list(self.log_probabilities)} if self.log_probabilities else {}),
            **({"thoughts": self.thoughts} if self.thoughts else {}),
        }


def with_judgement(trace: Trace, verdict: Mapping[str, Any]) -> Trace:
    """Return the trace with a verdict record as its judgement."""
    return replace(trace, judgement=read_judgement(verdict))


def read_trace(record: Mapping[str, Any]) -> Trace:
    """Build a trace from its JSON form: a stored trace, or a bare attempt with or without a judgement.

    Raises `RecordError` naming the trace where it is no attempt or a part of it has the wrong shape.
    """
    attempt = read_attempt(record)
    try:
        sampling, policy, backup, judgement = (record.get(k) for k in ("sampling", "policy", "backup", "judgement"))
        is_dialog = record.get("completion") is None
        return Trace(
            *(attempt.id, attempt.problem, attempt.format, attempt.completion),
            prompt=record.get("prompt"),
            completion_ids=tuple(record.get("completion_ids") or ()),
            finished=record.get("finished") is not False,
            sample=record.get("sample") or 0,
            seed=record.get("seed") or 0,
            hint=bool(record.get("hint")),
            sampling=_sampling(sampling) if is_object(sampling) else None,
            policy=read_digests(policy) if is_object(policy) else None,
            strategy=record.get("strategy"),
            messages=tuple(record["messages"]) if is_dialog else (),
            steps=read_steps(record.get("steps")),
            ending=record.get("ending"),
            backup=BackupAnswer(backup["kind"], backup["answer"]) if is_object(backup) else None,
            server=record.get("server"),
            forced=tuple(record.get("forced") or ()),
            log_probabilities=tuple(record.get("log_probabilities") or ()),
            thoughts=record.get("thoughts") or "",
            derived_from=record.get("derived_from"),
            by=record.get("by"),
            sampled=record.get("sampled") or "",
            judgement=read_judgement(judgement) if is_object(judgement) else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"trace {attempt.id}: it is not what a rollout writes ({error!r})") from error


def _sampling(record: Mapping[str, Any]) -> Sampling:
    if record["decoding"] not in get_args(Decoding):
        raise ValueError(f"sampling.decoding: {record['decoding']!r}")
    on = {f.name: True for f in fields(Switches) if record.get(f.name)}
    return Sampling(
        record["decoding"],
        record.get("temperature", 1.0),
        max_new_tokens=record.get("max_new_tokens", 256),
        conclusion=record.get("conclusion", "free"),
        guide=record.get("guide", "logic"),
        max_sentences=record.get("max_sentences"),
        switches=Switches(**on),
    )


def read_judgement(record: Mapping[str, Any]) -> Judgement:
    """Build a judgement from a verdict's JSON form; raises `KeyError` or `ValueError` where it is none."""
    if record["verdict"] not in VERDICTS:
        raise ValueError(f"judgement.verdict: {record['verdict']!r}")
    others = {key: value for key, value in record.items() if key not in _OF_VERDICTS}
    return Judgement(
        record["verdict"],
        record.get("reason") or "",
        record.get("answer"),
        record.get("feedback") or "",
        record.get("certificate"),
        others,
    )


_OF_VERDICTS = ("id", "verdict", "reason", "answer", "feedback", "certificate")
