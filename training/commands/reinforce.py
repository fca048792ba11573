"""`reinforce`: the critics' certificates as a reward."""

from training.commands.messages import print_counts
from training.commands.options import Config, Json, Out, Overrides
from training.configuration.rewards import load_reinforcement
from training.logs import quieten

EXAMPLE = "certistar reinforce configs/reinforce_demo.yaml --out adapter"


def reinforce(config: Config, out: Out, overrides: Overrides = None, as_json: Json = False) -> None:
    """Train an adapter by GRPO or RLOO, with certificates as the reward (extra `trl`)."""
    loaded = load_reinforcement(config, overrides)
    quieten()
    from training.rewards.reinforcement import reinforce

    made = reinforce(loaded, out)
    print_counts({"attempts": made["attempts"], "certified": made["certified"], "grades": made["grades"]}, as_json)
