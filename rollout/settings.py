"""Settings of strategies and servers, as a configuration writes them, apart from what they set."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from critics.formats.names import Programmed

FeedbackDepth = Literal["compile", "tests", "strict"]
"""Reach of the critic's feedback: to a consistent program; to tests that pass; to tests that could fail and premises
that are all there, which is as far as it can go without judging the answer."""
ProgramDepth = Literal["execution", "strict"]
"""Reach of feedback: to a program that answers, as in both papers; or to one whose answer could be certified, which is
all that can be said without the gold answer."""
Prototyper = Literal["majority", "coder-reviewer", "coder-reviewer-own", "random"]
Refiner = Literal["implicit", "consistency", "error-feedback", "semantic", "self-check"]
Backup = Literal["llm", "random", "none"]
Way = Literal["guide", "rejection"]
"""guide: the server's plug-in, `rollout.engines`, holds the text to its guide. rejection: replies are cut where they
first violate it, and gone on with."""
MAX_RETRIES = 4
"""As in the paper, whose curves are flat from two on."""
MAX_ROUNDS = 10
PUBLISHED = {
    "samples": 10,
    "prototypers": ("majority", "coder-reviewer"),
    "refiners": ("implicit", "consistency", "error-feedback"),
    "backup": "llm",
}
"""Settings of Prototype-then-Refine: majority vote, else reranking; three refiners; the model's own answer last."""


class Settings(BaseModel):
    """Frozen settings, closed to keys that they do not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class DialogSettings(Settings):
    """Settings of a dialog: how an actor is asked, and how far the critic's feedback goes."""

    name: Literal["actor-critic"] = "actor-critic"
    tests: bool = True
    """The actor writes tests (table 1 of LLM-ARC)."""
    guidelines: bool = True
    """It reads how tests are written for each logic class (table 2)."""
    examples: Literal[0, 8, 20] = 8
    """Solved examples that the base model reads; a trained actor reads none."""
    instructions: bool = True
    """false: the actor reads the statements alone, because it was trained from scratch to do nothing else; it is told
    of three failing tests at a time, as it was trained."""
    max_retries: Annotated[int, Field(ge=0, le=MAX_RETRIES)] = MAX_RETRIES
    """For each portion of a problem."""
    max_refusals: Annotated[int, Field(ge=0)] = 1
    """Refused turns of a portion that cost no retry; more are retries like others. 0 where two strategies are compared
    at the same number of turns."""
    depth: FeedbackDepth = "tests"
    history: Literal["whole", "last", "none"] = "whole"
    """The part of the dialog that the actor reads: all of it; its last reply and what was said to it; or the request
    alone, which is plain resampling with the same budget, the control beside retries with feedback."""
    portion_size: Annotated[int, Field(gt=0)] | None = None
    """Statements in one portion of a long problem. null: the whole problem at once."""

    @model_validator(mode="after")
    def _has_tests_to_speak_of(self) -> Self:
        if self.depth != "compile" and not self.tests:
            raise ValueError(f"depth: {self.depth!r} needs tests; set depth to 'compile' or tests to true")
        return self

    def trained(self) -> Self:
        """Return the settings of an actor that was trained on such dialogs: without examples (section 4.1)."""
        return self.model_copy(update={"examples": 0})

    def record(self) -> dict[str, JsonValue]:
        """Return the JSON form."""
        own = DialogSettings.model_fields.keys() - {"instructions"}
        return {**self.model_dump(include=own), **({} if self.instructions else {"instructions": False})}


