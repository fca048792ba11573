"""vLLM itself, where it is installed: greedy text beside the own loop's, and whole runs with `model.engine: vllm`."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import torch

from rollout.decoding.rows import row_of
from rollout.engines import vllm
from rollout.engines.vllm import EngineSettings, VLLMPolicy
from rollout.guides.logic import LogicGuide
from rollout.policies.policy import HuggingFacePolicy, load_model
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.digests import adapter_weights_digest
from rollout.records.sampling import Sampling, Switches
from rollout.records.traces import read_trace
from rollout.servers.policy import ServerPolicy
from rollout.settings import ServerSettings
from rollout.strategies.single import sample

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
SEED = ROOT / "checkpoints/seed-fair"
STYLE = PromptStyle()
PROBLEMS = list(generate(PrOntoQA(hops=(1, 2, 3)), 200, seed=3))
TIE = 1e-3
"""Two log-probabilities nearer than this are equal within what float32 keeps of a sum of this size."""


@pytest.fixture(scope="module")
def engine():
    """Skip where there is no vLLM; a process is a fresh one for each test of a run."""
    pytest.importorskip("vllm")
    torch.set_num_threads(1)


def noisy_adapter(folder: Path, rank: int) -> Path:
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(rank)
    config = LoraConfig(r=rank, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
    model = get_peft_model(load_model(str(SEED)), config)
    with torch.no_grad():
        for name, part in model.named_parameters():
            if "lora_B" in name:
                part.normal_(std=0.02)
    model.save_pretrained(folder)
    return folder


def is_tie(own: HuggingFacePolicy, one, other) -> bool:
    """Say whether two greedy texts part at tokens that are equally likely to the own model, within float error."""
    place = next(n for n, (a, b) in enumerate(zip(one.completion_ids, other.completion_ids, strict=False)) if a != b)
    ids = own.prompt_ids(one.prompt) + list(one.completion_ids[:place])
    with torch.inference_mode():
        values = own.model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
    return abs(float(values[one.completion_ids[place]] - values[other.completion_ids[place]])) < TIE


@pytest.mark.parametrize("decoding", ["guided", "free"])
def test_greedy_text_of_base_and_adapters_equals_the_own_loops_but_for_ties(engine, tmp_path, decoding):
    sampling = Sampling(decoding, 0.0, max_new_tokens=300, switches=Switches(log_probabilities=True))
    adapters = [None, noisy_adapter(tmp_path / "one", 8), noisy_adapter(tmp_path / "two", 16)]
    policies = [VLLMPolicy(EngineSettings(str(SEED)), each, prompt_style=STYLE) for each in adapters]
    running, texts = vllm._running.engine, []
    for adapter, policy in zip(adapters, policies, strict=True):
        own = HuggingFacePolicy(str(SEED), adapter, prompt_style=STYLE)
        expected, found = (list(sample(each, PROBLEMS, sampling, seed=1, format_="guided")) for each in (own, policy))
        pairs = list(zip(expected, found, strict=True))
        assert [o.id for o, f in pairs if o.completion_ids != f.completion_ids and not is_tie(own, o, f)] == []
        for one, other in pairs:
            if one.completion_ids == other.completion_ids:
                assert other.log_probabilities == pytest.approx(one.log_probabilities, abs=TIE)
        texts.append([t.completion for t in found])
    assert len(set(map(tuple, texts))) == 3, "an adapter that changes nothing was not used"
    assert vllm._running.engine is running, "adapters were exchanged in one engine"


def test_sampled_guided_text_is_allowed_token_by_token_and_comes_again(engine):
    policy = VLLMPolicy(EngineSettings(str(SEED)), prompt_style=STYLE)
    table, sampling = policy.masks().vocabulary, Sampling("guided", 1.3, max_new_tokens=300)
    traces, again = (list(sample(policy, PROBLEMS, sampling, seed=5, format_="guided")) for _ in range(2))
    assert traces == again
    for trace in traces:
        row = row_of(LogicGuide.for_problem(trace.problem))
        for token in trace.completion_ids:
            if token == policy.eos_id:
                assert row.may_end
            else:
                row.push(table[token])  # raises `GuideViolation` where it is refused


def run(out: Path, asked: str = "model.engine=vllm") -> "subprocess.Popen[str]":
    sets = [f"model.name={SEED}", asked, "star.rounds=2", "jobs=1"]
    overrides = [word for each in sets for word in ("--set", each)]
    command = [sys.executable, "-m", "training", "run", "configs/smoke.yaml", "--out", str(out), *overrides]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def stored(path: Path) -> list:
    if not path.exists():
        return []
    records = map(json.loads, path.read_text().splitlines())
    return [read_trace(record) for record in records if "problem" in record]


def adapters_are_exchanged(whole: Path) -> list:
    """Return the attempts of both arms, once each round's are seen to be of the adapter before it."""
    attempts = []
    for arm in ("strict", "naive"):
        rounds = [whole / arm / "seed-0" / f"round-{number:03d}" for number in range(2)]
        first, second = (stored(each / "traces.jsonl") for each in rounds)
        assert len(first) == len(second) == 40
        assert {trace.policy.adapter for trace in first} == {None}
        assert {trace.policy.adapter for trace in second} == {adapter_weights_digest(rounds[0] / "adapter")}
        attempts += first + second
    return attempts


