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
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from critics.errors import InputError, RunFailed
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import Certified
from rollout.decoding.automaton import accepts
from rollout.decoding.rows import row_of
from rollout.engines.plugins import read_spec
from rollout.guides.logic import LogicGuide
from rollout.policies.policy import load_tokenizer
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import demonstrate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.servers.author import resumed
from rollout.servers.policy import ServerPolicy
from rollout.settings import ServerSettings
from rollout.strategies.single import sample
from tests.rehearsal.server import completion, listening, refusal, sent

KEY = "sk-secret-0123456789abcdef"
GUIDED = Sampling("guided", 1.0, 1, 2000)
PROBLEMS = list(generate(PrOntoQA(hops=(2,), extra_kinds=(0, 0)), 3, seed=7))
WAYS = {"guide": ("structured_outputs.grammar",), "rejection": ()}
CASES = [
    *(("guide", stops, kind) for stops, kind in (("told", "completions"), ("told", "chat"), ("hidden", "completions"))),
    *(("rejection", stops, kind) for stops, kind in (("told", "completions"), ("hidden", "chat"), ("shown", "chat"))),
]
FIELDS = {"structured_outputs.grammar"}


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
                return refusal(503, "going down")
        for name in self.refuses & self._given(body).keys():
            return refusal(400, f"Unrecognized request argument: {name}")
        return sent(self._completion(body, chat="chat" in path))

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
        wanted = self._wanted(prompt, begun if chat else "")
        text = self._held(given, wanted)
        if text is None:
            text = self.mutter(wanted) if begun and chat else wanted
        text, finish, stop = self._stopped(text, body)
        more: dict[str, Any] = {"stop_reason": stop} if self.stops == "told" else {}
        tokens = re.findall(r"\w+|\W", text)
        if self.logprobs and chat:
            more["logprobs"] = {"content": [{"token": t, "logprob": -0.5, "bytes": None} for t in tokens]}
        elif self.logprobs:
            more["logprobs"] = {"tokens": tokens, "token_logprobs": [-0.5] * len(tokens)}
        usage = (len(prompt) // 4 + 5, len(text) // 4 + 1)
        return completion(text, finish, chat=chat, usage=usage, **more)

    def _wanted(self, prompt: str, begun: str) -> str:
        """Return what it would write next, were it free to."""
        for part, script in self.scripts.items():
            if part in prompt:
                written = begun or prompt.rpartition(part)[2].partition("\n")[2]
                different = (n for n, (one, other) in enumerate(zip(script, written, strict=False)) if one != other)
                return script[next(different, len(written)) :]
        return "one two three four five six seven eight nine ten"

    def _held(self, given: dict[str, Any], wanted: str) -> str | None:
        """Keep to a guide, where it is sent one that it knows."""
        spec = given.get("structured_outputs.grammar", "")
        return guided(spec, wanted) if spec.startswith("// certistar ") else None

    def _stopped(self, text: str, body: dict[str, Any]) -> tuple[str, str, str | None]:
        places = [(text.find(s), s) for s in body.get("stop", ()) if s in text]
        room = 4 * body.get("max_tokens", body.get("max_completion_tokens"))
        place, stop = min(places, default=(len(text), None))
        if place > room:
            return text[:room], "length", None
        shown = text[: place + (len(stop) if stop and self.stops == "shown" else 0)]
        return shown, "stop", stop


def guided(spec: str, wanted: str) -> str:
    """Return what is wanted up to the first byte that the guide refuses, as the plug-in of this project would."""
    request = read_spec(spec).guided()
    row, text = row_of(request.guide), ""
    row.push(request.written)
    if row.block is not None and not row.accepts(wanted[:1].encode()):
        return row.automaton.shortest(row.block).decode()
    for char in wanted:
        if not row.accepts(char.encode()):
            break
        row.push(char.encode())
        text += char
    return text + (row.automaton.shortest(row.block).decode() if row.block is not None else "")


@pytest.fixture
def speak() -> Iterator[Callable[..., Speaker]]:
    """Start speakers on loopback."""
    with ExitStack() as servers:

        def start(**options: Any) -> Speaker:
            speaker = Speaker(**options)
            speaker.base_url = servers.enter_context(listening(speaker.answer))
            return speaker

        yield start


def scripts_of(problems: list[Problem], change: Callable[[str], str] = str) -> dict[str, str]:
    return {problem.question: change(solution(problem)) for problem in problems}


def policy_for(speaker: Speaker, *, tokenizer: Path | None = None, **settings: Any) -> ServerPolicy:
    made = ServerSettings(base_url=speaker.base_url, model="m", **{"retries": 2, **settings})
    kind = "chat" if made.kind == "chat" else "bare"
    return ServerPolicy(made, prompt_style=PromptStyle(kind, 0), tokenizer=str(tokenizer) if tokenizer else None)


def traces(policy: ServerPolicy, problems: list[Problem] = PROBLEMS, sampling: Sampling = GUIDED) -> list[Any]:
    return list(sample(policy, problems, sampling, seed=1, format_="guided"))


def verdict_of(trace: Any) -> Any:
    return judge(trace.problem, Attempt(trace.id, trace.problem, "guided", trace.completion))


def assert_well_guided(problem: Problem, text: str) -> None:
    """Every block was allowed where it stands, and none is open."""
    assert_allowed(LogicGuide.for_problem(problem), text)


def assert_allowed(guide: LogicGuide, text: str) -> None:
    at = 0
    while (start := text.find("[[", at)) >= 0:
        at = text.index("]]", start) + 2
        assert accepts(guide.allowed(), text[start + 2 : at].encode()), text[start:at]
        guide.close(text[start + 2 : at - 2].encode())


@pytest.mark.parametrize(("way", "stops", "kind"), CASES)
def test_a_right_solution_is_certified_whatever_the_server_can_do(speak, way, stops, kind):
    speaker = speak(scripts=scripts_of(PROBLEMS), knows={*WAYS[way]}, stops=stops)
    for trace in traces(policy_for(speaker, kind=kind)):
        assert trace.completion == solution(trace.problem)
        assert trace.finished
        assert isinstance(verdict_of(trace), Certified)
        assert trace.server["constraint"] == way
        assert (trace.server["violations"], trace.server["calls"]) == (0, 1)


@pytest.mark.parametrize(("way", "stops", "kind"), CASES)
def test_what_the_guide_refuses_is_written_by_no_way(speak, way, stops, kind):
    spoiled = scripts_of(PROBLEMS, lambda s: s.replace("[[axiom:(", "[[axiom: (", 1).replace("[[infer:(", "[[infer:(x"))
    speaker = speak(scripts=spoiled, knows={*WAYS[way]}, stops=stops)
    for trace in traces(policy_for(speaker, kind=kind), sampling=Sampling("guided", 1.0, 1, 150)):
        assert_well_guided(trace.problem, trace.completion)
        assert trace.server["violations"] <= 20
        assert (trace.server["violations"] > 0) == (way != "guide")
        assert trace.server["ended"] == ("violations" if way == "rejection" else trace.server["ended"])


def test_a_guide_that_is_asked_for_and_not_honoured_is_an_error_with_the_remedy(speak):
    speaker = speak(scripts={})
    with pytest.raises(InputError, match=r"http://.*grammar: ignored.*install certistar there"):
        traces(policy_for(speaker, constraint="guide"))


def test_a_field_the_server_can_do_without_is_dropped_once_and_recorded(speak):
    speaker = speak(scripts=scripts_of(PROBLEMS), refuses={"seed"})
    found = traces(policy_for(speaker))
    assert all(trace.server["dropped"] == ["seed"] and not trace.server["seeded"] for trace in found)
    assert sum("seed" in body for body in speaker.bodies) == 1


def test_newer_models_get_the_token_limit_under_its_newer_name(speak):
    speaker = speak(scripts={PROBLEMS[0].question: "Answer: true"})
    said = b'{"error": {"message": "Unsupported parameter: max_tokens. Use max_completion_tokens instead."}}'
    speaker.faults.append((400, {}, said))
    (trace,) = traces(policy_for(speaker, kind="chat"), PROBLEMS[:1], Sampling("free", 1.0, 1, 50))
    assert trace.completion == "Answer: true"
    assert speaker.bodies[-1]["max_completion_tokens"] == 50


def test_a_temperature_that_is_refused_is_not_silently_left_out(speak):
    speaker = speak(scripts={}, refuses={"temperature"})
    with pytest.raises(InputError, match=r"refuses a request.*temperature"):
        traces(policy_for(speaker), PROBLEMS[:1], Sampling("free", 0.5, 1, 50))


def test_limits_errors_and_broken_replies_are_waited_out(speak):
    speaker = speak(scripts={PROBLEMS[0].question: "Answer: true"})
    speaker.faults += [
        (429, {"Retry-After": "1"}, b'{"error": {"message": "slow down"}}'),
        (500, {"Retry-After": "0.1"}, b"oops"),
        (200, {}, b'{"choices": [{"text": "Ans'),
        (200, {}, b'{"choices": []}'),
    ]
    policy = policy_for(speaker)
    began = time.monotonic()
    (trace,) = traces(policy, PROBLEMS[:1], Sampling("free", 1.0, 1, 50))
    assert trace.completion == "Answer: true"
    assert time.monotonic() - began > 1.0
    assert policy.tally.retries == 4
    assert "retries" not in trace.server


def test_half_a_character_at_the_end_of_a_reply_is_marked(speak):
    speaker = speak(scripts={}, faults=[sent(completion("Rex is warm \ud83d", "length", chat=False))])
    (trace,) = traces(policy_for(speaker), PROBLEMS[:1], Sampling("free"))
    assert trace.completion == "Rex is warm \ufffd"


def test_a_dialog_that_outgrows_the_window_ends_and_a_first_prompt_that_does_says_what_to_lower(speak):
    too_long = refusal(400, "This model's maximum context length is 512 tokens. However, you requested 600 tokens.")
    policy = policy_for(speak(scripts={}, faults=[too_long, too_long]), kind="chat")
    turns = [{"role": role, "content": "x"} for role in ("user", "assistant", "user")]
    [ended] = policy.complete([json.dumps(turns)], None, [0], Sampling("free"))
    assert (ended.text, ended.finished) == ("", False)
    with pytest.raises(InputError, match=r"lower model\.examples"):
        traces(policy, PROBLEMS[:1], Sampling("free"))


def test_a_server_that_never_makes_sense_is_named_with_a_remedy(speak):
    for content in (b"<html>hello</html>", b'{"choices": []}', b'{"choices": [{"text": 3}]}', b'{"choices": [7]}'):
        speaker = speak(scripts={}, faults=[(200, {}, content)])
        with pytest.raises(RunFailed, match=r"^http://127.*/v1: replies with.*ends in /v1$"):
            traces(policy_for(speaker, retries=0), PROBLEMS[:1], Sampling("free", 1.0, 1, 50))


def test_a_dead_server_and_a_wrong_model_are_one_line_with_a_remedy(speak):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = Speaker({}, base_url=f"http://127.0.0.1:{unused.getsockname()[1]}/v1")
    with pytest.raises(RunFailed, match=r"no server answers \(1 tries\); start it, or correct model.server.base_url"):
        traces(policy_for(nobody, retries=0))
    speaker = speak(scripts={}, faults=[(404, {}, b'{"error": {"message": "The model m does not exist"}}')])
    with pytest.raises(InputError, match=r"not found .*does not exist.*correct model.server.base_url, .model \('m'\)"):
        traces(policy_for(speaker))


def test_what_was_written_before_the_server_died_is_yielded_first_and_in_order(speak):
    speaker = speak(scripts={p.question: "Answer: true" for p in PROBLEMS}, most=2)
    stream = sample(
        policy_for(speaker, parallel=1, retries=0), PROBLEMS, Sampling("free", 1.0, 1, 50), seed=1, format_="cot"
    )
    assert [next(stream).problem.id, next(stream).problem.id] == [p.id for p in PROBLEMS[:2]]
    with pytest.raises(RunFailed, match="going down"):
        next(stream)


def test_an_interrupted_rollout_keeps_what_it_has_and_goes_on_from_there(speak, tiny_model, tmp_path):
    from training.commands.rollout import rollout as roll_out
    from training.records.store import read_records, write_records

    speaker = speak(scripts={p.question: "Answer: true" for p in PROBLEMS}, most=2)
    config, problems, out = tmp_path / "c.yaml", tmp_path / "problems.jsonl", tmp_path / "out.jsonl"
    write_records(problems, [problem.record() for problem in PROBLEMS])
    server = f"{{base_url: {speaker.base_url}, model: m, parallel: 1, retries: 0}}"
    config.write_text(
        f"name: c\nmodel: {{name: {tiny_model}, server: {server}}}\n"
        "arms: [{name: free, keep: naive, decoding: free}]\nsampling: {max_new_tokens: 50}\n"
    )
    with pytest.raises(RunFailed, match="going down"):
        roll_out(config, problems, out, None, None)
    speaker.most = None
    roll_out(config, problems, out, None, None)
    assert [r["problem"]["id"] for r in read_records(out, checksum=True)] == [p.id for p in PROBLEMS]
    assert len(speaker.bodies) == 2 + 1 + 1


def test_the_key_comes_from_the_environment_and_reaches_nothing_but_the_server(speak, monkeypatch, caplog):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("MY_KEY", KEY)
    echo = b'{"error": {"message": "cannot take {key}"}}'
    for status in (401, 403, 404, 400, 422, 429, 500):
        speaker = speak(scripts={}, faults=[(status, {"X-Key": "{key}"}, echo)])
        policy = policy_for(speaker, key_variable="MY_KEY", retries=0)
        with pytest.raises((InputError, RunFailed)) as caught:
            traces(policy, PROBLEMS[:1], Sampling("free", 1.0, 1, 50))
        shown = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value)) + str(caught.value)
        assert "[key]" in shown or status == 500
        assert KEY not in shown
        cause: BaseException | None = caught.value
        while cause is not None:
            assert not type(cause).__module__.startswith("openai")
            assert KEY not in repr(cause)
            cause = cause.__context__
    speaker = speak(scripts={}, faults=[(200, {}, b'{"choices": [{"text": "{key}", "finish_reason": "stop"}]}')])
    policy = policy_for(speaker, key_variable="MY_KEY")
    (trace,) = traces(policy, PROBLEMS[:1], Sampling("free", 1.0, 1, 50))
    assert KEY not in json.dumps(trace.record()) + caplog.text + repr(policy.settings)


