"""Words of the PrOntoQA ontologies: fictional kinds, real kinds for false ontologies, true taxonomies.

The lists follow the published problems (Saparov and He 2023, as LogicGuide uses them, paper section 4.1).
"""

from dataclasses import dataclass

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
