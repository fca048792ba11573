"""The English of the calendar theory: one phrase for each symbol, and statements written with them.

    Anna is busy during the kickoff.
        (busy anna kickoff)
    If an event is short, then it is obligatory to cancel the event.
        (short 'e) -> (obligatory (cancel-event 'e))
    If an event is long, then it is permissible to add any group to the event.
        (long 'e) -> (group 'g) -> (permissible (add-participant 'e 'g))

The phrases are read back in `critics.text.translators.deontiqa`. A statement has at most one variable of each sort, and
a premise that only says its sort is told by `any` in the conclusion.
"""

from collections.abc import Mapping
from typing import TypeAlias

from critics.replay.formula import Application, Literal, Statement, Term, is_variable
from critics.text.theories.scheduling import PROPERTIES, SIGNATURE

Template: TypeAlias = str
"""Words with `{0}` and `{1}` for the arguments; in a clause, `{not}` for what negation adds."""

VARIABLES: Mapping[str, str] = {"person": "'p", "group": "'g", "event": "'e"}
"""The variable of each sort that a rule can speak of."""
_NOUNS = frozenset({"meeting", "conference"})

PROPERTY_PHRASES: Mapping[str, str] = {name: f"a {name}" if name in _NOUNS else name for name in PROPERTIES}
CLAUSES: Mapping[str, Template] = {
    **{name: f"{{0}} is{{not}} {phrase}" for name, phrase in PROPERTY_PHRASES.items()},
    "organizer": "{1} is{not} the organizer of {0}",
    "participant": "{1} is{not} a participant in {0}",
    "group-participant": "{1} is{not} taking part in {0}",
    "busy": "{0} is{not} busy during {1}",
    "free": "{0} is{not} free during {1}",
    "tentative": "{0} is{not} tentative about {1}",
    "high": "{1} is{not} of high priority for {0}",
    "low": "{1} is{not} of low priority for {0}",
    "person": "one of the people is {0}",
    "group": "one of the groups is {0}",
    "event": "one of the events is {0}",
    "obligatory": "it is{not} obligatory to {0}",
    "permissible": "it is{not} permissible to {0}",
    "impermissible": "it is{not} impermissible to {0}",
}
"""Predicates; what only a sort says is affirmed, never denied."""
PHRASES: Mapping[str, Template] = {
    "accept": "accept {0}",
    "decline": "decline {0}",
    "send-notification": "send a notification about {0}",
    "cancel-event": "cancel {0}",
    "set-reminder": "set {0}",
    "add-participant": "add {1} to {0}",
    "remove-participant": "remove {1} from {0}",
    "delegate-event": "delegate {0} to {1}",
    "request-event-update": "request an update on {1} from {0}",
    "suggest-alternative-time": "suggest another time for {1} to {0}",
    "check-availability": "check whether {0} is available for {1}",
    "update-event": "update {0} to be {1}",
    "reschedule-event": "reschedule {0} to be {1}",
    "change-visibility": "change the visibility of {0} to {1}",
    "individual-invite": "the invite of {0} to {1}",
    "group-invite": "the invite of {0} to {1}",
    "none": "an untimed reminder of {1} for {0}",
    "minutes-before": "a reminder for {0} some minutes before {1}",
    "hours-before": "a reminder for {0} some hours before {1}",
    "days-before": "a reminder for {0} some days before {1}",
}
"""Functions: actions, invites and reminders."""


def sentence(statement: Statement, sorts: Mapping[str, str]) -> str:
    """Return a fact or a rule as a sentence; `sorts` tells the sort of every object in it.

    Raises `ValueError` for what this English cannot say.
    """
    if isinstance(statement, Literal):
        text = clause(statement, sorts)
        return f"{text[0].upper()}{text[1:]}."
    speaker = _Speaker(sorts, [p.arguments[0] for p in statement.premises if _is_binder(p)])
    conditions = " and ".join(speaker.clause(p) for p in statement.premises if not _is_binder(p))
    speaker.concludes = True
    text = f"If {conditions}, then {speaker.clause(statement.conclusion)}."
    if speaker.bound or not conditions:
        raise ValueError(f"{statement}: a bound variable is in no place where 'any' could stand")
    return text


def clause(literal: Literal, sorts: Mapping[str, str]) -> str:
    """Return a ground literal as a clause."""
    return _Speaker(sorts, []).clause(literal)


def question(literal: Literal, sorts: Mapping[str, str]) -> str:
    """Return the question whether a modality of an action holds."""
    _, _, rest = clause(literal, sorts).partition("it is")
    return f"Given these rules, is it{rest}?"


def _is_binder(premise: Literal) -> bool:
    return premise.predicate in SIGNATURE.sorts


class _Speaker:
    """Says literals, and remembers which variables a rule has mentioned."""

    def __init__(self, sorts: Mapping[str, str], bound: list[Term]) -> None:
        self._sorts = sorts
        self.bound = bound
        """The variables still to be introduced by `any`."""
        self.concludes = False
        self._mentioned: set[Term] = set()

    def clause(self, literal: Literal) -> str:
        if literal.predicate in SIGNATURE.sorts and not literal.positive:
            raise ValueError(f"{literal}: a sort is affirmed, never denied")
        return self._filled(CLAUSES, literal.predicate, literal.arguments).replace(
            "{not}", "" if literal.positive else " not"
        )

    def _filled(self, templates: Mapping[str, Template], symbol: str, arguments: tuple[Term, ...]) -> str:
        """Fill the slots in the order of the words, because the first mention has another article."""
        if symbol not in templates:
            raise ValueError(f"{symbol}: this English has no phrase for it")
        text = templates[symbol]
        for place in sorted(range(len(arguments)), key=lambda i: text.index(f"{{{i}}}")):
            text = text.replace(f"{{{place}}}", self._phrase(arguments[place]), 1)
        return text

    def _phrase(self, term: Term) -> str:
        if isinstance(term, Application):
            return self._filled(PHRASES, term.function, term.arguments)
        if is_variable(term):
            return self._variable(term)
        sort = SIGNATURE.constants.get(term) or self._sorts.get(term)
        words = term.replace("-", " ")
        if sort == "property":
            return PROPERTY_PHRASES[term]
        if sort == "event":
            return f"the {words}"
        return f"the {words.capitalize()} group" if sort == "group" else words.capitalize()

    def _variable(self, variable: str) -> str:
        sort = next((sort for sort, its in VARIABLES.items() if its == variable), None)
        if sort is None:
            raise ValueError(f"{variable}: the variables of this English are {', '.join(VARIABLES.values())}")
        if variable in self._mentioned:
            return f"the {sort}"
        self._mentioned.add(variable)
        if not self.concludes:
            return f"an {sort}" if sort == "event" else f"a {sort}"
        if variable not in self.bound:
            raise ValueError(f"{variable}: no premise says what it is")
        self.bound.remove(variable)
        return f"any {sort}"
