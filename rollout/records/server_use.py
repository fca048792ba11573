"""Use of a server for one completion, as a trace keeps it."""

from typing import Any, TypedDict


class ServerUse(TypedDict, total=False):
    """Use of a server: how it was asked for a completion, and what that cost, in JSON (`rollout.servers.author`)."""

    kind: str
    model: str
    constraint: str
    spelling: str | None
    stops: str
    continues: bool
    refused: list[str]
    top_p: float | None
    seeded: bool
    dropped: list[str]
    max_violations: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    uncounted: int
    violations: int
    apologies: int
    restarts: int
    ended: str | None
    extra_body: dict[str, object]
    logprobs: list[list[Any]]
    log_probability: float
