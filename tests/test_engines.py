"""Sampling engines behind the interface of policies: vLLM's contract with a stand-in, and vLLM itself where it is."""

import json
import random
import re
import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import yaml
from typer.testing import CliRunner

from critics.errors import InputError, RunFailed
from critics.judge import judge
from critics.problem import Attempt
from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import row_of
from rollout.engines import vllm
from rollout.engines.grammar import GuideBackend, GuidedRequest
from rollout.engines.vllm import EngineSettings, VLLMPolicy
from rollout.guides.catalogue import GuideRecipe
from rollout.guides.logic import LogicGuide
from rollout.policies.policy import HuggingFacePolicy, TokenPolicy, load_model
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.digests import EngineUse, PolicyDigests
from rollout.records.sampling import Sampling, Switches
from rollout.records.traces import read_trace
from rollout.strategies.single import sample
from training.cli import app
from training.configuration.run import RunConfig
from training.configuration.section import ConfigError
from training.rounds.processes import Slot, serve
from training.workers import choice

PROBLEMS = list(generate(PrOntoQA(hops=(1, 2), extra_kinds=(0, 0)), 4, seed=3))
STYLE = PromptStyle()
WORDS = sorted(set(re.findall(r"\w+", " ".join(problem.context for problem in PROBLEMS[:2]))))


# -- a stand-in for vLLM: its classes, as far as they are used, over a model of transformers


@dataclass
class SamplingParams:
    max_tokens: int
    temperature: float = 1.0
    seed: int | None = None
    stop: str | None = None
    detokenize: bool = True
    skip_special_tokens: bool = True
    structured_outputs: object = None
    prompt_logprobs: int | None = None
    stop_token_ids: list[int] | None = None
    ignore_eos: bool = False


@dataclass
class StructuredOutputsParams:
    choice: list[str]


@dataclass(frozen=True)
class LoRARequest:
    lora_name: str
    lora_int_id: int
    lora_path: str


@dataclass
class LLM:
    """Takes requests one after another, and asks a grammar for masks and tells it tokens as vLLM's scheduler does."""

    model: str
    options: dict
    loras: list = field(default_factory=list)
    calls: list = field(default_factory=list)

    def __post_init__(self):
        config = SimpleNamespace(max_model_len=500, get_vocab_size=lambda: self.width, enable_sleep_mode=True)
        self.manager = SimpleNamespace(backend=None)
        core = SimpleNamespace(
            engine_core=SimpleNamespace(structured_output_manager=self.manager),
            shutdown=lambda: self.calls.append("ended"),
        )
        self.llm_engine = SimpleNamespace(
            vllm_config=SimpleNamespace(model_config=config), engine_core=core, add_lora=self.loras.append
        )
        self.net = load_model(self.model).eval()
        self.width = self.net.config.vocab_size

    def sleep(self, level):
        self.calls.append(f"sleep {level}")

    def wake_up(self):
        self.calls.append("wake up")

    def generate(self, prompts, params, use_tqdm, lora_request):
        self.loras.append(lora_request)
        pairs = zip(prompts, params, strict=True)
        return [self._scored(p, s) if s.prompt_logprobs is not None else self._written(p, s) for p, s in pairs]

    def _logits(self, ids):
        with torch.inference_mode():
            logits = self.net(torch.tensor([ids])).logits[0].float()
        return logits.clone()

    def _scored(self, prompt, _):
        ids = prompt["prompt_token_ids"]
        values = self._logits(ids).log_softmax(-1)
        told = [{token: SimpleNamespace(logprob=float(values[i, token]))} for i, token in enumerate(ids[1:])]
        return SimpleNamespace(prompt_logprobs=[None, *told])

    def _written(self, prompt, params):
        ids, new, grammar = list(prompt["prompt_token_ids"]), [], None
        [eos] = params.stop_token_ids
        assert params.ignore_eos, "the model's own end may be another"
        if params.structured_outputs is not None:
            spec = json.dumps(params.structured_outputs.choice)
            grammar = self.manager.backend.compile_grammar("choice", spec, stop_token_ids={eos})
        generator = torch.Generator().manual_seed(params.seed or 0)
        bits = None if grammar is None else self.manager.backend.allocate_token_bitmask(1)
        reason = "length"
        while len(new) < params.max_tokens:
            logits = self._logits(ids + new)[-1]
            if grammar is not None:
                grammar.fill_bitmask(bits, 0)
                logits[~unpacked(bits, self.width)] = -torch.inf
            if params.temperature == 0:
                token = int(logits.argmax())
            else:
                token = int(torch.multinomial((logits / params.temperature).softmax(-1), 1, generator=generator))
            new.append(token)
            if grammar is not None and not grammar.accept_tokens("r", [token]):
                reason = "error"
                break
            if token == eos:
                reason = "stop"
                break
        return SimpleNamespace(outputs=[SimpleNamespace(token_ids=new, finish_reason=reason)])


