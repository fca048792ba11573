"""What is written under a language's grammar always parses, and what an honest writer writes is never refused."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from critics.errors import InputError
from critics.formats.csp.language import read_csp
from critics.formats.fol.program import read_program
from critics.formats.logic_program.language import read_logic_program
from critics.formats.rules.critic import execute
from critics.logic.programs.sections import Repairs
from critics.problem import Problem
from critics.replay.first_order.syntax import open_names
from rollout.actor_critic.prompt import solved_examples as solved_replies
from rollout.decoding.guide import TextGuide
from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import GuideViolation, Row, TextRow, row_of
from rollout.guides.memory import MemoryGuide
from rollout.programs.grammars.catalogue import GRAMMARS, guide_for
from rollout.programs.prompt import SolvedProgram, solved_examples

pytest.importorskip("llguidance")

MERGED = [
    "is_valid(", "($x", ", bool)\n", " :::", " And(", " = EnumSort([", "])\n", "Predicates:\n", ", B", ",\n", " ∧ ",
    "∀x (",
    "\n\n", ")\n#", "[[", "]]", " == ", "ForAll([", "Options\n",
]  # fmt: skip
"""Tokens of several characters, some of which run past the end of a piece."""
VOCABULARY: list[bytes | None] = [None, *(bytes([byte]) for byte in range(256)), *(t.encode() for t in MERGED)]
EOS = 0
HEADINGS = [
    f"{heading}:\n".encode()
    for heading in ("Facts", "Rules", "Query", "Variables", "Constraints", "Premises", "Conclusion")
] + [b"# Constraints\n", b"# Options\n"]
PROBLEMS = {
    "rules": Problem("r", "mine", "c", "q"),
    "csp": Problem("r", "mine", "c", "q", ("A) 1", "B) 2", "C) 3")),
    "logic-program": Problem("r", "mine", "c", "q", ("A) 1", "B) 2", "C) 3", "D) 4", "E) 5")),
    "fol": Problem("r", "mine", "c", "q"),
}
REPAIRS_WITHOUT_HARM = {"order_of_members", "arithmetic_of_members"}
"""What the reader records of a program in which nothing is mended."""


def parsed_rules(text: str) -> None:
    assert execute(text, Problem("r", "mine", "", ""), None).repairs == []


def parsed_csp(text: str) -> None:
    repairs = Repairs()
    assert len(read_csp(text, repairs).options) == 3
    assert repairs.words() == []


def parsed_logic_program(text: str) -> None:
    repairs = Repairs()
    program = read_logic_program(text, repairs)
    assert len(program.options) == 5
    assert len({option.mode for option in program.options}) == 1
    assert set(repairs.words()) <= REPAIRS_WITHOUT_HARM


def parsed_fol(text: str) -> None:
    program = read_program(text)
    assert program.repairs == ()
    assert open_names(program.formulas()) == ()


PARSERS: dict[str, Callable[[str], None]] = {
    "rules": parsed_rules,
    "csp": parsed_csp,
    "logic-program": parsed_logic_program,
    "fol": parsed_fol,
}


def parses(format_: str, text: str) -> bool:
    """Say whether the critic's reader takes a text."""
    try:
        PARSERS[format_](text)
    except ValueError:
        return False
    return True


def written(format_: str, engine: MaskEngine, seed: int) -> str:
    """Write at random under the masks: logits that change now and then, and a taste for coming to an end."""
    rng = random.Random(seed)
    row, text = TextRow(guide_for(PROBLEMS[format_], format_)), bytearray()
    taste: list[float] = []
    for place in range(30_000):
        if not row.piece and rng.random() < 0.4:
            heading = next((h for h in HEADINGS if row.accepts(h)), None)
            if heading is not None:
                row.push(heading)
                text += heading
                continue
        ids = engine.allowed(row).tolist()
        if place % 7 == 0:
            taste = [rng.random() ** -0.7 for _ in VOCABULARY]
        ending = [i for i in ids if i == EOS or VOCABULARY[i] == b"\n"]
        if ending and rng.random() < 0.3:
            ids = ending
        [chosen] = rng.choices(ids, [taste[i] for i in ids])
        token = VOCABULARY[chosen]
        if token is None:
            return text.decode()
        row.push(token)
        text += token
    raise AssertionError("the text does not end")


