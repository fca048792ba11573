"""DeontiQA problems after the recipe of LogicGuide, appendix C: a theory, a derivation in it, a question about its end.

A chain of rules leads from a fact about one event to what is obligatory, permissible or impermissible, or is not;
with some chance the last step is one of the deontic rules that nobody states. Round it stand facts about other
events, rules that lead nowhere, and a rule that would say the opposite if it applied. The conclusion, or its
negation, becomes the question. `level` counts rule applications.

Which modality is asked for, and whether it is denied, is drawn before anything else and independently of the
answer, so that the wording of a question tells nothing. The English is this project's own
(`critics.text.theories.scheduling_english`), and every problem is read back before it is handed out.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from critics.problem import Formal, Problem
from critics.replay.formula import Application, Literal, Rule, Statement, Term, parse_statement
from critics.replay.kernel import Inference, saturated
from critics.text.theories import scheduling
from critics.text.theories.deontic import AXIOMS, MODALITIES
from critics.text.theories.scheduling import SIGNATURE
from critics.text.theories.scheduling_english import VARIABLES, question, sentence
from critics.text.translators.deontiqa import translate
from rollout.problems.catalogue import Split, belongs, consecutive, draws

MAX_LEVEL = 5
"""A derivation with more could run out of families of properties."""
PEOPLE = (
    "Amara", "Boris", "Chiara", "Dmitri", "Elif", "Farid", "Greta", "Hiro", "Ines", "Jamal", "Keiko", "Leif",
    "Mina", "Nils", "Oona", "Pavel", "Quinn", "Rosa", "Soren", "Tariq", "Ursula", "Viktor", "Yara", "Zeno",
)  # fmt: skip
GROUPS = ("Catering", "Design", "Finance", "Legal", "Logistics", "Research", "Sales", "Security", "Support")
EVENTS = (
    "board dinner", "budget review", "code sprint", "design workshop", "exhibition", "fire drill", "hiring panel",
    "job fair", "kickoff", "lab tour", "open day", "planning session", "press briefing", "product demo",
    "retrospective", "rehearsal", "safety audit", "summer party", "town hall", "training day", "webinar",
)  # fmt: skip
_FAMILIES = (
    scheduling.DURATIONS,
    scheduling.RECURRENCES,
    scheduling.VISIBILITIES,
    scheduling.PRIORITIES,
    scheduling.AVAILABILITIES,
)
"""Properties that exclude each other: no event is both short and long. The logic does not know; the stories do."""
_STEPS = ("organizer", "participant", "group-participant", *scheduling.PROPERTIES, *scheduling.PRIORITIES,
          *scheduling.AVAILABILITIES)  # fmt: skip
_REMINDERS = tuple(name for name in scheduling.REMINDERS if name != "none")
_CHANGES: Mapping[str, tuple[str, ...]] = {
    "reschedule-event": scheduling.RECURRENCES,
    "change-visibility": scheduling.VISIBILITIES,
}
"""The properties that an action gives an event; all where nothing is said."""
_GRANTED_RULES = tuple(map(parse_statement, AXIOMS))
_GRANTED = tuple((rule.premises[0], rule.conclusion) for rule in _GRANTED_RULES if isinstance(rule, Rule))
_CONSTANT_RATE = 0.15
"""Share of the people and groups in a rule that are named; the others are any."""
_SECOND_PREMISE_RATE = 0.3
_DENIAL_RATE = 0.15
"""Share of denials, that something is not so, among the steps before the last."""

_MISLEADING_RATE = 0.7
"""Share of the rules for the opposite conclusion that apply to another event."""


@dataclass(frozen=True, slots=True)
class DeontiQA:
    """Settings of the generator. Levels and answers are spread evenly over consecutive items."""

    levels: Sequence[int] = (1, 2, 3, 4)
    """Rule applications of the derivation; 1 to 4 are published."""
    granted_rate: float = 0.25
    """The share of problems, where level and question allow it, whose last step is a deontic rule nobody states."""
    extra_facts: tuple[int, int] = (3, 6)
    extra_rules: tuple[int, int] = (3, 7)
    """Least and most facts and rules beside those that the derivation needs."""
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.levels or not all(1 <= level <= MAX_LEVEL for level in self.levels):
            raise ValueError(f"levels: {list(self.levels)} must name numbers from 1 to {MAX_LEVEL}")
        if not 0 <= self.granted_rate <= 1:
            raise ValueError(f"granted_rate: {self.granted_rate} must lie between 0 and 1")
        for name, (least, most) in (("extra_facts", self.extra_facts), ("extra_rules", self.extra_rules)):
            if not 0 <= least <= most <= 20:
                raise ValueError(f"{name}: {(least, most)} must be (least, most) with 0 <= least <= most <= 20")


def item(config: DeontiQA, index: int, *, seed: int) -> Problem:
    """Return item `index`, redrawn until it is sound and its content belongs to the split."""
    level = config.levels[index % len(config.levels)]
    answer = (index // len(config.levels)) % 2 == 0
    for rng in draws("deontiqa", config.split, seed, index):
        story = _draw(config, rng, level)
        if _is_sound(story, level):
            problem = _problem(story, level, answer, f"deontiqa/{config.split}/{seed}/{index}")
            if belongs(config.split, problem):
                assert translate(problem.context, problem.question) == problem.formal
                return problem
    raise AssertionError("draws have no end")


@dataclass(frozen=True, slots=True)
class _World:
    """The objects of a story; the derivation is about the first of each."""

    people: tuple[str, ...]
    groups: tuple[str, ...]
    events: tuple[str, ...]

    def sorts(self) -> dict[str, str]:
        """Return the sort of each object."""
        return {
            **dict.fromkeys(self.people, "person"),
            **dict.fromkeys(self.groups, "group"),
            **dict.fromkeys(self.events, "event"),
        }

    def focus(self) -> dict[str, str]:
        """Return the object of each sort that the derivation is about."""
        return {"person": self.people[0], "group": self.groups[0], "event": self.events[0]}


@dataclass(slots=True)
class _Story:
    """A theory under construction, and the end of its derivation."""

    world: _World
    conclusion: Literal
    facts: list[Literal] = field(default_factory=list[Literal])
    rules: list[Rule] = field(default_factory=list[Rule])
    families: set[object] = field(default_factory=set[object])
    """Families that the derivation speaks of; statements that are drawn for it later are of other families."""

    def declarations(self) -> list[Literal]:
        """Return the sorts of those objects that some rule asks for."""
        asked = {p.predicate for rule in self.rules for p in rule.premises if p.predicate in VARIABLES}
        return [Literal(True, sort, (name,)) for name, sort in self.world.sorts().items() if sort in asked]


generate = consecutive(item)


def _draw(config: DeontiQA, rng: random.Random, level: int) -> _Story:
    world = _World(
        _symbols(rng.sample(PEOPLE, rng.randint(2, 3))),
        _symbols(rng.sample(GROUPS, rng.randint(1, 2))),
        _symbols(rng.sample(EVENTS, rng.randint(2, 3))),
    )
    action = _action(rng, world.focus())
    story = _Story(world, Literal(rng.random() < 0.5, rng.choice(list(MODALITIES)), (action,)))
    source = _source(config, rng, story.conclusion, level)
    _derive(rng, story, source, level if source is story.conclusion else level - 1)
    _mislead(rng, story)
    for _ in range(rng.randint(*config.extra_rules)):
        _add_rule(rng, story, [_other_step(rng, world)], _any_conclusion(rng, world))
    for _ in range(rng.randint(*config.extra_facts)):
        _add_fact(rng, story)
    rng.shuffle(story.facts)
    rng.shuffle(story.rules)
    return story


def _source(config: DeontiQA, rng: random.Random, conclusion: Literal, level: int) -> Literal:
    """Return what the last drawn rule concludes: the conclusion, or what entails it by a granted rule."""
    entailing = [
        premise.substitute({"'a": conclusion.arguments[0]})
        for premise, entailed in _GRANTED
        if (entailed.positive, entailed.predicate) == (conclusion.positive, conclusion.predicate)
    ]
    if level > 1 and entailing and rng.random() < config.granted_rate:
        return rng.choice(entailing)
    return conclusion


def _derive(rng: random.Random, story: _Story, source: Literal, num_rules: int) -> None:
    """Add a fact, and the rules that lead from it to `source`."""
    chain = [_step(rng, story) for _ in range(num_rules)]
    chain[1:] = [step.negated() if rng.random() < _DENIAL_RATE else step for step in chain[1:]]
    story.facts.append(chain[0])
    for premise, conclusion in pairwise([*chain, source]):
        premises = [premise]
        if rng.random() < _SECOND_PREMISE_RATE:
            premises.append(_step(rng, story))
            story.facts.append(premises[1])
        _add_rule(rng, story, premises, conclusion)


def _mislead(rng: random.Random, story: _Story) -> None:
    """Add a rule for the opposite conclusion, as a rule with a fact that applies it to another event.

    Else the one rule about the action would say the answer.
    """
    step = _step(rng, story)
    _add_rule(rng, story, [step], story.conclusion.negated())
    if rng.random() < _MISLEADING_RATE:
        story.facts.append(_about(step.predicate, _other_objects(rng, story.world)))


def _step(rng: random.Random, story: _Story) -> Literal:
    """Return a statement about the derivation's objects, of a family that it has not spoken of."""
    predicate = rng.choice([p for p in _STEPS if _family(p) not in story.families])
    story.families.add(_family(predicate))
    return _about(predicate, story.world.focus())


