"""PrOntoQA problems after Saparov and He (2023), in the form that LogicGuide uses (LogicGuide's paper, section 4.1).

A chain of kinds, each a kind of the next; all kinds but one have a property; one unrelated kind has the
opposite of the property asked for, so that the property's mention alone gives nothing away. `hops` counts
rule applications: hops - 1 steps up the chain and one to the property.

Splits are disjoint by content: the hash of a problem's formal statements decides to which split it may
belong, whatever seed drew it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from critics.grammar.inflection import article, plural
from critics.problem import Formal, Problem
from rollout.problems.catalogue import Split, consecutive, draws, first_of_split

NAMES = ("Alex", "Fae", "Max", "Polly", "Rex", "Sally", "Sam", "Stella", "Wren")
FICTIONAL_KINDS = (
    "wumpus", "yumpus", "zumpus", "dumpus", "rompus", "numpus", "tumpus", "vumpus", "impus", "jompus",
)  # fmt: skip
FURTHER_KINDS = (
    "lorpus", "sterpus", "gorpus", "brimpus", "shumpus", "lempus", "grimpus", "jelpus", "kerpus", "timpus", "felpus",
    "daumpus", "yerpus", "phorpus", "borpus", "torpus", "sorpus", "rempus", "harpus", "quimpus", "delpus", "morpus",
    "fompus", "gwompus", "bompus", "zorpus", "scrompus", "umpus", "worpus", "thorpus",
)  # fmt: skip
"""Made up like `FICTIONAL_KINDS`, for problems that need more of them."""
REAL_KINDS = (
    "animal", "mammal", "carnivore", "feline", "cat", "dog", "cow", "sheep", "snake", "vertebrate",
    "invertebrate", "arthropod", "insect", "lepidopteran", "butterfly", "moth", "ant", "spider", "crustacean",
    "number", "integer", "natural number", "prime number", "real number", "fraction", "even number",
    "negative number", "composite number", "Mersenne prime",
)  # fmt: skip
ADJECTIVES = (
    "blue", "red", "brown", "orange", "small", "large", "metallic", "wooden", "luminous", "liquid",
    "transparent", "opaque", "nervous", "happy", "feisty", "shy", "bright", "dull", "sweet", "sour",
    "spicy", "bitter", "floral", "fruity", "earthy", "hot", "cold", "temperate", "kind", "mean", "angry",
    "amenable", "aggressive",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Property:
    """A true statement about a kind, and a kind from elsewhere of which the opposite is true."""

    adjective: str
    holds: bool
    opposite_kind: str


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A true chain of kinds, from the most special to the most general, with true properties."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    properties: dict[str, tuple[Property, ...]]


def _has(adjective: str, opposite_kind: str) -> Property:
    return Property(adjective, True, opposite_kind)


def _lacks(adjective: str, opposite_kind: str) -> Property:
    return Property(adjective, False, opposite_kind)


TAXONOMIES = (
    Taxonomy(
        NAMES,
        ("tabby", "cat", "feline", "carnivore", "mammal", "vertebrate", "chordate", "bilaterian", "animal"),
        {
            "tabby": (_has("striped", "polar bear"),),
            "cat": (_has("whiskered", "earthworm"), _lacks("aquatic", "fish")),
            "feline": (_has("agile", "snail"),),
            "carnivore": (_lacks("herbivorous", "sheep"), _has("carnivorous", "cow")),
            "mammal": (
                _has("furry", "snake"),
                _lacks("cold-blooded", "lizard"),
                _has("warm-blooded", "frog"),
            ),
            "vertebrate": (_has("bony", "jellyfish"),),
            "chordate": (_lacks("radial", "starfish"),),
            "bilaterian": (_has("symmetric", "sponge"),),
            "animal": (_has("multicellular", "bacterium"), _lacks("unicellular", "amoeba")),
        },
    ),
    Taxonomy(
        NAMES,
        (
            "painted lady",
            "butterfly",
            "lepidopteran",
            "insect",
            "arthropod",
            "protostome",
            "invertebrate",
            "bilaterian",
            "animal",
        ),
        {
            "painted lady": (_has("orange", "polar bear"),),
            "butterfly": (_has("winged", "earthworm"),),
            "lepidopteran": (_has("scaly", "earthworm"),),
            "insect": (_has("six-legged", "spider"), _lacks("eight-legged", "scorpion")),
            "arthropod": (_lacks("bony", "whale"), _has("segmented", "nematode"), _has("small", "whale")),
            "protostome": (_lacks("feathered", "robin"),),
            "invertebrate": (_lacks("warm-blooded", "mammal"),),
            "bilaterian": (_has("symmetric", "sponge"),),
            "animal": (_has("multicellular", "bacterium"), _lacks("unicellular", "amoeba")),
        },
    ),
    Taxonomy(
        ("3", "7", "31", "127", "8191", "131071"),
        (
            "Mersenne prime",
            "odd prime",
            "prime number",
            "natural number",
            "integer",
            "rational number",
            "algebraic number",
            "complex number",
            "number",
        ),
        {
            "Mersenne prime": (_lacks("composite", "square number"),),
            "odd prime": (_lacks("even", "even number"),),
            "prime number": (_has("prime", "composite number"),),
            "natural number": (_has("positive", "negative number"), _lacks("negative", "negative integer")),
            "integer": (_has("whole", "proper fraction"),),
            "rational number": (_lacks("irrational", "surd"),),
            "algebraic number": (_lacks("transcendental", "transcendental number"),),
            "complex number": (_lacks("infinite", "infinite set"),),
            "number": (_has("abstract", "stone"),),
        },
    ),
)


Ontology = Literal["fictional", "false", "true"]
Form = Literal["Every", "Each", "plural"]
"""First word of a rule about each of a kind; plural: `Cats are warm.`"""
_Stated = tuple[str, str]
"""A sentence and its axiom: as the translator reads it, which is too slow to ask for thousands of problems."""
MAX_HOPS = 8
MAX_FORKS = 3


@dataclass(frozen=True, slots=True)
class PrOntoQA:
    """Settings of the generator. Hops, ontologies and answers are spread evenly over consecutive items."""

    hops: Sequence[int] = (1, 2, 3, 4, 5)
    ontologies: Sequence[Ontology] = ("fictional",)
    extra_kinds: tuple[int, int] = (0, 3)
    """Least and most kinds in the chain beyond those that the proof needs."""
    forks: tuple[int, int] = (0, 0)
    """Least and most dead ends that leave the proof's path (`_forked`); published problems have none."""
    property_rate: float = 1.0
    """The share of the kinds off the proof's end that have a property of their own (published: 1)."""
    forms: Sequence[Form] = ("Every", "Each", "plural")
    ordering: Literal["random", "ordered"] = "random"
    split: Split = "train"

    def __post_init__(self) -> None:
        if not self.hops or not all(1 <= h <= MAX_HOPS for h in self.hops):
            raise ValueError(f"hops: {list(self.hops)} must name numbers from 1 to {MAX_HOPS}")
        if not 0 <= self.extra_kinds[0] <= self.extra_kinds[1]:
            raise ValueError(f"extra_kinds: {self.extra_kinds} must be (least, most) with 0 <= least <= most")
        if not self.forms:
            raise ValueError("forms: name at least one of Every, Each, plural")
        if not self.ontologies:
            raise ValueError("ontologies: name at least one of fictional, false, true")
        if not 0 <= self.forks[0] <= self.forks[1] <= MAX_FORKS:
            raise ValueError(f"forks: {self.forks} must be (least, most) with 0 <= least <= most <= {MAX_FORKS}")
        if self.forks[1] and tuple(self.ontologies) != ("fictional",):
            raise ValueError("forks: only problems of the ontology `fictional` have them")


