"""LogicGuide's own guide (LogicGuide's paper, section 3.3) in the `fixed` mode.

It offers the paper's six actions: four that formalise (object, prop, relation, axiom), `goal`, and `infer`,
whose content is one of the kernel's offers or `nothing`.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from critics.problem import Problem
from critics.replay.formula import MAX_NAME_LENGTH, FormulaError, Literal, parse_literal, parse_statement
from critics.replay.kernel import ArityError, Kernel, WorkLimitExceeded
from critics.replay.sorts import SortedSignature, SortError
from critics.text.background import background, vocabulary
from rollout.decoding.automaton import (
    Actions,
    Automaton,
    Pattern,
    RegularLanguage,
    Words,
    chars,
    choice,
    literal,
    repeat,
    sequence,
)
from rollout.decoding.guide import CLOSE, Truth

_TERM_DEPTH = 2
_FUNCTION_ARITY = 3
"""Limits of the terms that the guide lets a policy write; the critic reads deeper and wider ones."""
_VARIABLE = sequence(literal("'"), chars("abcdefghijklmnopqrstuvwxyz"))
_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"


PLAIN_DATASETS = frozenset({"prontoqa", "prontoqa-ood", "proofwriter", "syllogism"})
"""Their language has neither function terms nor universal facts, so neither is worth a token of theirs."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed theory's names and sorts, known by what the theory is called."""

    name: str
    signature: SortedSignature = field(compare=False)


class LogicGuide:
    """The guide of LogicGuide's paper, section 3.3, in the `fixed` mode: offers nothing that is already known.

    A block that is well-formed but means nothing (a predicate with another arity than before) changes no state; it is
    in `dropped`, and the critic will call it malformed. A typed theory's blocks have its own names and arities alone.
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        goal: Literal | None = None,
        *,
        plain: bool = True,
        typed: Typed | None = None,
    ) -> None:
        self.kernel = kernel or Kernel()
        self.dropped: tuple[str, ...] = ()
        """The blocks that changed nothing because they mean nothing, each with the reason."""
        self.goal = goal
        self.plain = plain
        """True where statements are written without function terms and universal facts."""
        self.typed = typed
        """The typed theory that has all names that may be written; None where any may."""
        self._gave_up = False
        """True once a block cost more than the kernel's budget, so that what follows is not known to the end."""
        self._allowed: Actions | None = None

    @classmethod
    def for_problem(cls, problem: Problem) -> "LogicGuide":
        """Return a guide that knows what the problem's data set takes for granted, and speaks its language."""
        known, typed = background(problem.dataset).kernel(), vocabulary(problem.dataset, problem.context)
        return cls(known, plain=problem.dataset in PLAIN_DATASETS, typed=None if typed is None else Typed(*typed))

    @property
    def key(self) -> Hashable:
        """The offers decide what is allowed."""
        return self.allowed().key

    def allowed(self) -> Actions:
        """Return the formalising actions together with the current inferences."""
        if self._allowed is None:
            fixed = formalising(self.plain) if self.typed is None else _of_typed(self.typed)
            self._allowed = Actions({**fixed, "infer": Words(offer.encode() + CLOSE for offer in self.offers)})
        return self._allowed

    def close(self, block: bytes) -> None:
        """Add an axiom, set the goal or make an inference; other blocks only mark names."""
        action, _, content = block.decode(errors="replace").partition(":")
        try:
            if action == "axiom":
                self.kernel.add_axiom(parse_statement(content))
            elif action == "goal":
                goal = parse_literal(content)
                self.kernel.mention(goal)
                self.goal = goal
            elif action == "infer" and content != "nothing":
                self.kernel.infer(parse_literal(content))
        except WorkLimitExceeded:
            self._gave_up = True
            return
        except (FormulaError, ArityError, SortError, KeyError) as error:
            self.dropped = (*self.dropped, f"{content}: {error}")
            return
        self._allowed = None

    def clone(self) -> "LogicGuide":
        """Fork the kernel; the allowed set is shared until one of the two moves on."""
        copy = LogicGuide(self.kernel.fork(), self.goal, plain=self.plain, typed=self.typed)
        copy._allowed, copy._gave_up, copy.dropped = self._allowed, self._gave_up, self.dropped
        return copy

    @property
    def offers(self) -> list[str]:
        """Return what may be inferred next, sorted; `nothing` where there is nothing."""
        return sorted(str(offer) for offer in self.kernel.offers) or ["nothing"]

    @property
    def goal_status(self) -> str | None:
        """Return proved, disproved or open; None without a goal."""
        if self.goal is None:
            return None
        if self.goal in self.kernel.known:
            return "proved"
        return "disproved" if self.goal.negated() in self.kernel.known else "open"

    def conclusion(self) -> Truth | None:
        """Return what is proved of the goal; `unknown` where nothing more can be inferred, None while it is open."""
        match self.goal_status:
            case "proved":
                return "true"
            case "disproved":
                return "false"
            case "open" if not (self.kernel.offers or self.kernel.truncated or self._gave_up):
                return "unknown"
            case _:
                return None


