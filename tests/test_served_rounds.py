"""Rounds sampled by a server: adapters that it loads while it runs, what it cannot do, and what it may forget."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError, RunFailed
from rollout.policies.models import LoraAdapter
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.digests import adapter_weights_digest
from rollout.records.sampling import Sampling
from rollout.records.traces import read_trace
from rollout.servers.policy import ServerPolicy
from rollout.settings import ServerSettings
from rollout.strategies.single import sample
from tests.rehearsal.server import completion, listening, refusal, sent
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig
from training.planning.forecast import forecast
from training.rounds.run import run, server_must_do
from training.workers.strategies import require_server

ROOT = Path(__file__).parents[1]
PROBLEMS = list(generate(PrOntoQA(hops=(1,)), 3, seed=7))
FREE = Sampling("free", 1.0, 1, 20)


@dataclass
class Host:
    """A server with adapters, as vLLM or SGLang has them; it says what it was asked."""

    base: str
    kind: str = "vllm"
    exchanges: bool = True
    reads: bool = True
    takes: bool = True
    adapters: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Of each completion: the model and the prompt."""
    unloaded: list[str] = field(default_factory=list)
    most: int | None = None
    """After so many completions it is dead."""
    url: str = ""

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        if path == "/v1/models":
            root = self.base if self.kind == "vllm" else "served"
            cards = [("served", root), *self.adapters.items()]
            return sent({"data": [{"id": name, "root": place, "owned_by": self.kind} for name, place in cards]})
        if path == "/get_model_info":
            return sent({"model_path": self.base})
        prefix = "/v1" if self.kind == "vllm" else ""
        if not self.exchanges or path not in (f"{prefix}/load_lora_adapter", f"{prefix}/unload_lora_adapter"):
            return self._completion(body) if path.endswith("completions") else (404, {}, b'{"detail":"Not Found"}')
        name = body["lora_name"]
        if path.endswith("unload_lora_adapter"):
            self.unloaded.append(name)
            del self.adapters[name]
            return sent("done")
        if not self.reads or not Path(body["lora_path"]).exists():
            return refusal(404, f"Loading lora {name} failed: No adapter found for {body['lora_path']}")
        if not self.takes:
            return refusal(400, "LoRA rank 64 is greater than max_lora_rank 16")
        self.adapters[name] = body["lora_path"]
        return 200, {}, b"Success"

    def _completion(self, body: dict[str, Any]) -> Any:
        if self.most is not None and len(self.asked) >= self.most:
            return refusal(503, "going down")
        name = body["model"].removeprefix("served:")
        if name != "served" and name not in self.adapters:
            return refusal(404, f"The model `{name}` does not exist.")
        self.asked.append((body["model"], f"{body['prompt']} {body['seed']}"))
        return sent(completion("Answer: true", chat=False))


@pytest.fixture
def host() -> Iterator[Any]:
    with ExitStack() as servers:

        def start(base: Path | str, **options: Any) -> Host:
            made = Host(str(base), **options)
            made.url = servers.enter_context(listening(made.answer))
            return made

        yield start


def adapter_in(folder: Path, content: str) -> LoraAdapter:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text('{"r": 8}')
    (folder / "adapter.safetensors").write_text(content)
    return LoraAdapter(folder, adapter_weights_digest(folder), 8)


def policy_of(host: Host, adapter: LoraAdapter) -> ServerPolicy:
    return ServerPolicy(
        ServerSettings(base_url=host.url, model="served", retries=0), prompt_style=PromptStyle("bare"), adapter=adapter
    )


def traces(policy: ServerPolicy) -> list[Any]:
    return list(sample(policy, PROBLEMS, FREE, seed=1, format_="cot"))


