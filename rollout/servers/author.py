"""One attempt, written by a server: under the guide itself where the server has this project's plug-in.

Else replies are taken whole and cut where they first violate the guide, and the next request goes on from there: the
rejection-based decoding of Poesia et al. (Synchromesh, 2022) as LogicGuide's paper adapts it in appendix D.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from rollout.decoding.guide import Guide
from rollout.engines.wire import WiredRequest
from rollout.guides.catalogue import GuideRecipe, recipe_of
from rollout.records.digests import ServerUse
from rollout.records.sampling import Sampling, derived_seed
from rollout.servers.attempt import GuidedText, resumed
from rollout.servers.connection import (
    Connection,
    Messages,
    RequestFields,
    RequestRefused,
    ServerFault,
    ServerReply,
    ServerRequest,
    Tally,
)
from rollout.servers.scoring import own_score

_QUOTED = "qzj kwv xq.]]"
_PROBE = WiredRequest(GuideRecipe("quote", Problem("probe", "probe", _QUOTED.removesuffix("]]"), "")), "[[quote:", 48)
"""A guide within a block that leaves one text, which no model would write by itself."""
_PROBE_SEED = 20230704
_SPELLINGS: Mapping[str, Callable[[str], RequestFields]] = {
    "structured_outputs.grammar": lambda spec: {"structured_outputs": {"grammar": spec}},  # vLLM
    "ebnf": lambda spec: {"ebnf": spec},  # SGLang
}
_GREEDY_PATIENCE = 2
"""Violations without progress after which a greedy server is not asked the same again."""


@dataclass(frozen=True, slots=True)
class Capability:
    """Ways of a server to hold a text to its guide, as its replies have shown."""

    spelling: str | None = None
    """The field in which its plug-in takes a guide; None: replies are cut."""
    refused: tuple[str, ...] = ()
    """Fields that were tried in vain, with the reason."""

    def record(self) -> ServerUse:
        """Return the JSON form for a trace."""
        way = "rejection" if self.spelling is None else "guide"
        return {"constraint": way, "spelling": self.spelling, "refused": list(self.refused)}

    def fields(self, spec: str) -> RequestFields:
        """Return the fields of a request under a guide."""
        assert self.spelling is not None
        return _SPELLINGS[self.spelling](spec)


async def probed(connection: Connection, tally: Tally) -> Capability:
    """Return how a server is held to guides: one that ignores a field still answers, so it is asked for a certain text.

    Raises `InputError` where it lacks the way that its settings ask for.
    """
    settings = connection.settings
    if settings.constraint == "rejection":
        return Capability()
    asked = "Count from one to twenty in words."
    prompt = [{"role": "user", "content": asked}] if settings.kind == "chat" else f"{asked}\n"
    plain = ServerRequest(prompt, max_tokens=1, seed=_PROBE_SEED)
    await connection.ask(plain, tally)  # first, because a plain request shows which fields are not known
    refused: list[str] = []
    for spelling in _SPELLINGS:
        found = Capability(spelling, tuple(refused))
        try:
            request = ServerRequest(prompt, max_tokens=48, seed=_PROBE_SEED, fields=found.fields(_PROBE.spec()))
            if (await connection.ask(request, tally)).text.startswith(_QUOTED):
                return found
            refused.append(f"{spelling}: ignored")
        except RequestRefused:
            refused.append(f"{spelling}: refused")
        except ServerFault:
            refused.append(f"{spelling}: failed")
    if settings.constraint == "guide":
        raise InputError(
            f"{settings.base_url}: model {settings.model!r} has no plug-in of certistar that holds it to guides "
            f"({'; '.join(refused)}); install certistar there, or set model.server.constraint to auto"
        )
    return Capability(refused=tuple(refused))


@dataclass
class Author:
    """Writes one attempt; use it once."""

    connection: Connection
    capability: Capability
    eos_ids: list[int]
    """Every token that ends a text of the served model; empty where no tokenizer says it."""
    prompt: str | Messages
    guide: Guide | None
    seed: int
    sampling: Sampling
    stop: str = ""
    tally: Tally = field(default_factory=Tally)
    violations: int = 0
    apologies: int = 0
    restarts: int = 0
    own_score: float | None = None
    """The log-probability of a text written at one go, where the server gives it."""
    _stuck: int = 0

    def __post_init__(self) -> None:
        self.attempt = GuidedText(self.guide)
        in_server = self.guide is not None and self.capability.spelling is not None
        self._recipe = recipe_of(self.guide) if self.guide is not None and in_server else None
        """What the server makes the guide of, where it can."""

    async def write(self) -> GuidedText:
        """Return the attempt when it has ended: of itself, by the token limit or by too many violations."""
        while self.attempt.ended is None:
            if self._room <= 0:
                self.attempt.ended = "length"
            elif self._recipe is not None:
                await self._guided(self._recipe)
            elif not (self.attempt.is_held and self.attempt.force()):
                await self._free()
        return self.attempt

    def record(self) -> ServerUse:
        """Return what a trace keeps of how the attempt was written, and of what it cost."""
        settings = self.connection.settings
        record: ServerUse = {"kind": settings.kind, "model": settings.model}
        if self.guide is not None:
            record.update(self.capability.record())
        record.update(
            {
                "top_p": None if "top_p" in self.connection.dropped else 1.0,
                "seeded": "seed" not in self.connection.dropped,
                "dropped": sorted(self.connection.dropped),
                "max_violations": settings.max_violations,
                "calls": self.tally.calls,
                "prompt_tokens": self.tally.prompt_tokens,
                "completion_tokens": self.tally.completion_tokens,
                "uncounted": self.tally.uncounted,
                "violations": self.violations,
                "apologies": self.apologies,
                "restarts": self.restarts,
                "ended": self.attempt.ended,
            }
        )
        if settings.extra_body:
            record["extra_body"] = dict(settings.extra_body)
        if settings.logprobs:
            record["logprobs"] = [list(scored) for scored in self.attempt.scored]
            if self.own_score is not None:
                record["log_probability"] = self.own_score
        return record

    @property
    def _room(self) -> int:
        return self.sampling.max_new_tokens - self.attempt.num_tokens

    async def _guided(self, recipe: GuideRecipe) -> None:
        """Have the whole text written under its guide, which the server's plug-in makes."""
        eos_ids = self.eos_ids
        request = WiredRequest(recipe, self.attempt.text, self._room, self.sampling.switches.fit_blocks, tuple(eos_ids))
        ends = {"stop_token_ids": eos_ids, "ignore_eos": True} if eos_ids else {}
        reply = await self._ask({**self.capability.fields(request.spec()), **ends})
        if self._take(self._unstopped(reply.text), reply):
            if self.attempt.ended is None:
                self._ended_by_model(reply)
        elif reply.finish == "length":  # within a character of several bytes
            self.attempt.ended = "length"
        else:
            raise RunFailed(
                f"{self.connection.settings.base_url}: its plug-in let through what the guide refuses, behind "
                f"{self.attempt.text[-40:]!r}; install there the version of certistar that is here"
            )

    async def _free(self) -> None:
        """Let the server write, and keep what the guide lets through."""
        reply = await self._ask()
        text = self._unstopped(reply.text)
        if not isinstance(self.prompt, str):
            read = resumed(self.attempt.text, text)
            self.apologies += read.apologised
            self.restarts += read.restarted
            if read.restarted or (read.apologised and not read.text):
                self._violated(kept=False)
                return
            text = read.text
        if self._take(text, reply) and self.attempt.ended is None:
            self._ended_by_model(reply)

    def _take(self, text: str, reply: ServerReply) -> bool:
        """Append a reply; return False, and count a violation, where it is cut."""
        before = len(self.attempt.text)
        self.own_score = own_score(reply) if before == 0 and self.guide is None else None
        good = self.attempt.take(text, num_tokens=reply.completion_tokens, scored=reply.logprobs)
        if good:
            self._stuck = 0
        else:
            self._violated(kept=len(self.attempt.text) > before)
        return good

    def _ended_by_model(self, reply: ServerReply) -> None:
        if reply.finish == "length":
            self.attempt.ended = "length"
        elif self.attempt.is_held:  # it stopped within a block: it has to finish it
            self._violated(kept=bool(reply.text))
        else:
            self.attempt.ended = reply.finish

    def _unstopped(self, text: str) -> str:
        """Return a reply's text before the stop string, which some servers show."""
        return text.partition(self.stop)[0] if self.stop else text

    async def _ask(self, fields: RequestFields | None = None) -> ServerReply:
        question = ServerRequest(
            self.prompt,
            self.attempt.text,
            max_tokens=self._room,
            temperature=self.sampling.temperature,
            # 31 bits are what every server takes; each call draws anew, or a retry would repeat its violation.
            seed=derived_seed(self.seed, self.tally.calls) >> 32,
            stop=(self.stop,) if self.stop else (),
            fields=fields or {},
        )
        return await self.connection.ask(question, self.tally)

    def _violated(self, *, kept: bool) -> None:
        self.violations += 1
        self._stuck = 0 if kept else self._stuck + 1
        same_again = self.sampling.temperature == 0 and self._stuck > _GREEDY_PATIENCE
        if self.attempt.ended is None and (self.violations >= self.connection.settings.max_violations or same_again):
            self.attempt.ended = "violations"
