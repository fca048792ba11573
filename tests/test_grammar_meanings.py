"""Generated sentences: what the grammar reads of them and what they mean are evaluated in random small models."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from critics.grammar.reader import Reader, Reading
from critics.replay.first_order import syntax as fo

NUM_SENTENCES = 1_500
NOUNS_AND_PROPERTIES = ("cat", "big", "white", "black", "warm", "kind", "do bark", "do sleep", "dog")


@dataclass(frozen=True)
class Model:
    """A domain of numbers, whom the names stand for, and of what each predicate holds."""

    size: int
    names: dict[str, int]
    holds: frozenset[tuple[str, int]]


Property = Callable[[Model, int], bool]
Claim = Callable[[Model], bool]


def random_model(rng: random.Random) -> Model:
    size = rng.choice((1, 2, 3))
    holds = {(name, one) for name in NOUNS_AND_PROPERTIES for one in range(size) if rng.random() < 0.5}
    return Model(size, {"tom": rng.randrange(size), "ann": rng.randrange(size)}, frozenset(holds))


MODELS = [random_model(random.Random(number)) for number in range(80)]


def value(formula: Any, model: Model, bound: dict[str, int]) -> bool:
    """Evaluate a formula by the textbook; a predicate that no model knows is an error."""
    match formula:
        case fo.Atom(predicate=name, arguments=[fo.Variable(name=one)]):
            assert name in NOUNS_AND_PROPERTIES, name
            return (name, bound[one]) in model.holds
        case fo.Atom(predicate=name, arguments=[fo.Constant(name=one)]):
            assert name in NOUNS_AND_PROPERTIES, name
            return (name, model.names[one]) in model.holds
        case fo.Not():
            return not value(formula.body, model, bound)
        case fo.Quantified():
            each = (value(formula.body, model, {**bound, formula.variable: one}) for one in range(model.size))
            return all(each) if formula.quantifier is fo.Quantifier.ALL else any(each)
        case _:
            parts = [value(part, model, bound) for part in formula.operands]
    match formula.operator:
        case fo.Operator.AND:
            return all(parts)
        case fo.Operator.OR:
            return any(parts)
        case fo.Operator.IMPLIES:
            return not parts[0] or parts[1]
        case fo.Operator.IFF:
            return parts[0] == parts[1]
        case _:
            return sum(parts) % 2 == 1


def has(name: str) -> Property:
    return lambda model, one: (name, one) in model.holds


def no(a: Property) -> Property:
    return lambda model, one: not a(model, one)


def both(*parts: Property) -> Property:
    return lambda model, one: all(part(model, one) for part in parts)


def some(*parts: Property) -> Property:
    return lambda model, one: any(part(model, one) for part in parts)


def predicates(a: str, b: str) -> list[tuple[str, Property]]:
    """Return what may stand behind `is` or `are`, and what it says."""
    p, q = has(a), has(b)
    return [
        (a, p),
        (f"not {a}", no(p)),
        (f"never {a}", no(p)),
        (f"{a} or {b}", some(p, q)),
        (f"{a} and {b}", both(p, q)),
        (f"both {a} and {b}", both(p, q)),
        (f"neither {a} nor {b}", both(no(p), no(q))),
        (f"{a} but not {b}", both(p, no(q))),
        (f"not {a} but {b}", both(no(p), q)),
        (f"not {a} and not {b}", both(no(p), no(q))),
        (f"not both {a} and {b}", no(both(p, q))),
        (f"never {a} or {b}", no(some(p, q))),
        (f"{a}, {b} or big", some(p, q, has("big"))),
    ]


def verbs(is_one: bool) -> list[tuple[str, Property]]:
    """Return predicates with verbs."""
    bark, sleep, s, do = has("do bark"), has("do sleep"), "s" * is_one, "does" if is_one else "do"
    return [
        (f"bark{s}", bark),
        (f"{do} not bark", no(bark)),
        (f"never bark{s}", no(bark)),
        (f"bark{s} and sleep{s}", both(bark, sleep)),
        (f"bark{s} or sleep{s}", some(bark, sleep)),
        (f"{do} not bark or sleep", no(some(bark, sleep))),
        (f"never bark{s} or sleep{s}", no(some(bark, sleep))),
        (f"bark{s} but {do} not sleep", both(bark, no(sleep))),
        (f"neither bark{s} nor sleep{s}", both(no(bark), no(sleep))),
        (f"bark{s} and never sleep{s}", both(bark, no(sleep))),
    ]


CAT = has("cat")
KINDS: dict[str, tuple[Property, str]] = {
    "Tom": (lambda model, one: one == model.names["tom"], "every"),
    "A cat": (CAT, "every"),
    "Cats": (CAT, "every"),
    "Every cat": (CAT, "every"),
    "All cats": (CAT, "every"),
    "Each cat that is big": (both(CAT, has("big")), "every"),
    "Everyone": (lambda model, one: True, "every"),
    "No cat": (CAT, "none"),
    "Some cat": (CAT, "some"),
    "Not every cat": (CAT, "not every"),
    "Only cats": (CAT, "only"),
}


def claim(kind: Property, how: str, said: Property) -> Claim:
    """Return what is said of a kind: of every, none, some, not every one of it, or of it alone."""

    def holds(model: Model) -> bool:
        found = [said(model, one) for one in range(model.size) if kind(model, one)]
        match how:
            case "every":
                return all(found)
            case "none":
                return not any(found)
            case "some":
                return any(found)
            case "not every":
                return not all(found)
            case _:
                return all(kind(model, one) for one in range(model.size) if said(model, one))

    return holds


def sentences() -> Iterator[tuple[str, Claim]]:
    """Yield sentences and what they say."""
    for subject, (kind, how) in KINDS.items():
        is_one = not subject.endswith("cats") and subject != "Cats"
        be = "is" if is_one else "are"
        low = subject if subject == "Tom" else subject[0].lower() + subject[1:]
        told = [(f"{be} {text}", said) for text, said in predicates("white", "black")] + verbs(is_one)
        for text, said in told:
            base = claim(kind, how, said)
            yield f"{subject} {text}.", base
            if is_one and subject in ("Tom", "A cat"):
                yield f"Tom is not a cat that {text}.", claim(KINDS["Tom"][0], "every", no(both(CAT, said)))
                yield f"Every cat that {text} is big.", claim(both(CAT, said), "every", has("big"))
            for more, other in predicates("warm", "kind"):
                yield from with_ann(subject, low, text, more, base, other, is_generic=subject in ("A cat", "Cats"))
                if how in ("every", "none") and subject != "Everyone":
                    yield from with_pronoun(subject, low, text, more, kind, no(said) if how == "none" else said, other)


def with_ann(
    subject: str, low: str, text: str, more: str, base: Claim, other: Property, *, is_generic: bool
) -> Iterator[tuple[str, Claim]]:
    """Join a sentence with one about Ann."""

    def ann(model: Model) -> bool:
        return other(model, model.names["ann"])

    yield f"{subject} {text} if Ann is {more}.", lambda m: not ann(m) or base(m)
    yield f"If Ann is {more}, then {low} {text}.", lambda m: not ann(m) or base(m)
    yield f"{subject} {text} unless Ann is {more}.", lambda m: ann(m) or base(m)
    yield f"Unless Ann is {more}, {low} {text}.", lambda m: ann(m) or base(m)
    yield f"{subject} {text} if and only if Ann is {more}.", lambda m: ann(m) == base(m)
    yield f"{subject} {text}, and Ann is {more}.", lambda m: ann(m) and base(m)
    yield f"{subject} {text}, or Ann is {more}.", lambda m: ann(m) or base(m)
    if not is_generic:  # of a kind it may be said of each
        yield f"{subject} {text} only if Ann is {more}.", lambda m: not base(m) or ann(m)


def with_pronoun(
    subject: str, low: str, text: str, more: str, kind: Property, said: Property, other: Property
) -> Iterator[tuple[str, Claim]]:
    """Put a condition on each of a kind."""
    word = "he" if subject == "Tom" else "they" if subject.endswith("ats") else "it"
    be = "are" if word == "they" else "is"
    yield f"{subject} {text} if {word} {be} {more}.", claim(both(kind, other), "every", said)
    yield f"{subject} {text} unless {word} {be} {more}.", claim(both(kind, no(other)), "every", said)
    if subject != "No cat":
        yield f"{subject} {text} only if {word} {be} {more}.", claim(both(kind, said), "every", other)
        same: Property = lambda m, one: said(m, one) == other(m, one)  # noqa: E731
        yield f"{subject} {text} if and only if {word} {be} {more}.", claim(kind, "every", same)
    if subject in ("Tom", "A cat", "Cats"):
        yield f"If {low} {text}, then {word} {be} {more}.", claim(both(kind, said), "every", other)


def conditions() -> Iterator[tuple[str, Claim]]:
    """Yield sentences about Ann on a condition about cats or anybody, and relative clauses."""
    told = [(f"is {text}", said) for text, said in predicates("white", "black")] + verbs(True)
    for text, said in told:
        for more, other in predicates("warm", "kind"):
            for who, how, kind in (
                ("a cat", "some", CAT),
                ("some cat", "some", CAT),
                ("someone", "some", no(both(CAT, no(CAT)))),
                ("every cat", "every", CAT),
                ("no cat", "none", CAT),
                ("nobody", "none", no(both(CAT, no(CAT)))),
            ):
                yield from of_ann(f"{who} {text}", f"is {more}", claim(kind, how, said), other, who != "a cat")
            yield f"No cat that {text} is {more}.", claim(both(CAT, said), "none", other)
            yield f"Some cat that {text} is {more}.", claim(both(CAT, said), "some", other)
            yield f"Everyone who {text} is {more}.", claim(said, "every", other)
            yield (
                f"If a cat {text} or is big, then it is {more}.",
                claim(both(CAT, some(said, has("big"))), "every", other),
            )


def of_ann(condition: str, text: str, given: Claim, said: Property, is_exact: bool) -> Iterator[tuple[str, Claim]]:
    def ann(model: Model) -> bool:
        return said(model, model.names["ann"])

    yield f"If {condition}, Ann {text}.", lambda m: not given(m) or ann(m)
    yield f"Ann {text} if {condition}.", lambda m: not given(m) or ann(m)
    yield f"Ann {text} unless {condition}.", lambda m: given(m) or ann(m)
    if is_exact:
        yield f"Ann {text} only if {condition}.", lambda m: not ann(m) or given(m)


def test_what_is_read_of_a_generated_sentence_is_what_it_says() -> None:
    listed = [*sentences(), *conditions()]
    seen: Counter[bool] = Counter()
    for text, says in random.Random(11).sample(listed, NUM_SENTENCES):
        found = Reader().read(text)
        seen[isinstance(found, Reading)] += 1
        if isinstance(found, Reading):
            assert all(value(found.formula, model, {}) == says(model) for model in MODELS), (text, str(found.formula))
    assert seen[True] > 0.55 * NUM_SENTENCES, seen


def warm(model: Model) -> bool:
    """Say whether Ann is warm."""
    return has("warm")(model, model.names["ann"])


def rules() -> Iterator[tuple[str, Claim, Claim]]:
    """Yield sentences of rule texts, and what they say under both readings of what they leave open."""
    dog, tom = has("dog"), KINDS["Tom"][0]
    for (text, said), (many, _) in zip(
        [(f"is {text}", said) for text, said in predicates("white", "black")] + verbs(True),
        [(f"are {text}", said) for text, said in predicates("white", "black")] + verbs(False),
        strict=True,
    ):
        of_tom, of_ann = claim(tom, "every", said), lambda m, said=said: said(m, m.names["ann"])
        either = some(CAT, dog)
        for sentence, says in (
            (f"At least one of Tom and Ann {text}.", lambda m, a=of_tom, b=of_ann: a(m) or b(m)),
            (f"Exactly one of Tom and Ann {text}.", lambda m, a=of_tom, b=of_ann: a(m) != b(m)),
            (f"None of Tom and Ann {text}.", lambda m, a=of_tom, b=of_ann: not a(m) and not b(m)),
            (f"Only those who {many} are warm.", claim(said, "only", has("warm"))),
            (f"Only a cat {text}.", claim(CAT, "only", said)),
            (f"Only cats and dogs {many}.", claim(either, "only", said)),
            (f"Every cat or dog {text}.", claim(either, "every", said)),
            (f"No cat or dog {text}.", claim(either, "none", said)),
            (f"Neither cats nor dogs {many}.", claim(either, "none", said)),
            (f"Tom {text}; Ann is warm.", lambda m, a=of_tom: a(m) and warm(m)),
            (f"Tom {text}, provided that Ann is warm.", lambda m, a=of_tom: not warm(m) or a(m)),
            (f"As long as Ann is warm, Tom {text}.", lambda m, a=of_tom: not warm(m) or a(m)),
            (f"Ann is warm only when Tom {text}.", lambda m, a=of_tom: not warm(m) or a(m)),
            (f"Ann is warm exactly when Tom {text}.", lambda m, a=of_tom: warm(m) == a(m)),
            (f"Ann is warm except when Tom {text}.", lambda m, a=of_tom: warm(m) or a(m)),
            (f"Ann is warm unless a cat {text}.", lambda m, a=claim(CAT, "some", said): warm(m) or a(m)),
            (f"Ann is warm only if a cat {text}.", lambda m, a=claim(CAT, "some", said): not warm(m) or a(m)),
            (f"Once a cat {text}, it is warm.", claim(both(CAT, said), "every", has("warm"))),
            (f"Cats {many} unless Ann is warm.", lambda m, a=claim(CAT, "every", said): warm(m) or a(m)),
        ):
            yield sentence, says, says
        for subject, kind in (("All cats except dogs", CAT), ("Everyone except dogs", some(CAT, no(CAT)))):
            verb = text if subject.startswith("Every") else many
            exactly: Property = lambda m, one, said=said: said(m, one) != dog(m, one)  # noqa: E731
            yield f"{subject} {verb}.", claim(both(kind, no(dog)), "every", said), claim(kind, "every", exactly)
        refuses: Property = lambda m, one, said=said: (not said(m, one)) != dog(m, one)  # noqa: E731
        yield f"No cat except dogs {text}.", claim(both(CAT, no(dog)), "none", said), claim(CAT, "every", refuses)


def test_what_is_read_of_a_rule_is_what_it_says_under_both_readings() -> None:
    listed, num_read = [*rules()], 0
    for text, plain, exclusive in listed:
        found = Reader().read(text)
        if isinstance(found, Reading):
            num_read += 1
            for formula, says in ((found.formula, plain), (found.exclusive, exclusive)):
                assert all(value(formula, model, {}) == says(model) for model in MODELS), (text, str(formula))
    assert num_read > 0.75 * len(listed), (num_read, len(listed))