@pytest.mark.parametrize("format_", PROBLEMS)
def test_whatever_is_written_under_the_grammar_parses(format_: str):
    engine = MaskEngine(VOCABULARY, [EOS])
    texts = [written(format_, engine, seed) for seed in range(8)]
    assert [text for text in texts if not parses(format_, text)] == []


@pytest.mark.slow
@pytest.mark.parametrize("format_", PROBLEMS)
def test_thousands_of_texts_under_the_grammar_parse(format_: str):
    engine = MaskEngine(VOCABULARY, [EOS])
    texts = [written(format_, engine, seed) for seed in range(1_000, 2_000)]
    assert [text for text in texts if not parses(format_, text)] == []


WRITTEN = [example for example in solved_examples() if example.format in GRAMMARS]


@pytest.mark.parametrize("example", WRITTEN, ids=lambda e: f"{e.problem.dataset}-{e.problem.id}")
def test_every_example_of_the_prompt_can_be_written(example: SolvedProgram):
    row = TextRow(guide_for(example.problem, example.format))
    for line in f"{example.program}\n".splitlines(keepends=True):
        row.push(line.encode())
    assert row.may_end


@pytest.mark.parametrize("tests", [True, False])
def test_every_reply_that_an_actor_is_shown_can_be_written(tests: bool):
    for example in solved_replies():
        row = TextRow(guide_for(example.problem(), "asp"))
        for byte in example.reply(tests=tests).encode():
            row.push(bytes([byte]))
        assert row.may_end
        assert row.grammar is None


def test_whatever_is_written_under_the_grammar_of_asp_is_one_object():
    """At random, with a taste for the signs that end texts and lists."""
    engine, ends = MaskEngine(VOCABULARY, [EOS]), set(b'"]}')
    for seed in range(6):
        rng, row, text = random.Random(seed), TextRow(guide_for(PROBLEMS["fol"], "asp")), bytearray()
        while row.grammar is not None:
            ids = [i for i in engine.allowed(row).tolist() if i != EOS]
            ending = [i for i in ids if VOCABULARY[i] and set(VOCABULARY[i]) <= ends]
            row.push(token := VOCABULARY[rng.choice(ending if ending and rng.random() < 0.5 else ids)])
            text += token
            assert len(text) < 50_000
        data = json.loads(text)
        assert next(iter(data)) == "Model"
        assert set(data) <= {"Model", "Tests", "Query"}


def test_a_mask_is_what_the_row_accepts_token_by_token():
    engine, states = MaskEngine(VOCABULARY, [EOS]), 0
    for format_, problem in PROBLEMS.items():
        rng, row = random.Random(3), TextRow(guide_for(problem, format_))
        for _ in range(80):
            allowed = engine.allowed(row).tolist()
            accepted = {i for i, token in enumerate(VOCABULARY) if token and row.accepts(token)}
            straddling = {i for i in accepted if len(ends_in(row, VOCABULARY[i])) > 1}  # type: ignore[arg-type]
            assert set(allowed) - {EOS} == accepted - straddling
            assert (EOS in allowed) == row.may_end
            states += 1
            if not (accepted - straddling):
                break
            row.push(VOCABULARY[rng.choice(sorted(accepted - straddling))])  # type: ignore[arg-type]
    assert states > 250


def ends_in(row: TextRow, token: bytes) -> list[bytes]:
    """Return the pieces that a token writes parts of."""
    parts, probe = [b""], row
    for byte in token:
        after = probe.after(bytes([byte]))
        assert after is not None
        parts[-1] += bytes([byte])
        if not after.piece:
            parts.append(b"")
        probe = after
    return [part for part in parts if part]


