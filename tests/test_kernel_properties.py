"""Whatever theory and whatever order of events: the kernel offers what a naive search finds, and takes back exactly."""

import copy
import itertools
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import critics.replay.formula
from critics.replay.formula import (
    MAX_FUNCTION_ARITY,
    MAX_NAME_LENGTH,
    MAX_PREMISES,
    MAX_TERM_DEPTH,
    MAX_TERM_SIZE,
    Application,
    FormulaError,
    Literal,
    Rule,
    Statement,
    Term,
    canonical_statement,
    is_within_bounds,
    parse_literal,
    parse_name,
    parse_statement,
)
from critics.replay.kernel import ArityError, Inference, Kernel, WorkLimitExceeded
from critics.replay.sorts import SortedSignature, SortError

_Error = TypeVar("_Error", bound=Exception)
quick = settings(deadline=None, derandomize=True, database=None, max_examples=50)
OBJECTS = ("a", "b", "p")
"""`p` is an object, a predicate and a function: three namespaces."""
VARIABLES = ("'x", "'y", "'z")
PREDICATES = {"p": 1, "q": 1, "r": 2}
FUNCTIONS = {"f": 1, "p": 2}
SYMBOLS = 12
"""Of the terms of these tests: small enough that conclusions outgrow them."""


def terms(leaves: tuple[str, ...], depth: int) -> st.SearchStrategy[Term]:
    leaf: st.SearchStrategy[Term] = st.sampled_from(leaves)
    if depth == 0:
        return leaf
    deeper = terms(leaves, depth - 1)
    built = [
        st.tuples(*[deeper] * num).map(lambda arguments, name=name: Application(name, arguments))
        for name, num in FUNCTIONS.items()
    ]
    return st.one_of(leaf, leaf, leaf, *built)


def literals(leaves: tuple[str, ...], depth: int) -> st.SearchStrategy[Literal]:
    def of(predicate: str) -> st.SearchStrategy[Literal]:
        arguments = st.tuples(*[terms(leaves, depth)] * PREDICATES[predicate])
        return st.builds(Literal, st.sampled_from([True, True, True, False]), st.just(predicate), arguments)

    return st.sampled_from(sorted(PREDICATES)).flatmap(of)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """A rule of one to three premises; variables repeat, objects and nested terms stand among them."""
    premises = tuple(draw(st.lists(literals((*VARIABLES, "a"), 2), min_size=1, max_size=3)))
    bound = tuple(dict.fromkeys(v for premise in premises for v in premise.variables()))
    return Rule(premises, draw(literals((*bound, "a"), 2)))


facts = literals(OBJECTS, 3)
universal_facts = literals((*VARIABLES[:2], "a"), 1).filter(lambda x: x.variables() != ()).map(lambda x: Rule((), x))
statements = st.one_of(facts, facts, rules(), universal_facts)


@dataclass(frozen=True)
class Naive:
    """What was stated, inferred and mentioned; everything else is found out anew each time."""

    statements: tuple[Statement, ...] = ()
    mentioned: tuple[Literal, ...] = ()

    def known(self) -> set[Literal]:
        return {s for s in self.statements if isinstance(s, Literal)}

    def conclusions(self) -> Iterator[Literal]:
        """Every conclusion of one rule application, whatever its size, also what is known."""
        for rule in self.statements:
            if isinstance(rule, Rule):
                bindings: list[dict[str, Term]] = [{}]
                for premise in rule.premises:
                    bindings = [b for old in bindings for fact in self.known() for b in matched(premise, fact, old)]
                if not rule.premises:
                    names = sorted(set(rule.conclusion.variables()))
                    values = itertools.product(self.ground_terms(), repeat=len(names))
                    bindings = [dict(zip(names, chosen, strict=True)) for chosen in values]
                for binding in bindings:
                    yield filled(rule.conclusion, binding)

    def ground_terms(self) -> set[Term]:
        parts = [s for s in self.statements if isinstance(s, Literal)] + list(self.mentioned)
        parts += [part for s in self.statements if isinstance(s, Rule) for part in (*s.premises, s.conclusion)]
        return {t for part in parts for argument in part.arguments for t in within(argument) if "'" not in str(t)}


def within(term: Term) -> Iterator[Term]:
    yield term
    if isinstance(term, Application):
        for argument in term.arguments:
            yield from within(argument)


