"""Things that a text names itself: an arbitrary one (`take any minor x`), one of some (`call it s`), `that student`.

The move `Named` brings such a thing in. From there on the text's name for it, or `that student`, is replaced by a name
that the grammar reads.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from critics.grammar.inflection import article, is_plural, singular
from critics.grammar.words import FUNCTION
from critics.text.english import phrases
from critics.text.english.moves import Claim, Move, Named
from critics.text.english.wording import EDGES, cited

_HEAD = re.compile(r" (?:who|that|which|with|in|of|over|under|from|on|at)\b.*")
_SOME = r"(?:at least one|some|(?:there(?:'s| is)|gives? us|guarantees?|have) (?:an?|one)) (?:[a-z]+ )?"
_EXISTS = rf"(?i:\b{_SOME}(?:[a-z]+ (?:that|who|which) (?:is|are) (?:an? )?(?:[a-z]+ )?)?{{0}}s?\b)"


@dataclass(slots=True)
class Individuals:
    """The names that a text gives, as the grammar reads them, what is called by `that`, and which were brought in."""

    parse: Callable[[str], list[Move] | None]
    reads: Callable[[str], bool]
    problem: str
    names: dict[str, str] = field(default_factory=dict[str, str])
    nouns: dict[str, str] = field(default_factory=dict[str, str])
    known: set[str] = field(default_factory=set[str])
    _num: int = 0
    _said: str = ""

    def moves(self, sentence: str) -> list[Move] | None:
        """Return the moves of one sentence; None where some piece of it is none."""
        before, self._said = self._said, f"{self._said} {sentence}"
        told = self._moves(self._renamed(sentence))
        for noun, name in list(self.nouns.items()):
            at = next((at for at, move in enumerate(told or ()) if re.search(rf"\b{name}\b", move.text or "")), None)
            if told and name not in self.known and at is not None:
                told.insert(0 if re.search(_EXISTS.format(noun), before) else at, Named("", name, noun=noun))
                self.known.add(name)
            elif any(isinstance(each, Claim) and re.search(_EXISTS.format(noun), each.text) for each in told or ()):
                # Attack: that student, where there is another since.
                del self.nouns[noun]
        return told

    def _moves(self, text: str) -> list[Move] | None:
        vouched = phrases.VOUCHED.search(text)
        plain = text if vouched is None else text[: vouched.start()] + text[vouched.end() :]
        for match in filter(None, (each.fullmatch(plain.strip(EDGES)) for each in phrases.NAMINGS)):
            old = dict(self.names), dict(self.nouns)
            named = self._named(match.groupdict(), cited(vouched) if vouched else ())
            said = f"{match['before'] or ''}{match.groupdict().get('inner') or ''}"
            first = self.parse(said) if said else []
            rest = self._renamed(match["after"] or "").strip()
            after = self._moves(f"so {rest}" if named and named.is_again else rest) if rest else []
            if named and first is not None and after is not None and not (vouched and first):
                return [*first, named, *after]
            self.names, self.nouns = old
        return self.parse(text)

    def _named(self, told: dict[str, str | None], cites: tuple[int, ...]) -> Named | None:
        """Return what is brought in: any minor; such a student; the one that there was said to be."""
        own, kind, noun = told.get("name"), told.get("kind") or "", told.get("noun") or ""
        head = _HEAD.sub("", kind)
        is_many = bool(kind) and is_plural(head)
        lead = "there are" if is_many else f"something is {article(kind)}" if kind else ""
        said = f"{lead} {kind}{told.get('more') or ''}".strip()
        if (said and not self.reads(said)) or (own and (own in self.names or re.search(rf"\b{own}\b", self.problem))):
            return None
        if "who" in told:
            return Named(said, str(told["who"]) if told["who"] in self.known else "", is_again=True)
        name = self._new(own, noun or (singular(head) if is_many else head))
        self.known.add(name)
        return Named(said, name, told.get("any") is not None, noun, cites)

    def _new(self, own: str | None, noun: str) -> str:
        """Return a name that the grammar reads for one of the text's own."""
        self._num += 1
        name = "Zyr" + "aeiou"[self._num % 5] * (1 + self._num // 5)
        self.names |= {own: name} if own else {}
        self.nouns |= {noun: name} if noun else {}
        return name

    def _renamed(self, text: str) -> str:
        """Return a text with the grammar's names for the text's own, and for `that student`."""
        for own, name in self.names.items():
            text = re.sub(rf"(?<![\w'])\$?{own}\$?(?!\w)", name, text)

        def called(match: re.Match[str]) -> str:
            words = match["noun"].split(" ")
            for end in range(len(words), 0, -1):
                noun = " ".join(words[:end])
                is_one = re.search(_EXISTS.format(noun), self._said) and FUNCTION.isdisjoint(words[:end])
                if noun in self.nouns or (match["new"] and is_one):
                    return " ".join([self.nouns.get(noun) or self._new(None, noun), *words[end:]])
            return match[0]

        return phrases.ONE_OF.sub(called, text)
