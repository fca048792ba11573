"""The embedded seed model of round trips: its lessons, its tokenizer, and what its provenance says."""

import json
from pathlib import Path

from rollout.policies.policy import load_tokenizer
from tools.seeds.configuration import FormulaPhaseConfig, RoundTripPretrainingConfig, load_pretraining
from tools.seeds.round_trip_curriculum import build_round_trip_tokenizer, lessons

ROOT = Path(__file__).parents[1]
CONFIG = ROOT / "tools" / "seeds" / "seed_autoeval.yaml"
FOLDER = ROOT / "checkpoints" / "seed-autoeval"


def config(**phase) -> RoundTripPretrainingConfig:
    phases = [FormulaPhaseConfig(num_formulas=60, family={"categories": [2, 3]}, **phase)]
    return RoundTripPretrainingConfig(name="tiny", seed=0, round_trips="autoeval-pl", phases=phases)


def test_every_formula_is_taught_in_both_directions():
    made = config()
    taught = list(lessons(made, made.phases[0], seed=0))
    assert len(taught) == 120
    assert [lesson.prompt.partition(":")[0] for lesson in taught[:2]] == ["say", "write"]
    assert taught[0].prompt == f"say: {taught[1].completion}\n"
    assert taught[1].prompt == f"write: {taught[0].completion}\n"


def test_a_phase_that_is_taken_several_times_shows_the_smallest_formulas_each_time():
    made = config(times=3)
    taught = [lesson.prompt for lesson in lessons(made, made.phases[0], seed=0)]
    assert len(taught) == 360
    assert taught[:120] != taught[120:240] != taught[240:]
    few = FormulaPhaseConfig(num_formulas=100, times=3, family={"categories": [0, 1]})
    assert [lesson.prompt for lesson in lessons(made, few, seed=0)].count("say: p5\n") == 3


def test_brackets_are_lost_at_the_rate_that_is_asked_for():
    made = config(unreadable_rate=1.0)
    written = [
        lesson.completion for lesson in lessons(made, made.phases[0], seed=0) if lesson.prompt.startswith("write")
    ]
    with_brackets = [text for text in written if "(" in text or ")" in text]
    assert with_brackets
    assert all(text.count("(") != text.count(")") for text in with_brackets)


def test_signs_and_names_are_tokens_that_are_read_back_as_they_were_written():
    tokenizer = build_round_trip_tokenizer(config())
    formula = "¬(p1 ∧ ¬p12) ∨ p3"
    ids = tokenizer(formula)["input_ids"]
    assert tokenizer.decode(ids) == formula
    assert len(ids) == len(["¬", "(", "p1", "∧", "¬", "p12", ")", "∨", "p3"])
    assert load_tokenizer(str(FOLDER)).decode(load_tokenizer(str(FOLDER))(formula)["input_ids"]) == formula


def test_the_model_that_is_shipped_was_made_of_the_configuration_that_is():
    provenance = json.loads((FOLDER / "provenance.json").read_text())
    config = load_pretraining(CONFIG)
    assert type(config).model_validate(provenance["config"]) == config
    assert provenance["lessons_wrong"] == 0.35
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 4_000_000
