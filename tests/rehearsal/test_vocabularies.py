"""The mask of a guide against a slow reading of decoded text, for every style of tokenizer."""

import random
from functools import lru_cache

import pytest

from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import Row
from rollout.decoding.vocabulary import token_bytes
from rollout.guides.logic import LogicGuide
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import demonstrate
from tools.zoo import vocabularies

STYLES = (
    "qwen",
    "llama3",
    "harmony",
    "gpt2",
    "opt",
    "cohere",
    "llama2",
    "mistral",
    "tekken",
    "gemma",
    "phi",
    "unigram",
)
QUICK = ("qwen", "llama2", "unigram")
SLOW = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in STYLES]


@lru_cache
def problems():
    return list(generate(PrOntoQA(split="train"), 4, seed=11))


def read(guide: LogicGuide, inside: str | None, text: str) -> tuple[LogicGuide, str | None] | None:
    """Read decoded text, from free text or from within a block; None where the guide refuses it."""
    while text:
        if inside is None:
            _, opened, text = text.partition("[[")
            if not opened:
                return guide, None
            inside = ""
            continue
        automaton = guide.allowed()
        state = automaton.start
        for byte in inside.encode():
            state = automaton.step(state, byte)
        for place, byte in enumerate(text.encode()):
            state = automaton.step(state, byte)
            if state is None:
                return None
            if automaton.done(state):
                block = inside.encode() + text.encode()[: place + 1]
                guide = guide.clone()
                guide.close(block.removesuffix(b"]]"))
                inside, text = None, text.encode()[place + 1 :].decode()
                break
        else:
            return guide, inside + text
    return guide, inside


def states(tokenizer, seed: int):
    """Yield problems with ids of a demonstration that is cut anywhere, as often within a block as without."""
    rng = random.Random(seed)
    for problem in problems():
        ids = tokenizer(demonstrate(problem, problem.formal, style="annotated"), add_special_tokens=False)["input_ids"]
        yield problem, ids[: rng.randrange(1, len(ids))]
        text = tokenizer.decode(ids)
        cut = text.index("]]", rng.randrange(len(text) // 2)) - rng.randrange(1, 6)
        yield problem, tokenizer(text[:cut], add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("name", SLOW)
def test_a_mask_allows_the_tokens_whose_decoded_text_the_guide_allows(name):
    tokenizer = getattr(vocabularies, name)()
    table = token_bytes(tokenizer)
    masks = MaskEngine(table, [tokenizer.eos_token_id])
    before = tokenizer("was", add_special_tokens=False)["input_ids"]  # or a decoder drops the first blank
    num_inside = 0
    for problem, ids in states(tokenizer, seed=3):
        row = Row(LogicGuide.for_problem(problem))
        written = b"".join(table[i] for i in ids)
        row.push(written)
        start = tokenizer.decode([*before, *ids], clean_up_tokenization_spaces=False)
        known = read(LogicGuide.for_problem(problem), None, start)
        assert known is not None
        num_inside += known[1] is not None
        allowed = set(masks.allowed(row).tolist())
        pending = known[1] is None and start.endswith("[")
        for token in range(len(tokenizer)):
            if table[token] is None:
                expected = token == tokenizer.eos_token_id and known[1] is None
            else:
                text = tokenizer.decode([*before, *ids, token], clean_up_tokenization_spaces=False)
                assert text.startswith(start)
                expected = read(*known, "[" * pending + text[len(start) :]) is not None
            assert (token in allowed) == expected, (tokenizer.convert_ids_to_tokens(token), start[-40:])
    assert 0 < num_inside < 8


@pytest.mark.parametrize("name", SLOW)
def test_a_tokens_bytes_are_what_decoding_it_adds(name):
    tokenizer = getattr(vocabularies, name)()
    text = " Tom's cat — ünsure, 中文!\n\n  [[prop:be]] 1234 "
    ids = tokenizer("x" + text, add_special_tokens=False)["input_ids"]
    spelled = b"".join(token_bytes(tokenizer)[i] or b"" for i in ids).decode()
    assert spelled.removeprefix(" ") == "x" + text
