"""Wording checks: whether a program formalises premises or smuggles its answer in, told without understanding English.

A rule is *stated* where it stands first under a premise's comment `% Rn`, or shares a word with that comment.
General rules under comments of their own are background knowledge, which the paper asks for ("ISA rules"); what
names individuals must be a premise. The comments are the actor's own words, so where the problem's text names the
program's constants, that text is asked instead.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from critics.replay.answer_sets.language import AspLiteral, AspRule, constants_of, is_variable
from critics.replay.answer_sets.reader import AspProgram, CommentBlock
from critics.replay.answer_sets.submission import AspQuery, ProgramTest, Submission
from critics.text.trust.words import begin_alike

_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset(
    "not does the and has are was who for with from that this his her its".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Source:
    """Premises of a problem: how many where that is known, and the text."""

    num_premises: int | None
    context: str
    question: str

    @property
    def text(self) -> str:
        """Context and question."""
        return f"{self.context}\n{self.question}"

    def names(self, program: AspProgram) -> bool:
        """Say whether the context names a constant of the program, and so is more than a placeholder."""
        return any(_names(self.context, constant) for constant in constants_of(program.rules))


def missing_premise(program: AspProgram, source: Source) -> str | None:
    """Return what is missing: a rule for each premise, each of its own; None where nothing is."""
    numbered = program.numbered()
    for number in range(1, (source.num_premises or 0) + 1):
        rules = [program.rules[i] for i in numbered.get(number, ())]
        if not rules:
            return f"no rule stands under a comment % R{number}"
        if all(rule.heads() and set(rule.heads()) <= set(rule.body) for rule in rules):
            # Attack: count `a :- a.` as a premise.
            return f"R{number} says nothing"
    if not numbered:
        return "no rule stands under a comment % R1"
    firsts = [program.rules[rules[0]] for _, rules in sorted(numbered.items()) if rules]
    if len({_unnamed(rule) for rule in firsts}) < len(firsts):
        # Attack: repeat a rule until there are as many as premises.
        return "one rule stands under two numbers"
    return None


def is_stated(program: AspProgram, position: int, source: Source) -> bool:
    """Say whether a premise states the rule, or it is general background knowledge under a comment of its own."""
    rule, block = program.rules[position], program.block_of(position)
    if block is None:
        return False
    if block.number is None or (source.num_premises is not None and block.number > source.num_premises):
        return bool(block.comment) and not rule.is_ground()
    return position == block.rules[0] or _belongs(rule, program.rules[block.rules[0]], block)


def _belongs(rule: AspRule, first: AspRule, block: CommentBlock) -> bool:
    """Say whether a later rule under one comment says more of the same."""
    if not block.comment:
        return bool(rule.body) and rule.body == first.body
    shown = rule.heads() or tuple(c for c in rule.body if isinstance(c, AspLiteral))
    if all(shares_word(literal.predicate, block.comment) for literal in shown):
        return True
    named = [term for literal in shown for term in literal.arguments if not is_variable(term)]
    return rule.is_fact() and len(named) > 1 and all(_names(block.comment, term) for term in named)


def unstated_goal(submission: Submission, core: Iterable[int], query: AspQuery, source: Source) -> str | None:
    """Return which rule of an answer's core hands the answer over; None where every one is a premise's.

    `core` is one in which rules that no premise states are kept wherever they suffice.
    """
    program = submission.program
    goals = {literal.signature for literal in query.atoms()}
    tried = {head.signed for test in submission.tests for fact in test.facts for head in fact.heads()}
    derivable = _derivable(program.rules)
    for position in core:
        rule = program.rules[position]
        absent = [c for c in rule.body if isinstance(c, AspLiteral) and c.default]
        if not is_stated(program, position, source):
            return f"no premise states {rule}, and the answer rests on it"
        if rule.is_constraint() and any(literal.signature in goals for literal in absent):
            return f"{rule} demands the answer"
        if any(
            literal.signed not in derivable
            and not (literal.signed in tried and shares_word(literal.predicate, _said(program, position, source)))
            for literal in absent
        ):
            return f"{rule} holds by default, because nothing could ever derive what it excludes"
        if any(literal.complement().signed == head.signed for literal in absent for head in rule.heads()):
            return f"{rule} takes what is not known for false"
        is_goal = rule.is_ground() and any(head.signature in goals and head.arguments for head in rule.heads())
        if is_goal and source.names(program) and not _in_one_sentence(rule, source.context):
            return f"the problem does not say {rule}"
    return None


def untested(submission: Submission, support: Iterable[int]) -> bool:
    """Say whether no test names a rule that the answer rests on, where it rests on any that is no fact.

    Attack: one test, of a rule that nothing needs.
    """
    rules, numbered = submission.program.rules, submission.program.numbered()
    needed = {i for i in support if not rules[i].is_fact()}
    tested = {i for test in submission.tests for number in test.rules for i in numbered.get(number, ())}
    return bool(needed) and not needed & tested


def _said(program: AspProgram, position: int, source: Source) -> str:
    """Return the words of whoever can be asked: the problem's, or else those of the rule's comment."""
    block = program.block_of(position)
    return source.context if source.names(program) else "" if block is None else block.comment


def _in_one_sentence(rule: AspRule, text: str) -> bool:
    sentences = re.split(r"(?<=[.!?])\s|\n", text)
    named = list(rule.terms())
    return any(
        any(shares_word(head.predicate, s) for head in rule.heads()) and any(_names(s, term) for term in named)
        for s in sentences
    )


def _derivable(rules: tuple[AspRule, ...]) -> set[tuple[str, int, bool]]:
    """Return the signed predicates that some chain of rules could derive, default negation left aside."""
    known: set[tuple[str, int, bool]] = set()
    for _ in rules:
        for rule in rules:
            positive = (c.signed for c in rule.body if isinstance(c, AspLiteral) and not c.default)
            if all(signed in known for signed in positive):
                known |= {head.signed for head in rule.heads()}
    return known


def undefined(submission: Submission) -> list[str]:
    """Return the predicates of bodies that neither a rule nor a test's facts can make true: clingo drops such rules."""
    rules = (*submission.program.rules, *(fact for test in submission.tests for fact in test.facts))
    defined = {head.signature for rule in rules for head in rule.heads()}
    used = (c for rule in submission.program.rules for c in rule.conditions() if isinstance(c, AspLiteral))
    return list(dict.fromkeys(f"{c.predicate}/{len(c.arguments)}" for c in used if c.signature not in defined))


