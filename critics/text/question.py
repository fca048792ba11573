"""The reader of what a question asks of its options: must hold, could hold, cannot hold, need not hold, and the rest.

Where a question says `true` or `false`, its wording must be on a list: who is meant (`which one of the following`,
`each of the following statements`), one modal with its negations, the word itself, and what it is about (`of that
week`) or `EXCEPT`. Elsewhere every word that could turn its meaning around must be accounted for. The wordings are
those of AR-LSAT, LogicalDeduction and their kin. Any other question is not read, and a critic must not say that it
checked a program against it.
"""

import re
from typing import Literal as Choice
from typing import TypeAlias

Asked: TypeAlias = Choice[
    "must", "could", "cannot", "could_be_false", "list", "extreme", "equivalence", "fact", "unsaid"
]
"""Requirement on an option: it must be true; could be true; cannot be true; could be false; it is the complete and
accurate list; it is the greatest or least number; it is a condition with the same effect; it is the answer to a plain
question of fact (`What does Ada eat?`); or nothing is said of it in words (`Formula?`)."""
_MAX_UNSAID = 2
"""Words of a question in which nothing is said, such as `Formula?`."""
MAX_QUESTION = 2_000
"""Characters from the end; longer questions are not read to their start."""

_SENTENCES = re.compile(r"(?<=[.?!:])\s+(?=[A-Z])")
_WHO = (
    r"(?:(?:which|each|any|all)(?: one)?(?: of (?:the following|these|the above))?"
    r"|(?:which|what)(?= (?:statement|option)s?\b)"
    r"|(?:pick|select|choose|mark|identify|name) the (?:one|statement|option|answer|sentence) (?:that|which))"
    r"(?: (?:statement|option|sentence|claim|proposition|answer|choice)s?)?"
)
_MODAL = (
    r"(?:must|could|can|cannot|can't|couldn't|mustn't|may|might|needn't|need)(?: not)?"
    r"(?: (?:also|necessarily))? be(?: (?:also|necessarily))?"
)
_PLAIN = (
    r"(?:is|are|isn't|aren't)(?: not)?"
    r"(?: (?:also|necessarily|possibly|certainly|certain to be|guaranteed to be))?"
)
_SAID = re.compile(
    r"(?:.*(?:, (?:then )?|then ))?(?:"
    rf"(?:(?:is it|it is) (?:not )?possible that )?{_WHO} (?:also )?(?:{_MODAL}|{_PLAIN}) (?:true|false|untrue)"
    r"(?: (?:of|about|for|in|within|at|after|during|on|with|under|if|when|that|concerning|regarding)\b.*)?"
    r"|it (?:must|could|can|cannot)(?: not)? be (?:true|false)(?: of .*)? that\b.*)[\s,:.?]*"
)
"""Wordings that speak of truth."""
_CASES = re.compile(
    r"\b(?:every|some|each|all|any|many|few|several|one|two|least|most|exactly|other)\b(?: \w+)? (?:arrangement|case|"
    r"order|ordering|way|world|model|solution|scenario|possibilit|situation|assignment)(?:s|y|ies)?\b"
)
"""`True in some arrangement` asks what could be."""
_ABOUT_OPTIONS = re.compile(
    r"\b(?:following|these|above|statement|option|claim|choice|answer|sentence|proposition|text|passage|paragraph|rule|"
    r"condition|premise|context|information|story|puzzle)s?\b"
)
_EMPTY = frozenset({"which", "what", "who", "one", "is", "are", "it", "that", "the", "this", "of", "a", "an"})
_ASKING = r"(?:which|what|who|each|any|all|in which|on which|to which|for which)"
_ORDER = re.compile(r"\b(?:choose|pick|select|mark|identify|find|answer)\b|\ball but\b|\b[Ii]gnor", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|suppose|supposing|assume|assuming|given|provided|were|after|once)\b"
)
_EXTREME = re.compile(r"\b(?:maximum|minimum|greatest|least|smallest|largest) (?:possible )?number\b")
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")