@lru_cache(maxsize=2)
def formalising(plain: bool) -> dict[str, Automaton]:
    """Return what `object`, `prop` and `relation` (names), `axiom` (statements) and `goal` (literals) may hold."""
    name = _name(24 if plain else MAX_NAME_LENGTH - 1)
    depth = 0 if plain else _TERM_DEPTH
    ground, open_ = (_literal_of(name, _term_of(name, atom, depth)) for atom in (name, choice(name, _VARIABLE)))
    more = repeat(sequence(literal(" -> "), open_))
    statement = choice(ground, sequence(open_, more)) if plain else sequence(open_, choice(literal(""), more))
    return _contents("plain" if plain else "terms", name, statement, ground)


def _contents(key: str, name: Pattern, statement: Pattern, ground: Pattern) -> dict[str, Automaton]:
    end = literal(CLOSE.decode())
    parts = {"object": name, "axiom": statement, "goal": ground}
    made: dict[str, Automaton] = {
        action: RegularLanguage(f"{key} {action}", sequence(part, end)) for action, part in parts.items()
    }
    return made | {"prop": made["object"], "relation": made["object"]}


def _name(most: int) -> Pattern:
    part = choice(chars(_NAME_CHARS), sequence(literal("-"), chars(_NAME_CHARS)))
    return sequence(chars(_NAME_CHARS), choice(literal(""), repeat(part, most=most)))


@lru_cache(maxsize=4)
def _of_typed(typed: Typed) -> dict[str, Automaton]:
    """Return the contents of a typed theory's blocks: its names, with as many arguments as they take."""
    signature = typed.signature
    # Without a bound of their length, or their many places would make an automaton that takes seconds to build.
    name = _name(0)
    ground, open_ = (_typed_literal(signature, name, is_open=is_open) for is_open in (False, True))
    statement = sequence(open_, choice(literal(""), repeat(sequence(literal(" -> "), open_))))
    return _contents(f"typed {typed.name}", name, statement, ground)


def _typed_literal(signature: SortedSignature, name: Pattern, *, is_open: bool) -> Pattern:
    wanted = {**{sort: (sort,) for sort in signature.sorts}, **signature.predicates}
    atom = choice(*_applied(signature, name, wanted, _TERM_DEPTH, is_open=is_open))
    return choice(atom, sequence(literal("(not "), atom, literal(")")))


def _applied(
    signature: SortedSignature, name: Pattern, symbols: Mapping[str, tuple[str, ...]], depth: int, *, is_open: bool
) -> Iterator[Pattern]:
    """Yield one pattern for all symbols that take the same sorts."""
    for sorts in dict.fromkeys(symbols.values()):
        named = choice(*(literal(f"({symbol}") for symbol, own in symbols.items() if own == sorts))
        places = (_typed_place(signature, name, sort, depth, is_open=is_open) for sort in sorts)
        yield sequence(named, *(sequence(literal(" "), place) for place in places), literal(")"))


def _typed_place(signature: SortedSignature, name: Pattern, sort: str, depth: int, *, is_open: bool) -> Pattern:
    """Return what may stand in a place: the sort's own constants where it has some, else any name; its terms."""
    constants = [literal(constant) for constant, of in signature.constants.items() if of == sort]
    made = {symbol: sorts for symbol, (sorts, of) in signature.functions.items() if signature.is_below(of, sort)}
    # What functions make has no names of its own: an action is always `(cancel-event ..)`.
    names = constants or ([] if made else [name])
    terms = [*names, *([_VARIABLE] if is_open else [])]
    if depth:
        terms += _applied(signature, name, made, depth - 1, is_open=is_open)
    return choice(*terms)


def _term_of(name: Pattern, atom: Pattern, depth: int) -> Pattern:
    if depth == 0:
        return atom
    arguments = repeat(sequence(literal(" "), _term_of(name, atom, depth - 1)), most=_FUNCTION_ARITY)
    return choice(atom, sequence(literal("("), name, arguments, literal(")")))


def _literal_of(name: Pattern, term: Pattern) -> Pattern:
    second = choice(literal(""), sequence(literal(" "), term))
    atom = sequence(literal("("), name, literal(" "), term, second, literal(")"))
    return choice(atom, sequence(literal("(not "), atom, literal(")")))