@pytest.mark.parametrize(
    ("format_", "before", "refused", "accepted"),
    [
        ("logic-program", "# Declarations\nmen = EnumSort([Al,", " Al]", " Bo]"),
        ("logic-program", "# Declarations\nmen = EnumSort([Al])\n", "men =", "women ="),
        ("logic-program", "# Declarations\n", "is_valid =", "isvalid ="),
        ("logic-program", "# Declarations\nmen = EnumSort([Al])\n", "f = Function([women]", "f = Function([men]"),
        ("rules", "Predicates:\nCat($x, bool)\n", "Cats($x,", "Dog($x,"),
        ("rules", "Predicates:\nCat($x, bool)\nFacts:\n", "Cat(True,", "Cat(Tom,"),
        ("rules", "Predicates:\nCat($x, bool)\nFacts:\n", "Rules:", "Cat(Tom, True)"),
        ("csp", "Domain:\n1: old\nVariables:\n", "sum [IN]", "bus [IN]"),
        ("csp", "Domain:\n1: old\nVariables:\nbus [IN] [1, 2]\nConstraints:\n", "van == 1", "bus == 1"),
        ("fol", "Predicates:\nCat(x)\nPremises:\n", "Cat(x)", "Cat(tom)"),
        ("fol", "Predicates:\nCat(x)\nPremises:\n", "Cat(tom, max)", "∃x Cat(x)"),
        ("fol", "Predicates:\n", "Some(x)", "Something(x)"),
    ],
)
def test_what_is_refused_depends_on_what_was_declared(format_: str, before: str, refused: str, accepted: str):
    row = TextRow(guide_for(PROBLEMS[format_], format_))
    for line in before.splitlines(keepends=True):
        row.push(line.encode())
    assert not row.accepts(refused.encode())
    assert row.accepts(accepted.encode())


def test_formulas_are_held_to_the_types_that_were_declared():
    declared = "men = EnumSort([Al, Bo])\ndays = EnumSort([1, 2])\nbirds = EnumSort([owl, jay])\n"
    functions = (
        "works = Function([men] -> [days])\nkeeps = Function([men] -> [birds])\nold = Function([men] -> [bool])\n"
    )
    row = TextRow(guide_for(PROBLEMS["logic-program"], "logic-program"))
    for line in f"# Declarations\n{declared}{functions}# Constraints\n".splitlines(keepends=True):
        row.push(line.encode())
    for good in (
        "works(Al) == 1", "keeps(Al) != jay", "And(old(Al), Not(old(Bo)))", "Count([m:men], keeps(m) == owl) == 1",
        "ForAll([m:men], Implies(old(m), works(m) < 2))", "Distinct([m:men], works(m))", "old(Al) == old(Bo)",
        "Exists([m:men, m2:men], works(m) + 1 == works(m2))", "ForAll([m:men], Exists([b:birds], keeps(m) == b))",
    ):  # fmt: skip
        assert row.accepts(f"{good}\n".encode()), good
    for bad in (
        "works(Al) == jay", "keeps(1) == jay", "keeps(Al) == Al", "old(Al, Bo)", "works(Al)", "old(m)", "jay == 1",
        "ForAll([m:men], old(m2))", "ForAll([Al:men], old(Al))", "ForAll([m:cats], old(m))", "is_valid(old(Al))",
        "Distinct([m:men], old(m))", "Count([m:men], works(m)) == 1", "keeps(Cy) == jay",
    ):  # fmt: skip
        assert not row.accepts(f"{bad}\n".encode()), bad


def test_a_text_that_is_over_goes_on_with_nothing():
    row = TextRow(guide_for(PROBLEMS["fol"], "fol"))
    for line in ("Predicates:\n", "Cat(x)\n", "Premises:\n", "Cat(tom)\n", "Conclusion:\n"):
        assert not row.may_end
        row.push(line.encode())
    row.push(b"Cat(tom)\n")
    assert row.may_end
    assert MaskEngine(VOCABULARY, [EOS]).allowed(row).tolist() == [EOS]
    with pytest.raises(GuideViolation):
        row.push(b"C")


def test_a_probe_teaches_the_guide_nothing():
    guide = guide_for(PROBLEMS["fol"], "fol")
    row = TextRow(guide)
    assert row.accepts(b"Predicates:\nCat(x)\nPremises:\nCat(tom)\n")
    assert guide.key == guide_for(PROBLEMS["fol"], "fol").key
    assert not row.accepts(b"Cat(x)\n")


def test_other_guides_keep_their_rows_and_masks():
    engine = MaskEngine(VOCABULARY, [EOS])
    row: Any = row_of(MemoryGuide())
    assert type(row) is Row
    assert EOS in engine.allowed(row)
    assert isinstance(row_of(guide_for(PROBLEMS["csp"], "csp")), TextRow)
    assert engine.forced(TextRow(TextGuide(guide_for(PROBLEMS["csp"], "csp").language))) == []


def test_a_format_without_a_grammar_is_named():
    with pytest.raises(InputError, match="'z3-python' programs have no grammar"):
        guide_for(PROBLEMS["fol"], "z3-python")