def unpacked(bits, width):
    return torch.from_numpy(np.unpackbits(bits.numpy().view(np.uint8), bitorder="little")[:width].astype(bool))


@pytest.fixture
def stand_in(monkeypatch):
    """Put the stand-in in vLLM's place; what it returns lists the engines that were started."""
    started = []

    def start(model, **options):
        started.append(LLM(model, options))
        return started[-1]

    modules = {
        "vllm": ModuleType("vllm"),
        "vllm.sampling_params": ModuleType("p"),
        "vllm.lora.request": ModuleType("r"),
    }
    modules["vllm"].__version__ = "0.0"
    modules["vllm"].LLM, modules["vllm"].SamplingParams = start, SamplingParams
    params = modules["vllm.sampling_params"]
    params.SamplingParams, params.StructuredOutputsParams = SamplingParams, StructuredOutputsParams
    modules["vllm.lora.request"].LoRARequest = LoRARequest
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(vllm, "_running", vllm._Running())
    return started


@pytest.fixture(scope="module")
def own(tiny_model):
    torch.set_num_threads(1)
    return HuggingFacePolicy(str(tiny_model), prompt_style=STYLE)


def engine_policy(model, adapter=None):
    return VLLMPolicy(EngineSettings(str(model)), adapter, prompt_style=STYLE)


# -- what it writes


@pytest.mark.parametrize("decoding", ["guided", "free"])
def test_greedy_text_equals_the_own_loops_token_by_token(own, tiny_model, stand_in, decoding):
    sampling = Sampling(decoding, 0.0, max_new_tokens=40, switches=Switches(log_probabilities=True))
    expected, found = (
        list(sample(policy, PROBLEMS, sampling, seed=1, format_="guided"))
        for policy in (own, engine_policy(tiny_model))
    )
    assert [t.completion_ids for t in found] == [t.completion_ids for t in expected]
    assert [t.completion for t in found] == [t.completion for t in expected]
    # The model's own, whatever the guide refuses.
    for one, other in zip(found, expected, strict=True):
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-4)


def test_guided_text_never_holds_an_invalid_closed_block_however_it_is_drawn(tiny_model, stand_in):
    policy = engine_policy(tiny_model)
    for trace in sample(policy, PROBLEMS, Sampling("guided", 1.5, 3, 80), seed=5, format_="guided"):
        row, table = row_of(LogicGuide.for_problem(trace.problem)), policy.masks().vocabulary
        for token in trace.completion_ids:
            if token != policy.eos_id:
                row.push(table[token])  # raises `GuideViolation` where it is refused
        verdict = judge(trace.problem, Attempt(trace.id, trace.problem, "guided", trace.completion))
        assert getattr(verdict, "reason", "") not in ("invalid_step", "unknown_action", "double_negation")


def test_a_seed_makes_the_same_text_again_and_a_trace_names_the_engine(tiny_model, stand_in):
    policy = engine_policy(tiny_model)
    sampling = Sampling("guided", 1.0, max_new_tokens=20)
    one, again = (list(sample(policy, PROBLEMS, sampling, seed=1, format_="guided")) for _ in range(2))
    assert one == again
    record = one[0].record()
    assert record["policy"]["engine"] == {"name": "vllm", "version": "0.0", "log_probabilities": "plain"}
    assert read_trace(json.loads(json.dumps(record))) == one[0]
    assert "engine" not in PolicyDigests("b").record()


def test_blocks_that_no_longer_fit_are_not_begun(own, tiny_model, stand_in):
    sampling = Sampling("guided", 0.0, max_new_tokens=25, switches=Switches(fit_blocks=True))
    expected, found = (
        list(sample(policy, PROBLEMS, sampling, seed=1, format_="guided"))
        for policy in (own, engine_policy(tiny_model))
    )
    assert [t.completion_ids for t in found] == [t.completion_ids for t in expected]