@dataclass(frozen=True, slots=True)
class _KindTheory:
    """Kinds from special to general, the property of each (None: none) and whether the kind has it."""

    kinds: tuple[str, ...]
    """The chain that holds the proof."""
    properties: dict[str, tuple[str, bool]]
    distractor: tuple[str, str, bool]
    start: int
    name: str
    goal: tuple[str, bool] = field(default=("", True))
    side_chains: tuple[tuple[str, ...], ...] = ()
    """Further chains; the first kind of one may stand in `kinds`."""
    other: tuple[str, str] | None = None
    """A second name, and its kind."""


def item(config: PrOntoQA, index: int, *, seed: int) -> Problem:
    """Return item `index`, redrawn until its content belongs to the split."""
    num_hops = len(config.hops)
    hops = config.hops[index % num_hops]
    answer = (index // num_hops) % 2 == 0
    ontology = config.ontologies[(index // (2 * num_hops)) % len(config.ontologies)]
    id_ = f"prontoqa/{config.split}/{seed}/{index}"
    drawn = (_draw(config, rng, hops, ontology, answer, id_) for rng in draws("prontoqa", config.split, seed, index))
    return first_of_split(config.split, drawn)


generate = consecutive(item)


def _draw(
    config: PrOntoQA, rng: random.Random, hops: int, ontology: Ontology, answer: bool, problem_id: str
) -> Problem:
    num_kinds = hops + 1 + rng.randint(*config.extra_kinds)
    theory = (
        _true_theory(config, rng, hops, num_kinds)
        if ontology == "true"
        else _made_theory(config, rng, hops, num_kinds, ontology)
    )
    if config.forks[1]:
        theory = _forked(config, rng, hops, theory)
    sentences = _sentences(theory, config.forms, rng)
    if config.ordering == "random":
        rng.shuffle(sentences)
    facts = [_fact(theory.name, theory.kinds[theory.start])]
    if theory.other is not None:
        facts.insert(rng.randint(0, 1), _fact(*theory.other))
    sentences += facts
    adjective, holds = theory.goal
    asserted = holds if answer else not holds
    question = f"True or false: {theory.name} is {'' if asserted else 'not '}{adjective}."
    return Problem(
        id=problem_id,
        dataset="prontoqa",
        context=" ".join(sentence for sentence, _ in sentences),
        question=question,
        answer="true" if answer else "false",
        formal=Formal(tuple(axiom for _, axiom in sentences), _literal(adjective, asserted, theory.name.lower())),
        meta={"hops": hops, "ontology": ontology},
    )


def _made_theory(config: PrOntoQA, rng: random.Random, hops: int, num_kinds: int, ontology: Ontology) -> _KindTheory:
    vocabulary = FICTIONAL_KINDS if ontology == "fictional" else REAL_KINDS
    num_kinds = min(num_kinds, len(vocabulary) - 1)
    *kinds, unrelated = rng.sample(vocabulary, num_kinds + 1)
    start = rng.randint(0, num_kinds - hops)
    goal_kind = kinds[start + hops - 1]
    without = rng.choice([kind for kind in kinds if kind != goal_kind])
    adjectives = rng.sample(ADJECTIVES, num_kinds)
    properties = {
        kind: (adjective, rng.random() < 0.5)
        for kind, adjective in zip(kinds, adjectives, strict=True)
        if kind != without and (kind == goal_kind or rng.random() < config.property_rate)
    }
    adjective, holds = properties[goal_kind]
    return _KindTheory(
        tuple(kinds),
        properties,
        (unrelated, adjective, not holds),
        start,
        rng.choice(NAMES),
        (adjective, holds),
    )


def _forked(config: PrOntoQA, rng: random.Random, hops: int, theory: _KindTheory) -> _KindTheory:
    """Return a theory in which an answer that is right, long and ends in the question's words need not be proved.

    Dead ends of 1 to `hops` kinds leave the path and say nothing of the property asked for. The kind with the opposite
    property ends a chain of `hops` kinds that belongs to a second name, so that neither of the two rules about the
    property stands alone.
    """
    words = [kind for kind in (*FICTIONAL_KINDS, *FURTHER_KINDS) if kind not in {*theory.kinds, theory.distractor[0]}]
    rng.shuffle(words)
    path = theory.kinds[theory.start : theory.start + hops]
    dead_ends = [
        (rng.choice(path), *(words.pop() for _ in range(rng.randint(1, hops))))
        for _ in range(rng.randint(*config.forks))
    ]
    rival = (*(words.pop() for _ in range(max(1, hops - 1))), theory.distractor[0])
    taken = {adjective for adjective, _ in theory.properties.values()}
    adjectives = [adjective for adjective in ADJECTIVES if adjective not in taken]
    rng.shuffle(adjectives)
    properties = {
        kind: (adjectives.pop(), rng.random() < 0.5)
        for kind in (*(kind for chain in dead_ends for kind in chain[1:]), *rival[:-1])
        if adjectives and rng.random() < config.property_rate
    }
    name = rng.choice([name for name in NAMES if name != theory.name])
    return replace(
        theory,
        properties={**theory.properties, **properties},
        side_chains=(*dead_ends, rival),
        other=(name, rival[0]),
    )


def _true_theory(config: PrOntoQA, rng: random.Random, hops: int, num_kinds: int) -> _KindTheory:
    taxonomy = rng.choice(TAXONOMIES)
    num_kinds = min(num_kinds, len(taxonomy.kinds))
    offset = rng.randint(0, len(taxonomy.kinds) - num_kinds)
    kinds = taxonomy.kinds[offset : offset + num_kinds]
    start = rng.randint(0, num_kinds - hops)
    goal_kind = kinds[start + hops - 1]
    chosen: dict[str, Property] = {kind: rng.choice(taxonomy.properties[kind]) for kind in kinds}
    goal = chosen[goal_kind]
    properties = {
        kind: (p.adjective, p.holds)
        for kind, p in chosen.items()
        if kind == goal_kind or (p.adjective != goal.adjective and rng.random() < config.property_rate)
    }
    distractor = (goal.opposite_kind, goal.adjective, not goal.holds)
    return _KindTheory(kinds, properties, distractor, start, rng.choice(taxonomy.names), (goal.adjective, goal.holds))


def _sentences(theory: _KindTheory, forms: Sequence[Form], rng: random.Random) -> list[_Stated]:
    sentences: list[_Stated] = []
    for position, kind in enumerate(theory.kinds):
        if kind in theory.properties:
            sentences.append(_property_sentence(kind, *theory.properties[kind], forms, rng))
        if position + 1 < len(theory.kinds):
            sentences.append(_kind_sentence(kind, theory.kinds[position + 1], forms, rng))
    for chain in theory.side_chains:
        sentences += [_kind_sentence(kind, general, forms, rng) for kind, general in pairwise(chain)]
        new = [kind for kind in chain if kind not in theory.kinds and kind in theory.properties]
        sentences += [_property_sentence(kind, *theory.properties[kind], forms, rng) for kind in new]
    kind, adjective, holds = theory.distractor
    sentences.insert(rng.randint(0, len(sentences)), _property_sentence(kind, adjective, holds, forms, rng))
    return sentences


def _kind_sentence(kind: str, general: str, forms: Sequence[Form], rng: random.Random) -> _Stated:
    form = rng.choice(forms)
    said = f"are {plural(general)}" if form == "plural" else f"is {with_article(general)}"
    return _sentence(kind, said, form), _rule(kind, _literal(general, True, "'x"))


def _property_sentence(kind: str, adjective: str, holds: bool, forms: Sequence[Form], rng: random.Random) -> _Stated:
    form = rng.choice(forms)
    said = f"{'are' if form == 'plural' else 'is'} {'' if holds else 'not '}{adjective}"
    return _sentence(kind, said, form), _rule(kind, _literal(adjective, holds, "'x"))


def _sentence(kind: str, said: str, form: str) -> str:
    if form != "plural":
        return f"{form} {kind} {said}."
    many = plural(kind)
    return f"{many[0].upper()}{many[1:]} {said}."


def _rule(kind: str, conclusion: str) -> str:
    premise = _literal(kind, True, "'x")
    return f"{premise} -> {conclusion}"


def _fact(name: str, kind: str) -> _Stated:
    return f"{name} is {with_article(kind)}.", _literal(kind, True, name.lower())


def _literal(predicate: str, holds: bool, of: str) -> str:
    atom = f"({predicate.lower().replace(' ', '-')} {of})"
    return atom if holds else f"(not {atom})"


def with_article(noun: str) -> str:
    """Return a noun behind `a` or `an`."""
    return f"{article(noun)} {noun}"