def _other_step(rng: random.Random, world: _World) -> Literal:
    return _about(rng.choice(_STEPS), world.focus())


def _any_conclusion(rng: random.Random, world: _World) -> Literal:
    if rng.random() < 0.4:
        return _other_step(rng, world)
    return Literal(rng.random() < 0.5, rng.choice(list(MODALITIES)), (_action(rng, world.focus()),))


def _add_rule(rng: random.Random, story: _Story, premises: list[Literal], conclusion: Literal) -> None:
    """Add a rule about whatever is so, but for objects that stay named; a variable of the conclusion alone is bound."""
    focus = story.world.focus()
    variables = {
        name: VARIABLES[sort] for sort, name in focus.items() if sort == "event" or rng.random() >= _CONSTANT_RATE
    }
    general = [literal.substitute(variables) for literal in (*premises, conclusion)]
    told = {v for premise in general[:-1] for v in premise.variables()}
    sorts = {variable: sort for sort, variable in VARIABLES.items()}
    unbound = [v for v in dict.fromkeys(general[-1].variables()) if v not in told]
    rule = Rule((*general[:-1], *(Literal(True, sorts[v], (v,)) for v in unbound)), general[-1])
    if rule not in story.rules and _family(conclusion.predicate) not in {_family(p.predicate) for p in premises}:
        story.rules.append(rule)