def test_a_text_is_rated_as_the_own_loop_rates_it(own, tiny_model, stand_in):
    prompts = [own.prompt(problem) for problem in PROBLEMS[:2]]
    found = engine_policy(tiny_model).score(prompts, [" one", " another one"])
    assert found == pytest.approx(own.score(prompts, [" one", " another one"]), abs=1e-4)


def test_a_prompt_that_does_not_fit_is_refused_instead_of_cut_off(tiny_model, stand_in):
    with pytest.raises(InputError, match=r"900 new ones .* lower sampling.max_new_tokens"):
        list(sample(engine_policy(tiny_model), PROBLEMS, Sampling("free", 0.0, 1, 900), seed=1, format_="guided"))


def test_a_request_that_the_engine_gives_up_is_no_attempt(tiny_model, stand_in, monkeypatch):
    policy = engine_policy(tiny_model)
    monkeypatch.setattr("rollout.engines.grammar.GuideGrammar.accept_tokens", lambda *_: False)
    with pytest.raises(RunFailed, match="'error'"):
        list(sample(policy, PROBLEMS, Sampling("guided", 0.0, 1, 9), seed=1, format_="guided"))


# -- the grammar's contract


@pytest.fixture
def grammar(tiny_model):
    policy = TokenPolicy(str(tiny_model), STYLE)
    backend = GuideBackend(policy.masks(), len(policy.masks().vocabulary) + 40)
    spec = backend.announce(GuidedRequest(LogicGuide.for_problem(PROBLEMS[0]), 100, fits_blocks=False))
    return policy, backend, backend.compile_grammar("choice", json.dumps(spec))


def allowed(backend, grammar):
    bits = backend.allocate_token_bitmask(3)
    grammar.fill_bitmask(bits, 1)
    assert bool((bits[[0, 2]] == -1).all())
    return set(torch.nonzero(unpacked(bits[1], backend.num_outputs))[:, 0].tolist())


def test_masks_follow_the_row_and_refuse_outputs_without_a_token(grammar):
    policy, backend, made = grammar
    row = row_of(LogicGuide.for_problem(PROBLEMS[0]))
    text = "Formalized context: 1- [[axiom:("
    for token in policy.spelled(text.encode()):
        assert allowed(backend, made) == set(backend.masks.allowed(row).tolist())
        assert made.accept_tokens("r", [token])
        row.push(backend.masks.vocabulary[token])
    assert allowed(backend, made) == set(backend.masks.allowed(row).tolist())
    assert policy.eos_id not in allowed(backend, made)


def test_drafts_are_looked_at_without_a_trace_and_tokens_can_be_taken_back(grammar):
    policy, backend, made = grammar
    tokens = policy.spelled(b"Formalized context: 1- [[axiom:(")
    before = allowed(backend, made)
    refused = policy.spelled(b"zzz]]")
    assert made.validate_tokens([*tokens, *refused])[: len(tokens)] == tokens
    assert len(made.validate_tokens([*tokens, *refused])) < len(tokens) + len(refused)
    assert made.validate_tokens([policy.eos_id, tokens[0]]) == [policy.eos_id]
    assert allowed(backend, made) == before
    assert made.accept_tokens("r", tokens)
    assert not made.is_terminated()
    made.rollback(len(tokens) - 2)
    assert made.accept_tokens("r", tokens[2:])
    made.reset()
    assert allowed(backend, made) == before
    assert made.accept_tokens("r", [policy.eos_id])
    assert made.is_terminated()
    assert not made.accept_tokens("r", [policy.eos_id])
    assert made.validate_tokens([tokens[0]]) == []


def test_end_of_text_and_tokens_of_no_meaning_are_refused_inside_a_block(grammar):
    policy, backend, made = grammar
    assert made.accept_tokens("r", policy.spelled(b"[["))
    for token in (policy.eos_id, backend.num_outputs - 1, -1, policy.tokenizer.pad_token_id):
        assert made.validate_tokens([token]) == []
        assert not made.accept_tokens("r", [token])


STRADDLING = rb" [[| [[infer:(| [[axiom:(|]] [[|)]]|]]-[[infer:(|))]] [[goal:(|[[]]|[x|]]. Answer: ".split(b"|")
TABLE = [None, *(bytes([byte]) for byte in range(128)), *STRADDLING, *map(str.encode, WORDS)]


