"""The list of words that spares most sentences the tries of `rewordings.txt`."""

import re._constants as codes
import re._parser as parser
from collections.abc import Iterable
from typing import Any

import pytest

from critics.text.english import phrases


def needed(pattern: Iterable[tuple[Any, Any]]) -> list[set[str]]:
    """Return sets of texts: of each set one stands in whatever the pattern matches."""
    found: list[set[str]] = []
    run = ""
    for code, said in [*pattern, (codes.ANY, None)]:
        inner = said[3] if code is codes.SUBPATTERN else []
        if code is codes.LITERAL or (inner and all(each is codes.LITERAL for each, _ in inner)):
            run += chr(said) if code is codes.LITERAL else "".join(chr(char) for _, char in inner)
            continue
        found += [{run}] if run else []
        run = ""
        if code is codes.SUBPATTERN:
            found += needed(said[3])
        elif code is codes.BRANCH:
            each = [[one for one in needed(branch) if all(map(phrases.REWORDS.search, one))] for branch in said[1]]
            found += [set[str]().union(*(sets[0] for sets in each))] if all(each) else []
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and said[0] > 0:
            found += needed(said[2])
    return found


@pytest.mark.parametrize("pattern", [pattern.pattern for pattern, _ in phrases.REWORDED])
def test_a_sentence_in_other_words_has_one_of_the_words(pattern: str) -> None:
    assert any(all(map(phrases.REWORDS.search, one)) for one in needed(parser.parse(pattern)))
