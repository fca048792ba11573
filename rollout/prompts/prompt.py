"""Prompts: the problem, and for a model that must be shown, solved examples.

The examples are of the problem's own data set, made by the project's own generators and demonstration writer, so
that every guided one is certified, and none can stand in a training or test split (they are drawn from `pretrain`).
Those of data sets without a generator are of our own making (`worked_examples.yaml`). A user's own prompt takes the
place of all of it (`PromptStyle.own`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import yaml

from critics.formats.names import COT, GUIDED
from critics.problem import TRUTH_VALUES, Formal, Problem, read_problem
from critics.replay.answers import in_terms_of, kind_of
from critics.replay.formula import Rule, canonical_statement, parse_statement
from critics.replay.kernel import literals_of
from critics.text.background import background, vocabulary
from critics.text.reference import reference
from rollout.problems.catalogue import QUESTIONS, family
from rollout.prompts.conversation import SEPARATOR, message
from rollout.prompts.style import PromptStyle, Spoken, numbered_sentences

_EXAMPLE_SEED = 2023
_NUM_DRAWN = 48
_DEFAULT_NUM = {GUIDED: 2, COT: 4, "answer": 4}
"""As in LogicGuide's paper, section 4.1: guided examples are longer, so there are fewer of them."""
_LONG = "deontiqa"
"""Data set of whose problems the paper shows one."""
_THREE_VALUED = frozenset({"folio", "folio-formulas"})
"""Data sets whose problems have no options and may be unknown."""
_WITHOUT_RELATIONS = frozenset({"prontoqa", "prontoqa-ood"})
"""Data sets whose theories have properties alone."""
_MOODS = frozenset({"all", "some"})
"""Relations whose every mood is shown: All, No, Some, and Some that are not."""
_WORKED = Path(__file__).with_name("worked_examples.yaml")
_STAND_IN = "prontoqa"
"""Data set whose examples are shown for one that has no generator."""
_GUIDED_RULES = (
    "You solve logic problems in a fixed format. First restate each sentence and formalise it: mark {names}, then "
    "state the fact or rule as [[axiom:..]], with 'x for anything. Then formalise the question as [[goal:..]]. Then "
    "reason with one [[infer:..]] for each step until the goal or its negation is reached."
)
_NAMES = "objects as [[object:..]] and properties as [[prop:..]]"
_NAMES_AND_RELATIONS = "objects as [[object:..]], properties as [[prop:..]] and relations as [[relation:..]]"
_ANY_NAME = "NAME"
_EXHAUSTED = " Where nothing more can be inferred, write [[infer:nothing]]."
_COT_RULES = (
    "You solve logic problems step by step, one short sentence for each step, using nothing but the given sentences."
)
_EQUATION_RULES = (
    "You solve word problems step by step, and write each calculation as an equation, such as 48 / 2 = 24."
)
_ANSWER_RULES = "You answer logic problems from nothing but the given sentences, and write the answer and no reasoning."
_TRUE_OR_FALSE = " End with a line that says Answer: true or Answer: false."
_OR_UNKNOWN = " End with a line that says Answer: true, Answer: false or Answer: unknown, where neither follows."
_EITHER = ("true, false, or unknown?", "true or false?")
_ONE_OPTION = " End with a line that says Answer: and one of the options."


def problem_text(problem: Problem, *, hint: bool = False) -> str:
    """Return the problem as the policy sees it, sentences numbered, ending before the completion's first character."""
    context = " ".join(numbered_sentences(problem.context))
    options = "".join(f"\n{option}" for option in problem.options or ())
    given_away = _given_away(problem) if hint else ""
    told = f"Context: {context}\n" if context or kind_of(problem.options, problem.meta) is None else ""
    return f"{told}Question: {problem.question}{options}{given_away}\n"


def messages(problem: Problem, style: PromptStyle, *, hint: bool = False) -> list[dict[str, str]]:
    """Return system, example and user turns for a chat template or for `text`."""
    own = style.own
    if own is None:
        system, asked = _rules(problem, style), problem_text(problem, hint=hint)
        # Problems with free answers have examples of their own kind, or none.
        kind = kind_of(problem.options, problem.meta)
        examples = solved_examples(style.examples, style.format, kind or problem.dataset, _terms(problem))
    else:  # a text that it has none of is left out
        given_away = f"{_given_away(problem)}\n" if hint else ""
        system, asked = own.system, own.ask(problem, numbered_sentences(problem.context)) + given_away
        examples = tuple((example.asked, example.solved) for example in own.examples[: style.examples])
    turns = [message("system", system)] if system else []
    for shown, solved in examples:
        turns += [message("user", shown), message("assistant", solved)]
    return [*turns, message("user", asked)]


