"""Instruments of AutoEval's paper.

python -m tools.autoeval figures FOLDER.. --out DIR          figures 8, 16, 17, 21 and 22 of finished evaluations
python -m tools.autoeval predicts [NAME|FOLDER].. --out DIR  figures 4 and 5: what scores predict
python -m tools.autoeval data FILE [--figure SVG]            figures 9 and 10: what formulas are made of
python -m tools.autoeval premises CONFIG FOLIO --out DIR     FOLIO's premises as formulas and in words (figure 17)
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from critics.errors import InputError


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what is asked."""
    parser = argparse.ArgumentParser(description="Instruments of AutoEval's paper.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    figures = kinds.add_parser("figures")
    figures.add_argument("named", nargs="+", type=Path)
    figures.add_argument("--out", type=Path, required=True)
    predicts = kinds.add_parser("predicts")
    predicts.add_argument("named", nargs="*")
    predicts.add_argument("--out", type=Path)
    data = kinds.add_parser("data")
    data.add_argument("file", type=Path)
    data.add_argument("--figure", type=Path)
    words = kinds.add_parser("premises")
    words.add_argument("config", type=Path)
    words.add_argument("file", type=Path)
    words.add_argument("--out", type=Path, required=True)
    words.add_argument("--model", action="append", default=[])
    words.add_argument("--num", type=int)
    words.add_argument("--set", action="append", default=[], dest="overrides")
    asked = parser.parse_args(arguments)
    try:
        _do(asked)
    except InputError as error:
        parser.error(str(error))


def _do(asked: argparse.Namespace) -> None:
    if asked.kind == "figures":
        from tools.autoeval.figures import draw

        print(", ".join(draw(asked.named, asked.out)) or "nothing of these figures was measured")
    elif asked.kind == "predicts":
        from tools.autoeval.predicts import predict

        predict(asked.named, asked.out)
    elif asked.kind == "data":
        from tools.autoeval.data_sets import describe

        describe(asked.file, asked.figure)
    else:
        from tools.autoeval.premises import ask

        ask(asked.config, asked.file, asked.out, asked.model, asked.num, asked.overrides)


if __name__ == "__main__":
    main()
