"""Prompt of the actor in the actor-critic dialog: the task, how tests are written, how errors are mended, examples.

Our own words for what LLM-ARC (section 3.1 and appendix 7.3) puts into its prompt. Sections can be left out, because
the paper's tables compare actors with and without tests and guidelines; a trained actor reads no examples.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from critics.problem import Problem, is_list
from rollout.prompts.demonstration import numbered_sentences
from rollout.published.logic_forms import LogicClass
from rollout.records.steps import DialogReview

_EXAMPLES_PATH = Path(__file__).with_name("examples.yaml")
_GUIDELINES_PATH = Path(__file__).with_name("guidelines.yaml")

_TASK = """You are a logician who writes Answer Set Programming. You are given numbered statements in English, and you \
translate them into a program for the solver clingo. A critic then runs what you wrote and tells you what is wrong."""

_PROGRAM = """## The program
- Every statement gets at least one rule or fact. Above its rules stands a comment with its number and its words, such \
as `% R3: Every cat sleeps.` Statement 3 is R3. Rules of your own come after the statements and go on with the numbers.
- Write lower-case names for predicates and individuals, and capital letters for variables. Use letters, digits and \
underscores only; no arithmetic, no function terms, no `#` directives.
- Write `-p(X)` for "not p". Keep `not p(X)`, "p is not known", for exceptions that a statement spells out.
- A rule says no more than its statement. What the statement says of one individual is said of that individual only.
- Several conclusions are several rules with the same body. Alternatives in a condition are several rules as well.
- "A or B" is `1 {a; b} 2.`, "either A or B" is `1 {a; b} 1.`; a condition stands behind `:-`. Where an alternative is \
itself compound, choose among new names and say in rules below what each of them means.
- "Some A is B" is `1 {b(X) : a(X)}.`; it needs an a that is known or possible.
- A rule does not work backwards by itself: where "no A is B" or "every A is B" is also needed from B to A, write the \
second rule with strong negation under the same comment.
- Use one predicate for one notion throughout, its negation included."""

_BACKGROUND = """## What goes without saying
Add a rule for what everybody knows and nobody said, where one notion of the program always includes another (village \
smiths are smiths), or where two names or places must be connected. Give it a comment and a number of its own. Add \
none that could be false, none about one individual, and none that answers the question by itself."""

_QUERY = """## The query
Where the request has a line `Query:`, translate that sentence, and nothing else, into a list of numbered blocks. Each \
block is an ATOM of the program's language or joins earlier blocks by their numbers; the last one is the whole question.
`ATOM(p(a))`, `ATOM(-p(a))`, `NOT(1)`, `AND(1, 2)`, `OR(1, 2)`, `EITHER-OR(1, 2)`, `NEITHER-NOR(1, 2)`, \
`IF-THEN(1, 2)`, `ALL(1, 2)` for "all 1 are 2", `SOME(1, 2)` for "some 1 are 2". Blocks under ALL and SOME have a \
variable: `ATOM(p(X))`. Take the predicates of the program. Neither strengthen nor weaken what is asked."""

_TESTS = """## The tests
Write tests that would fail if a rule were wrong or missing. Every rule that is not a fact is named by some test, and \
a rule gets a case where it applies and one where it must not. A test is an object with these keys:
- `Facts`: facts (or a constraint) added for this test only. Invent new individuals for them; a name of the program \
brings its own facts along.
- one or more conditions: `infer-All` [literals in every answer set], `infer-Any` [literals that are each in some \
answer set], `do-not-infer` [literals in no answer set]; or else alone `expect-contradiction`: true.
- `Rules`: the numbers of the rules that it tests, such as ["R1", "R4"].
- `Explanation`: in a few words, why this must be so; another one for every test.
A test whose condition only repeats its own facts tests nothing, nor does the same test about another individual."""

_ERRORS = """## What the critic says
You may be told that your reply is not the JSON object that was asked for, that {parts} does not compile (with line \
and column), {faults}.
- Reply with the whole object again, never with a description of the change.
- Begin with a program that contradicts itself: look at the rules that are named, and ask which of them says more than \
its statement.
{of_tests}- Read the query once more as well: it may ask something else than the sentence does.
- You must change the part that is at fault. A reply that changes nothing{or_leaves_out} is refused."""
_WITH_TESTS = {
    "parts": "the program, a test or the query",
    "faults": "that the program contradicts itself, or that tests fail: all of them, with the reason, and with the "
    "answer sets that the program has without any test",
    "of_tests": """\
