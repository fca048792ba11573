"""Reasoning about one thing that stands for others: an arbitrary one, or one of some that there are.

The name never stands in a certificate: a claim about the thing stands there as a claim about all that is like it. A
claim without the name may use only that: it is so of all such things. Of one of some it may use that there is one of
which all of this is so.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from critics.formats.english.assumptions import Trying
from critics.grammar.meaning import both, filled
from critics.logic.first_order.shapes import is_existential
from critics.replay.first_order import syntax as fo
from critics.text.english import moves


@dataclass(frozen=True, slots=True)
class Individual:
    """A thing with a name of the text's own, what it was said to be, and whether there is one."""

    name: str
    given: fo.Formula
    is_one_of_some: bool

    def unnamed(self, said: fo.Formula, *, of_all: bool) -> fo.Formula:
        """Return a claim about the thing without its name: it is so of all such things, or there is one like that."""
        told = fo.Compound(fo.Operator.IMPLIES, (self.given, said)) if of_all else said
        told = filled(told, fo.Constant(self.name), fo.Variable(f"any_{self.name}"))
        return fo.Quantified(fo.Quantifier.ALL if of_all else fo.Quantifier.SOME, f"any_{self.name}", told)


class Naming(Trying):
    """A text being tried that may name things of its own."""

    individuals: dict[str, Individual]
    silent: dict[str, fo.Formula]
    """By a claim about a named thing, what is known by it without the name."""

    @contextmanager
    def _about(self, move: moves.Move, formula: fo.Formula | None) -> Generator[None]:
        """Try a move. Where it names no such thing, claims before it that do count without the name."""
        told, start, said = self.claims, len(self.known.formulas), formula or self.case.goal
        is_plain = isinstance(move, moves.Claim | moves.Judged) and self.known.named.isdisjoint(fo.constants(said))
        if is_plain and (named := self.known.named):
            places = [self.known.keys.get(fo.key(each)) for each in told if named.isdisjoint(fo.constants(each))]
            value = move.value if isinstance(move, moves.Judged) and formula is None else ""
            answer = fo.negated(said) if value == "false" else said
            is_said = any(at is not None and self.known.gives(answer, [at]) for at in places)
            # Attack: leave it at what is so of one.
            self._refuse_if(value in ("true", "false") and not is_said, "what is so of one is not all of it")
            parts = [dict.fromkeys(self.silent.get(fo.key(part), part) for part in fo.conjuncts(each)) for each in told]
            self.claims = [both(*each) for each in parts]
        yield
        if is_plain and self.individuals:
            more = self.claims[self.num_before :][: len(self.claims) - len(told)]
            self.claims = [*told[: self.num_before], *more, *told[self.num_before :]]
        self._gather(start)

    def _step(self, said: fo.Formula) -> None:
        for each in reversed(self.individuals.values()):
            said = each.unnamed(said, of_all=True) if each.name in fo.constants(said) else said
        super()._step(said)

    def _name(self, move: moves.Named, formula: fo.Formula | None) -> None:
        """Bring in a thing of which there is said to be one, or any; hold that one is any."""
        name, self.claimed = move.name.lower(), None
        if move.is_again:
            one = self.individuals.get(name) or next(reversed(self.individuals.values()), None)
            # Attack: of an arbitrary one more is assumed than that it is of its kind, or it is of another kind.
            is_any = one is not None and not one.is_one_of_some and self.supposed is None
            is_same = one and (not formula or fo.key(formula) == fo.key(one.unnamed(one.given, of_all=False)))
            self._refuse_if(not is_any or not is_same, "it is not arbitrary")
            return
        heard = {each for said in (*self.case.premises, self.case.goal, *self.claims) for each in fo.constants(said)}
        # Attack: call two things by one name.
        self._refuse_if(name in heard or name in self.individuals, "the name is not new")
        some = formula or next((each for each in reversed(self.claims) if is_existential(each)), None)
        if not isinstance(some, fo.Quantified) or not is_existential(some) or self.known.named & fo.constants(some):
            raise self._bad("unsupported_sentence", "nothing says that there is one")
        body = filled(some.body, fo.Variable(some.variable), fo.Constant(name))
        called = {part.predicate for part in fo.conjuncts(body) if isinstance(part, fo.Atom)}
        is_called = any(f" {each}".endswith(f" {move.noun}") for each in (*called, "person", "thing", "one"))
        self._refuse_if(move.noun and not is_called, f"that one is not said to be a {move.noun}")
        cited = [at for number in move.cited for at in self._numbered(number)]
        there_is = self.known.gives(some, cited or self.known.facts)
        # Attack: take one of some that there need not be.
        self._refuse_if(not there_is and (cited or formula is None), "nothing says that there is one")
        # Attack: take one that cannot be, and say what you like.
        is_none = self.supposed is None and self.known.gives(fo.negated(some), range(self.known.num_premises))
        self._refuse_if(is_none, "there can be no such thing")
        self.individuals[name] = Individual(name, body, there_is and not move.is_any)
        self.known.named.add(name)
        for part in fo.conjuncts(body):
            self.known.add(part)
        self.claimed, self.num_moves = body, self.num_moves + 1

    def _gather(self, start: int) -> None:
        """Know what claims about one named thing come to that were added from a place on, and not given up."""
        known, under = self.known, self.supposed
        for said in known.formulas[start:]:
            named = [self.individuals[each] for each in known.named & fo.constants(said)]
            if len(named) != 1 or fo.key(said) not in known.keys:
                continue
            one, is_under = named[0], under is not None and named[0].name in fo.constants(under.assumed)
            if not one.is_one_of_some and said not in fo.conjuncts(one.given):
                told = under.implies(said) if under is not None and is_under else said
                self.silent[fo.key(said)] = found = one.unnamed(told, of_all=True)
                known.add(found)
            elif one.is_one_of_some and not is_under:
                own = [known.formulas[at] for at in known.facts]
                parts = {fo.key(each): each for each in own if known.named & fo.constants(each) == {one.name}}
                if not {*map(fo.key, fo.conjuncts(one.given))} <= parts.keys():
                    continue
                last = next((found for each, found in self.silent.items() if each in parts), None)
                known.facts = [at for at in known.facts if known.formulas[at] is not last]
                self.silent |= dict.fromkeys(parts, found := one.unnamed(both(*parts.values()), of_all=False))
                known.add(found)