def _given_away(problem: Problem) -> str:
    return f"\nHint: the answer is {problem.answer}."


def text(problem: Problem, style: PromptStyle, *, hint: bool = False) -> str:
    """Return the whole prompt as text, for `bare` and `few-shot`."""
    if style.kind == "bare":
        return problem_text(problem, hint=hint)
    parts = [
        turn["content"] if turn["role"] != "assistant" else f"{turn['content']}{SEPARATOR}\n"
        for turn in messages(problem, style, hint=hint)
    ]
    return "\n".join(parts)


def _rules(problem: Problem, style: PromptStyle) -> str:
    if style.format != GUIDED:
        is_computed = kind_of(problem.options, problem.meta) == "number"
        steps = _EQUATION_RULES if is_computed else _COT_RULES
        return (steps if style.format == COT else _ANSWER_RULES) + answer_rule(problem)
    names = _NAMES if problem.dataset in _WITHOUT_RELATIONS else _NAMES_AND_RELATIONS
    exhausted = _EXHAUSTED if _can_be_unknown(problem) else ""
    return _GUIDED_RULES.format(names=names) + _vocabulary(problem) + exhausted + answer_rule(problem)


def _vocabulary(problem: Problem) -> str:
    """Return the names of a typed theory with the order of their arguments; empty where there is none."""
    typed = vocabulary(problem.dataset, problem.context)
    if typed is None:
        return ""
    signature = typed[1]
    terms = [f"{_grouped({name: own for name, (own, made) in signature.functions.items() if made == of})} for {of}"
             for of in dict.fromkeys(of for _, of in signature.functions.values())]  # fmt: skip
    constants = ", ".join(signature.constants)
    return (
        f" Use these names and no others, with arguments in this order, where a bar stands between names of one kind: "
        f"{_grouped(signature.predicates)}. Terms: {'; '.join(terms)}{f'; {constants}' if constants else ''}. "
        f"What kind a thing is of: {_grouped(dict.fromkeys(signature.sorts, (_ANY_NAME,)))}."
    )


def _grouped(symbols: Mapping[str, tuple[str, ...]]) -> str:
    """Return symbols with their arguments, those that take the same ones together."""
    return ", ".join(
        f"({'|'.join(name for name, own in symbols.items() if own == sorts)} {' '.join(sorts)})"
        for sorts in dict.fromkeys(symbols.values())
    )


def answer_rule(problem: Problem) -> str:
    """Return which answers a problem has and where to write them, as the end of instructions."""
    if problem.options is not None:
        return _ONE_OPTION
    if (kind := kind_of(problem.options, problem.meta)) is not None:
        return f" End with a line that says Answer: and the {kind} alone."
    return _OR_UNKNOWN if _can_be_unknown(problem) else _TRUE_OR_FALSE


def _can_be_unknown(problem: Problem) -> bool:
    if problem.options is None:
        return problem.dataset in _THREE_VALUED
    return in_terms_of("unknown", problem.options) is not None


@lru_cache
def solved_examples(
    num: int | None, format_: str, dataset: str = _STAND_IN, terms: tuple[str, ...] | None = None
) -> tuple[tuple[str, str], ...]:
    """Return `num` problems of a data set with their solutions, its answers in turn.

    None: four without the guide and two with it, one for DeontiQA, and one more where the data set knows unknown. Of
    each answer those come first that show most: forms of statements that no other has shown, then steps. Where the
    format needs a formalisation and the data set has none, there are no examples. `terms` are the options that the
    examples have in the place of their own, none where they are empty: those whose answer they cannot say are left out.
    """
    by_answer: dict[str, list[_Example]] = {}
    can_be_unknown = False
    for problem, solved in _solved(format_, dataset, terms):
        assert problem.answer is not None
        forms, steps = _shape(problem)
        by_answer.setdefault(problem.answer, []).append(_Example(problem_text(problem), solved, forms, steps))
        unknown, false = (in_terms_of(truth, problem.options) for truth in ("unknown", "false"))
        # `Invalid` also says false.
        can_be_unknown = can_be_unknown or problem.answer == unknown != false
    if num is None:
        num = 1 if dataset == _LONG else _DEFAULT_NUM[format_] + can_be_unknown
    # True before false and unknown; letters in their own order.
    truths = {truth: place for place, truth in enumerate(TRUTH_VALUES)}
    queues = [by_answer[answer] for answer in sorted(by_answer, key=lambda said: (truths.get(said, 0), said))]
    shown: list[tuple[str, str]] = []
    told: set[str] = set()
    while len(shown) < num and any(queues):
        for queue in queues:
            if queue and len(shown) < num:
                best = max(queue, key=lambda one: (len(one.forms - told) + min(one.steps, 3), -len(one.solution)))
                queue.remove(best)
                shown.append((best.asked, best.solution))
                told |= best.forms
    return tuple(shown)