@pytest.mark.parametrize(("kind", "name"), [("vllm", "{}"), ("sglang", "served:{}")])
def test_each_rounds_adapter_is_asked_by_its_digest_and_the_lines_old_one_goes(host, tmp_path, kind, name):
    server = host("base", kind=kind)
    first, second = (adapter_in(tmp_path / f"line/round-00{number}/adapter", str(number)) for number in (0, 1))
    other = adapter_in(tmp_path / "other-line/round-000/adapter", "other")
    for adapter in (first, other, second):
        found = traces(policy_of(server, adapter))
        assert {trace.policy.adapter for trace in found} == {adapter.digest}
        assert {trace.policy.base for trace in found} == {"server:served"}
        assert {trace.server["model"] for trace in found} == {"served"}
        assert server.asked[-1][0] == name.format(adapter.digest)
    assert server.unloaded == [first.digest]
    assert list(server.adapters) == [other.digest, second.digest]


def test_adapters_outside_of_a_run_unload_nothing(host, tmp_path):
    server = host("base")
    for number in range(2):
        traces(policy_of(server, adapter_in(tmp_path / f"adapters/{number}", str(number))))
    assert len(server.adapters) == 2


def test_a_server_that_was_started_anew_is_given_the_adapter_again(host, tmp_path):
    server = host("base")
    policy = policy_of(server, adapter_in(tmp_path / "round-000/adapter", "1"))
    server.adapters.clear()
    assert len(traces(policy)) == len(PROBLEMS)
    server.adapters.clear()
    server.exchanges = False
    with pytest.raises(InputError, match="loads no adapters while it runs"):
        traces(policy)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"exchanges": False}, r"VLLM_ALLOW_RUNTIME_LORA_UPDATING=True and --enable-lora"),
        ({"reads": False}, r"cannot read the adapter .*write the run \(--out\) where"),
        ({"takes": False}, r"does not take the adapter .*rank 64 .*--max-lora-rank 8"),
    ],
)
def test_what_an_adapter_lacks_is_one_line_with_a_remedy(host, tmp_path, options, complaint):
    with pytest.raises(InputError, match=complaint) as caught:
        policy_of(host("base", **options), adapter_in(tmp_path / "round-000/adapter", "1"))
    assert "\n" not in str(caught.value)


def required(server: Host, base: Path | str, **options: Any) -> None:
    given = {"base_url": server.url, "model": "served", "retries": 0, **options}
    require_server(ModelConfig(name=str(base), server=ServerSettings(**given)))


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_a_run_asks_beforehand_what_its_rounds_will_need(host, tmp_path, tiny_model, kind):
    required(host(tiny_model, kind=kind), tiny_model)
    required(host("/elsewhere/models--Qwen--Qwen3-8B/snapshots/ab12", kind=kind), "Qwen/Qwen3-8B")
    with pytest.raises(InputError, match="adapters of one fit no other model"):
        required(host("/models/Qwen3-4B", kind=kind), "Qwen/Qwen3-8B")
    with pytest.raises(InputError, match=r"VLLM_ALLOW_RUNTIME_LORA_UPDATING"):
        required(host(tiny_model, kind=kind, exchanges=False), tiny_model)
    with pytest.raises(InputError, match=r"serves no model 'mine'; correct model.server.model"):
        required(host(tiny_model, kind=kind), tiny_model, model="mine")
    twin = tmp_path / "twin"  # another folder with other weights
    twin.mkdir()
    (twin / "config.json").write_bytes((tiny_model / "config.json").read_bytes() + b" ")
    with pytest.raises(InputError, match="fit no other model"):
        required(host(tiny_model, kind=kind), twin)


