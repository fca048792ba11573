"""Programs under other names: a proof about `Tom` is one about `n7q`, and a verdict that changes rests on the names.

Attack: a constant that is read as a variable, names that are merged because they look alike, an order by name: then it
is the spelling that is certified, and not what is stated.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from critics.problem import Attempt, Problem
from critics.text.background import background
from critics.text.faithfulness.english import name_stems
from critics.text.part import TextPart
from critics.verdict import Certified, Verdict


def rests_on_names(
    part: TextPart,
    problem: Problem,
    attempt: Attempt,
    verdict: Certified,
    critic: Callable[[Problem, Attempt], Verdict],
) -> bool:
    """Say whether a certified program is judged otherwise once its names are others, each for one.

    A theory that all programs of a data set share has names of its own: there nothing is renamed.
    """
    if (known := background(problem.dataset)).axioms or known.signature is not None:
        return False
    text = part.renamed(attempt.completion)
    if text is None:
        return False
    again = critic(problem, replace(attempt, completion=text))
    return not isinstance(again, Certified) or again.answer != verdict.answer


def fresh_names(names: Iterable[str], *, merged: bool = False) -> dict[str, str]:
    """Return a new name for each, of the same case; where names may be `merged`, forms of a word have the same."""
    found: dict[str, str] = {}
    known: dict[object, int] = {}
    for name in dict.fromkeys(names):
        number = known.setdefault(name_stems(name) if merged else name, len(known))
        found[name] = f"{'N' if name[0].isupper() else 'n'}{number}q"
    return found


def with_names(text: str, names: Mapping[str, str]) -> str:
    """Return a program with its names replaced, the longest first, in any case; comments stay."""
    if not names:
        return text
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    written = re.compile(rf"(?<![\w’$-])(?:{listed})(?![\w’-])", re.IGNORECASE)
    known = {name.lower(): new for name, new in reversed(list(names.items()))}

    def replaced(found: re.Match[str]) -> str:
        return names.get(found[0]) or known[found[0].lower()]

    lines = [line.partition(":::") for line in text.splitlines()]
    return "\n".join(written.sub(replaced, code) + mark + comment for code, mark, comment in lines)
