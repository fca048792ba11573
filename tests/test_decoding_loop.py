"""The loop writes what transformers' own `generate` writes under the same masks, whatever its switches save."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch

from critics.errors import RunFailed
from rollout.decoding import sampling as seating
from rollout.decoding.cache import PADDING, RaggedCache, cache_argument, plain_head, serves_ragged_rows
from rollout.decoding.choice import Scores, choose
from rollout.decoding.masks import Mask, MaskEngine
from rollout.decoding.rows import Request, RequestLimits, Row
from rollout.decoding.sampling import DecodingLoop, Seats, generate_batch, sample_batch
from rollout.policies.policy import HuggingFacePolicy
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling, Switches
from rollout.strategies.single import sample
from tools.gpu.decoding import END, NUM_SPECIAL, FreshOffers, offer_sets, vocabulary
from tools.gpu.decoding import PADDING as PAD

NUM_ROWS = 6
SIZE = 700
TOKENS = vocabulary(SIZE)
OPENING = TOKENS.index(b" [[")
ALLOWED_IN_FREE_TEXT = [OPENING, TOKENS.index(b"x"), TOKENS.index(b" ")]


class Eager(MaskEngine):
    """A mask engine under which a random model opens blocks often."""

    def mask(self, row):
        mask = super().mask(row)
        if not mask.all_but:
            return mask
        refused = sorted({*range(SIZE)} - {*ALLOWED_IN_FREE_TEXT})
        return replace(mask, ids=torch.tensor(refused).numpy())


ENGINE = Eager(TOKENS, [])


def tiny(kind="llama", **options):
    from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

    config_class, model_class = (
        (LlamaConfig, LlamaForCausalLM) if kind == "llama" else (MistralConfig, MistralForCausalLM)
    )
    torch.manual_seed(3)
    shape = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = config_class(
        vocab_size=SIZE, num_key_value_heads=2, eos_token_id=None, bos_token_id=None, **shape, **options
    )
    model = model_class(config)
    for parameter in model.parameters():
        parameter.data *= 4
    return model.eval()


@pytest.fixture(scope="module")
def model():
    torch.set_num_threads(1)
    return tiny()


def requests(*, guided=True, name="loop"):
    made = []
    for number in range(NUM_ROWS):
        rng = random.Random(number)
        prompt = [rng.randrange(2, SIZE) for _ in range(rng.randrange(1, 12))]
        guide = FreshOffers(f"{name} {number}", offer_sets(30, (1, 5, 50)[number % 3], seed=number))
        made.append(Request(prompt, number, Row(guide) if guided else None))
    return made


def limits(temperature, *, eos_id=END, num=60):
    return RequestLimits(temperature, num, eos_id, PAD)


def written(model, way, *, temperature=0.0, switches=None, seats=None, **options):
    made = requests(**options)
    switches = switches or Switches()
    if way == "reference":
        generate_batch(model, made, ENGINE, limits(temperature), switches)
    else:
        DecodingLoop(model, ENGINE, limits(temperature), switches).run(made, seats or NUM_ROWS)
    return made


@pytest.mark.parametrize("guided", [True, False], ids=["guided", "unguided"])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_loop_and_reference_write_the_same_tokens(model, guided, temperature):
    loop, reference = (
        [r.output for r in written(model, way, temperature=temperature, guided=guided)] for way in ("loop", "reference")
    )
    assert loop == reference
    assert len({tuple(output) for output in loop}) == NUM_ROWS
    assert any(OPENING in output for output in loop) is guided


def test_unguided_greedy_is_the_librarys_own_generate(model):
    for request in written(model, "loop", guided=False):
        ids = torch.tensor([request.prompt_ids])
        plain = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=False,
            max_new_tokens=60,
            eos_token_id=END,
            pad_token_id=PAD,
        )
        assert plain[0, ids.shape[1] :].tolist() == request.output


def test_ragged_and_plain_logits_agree(model):
    rng = random.Random(1)
    sequences = [[rng.randrange(SIZE) for _ in range(length)] for length in (9, 4, 13)]
    cache, done = RaggedCache(2, 3, torch.device("cpu")), [0, 0, 0]
    for counts in ((4, 1, 6), (1, 2, 0), (3, 0, 5), (1, 1, 2)):
        width = max(counts)
        ids, positions = torch.zeros(3, width, dtype=torch.long), torch.full((3, width), PADDING)
        for row, num in enumerate(counts):
            if num:
                ids[row, -num:] = torch.tensor(sequences[row][done[row] : done[row] + num])
                positions[row, -num:] = torch.arange(done[row], done[row] + num)
                done[row] += num
        with torch.inference_mode():
            seen = cache.place(positions)
            inputs = {"input_ids": ids, "position_ids": positions.clamp(min=0), "attention_mask": seen}
            logits = model(**inputs, **{cache_argument(model): cache}).logits
            for row, num in enumerate(counts):
                if num:
                    plain = model(torch.tensor([sequences[row][: done[row]]])).logits[0, -num:]
                    assert (logits[row, -num:] - plain).abs().max() <= 1e-5
    assert done == [9, 4, 13]


def test_a_cache_outgrows_its_first_slots_and_changes_hands(model):
    long = [2 + i * 7 % 600 for i in range(120)]
    made = [Request(long, 0, None), Request([5], 1, None), Request([9, 9], 2, None)]
    DecodingLoop(model, ENGINE, limits(0.0, num=20)).run(made, 2)
    for request in made:
        alone = Request(request.prompt_ids, request.seed, None)
        assert [request.output] == generate_batch(model, [alone], ENGINE, limits(0.0, num=20))


@pytest.mark.parametrize("seats", [1, 2, 5])
@pytest.mark.parametrize("jump", [True, False])
def test_the_number_of_seats_changes_no_sample(model, seats, jump):
    switches = Switches(jump_forward=jump)
    few, many = (written(model, "loop", temperature=1.0, switches=switches, seats=num) for num in (seats, NUM_ROWS))
    assert [r.output for r in few] == [r.output for r in many]


@pytest.mark.parametrize("seats", [1, 4, 9])
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_what_prompts_share_is_read_once_and_changes_no_sample(model, seats, temperature, monkeypatch):
    rng = random.Random(5)
    beginning = [rng.randrange(2, SIZE) for _ in range(100)]
    prompts = [beginning + [rng.randrange(2, SIZE) for _ in range(number)] for number in (0, 5, 9)]
    made, alone = ([Request(p, n, None) for n, p in enumerate(sorted(prompts * 3))] for _ in range(2))
    loop = DecodingLoop(model, ENGINE, limits(temperature, num=20))
    read, scores = [], loop._backbone.scores
    monkeypatch.setattr(
        loop._backbone, "scores", lambda ids, *args: read.append((args[0] >= 0).sum()) or scores(ids, *args)
    )
    loop.run(made, seats)
    for request in alone:
        DecodingLoop(model, ENGINE, limits(temperature, num=20)).run([request], 1)
    assert [request.output for request in made] == [request.output for request in alone]
    if seats > 1:
        assert sum(read) <= 100 + 5 + 9 + 9 * 21


@pytest.mark.parametrize("jump", [False, True])
def test_memory_that_runs_out_halves_the_seats_and_changes_no_sample(model, jump, monkeypatch, caplog):
    switches, seats = Switches(jump_forward=jump, log_probabilities=True), Seats()
    expected = written(model, "loop", temperature=1.0, switches=switches)
    read, passes, fits = DecodingLoop._read, [], 3

    def fails_while_many_are_seated(loop, seated, numbers):
        passes.append(len(loop._seats))
        if len(passes) > 7 and len(loop._seats) > fits:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return read(loop, seated, numbers)

    monkeypatch.setattr(DecodingLoop, "_read", fails_while_many_are_seated)
    made = requests()
    DecodingLoop(model, ENGINE, limits(1.0), switches).run(made, NUM_ROWS, seats)
    assert [each.output for each in made] == [each.output for each in expected]
    for one, other in zip(made, expected, strict=True):
        assert one.log_probabilities == pytest.approx(other.log_probabilities, abs=1e-4)
    assert seats.num == 3
    assert "going on with 3" in caplog.text
    monkeypatch.setattr(
        DecodingLoop, "_read", lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("out of memory"))
    )
    with pytest.raises(RunFailed, match=r"sampling.max_new_tokens lower"):
        DecodingLoop(model, ENGINE, limits(1.0)).run(requests(), 2)


def test_seats_are_as_many_as_the_free_memory_holds(model, monkeypatch):
    asked = requests()
    monkeypatch.setattr(seating, "_free_bytes", lambda _: float("inf"))
    assert Seats().at_once(model, asked, limits(1.0)) == len(asked)
    one = seating.fitting(model, 4, limits(1.0))
    assert one == float("inf")
    for free, expected in ((0, 1), (2**20, None), (1e12, len(asked))):
        monkeypatch.setattr(seating, "_free_bytes", lambda _, free=free: float(free))
        num = Seats().at_once(model, asked, limits(1.0))
        assert 1 <= num <= len(asked)
        assert expected is None or num == expected
        assert Seats(3).at_once(model, asked, limits(1.0)) == min(3, len(asked))


def test_jumping_saves_passes_and_writes_what_the_guide_allows(model):
    made = requests()
    plain = DecodingLoop(model, ENGINE, limits(1.0))
    plain.run(requests(), NUM_ROWS)
    loop = DecodingLoop(model, ENGINE, limits(1.0), Switches(jump_forward=True))
    loop.run(made, NUM_ROWS)
    assert plain.num_forwards == 59
    assert loop.num_forwards < 50
    for number, request in enumerate(made):
        assert len(request.forced) == len(request.output) == 60
        assert not request.forced[0]
        row = Row(FreshOffers(f"loop {number}", offer_sets(30, (1, 5, 50)[number % 3], seed=number)))
        for token in request.output:
            row.push(TOKENS[token])  # type: ignore[arg-type]
    assert sum(sum(r.forced) for r in made) > 100
    assert not any(any(r.forced) for r in written(model, "loop", temperature=1.0))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_gathered_head_writes_what_the_whole_head_writes(model, temperature):
    gathered, whole = (
        [r.output for r in written(model, "loop", temperature=temperature, switches=Switches(gathered_head=on))]
        for on in (True, False)
    )
    assert gathered == whole


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_mask_that_names_what_it_refuses_chooses_what_the_other_way_chooses(temperature):
    torch.manual_seed(5)
    scores, rng = torch.randn(4, 5_010) * 3, random.Random(7)
    allowed = [np.array(sorted(rng.sample(range(5_000), num))) for num in (2_500, 900, 2_500, 4_999)]
    everything = np.arange(5_000)
    uniforms = [rng.random() for _ in allowed]
    listed = [Mask(ids) for ids in allowed]
    refused = [Mask(np.setdiff1d(everything, ids), all_but=True) for ids in allowed]
    for _ in range(2):  # the second time by what was kept
        ways = [choose(Scores(scores), masks, temperature, uniforms, 5_000) for masks in (listed, refused)]
        assert ways[0] == ways[1]
    assert all(token in ids for token, ids in zip(ways[0], allowed, strict=True))
    assert [len(mask.on_device) for mask in refused] == [1, 1, 1, 0]


def test_logits_that_are_scaled_are_not_gathered():
    model = tiny()
    assert plain_head(model) is not None
    model.config.final_logit_softcapping = 30.0
    assert plain_head(model) is None


@pytest.mark.parametrize("way", ["reference", "jump", "no jump"])
def test_log_probabilities_are_those_of_the_unmasked_model(model, way):
    switches = Switches(jump_forward=way == "jump", log_probabilities=True)
    made = written(model, "reference" if way == "reference" else "loop", temperature=0.7, switches=switches, seats=4)
    for request in made:
        ids = torch.tensor([request.prompt_ids + request.output])
        with torch.inference_mode():
            scores = model(ids).logits[0, len(request.prompt_ids) - 1 : -1].log_softmax(-1)
        expected = scores.gather(1, torch.tensor(request.output)[:, None])[:, 0]
        assert len(request.log_probabilities) == len(request.output) == 60
        assert torch.allclose(torch.tensor(request.log_probabilities), expected, atol=1e-4)


@pytest.mark.parametrize("jump", [True, False])
@pytest.mark.parametrize("way", ["loop", "reference"])
def test_no_text_that_fits_is_cut_off_inside_a_block(model, way, jump):
    open_ends = []
    for fit in (True, False):
        made = written(model, way, temperature=1.0, switches=Switches(fit_blocks=fit, jump_forward=jump))
        open_ends.append([r.row.block is not None for r in made if r.row is not None])
    assert not any(open_ends[0])
    assert any(open_ends[1])


def test_a_long_spelling_is_not_forced_where_only_a_short_one_fits(model):
    engine = Eager(TOKENS, [], spell=lambda text: [NUM_SPECIAL + byte for byte in text])
    made = requests(name="spelled")
    loop = DecodingLoop(model, engine, limits(1.0, num=40), Switches(fit_blocks=True, jump_forward=True))
    loop.run(made, NUM_ROWS)
    assert not any(r.row.block is not None for r in made if r.row is not None)


def test_windows_go_through_the_reference():
    model = tiny("mistral", sliding_window=8)
    assert not serves_ragged_rows(model)
    made = requests()
    sample_batch(model, made, ENGINE, temperature=1.0, max_new_tokens=60, eos_id=END, pad_id=PAD)
    again = requests()
    generate_batch(model, again, ENGINE, limits(1.0))
    assert [r.output for r in made] == [r.output for r in again]
    assert all(len(r.output) == 60 for r in made)


def test_an_adapter_decides_what_is_written_and_is_merged(tiny_model, tmp_path):
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(str(tiny_model), dtype=torch.float32)
    adapted = get_peft_model(base, LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    adapted.save_pretrained(str(tmp_path))
    policy = HuggingFacePolicy(str(tiny_model), tmp_path, prompt_style=PromptStyle(), num_seats=2)
    plain = HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle())
    problems = list(generate(PrOntoQA(hops=(1,), extra_kinds=(0, 0)), 4, seed=3))
    texts = []
    for gathered in (False, True):
        sampling = Sampling("guided", 1.0, 1, 50, switches=Switches(gathered_head=gathered))
        texts.append([t.completion_ids for t in sample(policy, problems, sampling, seed=1, format_="guided")])
    assert texts[0] == texts[1]
    assert texts[0] != [
        t.completion_ids for t in sample(plain, problems, Sampling("guided", 1.0, 1, 50), seed=1, format_="guided")
    ]
    assert not any("lora" in name for name, _ in policy.model.named_parameters())


def test_traces_say_what_was_forced_and_keep_what_was_asked_for(tiny_model):
    policy = HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle())
    problems = list(generate(PrOntoQA(hops=(2,), extra_kinds=(0, 0)), 6, seed=3))
    switches = Switches(jump_forward=True, log_probabilities=True, fit_blocks=True)
    traces = list(sample(policy, problems, Sampling("guided", 1.5, 1, 80, switches=switches), seed=2, format_="guided"))
    assert any(trace.forced for trace in traces)
    for trace in traces:
        record = trace.record()
        assert record["sampling"]["jump_forward"] is True
        assert record["forced"] == list(trace.forced)
        assert len(record["log_probabilities"]) == len(trace.completion_ids)
    (plain,) = sample(policy, problems[:1], Sampling("guided", 1.5, 1, 20), seed=2, format_="guided")
    assert not {"forced", "log_probabilities"} & set(plain.record())
    assert set(plain.record()["sampling"]) == {"decoding", "temperature", "max_new_tokens"}
