"""Policies behind OpenAI-compatible servers: against a scripted one here, and against `transformers serve` below."""

import json
import logging
import os
import re
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critics.blocks import split_blocks
from critics.errors import InputError, RunFailed
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import Certified
from rollout.automaton import accepts
from rollout.demonstration import demonstrate
from rollout.guides.logic import LogicGuide
from rollout.policy import Interrupted, load_tokenizer
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompt import PromptStyle
from rollout.servers.attempt import resumed
from rollout.servers.connection import ServerSettings
from rollout.servers.expression import after, forced, grammar, may_be_empty, regex, words_of
from rollout.servers.policy import ServerPolicy
from rollout.tokens import token_bytes
from rollout.traces import Sampling
from rollout.worker import sample

KEY = "sk-secret-0123456789abcdef"
GUIDED = Sampling("guided", 1.0, 1, 2000)
PROBLEMS = list(generate(PrOntoQA(hops=(2,), extra_kinds=(0, 0)), 3, seed=7))
PROBES = ("qzj kwv xq", "xxq jjw zp")
WAYS = {
    "grammar": "structured_outputs.regex",
    "choice": "structured_outputs.choice",
    "json": "response_format",
    "allowed_token_ids": "allowed_token_ids",
    "logit_bias": "logit_bias",
}
FIELDS = {*WAYS.values(), "regex", "guided_regex", "grammar", "guided_choice", "continue_final_message"}


def solution(problem: Problem) -> str:
    assert problem.formal is not None
    return demonstrate(problem, problem.formal)


