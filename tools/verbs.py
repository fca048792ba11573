"""Writes the forms of English verbs and the doubtful plurals, from lemminflect's dictionary.

    python -m tools.verbs

critics/grammar/verbs.txt: a verb a line, then past, participle and -ing where they are not regular.
critics/grammar/plurals.txt: a plural that has two singulars, and they.
Source: lemminflect 0.2.3 (MIT), made from the NIH SPECIALIST lexicon (public domain).
"""

import csv
import gzip
import io
from collections import defaultdict
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from critics.grammar import lexicon

FOLDER = Path(lexicon.__file__).parent


def main() -> None:
    """Write the files anew."""
    verbs: dict[str, list[str]] = {}
    singulars: dict[str, set[str]] = defaultdict(set)
    for word, part, forms in _rows():
        if part == "verb":
            verbs[word] = forms
        elif part == "noun":
            for form in forms[0].split("/"):
                singulars[form] |= {word} if form != word else set()
    lines = [_line(verb, forms) for verb, forms in sorted(verbs.items())]
    (FOLDER / "verbs.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    doubtful = {form: words for form, words in singulars.items() if len(words) > 1 and _is_plain(form)}
    lines = [f"{form} {' '.join(sorted(words))}" for form, words in sorted(doubtful.items())]
    (FOLDER / "plurals.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _rows() -> Iterator[tuple[str, str, list[str]]]:
    """Yield a word, its part of speech, and its forms."""
    with resources.files("lemminflect").joinpath("resources/infl_lu.csv.gz").open("rb") as packed:
        text = io.StringIO(gzip.decompress(packed.read()).decode())
    for word, part, *forms in csv.reader(text):
        if _is_plain(word):
            yield word, part, forms


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()


def _line(verb: str, forms: list[str]) -> str:
    """Return a verb with the forms that the rules of the lexicon miss."""
    past, participle, gerund = (*forms, "", "", "")[:3]
    given = [past, participle or past, gerund]
    return verb if given == list(lexicon.regular_forms(verb)) else " ".join([verb, *(text or "-" for text in given)])


if __name__ == "__main__":
    main()
