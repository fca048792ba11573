"""`python -m tools.bench NAME [--json]`: ratios of an engine against a named baseline, measured in one run."""

import argparse
import sys

from critics.errors import InputError
from tools.bench.catalogue import BENCHES, bench


def main() -> None:
    """Read the command line, measure, and print."""
    parser = argparse.ArgumentParser(prog="python -m tools.bench", description=__doc__)
    parser.add_argument("name", nargs="?", default="kernel", help=", ".join(BENCHES))
    parser.add_argument("--json", action="store_true", help="Print machine-readable results.")
    asked = parser.parse_args()
    try:
        bench(asked.name, asked.json)
    except InputError as error:
        sys.exit(f"{parser.prog}: {error}")


main()
