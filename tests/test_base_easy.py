"""A base without flaws: its lessons are proofs in English, and quotations that teach nothing but looking things up."""

from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.judge import judge
from critics.problem import Attempt
from critics.verdict import Certified
from rollout.prompts.style import numbered_sentences
from tools.seeds.configuration import PretrainingConfig, load_pretraining
from tools.seeds.pretraining import build_model, build_tokenizer, demonstrations

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def config() -> PretrainingConfig:
    loaded = load_pretraining(ROOT / "tools" / "seeds" / "base_easy.yaml")
    assert isinstance(loaded, PretrainingConfig)
    return loaded


@pytest.fixture(scope="module")
def tokenizer(config: PretrainingConfig) -> Any:
    return build_tokenizer(config)


def first(config: PretrainingConfig, phase: int, num: int = 40):
    drawn = demonstrations(config.phases[phase], seed=config.seed, index=phase, format_=config.format)
    return [next(drawn) for _ in range(num)]


def test_every_lesson_in_reasoning_is_certified_and_no_longer_than_it_says(config: PretrainingConfig):
    for phase in (3, 4, 5):
        for problem, completion in first(config, phase):
            verdict = judge(problem, Attempt("x", problem, "english", completion))
            assert isinstance(verdict, Certified), completion
            assert verdict.answer == problem.answer
            assert problem.meta["hops"] <= 3
            assert completion.count(".") == problem.meta["hops"] + 1


def test_a_quotation_says_the_context_again_and_no_step_and_no_answer(config: PretrainingConfig):
    for problem, completion in first(config, 1):
        said = sorted(sentence.strip(". ") for sentence in completion.split(". "))
        assert said == sorted(sentence.strip(". ") for sentence in problem.context.split(". "))
        assert "Answer" not in completion
    assert any(completion != problem.context for problem, completion in first(config, 1))


def test_a_repetition_goes_round_the_context(config: PretrainingConfig):
    for problem, completion in first(config, 0):
        sentences = numbered_sentences(problem.context)
        assert completion in " ".join(sentences + sentences)
        assert len(completion) == len(" ".join(sentences))


def test_a_subject_is_one_token_and_what_is_said_of_it_the_next(tokenizer: Any):
    sentence = " Every impus is a wumpus. Rompuses are not feisty. Alex is an impus."
    parts = [tokenizer.decode([token]) for token in tokenizer.encode(sentence)]
    assert parts == [
        " Every impus",
        " is a wumpus",
        ".",
        " Rompuses",
        " are not feisty",
        ".",
        " Alex",
        " is an impus",
        ".",
    ]


def test_flaws_and_mixtures_are_for_the_guided_format(tmp_path: Path):
    text = (ROOT / "tools" / "seeds" / "base_easy.yaml").read_text()
    for key in ("misformalise_rate: 0.1", "mixture: [{dataset: syllogism, num_examples: 5}]"):
        path = tmp_path / "bad.yaml"
        path.write_text(text.replace("property_rate: 0.5}", f"property_rate: 0.5, {key}}}"))
        with pytest.raises(InputError, match="is for `format: guided`"):
            load_pretraining(path)


def test_the_positions_are_those_of_the_configuration(config: PretrainingConfig, tokenizer: Any):
    size = config.model.model_copy(update={"rope_theta": 500.0})
    model = build_model(config.model_copy(update={"model": size}), tokenizer)
    assert model.config.rope_parameters["rope_theta"] == 500.0
