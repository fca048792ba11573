"""Prompts for solver programs: each language in our own words, solved examples, and the feedback on a draft.

The same texts serve both papers' strategies: translation and error feedback (000, section 2; 001, section 3.2), the
refiners of 001, and its reviewer, which reads a program and writes the problem.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from critics.problem import Problem
from rollout.prompts.conversation import Message, message

_EXAMPLES_PATH = Path(__file__).with_name("examples.yaml")
_MENDING_PATH = Path(__file__).with_name("mending.yaml")
FORMATS: Mapping[str, str] = {
    "prontoqa": "rules",
    "prontoqa-ood": "rules",
    "proofwriter": "rules",
    "logicaldeduction": "csp",
    "ar-lsat": "logic-program",
    "folio": "fol",
}
"""The language of a data set's programs where a configuration names none."""
STAND_IN = "fol"
"""The language of problems of any other data set."""

_RULES = """## The language
A program has four sections. Each statement stands on a line of its own, with the sentence that it says after `:::`.
- `Predicates:` declares each predicate once, such as `Cold($x, bool)` or `Likes($x, $y, bool)`.
- `Facts:` are predicates of named objects with a truth value: `Cold(Tom, True)`, `Likes(Tom, Ann, False)`.
- `Rules:` are conditions joined by `&&`, then `>>>`, then one conclusion. Variables begin with `$`, and the \
conclusion has none that no condition has: `Cold($x, True) && Likes($x, Ann, True) >>> Warm($x, False)`.
- `Query:` is one line: the statement that the question asks about, with the value that it claims.
False is a negation of its own: what is not said to be false is not false. Write every sentence of the context, and \
nothing that it does not say. Do not answer the question: the query repeats what is asked, true or not."""

_CSP = """## The language
A program has four sections. Each statement stands on a line of its own, with the sentence that it says after `:::`.
- `Domain:` names the ends of the order: `1: leftmost` and `3: rightmost`.
- `Variables:` gives every object all places: `bus [IN] [1, 2, 3]`. Write `_` for blanks in a name.
- `Constraints:` are comparisons of variables, numbers and sums (`==`, `!=`, `<`, `<=`, `>`, `>=`, `+`, `-`), and \
`AllDifferentConstraint([bus, van, cab])` where no two share a place.
- `Query:` has one comparison for each option, in its order: `A) bus == 1`.
Write every sentence of the context, and decide once which end is 1."""

_LOGIC_PROGRAM = """## The language
A program has three sections. Each statement stands on a line of its own, with what it says after `:::`.
- `# Declarations` has the sorts, `people = EnumSort([Ann, Ben])` or `days = EnumSort([1, 2, 3])`, and the functions \
to be found, `works = Function([people] -> [days])` or `knows = Function([people, people] -> [bool])`.
- `# Constraints` has formulas: `And(F, G)`, `Or(F, G)`, `Not(F)`, `Implies(F, G)`, comparisons with `==`, `!=`, `<`, \
`<=`, `>`, `>=`, and quantifiers over sorts: `ForAll([p:people], F)`, `Exists([p:people], F)`, \
`Count([p:people], F) == 2`, `Distinct([p:people], works(p))`. A variable has the first letter of its sort; a second \
one of the same sort is `p2`.
- `# Options` has the line `Question ::: ..`, then for each option one helper around a formula, with its letter: \
`is_valid(F) ::: (A)` where the question asks what must be true, `is_sat(F)` what could be true, `is_unsat(F)` what \
cannot be true, and `is_exception(..)` around the helper where it says EXCEPT.
What a question supposes ("If Ann works on day 1, ..") is one more constraint. Say what goes without saying as well: \
that everybody has exactly one place, that no place is shared. Use declared names only; members of sorts other than \
numbers are compared in the order of their list."""

_FOL = """## The language
A program has three sections. Each statement stands on a line of its own, with the sentence that it says after `:::`.
- `Predicates:` lists the predicates that you use, such as `Cat(x)` or `Likes(x, y)`.
- `Premises:` has one formula for each statement: `∀x (Cat(x) → Warm(x))`, `Cat(tom) ∧ ¬Warm(tom)`.
- `Conclusion:` has the one formula that the question asks about, true or not.
Use ∀ ∃ ¬ ∧ ∨ ⊕ → ↔ =, variables x, y, z, each bound by a quantifier, predicates in capitals, and objects in lower \
case. Put what a quantifier governs in brackets. "Either A or B" is ⊕ where both cannot be. Write every statement as \
it stands, and the same notion with the same predicate throughout."""

