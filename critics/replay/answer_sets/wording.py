"""Whether premises state what an answer rests on: what can be told of rules and words without understanding English.

Written apart from the critic, from the policy in docs/asp-format.md. A rule is stated where it stands first under a
premise's comment `% Rn`, or shares a word with it; general rules under comments of their own are background. Comments
are the actor's own words, so where the problem's text names the program's constants, that text is asked instead.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from critics.replay.answer_sets.query import blocks_of
from critics.replay.answer_sets.reader import Atom, Rule, Test, comments_of, is_variable, placed_rules
from critics.replay.answer_sets.stable_models import constants_of
from critics.replay.certificate import Rejected

_NUMBER = re.compile(r"(?:Rule\s+)?R(\d+)\b(.*)", re.DOTALL)
_SMALL = frozenset({
    "not", "does", "the", "and", "has", "are", "was", "who", "for", "with", "from", "that", "this", "his", "her", "its",
})  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Rules by position, and the comment above them: its number if it has one, and its words."""

    number: int | None
    words: str
    rules: tuple[int, ...]


def groups_of(text: str) -> list[Group]:
    """Return the comments that stand on lines of their own, with the rules below each."""
    events: list[tuple[int, int | str]] = [(offset, i) for i, (_, offset) in enumerate(placed_rules(text))]
    events += comments_of(text)
    groups: list[Group] = []
    lines: list[str] = []
    rules: list[int] = []
    for _, event in [*sorted(events, key=lambda event: event[0]), (0, "")]:
        if isinstance(event, int):
            rules.append(event)
            continue
        if rules or event == "" or (_NUMBER.match(event) and any(map(_NUMBER.match, lines))):
            groups += [_group(lines, rules)] if lines else []
            lines, rules = [], []
        lines.append(event)
    return groups


def _group(lines: list[str], rules: list[int]) -> Group:
    for place in reversed(range(len(lines))):
        if match := _NUMBER.match(lines[place]):
            return Group(int(match[1]), " ".join([match[2], *lines[place + 1 :]]).strip(), tuple(rules))
    return Group(None, " ".join(lines).strip(), tuple(rules))


class Wording:
    """A program, its comments, and the text that it formalises; each check raises `Rejected`."""

    def __init__(self, model: str, rules: list[Rule], num_premises: int | None, context: str, question: str) -> None:
        self._rules, self._num = rules, num_premises
        self._groups = groups_of(model)
        self._of = {position: group for group in self._groups for position in group.rules}
        self._context, self._text = context, f"{context}\n{question}"
        self._constants = constants_of(rules)
        self._is_named = any(_names(context, constant) for constant in self._constants)

    def check_premises(self) -> None:
        """There is a rule for each premise, which says something, and none is another's."""
        numbered = {group.number: group for group in self._groups if group.number is not None and group.rules}
        if not numbered:
            raise Rejected("coverage")
        for number in range(1, (self._num or 0) + 1):
            rules = [r for g in self._groups if g.number == number for r in map(self._rules.__getitem__, g.rules)]
            # Attack: count `a :- a.` as a premise.
            if all(rule.heads and set(_heads(rule)) <= set(rule.body.positive) for rule in rules):
                raise Rejected("coverage")
        firsts = [min(g.rules[0] for g in self._groups if g.number == n and g.rules) for n in numbered]
        if len({_renamed(self._rules[first]) for first in firsts}) < len(firsts):
            # Attack: repeat a rule until there are as many as premises.
            raise Rejected("coverage")

    def check_query(self, query: list[str], tests: list[Test]) -> None:
        """The program speaks of what is asked; what its rules ask for can be true; no test's constant is treated."""
        facts = [fact for test in tests for fact in test.facts]
        defined = {_signature(head) for rule in (*self._rules, *facts) for head in _heads(rule)}
        if any(_signature(atom) not in defined for rule in self._rules for atom in _conditions(rule)):
            raise Rejected("undefined_predicate")
        atoms = [block.atom for block in blocks_of(query) if block.kind == "ATOM"]
        opening = [rule for position, rule in enumerate(self._rules) if self._opens(position)]
        asked = {_signature(atom) for rule in opening for atom in _atoms(rule)}
        mentioned = {_signature(atom) for rule in self._rules for atom in _atoms(rule)}
        comments = " ".join(group.words for group in self._groups)
        for atom in atoms:
            alike = shares_word(atom[0], self._text if self._is_named else comments)
            if _signature(atom) not in mentioned or not (_signature(atom) in asked or alike):
                raise Rejected("query_not_in_premises")
            unknown = [t for t in atom[1:] if not is_variable(t) and t not in self._constants]
            if not all(_names(self._text, term) for term in unknown):
                raise Rejected("query_not_in_premises")
        given = {term for atom in atoms for term in atom[1:]}
        if not self._is_named:
            given |= {term for rule in opening if rule.is_fact for term in _terms(rule)}
        used = {term for test in tests for atom in (*test.every, *test.some, *test.never) for term in atom[1:]}
        treated = ((used | set(constants_of(facts))) & set(self._constants)) - given
        if not all(_names(self._text if self._is_named else comments, term) for term in treated):
            # Attack: `wet(d1) :- dog(d1).` passes every test about d1.
            raise Rejected("test_constant_in_program")

    def check_support(self, support: Iterable[int], query: list[str], tests: list[Test]) -> None:
        """No rule of an answer's support hands the answer over."""
        goals = {_signature(block.atom) for block in blocks_of(query) if block.kind == "ATOM"}
        tried = {_signed(head) for test in tests for fact in test.facts for head in _heads(fact)}
        derivable = self._derivable()
        for position in support:
            rule, absent = self._rules[position], self._rules[position].body.negative
            said = self._context if self._is_named else self._words(position)
            excepted = (_signed(a) in tried and shares_word(a[0], said) for a in absent if _signed(a) not in derivable)
            if not (
                self._is_stated(position)
                and (rule.heads or not any(_signature(atom) in goals for atom in absent))
                and all(excepted)
                and not any(_signed(head) == _signed(_complement(atom)) for atom in absent for head in _heads(rule))
                and not (self._is_named and self._is_goal(rule, goals) and not self._is_in_one_sentence(rule))
            ):
                raise Rejected("goal_is_fact")

    def check_core(self, core: Iterable[int]) -> None:
        """No rule that contradicts a test is one that no premise states, or waits for the test alone."""
        for position in core:
            rule = self._rules[position]
            others = {_signature(a) for i, other in enumerate(self._rules) if i != position for a in _atoms(other)}
            # Attack: `:- testing.` makes every test that states `testing` a contradiction.
            conditions = (*rule.body.positive, *rule.body.negative)
            waits = [a for a in conditions if len(a) == 1 and _signature(a) not in others]
            if not self._is_stated(position) or (not rule.heads and not rule.choice and waits):
                raise Rejected("tripwire_rule")

    def _words(self, position: int) -> str:
        return self._of[position].words if position in self._of else ""

    def _opens(self, position: int) -> bool:
        group = self._of.get(position)
        within = group is not None and group.number is not None and group.number <= (self._num or group.number)
        return within and group is not None and position == group.rules[0]

    def _is_stated(self, position: int) -> bool:
        group, rule = self._of.get(position), self._rules[position]
        if group is None:
            return False
        if group.number is None or (self._num is not None and group.number > self._num):
            return bool(group.words) and any(map(is_variable, _terms(rule)))
        return position == group.rules[0] or self._belongs(rule, self._rules[group.rules[0]], group.words)

    def _belongs(self, rule: Rule, first: Rule, words: str) -> bool:
        if not words:
            return bool(rule.body.order) and rule.body == first.body
        shown = _heads(rule) or [*rule.body.positive, *rule.body.negative]
        if all(shares_word(atom[0], words) for atom in shown):
            return True
        named = [term for atom in shown for term in atom[1:] if not is_variable(term)]
        return rule.is_fact and len(named) > 1 and all(_names(words, term) for term in named)

    def _is_goal(self, rule: Rule, goals: set[tuple[str, int]]) -> bool:
        ground = not any(map(is_variable, _terms(rule)))
        return ground and any(_signature(head) in goals and len(head) > 1 for head in _heads(rule))

    def _is_in_one_sentence(self, rule: Rule) -> bool:
        sentences = re.split(r"(?<=[.!?])\s|\n", self._context)
        terms = list(_terms(rule))
        return any(
            any(shares_word(head[0], sentence) for head in _heads(rule)) and any(_names(sentence, t) for t in terms)
            for sentence in sentences
        )

    def _derivable(self) -> set[tuple[str, int]]:
        known: set[tuple[str, int]] = set()
        for _ in self._rules:
            for rule in self._rules:
                if {_signed(atom) for atom in rule.body.positive} <= known:
                    known |= {_signed(head) for head in _heads(rule)}
        return known