def kill_amid_the_first_round(begun: "subprocess.Popen[str]", out: Path, name: str) -> None:
    sampled = out / "strict/seed-0/round-000" / name
    deadline = time.monotonic() + 600
    while not sampled.exists() or not sampled.read_text().count("\n"):
        assert begun.poll() is None, begun.communicate()[0]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    begun.send_signal(signal.SIGKILL)
    begun.wait()


def finish(out: Path, *asked: str) -> None:
    ended = run(out, *asked)
    said, _ = ended.communicate()
    assert ended.returncode == 0, said


def test_both_arms_run_with_an_adapter_exchanged_each_round_and_go_on_when_they_were_killed(engine, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    finish(whole)
    assert {trace.policy.engine.name for trace in adapters_are_exchanged(whole)} == {"vllm"}
    kill_amid_the_first_round(run(killed), killed, "traces.open.jsonl")
    finish(killed)
    for arm in ("strict", "naive"):
        for number in range(2):
            name = f"{arm}/seed-0/round-{number:03d}/traces.jsonl"
            assert stored(killed / name) == stored(whole / name)


@pytest.fixture(scope="module")
def address(engine, tmp_path_factory):
    """A server of vLLM with this project's plug-in."""
    if "rollout.engines.plugins:register_in_vllm" not in [e.value for e in entry_points(group="vllm.general_plugins")]:
        pytest.skip("this project is not installed here with its entry points (pip install -e .)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("vllm")), "serve", str(SEED), "--enable-lora", "--port", str(port)]
    options = ["--max-num-batched-tokens", "65536", "--dtype", "float32", "--enforce-eager"]
    environment = {**vllm.ENVIRONMENT, **os.environ, "HF_HUB_OFFLINE": "1", "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "True"}
    log = tmp_path_factory.mktemp("serve") / "log"
    with log.open("wb") as file:
        server = subprocess.Popen([*command, *options], env=environment, stdout=file, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + 900
        while server.poll() is None and b"startup complete" not in log.read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.5)
        assert server.poll() is None, log.read_text()[-2000:]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


def served(address: str, **settings) -> ServerPolicy:
    made = ServerSettings(base_url=address, model=str(SEED), **settings)
    return ServerPolicy(made, prompt_style=STYLE, tokenizer=str(SEED))


@pytest.mark.parametrize(("constraint", "most"), [("guide", 1.0), ("grammar", 3.0)])
def test_a_server_writes_greedy_guided_text_as_the_own_loop_does(address, constraint, most):
    problems, sampling = PROBLEMS[:60], Sampling("guided", 0.0, max_new_tokens=300)
    own = HuggingFacePolicy(str(SEED), prompt_style=STYLE)
    expected = {t.id: t.completion for t in sample(own, problems, sampling, seed=1, format_="guided")}
    found = list(sample(served(address, constraint=constraint), problems, sampling, seed=1, format_="guided"))
    # The server's text ends with its answer, and tokens that straddle a cut may be spelled otherwise.
    same = sum(expected[t.id].startswith(t.completion) for t in found)
    assert same >= (0.95 if constraint == "guide" else 0.8) * len(problems)
    assert sum(t.server["calls"] for t in found) <= most * len(problems)


def test_a_run_on_a_server_exchanges_adapters_and_goes_on_when_it_was_killed(address, tmp_path):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    asked = f"model.server={{base_url: '{address}', model: {SEED}}}"
    finish(whole, asked)
    guided = [trace for trace in adapters_are_exchanged(whole) if trace.sampling.decoding == "guided"]
    assert {trace.server["constraint"] for trace in guided} == {"guide"}
    kill_amid_the_first_round(run(killed, asked), killed, "replies.open.jsonl")
    finish(killed, asked)
    adapters_are_exchanged(killed)
    assert not list(killed.rglob("*.open.jsonl"))
