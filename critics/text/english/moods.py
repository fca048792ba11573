"""Statements about what would be, as statements about what is: if Tom were kind, he would help."""

import re
from collections.abc import Iterator

from critics.grammar.lexicon import past, third_person

_IS_SUPPOSED = re.compile(r"\bwould\b|^(?:if )?(?:[A-Z]\w*(?<!s)|[Hh]e|[Ss]he|[Ii]t) were\b")
_WOULD = re.compile(
    r"\bwould (?P<no>not )?(?:then |also |thus |therefore |necessarily |need to |have to )*"
    r"(?P<verb>(?!(?:is|are|was|were|has|does|did)\b)[a-z]+)"
)
_PAST = re.compile(r"\b(?P<aux>were|was|had|did)\b|\b(?P<verb>[a-z]+)\b")
_CONDITION = re.compile(r"if [^,]+,", re.IGNORECASE)


def indicative(text: str) -> Iterator[str]:
    """Yield what a statement says would be as what is, of one and of many; the reasoner asks if it is supposed."""
    if _IS_SUPPOSED.search(text):
        yield _told(text, "is", "has", "does")
        yield _told(text, "are", "have", "do")


def _told(text: str, be: str, have: str, do: str) -> str:
    def present(verb: str) -> str:
        return {"be": be, "have": have}.get(verb, third_person(verb) if do == "does" else verb)

    def plain(match: re.Match[str]) -> str:
        verb = match["verb"]
        if match["no"]:
            return f"{be} not" if verb == "be" else f"{do} not {verb}"
        return present(verb)

    said = _WOULD.sub(plain, text)
    condition = _CONDITION.match(said)
    if condition is None:
        return re.sub(r"\bwere\b", be, said)
    # If Tom took the bus, he would be late: the first form of the past is the verb.
    for verb in _PAST.finditer(condition[0]):
        base = past(verb["verb"] or "")
        if verb["aux"] or base is not None:
            now = {"had": have, "did": do}.get(verb[0], be) if verb["aux"] else present(base or "")
            return f"{said[: verb.start()]}{now}{said[verb.end() :]}"
    return said