def test_a_missing_or_wrong_key_says_which_variable_to_set(speak, monkeypatch):
    speaker = speak(scripts={})
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(InputError, match="environment variable MY_KEY is not set"):
        traces(policy_for(speaker, key_variable="MY_KEY"))
    monkeypatch.setenv("OPENAI_API_KEY", "wrong")
    with pytest.raises(InputError, match=r"the key is refused.*set OPENAI_API_KEY to a valid key"):
        traces(policy_for(speaker))


def test_a_configuration_holds_no_key(tmp_path):
    from training.configuration.run import load_run
    from training.configuration.section import ConfigError

    path = tmp_path / "c.yaml"
    for address in (f"http://me:{KEY}@host/v1", f"http://host/v1?api_key={KEY}"):
        path.write_text(f"name: c\nmodel: {{name: m, server: {{base_url: '{address}', model: m}}}}\n")
        with pytest.raises(ConfigError, match="leave keys and passwords out") as caught:
            load_run(path)
        assert KEY not in str(caught.value)


def test_a_reply_cut_off_is_unfinished_and_keeps_no_open_block(speak):
    problem = PROBLEMS[0]
    whole = solution(problem)
    for stops in ("told", "hidden"):
        speaker = speak(scripts=scripts_of([problem]), stops=stops)
        for limit in range(5, 60, 9):
            (trace,) = traces(policy_for(speaker), [problem], Sampling("guided", 1.0, 1, limit))
            assert whole.startswith(trace.completion)
            assert not trace.finished
            assert trace.server["ended"] == "length"
            assert trace.completion.count("[[") == trace.completion.count("]]")


