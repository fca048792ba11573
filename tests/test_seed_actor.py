"""The embedded seed actor: what it is trained on, its tokenizer and template, and whether the weights are those."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest
import torch

from critics.formats.asp.critic import judge_asp
from critics.judge import judge_record
from critics.problem import Attempt, Problem
from critics.verdict import Certified
from rollout.actor_critic.demonstration import draft
from rollout.actor_critic.feedback import Reply, review
from rollout.actor_critic.prompt import feedback_text, system_text
from rollout.policies.policy import HuggingFacePolicy, ScriptedPolicy, model_digest
from rollout.problems.catalogue import SPLIT_BUCKETS, content_bucket
from rollout.problems.controlled_english import ControlledEnglish, generate
from rollout.prompts.conversation import message
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.records.traces import with_judgement
from rollout.settings import DialogSettings
from rollout.strategies.dialog import converse
from tests.in_process import review_here
from tools.seeds.actor_curriculum import ACTOR, EOS, USER, build_actor_tokenizer, lessons
from tools.seeds.actor_flaws import flawed, opposite
from tools.seeds.configuration import (
    ActorPretrainingConfig,
    FlawsConfig,
    LessonPhaseConfig,
    PretrainingConfig,
    load_pretraining,
)
from training.configuration.learning import LessonConfig
from training.finetuning.examples import masked_example
from training.lessons.teaching import lessons as lessons_of

ROOT = Path(__file__).parents[1]
SEED = ROOT / "checkpoints" / "seed-actor"
CONFIG = ROOT / "tools" / "seeds" / "seed_actor.yaml"
CHAT = PromptStyle("chat")
BARE = DialogSettings(examples=0, instructions=False)
MENDING = LessonPhaseConfig(num_examples=30, mended=1.0)
PROBLEMS = list(generate(ControlledEnglish(split="develop"), 12, seed=1))


def config(**phase) -> ActorPretrainingConfig:
    phases = [LessonPhaseConfig(num_examples=10, **phase)]
    return ActorPretrainingConfig(name="tiny", seed=0, actor="controlled-english", phases=phases)


@pytest.fixture(scope="module")
def tokenizer():
    """Build it from fewer lessons than the embedded actor's, which has the same words."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tools.seeds.actor_curriculum._NUM_SAMPLED", 400)
        patch.setattr("tools.seeds.actor_curriculum._MIN_COUNT", 2)
        return build_actor_tokenizer(config())


def spoilt(**rates: float) -> Counter[str]:
    """Return the reasons for which replies with such flaws are not certified."""
    reasons: Counter[str] = Counter()
    for problem in PROBLEMS:
        reply = flawed(draft(problem), FlawsConfig(**rates), random.Random(problem.id)).text()
        verdict = judge_asp(problem, Attempt("a", problem, "asp", reply))
        reasons["certified" if isinstance(verdict, Certified) else verdict.reason] += 1
    return reasons


# -- lessons


def test_lessons_are_of_the_pretraining_split_and_the_same_again():
    made = list(lessons(config(), MENDING, seed=3))
    assert made == list(lessons(config(), MENDING, seed=3))
    own = generate(ControlledEnglish(split="pretrain"), 30, seed=3)
    assert all(content_bucket(problem) in SPLIT_BUCKETS["pretrain"] for problem in own)
    assert {lesson.id.split("/")[1] for lesson in made} == {"pretrain"}


def test_a_lesson_without_flaws_is_certified():
    problems = {p.id: p for p in generate(ControlledEnglish(split="pretrain"), 10, seed=4)}
    for lesson in lessons(config(), config().phases[0], seed=4):
        problem = problems[lesson.id.removesuffix("/direct")]
        assert isinstance(judge_asp(problem, Attempt("a", problem, "asp", lesson.reply)), Certified)


def test_a_mended_lesson_holds_what_the_critic_really_says():
    problems = {p.id: p for p in generate(ControlledEnglish(split="pretrain"), 30, seed=3)}
    mended = [lesson for lesson in lessons(config(), MENDING, seed=3) if lesson.id.endswith("/mended")]
    assert len(mended) > 20
    for lesson in mended:
        system, _, wrong, told = lesson.messages
        said = review(
            Reply.to(
                problems[lesson.id.removesuffix("/mended")],
                wrong["content"],
                finished=True,
                depth="tests",
                in_full=False,
            )
        )
        assert system["content"] == ""
        assert said.kind != "clean"
        assert told["content"] == feedback_text(said)
        assert lesson.reply != wrong["content"]


def test_without_flaws_nothing_is_spoilt():
    assert spoilt() == {"certified": len(PROBLEMS)}