def filled(literal: Literal, binding: dict[str, Term]) -> Literal:
    def of(term: Term) -> Term:
        if isinstance(term, Application):
            return Application(term.function, tuple(of(argument) for argument in term.arguments))
        return binding.get(term, term)

    return Literal(literal.positive, literal.predicate, tuple(of(argument) for argument in literal.arguments))


def matched(premise: Literal, fact: Literal, binding: dict[str, Term]) -> list[dict[str, Term]]:
    """Guess the binding from where the variables stand, then read the premise under it."""
    guess = dict(binding)
    pairs = list(zip(premise.arguments, fact.arguments, strict=False))
    while pairs:
        wanted, given = pairs.pop()
        if isinstance(wanted, Application) and isinstance(given, Application):
            pairs += zip(wanted.arguments, given.arguments, strict=False)
        elif isinstance(wanted, str) and wanted.startswith("'"):
            guess.setdefault(wanted, given)
    return [guess] if filled(premise, guess) == fact else []


def fits(literal: Literal, symbols: int = SYMBOLS, depth: int = 3) -> bool:
    def deep(term: Term) -> int:
        return 1 + max(map(deep, term.arguments)) if isinstance(term, Application) else 0

    return all(len(list(within(t))) <= symbols and deep(t) <= depth for t in literal.arguments)


def assert_agrees(kernel: Kernel, naive: Naive) -> None:
    found = set(naive.conclusions())
    assert set(kernel.known) == naive.known()
    assert set(kernel.offers) == {c for c in found if fits(c)} - naive.known()
    assert kernel.truncated == any(not fits(c) for c in found)
    for conclusion, (index, premises) in kernel.offers.items():
        rule = kernel.entries[index].statement
        assert isinstance(rule, Rule)
        used = [kernel.entries[i].statement for i in premises]
        assert len(used) == len(rule.premises)
        binding: dict[str, Term] = {}
        for premise, fact in zip(rule.premises, used, strict=True):
            assert isinstance(fact, Literal)
            (binding,) = matched(premise, fact, binding)
        given = matched(rule.conclusion, conclusion, binding)
        assert [filled(rule.conclusion, b) for b in given] == [conclusion]


def state(kernel: Kernel) -> dict[str, Any]:
    """Everything that a kernel holds, apart from its budget, which is never given back."""
    held = {name: copy.deepcopy(value) for name, value in vars(kernel).items() if name != "_work_left"}
    return held | {"order of objects": list(held["_objects"])}


def raised(kind: type[_Error] | tuple[type[_Error], ...], call: Callable[[Any], Any], argument: Any) -> _Error | None:
    """Return the error of the given kind that a call raises, or None."""
    try:
        call(argument)
    except kind as error:
        return error
    return None


@pytest.fixture
def small_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(critics.replay.formula, "MAX_TERM_SIZE", SYMBOLS)
    monkeypatch.setattr(critics.replay.formula, "MAX_TERM_DEPTH", 3)


events = st.one_of(
    st.tuples(st.just("add"), statements),
    st.tuples(st.just("add"), statements),
    st.tuples(st.just("infer"), st.integers(0, 99)),
    st.tuples(st.just("infer"), st.integers(0, 99)),
    st.tuples(st.just("mention"), facts),
    st.tuples(st.just("fork"), st.none()),
)


@pytest.mark.usefixtures("small_terms")
@settings(quick, max_examples=100)
@given(st.lists(events, min_size=6, max_size=16))
def test_offers_equal_a_naive_search_after_any_events(happened: list[tuple[str, Any]]):
    kernel, naive = Kernel(), Naive()
    for kind, what in happened:
        if kind == "add":
            kernel.add_axiom(what)
            naive = replace(naive, statements=(*naive.statements, what))
        elif kind == "infer" and kernel.offers:
            chosen = sorted(kernel.offers, key=str)[what % len(kernel.offers)]
            kernel.infer(chosen)
            naive = replace(naive, statements=(*naive.statements, chosen))
        elif kind == "mention":
            kernel.mention(what)
            naive = replace(naive, mentioned=(*naive.mentioned, what))
        elif kind == "fork":
            before = state(kernel)
            kernel = kernel.fork()
            assert state(kernel) == before
        assert_agrees(kernel, naive)


