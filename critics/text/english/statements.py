"""Statements of a text as formulas: read by the grammar with the words of the problem, pronouns and `must` resolved."""

import re
from collections.abc import Sequence
from dataclasses import replace

from critics.grammar.chart import Conventions
from critics.grammar.lexicon import is_noun_too, is_plural
from critics.grammar.meaning import both
from critics.grammar.reader import Reading
from critics.grammar.subjects import ALL_THE
from critics.grammar.text import TWINS, is_turned, problem_reader, sentences, speaks_of_one, without_the
from critics.grammar.words import FUNCTION, PREPOSITIONS, is_person
from critics.logic.first_order.shapes import is_fact
from critics.problem import AXIOMS, SETTLED, Problem
from critics.replay.first_order import syntax as fo
from critics.text.english.moods import indicative
from critics.text.english.passage import TextSentence
from critics.text.english.phrases import ABOUT_TEXT, DENIALS, EVERY, IDLE, IS_KIND, KIND
from critics.verdict import CriticError, TimedOut
from critics.verdict.conclusion import Refusal
from critics.verdict.reading import TOO_MUCH_WORK

CONVENTIONS = {
    "proofwriter": Conventions(pronoun="first", every_not="none", states="all"),
    "prontoqa": Conventions(every_not="none", states="all"),
    "prontoqa-ood": Conventions(every_not="none", states="all"),
}
"""Conventions of each data set, which settle what English leaves open."""
MAX_WORK = 40_000
"""Spans that the grammar reads of one text, over all its sentences; what real models write needs a twentieth."""
_MUST = ("must be ", "must ", "has to be ", "have to be ", "should be ", "should ")
_MAY = ("could be ", "might be ", "may be ", "can be ", "could ", "might ", "may ")
_REFLEXIVE = re.compile(r"(?P<name>(?:[Tt]he )?\w+(?: [a-z]+)?) (?P<verb>\w+(?: not \w+)?) (?:itself|himself|herself)")
_RULES = re.compile(r"(?<=[a-z]),? and (?:that )?(?=(?:if|all|every|no|any) )")
_OF_KINDS = re.compile(r"(?i:every|each|all|no|any) (?:[a-z-]+ ){1,2}(?:is|are) (?:not )?(?:an? )?[a-z-]+(?: [a-z-]+)?")
_PRONOUN = re.compile(r"(?P<lead>if )?(?:he|she|it)\b", re.IGNORECASE)
_GOES_ON = re.compile(r"(?:and|but|so|also|or)\b", re.IGNORECASE)
_QUOTED = re.compile(r'"(?P<said>[^"]+ [^"]+)"(?=.*\w)')
_SOMEONE = "Zyx"
"""Stands for whoever a pronoun means while a sentence is taken apart."""


def _without(mark: str, name: str) -> str:
    """Return a predicate without its modal; a verb that is a noun too as the grammar names it: do bark."""
    plain = name.removeprefix(mark)
    is_verb = not mark.endswith("be ") and " " not in plain and is_noun_too(plain)
    return f"do {plain}" if is_verb else plain


def possibility(formula: fo.Formula) -> fo.Formula | None:
    """Return what a claim says may be so; None where it says that something is so."""
    found: list[fo.Atom] = []

    def plain(part: fo.Formula) -> fo.Formula:
        if not isinstance(part, fo.Atom):
            return fo.rebuilt(part, plain)
        for mark in _MAY:
            if part.predicate.startswith(mark):
                found.append(part)
                return fo.Atom(_without(mark, part.predicate).removeprefix("potentially "), part.arguments)
        return part

    stripped = plain(formula)
    return stripped if found else None


def speaks_of_abilities(formulas: Sequence[fo.Formula]) -> bool:
    """Say whether some formula tells what one can do."""
    return any(name.startswith(("can ", "could ")) for formula in formulas for name in fo.predicates(formula))