def side_by_side(guides):
    """Return a backend over single bytes and tokens that straddle marks, and for each guide a row and a grammar."""
    backend = GuideBackend(MaskEngine(TABLE, [0]), len(TABLE) + 40)
    return backend, [(row_of(g.clone()), backend.grammar(GuidedRequest(g, 100, fits_blocks=False))) for g in guides]


def exact(backend, row, made):
    """Return what may come next, once it is the same by the mask and token by token."""
    expected = {i for i, token in enumerate(TABLE) if token and row.accepts(token)}
    assert allowed(backend, made) == expected | ({0} if row.may_end else set())
    return sorted(expected)


@pytest.mark.parametrize("name", ["logic", "memory", "quote", "algebra", "parity", "concluding"])
def test_ways_that_other_rows_went_lead_to_masks_that_are_exact(name):
    recipe, rng = ("logic", True) if name == "concluding" else (name, False), random.Random(name)
    guides = [GuideRecipe(recipe[0], problem, recipe[1]).guide() for problem in PROBLEMS[:2] for _ in range(3)]
    backend, pairs = side_by_side(guides)
    for _ in range(50):
        for row, made in pairs:
            expected = exact(backend, row, made)
            marks = [i for i in expected if b"[[" in TABLE[i] or b"]]" in TABLE[i]]
            token = rng.choice(marks if marks and rng.random() < 0.6 else expected)
            assert made.validate_tokens([token, len(TABLE)]) == [token]
            assert made.accept_tokens("r", [token])
            row.push(TABLE[token])
    assert sum(len(place.after) for place in backend._places.values()) > 20, "ways are remembered"


def test_tokens_that_end_a_block_and_begin_another_lead_each_row_its_own_way():
    """The same words in the same states, of guides that know different facts."""
    texts = [f"a [[axiom:({fact})]] [[axiom:(a 'x) -> (c 'x)]] [[infer:(" for fact in ("a b", "a d", "e d")]
    texts[2] = texts[2][:-1] + "nothing]]"
    backend, pairs = side_by_side([LogicGuide() for _ in texts])
    spelled, between = backend.masks.trie.longest_match, TABLE.index(b"]] [[")
    parts = [[spelled(part.encode()) for part in text.split("]] [[")] for text in texts]
    tokens = [[*first, between, *second, between, *third] for first, second, third in parts]
    for step in range(max(map(len, tokens))):
        for (row, made), ids in zip(pairs, tokens, strict=True):
            exact(backend, row, made)
            if step < len(ids):
                assert made.accept_tokens("r", [ids[step]])
                row.push(TABLE[ids[step]])
    assert [row.guide.offers for row, _ in pairs] == [["(c b)"], ["(c d)"], ["nothing"]]


def test_vllms_manager_asks_once_a_step_for_all_and_a_token_that_no_mask_allowed_is_refused(grammar):
    policy, backend, made = grammar
    other = backend.grammar(GuidedRequest(LogicGuide.for_problem(PROBLEMS[1]), 100, fits_blocks=False))
    requests = {
        name: SimpleNamespace(request_id=name, structured_output_request=SimpleNamespace(grammar=each))
        for name, each in (("a", made), ("b", other))
    }
    [opening] = policy.spelled(b"[[")[:1]
    assert not backend.accept(requests["a"], [opening])
    backend.bitmask(requests, ["a", "b"], {})
    assert backend.accept(requests["b"], [opening])
    found = torch.from_numpy(backend.bitmask(requests, ["a", "b"], {}))
    for each, bits in zip((made, other), found, strict=True):
        assert set(torch.nonzero(unpacked(bits, backend.num_outputs))[:, 0].tolist()) == allowed(backend, each)
    assert backend.accept(SimpleNamespace(request_id="free", structured_output_request=None), [opening])
    backend.forget()
    assert not backend.accept(requests["b"], [opening])


def test_a_grammar_that_nobody_announced_is_none(grammar):
    with pytest.raises(KeyError):
        grammar[1].compile_grammar("choice", '["x"]')


def test_the_classes_have_all_of_vllms_methods():
    types = pytest.importorskip("vllm.v1.structured_output.backend_types")
    from rollout.engines.grammar import GuideGrammar

    for ours, theirs in ((GuideGrammar, types.StructuredOutputGrammar), (GuideBackend, types.StructuredOutputBackend)):
        assert [name for name in theirs.__abstractmethods__ if not callable(getattr(ours, name, None))] == []


