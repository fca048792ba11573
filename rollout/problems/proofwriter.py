"""ProofWriter's kind of problem (Tafjord et al. 2021): a small open-world theory and a statement to decide.

Theories are about people and their attributes, or about animals and what they do to each other; with strong
negation or without. A theory is drawn with bare symbols and saturated once; then words are drawn for its symbols until
the problem's content belongs to the split. The words are this project's own, the English is the one that
the grammar reads with the data set's conventions, and every problem is read back before it is handed out.

A literal's depth is that of its shallowest proof: 0 where it is stated, else one more than its deepest premise.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal as Choice

from critics.grammar.lexicon import third_person
from critics.problem import Formal, Problem
from critics.replay.formula import Literal, Rule, Statement
from critics.replay.kernel import Inference, Kernel
from critics.text.translators.regular import translate_proofwriter as translate
from rollout.problems.catalogue import Split, belongs, consecutive, item_seed

Style = Choice["attributes", "relations"]
Answer = Choice["true", "false", "unknown"]
MAX_DEPTH = 6
OPTIONS = ("A) True", "B) False", "C) Unknown")
QUESTION = "Based on the above information, is the following statement true, false, or unknown?"
EITHER = "Based on the above information, is the following statement true or false?"
"""The question of the two-valued task, where everything is decided."""

NAMES = ("Ada", "Bruno", "Clara", "Hugo", "Jonas", "Lena", "Milo", "Nora", "Otto", "Petra", "Simon", "Vera")
ANIMALS = (
    "badger", "barn owl", "falcon", "goat", "hare", "hedgehog", "lynx", "pony", "raven", "sea otter",
    "snow leopard", "toad", "walrus", "wolf",
)  # fmt: skip
ADJECTIVES = (
    "brave", "calm", "clever", "curious", "eager", "gentle", "grumpy", "hungry", "lazy", "loud", "muddy", "nimble",
    "pale", "patient", "proud", "silent", "sleepy", "spotted", "striped", "strong", "tall", "tired", "wild", "young",
)  # fmt: skip
VERBS = (
    "admire", "avoid", "carry", "fear", "feed", "follow", "greet", "guard", "hear", "help", "hunt", "teach",
    "trust", "watch",
)  # fmt: skip

_LETTERS: Mapping[Answer, str] = {"true": "A", "false": "B", "unknown": "C"}
_VARIABLE = "'x"
_NEGATIVE_RATE = 0.4
"""Share of denials among the literals of theories with negation."""
_RELATION_RATE = 0.6
"""Share of relations among the literals of theories with relations; the others are attributes."""
_GROUND_RATE = 0.15
"""Share of rules about named objects alone."""
_LIKELY_RATE = 0.7
"""Share of undecided statements that some rule concludes about somebody."""
_MAX_TRIES = 20
"""Draws of something new about an object; in vain where all is said, and the theory is then drawn again."""


@dataclass(frozen=True, slots=True)
class ProofWriter:
    """Settings of the generator. Depths and answers are spread evenly over consecutive items."""

    depths: Sequence[int] = (0, 1, 2, 3, 5)
    """Depth of the proof of the statement or its negation; where neither has one, of the deepest line in the theory."""
    unknown_share: float = 1 / 3
    """The share of items whose statement is neither proved nor disproved; the others are true and false in turn."""
    styles: Sequence[Style] = ("attributes", "relations")
    negation: Sequence[bool] = (False, True)
    """True: theories may deny something. Without negation what is false is the denial of what follows."""
    facts: tuple[int, int] = (4, 9)
    """Least and most facts."""
    extra_rules: tuple[int, int] = (1, 4)
    """Least and most rules beside those that reach the depth."""
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.depths or not all(0 <= depth <= MAX_DEPTH for depth in self.depths):
            raise ValueError(f"depths: {list(self.depths)} must name numbers from 0 to {MAX_DEPTH}")
        if not 0 <= self.unknown_share <= 1:
            raise ValueError(f"unknown_share: {self.unknown_share} must lie between 0 and 1")
        for key in ("styles", "negation"):
            if not getattr(self, key):
                raise ValueError(f"{key}: name at least one")
        if not 1 <= self.facts[0] <= self.facts[1] <= 12:
            raise ValueError(f"facts: {self.facts} must be (least, most) with 1 <= least <= most <= 12")
        if not 0 <= self.extra_rules[0] <= self.extra_rules[1] <= 12:
            raise ValueError(f"extra_rules: {self.extra_rules} must be (least, most) with 0 <= least <= most <= 12")


@dataclass(frozen=True, slots=True)
class _TheorySymbols:
    """The bare symbols of one theory; without verbs it is about attributes alone."""

    objects: tuple[str, ...]
    adjectives: tuple[str, ...]
    verbs: tuple[str, ...]
    negation: bool

    def literals(self) -> list[Literal]:
        """Return every positive ground literal."""
        attributes = [Literal(True, a, (o,)) for a in self.adjectives for o in self.objects]
        return attributes + [Literal(True, v, (o, p)) for v in self.verbs for o in self.objects for p in self.objects]

    def draw(self, rng: random.Random, subject: str) -> Literal:
        """Return a literal about a subject."""
        positive = not (self.negation and rng.random() < _NEGATIVE_RATE)
        if self.verbs and rng.random() < _RELATION_RATE:
            return Literal(positive, rng.choice(self.verbs), (subject, rng.choice(self.objects)))
        return Literal(positive, rng.choice(self.adjectives), (subject,))


@dataclass(frozen=True, slots=True)
class _DrawnTheory:
    """Facts and rules over bare symbols, and the depth of everything that follows from them."""

    symbols: _TheorySymbols
    facts: tuple[Literal, ...]
    rules: tuple[Rule, ...]
    kernel: Kernel
    depths: Mapping[Literal, int]


@dataclass(frozen=True, slots=True)
class _Wording:
    """The words for a theory's symbols, and whether its rules speak of people or of things."""

    objects: Mapping[str, str]
    """As they stand inside a sentence: `Ada`, `the barn owl`."""
    predicates: Mapping[str, str]
    """Adjectives, and verbs in their base form."""
    kind: Choice["people", "things"]

    def statement(self, bare: Statement) -> Statement:
        """Return the statement with the words' symbols in place of the bare ones."""
        if isinstance(bare, Rule):
            return Rule(tuple(map(self._literal, bare.premises)), self._literal(bare.conclusion))
        return self._literal(bare)

    def _literal(self, bare: Literal) -> Literal:
        word = self.predicates[bare.predicate]
        arguments = tuple(_symbol(self.objects.get(str(a), str(a))) for a in bare.arguments)
        return Literal(bare.positive, word if len(arguments) == 1 else third_person(word), arguments)


