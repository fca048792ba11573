"""The English of generated DeontiQA problems into facts and rules of the calendar theory, one per sentence.

    One of the groups is the Design group.                            (group design)
    The budget review is (not) short.                                 (short budget-review)
    If a person is busy during an event, then it is permissible to    (busy 'p 'e) ->
    delegate the event to the person.                                   (permissible (delegate-event 'e 'p))
    Given these rules, is it (not) obligatory to cancel the kickoff?

The phrases are those of `critics.text.theories.scheduling_english`, and every sentence must be read in exactly one way.
What must not be guessed is settled by these rules:

* A person is a capitalised word, a group `the Xxx group`, an event `the` and one to three words in lower case. No
  word of a name is a function word. One name names one thing.
* A rule speaks of one person, one group and one event at most. The first mention in the condition has `a` or `an`,
  the first one after `then` has `any` (and adds the premise that there is one), every later one has `the`.
* Facts and questions are about named objects alone.

The published stories are prose, which is refused.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product

from critics.problem import Formal
from critics.replay.formula import MAX_NAME_LENGTH, MAX_PREMISES, Application, Literal, Rule, Statement, Term
from critics.replay.sorts import SortError
from critics.text.theories.deontic import AXIOMS, MODALITIES
from critics.text.theories.scheduling import SIGNATURE
from critics.text.theories.scheduling_english import CLAUSES, PHRASES, PROPERTY_PHRASES, VARIABLES, Template
from critics.text.translators.translation import FUNCTION_WORDS, TranslationError, sentences, unnumbered

_RULE = re.compile(r"If (?P<conditions>.+), then (?P<conclusion>.+)\.")
_LEAD = "Given these rules, "
_QUESTION = re.compile(rf"(?:{_LEAD}i|I)s it (?P<rest>.+)\?")
_WORDS = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*")
_NAME = re.compile(r"[A-Z][a-z]+")
_NAMED = {
    "person": re.compile(f"({_NAME.pattern})"),
    "group": re.compile(f"the ({_NAME.pattern}) group"),
    "event": re.compile(r"the ([a-z]+(?: [a-z]+){0,2})"),
}
_ARTICLES = frozenset({"a", "an", "any", "the"})
_NO_EVENT_WORDS = FUNCTION_WORDS | {*VARIABLES, "people", "groups", "events"}

_Words = Sequence[str]


def translate(context: str, question: str) -> Formal:
    """Return the axioms in order, then the deontic rules that nobody states, and what is asked.

    The context may number its sentences. Raises `TranslationError` for whatever is not in this English.
    """
    said = unnumbered(sentences(context))
    statements = [_statement(sentence) for sentence in said]
    goal = _asked(question)
    _check_sorts([*zip(said, statements, strict=True), (question, goal)])
    return Formal((*map(str, statements), *AXIOMS), str(goal))


def _statement(sentence: str) -> Statement:
    rule = _RULE.fullmatch(sentence)
    if rule is None:
        first, rest = sentence[:1], sentence[1:].removesuffix(".")
        opens = re.match(r"(?:The|It|One) ", sentence) is not None
        return _fact(sentence, f"{first.lower() if opens else first}{rest}")
    conditions = _words(sentence, rule["conditions"])
    conclusion = _words(sentence, rule["conclusion"])
    binders = _binders(sentence, conditions, conclusion)
    premises = [_clause(sentence, part) for part in _split(conditions, "and")]
    if any(premise.predicate in SIGNATURE.sorts for premise in premises):
        raise TranslationError(sentence, "what a thing is can be no condition")
    if len(premises) + len(binders) > MAX_PREMISES:
        raise TranslationError(sentence, f"more than {MAX_PREMISES} conditions")
    return Rule((*premises, *binders), _clause(sentence, conclusion))


def _asked(question: str) -> Literal:
    match = _QUESTION.fullmatch(" ".join(question.split()))
    if match is None:
        raise TranslationError(question, "a question must have the form 'Is it obligatory to ..?'")
    goal = _fact(question, f"it is {match['rest']}")
    if goal.predicate not in MODALITIES:
        raise TranslationError(question, "a question must ask for a modality")
    return goal


def _fact(sentence: str, text: str) -> Literal:
    words = _words(sentence, text)
    fact = _clause(sentence, words)
    if fact.variables():
        raise TranslationError(sentence, "a sentence without 'If' must name what it is about")
    return fact


def _words(sentence: str, text: str) -> _Words:
    if _WORDS.fullmatch(text) is None:
        raise TranslationError(sentence, "only words with single blanks may stand here")
    return text.split(" ")


def _split(words: _Words, at: str) -> Iterator[_Words]:
    part: list[str] = []
    for word in words:
        if word == at:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _binders(sentence: str, conditions: _Words, conclusion: _Words) -> list[Literal]:
    """Check the articles of a rule's variables, and return the premises that `any` stands for."""
    mentioned: set[str] = set()
    binders: list[Literal] = []
    for words, first in ((conditions, "a"), (conclusion, "any")):
        for article, noun in pairwise(words):
            if noun not in VARIABLES or article not in _ARTICLES:
                continue
            wanted = "the" if noun in mentioned else "an" if first == "a" and noun == "event" else first
            if article != wanted:
                raise TranslationError(sentence, f"'{article} {noun}' must be '{wanted} {noun}' here")
            if article == "any":
                binders.append(Literal(True, noun, (VARIABLES[noun],)))
            mentioned.add(noun)
    return binders