_NECESSARY = {"must", "necessarily", "certain", "certainly", "guaranteed", "need", "needs", "inevitably"}
_POSSIBLE = {
    *("could", "can", "may", "might", "possible", "possibly", "acceptable", "permissible", "allowed", "allowable"),
    *("permitted", "able", "conceivable"),
}
_ADJECTIVES = {"acceptable", "possible", "permissible", "allowable"}
"""They repeat the modal in "could be an acceptable schedule"."""
_IMPOSSIBLE = {"impossible", "unacceptable", "impermissible", "prohibited", "forbidden"}
_CONTRACTED = {"can't": ["can", "not"], "couldn't": ["could", "not"], "cannot": ["can", "not"]} | {
    "mustn't": ["must", "not"],
    "needn't": ["need", "not"],
    "isn't": ["is", "not"],
    "aren't": ["are", "not"],
    "won't": ["will", "not"],
}
_FALSE = {"false", "untrue"}
_HARMLESS = re.compile(r"\bas \w+(?: [\w ]+?)? as possible\b|\bat (?:least|most)\b")
"""Phrases whose words would else be taken for a modal or a turn."""
_TURNING = {
    *("no", "none", "never", "neither", "nor", "nobody", "nothing", "without", "unless", "except", "excluding"),
    *("incorrect", "wrong", "wrongly", "violate", "violates", "violation", "inconsistent", "incompatible", "fails"),
    *("fail", "lacks", "contradict", "contradicts", "unlikely", "unable", "hardly", "barely", "only", "least", "most"),
    *("determine", "determined", "deduce", "deduced", "determines", "known"),
    *("opposite", "negation", "deny", "denies", "doubt", "refute", "refutes", "disprove", "otherwise"),
    *("should", "ought", "shall", "but", "apart", "besides", "aside", "exception", "odd", "odds", "reverse"),
    *("contrary", "lie", "lies", "lying", "liar", "ruled", "excluded", "rejected", "denied", "refuted"),
    *("disproved", "impossibility", "conflict", "conflicts", "conflicting", "compatible", "consistent"),
    *("contradicted", "contradictory", "mistaken", "likely", "probably", "probable", "improbable", "implausible"),
    *("always", "sometimes", "often", "seldom", "rarely", "correct", "correctly", "right", "error", "falsehood"),
    *("untruth", "truth", "partly", "half", "far", "anything"),
}
"""Words that may turn a question around, or add another condition; where one is left over, nothing is read."""


def read_question(question: str) -> Asked | None:
    """Return what the question asks of an option, or None where its words leave room for another reading."""
    *before, last = _SENTENCES.split(question[-MAX_QUESTION:].strip())
    if any(sentence.strip().endswith("?") or _ORDER.search(sentence) for sentence in before):
        return None  # Attack: two questions, of which a program answers the easier one.
    clause = _main_clause(_lower(last))
    if re.search(r"\bhow (?:many|much)\b|\bif which\b|\bwhich one if\b", clause):
        return None  # A number is asked for, or the options complete the condition.
    return _special(clause) or _claimed(clause)


def adds_condition(question: str) -> bool:
    """Say whether a question adds something to what the text says."""
    *before, last = _SENTENCES.split(question.strip())
    return bool(before) or _CONDITION.search(_lower(last)) is not None


def _main_clause(sentence: str) -> str:
    """Return a sentence without the condition that it opens with."""
    if not re.match(r"(?:if|when|suppose|assume|given|assuming|supposing)\b", sentence):
        return sentence
    after = [found.end() for found in re.finditer(r",? then ", sentence)]
    if after:
        return sentence[after[-1] :]
    asked = [found.start(1) for found in re.finditer(rf", ({_ASKING}\b)", sentence)]
    commas = [found.end() for found in re.finditer(r", ", sentence)]
    places = asked[:1] or commas[-1:]
    return sentence[places[0] :] if places else sentence


def _lower(text: str) -> str:
    return " ".join(text.split()).replace("’", "'").lower()


