"""Other people's rationales written down in first-order logic, sentence by sentence, by a policy.

The policy is shown the sentences of the problem and of the text, each with a label, and replies with a formula for
each. Its formulas go into `Problem.meta`, where the critic of the format `english` finds them beside their sentences
(`critics.formats.english.formalised`); the text itself stays the attempt.
"""

import re
from dataclasses import replace

from critics.formats.english.formulas import KEY, NoFormulas, split
from critics.formats.names import ENGLISH
from critics.problem import Problem
from rollout.prompts.conversation import Messages, message
from rollout.records.traces import Trace

FORMAT = ENGLISH
"""The format of texts whose sentences are formalised."""
RATIONALE = "rationale"
"""The key of `Problem.meta` that holds the text while its formulas are asked for."""
_SYSTEM = """You write sentences of English down in first-order logic, one formula for each sentence.
Reply with one line for each label, such as `C1: ∀x (Cat(x) → Warm(x))`, and with nothing else. C are sentences of a \
context, Q is the question about it (write what it asks about, without an answer), T are sentences of a text about both.
Use ∀ ∃ ¬ ∧ ∨ ⊕ → ↔ and =, with variables x, y, z, each bound by a quantifier. Make predicates of the sentence's own \
words (`DependentOn(x, caffeine)`), and objects of its names in lower case (`tom`, `harry_potter`). Use the same name \
for the same notion throughout. Write all that the sentence says and nothing else, true or not, with its negations \
and in its order; of `Since A, B` write A ∧ B. Write `-` where a sentence only announces, or gives an answer such as \
"The statement is true.", and where no formula says what it says."""
_EXAMPLE = (
    """C1: Every cat is a mammal.
C2: Tom is a cat or a bird.
C3: Tom is not a bird.
Q: Tom is a mammal.
T1: Let's think step by step.
T2: Since Tom is not a bird, Tom is a cat.
T3: Therefore, Tom is a mammal.
T4: Answer: true""",
    """C1: ∀x (Cat(x) → Mammal(x))
C2: Cat(tom) ∨ Bird(tom)
C3: ¬Bird(tom)
Q: Mammal(tom)
T1: -
T2: ¬Bird(tom) ∧ Cat(tom)
T3: Mammal(tom)
T4: -""",
)
_LINE = re.compile(r"^[ \t>*`-]*([CT]\d{1,3}|Q)[*`]*[ \t]*[:.)][*` \t]*(.*?)[`* \t]*$", re.MULTILINE)
_NOTHING = frozenset({"", "-", "—", "–", "none", "None", "null", "n/a", "N/A"})


def request(problem: Problem, *, hint: bool = False) -> Messages:
    """Return what a policy is asked; raises `NoFormulas` where there are too many sentences."""
    assert not hint, "the text has its own answer"
    shown, replied = _EXAMPLE
    said = "\n".join(f"{label}: {text}" for label, text in _labelled(problem))
    return [message("system", _SYSTEM), message("user", shown), message("assistant", replied), message("user", said)]


def _labelled(problem: Problem) -> list[tuple[str, str]]:
    context = [line.passage.text for line in split(problem.context)]
    text = [line.passage.text for line in split(str(problem.meta[RATIONALE]), problem.question)]
    asked = ("Q", " ".join(problem.question.split()))
    given = [(f"C{number}", said) for number, said in enumerate(context, 1)]
    return [*given, asked, *((f"T{number}", said) for number, said in enumerate(text, 1))]


def formalised(trace: Trace) -> Trace:
    """Return the text as the attempt, with the formulas of a policy's reply in its problem's `meta`.

    Of a reply that was cut off none is used: the last formula may be half of one.
    """
    if not trace.finished:
        return with_formulas(trace, None)
    written: dict[str, str | None] = {}
    for label, formula in _LINE.findall(trace.completion):
        # Attack: two formulas for one sentence, of which the easier one counts.
        written[label] = None if label in written or formula in _NOTHING else formula.partition(":::")[0].strip()
    labels = [label for label, _ in _labelled(trace.problem)]
    formulas = {
        "context": [written.get(label) for label in labels if label[0] == "C"],
        "question": written.get("Q"),
        "text": [written.get(label) for label in labels if label[0] == "T"],
    }
    return with_formulas(trace, formulas)


def with_formulas(trace: Trace, formulas: object) -> Trace:
    """Return the text that a trace's problem holds as the attempt at that problem, with these formulas."""
    problem = trace.problem
    meta = {key: value for key, value in problem.meta.items() if key != RATIONALE} | {KEY: formulas}
    return Trace(
        trace.id,
        replace(problem, meta=meta),
        FORMAT,
        str(problem.meta[RATIONALE]),
        sampling=trace.sampling,
        policy=trace.policy,
    )


def is_short_enough(problem: Problem) -> bool:
    """Say whether a problem with its rationale has so few sentences that a policy is asked about them."""
    try:
        return bool(_labelled(problem))
    except NoFormulas:
        return False