def unknown_in_query(program: AspProgram, query: AspQuery, source: Source) -> str | None:
    """Return what the query asks about and the program never mentions; None where nothing.

    A predicate must stand in a premise, or share a word with the problem: an auxiliary one is not the question.
    """
    stated = [rule for i, rule in enumerate(program.rules) if _opens_block(program, i, source)]
    asked = {literal.signature for rule in stated for literal in rule.literals()}
    mentioned = {literal.signature for rule in program.rules for literal in rule.literals()}
    constants = constants_of(program.rules)
    text = source.text if source.names(program) else " ".join(block.comment for block in program.blocks)
    for literal in query.atoms():
        if literal.signature not in mentioned:
            return f"undefined_query_pred: the program never mentions {literal.predicate}/{len(literal.arguments)}"
        if literal.signature not in asked and not shares_word(literal.predicate, text):
            return f"query_not_in_premises: no premise mentions {literal.predicate}"
        for term in literal.arguments:
            if not is_variable(term) and term not in constants and not _names(source.text, term):
                return f"undefined_query_const: neither the program nor the problem mentions {term}"
    return None


def _opens_block(program: AspProgram, position: int, source: Source) -> bool:
    block = program.block_of(position)
    within = block is not None and block.number is not None and block.number <= (source.num_premises or block.number)
    return within and block is not None and position == block.rules[0]


def treated_constant(program: AspProgram, test: ProgramTest, query: AspQuery, source: Source) -> str | None:
    """Return a constant of a test that the program treats on its own, though nobody named it; None if there is none.

    Attack: `wet(d1) :- dog(d1).` passes every test about d1.
    """
    asked = {term for literal in query.atoms() for term in literal.arguments}
    if source.names(program):
        text = source.text
    else:
        text = " ".join(block.comment for block in program.blocks)
        opening = (r for i, r in enumerate(program.rules) if r.is_fact() and _opens_block(program, i, source))
        asked |= {term for rule in opening for term in rule.terms()}
    used = [*constants_of(test.facts), *(term for literal in test.literals() for term in literal.arguments)]
    special = constants_of(program.rules)
    return next((c for c in used if c in special and c not in asked and not _names(text, c)), None)


def is_tripwire(program: AspProgram, position: int, source: Source) -> bool:
    """Say whether a rule that contradicts a test is one that no premise states, or waits for the test alone.

    Attack: `:- testing.` makes every test that states `testing` a contradiction.
    """
    if not is_stated(program, position, source):
        return True
    rule = program.rules[position]
    others = {lit.signature for i, r in enumerate(program.rules) if i != position for lit in r.literals()}
    waits = [c for c in rule.body if isinstance(c, AspLiteral) and not c.arguments and c.signature not in others]
    return rule.is_constraint() and bool(waits)


def shares_word(name: str, text: str) -> bool:
    """Say whether a word of an identifier begins like a word of the text."""
    words = [word.casefold() for word in _WORD.findall(text)]
    parts = [part.casefold() for part in re.findall(r"[A-Za-z0-9]+", name)]
    kept = [part for part in parts if len(part) > 2 and part not in _SMALL] or parts
    return any(begin_alike(part, word) for part in kept for word in words)


def _names(text: str, constant: str) -> bool:
    """Say whether a text names a constant: a word of it as a whole word."""
    words = {word.casefold() for word in _WORD.findall(text)}
    parts = [part.casefold() for part in re.findall(r"[A-Za-z0-9]+", constant)]
    return any(part in words for part in parts if len(part) > 1 and part not in _SMALL)


def _unnamed(rule: AspRule) -> str:
    """Return a rule's text with its variables renamed in order of appearance, its body sorted."""
    names: dict[str, str] = {}
    for term in rule.terms():
        if is_variable(term):
            names.setdefault(term, f"V{len(names)}")
    head, _, body = str(rule).partition(":-")
    text = head + ":-" + " ".join(sorted(body.rstrip(".").split(",")))
    return re.sub(r"\b[A-Z_]\w*", lambda match: names.get(match[0], match[0]), text)
