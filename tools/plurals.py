"""Writes the inflected forms that our rules miss, from lemminflect's dictionary.

    python -m tools.plurals

critics/grammar/nouns.txt: a plural and its singulars a line, for critics.grammar.inflection.
critics/text/faithfulness/verbs.txt: a form and its verb a line, for the stems of critics.text.faithfulness. Left out
are forms that are words of their own as well.
"""

import csv
import gzip
import io
from collections import defaultdict
from importlib import resources
from pathlib import Path

from critics.grammar import inflection
from critics.text.faithfulness import english

OUT = Path(inflection.__file__).with_name("nouns.txt")
VERBS = Path(english.__file__).with_name("verbs.txt")


def _follows_rules(many: str, one: str) -> bool:
    """Say whether the rules alone lead from a plural to its singular."""
    return many.endswith("s") and not many.endswith(inflection.NOT_PLURAL) and inflection.singular_by_rule(many) == one


def main() -> None:
    """Write the files anew."""
    nouns: dict[str, set[str]] = defaultdict(set)
    verbs: dict[str, str] = {}
    nouns_and_verbs: set[str] = set()
    others: set[str] = set()
    with resources.files("lemminflect").joinpath("resources/infl_lu.csv.gz").open("rb") as packed:
        text = io.StringIO(gzip.decompress(packed.read()).decode())
    for word, part, forms, *more in csv.reader(text):
        if part == "noun":
            for form in forms.split("/"):
                if form != word and all(text.isascii() and text.isalpha() and text.islower() for text in (form, word)):
                    nouns[form].add(word)
        if part == "verb":
            for form in "/".join([forms, *more]).split("/"):
                verbs |= {form: word} if all(t.isascii() and t.isalpha() and t.islower() for t in (form, word)) else {}
        nouns_and_verbs |= {word} if part in ("noun", "verb") else set()
        others.add(word)
    missed = {
        form: sorted(words)
        for form, words in nouns.items()
        if form not in others and (len(words) > 1 or not _follows_rules(form, next(iter(words))))
    }
    OUT.write_text("".join(f"{form} {' '.join(words)}\n" for form, words in sorted(missed.items())), encoding="utf-8")
    lemmas = {
        form: verb
        for form, verb in sorted(verbs.items())
        if form not in nouns_and_verbs and english.stem_by_rule(form) != english.stem_by_rule(verb)
    }
    VERBS.write_text("".join(f"{form} {verb}\n" for form, verb in lemmas.items()), encoding="utf-8")


if __name__ == "__main__":
    main()