@dataclass(frozen=True, slots=True)
class _Example:
    """A solved example, and what it shows."""

    asked: str
    solution: str
    forms: frozenset[str]
    """The forms of its statements, such as `(not (all _ _))`."""
    steps: int


def _terms(problem: Problem) -> tuple[str, ...] | None:
    """Return the options of a problem that asks for a truth value, none where it has none; None of any other."""
    says_both = all(in_terms_of(truth, problem.options) is not None for truth in ("true", "false"))
    return tuple(problem.options or ()) if says_both else None


def _in_terms(problem: Problem, terms: tuple[str, ...] | None) -> Problem | None:
    """Return an example with other options, as ProofWriter's two-valued task needs; None where they lack its answer."""
    own = tuple(problem.options or ())
    if terms is None or terms == own or _terms(problem) is None:
        return problem
    truth = next(truth for truth in TRUTH_VALUES if in_terms_of(truth, problem.options) == problem.answer)
    asked = replace(problem, options=terms or None)
    if truth == "unknown" and not _can_be_unknown(asked):
        return None
    question = problem.question if _can_be_unknown(asked) else problem.question.replace(*_EITHER)
    return replace(asked, question=question, answer=in_terms_of(truth, asked.options))


def _shape(problem: Problem) -> tuple[frozenset[str], int]:
    """Return the forms of an example's relations and rules, and the length of its proof."""
    known = reference(problem)
    if known is None:
        return frozenset(), 0
    granted = set(map(canonical_statement, background(problem.dataset).statements()))
    statements = [parse_statement(text) for text in (*known.formal.axioms, known.formal.goal)]
    statements = [one for one in statements if canonical_statement(one) not in granted]
    literals = [part for statement in statements for part in literals_of(statement) if len(part.arguments) > 1]
    forms = {f"{part.positive} {part.predicate if part.predicate in _MOODS else 'relation'}" for part in literals}
    forms |= {f"{min(len(one.premises), 2)} premises" for one in statements if isinstance(one, Rule)}
    from rollout.prompts.demonstration import decide

    return frozenset(forms), len(decide(known.formal)[1])


def _solved(format_: str, dataset: str, terms: tuple[str, ...] | None) -> Iterator[tuple[Problem, str]]:
    """Yield small problems with their solutions, as far as the format can say them."""
    if dataset == "text":
        return
    records = yaml.safe_load(_WORKED.read_text(encoding="utf-8"))
    worked = [(number, record) for number, record in enumerate(records) if record["dataset"] == dataset]
    if worked and format_ != GUIDED:
        for number, record in worked:
            problem = read_problem({"id": f"worked/{number}", **record})
            line = answer_line(problem)
            yield problem, line if format_ == "answer" else f"Reasoning: {record['reasoning'].strip()}\n{line}"
        return
    made = family(dataset if dataset in QUESTIONS else _STAND_IN)
    for drawn in made.generate(made.configured(made.shown, "pretrain"), _NUM_DRAWN, seed=_EXAMPLE_SEED):
        problem = _in_terms(drawn, terms)
        if problem is None:
            continue
        known = reference(problem)
        if known is not None:
            yield problem, solution(problem, known.formal, format_)
        elif format_ != GUIDED:
            yield problem, answer_line(problem)


def solution(problem: Problem, formal: Formal, format_: str, *, style: Spoken = "conclusions") -> str:
    """Return the solution of a problem as the examples show one."""
    from rollout.prompts.demonstration import chain_of_thought, demonstrate

    if format_ == GUIDED:
        body, _, _ = demonstrate(problem, formal, style="annotated").rpartition("Answer: ")
        return f"{body}{answer_line(problem)}"
    if format_ == "answer":
        return answer_line(problem)
    steps = chain_of_thought(problem, formal, style=style)
    return f"Reasoning: {' '.join(steps)}\n{answer_line(problem)}"


def answer_line(problem: Problem) -> str:
    """Return the line that gives the gold answer as the prompt spells it: an option as it stands there."""
    assert problem.answer is not None
    said = problem.answer if problem.options is None else problem.options[ord(problem.answer) - ord("A")]
    return f"Answer: {said}"