def ruled_out(formula: fo.Formula, *, of_abilities: bool) -> fo.Formula:
    """Read what cannot be so as what is not so, of one or of all: no cat can be a dog.

    Where the problem is `of_abilities` itself, that Tom cannot swim is not that he does not.
    """
    match formula:
        case fo.Not(fo.Atom(predicate=name, arguments=terms)) if name.startswith(("can ", "could ")):
            able = fo.Atom(_without(f"{name.split(' ')[0]} ", name), terms)
            return possibility(formula) or (formula if of_abilities else fo.Not(able))
        case _:
            return fo.rebuilt(formula, lambda part: ruled_out(part, of_abilities=of_abilities))


def concluded(formula: fo.Formula) -> fo.Formula:
    """Read `must be` as a conclusion, and no duty."""
    if not isinstance(formula, fo.Atom):
        return fo.rebuilt(formula, concluded)
    name, denied = formula.predicate, formula.predicate.startswith("not must ")
    for mark in _MUST:
        if name.removeprefix("not ").startswith(mark) and (denied or not name.startswith("not ")):
            plain = fo.Atom(_without(mark, name.removeprefix("not ")), formula.arguments)
            return fo.Not(plain) if denied else plain
    return formula


def _has_no_other(text: str) -> bool:
    """Say whether no other single thing is spoken of beside the subject: the cake contains almonds; it is a dish."""
    told = KIND.search(text)
    if told is None or told["plural"]:
        return told is not None and is_plural(told["plural"])
    return not {*told["kind"].split()} & (PREPOSITIONS | FUNCTION)


def settled(problem: Problem) -> str:
    """Return the data set whose conventions a problem's readings have; `none` where it is none."""
    named = problem.meta.get(SETTLED, problem.dataset)
    return named if isinstance(named, str) and named in CONVENTIONS else "none"


def axioms_of(problem: Problem) -> tuple[str, ...]:
    """Return the sentences of the knowledge that a problem declares."""
    declared = problem.meta.get(AXIOMS) or ()
    listed = [declared] if isinstance(declared, str) else declared
    return tuple(sentence for text in listed for sentence in sentences(str(text)))


