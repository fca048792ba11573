"""Signs: rules and queries that say the opposite of their sentence, where the grammar of English reads it.

This bars and never passes: a sentence that is not read, or a name that is no phrase of the text, is left on trust.
"""

from collections.abc import Iterator
from contextlib import suppress

from critics.grammar.reader import Reading
from critics.problem import Problem
from critics.replay.answer_sets.language import AspLiteral, AspRule, Choice, is_variable
from critics.replay.answer_sets.submission import QueryAtom, Submission, read_query
from critics.replay.first_order import syntax as fo
from critics.replay.terms import Variable
from critics.text.faithfulness.alignment import ReadProblem, are_shown


def turned(submission: Submission, problem: Problem) -> str | None:
    """Return a rule or query that does not follow from its sentence, and does with one sign turned; None: none does."""
    read, program, last = ReadProblem(problem), submission.program, read_query(submission.query).blocks[-1]
    said = [(AspRule((last.literal,)), read.question)] if isinstance(last, QueryAtom) else []
    if problem.meta.get("num_premises") == len(read.context):
        numbered = enumerate(read.context, 1)
        said += [(program.rules[i], reading) for n, reading in numbered for i in program.numbered().get(n, ())]
    for rule, reading in said:
        own = list(_with_signs(rule))
        names = read.names(own[:1])
        with suppress(KeyError):  # at a name that is no phrase
            shown = [isinstance(reading, Reading) and are_shown([reading.exclusive], names.of(each)) for each in own]
            if any(shown) and not shown[0]:
                return str(rule)
    return None


def _with_signs(rule: AspRule) -> Iterator[fo.Formula]:
    """Yield a rule as a formula, then with each of its signs turned; nothing where it is no plain implication."""
    literals = [*(c for c in rule.body if isinstance(c, AspLiteral) and not c.default), *rule.heads()]
    if isinstance(rule.head, Choice) or len(rule.head) != 1 or len(literals) <= len(rule.body) or "_" in rule.terms():
        return
    for place in (None, *range(len(literals))):
        *given, claim = (_formula(each.complement() if i == place else each) for i, each in enumerate(literals))
        for condition in given:
            claim = fo.Compound(fo.Operator.IMPLIES, (condition, claim))
        for variable in sorted({term for term in rule.terms() if is_variable(term)}):
            claim = fo.Quantified(fo.Quantifier.ALL, variable, claim)
        yield claim


def _formula(literal: AspLiteral) -> fo.Formula:
    terms = (Variable(term) if is_variable(term) else fo.Constant(term) for term in literal.arguments)
    atom = fo.Atom(literal.predicate, tuple(terms))
    return fo.Not(atom) if literal.strong else atom
