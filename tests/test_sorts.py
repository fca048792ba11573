import pytest
from hypothesis import given
from hypothesis import strategies as st

from critics.replay.formula import parse_literal, parse_statement
from critics.replay.kernel import Kernel
from critics.replay.sorts import ANY, SortedSignature, SortError, joined

ZOO = SortedSignature(
    sorts={"animal": ANY, "cat": "animal", "dog": "animal", "place": ANY, "plan": ANY, "colour": ANY},
    predicates={
        "hungry": ("animal",),
        "purrs": ("cat",),
        "lives-in": ("animal", "place"),
        "good": ("plan",),
        "dark": ("place",),
        "likes": ("animal", "colour"),
    },
    functions={"feed": (("animal", "place"), "plan"), "stroke": (("cat",), "plan"), "den-of": (("animal",), "place")},
    constants={"red": "colour", "dark": "colour"},
)


def kernel(*statements: str) -> Kernel:
    made = Kernel(signature=ZOO)
    for statement in statements:
        made.add_axiom(parse_statement(statement))
    return made


@pytest.mark.parametrize(
    "statement",
    [
        "(hungry tom)",
        "(cat tom)",
        "(purrs 'x) -> (hungry 'x)",
        "(cat 'x) -> (good (feed 'x den))",
        "(lives-in 'x 'y) -> (good (feed 'x 'y))",
        "(hungry 'x) -> (cat 'x) -> (good (stroke 'x))",
        "(dark (den-of tom))",
        "(likes tom dark)",
        "(hungry 'x)",
        "(not (good (feed 'x 'y)))",
    ],
)
def test_a_subsort_may_stand_where_its_upper_sort_is_wanted(statement):
    assert kernel(statement).entries


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (["(hungry red)"], r"\(hungry red\): red is of sort colour elsewhere, and animal is needed here"),
        (["(purrs tom)", "(dog tom)"], r"\(dog tom\): tom is of sort cat elsewhere, and dog is needed here"),
        (["(lives-in den tom)", "(dark den)"], "den is of sort animal elsewhere, and place is needed"),
        (["(hungry (den-of tom))"], r"\(den-of tom\) is of sort place, and animal is needed"),
        (["(good (stroke (den-of tom)))"], r"\(den-of tom\) is of sort place, and cat is needed"),
        (["(cat 'x) -> (dog 'x) -> (hungry 'x)"], "'x is of sort cat elsewhere, and dog is needed here"),
    ],
)
def test_a_wrong_sort_is_refused_with_both_sorts(statements, told):
    with pytest.raises(SortError, match=told):
        kernel(*statements)


def test_a_conclusion_that_needs_a_narrower_sort_names_the_missing_premise():
    with pytest.raises(SortError, match=r"only say animal; add the premise \(cat 'x\)"):
        kernel("(hungry 'x) -> (purrs 'x)")
    with pytest.raises(SortError, match=r"only say animal; add the premise \(cat 'x\)"):
        kernel("(hungry 'x) -> (good (stroke 'x))")
    assert kernel("(hungry 'x) -> (cat 'x) -> (purrs 'x)").entries


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("(hungri tom)", "there is no predicate hungri; is hungry meant"),
        ("(anima tom)", "there is no predicate anima; is animal meant"),
        ("(good (strok tom))", "there is no function strok; is stroke meant"),
        ("(good (zzz tom))", "there is no function zzz$"),
        ("(feed tom den)", "there is no predicate feed$"),
        ("(hungry tom den)", r"hungry takes 1 \(animal\), not 2"),
        ("(good (feed tom))", r"feed takes 2 \(animal, place\), not 1"),
    ],
)
def test_an_unknown_symbol_and_a_wrong_number_of_arguments_are_told_apart(statement, told):
    with pytest.raises(SortError, match=told):
        kernel(statement)


def test_an_object_is_narrowed_by_what_is_said_later_and_stays_narrow():
    made = kernel("(hungry tom)")
    before = made.fork()
    made.add_axiom(parse_statement("(purrs tom)"))
    with pytest.raises(SortError):
        made.add_axiom(parse_statement("(dog tom)"))
    assert before.add_axiom(parse_statement("(dog tom)"))


def test_a_refused_statement_leaves_no_trace():
    made = kernel("(hungry tom)")
    with pytest.raises(SortError):
        made.add_axiom(parse_statement("(purrs rex) -> (lives-in tom red)"))
    assert made.add_axiom(parse_statement("(dog rex)"))


