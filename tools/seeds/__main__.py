"""`python -m tools.seeds CONFIG --out FOLDER [--set KEY=VALUE]`: train a seed model from scratch."""

import argparse
import json
import sys
from pathlib import Path

from critics.errors import InputError
from tools.seeds.configuration import load_pretraining
from tools.seeds.pretraining import pretrain


def main() -> None:
    """Read the command line, train, and print the provenance."""
    parser = argparse.ArgumentParser(prog="python -m tools.seeds", description=__doc__)
    parser.add_argument("config", type=Path, help="A recipe, such as tools/seeds/seed.yaml.")
    parser.add_argument("--out", type=Path, required=True, help="Folder of the model.")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="Override a key.")
    asked = parser.parse_args()
    try:
        print(json.dumps(pretrain(load_pretraining(asked.config, asked.set), asked.out), indent=1))
    except InputError as error:
        sys.exit(f"{parser.prog}: {error}")


main()