def test_a_server_that_is_not_there_ends_a_run_before_it_begins(tmp_path):
    server = ServerSettings(base_url="http://127.0.0.1:1/v1", model="m", retries=0)
    with pytest.raises(RunFailed, match="no server answers"):
        run(RunConfig(name="x", model=ModelConfig(name="m", server=server)), tmp_path / "run")
    assert not (tmp_path / "run/config.yaml").exists()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"training": {"method": "full"}}, "training.method: full leaves what no server loads"),
        ({"training": {"method": "dora"}}, "training.method: dora leaves what no server loads"),
        ({"workers": {"backend": "ray"}}, "workers.backend: a server samples without a cluster"),
    ],
)
def test_rounds_that_no_server_could_sample_are_refused(change, complaint):
    server = {"base_url": "http://127.0.0.1:1/v1", "model": "m"}
    config = RunConfig.model_validate({"name": "x", "model": {"name": "m", "server": server}, **change})
    with pytest.raises(InputError, match=complaint):
        server_must_do(config)


def config_of(server: Host, model: Path) -> dict[str, Any]:
    return {
        "name": "served",
        "model": {
            "name": str(model),
            "server": {"base_url": server.url, "model": "served", "retries": 0, "parallel": 1},
        },
        "problems": {"hops": [1]},
        "arms": [{"name": "naive", "keep": "naive", "decoding": "free", "strategy": "cot"}],
        "star": {"rounds": 2, "problems_per_round": 8},
        "sampling": {"max_new_tokens": 20, "batch_size": 4},
        "training": {"max_steps": 1, "global_batch_size": 2},
        "evaluation": {"num_problems": 4, "greedy": "never", "square": "never"},
        "promotion": {"enabled": False},
        "jobs": 1,
    }


def test_a_run_goes_on_where_its_server_is_now(tiny_model):
    server = Host("base", url="http://one/v1")
    config = RunConfig.model_validate(config_of(server, tiny_model))
    server.url = "http://other/v1"
    assert RunConfig.model_validate(config_of(server, tiny_model)).digest() == config.digest()
    other = config_of(server, tiny_model)
    other["model"]["server"]["model"] = "another"
    assert RunConfig.model_validate(other).digest() != config.digest()


def test_a_plan_leaves_out_what_only_the_server_knows(host, tiny_model):
    lines = forecast(RunConfig.model_validate(config_of(host(tiny_model), tiny_model))).lines()
    assert "the server at http://127" in lines[0]
    assert "rolling out" not in "".join(lines)


@pytest.mark.slow
def test_a_run_whose_server_dies_and_comes_back_empty_goes_on_and_asks_nothing_twice(host, tiny_model, tmp_path):
    def attempt(server: Host, out: Path) -> "subprocess.CompletedProcess[str]":
        path = tmp_path / f"{out.name}.yaml"
        path.write_text(json.dumps(config_of(server, tiny_model)))
        command = [sys.executable, "-m", "training", "run", str(path), "--out", str(out)]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)

    def attempts(out: Path) -> list[Any]:
        found = []
        for number in range(2):
            lines = (out / f"round-{number:03d}/traces.jsonl").read_text().splitlines()
            found += [read_trace(record) for record in map(json.loads, lines) if "problem" in record]
        return found

    whole = host(tiny_model)
    ended = attempt(whole, tmp_path / "whole")
    assert ended.returncode == 0, ended.stderr
    digests = [adapter_weights_digest(tmp_path / f"whole/round-{number:03d}/adapter") for number in range(2)]
    assert list(whole.adapters) == digests[1:]
    assert whole.unloaded == digests[:1]
    assert {trace.policy.adapter for trace in attempts(tmp_path / "whole")} == {None, digests[0]}

    flaky = host(tiny_model, most=2)
    for most in (3, 10, 18, None):  # amid a measurement, the first round, the second
        flaky.most = most
        flaky.adapters.clear()  # as of a server that was started anew
        ended = attempt(flaky, tmp_path / "flaky")
        assert ended.returncode == (0 if most is None else 1), ended.stderr
        assert most is None or len(flaky.asked) == most
    assert flaky.asked == whole.asked
    assert attempts(tmp_path / "flaky") == attempts(tmp_path / "whole")
    assert not list((tmp_path / "flaky").rglob("*replies*"))