def strayed(whole: str) -> tuple[int, dict[str, str], bytes]:
    """A chat reply whose first axiom is none."""
    begun = f"{whole.partition('[[axiom:')[0]}[[axiom: (no such thing"
    return sent(completion(begun, "stop", chat=True, usage=(1, 30)))


def test_a_chat_model_that_apologises_or_begins_again_is_understood(speak):
    def apologise(text: str) -> str:
        return f"Apologies for the incomplete message. Continuing from where I stopped:\n{text}"

    whole = solution(PROBLEMS[0])
    cut = strayed(whole)
    for mutter, counted in ((apologise, "apologies"), (lambda _: whole, "violations")):
        speaker = speak(scripts=scripts_of(PROBLEMS[:1]), mutter=mutter, faults=[cut])
        (trace,) = traces(policy_for(speaker, kind="chat", constraint="rejection"), PROBLEMS[:1])
        assert trace.completion == whole
        assert trace.server[counted] > 0


def test_a_chat_model_that_does_nothing_but_apologise_is_given_up(speak):
    cut, sorry = strayed(solution(PROBLEMS[0])), "I am sorry about that."
    speaker = speak(scripts=scripts_of(PROBLEMS[:1]), mutter=lambda _: sorry, faults=[cut])
    policy = policy_for(speaker, kind="chat", max_violations=7, constraint="rejection")
    (trace,) = traces(policy, PROBLEMS[:1])
    assert trace.server["violations"] == 7
    assert trace.server["ended"] == "violations"
    assert_well_guided(PROBLEMS[0], trace.completion)


