from critics.problem import Problem
from critics.replay.formula import parse_literal, parse_statement
from critics.text.blocks import split_blocks
from rollout.guides.logic import LogicGuide


def accepts(guide: LogicGuide, block: str) -> bool:
    automaton = guide.allowed()
    state = automaton.start
    for byte in block.encode():
        if automaton.done(state):
            return False
        state = automaton.step(state, byte)
        if state is None:
            return False
    return automaton.done(state)


def after(*blocks: str) -> LogicGuide:
    guide = LogicGuide()
    for block in blocks:
        guide.close(block.encode())
    return guide


def test_the_six_actions_are_allowed_and_nothing_else():
    guide = LogicGuide()
    for block in (
        "object:tom]]",
        "prop:cold-blooded]]",
        "relation:visits]]",
        "goal:(not (cat tom))]]",
        "infer:nothing]]",
    ):
        assert accepts(guide, block), block
    for block in ("axiom:(cat tom)]]", "axiom:(cat 'x) -> (not (dog 'x))]]", "axiom:(a tom) -> (b 'y tom) -> (c 'y)]]"):
        assert accepts(guide, block), block
    for block in (
        "var:x]]",
        "goal:(cat 'x)]]",
        "axiom:(cat 'x)]]",
        "axiom: (cat tom)]]",
        "axiom:(not (not (a b)))]]",
        "prop:]]",
    ):
        assert not accepts(guide, block), block


def test_a_typed_theory_has_its_own_names_with_as_many_arguments_as_they_take():
    context = "1- Ursula is the organizer of an event, the budget review."
    guide = LogicGuide.for_problem(Problem("p", "deontiqa", context, "Is it obligatory to cancel the budget review?"))
    for content in (
        "(organizer budget-review ursula)",
        "(organizer 'e 'p) -> (not (obligatory (change-visibility 'e private)))",
        "(obligatory (set-reminder (days-before ursula budget-review)))",
        "(person ursula)",
    ):
        assert accepts(guide, f"axiom:{content}]]"), content
    for content in (
        "(organiser budget-review ursula)",
        "(is-organizer budget-review ursula)",
        "(organizer budget-review)",
        "(obligatory budget-review)",
        "(obligatory (change-visibility budget-review hidden))",
        "(red ursula)",
    ):
        assert not accepts(guide, f"axiom:{content}]]"), content
    triage = LogicGuide.for_problem(Problem("p", "deontiqa", "The patient is in the clinic.", "Is it so?"))
    assert accepts(triage, "axiom:(red ursula)]]")


def test_what_changes_nothing_is_said():
    guide = LogicGuide.for_problem(Problem("p", "deontiqa", "There is one event, the review.", "Is it so?"))
    for block in (b"axiom:(organizer review ursula)", b"axiom:(busy review ursula)", b"axiom:(person ursula)"):
        guide.close(block)
    [dropped] = guide.clone().dropped
    assert dropped.startswith("(busy review ursula): ")
    assert "person" in dropped
    assert after("axiom:(a b)", "axiom:(a b c)").dropped


def test_what_the_grammar_allows_can_be_parsed():
    for content in ("(cat tom)", "(a 'x) -> (b 'x)", "(not (sees tom rex))", "(a tom) -> (not (b tom 'y)) -> (c 'y)"):
        assert accepts(LogicGuide(), f"axiom:{content}]]")
        parse_statement(content)


def test_inferences_are_what_follows_and_is_not_known():
    guide = after("axiom:(cat 'x) -> (warm 'x)", "axiom:(warm 'x) -> (kind 'x)", "axiom:(cat tom)")
    assert accepts(guide, "infer:(warm tom)]]")
    assert not accepts(guide, "infer:(kind tom)]]")
    assert not accepts(guide, "infer:nothing]]")
    guide.close(b"infer:(warm tom)")
    assert accepts(guide, "infer:(kind tom)]]")
    assert not accepts(guide, "infer:(warm tom)]]")
    guide.close(b"infer:(kind tom)")
    assert accepts(guide, "infer:nothing]]")


def test_the_goal_is_followed():
    guide = after("axiom:(cat 'x) -> (not (dog 'x))", "axiom:(cat tom)", "goal:(dog tom)")
    assert guide.goal_status == "open"
    guide.close(b"infer:(not (dog tom))")
    assert guide.goal_status == "disproved"


def test_a_clone_goes_its_own_way():
    guide = after("axiom:(cat 'x) -> (warm 'x)", "axiom:(cat tom)")
    copy = guide.clone()
    copy.close(b"infer:(warm tom)")
    assert accepts(guide, "infer:(warm tom)]]")
    assert not accepts(copy, "infer:(warm tom)]]")


def test_a_meaningless_block_changes_nothing():
    guide = after("axiom:(cat 'x) -> (warm 'x)", "axiom:(cat tom)")
    key = guide.key
    guide.close(b"axiom:(cat tom rex)")
    guide.close(b"infer:(cold tom)")
    assert guide.key == key


def test_equal_offers_share_a_key():
    assert after("axiom:(a tom)").key == after("axiom:(b rex)").key
    assert after("axiom:(a 'x) -> (b 'x)", "axiom:(a tom)").key != after("axiom:(a tom)").key


def test_blocks_of_a_text_are_found_in_order():
    blocks = split_blocks("x [[axiom:(a b)]] y [[infer:(c d)]]")
    assert [(b.action, b.content) for b in blocks] == [("axiom", "(a b)"), ("infer", "(c d)")]
    assert str(parse_literal(blocks[1].content)) == "(c d)"
