"""The grammar says what PrOntoQA's quick translator says, formula by formula; syllogisms and FOLIO."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from critics.grammar.chart import Conventions
from critics.grammar.lexicon import third_person
from critics.grammar.meaning import Constant, Quantified, Quantifier, Variable, both, implies
from critics.grammar.reader import Reader, Reading
from critics.grammar.text import claim
from critics.logic.first_order.solvers import Answer, are_equivalent, can_fail
from critics.replay.first_order.syntax import Atom, Formula, Not, Term, key, rebuilt
from critics.replay.formula import Literal, parse_statement
from critics.text.translators import prontoqa
from critics.text.translators.translation import sentences, unnumbered

PRONTOQA = Conventions(every_not="none", states="all")


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _literal(literal: Literal) -> Formula:
    terms = [Variable("x") if term == "'x" else Constant(str(term)) for term in literal.arguments]
    atom = Atom(literal.predicate, tuple(terms))
    return atom if literal.positive else Not(atom)


def _wanted(text: str) -> Formula:
    """Return a translator's statement in first-order logic."""
    statement = parse_statement(text)
    if isinstance(statement, Literal):
        return _literal(statement)
    formula = implies(both(*map(_literal, statement.premises)), _literal(statement.conclusion))
    return Quantified(Quantifier.ALL, "x", formula) if "'x" in text else formula


def _named(formula: Formula, verb: Callable[[str], str]) -> Formula:
    """Return a reading with the names of predicates and objects that the translators give."""

    def term(each: Term) -> Term:
        return Constant(re.sub(r"^the ", "", each.name).replace(" ", "-")) if isinstance(each, Constant) else each

    if isinstance(formula, Atom):
        name = formula.predicate
        name = verb(name.removesuffix(" _")) if name.endswith(" _") else name
        return Atom(name.replace(" ", "-"), tuple(map(term, formula.arguments)))
    return rebuilt(formula, lambda part: _named(part, verb))


def _check(rows: list[dict[str, Any]], num: int) -> None:
    checked = 0
    for row in rows:
        try:
            formal = prontoqa.translate(row["context"], row["question"])
        except ValueError:
            continue
        said = [*unnumbered(sentences(row["context"])), claim(row["question"])]
        reader = Reader(said, PRONTOQA)
        for sentence, wanted in zip(said, [*formal.axioms, formal.goal], strict=True):
            found = reader.read(sentence)
            assert isinstance(found, Reading), found
            one, other = _named(found.formula, third_person), _wanted(wanted)
            assert key(one) == key(other) or are_equivalent(one, other), sentence
            checked += 1
    assert checked >= num


def test_prontoqa_is_read_as_its_translator_reads_it(shared: Path) -> None:
    _check(_rows(shared / "data" / "prontoqa_dev_partA.jsonl.gz")[::4], 1_300)


def test_syllogisms_are_valid_where_the_readings_entail_them(shared: Path) -> None:
    for row in _rows(shared / "data" / "syllogisms.jsonl.gz")[::4]:
        said = [*row["premises"], row["conclusion"]]
        read = [Reader(said).read(sentence) for sentence in said]
        formulas = [each.formula for each in read if isinstance(each, Reading)]
        assert len(formulas) == len(said), said
        assert (can_fail(formulas[:-1], formulas[-1]) is Answer.UNSATISFIABLE) == row["valid"], said


@pytest.mark.slow
def test_prontoqa_whole(shared: Path) -> None:
    _check(_rows(shared / "data" / "prontoqa_dev_partA.jsonl.gz"), 5_470)


def test_most_of_folios_sentences_are_read(shared: Path) -> None:
    lines = (shared / "data" / "folio_validation_partA.jsonl").read_text(encoding="utf-8").splitlines()
    read = total = 0
    for premises in {tuple(json.loads(line)["premises"]) for line in lines}:
        reader = Reader(premises)
        read += sum(isinstance(reader.read(premise), Reading) for premise in premises)
        total += len(premises)
    assert read / total > 0.62