def shares_word(name: str, text: str) -> bool:
    """Say whether a word of an identifier begins like a word of a text."""
    words = [word.casefold() for word in re.findall(r"[^\W_]+", text)]
    parts = [part.casefold() for part in re.findall(r"[A-Za-z0-9]+", name)]
    for part in [p for p in parts if len(p) > 2 and p not in _SMALL] or parts:
        for word in words:
            shorter = min(len(part), len(word))
            if part == word or (shorter >= 3 and part[: max(3, shorter - 2)] == word[: max(3, shorter - 2)]):
                return True
    return False


def _names(text: str, constant: str) -> bool:
    """Say whether a word of a constant is a word of a text."""
    words = {word.casefold() for word in re.findall(r"[^\W_]+", text)}
    parts = {part.casefold() for part in re.findall(r"[A-Za-z0-9]+", constant)}
    return any(part in words for part in parts - _SMALL if len(part) > 1)


def _heads(rule: Rule) -> list[Atom]:
    return [atom for atom, _ in rule.heads]


def _conditions(rule: Rule) -> Iterator[Atom]:
    for body in (rule.body, *(body for _, body in rule.heads)):
        yield from (*body.positive, *body.negative)


def _atoms(rule: Rule) -> Iterator[Atom]:
    yield from _heads(rule)
    yield from _conditions(rule)


def _terms(rule: Rule) -> Iterator[str]:
    for atom in _atoms(rule):
        yield from atom[1:]
    for body in (rule.body, *(body for _, body in rule.heads)):
        for one, _, other in body.compared:
            yield from (one, other)


def _signature(atom: Atom) -> tuple[str, int]:
    return atom[0].lstrip("-"), len(atom)


def _signed(atom: Atom) -> tuple[str, int]:
    return atom[0], len(atom)


def _complement(atom: Atom) -> Atom:
    return (atom[0][1:] if atom[0][0] == "-" else "-" + atom[0], *atom[1:])


def _renamed(rule: Rule) -> str:
    """Return a rule's text without the names of its variables, its conditions in order."""
    names: dict[str, str] = {}
    for term in _terms(rule):
        if is_variable(term):
            names.setdefault(term, f"V{len(names)}")
    parts = [sorted(map(repr, part)) for part in (rule.body.positive, rule.body.negative, rule.body.compared)]
    text = repr((rule.heads, parts, rule.choice, rule.lower, rule.upper))
    return re.sub(r"'([A-Z_]\w*)'", lambda match: names.get(match[1], match[1]), text)