_Z3_PYTHON = """## The language
A Python script for the solver Z3. It imports nothing but z3, and goes through these steps in order:
1. Declare every sort, object and predicate of the problem, each once, before it is used.
2. Write the statements of the context, one for each sentence and in its order, with the sentence as a comment beside \
it. What a sentence lists or takes for granted (that there is nothing else, that places are not shared) is a statement \
of its own.
3. Write what the question asks about: the statement, or one formula for each option.
4. Ask one `Solver`, to which all statements were added: something is true if the premises with its negation are \
unsatisfiable, and false if the premises with it are.
5. Print the answer in the words or the letter of the options, and nothing that the solver did not decide.
No files, no loops without end, no other modules."""

LANGUAGES: Mapping[str, str] = {
    "rules": _RULES,
    "csp": _CSP,
    "logic-program": _LOGIC_PROGRAM,
    "fol": _FOL,
    "z3-python": _Z3_PYTHON,
}
"""Description of each language."""

_TASK = """You translate problems into programs for a solver. Read the problem sentence by sentence, write each of \
them in the language below, and leave the answer to the solver."""
_REPLY = "Reply with the whole program and with nothing else."
_REVIEW = """You read programs for a solver, each of which formalises a problem in English. Write the problem that a \
program formalises: its context, its question, and its options where it has any."""
_ANSWER = """You solve logic problems in a few short sentences, using nothing but what is given. End with a line that \
says `Answer:` and then {}."""

IMPLICIT = """The program does not yet lead to one answer. Look for what the problem takes for granted and the program \
does not say: that everything has exactly one place or value, that places are or are not shared, that what is named in \
one sentence is of the kind that another one speaks of. Add what is missing as constraints or premises of their own, \
add nothing that the problem leaves open, and leave the rest as it is."""
CONSISTENCY = """Check the program against itself. Every name that it uses must be declared, and declared once, with \
the same arguments everywhere; a variable ranges over a declared sort; what is written about a group must speak of \
members of that group: to range over `nurses` is wrong where only `staff` is declared. Mend what does not fit."""
CHECK = """Compare the program with the problem, sentence by sentence and option by option. Look for a relation that \
is turned round, for words taken too literally, for the wrong connective or quantifier, for a sentence left out, \
and for a query that asks something else. If the program says what the problem says, reply with the one word FAITHFUL. \
Otherwise name each fault in a line of its own."""
FAITHFUL = "FAITHFUL"
"""Reply of a checker that finds nothing wrong with a program."""