def _add_fact(rng: random.Random, story: _Story) -> None:
    """Add something about another event, if nothing of the family is said about it."""
    fact = _about(rng.choice(_STEPS), _other_objects(rng, story.world))
    if not any(_excludes(fact, other) for other in story.facts):
        story.facts.append(fact)


def _other_objects(rng: random.Random, world: _World) -> dict[str, str]:
    """Return another event, with anybody."""
    return {
        "person": rng.choice(world.people),
        "group": rng.choice(world.groups),
        "event": rng.choice(world.events[1:]),
    }


def _about(predicate: str, objects: Mapping[str, str]) -> Literal:
    return Literal(True, predicate, tuple(objects[sort] for sort in SIGNATURE.predicates[predicate]))


def _action(rng: random.Random, objects: Mapping[str, str]) -> Application[Term]:
    name = rng.choice(list(scheduling.ACTIONS))
    arguments = tuple(_argument(rng, name, sort, objects) for sort in scheduling.ACTIONS[name])
    return Application(name, arguments)


def _argument(rng: random.Random, action: str, sort: str, objects: Mapping[str, str]) -> Term:
    match sort:
        case "property":
            return rng.choice(_CHANGES.get(action, scheduling.PROPERTIES))
        case "entity":
            return objects[rng.choice(("person", "group"))]
        case "reminder":
            return Application(rng.choice(_REMINDERS), (objects["person"], objects["event"]))
        case "invite":
            kind, invited = rng.choice((("individual-invite", "person"), ("group-invite", "group")))
            return Application(kind, (objects[invited], objects["event"]))
        case _:
            return objects[sort]


def _family(predicate: str) -> object:
    return next((family for family in _FAMILIES if predicate in family), predicate)


def _excludes(one: Literal, other: Literal) -> bool:
    """Say whether two statements are of one family and about the same objects, or are equal."""
    return one.arguments == other.arguments and _family(one.predicate) == _family(other.predicate)


def _is_sound(story: _Story, level: int) -> bool:
    """Say whether the conclusion takes as many steps as wanted, and nothing at odds with anything follows."""
    kernel = saturated((*story.declarations(), *story.facts, *story.rules, *_GRANTED_RULES))
    if story.conclusion not in kernel.known or kernel.contradiction() is not None:
        return False
    num_steps = sum(isinstance(entry, Inference) for entry in kernel.proof(story.conclusion))
    held = [fact for fact in kernel.known if fact.positive and fact.predicate in _STEPS]
    return num_steps == level and not any(_excludes(*pair) for pair in combinations(held, 2))


def _problem(story: _Story, level: int, answer: bool, id_: str) -> Problem:
    sorts = story.world.sorts()
    statements: list[Statement] = [*story.declarations(), *story.facts, *story.rules]
    goal = story.conclusion if answer else story.conclusion.negated()
    return Problem(
        id=id_,
        dataset="deontiqa",
        context=" ".join(sentence(statement, sorts) for statement in statements),
        question=question(goal, sorts),
        answer="true" if answer else "false",
        formal=Formal((*map(str, statements), *AXIOMS), str(goal)),
        meta={"domain": "calendar", "level": level, "hops": level},
    )


def _symbols(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.lower().replace(" ", "-") for name in names)