class ProgramSettings(Settings):
    """Settings of programs: how they are asked for, chosen and mended (docs/programs-strategies.md)."""

    name: Literal["translate-and-refine", "prototype-then-refine"] = "translate-and-refine"
    language: Programmed | None = None
    """null: that of the problem's data set (`rollout.programs.prompt.FORMATS`)."""
    examples: Annotated[int, Field(ge=0)] = 2
    """Solved examples that the base model reads, two as in Deng et al.; a trained translator reads none."""
    samples: Annotated[int, Field(gt=0)] = 1
    """Programs sampled before one is chosen; ten in Prototype-then-Refine."""
    prototypers: tuple[Prototyper, ...] = ()
    """Asked in their order until one chooses: majority, coder-reviewer, coder-reviewer-own, random."""
    refiners: tuple[Refiner, ...] = ("error-feedback",)
    """Applied in their order: implicit, consistency, error-feedback, semantic, self-check."""
    max_rounds: Annotated[int, Field(ge=0)] = 4
    """Most rounds of a refiner, which goes on while it has something to say, as in Prototype-then-Refine."""
    backup: Backup = "none"
    """llm, random or none: the answer where no program gives one, recorded apart and never the program's."""
    depth: ProgramDepth = "execution"
    """Reach of feedback: to a program that runs, or to one that a certificate could be had for."""

    @model_validator(mode="before")
    @classmethod
    def _with_published(cls, given: Any) -> Any:
        """Give prototype-then-refine the settings of Prototype-then-Refine where nothing else is said."""
        is_named = isinstance(given, dict) and cast("Any", given).get("name") == "prototype-then-refine"
        return dict(PUBLISHED, **cast("Any", given)) if is_named else cast("Any", given)

    def trained(self) -> Self:
        """Return the settings of a translator that was trained on its own programs: without examples."""
        return self.model_copy(update={"examples": 0})

    def record(self) -> dict[str, JsonValue]:
        """Return the JSON form."""
        record = self.model_dump(mode="json", include=ProgramSettings.model_fields.keys() - {"language"})
        named = {{"examples": "num_examples", "samples": "num_samples"}.get(key, key): record[key] for key in record}
        return {**named, "constrained": False}


class RoundTripSettings(Settings):
    """Settings of round trips: a formula into words, and from the words alone into a formula."""

    name: Literal["round-trip"] = "round-trip"
    prompt: Literal["bare", "zero-shot", "few-shot"] = "zero-shot"
    """bare: for models that were trained on both directions; few-shot: two solved examples a language, as in the
    paper."""
    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] = 1
    """The n of (A o I)^n; with more than one, each describes the formula that the one before came to. Only trips of one
    round teach: more are for `certistar evaluate`."""
    leaks: Literal["end", "count"] = "end"
    """end: a description that copies the formula ends its trip. count: it goes on, to measure what leaks are worth."""

    def record(self) -> dict[str, JsonValue]:
        """Return the JSON form."""
        return self.model_dump(include=set(RoundTripSettings.model_fields))


class ServerSettings(Settings):
    """A server that speaks OpenAI's protocol; docs/servers.md has the command lines of vLLM, SGLang and others."""

    base_url: str
    """Up to and including `/v1`. Keys and passwords come from the environment and have no place in it."""
    model: str
    """The name under which the server knows the model."""
    kind: Literal["completions", "chat"] = "completions"
    """completions: the prompt is text and the model goes on with it, which guides need least help for."""
    key_variable: str | None = None
    """The environment variable that holds the key. null: OPENAI_API_KEY where that is set."""
    constraint: Literal["auto"] | Way = "auto"
    """Way in which text is held to its guide. auto: by the server's plug-in where it has it."""
    max_violations: Annotated[int, Field(gt=0)] = 20
    """An attempt with so many is given up, as in LogicGuide's paper, appendix D."""
    parallel: Annotated[int, Field(gt=0)] = 16
    """Attempts written at once."""
    retries: Annotated[int, Field(ge=0)] = 5
    timeout_s: Annotated[float, Field(gt=0)] = 600
    logprobs: bool = False
    """Keep the log-probabilities of the tokens where the server gives them."""
    extra_body: Mapping[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Further fields of every request, such as a server's own sampling parameters; kept in the traces."""

    @model_validator(mode="after")
    def _holds_no_secret(self) -> Self:
        address = urlsplit(self.base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(
                f"base_url: {self.base_url.rpartition('@')[2]!r} is no address such as http://host:8000/v1"
            )
        if address.username or address.password or address.query:
            raise ValueError("base_url: leave keys and passwords out; name the variable that has them in key_variable")
        return self
