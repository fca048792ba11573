import pytest
import torch

from critics.errors import InputError
from critics.judge import judge
from critics.problem import Attempt
from critics.text.blocks import split_blocks
from rollout.decoding.vocabulary import token_bytes
from rollout.policies.models import PolicyError
from rollout.policies.policy import HuggingFacePolicy, ScriptedPolicy, load_tokenizer
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.strategies.single import sample

PROBLEMS = list(generate(PrOntoQA(hops=(1, 2), extra_kinds=(0, 0)), 7, seed=3))


@pytest.fixture(scope="module")
def policy(tiny_model):
    torch.set_num_threads(1)
    return HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle())


def completions(policy, sampling, *, batch_size):
    traces = []
    for start in range(0, len(PROBLEMS), batch_size):
        traces += sample(policy, PROBLEMS[start : start + batch_size], sampling, seed=1, format_="guided")
    return [(t.id, t.seed, t.completion_ids) for t in traces]


@pytest.mark.parametrize("decoding", ["guided", "free"])
def test_the_batch_size_changes_no_sample(policy, decoding):
    sampling = Sampling(decoding, 1.0, 2, 40)
    alone = completions(policy, sampling, batch_size=1)
    assert len(alone) == 14
    assert len({ids for _, _, ids in alone}) == 14
    for batch_size in (3, 7):
        assert completions(policy, sampling, batch_size=batch_size) == alone


def test_another_seed_writes_something_else(policy):
    sampling = Sampling("free", 1.0, 1, 20)
    one, other = (
        [t.completion for t in sample(policy, PROBLEMS, sampling, seed=seed, format_="guided")] for seed in (1, 2)
    )
    assert one != other


def test_greedy_equals_the_librarys_own_generate(policy):
    sampling = Sampling("free", 0.0, 1, 30)
    for trace in sample(policy, PROBLEMS, sampling, seed=1, format_="guided"):
        ids = torch.tensor([policy.tokenizer(trace.prompt)["input_ids"]])
        reference = policy.model.generate(ids, do_sample=False, max_new_tokens=30)[0, ids.shape[1] :]
        assert reference.tolist() == list(trace.completion_ids)


def test_guided_text_never_holds_an_invalid_closed_block(policy):
    sampling = Sampling("guided", 1.5, 6, 150)
    num_blocks = 0
    for trace in sample(policy, PROBLEMS, sampling, seed=5, format_="guided"):
        closed = trace.completion[: trace.completion.rfind("]]") + 2] if "]]" in trace.completion else ""
        if closed.count("[[") == closed.count("]]"):
            num_blocks += len(split_blocks(closed))
        verdict = judge(trace.problem, Attempt(trace.id, trace.problem, "guided", trace.completion))
        assert getattr(verdict, "reason", "") not in ("invalid_step", "unknown_action", "double_negation")
    assert num_blocks > 0


def test_ids_and_text_of_a_completion_are_the_same_bytes(policy):
    table = token_bytes(policy.tokenizer)
    for trace in sample(policy, PROBLEMS, Sampling("guided", 1.0, 1, 60), seed=2, format_="guided"):
        written = b"".join(table[i] or b"" for i in trace.completion_ids)
        assert written.decode(errors="replace") == trace.completion.replace("<|pad|>", "")


def test_every_token_of_the_tokenizer_decodes_to_its_bytes(policy):
    table = token_bytes(policy.tokenizer)
    for token_id, token in enumerate(table):
        if token is not None:
            assert policy.tokenizer.decode([token_id]) == token.decode(errors="replace")
    assert table[policy.tokenizer.eos_token_id] is None


def test_a_hint_is_read_while_sampling_and_not_recorded():
    read = []

    class Listening(ScriptedPolicy):
        def complete(self, prompts, guides, seeds, sampling):
            read.extend(prompts)
            return super().complete(prompts, guides, seeds, sampling)

    (trace,) = sample(Listening(["x"]), PROBLEMS[:1], Sampling(), seed=0, format_="guided", hinted=True)
    assert f"Hint: the answer is {PROBLEMS[0].answer}" in read[0]
    assert "Hint" not in trace.prompt
    assert trace.hint
    assert trace.id.endswith("#hint-0")


def test_a_missing_model_folder_is_named(tmp_path):
    with pytest.raises(PolicyError, match=r"gone' does not exist"):
        load_tokenizer(str(tmp_path / "gone"))


def test_a_tokenizer_of_another_kind_is_refused():
    from tokenizers import Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    words = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, "[UNK]")))
    with pytest.raises(InputError, match="neither byte-level nor SentencePiece"):
        token_bytes(words)