@quick
@given(st.lists(statements, min_size=1, max_size=6), st.lists(statements, max_size=4), st.data())
def test_what_happens_to_a_fork_does_not_happen_to_its_origin(given_: list[Any], more: list[Any], data: st.DataObject):
    kernel = Kernel()
    for statement in given_:
        kernel.add_axiom(statement)
    fork, before = kernel.fork(), state(kernel)
    for statement in more:
        fork.add_axiom(statement)
        if fork.offers:
            fork.infer(data.draw(st.sampled_from(sorted(fork.offers, key=str))))
    fork.mention(Literal(True, "q", ("zed",)))
    assert state(kernel) == before
    changed = state(fork)
    kernel.mention(Literal(True, "q", ("zoe",)))
    assert state(fork) == changed


@quick
@given(st.lists(statements, max_size=6), st.randoms())
def test_the_order_of_axioms_changes_no_offer(added: list[Statement], rng: Any):
    shuffled = list(added)
    rng.shuffle(shuffled)
    kernels = Kernel(), Kernel()
    for kernel, order in zip(kernels, (added, shuffled), strict=True):
        for statement in order:
            kernel.add_axiom(statement)
    assert set(kernels[0].offers) == set(kernels[1].offers)
    assert kernels[0].truncated == kernels[1].truncated


@quick
@given(st.lists(statements, min_size=2, max_size=7))
def test_an_axiom_refused_for_its_arity_changes_nothing(added: list[Statement]):
    kernel = Kernel()
    for statement in added:
        kernel.add_axiom(statement)
    before = state(kernel)
    clashes = [("(p a a)", "predicate p"), ("(q 'x 'x)", "predicate q"), ("(new (f a a))", "function f")]
    clashes += [("(new (p a))", "function p"), ("(q 'x) -> (new (f (f 'x 'x)))", "function f")]
    used = {symbol for statement in added for symbol in symbols(statement)}
    for text, symbol in clashes:
        if symbol in used:
            with pytest.raises(ArityError):
                kernel.add_axiom(parse_statement(text))
            assert state(kernel) == before


def symbols(statement: Statement) -> set[str]:
    parts = [statement] if isinstance(statement, Literal) else [*statement.premises, statement.conclusion]
    applied = [t for part in parts for a in part.arguments for t in within(a) if isinstance(t, Application)]
    return {f"predicate {part.predicate}" for part in parts} | {f"function {t.function}" for t in applied}


@quick
@given(st.one_of(statements, terms(VARIABLES + OBJECTS, 3).map(lambda t: Rule((), Literal(True, "q", (t, "'x"))))))
def test_what_is_printed_reads_as_it_was(statement: Statement):
    assert parse_statement(str(statement)) == statement


def test_a_term_is_as_large_and_as_deep_as_the_language_allows():
    deep: Term = "a"
    for _ in range(MAX_TERM_DEPTH):
        deep = Application("f", (deep,))
    assert is_within_bounds(deep)
    assert not is_within_bounds(Application("f", (deep,)))
    block = Application("f", ("a",) * 63)
    wide = Application("f", (block,) * 15 + ("a",) * 63)
    assert len(list(within(wide))) == MAX_TERM_SIZE
    assert is_within_bounds(wide)
    assert not is_within_bounds(Application("f", (*wide.arguments, "a")))
    shared: Term = "a"
    for _ in range(200):
        shared = Application("f", (shared, shared))
    assert not is_within_bounds(shared)


WORDS = ["(", "(", ")", ")", "->", "'x", "'y", "'xy", "'", "not", "nothing", "p", "q", "f", "a", "b-c", "b-", "7", "_"]
WORDS += ["(p a)", "(p 'x)", "(f a)", "(not (q a))", "(r 'x (f 'y))", "\u00a0", "\n", "é", "ſ", ":", "]]", "A" * 51]
texts = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=14).map("".join),
    statements.map(str),
)


@settings(quick, max_examples=200)
@given(texts)
def test_any_text_is_a_statement_or_a_formula_error(text: str):
    for read in (parse_statement, parse_literal, parse_name):
        error = raised(FormulaError, read, text)
        if error is None:
            assert read(str(read(text))) == read(text)
        else:
            assert error.reason.isidentifier()
            assert len(str(error)) < 300


ENTITIES = SortedSignature({"person": "entity"}, {"p": ("person",), "r": ("entity", "person")}, {}, {"a": "person"})