def item(config: ProofWriter, index: int, *, seed: int) -> Problem:
    """Return item `index`; its words are redrawn until its content belongs to the split."""
    depth = config.depths[index % len(config.depths)]
    answer = _answer(config, index // len(config.depths))
    rng = random.Random(item_seed("proofwriter", config.split, seed, index))
    theory, goal = _drawn(config, rng, depth, answer)
    statements = (*theory.facts, *theory.rules)
    while True:
        wording = _wording(theory.symbols, rng)
        formal = Formal(tuple(str(wording.statement(s)) for s in statements), str(wording.statement(goal)))
        problem = Problem(
            id=f"proofwriter/{config.split}/{seed}/{index}",
            dataset="proofwriter",
            context=" ".join(_sentence(s, wording, rng) for s in statements),
            question=f"{QUESTION if config.unknown_share else EITHER} {_sentence(goal, wording, rng)}",
            options=OPTIONS if config.unknown_share else OPTIONS[:2],
            answer=_LETTERS[answer],
            formal=formal,
            meta={"depth": depth, "hops": _num_hops(theory.kernel, goal)},
        )
        if belongs(config.split, problem):
            assert translate(problem.context, problem.question) == formal, problem
            return problem


generate = consecutive(item)


def _answer(config: ProofWriter, turn: int) -> Answer:
    """Return the answer of a turn; the answers of consecutive turns have the configured shares."""
    unknown_before, unknown_after = (int(n * config.unknown_share + 1e-9) for n in (turn, turn + 1))
    if unknown_after > unknown_before:
        return "unknown"
    return "true" if (turn - unknown_before) % 2 == 0 else "false"


def _drawn(config: ProofWriter, rng: random.Random, depth: int, answer: Answer) -> tuple[_DrawnTheory, Literal]:
    """Draw theories until one is consistent and reaches the depth; return it and what is asked of it."""
    while True:
        num_facts, num_extra = rng.randint(*config.facts), rng.randint(*config.extra_rules)
        style, negation = rng.choice(config.styles), rng.choice(config.negation)
        symbols = _symbols(rng, style, num_facts + depth + num_extra, negation=negation)
        facts = _facts(rng, symbols, num_facts)
        rules = _deep_rules(rng, symbols, facts, depth)
        rules += _extra_rules(rng, symbols, [*facts, *(rule.conclusion for rule in rules)], num_extra)
        rules = _consistent(facts, rules)
        rng.shuffle(rules)
        theory = _thought_through(symbols, facts, rules)
        if depth in theory.depths.values():
            choices = _undecided(rng, theory) if answer == "unknown" else _reached(rng, theory, depth)
            if choices:
                chosen = rng.choice(choices)
                return theory, chosen.negated() if answer == "false" else chosen


def _symbols(rng: random.Random, style: Style, num_statements: int, *, negation: bool) -> _TheorySymbols:
    """Return few symbols, so that rules meet; more in a large theory, where too much would follow at once."""
    num_more = max(0, num_statements - 12) // 2
    return _TheorySymbols(
        objects=tuple(f"o{i}" for i in range(rng.randint(3, 4))),
        adjectives=tuple(f"a{i}" for i in range(rng.randint(6, 8) + num_more)),
        verbs=tuple(f"v{i}" for i in range(rng.randint(2, 3))) if style == "relations" else (),
        negation=negation,
    )


def _facts(rng: random.Random, symbols: _TheorySymbols, num: int) -> list[Literal]:
    """Return facts of which none contradicts another, grouped by what they are about."""
    facts: dict[Literal, Literal] = {}
    while len(facts) < num:
        literal = symbols.draw(rng, rng.choice(symbols.objects))
        facts.setdefault(_atom(literal), literal)
    return sorted(facts.values(), key=lambda fact: str(fact.arguments[0]))


def _deep_rules(rng: random.Random, symbols: _TheorySymbols, facts: list[Literal], depth: int) -> list[Rule]:
    """Return rules of which each builds on what the one before concludes; others may still find a shorter way."""
    known = {_atom(fact): fact for fact in facts}
    last = rng.choice(facts)
    rules: list[Rule] = []
    for _ in range(depth):
        premises = [last, *_companions(rng, symbols, last, list(known.values()))]
        last = _conclusion(rng, symbols, last)
        for _ in range(_MAX_TRIES):
            if _atom(last) not in known:
                break
            last = _conclusion(rng, symbols, premises[0])
        known[_atom(last)] = last
        rules.append(_rule(rng, premises, last))
    return rules


def _extra_rules(rng: random.Random, symbols: _TheorySymbols, known: list[Literal], num: int) -> list[Rule]:
    """Return rules that may apply or not, and that may lead nowhere."""
    rules: list[Rule] = []
    for _ in range(num):
        first = rng.choice(known) if rng.random() < 0.6 else symbols.draw(rng, rng.choice(symbols.objects))
        subject = str(first.arguments[0])
        premises = [first]
        second = symbols.draw(rng, subject)
        if rng.random() < 0.5 and _atom(second) != _atom(first):
            premises.append(second)
        conclusion = _conclusion(rng, symbols, first)
        if _atom(conclusion) not in map(_atom, premises):
            rules.append(_rule(rng, premises, conclusion))
    return rules


def _companions(rng: random.Random, symbols: _TheorySymbols, first: Literal, known: list[Literal]) -> list[Literal]:
    """Return one more condition that holds, or none; rules on attributes stay with one subject."""
    among = set(first.arguments) if symbols.verbs else {first.arguments[0]}
    fitting = [other for other in known if other != first and other.arguments[0] in among]
    return [rng.choice(fitting)] if fitting and rng.random() < 0.5 else []


def _conclusion(rng: random.Random, symbols: _TheorySymbols, premise: Literal) -> Literal:
    """Return a literal about what the premise speaks of."""
    return symbols.draw(rng, str(rng.choice(premise.arguments)))


def _rule(rng: random.Random, premises: list[Literal], conclusion: Literal) -> Rule:
    """Return the rule from literals about objects, mostly for every subject in place of the first premise's own.

    What is still about a named object comes last: a pronoun goes back to the `someone` that opens the sentence.
    """
    if rng.random() < _GROUND_RATE:
        return Rule(tuple(premises), conclusion)
    subject = str(premises[0].arguments[0])
    general = [_generalised(premise, subject) for premise in premises]
    general.sort(key=lambda premise: premise.arguments[0] != _VARIABLE)
    return Rule(tuple(general), _generalised(conclusion, subject))


def _generalised(literal: Literal, subject: str) -> Literal:
    if literal.arguments[0] != subject:
        return literal
    return Literal(literal.positive, literal.predicate, (_VARIABLE, *literal.arguments[1:]))


def _atom(literal: Literal) -> Literal:
    return literal if literal.positive else literal.negated()


def _consistent(facts: list[Literal], rules: list[Rule]) -> list[Rule]:
    """Return the rules without repetitions and without those that would contradict what came before them."""
    kernel = Kernel()
    for fact in facts:
        kernel.add_axiom(fact)
    kept: list[Rule] = []
    for rule in dict.fromkeys(rules):
        more = kernel.fork()
        more.add_axiom(rule)
        more.saturate()
        if more.contradiction() is None:
            kept.append(rule)
            kernel = more
    return kept


def _thought_through(symbols: _TheorySymbols, facts: list[Literal], rules: list[Rule]) -> _DrawnTheory:
    kernel = Kernel()
    for statement in (*facts, *rules):
        kernel.add_axiom(statement)
    depths = dict.fromkeys(facts, 0)
    depth = 0
    while kernel.offers:
        depth += 1
        for literal in list(kernel.offers):
            kernel.infer(literal)
            depths[literal] = depth
    return _DrawnTheory(symbols, tuple(facts), tuple(rules), kernel, depths)


def _reached(rng: random.Random, theory: _DrawnTheory, depth: int) -> list[Literal]:
    """Return what follows at that depth, of one sign: both are asked for alike where both are there."""
    literals = [literal for literal, found in theory.depths.items() if found == depth]
    sign = rng.choice(sorted({literal.positive for literal in literals}))
    return [literal for literal in literals if literal.positive == sign]


def _undecided(rng: random.Random, theory: _DrawnTheory) -> list[Literal]:
    """Return what neither follows nor is refuted, of one sign; mostly what looks as if it might, being concluded."""
    known = {_atom(literal) for literal in theory.depths}
    undecided = [literal for literal in theory.symbols.literals() if literal not in known]
    concluded = {(rule.conclusion.predicate, rule.conclusion.arguments[1:]) for rule in theory.rules}
    likely = [literal for literal in undecided if (literal.predicate, literal.arguments[1:]) in concluded]
    choices = likely if likely and rng.random() < _LIKELY_RATE else undecided
    return choices if rng.random() < 0.5 else [literal.negated() for literal in choices]


def _num_hops(kernel: Kernel, goal: Literal) -> int | None:
    """Return how many rule applications the proof of the goal or of its negation has; None where there is none."""
    for literal in (goal, goal.negated()):
        if literal in kernel.known:
            return sum(isinstance(entry, Inference) for entry in kernel.proof(literal))
    return None


def _wording(symbols: _TheorySymbols, rng: random.Random) -> _Wording:
    nouns = [f"the {animal}" for animal in ANIMALS] if symbols.verbs else NAMES
    words = [*rng.sample(ADJECTIVES, len(symbols.adjectives)), *rng.sample(VERBS, len(symbols.verbs))]
    return _Wording(
        objects=dict(zip(symbols.objects, rng.sample(nouns, len(symbols.objects)), strict=True)),
        predicates=dict(zip((*symbols.adjectives, *symbols.verbs), words, strict=True)),
        kind=rng.choice(("people", "things")),
    )


def _symbol(text: str) -> str:
    return text.removeprefix("the ").replace(" ", "-").lower()


def _sentence(statement: Statement, wording: _Wording, rng: random.Random) -> str:
    if isinstance(statement, Literal):
        text = _clause(statement, wording, wording.objects[str(statement.arguments[0])])
    elif _is_about_a_kind(statement) and rng.random() < 0.6:
        adjectives = ", ".join(wording.predicates[premise.predicate] for premise in statement.premises)
        kind = f"{rng.choice(('all ', ''))}{adjectives} {wording.kind}"
        text = _clause(statement.conclusion, wording, kind, plural=True)
    else:
        text = _conditional(statement, wording)
    return f"{text[0].upper()}{text[1:]}."


def _is_about_a_kind(rule: Rule) -> bool:
    attributes = (*rule.premises, rule.conclusion)
    return all(a.arguments == (_VARIABLE,) for a in attributes) and all(p.positive for p in rule.premises)


def _conditional(rule: Rule, wording: _Wording) -> str:
    first, again, plural = ("someone", "they", True) if wording.kind == "people" else ("something", "it", False)
    conditions: list[str] = []
    last: Literal | None = None
    for premise in rule.premises:
        subject = str(premise.arguments[0])
        if last is not None and _continues(last, premise):
            conditions.append(f"{'' if premise.positive else 'not '}{wording.predicates[premise.predicate]}")
        elif subject != _VARIABLE:
            conditions.append(_clause(premise, wording, wording.objects[subject]))
        elif last is None:
            conditions.append(_clause(premise, wording, first))
        else:
            conditions.append(_clause(premise, wording, again, plural=plural))
        last = premise
    subject = str(rule.conclusion.arguments[0])
    is_general = subject == _VARIABLE
    name = again if is_general else wording.objects[subject]
    conclusion = _clause(rule.conclusion, wording, name, plural=plural and is_general)
    return f"if {' and '.join(conditions)} then {conclusion}"


def _continues(last: Literal, premise: Literal) -> bool:
    """Say whether `someone is kind and not big` is unmistakable: a `not` may reach a bare adjective after it."""
    return last.arguments == premise.arguments == (_VARIABLE,) and (last.positive or not premise.positive)


def _clause(literal: Literal, wording: _Wording, subject: str, *, plural: bool = False) -> str:
    word = wording.predicates[literal.predicate]
    if len(literal.arguments) == 1:
        return f"{subject} {'are' if plural else 'is'} {'' if literal.positive else 'not '}{word}"
    target = wording.objects[str(literal.arguments[1])]
    if not literal.positive:
        return f"{subject} {'do' if plural else 'does'} not {word} {target}"
    return f"{subject} {word if plural else third_person(word)} {target}"
