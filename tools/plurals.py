"""Writes critics/plurals.txt from lemminflect's dictionary: the plurals that the rules of critics.inflection miss.

    python -m tools.plurals

A line holds a plural and its singulars. Left out are plurals that are adjectives, verbs or singulars as well.
"""

import csv
import gzip
import io
from collections import defaultdict
from importlib import resources
from pathlib import Path

from critics import inflection

OUT = Path(inflection.__file__).with_name("plurals.txt")


def main() -> None:
    """Write the file anew."""
    nouns: dict[str, set[str]] = defaultdict(set)
    others: set[str] = set()
    with resources.files("lemminflect").joinpath("resources/infl_lu.csv.gz").open("rb") as packed:
        text = io.StringIO(gzip.decompress(packed.read()).decode())
    for word, part, forms, *_ in csv.reader(text):
        if part == "noun":
            for form in forms.split("/"):
                if form != word and all(text.isascii() and text.isalpha() and text.islower() for text in (form, word)):
                    nouns[form].add(word)
        others.add(word)
    missed = {
        form: sorted(words)
        for form, words in nouns.items()
        if form not in others and (len(words) > 1 or not inflection.follows_rules(form, next(iter(words))))
    }
    OUT.write_text("".join(f"{form} {' '.join(words)}\n" for form, words in sorted(missed.items())), encoding="utf-8")


if __name__ == "__main__":
    main()
