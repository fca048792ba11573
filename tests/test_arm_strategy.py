"""An arm's strategy: what it inherits, and what cannot be said."""

from pathlib import Path
from typing import Any

import pytest

from training.configuration.run import ActorCriticConfig, ProgramsConfig, RunConfig, load_run
from training.configuration.section import ConfigError

ARM = {"name": "a", "keep": "strict", "decoding": "free"}


def run_of(**keys: Any) -> RunConfig:
    return RunConfig.model_validate({"name": "r", "model": {"name": "m"}, **keys})


def test_an_arm_has_what_its_section_says_then_what_it_says_itself():
    said = run_of(actor_critic={"examples": 0}, arms=[{**ARM, "strategy": {"name": "actor-critic", "history": "none"}}])
    meant = run_of(arms=[{**ARM, "strategy": {"name": "actor-critic", "examples": 0, "history": "none"}}])
    assert said.arms == meant.arms
    assert RunConfig.model_validate_json(said.model_dump_json()) == said


def test_an_override_of_a_section_reaches_the_arms(tmp_path: Path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "name: c\nmodel: {name: m}\narms:\n  - {name: a, keep: strict, decoding: free, strategy: translate-and-refine}"
        "\n  - {name: b, keep: strict, decoding: free, strategy: {name: prototype-then-refine, max_rounds: 3}}\n"
    )
    strategies = [arm.strategy for arm in load_run(path, ["programs.max_rounds=0"]).arms]
    assert [s.max_rounds for s in strategies if isinstance(s, ProgramsConfig)] == [0, 3]


def test_the_published_settings_are_had_by_name_and_can_be_changed():
    named, changed, other = run_of(
        arms=[
            {**ARM, "strategy": "prototype-then-refine"},
            {**ARM, "name": "b", "strategy": {"name": "prototype-then-refine", "backup": "none"}},
            {**ARM, "name": "c", "strategy": "translate-and-refine"},
        ]
    ).arms
    shown = [
        (s.samples, len(s.prototypers), len(s.refiners), s.backup) for s in map(programs_of, (named, changed, other))
    ]
    assert shown == [(10, 2, 3, "llm"), (10, 2, 3, "none"), (1, 0, 1, "none")]


def programs_of(arm) -> ProgramsConfig:
    assert isinstance(arm.strategy, ProgramsConfig)
    return arm.strategy


def test_a_trained_actor_is_shown_no_examples():
    (arm,) = run_of(arms=[{**ARM, "strategy": "actor-critic"}]).arms
    assert isinstance(arm.strategy, ActorCriticConfig)
    assert (arm.format, arm.strategy.trained().examples) == ("asp", 0)


@pytest.mark.parametrize(
    ("arm", "told"),
    [
        ("strategy: actor-critik", "arms.0.strategy.name: 'actor-critik' is not known; did you mean 'actor-critic'?"),
        ("strategy: {name: actor-critic, histori: last}", "'arms.0.strategy.histori'; did you mean 'history'?"),
        ("strategy: {name: actor-critic, lessons: {extend: last}}", "strategy.lessons.extend'; did you mean 'extent'?"),
        ("strategy: {name: cot, samples: 3}", "unknown key 'arms.0.strategy.samples'; known here: name"),
        ("strategy: {name: round-trip, rounds: 0}", "arms.0.strategy.rounds: "),
        ("strategy: cot, format: asp", "unknown key 'arms.0.format'"),
        ("strategy: {name: plug-in}", "arms.0.strategy.of: "),
        ("strategy: [cot]", "arms.0.strategy: "),
    ],
)
def test_what_cannot_be_said_is_refused_by_its_key(tmp_path: Path, arm: str, told: str):
    path = tmp_path / "c.yaml"
    path.write_text(f"name: c\nmodel: {{name: m}}\narms: [{{name: a, keep: strict, decoding: free, {arm}}}]\n")
    with pytest.raises(ConfigError) as caught:
        load_run(path)
    assert told in str(caught.value)