@pytest.mark.parametrize(
    ("written", "reply", "rest"),
    [
        ("", "I am sorry, no.", "I am sorry, no."),
        ("Rex is a dog. [[infer:(", "Sorry for that! (warm rex)]]", "(warm rex)]]"),
        ("The first sentence is long.", "The first sentence is long. And more.", " And more."),
        ("The first sentence is long.", "The first sentence is another one.", ""),
        ("so [[infer:(warm rex)]] and", "[[infer:(warm rex)]] and then", " then"),
        ("so it is", " a dog.", " a dog."),
    ],
)
def test_a_new_message_is_read_as_the_rest_of_the_last(written, reply, rest):
    assert resumed(written, reply).text == rest


def test_text_below_the_answer_is_left_out(speak):
    scripts = scripts_of(PROBLEMS[:1], lambda s: f"{s}\nI hope that helps! [[infer:nothing]]")
    for stops in ("told", "hidden"):
        speaker = speak(scripts=scripts, stops=stops)
        (trace,) = traces(policy_for(speaker), PROBLEMS[:1])
        assert trace.completion == solution(PROBLEMS[0])


def test_an_answer_held_to_its_proof_is_corrected(speak):
    wrong = {"true": "false", "false": "true"}
    scripts = {
        p.question: solution(p).replace(f"Answer: {p.answer}", f"Answer: {wrong[str(p.answer)]}") for p in PROBLEMS
    }
    for trace in traces(policy_for(speak(scripts=scripts)), PROBLEMS, Sampling("guided", 1.0, 1, 2000, "decided")):
        assert isinstance(verdict_of(trace), Certified)


