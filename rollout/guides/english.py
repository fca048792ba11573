"""The English guide: a text is nothing but sentences, and what each may say is known before it is written.

    text     = ["Reasoning: "] sentence { " " sentence } [newline "Answer: " answer]
    sentence = one of the context that is not said yet, in the context's own words; a rule again where a step needs it
             | a fact that one rule gives from what the context and the text say, read aloud
             | "The question is: .." with what is asked, where the data set knows that nothing more follows
    answer   = the value that is decided, as the problem spells it

The critic of `english` tries each sentence before it may be said (`critics.formats.english.trial`), and what it would
refuse is not offered: so what ends in an answer is what it certifies. A step after a rule that was read out uses such
a rule. Once the goal or its denial is said, or all that bears on it where that is `unknown`, only the answer may
follow. A text ends without one where nothing is left to say, or `max_sentences` are said.

Not offered are assumptions, cases, rules that follow from rules, and facts with a variable that no single condition of
their rule binds, but where the semantics is `forward` and a kernel finds them.
"""

from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import count

from critics.errors import InputError
from critics.formats.cot.critic import UNREAD
from critics.formats.english.trial import Trial
from critics.problem import Problem
from critics.replay.answers import in_terms_of
from critics.replay.clauses import OutOfWork, denied, fact
from critics.replay.formula import FormulaError, Literal, parse_literal, parse_statement
from critics.replay.kernel import ArityError, Kernel, WorkLimitExceeded
from critics.replay.sorts import SortError
from critics.text.english.language import ProblemLanguage, Said, Unreadable, language_of
from critics.text.english.outline import Outline, Reasoning, Unit
from critics.text.english.passage import TextSentence, lines
from critics.text.english.steps import Ledger, Warrant
from critics.verdict.conclusion import BadSentence
from rollout.decoding.automaton import Words
from rollout.decoding.guide import SentenceGuide
from rollout.prompts.sentence import read_aloud

_ASKS = "The question is: "
_LEADS = ("", "Reasoning: ")
"""Texts that may stand before the first sentence: models that were shown solved examples begin with the second."""
_MOST_PROBLEMS = 32
"""Problems whose guides are kept for the next sample."""
_FIELDS = [each.name for each in fields(Trial)]
_CHANGING: frozenset[type] = frozenset({list, dict, set, Counter})
_numbers = count()


class EnglishGuide(SentenceGuide):
    """The sentences that may come next in a chain of thought about one problem.

    Guides of one problem share what they have found out; a guide itself is a place in it.
    """

    def __init__(self, place: "_Moment") -> None:
        self._place = place

    @classmethod
    def for_problem(cls, problem: Problem, max_sentences: int | None = None) -> "EnglishGuide":
        """Return a guide at the start of a text; raises `InputError` for a problem that the critic does not read."""
        given = problem.id, problem.dataset, problem.context, problem.question, problem.options
        return cls(_start(*given, max_sentences))

    @property
    def key(self) -> Hashable:
        """Return the number of the place."""
        return self._place.number

    @property
    def is_over(self) -> bool:
        """True behind the answer, and where nothing is left to say."""
        return not self._place.found()

    def allowed(self) -> Words:
        """Return the sentences with the blank or newline before them."""
        return self._place.words()

    def close(self, block: bytes) -> None:
        """Take in a sentence."""
        self._place = self._place.after(block)

    def clone(self) -> "EnglishGuide":
        """Return a guide at the same place."""
        return EnglishGuide(self._place)


