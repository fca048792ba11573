"""Formulas of other people's rationales from a model behind a server, asked with the standard library alone."""

import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from rollout.records.traces import Trace
from rollout.settings import ServerSettings
from rollout.strategies.formalisation import FORMAT, formalised, request
from training.logs import tracked

MOST_TOKENS = 2048
"""Room for the formulas of a long text; a reply that needs more is cut off, and not used."""


def server_of(told: str) -> ServerSettings | None:
    """Return the server that `NAME@http://host/v1` says; None where it names a file."""
    name, _, address = told.partition("@")
    if not address.startswith(("http://", "https://")):
        if told.startswith(("http:", "https:")):
            raise InputError(f"--formalise {told}: say which model of the server, as in NAME@{told}")
        return None
    return ServerSettings(base_url=address, model=name, kind="chat")


def served(server: ServerSettings, problems: Sequence[Problem], work: Path) -> Iterator[Trace]:
    """Yield the texts with the server's formulas, in order; replies that `work` holds already are not asked again."""
    known = _read(work)
    with ThreadPoolExecutor(server.parallel) as pool, work.open("a", encoding="utf-8") as file:
        # By all that is asked: another model, or another table, may be filtered to the same folder.
        named = [(sha256(body).hexdigest(), body) for body in (_request(server, problem) for problem in problems)]
        asked = {name: pool.submit(_reply, server, body) for name, body in named if name not in known}
        for problem, (name, _) in tracked(zip(problems, named, strict=True), total=len(named), what="formalising"):
            if name not in known:
                known[name] = asked[name].result()
                file.write(f"{json.dumps([name, *known[name]])}\n")
                file.flush()
            text, finished = known[name]
            yield formalised(Trace(problem.id, problem, FORMAT, text, finished=finished))


def _read(work: Path) -> dict[str, tuple[str, bool]]:
    """Return what an interrupted call was told; its last line may be half a line."""
    lines = work.read_text(encoding="utf-8").split("\n")[:-1] if work.is_file() else []
    return {name: (text, finished) for name, text, finished in map(json.loads, lines)}


def _request(server: ServerSettings, problem: Problem) -> bytes:
    asked = {"model": server.model, "messages": request(problem), "temperature": 0, "max_tokens": MOST_TOKENS}
    return json.dumps({**asked, **server.extra_body}).encode()


def _reply(server: ServerSettings, body: bytes) -> tuple[str, bool]:
    """Ask about one text; raises `RunFailed` where the server has no answer after its retries."""
    key = os.environ.get(server.key_variable or "OPENAI_API_KEY")
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    address = f"{server.base_url.rstrip('/')}/chat/completions"
    for left in range(server.retries, -1, -1):
        try:
            with urlopen(Request(address, body, headers), timeout=server.timeout_s) as answer:
                choice = json.load(answer)["choices"][0]
            return choice["message"]["content"] or "", choice["finish_reason"] != "length"
        except (OSError, ValueError, LookupError, TypeError) as error:
            is_final = isinstance(error, HTTPError) and error.code in (400, 401, 403, 404)
            if is_final or not left:
                raise RunFailed(f"{address}: {error}; the same command goes on where it ended") from error
    raise AssertionError("the last try returns or raises")
