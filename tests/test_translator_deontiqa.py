import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critics.replay.formula import Application, Literal, Rule
from critics.text.theories import scheduling
from critics.text.theories.deontic import AXIOMS, MODALITIES
from critics.text.theories.scheduling import SIGNATURE
from critics.text.theories.scheduling_english import VARIABLES, question, sentence
from critics.text.translators.deontiqa import translate
from critics.text.translators.translation import TranslationError
from rollout.problems.deontiqa import DeontiQA, generate
from tools.deontiqa.convert import load_deontiqa

ASKED = "Given these rules, is it obligatory to cancel the kickoff?"
SORTS = {"anna": "person", "bo": "person", "design": "group", "kickoff": "event", "budget-review": "event"}
NAMES = {sort: [name for name, its in SORTS.items() if its == sort] for sort in ("person", "group", "event")}


def first(text: str, asked: str = ASKED) -> str:
    return translate(text, asked).axioms[0]


@pytest.mark.parametrize(
    ("text", "axiom"),
    [
        ("One of the people is Anna.", "(person anna)"),
        ("One of the groups is the Design group.", "(group design)"),
        ("One of the events is the budget review.", "(event budget-review)"),
        ("The budget review is not a meeting.", "(not (meeting budget-review))"),
        ("The kickoff is of high priority for Anna.", "(high anna kickoff)"),
        ("The Design group is taking part in the kickoff.", "(group-participant kickoff design)"),
        ("Anna is taking part in the kickoff.", None),
        ("It is obligatory to cancel the kickoff.", "(obligatory (cancel-event kickoff))"),
        (
            "It is not permissible to update the kickoff to be a conference.",
            "(not (permissible (update-event kickoff conference)))",
        ),
        (
            "If an event is short and a person is not busy during the event, then it is permissible to set a reminder "
            "for the person some days before the event.",
            "(short 'e) -> (not (busy 'p 'e)) -> (permissible (set-reminder (days-before 'p 'e)))",
        ),
        (
            "If an event is long, then it is obligatory to add any group to the event.",
            "(long 'e) -> (group 'g) -> (obligatory (add-participant 'e 'g))",
        ),
        (
            "If it is obligatory to cancel an event, then it is obligatory to send a notification about the invite of "
            "any person to the event.",
            "(obligatory (cancel-event 'e)) -> (person 'p) -> "
            "(obligatory (send-notification (individual-invite 'p 'e)))",
        ),
        ("If the kickoff is short, then Anna is free during the kickoff.", "(short kickoff) -> (free anna kickoff)"),
    ],
)
def test_a_sentence_is_one_statement(text, axiom):
    if axiom is None:
        with pytest.raises(TranslationError):
            first(text)
    else:
        assert first(text) == axiom


def test_the_rules_that_nobody_states_come_last_and_the_question_is_the_goal():
    formal = translate("1- The kickoff is short. 2- Anna is free during the kickoff.", ASKED)
    assert formal.axioms == ("(short kickoff)", "(free anna kickoff)", *AXIOMS)
    assert formal.goal == "(obligatory (cancel-event kickoff))"
    denied = translate("The kickoff is short.", "Is it not impermissible to delegate the kickoff to Anna?")
    assert denied.goal == "(not (impermissible (delegate-event kickoff anna)))"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("The kickoff is short", "full stop"),
        ("The kickoff is short!", "full stop"),
        ("The kickoff is very short.", "0 ways"),
        ("The kickoff is short and long.", "0 ways"),
        ("The kickoff is not not short.", "0 ways"),
        ("Every kickoff is short.", "0 ways"),
        ("An event is short.", "0 ways"),
        ("The event is short.", "must name"),
        ("It is not obligatory to cancel any event.", "must name"),
        ("If a person is busy during the event, then the event is short.", "must be 'an event'"),
        ("If an event is short, then the person is busy during the event.", "must be 'any person'"),
        ("If an event is short, then a person is busy during the event.", "must be 'any person'"),
        ("If an event is short and an event is long, then the event is public.", "must be 'the event'"),
        ("If an event is short, then an event is long.", "must be 'the event'"),
        ("If one of the events is an event, then the event is long.", "can be no condition"),
        ("If the kickoff is short then the kickoff is long.", "0 ways"),
        ("If the kickoff is short, the kickoff is long.", "only words"),
        ("The kickoff is short, then long.", "only words"),
        ("It is obligatory to cancel Anna.", "0 ways"),
        ("It is obligatory to delegate the kickoff to the Design group.", "0 ways"),
        ("It is obligatory to reschedule the kickoff to be long again.", "0 ways"),
        ("The kickoff of the year is short.", "0 ways"),
        ("The kick\N{CYRILLIC SMALL LETTER O}ff is short.", "only words"),
        ("The every day kickoff is short.", "0 ways"),
        ("The person is a meeting.", "0 ways"),
    ],
)
def test_what_is_not_in_this_english_is_refused(text, told):
    with pytest.raises(TranslationError, match=told):
        first(text)


