"""Adapters joined for sampling: the same model as peft's, with nothing of the base changed."""

from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from rollout.policies.adapted import LowRank, joined

LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def base(dtype: torch.dtype = torch.float32, *, tied: bool = True, kind: str = "llama"):
    torch.manual_seed(0)
    names = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = AutoConfig.for_model(kind, vocab_size=200, num_key_value_heads=2, tie_word_embeddings=tied, **names)
    return AutoModelForCausalLM.from_config(config).to(dtype).eval()


def saved(
    folder: Path, *, kind: str = "llama", seed: int = 1, size: float = 0.02, tied: bool = True, **options
) -> Path:
    """Save an adapter of random weights."""
    import peft

    config = peft.LoraConfig(**{"r": 4, "target_modules": LINEAR, **options})
    wrapped = peft.get_peft_model(base(tied=tied, kind=kind), config)
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weight in wrapped.named_parameters():
            if "lora_" in name and "magnitude" not in name:
                weight.copy_(torch.randn_like(weight) * size)
            elif "magnitude" in name:
                weight.mul_(1 + torch.rand_like(weight) / 4)
    wrapped.save_pretrained(str(folder))
    return folder


def by_peft(model, adapter: Path):
    import peft

    return peft.PeftModel.from_pretrained(model, str(adapter)).eval()


def logits(model) -> torch.Tensor:
    with torch.inference_mode():
        return model(torch.arange(60).view(2, 30)).logits.float()


@pytest.mark.parametrize(
    ("options", "tied"), [({}, True), ({"use_dora": True}, False), ({"modules_to_save": ["lm_head"]}, False)]
)
def test_in_float32_an_adapter_is_merged_into_weights_of_its_own(tmp_path, options, tied):
    adapter, model = saved(tmp_path, tied=tied, **options), base(tied=tied)
    tensors = {name: (tensor, tensor.clone()) for name, tensor in model.state_dict().items()}
    plain = logits(model)
    own, how = joined(model, adapter)
    assert how == "merged"
    assert not any("lora" in name for name, _ in own.named_modules())
    assert torch.allclose(logits(own), logits(by_peft(base(tied=tied), adapter)), atol=2e-6)
    assert not torch.allclose(logits(own), plain, atol=1e-3)
    assert all(torch.equal(now, before) for now, before in tensors.values()), "the base's own tensors are as they were"
    assert not any(parameter.requires_grad for parameter in own.parameters())


def test_what_is_tied_to_a_changed_layer_keeps_its_weights(tmp_path):
    adapter = saved(tmp_path, target_modules=["lm_head", "q_proj"])
    own, how = joined(base(), adapter)
    assert how == "merged"
    assert torch.allclose(logits(own), logits(by_peft(base(), adapter)), atol=2e-6)


@pytest.mark.parametrize(("options", "kind"), [({}, "llama"), ({"use_dora": True}, "qwen2")])
def test_in_less_precision_an_adapter_is_computed_beside_its_base(tmp_path, options, kind):
    adapter = saved(tmp_path, kind=kind, **options)
    own, how = joined(base(torch.bfloat16, kind=kind), adapter)
    assert how == "beside"
    assert sum(isinstance(module, LowRank) for module in own.modules()) == 2 * len(LINEAR)
    exact, peft = (logits(by_peft(base(dtype, kind=kind), adapter)) for dtype in (torch.float32, torch.bfloat16))
    assert (logits(own) - exact).abs().mean() < 1.3 * (peft - exact).abs().mean()


def test_a_small_change_is_not_rounded_away_beside_a_base_of_less_precision(tmp_path):
    adapter = saved(tmp_path, size=0.002)  # most sums would be the weights themselves
    layer = joined(base(torch.bfloat16), adapter)[0].model.layers[0].self_attn.q_proj
    change = (layer.a.T.float() @ layer.b.float()).T
    weight = layer.base.weight
    merged = (weight.float() + change).to(torch.bfloat16)
    assert (merged == weight).float().mean() > 0.5
    x = torch.randn(3, 32)
    wanted = x @ change.T
    got = layer(x.bfloat16()).float() - layer.base(x.bfloat16()).float()
    assert (got - wanted).abs().max() < 0.02  # bfloat16's own error
    low = torch.nn.functional.linear(x.bfloat16(), layer.a) @ layer.b
    assert torch.allclose(low.float(), wanted, rtol=0.05, atol=1e-5)


def test_kinds_that_nothing_here_knows_are_left_to_peft(tmp_path):
    import peft

    wrapped = peft.get_peft_model(base(), peft.IA3Config(target_modules=["k_proj"], feedforward_modules=[]))
    wrapped.save_pretrained(str(tmp_path))
    own, how = joined(base(), tmp_path)
    assert how == "peft"
    assert hasattr(own, "get_base_model")