@dataclass(frozen=True, slots=True)
class _Case:
    """Parts that do not change in the course of a text about a problem."""

    problem: Problem
    language: ProblemLanguage
    outline: Outline
    max_sentences: int | None
    rules: dict[int, str] = field(default_factory=dict[int, str])
    """The sentence that says each rule of the context, by the rule's entry."""
    _read: dict[str, tuple[TextSentence, tuple[Unit, ...]] | None] = field(
        default_factory=dict[str, "tuple[TextSentence, tuple[Unit, ...]] | None"]
    )
    _aloud: dict[Literal, str] = field(default_factory=dict[Literal, str])

    def read(self, text: str) -> tuple[TextSentence, tuple[Unit, ...]] | None:
        """Return a sentence as the critic takes it apart; None where it sees none, or several."""
        if text not in self._read:
            found = list(lines(text, self.problem.question))
            self._read[text] = (found[0], self.outline.units(found[0])) if len(found) == 1 else None
        return self._read[text]

    def tried(self, trial: Trial, text: str, number: int) -> Trial | None:
        """Return the trial after a sentence; None where the critic refuses it."""
        read = self.read(text)
        if read is None:
            return None
        held = [(name, getattr(trial, name)) for name in _FIELDS]
        changing = {name: copy(each) for name, each in held if type(each) in _CHANGING}
        after = replace(trial, ledger=trial.ledger.fork(), **changing)
        try:
            after.sentence(*read, number)
        except BadSentence:
            return None
        return after

    def aloud(self, literal: Literal) -> str:
        """Return a fact as a sentence in the context's words."""
        if literal not in self._aloud:
            self._aloud[literal] = read_aloud(literal, self.problem.context)
        return self._aloud[literal]

    def note_rules(self, text: str, ledger: Ledger) -> None:
        """Remember which rules a sentence says."""
        read = self.read(text)
        units = [unit for unit in (read[1] if read else ()) if isinstance(unit, Reasoning)]
        claims = [claim for unit in units for claim in unit.conclusions]
        for clause in (clause for claim in claims for clause in claim.said if not clause.is_fact):
            if (at := ledger.find(clause)) is not None:
                self.rules.setdefault(at, text)

    def answer(self, truth: str) -> str | None:
        """Return the line that gives an answer as the problem spells it; None where it has no such answer."""
        value, options = in_terms_of(truth, self.problem.options), self.problem.options
        if value is None:
            return None
        return f"Answer: {value if options is None else options[ord(value) - ord('A')].strip()}"


@dataclass(slots=True, eq=False)
class _Moment:
    """The state of a text: all that it has said so far, and what it may say next, found when it is asked for."""

    case: _Case
    trial: Trial
    left: tuple[str, ...]
    """The sentences of the context that are not said."""
    kernel: Kernel | None
    """Everything that follows by forward chaining; None where the logic is classical."""
    steps: dict[Literal, str]
    """Facts that one rule gives, read aloud; the critic has still to agree."""
    new: tuple[Literal, ...] = ()
    """Facts that the last sentence has inferred: what they give is not among the steps yet."""
    num_said: int = 0
    is_over: bool = False
    number: int = field(default_factory=_numbers.__next__)
    _next: "dict[bytes, _Moment | str] | None" = None
    """The places after each sentence, or the text of a premise after which nobody has looked yet."""
    _words: Words | None = None

    def words(self) -> Words:
        """Return what may come next as whole sentences."""
        if self._words is None:
            self._words = Words(self.found(), key=self.number)
        return self._words

    def after(self, block: bytes) -> "_Moment":
        """Return the place after one of its sentences."""
        after = self.found()[block]
        if isinstance(after, str):
            trial = self.case.tried(self.trial, after, self.num_said)
            assert trial is not None, "a premise may be said anywhere"
            left = tuple(each for each in self.left if each != after)
            after = self.found()[block] = self._said(trial, left)
        return after

    def found(self) -> "dict[bytes, _Moment | str]":
        """Return what may come next; empty where the text is over."""
        if self._next is None:
            found: dict[bytes, _Moment | str] = {}
            # What takes the critic too much work is not offered.
            with suppress(OutOfWork, WorkLimitExceeded):
                found = {} if self.is_over else dict(self._answers()) or dict(self._sentences())
            words = sorted(found)
            # A sentence that goes on where another ends could not be told from it.
            self._next = {
                word: found[word]
                for before, word in zip([b"\xff", *words], words, strict=False)
                if not word.startswith(before)
            }
        return self._next

    def _answers(self) -> "Iterator[tuple[bytes, _Moment]]":
        """Yield the answer that is decided, if one is."""
        language, ledger = self.case.language, self.trial.ledger
        sides: list[tuple[str, Said]] = [("true", language.goal), ("false", denied(language.goal) or ())]
        decided = [truth for truth, said in sides if said and all(ledger.find(one) is not None for one in said)]
        if not decided and self.num_said and language.semantics.forward:
            decided = ["unknown"]
        for truth in decided:
            said = self.case.answer(truth)
            after = None if said is None else self.case.tried(self.trial, said, self.num_said)
            if said is None or after is None:
                continue
            try:
                after.end()
            except BadSentence:
                continue
            yield f"\n{said}".encode(), replace(self._said(after, self.left), is_over=True)

    def _sentences(self) -> "Iterator[tuple[bytes, _Moment | str]]":
        """Yield what may be said before the answer."""
        if self.case.max_sentences is not None and self.num_said >= self.case.max_sentences:
            return
        sentences: dict[str, _Moment | str] = {text: text for text in self.left}
        for literal, text in self._steps().items():
            after = self.case.tried(self.trial, text, self.num_said)
            if after is None:
                sentences |= self._again(literal)
            elif after.ledger.find(fact(literal)) is not None:
                sentences[text] = self._said(after, self.left, (literal,))
        for lead in (" ",) if self.num_said else _LEADS:
            yield from ((f"{lead}{text}".encode(), after) for text, after in sentences.items())

    def _again(self, literal: Literal) -> "Iterator[tuple[str, _Moment]]":
        """Yield the rules that give a fact and were said too long ago, to be said again."""
        ledger = self.trial.ledger.fork()
        used = {at for step in ledger.steps(fact(literal)) for at in step.premises}
        for text in {self.case.rules[at] for at in used if at in self.case.rules}.difference(self.left):
            after = self.case.tried(self.trial, text, self.num_said)
            if after is not None:
                yield text, self._said(after, self.left)

    def _said(self, trial: Trial, left: tuple[str, ...], new: tuple[Literal, ...] = ()) -> "_Moment":
        """Return the place after a sentence."""
        return _Moment(self.case, trial, left, self.kernel, self.steps, new, self.num_said + 1)

    def _steps(self) -> dict[Literal, str]:
        """Return the facts that follow in one step, those that the last sentence gives among them."""
        if self.new:
            ledger, found = self.trial.ledger, list[Literal]()
            if self.kernel is None:
                found = [each for each in ledger.fork().consequences(self.new) if not each.variables()]
            else:
                self.kernel = self.kernel.fork()
                for literal in self.new:
                    if literal in self.kernel.offers:
                        self.kernel.infer(literal)
                found = list(self.kernel.offers)
            both = dict.fromkeys([*self.steps, *found])
            self.steps = {each: self.case.aloud(each) for each in both if ledger.find(fact(each)) is None}
            self.new = ()
        return self.steps