# -- adapters, and an engine that stays


def lora(folder, rank, **others):
    from peft import LoraConfig, get_peft_model

    def save(model):
        config = LoraConfig(r=rank, target_modules="all-linear", task_type="CAUSAL_LM", **others)
        get_peft_model(load_model(str(model)), config).save_pretrained(folder)
        return folder

    return save


def test_adapters_are_exchanged_without_a_restart_under_their_digests(tiny_model, stand_in, tmp_path):
    torch.manual_seed(0)
    first, second = (lora(tmp_path / name, 4)(tiny_model) for name in ("one", "two"))
    base = engine_policy(tiny_model)
    policies = [
        base,
        engine_policy(tiny_model, first),
        engine_policy(tiny_model, second),
        engine_policy(tiny_model, first),
    ]
    for policy in policies:
        policy.complete([policy.prompt(PROBLEMS[0])], None, [1], Sampling("free", 0.0, 1, 2))
    [engine] = stand_in
    *loaded, _, one, two, again = engine.loras
    assert [each.lora_name for each in loaded] == [p.digests.adapter for p in policies[1:]]
    assert one == again
    assert len({(each.lora_name, each.lora_int_id) for each in (one, two)}) == 2
    assert (base.digests.adapter, base.digests.engine) == (None, EngineUse("vllm", "0.0"))
    assert "lm_head" not in engine.options["lora_target_modules"]


def test_an_engine_starts_anew_for_a_higher_rank_or_other_weights_and_the_old_one_ends_first(
    tiny_model, stand_in, tmp_path
):
    base = engine_policy(tiny_model)
    base.score(["x"], ["y"])
    engine_policy(tiny_model, lora(tmp_path / "wide", 24)(tiny_model))
    assert [e.options["max_lora_rank"] for e in stand_in] == [16, 32]
    assert stand_in[0].calls == ["ended"]
    base.score(["x"], ["y"])
    whole = tmp_path / "whole"
    load_model(str(tiny_model)).save_pretrained(whole)
    engine_policy(tiny_model, whole).score(["x"], ["y"])
    assert [e.model for e in stand_in] == [str(tiny_model), str(tiny_model), str(whole)]
    assert stand_in[2].options["tokenizer"] == str(tiny_model)
    base.score(["x"], ["y"])  # whose engine has ended since
    assert [e.model for e in stand_in[3:]] == [str(tiny_model)]


def test_an_engine_sleeps_when_it_is_told_and_wakes_for_the_next_request(tiny_model, stand_in):
    vllm.rest()  # where none runs
    policy = engine_policy(tiny_model)
    policy.complete(["x"], None, [1], Sampling("free", 0.0, 1, 2))
    for _ in range(2):
        vllm.rest()
    policy.complete(["x"], None, [1], Sampling("free", 0.0, 1, 2))
    policy.complete(["x"], None, [1], Sampling("free", 0.0, 1, 2))
    assert stand_in[0].calls == ["sleep 1", "wake up"]


def test_a_resident_lets_its_engine_rest_between_stages(tiny_model, stand_in):
    engine_policy(tiny_model).score(["x"], ["y"])
    told, waiting = [], [3, 0]

    def get():
        return lambda _channel, number: 6 // number, (waiting.pop(0),)  # an `IndexError` ends it

    def send(message):
        told.append((*message, list(stand_in[0].calls)))

    with pytest.raises(IndexError):
        serve(SimpleNamespace(work=SimpleNamespace(get=get), connection=SimpleNamespace(send=send)), stays=True)
    assert told[0] == ("result", 2, ["sleep 1"])
    assert (told[1][0], type(told[1][1])) == ("failed", ZeroDivisionError)


def test_residents_that_come_after_the_end_are_ended():
    killed = []
    one, two, three = (SimpleNamespace(kill=lambda name=name: killed.append(name)) for name in "abc")
    slot = Slot(keeps=True)
    slot.keep({}, one)
    slot.keep({}, two)
    assert slot.take({"GPU": "1"}) is None
    assert {slot.take({}).kill, slot.take({}).kill} == {one.kill, two.kill}, "both have the same place"
    assert slot.take({}) is None
    slot.keep({"GPU": "1"}, one)
    slot.kill()
    slot.keep({}, three)
    assert killed == ["a", "c"]