@pytest.mark.parametrize("kind", ["completions", "chat"])
def test_log_probabilities_are_kept_where_asked_and_spell_the_text(speak, kind):
    speaker = speak(scripts=scripts_of(PROBLEMS), logprobs=True)
    for trace in traces(policy_for(speaker, kind=kind, logprobs=True)):
        tokens = trace.server["logprobs"]
        assert "".join(text for text, _ in tokens) == trace.completion
        chosen = [value for _, value in tokens if value is not None]
        assert len(chosen) > 20
        assert set(chosen) == {-0.5}


def test_every_sampling_parameter_is_sent_and_recorded(speak):
    speaker = speak(scripts=scripts_of(PROBLEMS))
    policy = policy_for(speaker, extra_body={"top_k": -1})
    found = traces(policy)
    body = speaker.bodies[-1]
    assert (body["temperature"], body["top_p"], body["top_k"]) == (1.0, 1.0, -1)
    assert len({body["seed"] for body in speaker.bodies}) > len(PROBLEMS)
    record = found[0].record()
    assert record["server"]["extra_body"] == {"top_k": -1}
    assert record["policy"]["base"] == "server:m"
    assert "127.0.0.1" not in json.dumps([trace.record() for trace in found])
    assert policy.tally.calls == len(speaker.bodies)