@dataclass
class Speaker:
    """A server that wants to write a certain text for each question, and can do what it is told it can."""

    scripts: dict[str, str]
    """What it wants to write, by a part of the prompt."""
    knows: set[str] = field(default_factory=set)
    stops: str = "told"
    refuses: set[str] = field(default_factory=set)
    """Fields that it answers with status 400; it ignores the others that it does not know."""
    faults: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    """Given instead of its next replies."""
    mutter: Callable[[str], str] = str
    """What it does to a new message that should go on with the one before."""
    vocabulary: list[bytes | None] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    logprobs: bool = False
    base_url: str = ""
    most: int | None = None
    """After so many replies it is dead."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        with self.lock:
            self.bodies.append(body)
            if self.faults:
                return self.faults.pop(0)
            if self.most is not None and len(self.bodies) > self.most:
                return 503, {}, b'{"error": {"message": "going down"}}'
        for name in self.refuses & self._given(body).keys():
            return 400, {}, json.dumps({"error": {"message": f"Unrecognized request argument: {name}"}}).encode()
        return 200, {}, json.dumps(self._completion(body, chat="chat" in path)).encode()

    def _given(self, body: dict[str, Any]) -> dict[str, Any]:
        flat = dict(body)
        for name, value in body.get("structured_outputs", {}).items():
            flat[f"structured_outputs.{name}"] = value
        return flat

    def _completion(self, body: dict[str, Any], *, chat: bool) -> dict[str, Any]:
        given = {name: value for name, value in self._given(body).items() if name not in FIELDS or name in self.knows}
        messages = body.get("messages") or [{"role": "user", "content": body["prompt"]}]
        prompt = "".join(m["content"] for m in messages)
        begun = messages[-1]["content"] if messages[-1]["role"] == "assistant" else ""
        goes_on = not chat or bool(given.get("continue_final_message"))
        wanted = self._wanted(prompt, begun if chat else "")
        text = self._held(given, wanted)
        if text is None:
            text = self.mutter(wanted) if begun and not goes_on else wanted
        text, finish, stop = self._stopped(text, body)
        choice: dict[str, Any] = {"index": 0, "finish_reason": finish}
        choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        if self.stops == "told":
            choice["stop_reason"] = stop
        if self.logprobs and chat:
            tokens = re.findall(r"\w+|\W", text)
            choice["logprobs"] = {"content": [{"token": t, "logprob": -0.5, "bytes": None} for t in tokens]}
        elif self.logprobs:
            tokens = re.findall(r"\w+|\W", text)
            choice["logprobs"] = {"tokens": tokens, "token_logprobs": [-0.5] * len(tokens)}
        usage = {"prompt_tokens": len(prompt) // 4 + (0 if goes_on else 5), "completion_tokens": len(text) // 4 + 1}
        return {"id": "x", "object": "x", "created": 0, "model": "m", "choices": [choice], "usage": usage}

    def _wanted(self, prompt: str, begun: str) -> str:
        """Return what it would write next, were it free to."""
        for part, script in self.scripts.items():
            if part in prompt:
                written = begun or prompt.rpartition(part)[2].partition("\n")[2]
                common = os.path.commonprefix([script, written])
                return script[len(common) :]
        return "one two three four five six seven eight nine ten"

    def _held(self, given: dict[str, Any], wanted: str) -> str | None:
        """Keep to a constraint: the longest part of what is wanted, else whatever of its scripts fits."""
        block = wanted[: wanted.find("]]") + 2]
        candidates = [*(block[:n] for n in range(len(block), 0, -1)), *self.blocks, *PROBES]
        for name in ("structured_outputs.regex", "regex", "guided_regex"):
            if name in given:
                pattern = re.compile(given[name])
                return next(c for c in candidates if pattern.fullmatch(c))
        for name in ("structured_outputs.choice", "guided_choice"):
            if name in given:
                return next(c for c in (*candidates, *given[name]) if c in given[name])
        if "response_format" in given:
            wish = given["response_format"]["json_schema"]["schema"]["properties"]["text"]
            fits = [c for c in (*candidates, *wish.get("enum", ())) if c in wish.get("enum", [c])]
            return json.dumps({"text": next(c for c in fits if re.fullmatch(wish.get("pattern", ".*"), c))})
        ids = given.get("allowed_token_ids") or [int(i) for i in given.get("logit_bias", ())]
        if ids and given.keys() & self.knows:
            tokens = [self.vocabulary[i] or b"" for i in ids]
            return max((t for t in tokens if wanted.encode().startswith(t)), key=len, default=tokens[0]).decode()
        return None

    @cached_property
    def blocks(self) -> list[str]:
        """What it can write into a block or into the rest of one."""
        found = {b for s in self.scripts.values() for b in re.findall(r"\[\[(.*?\]\])", s)}
        return sorted({b[n:] for b in found for n in range(len(b) - 2)}, key=lambda b: (-len(b), b))

    def _stopped(self, text: str, body: dict[str, Any]) -> tuple[str, str, str | None]:
        places = [(text.find(s), s) for s in body.get("stop", ()) if s in text]
        room = 4 * body.get("max_tokens", body.get("max_completion_tokens"))
        place, stop = min(places, default=(len(text), None))
        if place > room and not body.get("logit_bias") and "allowed_token_ids" not in body:
            return text[:room], "length", None
        shown = text[: place + (len(stop) if stop and self.stops == "shown" else 0)]
        return shown, "stop", stop


@pytest.fixture
def speak() -> Iterator[Callable[..., Speaker]]:
    """Start speakers on loopback."""
    servers: list[ThreadingHTTPServer] = []

    def start(**options: Any) -> Speaker:
        speaker = Speaker(**options)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.headers["Authorization"] == "Bearer wrong":
                    said = {"error": {"message": "Incorrect API key provided: wrong"}}
                    status, headers, content = 401, {}, json.dumps(said).encode()
                else:
                    status, headers, content = speaker.answer(self.path, body)
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", **headers}.items():
                    self.send_header(name, value.replace("{key}", self.headers["Authorization"]))
                content = content.replace(b"{key}", self.headers["Authorization"].encode())
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        speaker.base_url = f"http://127.0.0.1:{server.server_port}/v1"
        return speaker

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def scripts_of(problems: list[Problem], change: Callable[[str], str] = str) -> dict[str, str]:
    return {problem.question: change(solution(problem)) for problem in problems}


def policy_for(speaker: Speaker, *, tokenizer: Path | None = None, **settings: Any) -> ServerPolicy:
    made = ServerSettings(speaker.base_url, "m", **{"retries": 2, **settings})
    kind = "chat" if made.kind == "chat" else "bare"
    return ServerPolicy(made, prompt_style=PromptStyle(kind, 0), tokenizer=str(tokenizer) if tokenizer else None)


def traces(policy: ServerPolicy, problems: list[Problem] = PROBLEMS, sampling: Sampling = GUIDED) -> list[Any]:
    return list(sample(policy, problems, sampling, seed=1, format_="guided"))


def verdict_of(trace: Any) -> Any:
    return judge(trace.problem, Attempt(trace.id, trace.problem, "guided", trace.completion))


def assert_well_guided(problem: Problem, text: str) -> None:
    """Every block was allowed where it stands, and none is open."""
    guide = LogicGuide.for_problem(problem)
    at = 0
    while (start := text.find("[[", at)) >= 0:
        at = text.index("]]", start) + 2
        assert accepts(guide.allowed(), text[start + 2 : at].encode()), text[start:at]
        guide.close(text[start + 2 : at - 2].encode())


def misspelled(script: str) -> str:
    """Spoil what is inferred, and the form of an axiom."""
    script = script.replace("[[axiom:(", "[[axiom: (", 1)
    return re.sub(r"\[\[infer:\(not ", "[[infer:(never ", script).replace("[[infer:((", "[[infer:(")


@pytest.mark.parametrize("kind", ["completions", "chat"])
@pytest.mark.parametrize("stops", ["told", "shown", "hidden"])
@pytest.mark.parametrize("way", [*WAYS, "rejection"])
def test_a_right_solution_is_certified_whatever_the_server_can_do(speak, tiny_model, way, stops, kind):
    table = token_bytes(load_tokenizer(str(tiny_model)))
    knows = {WAYS[way]} if way in WAYS else set()
    speaker = speak(scripts=scripts_of(PROBLEMS), knows=knows, stops=stops, vocabulary=table)
    policy = policy_for(speaker, kind=kind, tokenizer=tiny_model)
    for trace in traces(policy):
        assert trace.completion == solution(trace.problem)
        assert trace.finished
        assert isinstance(verdict_of(trace), Certified)
        assert trace.server["constraint"] == way
        assert trace.server["violations"] == 0
        assert trace.server["stops"] == stops
        assert trace.server["calls"] > 1 or stops == "hidden"


@pytest.mark.parametrize("kind", ["completions", "chat"])
@pytest.mark.parametrize("stops", ["told", "hidden"])
@pytest.mark.parametrize("way", [*WAYS, "rejection"])
def test_what_the_guide_refuses_is_written_by_no_way(speak, tiny_model, way, stops, kind):
    table = token_bytes(load_tokenizer(str(tiny_model)))
    knows = {WAYS[way]} if way in WAYS else set()
    spoiled = scripts_of(PROBLEMS, lambda s: s.replace("[[axiom:(", "[[axiom: (", 1).replace("[[infer:(", "[[infer:(x"))
    speaker = speak(scripts=spoiled, knows=knows, stops=stops, vocabulary=table)
    policy = policy_for(speaker, kind=kind, tokenizer=tiny_model)
    for trace in traces(policy):
        assert_well_guided(trace.problem, trace.completion)
        assert trace.server["violations"] <= 20
        assert (trace.server["violations"] > 0) == (stops == "hidden" or way not in ("grammar", "json"))
        if way == "rejection":
            assert trace.server["ended"] == "violations"
            assert not trace.finished
