"""LogicGuide's own guide in the `compatible` mode: what the original completion engine offers, bugs included.

For conformance with recorded runs only (notes on LogicGuide, section 4). Known propositions are offered again,
`nothing` anywhere ends the search, axioms after the goal are taken; judging uses none of this.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

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
from rollout.decoding.guide import CLOSE
from tools.conformance.engine import DEFAULT_WORK_LIMIT, PeanoEngine, PeanoError, Term

_NAME_CHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_NAME_ACTIONS = ("object", "prop", "relation", "var")
_NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Decision:
    """The original's reason to stop: the name of the fact, and whether it is the goal (or its negation).

    After `nothing`, `name` is None, or true where the engine is asked to end when inferences are exhausted.
    """

    name: str | bool | None
    holds: bool


class PeanoGuide:
    """Blocks replayed as the original replays them; the same block twice counts once.

    Where the original panics or raises, `unusable` says why, for good: nothing is offered and nothing decided.
    """

    def __init__(self, *, done_when_exhausted: bool = False, work_limit: int = DEFAULT_WORK_LIMIT) -> None:
        self.goal: str | None = None
        """The last goal, as it was written."""
        self.unusable: str | None = None
        self.done_when_exhausted = done_when_exhausted
        """True as in the original's runs on syllogisms: a proof is done when nothing is left to offer."""
        self._engine = PeanoEngine(work_limit=work_limit)
        self._blocks: dict[tuple[str, str], None] = {}
        self._offers: dict[str, Term] | None = None
        self._allowed: Actions | None = None

    @property
    def key(self) -> Hashable:
        """The actions and the offers decide what is allowed."""
        return self.allowed().key

    def allowed(self) -> Actions:
        """Return the original's grammar; without `infer` where it is unusable."""
        if self._allowed is None:
            contents: dict[str, Automaton] = {action: _name() for action in _NAME_ACTIONS}
            contents |= {"axiom": _axiom(), "goal": _goal()}
            if "eq" in self.actions:
                contents["eq"] = _equation()
            if self.offers:
                contents["infer"] = Words(offer.encode() + CLOSE for offer in self.offers)
            self._allowed = Actions(contents)
        return self._allowed

    @property
    def actions(self) -> list[str]:
        """Actions that a block may begin with; `var` and `eq` are for algebra, and make this theory unusable."""
        equations = ["eq"] if any(action == "var" for action, _ in self._blocks) else []
        return sorted([*_NAME_ACTIONS, "axiom", "goal", "infer", *equations])

    @property
    def offers(self) -> list[str]:
        """Allowed inferences, sorted: conclusions that were not inferred yet, also known ones, or `nothing`."""
        if self.unusable is not None:
            return []
        try:
            conclusions = self._conclusions()
        except PeanoError as error:
            self.unusable = str(error)
            return []
        return sorted(c for c in conclusions if ("infer", c) not in self._blocks) or [_NOTHING]

    def close(self, block: bytes) -> None:
        """Replay one more block."""
        action, colon, content = block.decode(errors="replace").partition(":")
        entry = (action, content)
        if self.unusable is not None or entry in self._blocks:
            return
        number = len(self._blocks)
        self._blocks[entry] = None
        self._allowed = None
        try:
            if not colon:
                raise PeanoError("a block without a colon")
            self._play(action, content, number)
        except PeanoError as error:
            self.unusable = str(error)

    def clone(self) -> "PeanoGuide":
        """Copy the engine; what was worked out is shared until one of the two moves on."""
        copy = PeanoGuide(done_when_exhausted=self.done_when_exhausted)
        copy.goal, copy.unusable = self.goal, self.unusable
        copy._engine, copy._blocks = self._engine.copy(), self._blocks.copy()
        copy._offers, copy._allowed = self._offers, self._allowed
        return copy

    @property
    def decision(self) -> Decision | None:
        """The original's answer when asked whether it is done; None while it is not, or is unusable."""
        if self.unusable is not None:
            return None
        if any(content == _NOTHING for _, content in self._blocks):
            return Decision(True if self.done_when_exhausted else None, False)
        if self.goal is None:
            return None
        negated = self.goal[len("(not ") : -1] if self.goal.startswith("(not ") else f"(not {self.goal})"
        for name, fact in self._engine.facts.items():
            if fact in (self.goal, negated):
                return Decision(name, fact == self.goal)
        return None

    @property
    def goal_status(self) -> str | None:
        """Return proved, disproved or open (also after `nothing`); None without a goal, or where unusable."""
        if self.goal is None or self.unusable is not None:
            return None
        decision = self.decision
        if decision is None or not isinstance(decision.name, str):
            return "open"
        return "proved" if decision.holds else "disproved"

    def _play(self, action: str, content: str, number: int) -> None:
        if action == "axiom":
            self._engine.assume(f"axiom{number}", content)
            self._offers = None
        elif action == "goal":
            self.goal = content
        elif action == "infer":
            self._infer(content, number)
        elif action not in ("object", "prop", "relation"):
            raise PeanoError(f"{action[:40]!r}: no such action, or one that the base theory has no numbers for")

    def _infer(self, content: str, number: int) -> None:
        conclusions = self._conclusions()
        if content in conclusions:
            self._engine.define(f"!step{number}", conclusions[content])
            self._offers = None
        elif content != _NOTHING:
            raise PeanoError(f"{content[:40]!r} does not follow in one step")

    def _conclusions(self) -> dict[str, Term]:
        if self._offers is None:
            self._offers = self._engine.offers()
        return self._offers


@lru_cache(maxsize=1)
def _name() -> RegularLanguage:
    """Return `NAME]]`."""
    return RegularLanguage("compatible name", _closed(repeat(chars(_NAME_CHARS), most=50)))


@lru_cache(maxsize=1)
def _equation() -> RegularLanguage:
    """Return what is taken for an equation, well-formed or not."""
    return RegularLanguage("compatible equation", _closed(repeat(chars(_NAME_CHARS.replace("_", "") + "()=+*/ "))))


@lru_cache(maxsize=1)
def _axiom() -> RegularLanguage:
    """Return `P -> P -> .. -> P]]`; facts may hold variables, and `not` is a name like any other."""
    variable = sequence(literal("'"), chars("abcdefghijklmnopqrstuvwxyz"))
    proposition = _proposition(choice(variable, _atom()))
    return RegularLanguage(
        "compatible axiom",
        _closed(sequence(proposition, choice(literal(""), repeat(sequence(literal(" -> "), proposition))))),
    )


@lru_cache(maxsize=1)
def _goal() -> RegularLanguage:
    """Return one proposition without variables."""
    return RegularLanguage("compatible goal", _closed(_proposition(_atom())))


def _proposition(simple: Pattern) -> Pattern:
    term = choice(simple, _application(simple))
    positive = _application(term)
    return choice(positive, sequence(literal("(not "), positive, literal(")")))


def _application(argument: Pattern) -> Pattern:
    arguments = choice(argument, sequence(argument, literal(" "), argument))
    return sequence(literal("("), _atom(), literal(" "), arguments, literal(")"))


def _atom() -> Pattern:
    return repeat(chars(_NAME_CHARS))


def _closed(pattern: Pattern) -> Pattern:
    return sequence(pattern, literal(CLOSE.decode()))