- For a failing test, look at these answer sets and decide first who is right. If the rules say what the statements \
say, the test's facts or condition are wrong: it may assert what the program denies, forget a condition, or expect \
what only holds sometimes. If the test is what the statements demand, change the rules; look for a missing or an \
excessive background rule first.
""",
    "or_leaves_out": ", or only leaves the failing test out,",
}
_WITHOUT_TESTS = {
    "parts": "the program or the query",
    "faults": "or that the program contradicts itself",
    "of_tests": "",
    "or_leaves_out": "",
}

_INCREMENTAL = """## Step by step
The statements come in several portions. With each you are given {so_far}; reply with the whole of it, extended by the \
new portion, numbers unchanged. The query comes with the last portion."""

_OUTPUT = """## Your reply
One JSON object and nothing else: {keys}."""
_KEYS = {
    "Model": "`Model`, the program as a list of lines",
    "Tests": "`Tests`, a list of tests",
    "Query": "`Query`, a list of blocks, where a query is asked for",
}


@dataclass(frozen=True, slots=True)
class ActorPrompt:
    """Sections that the actor reads."""

    tests: bool = True
    """True if the actor writes tests (table 1)."""
    guidelines: bool = True
    """True if it reads how tests are written for each logic class (table 2); without tests there are none."""
    examples: Literal[0, 8, 20] = 8
    """Solved examples; a trained actor reads none."""
    incremental: bool = False
    """True if a problem comes in portions."""
    instructions: bool = True
    """False: the actor reads the statements alone, because it was trained from scratch to do nothing else."""

    def trained(self) -> "ActorPrompt":
        """Return the prompt of the actor that is trained on such dialogs: without examples (section 4.1)."""
        return replace(self, examples=0)


@dataclass(frozen=True, slots=True)
class SolvedReply:
    """A problem and a reply that is certified for it."""

    classes: tuple[LogicClass, ...]
    premises: tuple[str, ...]
    question: str
    answer: str
    model: tuple[str, ...]
    tests: tuple[dict[str, Any], ...]
    query: tuple[str, ...]

    def problem(self) -> Problem:
        """Return the problem, with its answer."""
        meta = {"num_premises": len(self.premises), "logic_classes": list(self.classes)}
        return Problem("example", "folio", "\n".join(self.premises), self.question, None, self.answer, meta=meta)

    def reply(self, *, tests: bool = True) -> str:
        """Return the solution as the actor is to write it."""
        parts = [("Model", _lines(self.model)), ("Query", json.dumps(list(self.query), ensure_ascii=False))]
        if tests:
            parts.insert(1, ("Tests", _lines(self.tests)))
        return "{" + ",\n ".join(f'"{key}": {value}' for key, value in parts) + "}"


def _lines(values: Sequence[object]) -> str:
    return "[\n  " + ",\n  ".join(json.dumps(value, ensure_ascii=False) for value in values) + "]"


@dataclass(frozen=True, slots=True)
class Guideline:
    """Advice on testing statements of one logical form, and a statement with its tests (figure 4 of the paper)."""

    form: str
    """A logic class, or `both-ways` for what works in both directions."""
    what: str
    statement: str
    rules: tuple[str, ...]
    """Its rules, which the prompt leaves out."""
    tests: tuple[dict[str, Any], ...]

    def shown(self) -> str:
        """Return what the actor reads."""
        tests = (f"  - {json.dumps(test)}" for test in self.tests)
        return "\n".join([f"- {self.form.replace('-', ' ')}: {self.what}", f"  Statement: {self.statement}", *tests])


@dataclass(frozen=True, slots=True)
class Correction:
    """A reply that the critic faults, what it says, and the reply mended."""

    kind: Literal["compile", "tests"]
    title: str
    told: str
    why: str
    model: tuple[str, ...]
    tests: tuple[dict[str, Any], ...]
    mended_model: tuple[str, ...]
    mended_tests: tuple[dict[str, Any], ...]

    def shown(self) -> str:
        """Return what the actor reads."""
        before, after = (
            "\n".join([*model, *(f"Test: {json.dumps(test)}" for test in tests)])
            for model, tests in ((self.model, self.tests), (self.mended_model, self.mended_tests))
        )
        return f"### {self.title}\n{before}\nThe critic: {self.told}\n{self.why}\nMended:\n{after}"


@lru_cache
def guidelines() -> tuple[Guideline, ...]:
    """Return how tests are written for each logic class, and for what works in both directions."""
    return tuple(Guideline(**_tuples(record)) for record in _written()["guidelines"])


@lru_cache
def corrections() -> tuple[Correction, ...]:
    """Return worked corrections: of an error in compiling, of a test that is wrong, and of one that is right."""
    return tuple(Correction(**_tuples(record)) for record in _written()["corrections"])


def _written() -> Any:
    import yaml

    return yaml.safe_load(_GUIDELINES_PATH.read_text(encoding="utf-8"))


def _tuples(record: Any) -> Any:
    return {key: tuple(value) if is_list(value) else value for key, value in record.items()}


def _so_far(*, tests: bool) -> str:
    return "the program and the tests so far" if tests else "the program so far"


@lru_cache
def solved_examples() -> tuple[SolvedReply, ...]:
    """Return all twenty: the first eight show one main logic class each, all of them cover the nine."""
    import yaml

    records = yaml.safe_load(_EXAMPLES_PATH.read_text(encoding="utf-8"))
    return tuple(
        SolvedReply(
            classes=tuple(record["classes"]),
            premises=tuple(record["premises"]),
            question=record["question"],
            answer=record["answer"],
            model=tuple(record["model"].splitlines()),
            tests=tuple(record["tests"]),
            query=tuple(record["query"]),
        )
        for record in records
    )


def system_text(prompt: ActorPrompt) -> str:
    """Return the instructions, examples included; empty where the actor reads none."""
    if not prompt.instructions:
        return ""
    keys = ", ".join(text for key, text in _KEYS.items() if key != "Tests" or prompt.tests)
    sections = [
        _TASK,
        _PROGRAM,
        _BACKGROUND,
        _QUERY,
        *((_TESTS,) if prompt.tests else ()),
        *((_guidelines(),) if prompt.tests and prompt.guidelines else ()),
        _ERRORS.format(**(_WITH_TESTS if prompt.tests else _WITHOUT_TESTS)),
        *(each.shown() for each in corrections() if prompt.tests or each.kind == "compile"),
        *((_INCREMENTAL.format(so_far=_so_far(tests=prompt.tests)),) if prompt.incremental else ()),
        _OUTPUT.format(keys=keys),
        *((_examples(prompt),) if prompt.examples else ()),
    ]
    return "\n\n".join(sections)


def _guidelines() -> str:
    return "\n".join(["## Tests by logical form", *(each.shown() for each in guidelines())])


def _examples(prompt: ActorPrompt) -> str:
    shown = solved_examples()[: prompt.examples]
    solved = (f"{opening(example.problem())}\n\n{example.reply(tests=prompt.tests)}" for example in shown)
    return "\n\n".join(["## Examples", *(f"### Example {n}\n{text}" for n, text in enumerate(solved, 1))])


def statements(problem: Problem) -> list[str]:
    """Return the problem's statements: its lines where there are as many as `meta.num_premises`, else its sentences."""
    lines = [line.strip() for line in problem.context.splitlines() if line.strip()]
    if len(lines) == problem.meta.get("num_premises"):
        return lines
    return [sentence.partition("- ")[2] for sentence in numbered_sentences(problem.context)]