def test_the_same_seed_gives_the_same_traces_however_many_are_written_at_once(speak):
    speaker = speak(scripts=scripts_of(PROBLEMS))
    one, many = (traces(policy_for(speaker, parallel=parallel)) for parallel in (1, 8))
    assert [t.record() for t in one] == [t.record() for t in many]


CHAT_TEMPLATE = (
    "{% for m in messages %}<{{ m['role'] }}>\n{{ m['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>\n{% endif %}"
)
LIMIT_S = 120


@pytest.fixture(scope="module")
def chat_model(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny Llama, a chat template, and sampling as its default: a server asks the model for that."""
    from transformers import AutoModelForCausalLM

    folder = tmp_path_factory.mktemp("chat-model")
    tokenizer = load_tokenizer(str(tiny_model))
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(tiny_model)
    model.generation_config.do_sample = True
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def served(chat_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of `transformers serve` with that model; skips without what it needs."""
    missing = [name for name in ("fastapi", "uvicorn", "openai") if find_spec(name) is None]
    if missing:
        pytest.skip(f"transformers serve needs {', '.join(missing)} (pip install 'transformers[serving]')")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from transformers.cli.transformers import main; main()", "serve", str(chat_model)]
    log = tmp_path_factory.mktemp("serve") / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, "--port", str(port), "--host", "127.0.0.1", "--device", "cpu"],
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", process, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _wait_for(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            with urlopen(address, timeout=5) as reply:
                assert reply.status == 200
                return
        except OSError:
            assert process.poll() is None, log.read_text()[-2000:]
            time.sleep(0.2)
    pytest.fail(f"transformers serve is not up after {LIMIT_S} s: {log.read_text()[-2000:]}")


def real_policy(address: str, model: Path, **settings: Any) -> ServerPolicy:
    made = ServerSettings(base_url=address, model=str(model), retries=1, parallel=4, **settings)
    return ServerPolicy(made, prompt_style=PromptStyle("bare"), tokenizer=str(model))


@pytest.mark.parametrize("kind", ["completions", "chat"])
def test_a_real_server_writes_nothing_but_allowed_blocks(served, chat_model, kind):
    policy = real_policy(served, chat_model, kind=kind, max_violations=6)
    found = traces(policy, PROBLEMS[:2], Sampling("guided", 1.0, 2, 60))
    assert len(found) == 4
    for trace in found:
        assert_well_guided(trace.problem, trace.completion)
        assert trace.server["completion_tokens"] > 0
        assert trace.server["calls"] >= 1
        assert trace.server["constraint"] == "rejection"
        assert "structured_outputs.grammar: refused" in trace.server["refused"]


def test_a_real_server_writes_free_text_as_its_model_does_here(served, chat_model):
    from rollout.policies.policy import HuggingFacePolicy

    free = Sampling("free", 0.0, 1, 12)
    local = HuggingFacePolicy(str(chat_model), prompt_style=PromptStyle("bare"))
    here = [trace.completion for trace in sample(local, PROBLEMS, free, seed=1, format_="cot")]
    there = traces(real_policy(served, chat_model), PROBLEMS, free)
    assert [trace.completion for trace in there] == here
    assert not any(trace.finished for trace in there)


def test_a_real_server_without_the_model_says_so(served, chat_model):
    policy = real_policy(served, chat_model / "another")
    with pytest.raises(InputError, match=r"refuses a request.*pinned to"):
        traces(policy, PROBLEMS[:1], Sampling("free", 1.0, 1, 5))