@pytest.mark.parametrize(
    ("flaw", "reasons"),
    [
        ("test", {"test_failed", "duplicate_tests", "certified"}),
        ("idle_test", {"kills_no_mutant", "test_failed", "certified"}),
        ("syntax", {"syntax", "unsafe"}),
        ("query", {"wrong_answer", "certified"}),
    ],
)
def test_each_flaw_is_found_for_what_it_is(flaw, reasons):
    found = spoilt(**{flaw: 1.0})
    assert found.keys() <= reasons
    assert found["certified"] < len(PROBLEMS) / 2


def test_a_wrong_rule_seldom_goes_unnoticed():
    assert spoilt(rule=1.0)["certified"] <= 4
    assert spoilt(word=1.0)["certified"] <= 2
    assert opposite(opposite("calm(ada)")) == "calm(ada)"


# -- tokenizer and template


def test_the_tokenizer_spells_every_text_and_knows_no_unknown_word(tokenizer):
    for text in ("né à Köln — 漢字 \U0001f600\t\n", "{}", "R17: Zoe is sad.", f"{EOS}{USER}"):
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False) == text


def test_replies_are_short_and_words_are_shared_by_text_and_program(tokenizer):
    lengths = [len(tokenizer(draft(problem).text())["input_ids"]) for problem in PROBLEMS]
    assert max(lengths) < 200
    assert tokenizer.tokenize("Ada is calm.") == ["Ada", " is ", "calm", "."]
    assert tokenizer.tokenize("-calm(ada)")[1:] == ["calm", "(", "ada", ")"]


def test_the_template_repeats_turns_word_for_word_and_empty_instructions_are_none(tokenizer):
    turns = [message("system", ""), message("user", " a\n"), message("assistant", "b "), message("user", "c")]
    shown = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    assert shown == f"{USER} a\n{ACTOR}b {EOS}{USER}c{ACTOR}"
    with_instructions = [message("system", "do"), *turns[1:]]
    assert tokenizer.apply_chat_template(with_instructions, tokenize=False).startswith(f"{USER}do{USER} a\n")


def test_a_lesson_from_a_dialog_is_tokenised_as_the_policy_reads_it(tokenizer):
    problem = PROBLEMS[0]
    good = draft(problem).text()
    (trace,) = converse(ScriptedPolicy([good[:-1], good]), [problem], BARE, Sampling(), seed=0, review=review_here)
    record = json.loads(json.dumps(trace.record()))
    assert record["strategy"]["instructions"] is False

    def conversation(messages):
        turns = [dict(turn) for turn in messages]
        return tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)

    fix, direct = lessons_of(with_judgement(trace, judge_record(record)), LessonConfig(loss="actor", extent="whole"))
    for lesson, num_replies in ((fix, 2), (direct, 1)):
        example = masked_example(lesson, conversation, tokenizer, CHAT)
        text = tokenizer.decode(example.ids)
        assert text.count(EOS) == num_replies
        assert not any(f"{part}" in text for part in ("Instructions", "You are"))
        learnt = [i for i, is_learnt in zip(example.ids, example.learnt, strict=True) if is_learnt]
        assert tokenizer.decode(learnt).split(EOS)[-2] == good


def test_an_actor_without_instructions_reads_the_statements_alone():
    assert system_text(DialogSettings(instructions=False)) == ""
    assert "instructions" not in DialogSettings().record()


# -- the committed model


def test_a_configuration_with_an_actor_is_told_from_one_without():
    assert isinstance(load_pretraining(CONFIG), ActorPretrainingConfig)
    assert isinstance(load_pretraining(ROOT / "tools" / "seeds" / "seed.yaml"), PretrainingConfig)


def test_the_committed_actor_was_made_from_the_committed_configuration():
    provenance = json.loads((SEED / "provenance.json").read_text())
    config = load_pretraining(CONFIG)
    assert type(config).model_validate(provenance["config"]) == config
    assert provenance["wrong_on_purpose"]["test"] > 0
    assert (SEED / "model.safetensors").stat().st_size < 2_500_000
    assert len(model_digest(str(SEED))) == 64


def test_the_committed_actor_converses_and_some_of_what_it_writes_is_certified():
    torch.set_num_threads(1)
    policy = HuggingFacePolicy(str(SEED), prompt_style=CHAT)
    settings = BARE.model_copy(update={"max_retries": 2, "history": "last"})
    sampling = Sampling("free", 0.6, max_new_tokens=320)
    problems: list[Problem] = list(generate(ControlledEnglish(split="develop", num_premises=[2]), 12, seed=2))
    records = [t.record() for t in converse(policy, problems, settings, sampling, seed=0, review=review_here)]
    assert sum(record["steps"][0]["finished"] for record in records) >= 10
    assert sum(judge_record(record)["verdict"] == "certified" for record in records) >= 3