@lru_cache(maxsize=_MOST_PROBLEMS)
def _start(
    name: str, dataset: str, context: str, question: str, options: tuple[str, ...] | None, max_sentences: int | None
) -> _Moment:
    """Return the place before the first sentence; raises `InputError` naming the problem."""
    problem = Problem(name, dataset, context, question, options)
    if dataset in UNREAD:
        raise InputError(f"guide: english: of {dataset} the format cot judges the answer alone; set decoding to free")
    try:
        return _begun(problem, max_sentences)
    except (Unreadable, OutOfWork, WorkLimitExceeded, ArityError, SortError, FormulaError) as error:
        why = str(error) or "it takes too much work"
        raise InputError(
            f"guide: english: problem {name!r} is not read ({why}); leave it out, or set decoding to free"
        ) from error


def _begun(problem: Problem, max_sentences: int | None) -> _Moment:
    language = language_of(problem)
    forward = language.semantics.forward
    if language.contradicts_itself():
        raise Unreadable("inconsistent_context", "the context contradicts itself")
    ledger = Ledger(forward=forward)
    for clause in language.stated:
        ledger.add(clause, Warrant("context", ()))
    trial = Trial(problem, language, ledger)
    case = _Case(problem, language, Outline(language, problem.question), max_sentences)
    said = dict.fromkeys(line.passage.text for line in lines(problem.context))
    if forward and case.answer("unknown") is not None and len(language.goal) == 1 and language.goal[0].is_fact:
        said[f"{_ASKS}{read_aloud(language.goal[0].fact, problem.context)}"] = None
    left = tuple(text for text in said if case.tried(trial, text, 0) is not None)
    for text in left:
        case.note_rules(text, ledger)
    kernel: Kernel | None = None
    if forward:
        kernel = Kernel()
        for axiom in language.formal.axioms:
            kernel.add_axiom(parse_statement(axiom))
        kernel.mention(parse_literal(language.formal.goal))
    facts = [clause.fact for clause in language.stated if clause.is_fact]
    return _Moment(case, trial, left, kernel, {}, tuple(facts))