def opening(problem: Problem) -> str:
    """Return the request for a whole problem. The gold answer and the options are none of the actor's business."""
    return portion(statements(problem), 1, query=problem.question)


def portion(
    listed: Sequence[str], start: int, *, query: str | None = None, so_far: str | None = None, tests: bool = True
) -> str:
    """Return the request for some statements, the first of which has the number `start`.

    `query` is asked with the last portion only; `so_far` is the reply that the portions before came to, with `tests`.
    """
    begun = _so_far(tests=tests)
    parts = [] if so_far is None else [f"T{begun[1:]}:\n{so_far}\n\nThe next statements:"]
    parts += [f"R{number}: {statement}" for number, statement in enumerate(listed, start)]
    return "\n".join([*parts, *(() if query is None else (f"Query: {query}",))])


def feedback_text(review: DialogReview) -> str:
    """Return what the actor is told about a reply that is not clean."""
    return _said(review)


def refusal_text(before: DialogReview, review: DialogReview) -> str:
    """Return what the actor is told where its reply, now under `review`, mends nothing of what was wrong `before`."""
    if review.kind == "clean":
        begun = f"Your last reply leaves {before.part} out, and what is left out is not mended. Put it back"
        return f"{begun}, and then change it or what makes it fail.\n{_said(before)}"
    named = review.part or "the reply"
    return (
        f"Your last reply leaves {named} as it was, and all else that matters. Something has to change: {named}, or "
        f"whatever else makes it wrong, written anew and not left out.\n{_said(review)}"
    )


def _said(review: DialogReview) -> str:
    return f"{_HEADINGS[review.kind]}\n{review.told}\n{_AGAIN}"


_HEADINGS = {
    "reply": "Your reply cannot be read:",
    "compile": "The solver cannot read what you wrote:",
    "contradiction": "The program has no answer set:",
    "tests": "The program runs, but not all is well with the tests:",
    "unknown": "The program could not be run within the limits:",
}
_AGAIN = "Reply with the whole JSON object again."