def test_a_constant_keeps_its_sort():
    with pytest.raises(SortError, match="dark is of sort colour"):
        kernel("(dark dark)")


def test_a_universal_fact_is_offered_for_objects_of_its_sort_alone():
    made = kernel("(good (stroke 'x))", "(cat tom)", "(dog rex)", "(likes tom red)")
    assert {str(offer) for offer in made.offers} == {"(good (stroke tom))"}


def test_a_universal_fact_is_offered_for_an_object_that_is_narrowed_later():
    made = kernel("(hungry tom)", "(purrs 'x)")
    assert not made.offers
    made.add_axiom(parse_statement("(cat tom)"))
    assert {str(offer) for offer in made.offers} == {"(purrs tom)"}


def test_a_goal_is_held_to_the_sorts_as_well():
    made = kernel("(cat tom)")
    with pytest.raises(SortError):
        made.mention(parse_literal("(dark tom)"))
    made.mention(parse_literal("(hungry tom)"))


def test_sorts_below_one_another_reach_to_the_top():
    assert ZOO.is_below("cat", "animal")
    assert ZOO.is_below("cat", ANY)
    assert not ZOO.is_below("animal", "cat")
    assert not ZOO.is_below("cat", "dog")


def test_two_signatures_join_unless_they_disagree():
    sea = SortedSignature({"fish": "animal", "animal": ANY}, {"wet": ("fish",)}, {}, {})
    both = joined(ZOO, sea)
    assert both.is_below("fish", "animal")
    assert set(both.predicates) == {*ZOO.predicates, "wet"}
    with pytest.raises(ValueError, match="cat: animal in one theory, fish in the other"):
        joined(ZOO, SortedSignature({"cat": "fish"}, {}, {}, {}))


TERMS = {
    "animal": ["'x", "'y", "tom", "rex"],
    "cat": ["'x", "tom"],
    "place": ["'z", "den", "(den-of 'x)", "(den-of tom)"],
    "plan": ["(feed 'x 'z)", "(stroke 'x)", "(feed tom den)"],
    "colour": ["red", "'c"],
}
EVERY_TERM = [term for terms in TERMS.values() for term in terms]
PREDICATES = {**ZOO.predicates, "animal": ("animal",), "cat": ("cat",), "dog": ("dog",)}


@st.composite
def literals(draw):
    """Mostly well-sorted ones: else next to nothing would be accepted, and nothing offered."""
    predicate, wanted = draw(st.sampled_from(sorted(PREDICATES.items())))
    places = [draw(st.sampled_from(TERMS.get(sort, []) * 4 + EVERY_TERM)) for sort in wanted]
    atom = f"({predicate} {' '.join(places)})"
    return atom if draw(st.integers(0, 4)) else f"(not {atom})"


SOME_FACTS = ("(cat tom)", "(dog rex)", "(hungry tom)", "(lives-in tom den)", "(likes rex red)", "(good (stroke tom))")
facts = literals().map(lambda text: text.replace("'x", "tom").replace("'y", "rex").replace("'z", "den"))
statements = st.one_of(facts, st.lists(literals(), min_size=2, max_size=3).map(" -> ".join))


def sort_of(term, known):
    if isinstance(term, str):
        return ZOO.constants.get(term) or known[term]
    return ZOO.functions[term.function][1]


def is_well_sorted(symbol_sorts, arguments, known):
    """Say so by a way of its own: top down, every place against the sort of what stands there."""
    return all(
        ZOO.is_below(sort_of(term, known), wanted)
        and (isinstance(term, str) or is_well_sorted(ZOO.functions[term.function][0], term.arguments, known))
        for term, wanted in zip(arguments, symbol_sorts, strict=True)
    )


@given(st.lists(statements, min_size=6, max_size=16))
def test_every_offer_of_accepted_statements_is_well_sorted(texts):
    made = Kernel(signature=ZOO, work_limit=3_000)
    for text in (*SOME_FACTS, *texts):
        try:
            made.add_axiom(parse_statement(text))
        except ValueError:
            continue
        except RuntimeError:
            break
    for _ in range(6):
        known = dict(made._sorts)
        for offer in made.offers:
            assert is_well_sorted(PREDICATES[offer.predicate], offer.arguments, known), (texts, str(offer))
        try:
            for offer in list(made.offers)[:10]:
                made.infer(offer)
        except RuntimeError:
            break