_FENCED = re.compile(r"^[ \t]*(?:```|~~~)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SolvedProgram:
    """A problem and a program that is certified for it."""

    problem: Problem
    format: str
    program: str


@dataclass(frozen=True, slots=True)
class MendedProgram:
    """A program before and after a refiner spoke."""

    purpose: str
    before: str
    told: str
    """The solver's words about the program before; empty where the refiner tells nothing of it."""
    after: SolvedProgram

    def said(self) -> str:
        """Return what the refiner says."""
        match self.purpose:
            case "implicit":
                return mending(IMPLICIT)
            case "consistency":
                return mending(CONSISTENCY)
            case _:
                return unreadable_text(self.told)


@lru_cache
def mended_examples() -> tuple[MendedProgram, ...]:
    """Return all demonstrations of refiners (001, appendix A)."""
    import yaml

    records = yaml.safe_load(_MENDING_PATH.read_text(encoding="utf-8"))
    return tuple(
        MendedProgram(record["purpose"], record["before"].strip(), record.get("told", ""), _example(record, number))
        for number, record in enumerate(records)
    )


@lru_cache
def solved_examples() -> tuple[SolvedProgram, ...]:
    """Return all examples, two for each data set."""
    import yaml

    records = yaml.safe_load(_EXAMPLES_PATH.read_text(encoding="utf-8"))
    return tuple(_example(record, number) for number, record in enumerate(records))


def _example(record: Mapping[str, Any], number: int) -> SolvedProgram:
    options = record.get("options")
    problem = Problem(
        id=f"example-{number}",
        dataset=record["dataset"],
        context=record["context"].strip().replace("\n", " "),
        question=record["question"],
        options=None if options is None else tuple(options),
        answer=record["answer"],
    )
    return SolvedProgram(problem, record["format"], record["program"].strip())


def examples_for(problem: Problem, format_: str, num: int) -> list[SolvedProgram]:
    """Return at most `num` examples in a language, those of the problem's own data set first."""
    known = [example for example in solved_examples() if example.format == format_]
    return sorted(known, key=lambda example: example.problem.dataset != problem.dataset)[:num]


def opening(problem: Problem, format_: str, num_examples: int) -> list[Message]:
    """Return the conversation up to the policy's first program: instructions, examples, the problem."""
    system = "\n\n".join([_TASK, LANGUAGES[format_], _REPLY])
    shown = examples_for(problem, format_, num_examples)
    solved = [turn for e in shown for turn in _exchange(problem_text(e.problem), e.program)]
    return [message("system", system), *solved, message("user", problem_text(problem))]


def reviewing(problem: Problem, format_: str, num_examples: int, program: str) -> list[Message]:
    """Return the conversation that asks for the problem behind a program: examples turned round (001, section 3.2)."""
    system = "\n\n".join([_REVIEW, LANGUAGES[format_]])
    shown = examples_for(problem, format_, num_examples)
    solved = [turn for e in shown for turn in _exchange(e.program, problem_text(e.problem))]
    return [message("system", system), *solved, message("user", program)]


def answering(problem: Problem) -> list[Message]:
    """Return the conversation that asks for the answer itself."""
    wanted = "true, false or unknown" if problem.options is None else "the letter of one option"
    return [message("system", _ANSWER.format(wanted)), message("user", problem_text(problem))]


def problem_text(problem: Problem) -> str:
    """Return the problem as a policy sees it; its gold answer is none of the policy's business."""
    options = "".join(f"\n{option}" for option in problem.options or ())
    return f"Context: {problem.context}\nQuestion: {problem.question}{options}"


def about(opened: Sequence[Message], program: str, said: str, shown: Sequence[MendedProgram] = ()) -> list[Message]:
    """Return the conversation in which something is said about a program that was written.

    Demonstrations stand before the problem, which is the last message of what `opened` the conversation.
    """
    mended = [
        turn
        for each in shown
        for turn in (
            *_exchange(problem_text(each.after.problem), each.before),
            *_exchange(each.said(), each.after.program),
        )
    ]
    return [*opened[:-1], *mended, opened[-1], message("assistant", program), message("user", said)]


def mending(said: str) -> str:
    """Return a request for a better program."""
    return f"{said}\n{_REPLY}"


def unreadable_text(told: str) -> str:
    """Return what is said about a program that cannot be read or run."""
    return mending(f"The solver cannot run the program: {told}\nMend that, and keep what is right.")


def undecided_text(told: str) -> str:
    """Return what is said about a program that runs and gives no answer."""
    return mending(
        f"The program runs and gives no answer: {told}\nFind out which statement says too much or too little."
    )


def explained_text(explanation: str) -> str:
    """Return what is said where the solver shows why there is no answer."""
    begun = "The program runs and gives no answer. This is what the solver finds:"
    ending = "Compare that with the problem: which statement is wrong, or which one is missing? Mend it."
    return mending(f"{begun}\n{explanation}\n{ending}")


def barred_text(told: str) -> str:
    """Return what is said about a program whose answer is not believed."""
    return mending(f"The program gives an answer, and it proves nothing: {told}\nSay what the problem says.")


def doubted_text(complaint: str) -> str:
    """Return what is said where a checker finds the program wrong."""
    return mending(f"A reader finds this wrong with the program:\n{complaint}\nMend it where the reader is right.")


def program_in(reply: str) -> str:
    """Return the program of a reply: what stands in its last code fence, else all of it."""
    found = _FENCED.findall(reply)
    return (found[-1] if found else reply).strip()


def _exchange(asked: str, replied: str) -> list[Message]:
    return [message("user", asked), message("assistant", replied)]