def _clause(sentence: str, words: _Words) -> Literal:
    """Return the one literal that the words say."""
    text = " ".join(words)
    readings = set(_readings(text))
    if len(readings) != 1:
        raise TranslationError(sentence, f"{text!r} can be read in {len(readings)} ways, not in one")
    return readings.pop()


def _readings(text: str) -> Iterator[Literal]:
    for predicate, template in CLAUSES.items():
        for arguments, positive in _filled(template, SIGNATURE.predicates.get(predicate, (predicate,)), text):
            yield Literal(positive, predicate, arguments)


def _filled(template: Template, sorts: Sequence[str], text: str) -> Iterator[tuple[tuple[Term, ...], bool]]:
    """Yield the terms in the slots of a template that is filled as the text is, and whether it affirms them.

    No name holds the function words between two slots, so that at most one way to cut the text gives terms.
    """
    match = _pattern(template).fullmatch(text)
    if match is not None:
        said = [tuple(_terms(sort, match[f"slot{place}"])) for place, sort in enumerate(sorts)]
        yield from ((arguments, match.groupdict().get("no") is None) for arguments in product(*said))


@lru_cache(maxsize=128)
def _pattern(template: Template) -> re.Pattern[str]:
    slotted = re.sub(r"\{(\d)\}", r"(?P<slot\1>.+)", template.replace("{not}", "(?P<no> not)?"))
    return re.compile(slotted)


def _terms(sort: str, text: str) -> Iterator[Term]:
    """Yield every term of a sort that a text is."""
    for below, variable in VARIABLES.items():
        if SIGNATURE.is_below(below, sort):
            article, _, noun = text.partition(" ")
            if noun == below and article in _ARTICLES:
                yield variable
            name = _NAMED[below].fullmatch(text)
            if name is not None and _NO_EVENT_WORDS.isdisjoint(name[1].lower().split(" ")):
                yield name[1].lower().replace(" ", "-")
    if sort == "property":
        yield from (name for name, phrase in PROPERTY_PHRASES.items() if phrase == text)
    for function, (sorts, result) in SIGNATURE.functions.items():
        if result == sort:
            yield from (Application(function, arguments) for arguments, _ in _filled(PHRASES[function], sorts, text))


def _check_sorts(said: list[tuple[str, Statement]]) -> None:
    """Refuse a text in which one name names two things."""
    known: dict[str, str] = {}
    for sentence, statement in said:
        for name, sort in _proper_names(sentence):
            if known.setdefault(name, sort) != sort:
                raise TranslationError(sentence, f"{name} is a {known[name]} elsewhere, and a {sort} here")
        try:
            known.update(SIGNATURE.sorts_in(statement, known))
        except SortError as error:
            raise TranslationError(sentence, str(error)) from error
        if any(len(name) > MAX_NAME_LENGTH for name in known):
            raise TranslationError(sentence, f"a name has more than {MAX_NAME_LENGTH} letters")


def _proper_names(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the people and groups of a sentence that has been read; an event's name has no capital."""
    words = " ".join(sentence.split()).removeprefix(_LEAD).rstrip(".?").replace(",", "").split(" ")
    for at, word in enumerate(words):
        if _NAME.fullmatch(word) is not None and word.lower() not in _NO_EVENT_WORDS:
            yield word.lower(), "group" if words[at + 1 : at + 2] == ["group"] else "person"
