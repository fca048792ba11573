"""Anaphora to what a condition brings in: `whoever trains a colleague outranks that colleague` is of each colleague.

The sentence is read with a name in the place of both. Where what is read is a rule in whose condition the name stands,
it holds of all that `a colleague` may be (Geach 1962; Heim 1982).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from critics.grammar.lexicon import Vocabulary, is_content
from critics.grammar.meaning import (
    Atom,
    Compound,
    Constant,
    Formula,
    Operator,
    Quantified,
    Quantifier,
    Variable,
    buried,
    filled,
    implies,
    predicates,
)
from critics.grammar.tokens import Token
from critics.grammar.words import KINDS, MEASURES, TIMES, is_person
from critics.replay.first_order.syntax import conjuncts, constants, rebuilt


def renamed(tokens: tuple[Token, ...], vocabulary: Vocabulary) -> tuple[tuple[Token, ...], dict[str, str]]:
    """Return the tokens with names for what `a` brings in and `the` or `that` speaks of again; and the names' nouns."""
    found: dict[str, str] = {}
    for at in range(1, len(tokens)):
        words = [token.word for token in tokens]
        for size in (3, 2, 1) if words[at : at + 1] in (["a"], ["an"]) else ():
            noun = words[at + 1 : at + 1 + size]
            again = [
                k for k in range(at + 1, len(words)) if words[k] in ("the", "that") and words[k + 1 :][:size] == noun
            ]
            if again and _is_one(words, noun, at, len(again) + 1, vocabulary):
                found[name := _name(len(found), noun[-1])] = " ".join(noun)
                tokens = _with_name(tokens, [at, *again], size, name)
                break
    return tokens, found


def _is_one(words: list[str], noun: list[str], at: int, num: int, vocabulary: Vocabulary) -> bool:
    """Say whether a noun stands in a condition once with `a`, and else only with `the` or `that`."""
    head = noun[-1]
    same = sum(vocabulary.singular(word.removesuffix("'s")) == head for word in words)
    late = ("if", "unless", "when", "whenever")
    is_late = any(words[k] in late and "only" not in words[k - 1 : k + 3 : 3] for k in range(at, len(words)))
    is_plain = all(map(is_content, noun)) and head not in KINDS | TIMES | MEASURES and vocabulary.singular(head) == head
    return is_plain and same == num and not is_late and words[at - 1] not in late and words[0] != "only"


def _name(index: int, noun: str) -> str:
    name = f"zyx{'abc'[index % 3]}"
    return name if is_person(noun) or noun in KINDS else f"{name} 1"


def _with_name(tokens: tuple[Token, ...], places: Iterable[int], size: int, name: str) -> tuple[Token, ...]:
    """Put a name in the place of articles and the `size` words behind each."""
    for at in sorted(places, reverse=True):
        one = replace(tokens[at], word=name, end=tokens[at + size].end, is_name=True, is_thing=name.endswith("1"))
        tokens = (*tokens[:at], one, *tokens[at + size + 1 :])
    return tokens


def of_all(formula: Formula, stands: Mapping[str, str]) -> Formula | None:
    """Return a rule of all that its names stand for; None where one of them is not brought in by its condition."""
    rule = formula = _apart(formula)
    while isinstance(rule, Quantified) and rule.quantifier is Quantifier.ALL:
        rule = rule.body
    if not isinstance(rule, Compound) or rule.operator not in (Operator.IMPLIES, Operator.IFF) or buried(formula):
        return None
    opened = {name for part in conjuncts(rule.operands[0]) if isinstance(part, Atom) for name in constants(part)}
    for name, noun in stands.items():
        inside = {*predicates(formula), *constants(formula)} - {name}
        if name not in opened or any(name.split(" ")[0] in other.split(" ") for other in inside):
            return None
        variable = Variable(f"?{name}")
        body = implies(Atom(noun, (variable,)), filled(formula, Constant(name), variable))
        formula = Quantified(Quantifier.ALL, variable.name, body)
    return formula


def _apart(formula: Formula, depth: int = 0) -> Formula:
    """Give bound variables names that stand nowhere else."""
    if isinstance(formula, Quantified):
        name = f"?{depth}"
        body = filled(formula.body, Variable(formula.variable), Variable(name))
        return Quantified(formula.quantifier, name, _apart(body, depth + 1))
    return rebuilt(formula, lambda part: _apart(part, depth))