@settings(quick, max_examples=200)
@given(st.lists(texts, max_size=4), st.sampled_from([None, ENTITIES]))
def test_a_kernel_raises_what_it_says_and_nothing_else(given_: list[str], signature: SortedSignature | None):
    kernel = Kernel(work_limit=200, signature=signature)
    errors = (ArityError, SortError, WorkLimitExceeded)
    for text in given_:
        if raised(FormulaError, parse_statement, text):
            continue
        statement, before = parse_statement(text), state(kernel)
        error = raised(errors, kernel.add_axiom, statement)
        assert error is None or isinstance(error, WorkLimitExceeded) or state(kernel) == before
        assert signature is not None or not isinstance(error, SortError)
        if isinstance(statement, Literal) and statement not in kernel.offers:
            assert raised(KeyError, kernel.infer, statement)
    for offer in list(kernel.offers):
        if not raised(WorkLimitExceeded, kernel.infer, offer):
            assert isinstance(kernel.entries[-1], Inference)


def nested(term: Term) -> Any:
    return (term.function, *map(nested, term.arguments)) if isinstance(term, Application) else term


def as_nested(statement: Statement) -> list[Any]:
    parts = [statement] if isinstance(statement, Literal) else [*statement.premises, statement.conclusion]
    return [(part.positive, (part.predicate, *map(nested, part.arguments))) for part in parts]


NO_SYMBOLS = frozenset({"->", "not", "nothing"})
TOKEN = re.compile(r"\(|\)|->|'[a-z](?![a-zA-Z0-9_-])|[a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)*")


def read_rule(text: str) -> list[tuple[bool, Any]]:
    """Read `P -> .. -> Q` as its atoms, the conclusion last; a fact, also a universal one, is a list of one."""
    tokens = deque(TOKEN.findall(text))
    if sum(map(len, tokens)) != len(text) - sum(map(text.count, " \t\r\n")):
        # Something that is neither token nor blank was passed over.
        raise ValueError(text)
    atoms = [take_atom(tokens)]
    while tokens:
        if tokens.popleft() != "->":
            raise ValueError(text)
        atoms.append(take_atom(tokens))
    return atoms


def take_atom(tokens: deque[str], sign: bool = True) -> tuple[bool, Any]:
    """Take one atom off the front; raises `IndexError` where the tokens run out."""
    num_before = len(tokens)
    if tokens.popleft() != "(":
        raise ValueError("expected (")
    if sign and tokens[0] == "not" and tokens[1] == "(":
        tokens.popleft()
        _, negated = take_atom(tokens, False)
        if tokens.popleft() != ")":
            raise ValueError("expected )")
        return False, negated
    terms = take_terms(tokens, 0)
    if not 2 <= len(terms) <= 3 or num_before - len(tokens) > 6_200:
        raise ValueError(f"not an atom: {terms}")
    return sign, terms


def take_terms(tokens: deque[str], depth: int) -> tuple[Any, ...]:
    """Take a symbol and its arguments, up to the closing parenthesis; only arguments may be applications."""
    if depth > 20:
        raise ValueError("nested too deeply")
    symbol = tokens.popleft()
    if symbol in NO_SYMBOLS or symbol[0] in "'()":
        raise ValueError(f"{symbol} cannot name anything")
    terms: list[Any] = [symbol]
    while (token := tokens.popleft()) != ")":
        if token in NO_SYMBOLS:
            raise ValueError(f"{token} cannot stand here")
        terms.append(take_terms(tokens, depth + 1) if token == "(" else token)
    if len(terms) < 2:
        raise ValueError("a symbol without arguments")
    return tuple(terms)


def naive_reading(text: str) -> list[Any] | None:
    """Return what a reader of tokens makes of a text; None where it refuses."""
    try:
        return read_rule(text)
    except (ValueError, IndexError):
        return None


HARMLESS = {"too_many_premises", "unbound_head_var", "depth", "arity", "name"}
"""Why the reader refuses what the naive one accepts: bounds on cost, and rules that would derive everything."""


@settings(quick, max_examples=200)
@given(texts)
def test_both_readers_read_the_same(text: str):
    reading = naive_reading(text)
    error = raised(FormulaError, parse_statement, text)
    if error is None:
        assert reading == as_nested(parse_statement(text))
    else:
        assert reading is None or why_laxer(text, error) in HARMLESS


