"""Guides in servers of others: how a request travels, and what the plug-in makes of it in vLLM."""

import json
import shutil
import sys
from types import ModuleType, SimpleNamespace

import pytest
import torch

from critics.errors import InputError
from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import GuideViolation, row_of
from rollout.decoding.vocabulary import token_bytes
from rollout.engines import plugins
from rollout.engines.grammar import Backends
from rollout.engines.plugins import HEADER, WiredRequest, is_guided, read_spec
from rollout.guides.catalogue import GuideRecipe, recipe_of
from rollout.policies.models import end_ids
from rollout.policies.policy import TokenPolicy, load_tokenizer
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.strategies.single import guide_for

[PROBLEM] = generate(PrOntoQA(hops=(1,), extra_kinds=(0, 0)), 1, seed=3)
BEGUN = "Formalized context: 1- [[axiom:("


@pytest.fixture(scope="module")
def policy(tiny_model):
    return TokenPolicy(str(tiny_model), PromptStyle())


def wired(**more) -> WiredRequest:
    return WiredRequest(**{"recipe": GuideRecipe("logic", PROBLEM), "written": "", "max_new_tokens": 90, **more})


def allowed_by(policy, guide, text):
    row = row_of(guide)
    if text:
        row.push(text.encode())
    return set(policy.masks().allowed(row).tolist())


def unpacked(mask, width):
    places = torch.arange(32, dtype=torch.int32)
    bits = (mask.unsqueeze(-1) >> places & 1).bool().flatten()[:width]
    return set(torch.nonzero(bits)[:, 0].tolist())


# -- the wire


@pytest.mark.parametrize("concludes", [False, True])
def test_a_request_comes_back_as_it_was_and_leaves_the_gold_answer_behind(concludes):
    asked = wired(recipe=GuideRecipe("logic", PROBLEM, concludes), written=BEGUN, fits_blocks=True, eos_ids=(7, 2))
    spec = asked.spec()
    assert is_guided(spec)
    assert spec.count("\n") == 2
    read = read_spec(spec)
    assert read.spec() == spec
    assert (read.written, read.max_new_tokens, read.fits_blocks, read.eos_ids) == (BEGUN, 90, True, (7, 2))
    assert (read.recipe.problem.answer, read.recipe.problem.formal) == (None, None)
    assert read.recipe.guide().key == asked.recipe.guide().key


def test_every_end_of_text_that_a_model_names_ends_a_guided_attempt_on_a_server_too(tiny_model, policy, tmp_path):
    """By the ids that a request names, and by the masks that a plug-in makes of them."""
    folder = tmp_path / "model"
    shutil.copytree(tiny_model, folder)
    other = policy.eos_id + 7
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [policy.eos_id, other]}))
    tokenizer, guide = load_tokenizer(str(folder)), GuideRecipe("logic", PROBLEM).guide()
    eos_ids = end_ids(str(folder), tokenizer)
    assert eos_ids == (policy.eos_id, other)
    masks = MaskEngine(token_bytes(tokenizer), eos_ids)
    assert set(eos_ids) <= set(masks.allowed(row_of(guide)).tolist())
    within = row_of(GuideRecipe("logic", PROBLEM).guide())
    within.push(BEGUN.encode())
    assert not set(eos_ids) & set(masks.allowed(within).tolist())
    read = read_spec(wired(eos_ids=eos_ids).spec())
    backends = Backends(policy.tokenizer, len(policy.masks().vocabulary))
    for end in eos_ids:
        grammar = backends.of(read.eos_ids).grammar(read.guided())
        assert grammar.accept_tokens("", [end])
        assert grammar.is_terminated()


def test_guides_of_attempts_have_recipes_and_guides_that_have_read_on_are_others():
    sampling = Sampling("guided", 1.0, 1, 9, "decided")
    made = guide_for(PROBLEM, sampling)
    assert recipe_of(made) == GuideRecipe("logic", PROBLEM, is_concluding=True)
    assert recipe_of(made.clone()) is None
    with pytest.raises(InputError, match="'memory' decides no goal"):
        GuideRecipe("memory", PROBLEM, is_concluding=True).guide()


def begin(spec):
    guided = read_spec(spec).guided()
    row_of(guided.guide).push(guided.written)


@pytest.mark.parametrize(
    "change", [{"form": 2}, {"guide": "none"}, {"problem": {}}, {"eos_ids": None}, {"written": "[[x"}]
)
def test_a_request_of_another_version_or_with_a_wrong_beginning_is_none(change):
    line, _, rest = wired().spec().partition("\n")
    record = {**json.loads(line.removeprefix(HEADER)), **change}
    with pytest.raises((InputError, GuideViolation)):
        begin(f"{HEADER}{json.dumps(record)}\n{rest}")


# -- vLLM


def test_vllm_makes_a_guide_of_our_requests_and_of_others_what_it_made_before(policy, monkeypatch):
    class Manager:
        def __init__(self):
            width = len(policy.masks().vocabulary) + 40
            self.tokenizer = policy.tokenizer
            self.vllm_config = SimpleNamespace(model_config=SimpleNamespace(get_vocab_size=lambda: width))

        def _create_grammar(self, request):
            return "another"

    module = ModuleType("vllm.v1.structured_output")
    module.StructuredOutputManager = Manager
    for name in ("vllm", "vllm.v1"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for _ in range(2):  # vLLM loads plug-ins in each process, and some twice
        plugins.register_in_vllm()
    manager = Manager()

    def made(spec):
        return manager._create_grammar(
            SimpleNamespace(structured_output_request=SimpleNamespace(structured_output_key=("grammar", spec)))
        )

    assert made("start: /a*/") == "another"
    grammar = made(wired(written=BEGUN).spec())
    backend = manager.guide_backends.of(())
    bits = backend.allocate_token_bitmask(2)
    grammar.fill_bitmask(bits, 1)
    expected = allowed_by(policy, GuideRecipe("logic", PROBLEM).guide(), BEGUN)
    assert unpacked(bits[1], backend.num_outputs) == expected
    accepted = next(iter(expected))
    assert grammar.accept_tokens("r", [accepted])
    grammar.reset()  # to what was written, not before it
    grammar.fill_bitmask(bits, 1)
    assert unpacked(bits[1], backend.num_outputs) == expected
    with pytest.raises(InputError):
        made(f"{HEADER}{{}}\n")
