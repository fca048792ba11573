"""`pretrain`: the seed model, trained from scratch."""

import json

from training.commands.options import Config, Out, Overrides
from training.configuration.pretraining import load_pretraining
from training.finetuning.pretraining import pretrain as pretrained

EXAMPLE = "certistar pretrain configs/seed.yaml --out checkpoints/my-seed"


def pretrain(config: Config, out: Out, overrides: Overrides = None) -> None:
    """Train the embedded seed model from scratch: configs/seed.yaml into checkpoints/seed."""
    print(json.dumps(pretrained(load_pretraining(config, overrides), out), indent=1))