# -- refusals


def test_vllm_that_is_missing_is_named_with_its_remedy(tiny_model, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "vllm", None)
    config, problems = tmp_path / "c.yaml", tmp_path / "p.jsonl"
    config.write_text(yaml.safe_dump({"name": "t", "model": {"name": str(tiny_model), "engine": "vllm"}}))
    problems.write_text(json.dumps(PROBLEMS[0].record()) + "\n")
    result = CliRunner().invoke(
        app, ["rollout", str(config), "--problems", str(problems), "--out", str(tmp_path / "t.jsonl")]
    )
    assert result.exit_code == 2
    assert 'pip install "certistar[vllm]"' in result.output.replace("\n", " ")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"model": {"policy": "mine"}}, "decodes by itself"),
        ({"model": {"server": {"base_url": "http://h/v1", "model": "m"}}}, "decodes by itself"),
        ({"sampling": {"jump_forward": True}}, "sampling.jump_forward: is for the own loop"),
        ({"sampling": {"gathered_head": True}}, "sampling.gathered_head: is for the own loop"),
        ({"training": {"method": "dora"}}, "vLLM has no DoRA"),
    ],
)
def test_what_vllm_cannot_do_is_refused_before_any_work(change, complaint):
    data = {"name": "t", **change}
    data["model"] = {"name": "m", "engine": "vllm", **change.get("model", {})}
    with pytest.raises(ValueError, match=complaint):
        RunConfig.model_validate(data)


PYDANTIC = (
    "1 validation error for ModelConfig\n  Value error, Model architectures ['X'] are not supported for now. [..]"
)


@pytest.mark.parametrize(
    ("error", "complaint"),
    [
        (ValueError(PYDANTIC), r"\(Model architectures \['X'\] are not supported for now. .*\); write `engine: own`"),
        (ValueError("Free memory on device 0 is less than desired"), "lower `model.vllm.gpu_memory` where others"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), "or `model.vllm.tensor_parallel`"),
        (torch.OutOfMemoryError("CUDA"), "lower `model.vllm.max_tokens`"),
        (NotImplementedError(), r"\(NotImplementedError\); write `engine: own`"),
    ],
)
def test_a_model_that_vllm_refuses_is_named_with_a_remedy(tiny_model, stand_in, monkeypatch, error, complaint):
    monkeypatch.setattr(sys.modules["vllm"], "LLM", Mock(side_effect=error))
    with pytest.raises(InputError, match=complaint):
        engine_policy(tiny_model).score(["x"], ["y"])


def test_an_error_of_ours_is_not_told_as_a_model_that_vllm_refuses(tiny_model, stand_in, monkeypatch):
    monkeypatch.setattr(vllm, "_linear_names", Mock(side_effect=ValueError("ours")))
    with pytest.raises(ValueError, match=r"^ours$"):
        engine_policy(tiny_model).score(["x"], ["y"])


@pytest.mark.parametrize(("options", "complaint"), [({"use_dora": True}, "no DoRA"), ({"r": 600}, "at most 512")])
def test_adapters_that_vllm_cannot_run_are_refused(tiny_model, stand_in, tmp_path, options, complaint):
    folder = lora(tmp_path / "a", 4)(tiny_model)
    path = folder / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **options}))
    with pytest.raises(InputError, match=complaint):
        engine_policy(tiny_model, folder)
    assert stand_in == []


def config_of(**vllm_options):
    return RunConfig.model_validate({"name": "t", "model": {"name": "m", "engine": "vllm", "vllm": vllm_options}})


def test_an_engine_has_whole_gpus_and_what_it_takes_is_in_no_digest():
    config = config_of(tensor_parallel=2)
    places = choice.places(config, cores=8, gpus=["0", "1", "2", "3", "4"])
    assert [place["CUDA_VISIBLE_DEVICES"] for place in places] == ["0,1", "2,3"]
    assert choice.places(config, cores=8, gpus=[]) == [{}]
    with pytest.raises(ConfigError, match="2 GPUs an engine, and a line of rounds has 1"):
        choice.places(config, cores=8, gpus=["0"])
    assert config.digest() == config_of().digest()
    assert config.digest() != RunConfig.model_validate({"name": "t", "model": {"name": "m"}}).digest()