def why_laxer(text: str, error: FormulaError) -> str:
    """Return the reason of a refusal that the checker does not share, more exactly than `syntax` and `arity` say."""
    if error.reason == "syntax" and any(len(word) > MAX_NAME_LENGTH for word in text.split()):
        return "name"
    if error.reason == "arity":
        wide = any(len(term) > 1 + MAX_FUNCTION_ARITY for atom in read_rule(text) for term in parts_of(atom[1]))
        return "arity" if wide else "a predicate's arity"
    return error.reason


def parts_of(term: Any) -> Iterator[tuple[Any, ...]]:
    if isinstance(term, tuple):
        yield term
        for part in term:
            yield from parts_of(part)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(p a) -> " * (MAX_PREMISES + 1) + "(q a)", "too_many_premises"),
        ("(p a) -> (q 'x)", "unbound_head_var"),
        ("(p " + "(f " * 18 + "a" + ")" * 19, "depth"),
        ("(p (f a a a a a))", "arity"),
        (f"({'A' * 51} a)", "syntax"),
    ],
)
def test_the_reader_is_stricter_than_a_naive_one_only_here(text: str, reason: str):
    assert naive_reading(text) is not None
    with pytest.raises(FormulaError) as error:
        parse_statement(text)
    assert error.value.reason == reason


def variants(statement: Statement, rng: Any) -> Statement:
    """Return the statement with its premises shuffled and its variables renamed one to one."""
    if isinstance(statement, Literal):
        return statement
    premises = list(statement.premises)
    rng.shuffle(premises)
    names = rng.sample(["'a", "'x", "'y", "'z"], 3)
    renaming: dict[str, Term] = dict(zip(VARIABLES, names, strict=True))
    return Rule(tuple(filled(p, renaming) for p in premises), filled(statement.conclusion, renaming))


def same_meaning(one: Statement, other: Statement) -> bool:
    """Try every order of the premises and every renaming: no canonical form."""
    if isinstance(one, Literal) or isinstance(other, Literal):
        return one == other
    names = sorted({v for part in (*one.premises, one.conclusion) for v in part.variables()})
    taken = sorted({v for part in (*other.premises, other.conclusion) for v in part.variables()})
    for values in itertools.permutations(taken, len(names)) if len(names) == len(taken) else ():
        renaming: dict[str, Term] = dict(zip(names, values, strict=True))
        renamed = sorted(str(filled(p, renaming)) for p in one.premises)
        if filled(one.conclusion, renaming) == other.conclusion and renamed == sorted(map(str, other.premises)):
            return True
    return False


def has_no_variable_of_its_own(parts: tuple[Literal, Literal, Literal]) -> bool:
    return {*parts[2].variables()} <= {*parts[0].variables(), *parts[1].variables()}


small = literals(("'x", "'y"), 1)
close_rules = st.tuples(small, small, small).filter(has_no_variable_of_its_own).map(lambda t: Rule(t[:2], t[2]))
close_facts = literals(("'x", "'y", "a"), 1).map(lambda x: Rule((), x) if x.variables() else x)
close_statements = st.one_of(close_facts, close_rules)
"""So few that two of them are often the same."""


@settings(quick, max_examples=100)
@given(st.one_of(st.tuples(statements, statements), st.tuples(close_statements, close_statements)), st.randoms())
def test_one_canonical_text_is_one_meaning(pair: tuple[Statement, Statement], rng: Any):
    """Errs by refusing: equal texts are equal statements, though not all equal statements have equal texts."""
    for one, other in (pair, (pair[0], variants(pair[0], rng))):
        equal = canonical_statement(one) == canonical_statement(other)
        assert not equal or same_meaning(one, other)


def test_canonical_texts_keep_apart_what_only_looks_alike():
    alike = ["(p a)", "(p 'a)", "(p (p a))", "(p (p a a))", "(p (p 'a 'a))", "(p (p 'a 'b))", "(p v0)", "(not (p a))"]
    alike += ["(p 'x) -> (p (f 'x))", "(p (f 'x)) -> (p 'x)", "(p 'x) -> (q 'y) -> (r 'x 'y)"]
    alike += ["(p 'x) -> (q 'y) -> (r 'y 'x)", "(r 'x 'y) -> (r 'y 'x) -> (p 'x)", "(r 'x 'y) -> (r 'x 'y) -> (p 'x)"]
    assert len({canonical_statement(parse_statement(text)) for text in alike}) == len(alike)