class Statements:
    """Reads statements about one problem; remembers whom the last one was about."""

    def __init__(
        self, context: str, question: str, conventions: Conventions | None, axioms: tuple[str, ...] = ()
    ) -> None:
        self.problem = problem_reader(context, question, conventions, axioms)
        self.axioms = axioms
        joined = " ".join([*self.problem.said, self.problem.asked])
        self._spoken_of = {word.lower() for word in ABOUT_TEXT.findall(joined)}
        """Words about texts that the problem has as well: `is commonly known as`, `in the US`."""
        self._has_duties = re.search(r"\b(?:must|has to|have to|should)\b", joined) is not None
        self._has_would = re.search(r"\bwould\b", joined) is not None
        self.chosen: dict[str, None] = {}
        """Sentences with two readings, of which others decide."""
        self._last: str | None = None
        self._work = 0
        self._rule: tuple[int, frozenset[str]] | None = None
        """Sentence and phrases of rules that stand behind it."""
        self._kind: int | None = None
        """The sentence whose last statement says what a thing is."""
        self._is_single = True
        """True where nothing else than whom the last one was about stands in it: `Tom has a laptop. It is warm`."""
        self._new: set[str] = set()  # The things that the text brought in itself.
        self._before: str | None = None
        """The thing that the last statement began with."""
        self._told: dict[str, set[fo.Formula]] = {}
        """What was said by statements that began with a thing, and its denials, by the thing."""

    def note(self, read: Reading) -> None:
        """Keep a sentence of two readings for the certificate."""
        self.chosen |= {read.text.rstrip(".?!"): None} if TWINS in read.conventions else {}

    def declared(self, *, exclusive: bool) -> list[fo.Formula]:
        """Return the formulas of declared knowledge; raises `Refusal` where a sentence of it is not read."""
        found = list(map(self.problem.stated, self.axioms))
        for each in found:
            if not isinstance(each, Reading):
                told = f"the axiom {each.text!r} is not read: {each.word}: {each.why}"
                raise Refusal(CriticError, "context_not_read", told)
        return [each.exclusive if exclusive else each.formula for each in found if isinstance(each, Reading)]

    def has_either(self, said: Sequence[TextSentence]) -> bool:
        """Say whether `either` or an exception stands anywhere."""
        told = [*self.problem.said, *self.axioms, *(line.passage.text for line in said)]
        return any("either" in text.lower() or "except" in text.lower() for text in told)

    def reads(self, text: str) -> bool:
        """Say whether a text is a statement; a pronoun that opens it may stand for somebody."""
        return self.reading(text, _SOMEONE) is not None

    def unread(self, text: str) -> str:
        """Return the word of a text at which it is no statement, and why, for the feedback."""
        found = self.problem.reader.read(text)
        return "" if isinstance(found, Reading) or not found.word else f": {found.word}: {found.why}"

    def is_fact(self, text: str) -> bool:
        """Say whether a text is a statement that is no rule."""
        found = self.reading(text, _SOMEONE)
        return found is not None and is_fact(found.formula)

    def goal(self, *, exclusive: bool) -> fo.Formula:
        """Return the formula of what the question asks about; raises `Refusal` where it is not read."""
        found = self.problem.question()
        if not isinstance(found, Reading):
            why = f": {found.word}: {found.why}" if found.word else ""
            raise Refusal(CriticError, "question_not_read", f"the question {found.text!r} is not read{why}")
        self.note(found)
        return found.exclusive if exclusive else found.formula

    def formula(self, text: str, *, exclusive: bool, last: str | None = None) -> fo.Formula | None:
        """Return the formula of a statement; None where it is not read."""
        found = self.reading(text, last)
        if found is None:
            return None
        self.note(found)
        formula = found.exclusive if exclusive else found.formula
        return formula if self._has_duties else concluded(formula)

    def turn_to(self, name: str, *, is_new: bool = False) -> None:
        """Speak of somebody from here on, whom a heading names, or of a thing that the text brings in."""
        self._last = name.lower() if name[:4].lower() == "the " else f'"{name}"'
        self._rule, self._is_single = None, True
        self._new |= {self._last} if is_new else set[str]()

    @property
    def last(self) -> str | None:
        """The one object that the last statement was about, as formulas name it."""
        return None if self._last is None else self._last.strip('"').lower()

    def next_formula(
        self, text: str, *, exclusive: bool, sentence: int = 0, inferred: bool = True, is_aside: bool = False
    ) -> fo.Formula | None:
        """Return the formula of the next statement of a text; `he` is who alone the one before was about.

        A rule that is given as a reason behind its claim (`is_aside`) changes nothing of that.

        Between them may stand rules about every or no such thing, of whose words alone a conclusion is: Tom is a cat.
        Every cat is warm. So he is warm.
        """
        text = text.strip()
        # Within a sentence, what follows from what a thing is is of this thing: the cake is a cake with cream, so it ..
        is_of_kind = inferred and self._kind is not None and sentence <= self._kind + 1
        is_meant = self._is_single or is_of_kind or not re.match(r"(?:if )?it\b", text, re.IGNORECASE)
        if self._rule is not None:
            is_meant = is_meant and inferred
        formula, who = self.formula(text, exclusive=exclusive, last=self._last if is_meant else None), self.last
        if formula is None:
            formula, who = self._of_subject(text, exclusive=exclusive, is_of_kind=is_of_kind), self._before
        if formula is None:
            return None
        heard = frozenset(fo.predicates(formula))
        if self._rule is not None and _PRONOUN.match(text) and not heard <= self._rule[1]:
            # Attack: every man works. He is big.
            return None
        names = fo.constants(formula)
        if is_aside and (not names or text[:3].lower() == "if "):
            return formula
        are_things = all(name.startswith("the ") and not is_person(name.split(" ")[-1]) for name in names)
        if self._last is not None and are_things and EVERY.match(text):
            self._rule = (sentence, heard | (frozenset() if self._rule is None else self._rule[1]))
            self._is_single &= self._last in self._new and _OF_KINDS.fullmatch(text) is not None
            return formula
        self._rule = None
        # James is from the law school, so he ..: the one name, which is the subject, and no thing.
        main = [name for name in names if not name.startswith("the ")]
        low = text.lower().removeprefix("if ")
        low = low if who is None else re.sub(r"\A(?:he|she|it)\b", who, low)
        is_main = len(names) == 1 or (len(main) == 1 and low.startswith(main[0]))
        only = (main or [*names])[0] if is_main else None
        only = None if only is None or only.startswith(ALL_THE) else only
        # In quotes a name of several words is one.
        self._last = only if only is None or only.startswith("the ") else f'"{only.title()}"'
        starts = (name for name in names if re.match(rf"{re.escape(name)}\b", without_the(low, name)))
        first = self._before = max(starts, key=len, default=None)
        if first is not None:
            self._told.setdefault(first, set[fo.Formula]()).update(fo.subformulas(formula))
        self._kind = sentence if first is not None and IS_KIND.match(without_the(low, first)[len(first) :]) else None
        is_plain = all(" " not in name for name in heard) or _has_no_other(text)
        self._is_single = len(names) == 1 and (is_plain or speaks_of_one(text, min(names)))
        return formula

    def _of_subject(self, text: str, *, exclusive: bool, is_of_kind: bool) -> fo.Formula | None:
        """Return what a statement says of `it`, where that is the thing with which the last one began.

        It follows from what that is: the derby is a match in the second round, so it is played. Or the last one said
        the same of it: the bus stops at the lake or the inn; it does not stop at the inn.
        """
        first = self._before
        if first is None or self._rule is not None or not re.match(r"it\b", text, re.IGNORECASE):
            return None
        last = first if first.startswith("the ") else f'"{first.title()}"'
        found = self.formula(text, exclusive=exclusive, last=last)
        own = [part for part in fo.subformulas(found) if isinstance(part, fo.Atom)] if found is not None else []
        return found if is_of_kind or self._told[first].issuperset(own) else None

    def reading(self, text: str, last: str | None = None) -> Reading | None:
        """Read a statement; a pronoun that opens it may stand for `last`."""
        quoted = _QUOTED.match(text)
        if quoted is not None and self._read(quoted["said"]) is not None:
            # "Every cat is warm", but Tom is no cat: two statements.
            return None
        text = text.strip(' .,:;!?"')
        denial = DENIALS.match(text)
        if denial is not None:
            inner = self.reading(text[denial.end() :], last)
            return inner and replace(inner, formula=fo.negated(inner.formula), exclusive=fo.negated(inner.exclusive))
        for said in () if self._has_would else indicative(text):
            if said != text and (found := self.reading(said, last)) is not None:
                return found
        found = self._read(text)
        pronoun = _PRONOUN.match(text)
        if found is None and last is not None and pronoun is not None:
            found = self._read(f"{pronoun['lead'] or ''}{last}{text[pronoun.end() :]}")
        return found

    def _read(self, text: str) -> Reading | None:
        text = self.problem.frames.without(text)
        is_about_texts = not self._spoken_of.issuperset(word.lower() for word in ABOUT_TEXT.findall(text))
        if not text or " - " in text or _GOES_ON.match(text) or is_about_texts:
            return None
        reflexive = _REFLEXIVE.fullmatch(text)
        if reflexive is not None:
            name = reflexive["name"]
            again = name[0].lower() + name[1:] if name.lower().startswith("the ") else name
            text = f"{name} {reflexive['verb']} {again}"
        text = IDLE.sub("", text)
        joint = _RULES.search(text)
        if joint is not None:
            # If someone is young they are tame, and all cats are warm: two rules, and not one with two conclusions.
            parts = [self._read(text[: joint.start()]), self._read(text[joint.end() :])]
            if parts[0] is not None and parts[1] is not None:
                found = replace(parts[0], text=text, formula=both(parts[0].formula, parts[1].formula))
                return replace(found, exclusive=both(parts[0].exclusive, parts[1].exclusive))
        found, work = self.problem.read_at_cost(text[:1].upper() + text[1:])
        self._work += work
        if self._work > MAX_WORK:
            raise Refusal(TimedOut, "work_limit", TOO_MUCH_WORK)
        return found if isinstance(found, Reading) and not is_turned(found) else None
