"""Coder-reviewer by a chat server's own log-probabilities; a server that tells none is found out at once."""

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from critics.errors import InputError
from rollout.policies.policy import HuggingFacePolicy, ScriptedPolicy
from rollout.policies.reasoning import AnswersOnly
from rollout.programs.prompt import solved_examples
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.records.steps import ChosenSample, ProgramReply, Rating
from rollout.records.traces import Trace
from rollout.servers.policy import ServerPolicy
from rollout.settings import ProgramSettings, ServerSettings
from rollout.strategies.programs import refine
from tests.in_process import review_here

LSAT = next(e for e in solved_examples() if e.format == "logic-program")
BROKEN = LSAT.program.replace("speaks(Levy) ==", "speaks({}) ==")
OWN = ProgramSettings(
    name="prototype-then-refine",
    samples=2,
    prototypers=("majority", "coder-reviewer-own"),
    refiners=(),
    backup="none",
    examples=0,
)


class Chat(BaseHTTPRequestHandler):
    """Writes two programs that do not run, then the problem behind each; each reply has two tokens."""

    tells = True
    refuses = False
    bodies: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.bodies.append(body)
        if self.refuses and "logprobs" in body:
            self.say(400, {"error": {"message": "logprobs are not supported with this model"}})
            return
        asked = body["messages"][-1]["content"]
        value = {"Levi": -20.0, "Lewi": -9.0}.get(next((n for n in ("Levi", "Lewi") if n in asked), ""), -11.0)
        place = sum(not self.is_probe(b) for b in self.bodies)
        text = BROKEN.format("Levi" if place % 2 else "Lewi") if "Context:" in asked else "Some problem."
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop", "message": {"role": "x", "content": text}}
        if self.tells and body.get("logprobs"):
            half = len(text) // 2
            choice["logprobs"] = {"content": [{"token": t, "logprob": value / 2} for t in (text[:half], text[half:])]}
        self.say(200, {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})

    def say(self, status: int, record: dict[str, Any]) -> None:
        sent = json.dumps(record).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    @staticmethod
    def is_probe(body: dict[str, Any]) -> bool:
        return "Count from one" in body["messages"][-1]["content"]

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    Chat.tells, Chat.refuses, Chat.bodies = True, False, []
    listening = ThreadingHTTPServer(("127.0.0.1", 0), Chat)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listening.server_port}/v1"
    listening.shutdown()
    listening.server_close()


def served(url: str, **options: Any) -> ServerPolicy:
    asked = {"kind": "chat", "parallel": 1, "retries": 0, **options}
    return ServerPolicy(ServerSettings(base_url=url, model="m", **asked), prompt_style=PromptStyle("chat"))


def attempts(policy: Any, settings: ProgramSettings = OWN) -> list[Trace]:
    return list(refine(policy, [LSAT.problem], settings, Sampling(), seed=1, review=review_here))


def test_a_chat_server_rates_its_own_programs_and_the_problems_it_writes_from_them(url: str) -> None:
    [trace] = attempts(served(url))
    programs = [step.text for step in trace.steps if isinstance(step, ProgramReply) and step.purpose == "sample"]
    wanted = tuple(-20.0 if "Levi" in program else -9.0 for program in programs)
    [rating] = [step for step in trace.steps if isinstance(step, Rating)]
    assert rating == Rating((-11.0, -11.0), wanted)
    assert trace.steps[-1] == ChosenSample("coder-reviewer-own", wanted.index(-9.0))
    assert "Lewi" in trace.completion
    assert len(Chat.bodies) == 1 + 2 + 2


@pytest.mark.parametrize(
    ("tells", "refuses", "prototyper", "named"),
    [
        (False, False, "coder-reviewer-own", "does not give the log-probabilities of what it writes"),
        (True, True, "coder-reviewer-own", "does not give the log-probabilities of what it writes"),
        (True, False, "coder-reviewer", "write coder-reviewer-own in the place"),
    ],
)
def test_what_a_server_cannot_tell_is_found_out_before_anything_is_sampled(
    url: str, tells: bool, refuses: bool, prototyper: str, named: str
) -> None:
    Chat.tells, Chat.refuses = tells, refuses
    with pytest.raises(InputError, match=named):
        attempts(served(url), OWN.model_copy(update={"prototypers": ("majority", prototyper)}))
    assert all(map(Chat.is_probe, Chat.bodies))
    assert len(Chat.bodies) <= 2


def test_a_policy_that_rates_nothing_is_named_before_it_writes() -> None:
    class Unasked(ScriptedPolicy):
        def complete(self, *_: Any, **__: Any) -> Any:
            raise AssertionError("sampled")

    policies: Sequence[Any] = (Unasked([]), AnswersOnly(Unasked([])))
    for policy in policies:
        with pytest.raises(InputError, match="does not tell how likely a text is; take coder-reviewer-own out"):
            attempts(policy)


def test_the_ability_is_asked_for_once(url: str) -> None:
    policy = served(url)
    attempts(policy)
    attempts(policy)
    assert sum(map(Chat.is_probe, Chat.bodies)) == 1


def test_a_model_of_this_process_rates_the_problem_that_it_wrote(tiny_model: Path) -> None:
    policy = HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle())
    sampling = Sampling(max_new_tokens=12)
    [trace] = refine(policy, [LSAT.problem], OWN, sampling, seed=1, review=review_here)
    written = [step.purpose for step in trace.steps if isinstance(step, ProgramReply)]
    [rating] = [step for step in trace.steps if isinstance(step, Rating)]
    assert written == ["sample", "sample", "review", "review"]
    assert all(value is not None and value < 0 for value in (*rating.coder, *rating.reviewer))