@pytest.mark.parametrize(
    "text",
    [
        "Anna is busy during the kickoff. The Anna group is taking part in the kickoff.",
        "Anna is busy during the kickoff. It is obligatory to add the Anna group to the kickoff.",
        "Kickoff is busy during the kickoff.",
        "The public is short.",
        "One of the people is Given. The Given group is taking part in the kickoff.",
    ],
)
def test_a_name_names_one_thing(text):
    with pytest.raises(TranslationError):
        first(text)


@pytest.mark.parametrize(
    "asked",
    [
        "Is the kickoff short?",
        "Is it short?",
        "Is it obligatory to cancel the kickoff",
        "Is it obligatory to cancel the event?",
        "Given the rules, is it obligatory to cancel the kickoff?",
        "Given these rules, is it obligatory to cancel the kickoff or not?",
        "Is it one of the people?",
    ],
)
def test_a_question_asks_for_a_modality_of_a_named_action(asked):
    with pytest.raises(TranslationError):
        first("The kickoff is short.", asked)


def test_the_published_stories_are_refused(shared: Path):
    for problem in load_deontiqa(shared / "data" / "deontiqa.jsonl.gz"):
        with pytest.raises(TranslationError):
            translate(problem.context, problem.question)


@st.composite
def terms(draw, sort, variables=False):
    if sort == "entity":
        sort = draw(st.sampled_from(["person", "group"]))
    if sort == "property":
        return draw(st.sampled_from(scheduling.PROPERTIES))
    if sort in NAMES:
        return draw(st.sampled_from([*NAMES[sort], VARIABLES[sort]] if variables else NAMES[sort]))
    name, wanted = draw(st.sampled_from([(n, w) for n, (w, result) in SIGNATURE.functions.items() if result == sort]))
    return Application(name, tuple(draw(terms(its, variables)) for its in wanted))


@st.composite
def literals(draw, variables=False):
    name, wanted = draw(st.sampled_from(sorted(SIGNATURE.predicates.items())))
    return Literal(draw(st.booleans()), name, tuple(draw(terms(sort, variables)) for sort in wanted))


def sorted_variables(term, sort):
    """Return the variables whose sort is told by where they stand: an entity may be a person or a group."""
    if isinstance(term, Application):
        inner = zip(term.arguments, SIGNATURE.functions[term.function][0], strict=True)
        return {v for argument, its in inner for v in sorted_variables(argument, its)}
    return {term} & set(VARIABLES.values()) if sort != "entity" else set()


@st.composite
def rules(draw):
    premises = draw(st.lists(literals(variables=True), min_size=1, max_size=3))
    conclusion = draw(literals(variables=True))
    told = {
        v
        for premise in premises
        for argument, sort in zip(premise.arguments, SIGNATURE.predicates[premise.predicate], strict=True)
        for v in sorted_variables(argument, sort)
    }
    unbound = [v for v in dict.fromkeys(conclusion.variables()) if v not in told]
    sorts = {variable: sort for sort, variable in VARIABLES.items()}
    return Rule((*premises, *(Literal(True, sorts[v], (v,)) for v in unbound)), conclusion)


def unordered(axiom: str) -> tuple[frozenset[str], str]:
    *premises, conclusion = axiom.split(" -> ")
    return frozenset(premises), conclusion


@given(st.one_of(literals(), rules()))
def test_every_statement_comes_back_from_its_sentence(statement):
    assert unordered(first(sentence(statement, SORTS))) == unordered(str(statement))


@given(terms("action"), st.sampled_from(sorted(MODALITIES)), st.booleans())
def test_every_goal_comes_back_from_its_question(action, modality, positive):
    goal = Literal(positive, modality, (action,))
    assert translate("The kickoff is short.", question(goal, SORTS)).goal == str(goal)


@given(st.lists(st.one_of(literals(), rules()), min_size=2, max_size=8, unique=True))
def test_two_statements_never_share_a_sentence(statements):
    assert len({sentence(statement, SORTS) for statement in statements}) == len(statements)


def test_a_generated_context_says_nothing_else_when_a_word_is_changed():
    """Whatever word is dropped: the text is refused, or means something else, unless it is the same text."""
    problem = next(generate(DeontiQA(), 1, seed=11))
    words = problem.context.split(" ")
    for at, word in enumerate(words):
        changed = " ".join([*words[:at], *words[at + 1 :]])
        try:
            assert translate(changed, problem.question) != problem.formal, word
        except TranslationError:
            continue
    assert re.fullmatch(r"[A-Za-z ,.]+", problem.context)