def _words(text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(text):
        found += _CONTRACTED.get(word, [word])
    return found


def _special(clause: str) -> Asked | None:
    negated = re.search(r"\b(?:not|cannot|can't|except|false)\b", clause)
    if "same effect" in clause:
        return "equivalence"
    if _EXTREME.search(clause) and not negated:
        return "extreme"
    listed = re.search(r"\b(?:is|are) (?:a |the )?complete and accurate list\b", clause)
    return "list" if listed and not negated else None


def _claimed(clause: str) -> Asked | None:
    """Read one modal with its negations: `cannot be false` is must, `must not be true` is cannot."""
    body, excepted = _without_except(clause)
    if "other than" in body or _EXTREME.search(body):
        return None
    words = _words(_HARMLESS.sub("", body))
    modals = [place for place, word in enumerate(words) if word in _NECESSARY | _POSSIBLE | _IMPOSSIBLE]
    if modals and words[modals[0]] in _POSSIBLE:
        modals = [modals[0], *(place for place in modals[1:] if words[place] not in _ADJECTIVES)]
    truths = [place for place, word in enumerate(words) if word in _FALSE | {"true"}]
    if truths and (_SAID.fullmatch(body) is None or _CASES.search(body)):
        return None
    negations = [place for place, word in enumerate(words) if word == "not"]
    if len(modals) > 1 or len(truths) > 1 or len(negations) > 1 or set(words) & _TURNING:
        return None
    if not modals:
        return _plain(words, truths, negations, excepted)
    return _modal(words, modals[0], truths, negations, excepted)


def _modal(words: list[str], modal: int, truths: list[int], negations: list[int], excepted: bool) -> Asked | None:
    """Read a modal with a negation before it (`not possible`), behind it (`cannot`, `must not`) or none."""
    necessary, outer = words[modal] in _NECESSARY, words[modal] in _IMPOSSIBLE
    inner = bool(truths) and words[truths[0]] in _FALSE
    if negations and words[modal] == "may" and negations[0] == modal + 1:
        return None  # It is not allowed, or it is possible that it is not.
    if negations and words[modal] in {"could", "can", "need", "needs"} and negations[0] == modal + 1:
        outer = not outer  # cannot, could not, need not: the modal is denied
    elif negations and negations[0] < modal and modal - negations[0] <= 2:
        outer = not outer  # is not possible, is not necessarily
    elif negations and negations[0] == modal + 1:
        inner = not inner  # must not be
    elif negations:
        return None
    return _mode(necessary, outer is not excepted, inner)


def _plain(words: list[str], truths: list[int], negations: list[int], excepted: bool) -> Asked | None:
    """Read `which is true`, `which is not true`, and `what does Ada eat`: what follows from all that is said."""
    if not truths:
        if negations or excepted or _ABOUT_OPTIONS.search(" ".join(words)):
            return None
        if words[:1] and words[0] in ("what", "who", "which"):
            return "fact" if set(words) - _EMPTY or len(words) == 1 else None
        return "unsaid" if len(words) <= _MAX_UNSAID else None
    if negations and negations[0] != truths[0] - 1:
        return None
    if words[truths[0] - 1] not in ("is", "are", "not"):
        return None
    inner = (words[truths[0]] in _FALSE) is not bool(negations)
    return _mode(True, excepted, inner)


def _without_except(clause: str) -> tuple[str, bool]:
    """Return the clause without a closing EXCEPT, and whether it had one."""
    found = re.search(r",?\s*\bexcept(?: for)?(?: which one(?: of the following)?)?\s*[:.?]?$", clause)
    if found is None:
        return clause, False
    return clause[: found.start()], True


def _mode(necessary: bool, outer: bool, inner: bool) -> Asked:
    """Return the mode of `not? (must|could) not? holds`."""
    if necessary:
        return ("could" if inner else "could_be_false") if outer else ("cannot" if inner else "must")
    return ("must" if inner else "cannot") if outer else ("could_be_false" if inner else "could")
