"""Attacks written by code from seeds: the problem is changed under its proof, or the proof under its problem.

Small problems are drawn with an honest attempt in each format. The attempt then meets another problem or another
question, loses a sentence or gains a false one. No such attempt may be certified with a wrong answer.

    python -m tools.seeded_attacks      writes critics/audit/seeded.jsonl, which `certistar audit` reads
"""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from critics.audit.catalogue_file import SEEDED, HonestCase
from critics.problem import Attempt, Formal, Problem

NUM_SEEDS = 9
FORMATS = ("csp", "english", "equivalence", "fol", "guided", "logic-program", "rules")
CLASSES = {
    "other_read_out": "what is read out is what the block says",
    "swapped_problem": "an attempt is about the problem that it answers",
    "flipped_question": "what is proved is what is asked",
    "false_sentence": "nothing false is said, needed or not",
    "dropped_sentence": "every step is there",
    "flipped_answer": "the answer is the one that is proved",
    "unread_question": "a question that is not read is not answered",
    "two_scales": "two scales are two orders",
    "asserted_question": "what was refuted is not said again as if it were the question",
    "hidden_words": "nothing false is said where nobody looks",
    "false_comment": "comments say what their formulas say, or the problem",
    "merged_names": "two words are two names",
    "valid_formula": "a formula that always holds is described by any other",
}
_WORDS = ("wren", "newt", "lark", "toad", "mole", "hare", "crab", "swan", "goat", "seal", "frog", "duck")
_COLOURS = ("red", "blue", "green", "white", "black", "grey")
_UNREAD = (
    "Which of the following is most likely true?",
    "Which of the following contradicts the text?",
    "Which of the following is true in some order?",
    "All but one of the following must be true. Which one is the exception?",
    "Which of the following is ruled out?",
    "If the first jar were the last, which of the following must be true?",
)
_FLIPPED = (
    "Which of the following is false?",
    "Which one of the following CANNOT be true?",
    "Each of the following must be true EXCEPT:",
    "Which one of the following must not be true?",
)
_VALID = ("p ∨ ¬p", "p → p", "∃x. (p(x) → (∀y. p(y)))", "(∀x. p(x)) → (∃x. p(x))", "(∀x. p(x)) ∧ (∃x. ¬p(x))")
_Tried = tuple[str, Problem, str]
"""Class, problem and completion."""


def records() -> Iterator[dict[str, object]]:
    """Yield the lines of the file: what stops each class, then the honest attempts and the cheats of each format."""
    yield {"classes": CLASSES}
    for format_ in FORMATS:
        for case in _honest(format_):
            yield {"honest": case.id, **_told(case.attempt.problem, case.attempt.completion, case.answer)}
        for number, (kind, problem, completion) in enumerate(_tried(format_)):
            name = f"{format_}/cheat/seeded {kind} {number}@{problem.id}"
            bare = replace(problem, answer=None)
            yield {"cheat": name, "class": kind, **_told(bare, completion, problem.answer)}


def _told(problem: Problem, completion: str, answer: str | None) -> dict[str, object]:
    said = {key: value for key, value in problem.record().items() if value is not None and value != {}}
    return {"problem": said, "completion": completion, "answer": answer}


def main() -> None:
    """Write the file of the catalogue anew."""
    SEEDED.write_text("".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records()), encoding="utf-8")


def _honest(format_: str) -> Iterator[HonestCase]:
    """Yield the attempts that the attacks change."""
    chains = format_ in ("guided", "english", "rules", "fol")
    for seed in range(2 * chains):
        own = _Chain(seed)
        name = f"{format_}/honest/seeded@{own.bare.id}"
        yield HonestCase(name, Attempt(name, own.bare, format_, getattr(own, format_)()), "true")
    for seed in range(2 * (format_ in ("csp", "logic-program"))):
        problem, completion = _row(format_, seed)
        name = f"{format_}/honest/seeded@{problem.id}"
        yield HonestCase(name, Attempt(name, problem, format_, completion), "A")


def _tried(format_: str) -> Iterator[_Tried]:
    if format_ in ("guided", "english", "rules", "fol"):
        for seed in range(NUM_SEEDS):
            yield from _chains(format_, _Chain(seed), _Chain(seed + NUM_SEEDS))
    elif format_ in ("csp", "logic-program"):
        for seed in range(NUM_SEEDS):
            yield from _rows(format_, seed)
    elif format_ == "equivalence":
        yield from _pairs()


class _Chain:
    """A theory of one chain of kinds, with an honest attempt in each format."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"chain {seed}")
        self.kinds = rng.sample(_WORDS, 5)
        self.name = rng.choice(("Tom", "Ann", "Rex"))
        *links, self.other = self.kinds
        self.pairs = list(pairwise(links))
        rules = [f"Every {one} is a {two}." for one, two in self.pairs]
        self.stated = [f"{self.name} is a {links[0]}.", *rules, f"Every {self.other} is not a {links[-1]}."]
        self.first, self.last = links[0], links[-1]
        question = f"True or false: {self.name} is a {self.last}."
        self.bare = Problem(f"chain {seed}", "prontoqa", " ".join(self.stated), question)
        """Without its answer, which is true."""

    def guided(
        self, *, without: int = -1, axiom: str = "", step: str = "", read_out: str = "", answer: str = "true"
    ) -> str:
        """Return an attempt, without a rule or with something more."""
        name = self.name.lower()
        rules = [f"({one} 'x) -> ({two} 'x)" for at, (one, two) in enumerate(self.pairs) if at != without]
        axioms = [f"({self.first} {name})", *rules, *([axiom] if axiom else [])]
        steps = [f"({two} {name})" for _, two in self.pairs]
        shown = [f"[[axiom:{text}]]" for text in axioms] + [f"[[goal:({self.last} {name})]]"]
        shown += [read_out, *(f"[[infer:{text}]]" for text in ([step] if step else []) + steps)]
        return f"{' '.join(shown)}\nAnswer: {answer}"

    def english(self, *, without: int = -1, more: str = "", answer: str = "true") -> str:
        """Return a chain of thought, without a step or with a sentence more."""
        said = [self.stated[0]]
        for at, (_, two) in enumerate(self.pairs):
            said += [self.stated[at + 1], f"So {self.name} is a {two}."] if at != without else []
        return " ".join([*said, *([more] if more else []), f"The answer is {answer}."])

    def rules(self, *, without: int = -1, more: str = "", goal: str = "") -> str:
        """Return a logic program in Logic-LM's language."""
        kept = [
            f"{a.title()}($x, True) >>> {b.title()}($x, True)" for at, (a, b) in enumerate(self.pairs) if at != without
        ]
        query = goal or f"{self.last.title()}({self.name}, True)"
        facts = [f"{self.first.title()}({self.name}, True)", *([more] if more else [])]
        return "\n".join(["Facts:", *facts, "Rules:", *kept, "Query:", query])

    def fol(self, *, without: int = -1, more: str = "", goal: str = "") -> str:
        """Return premises and conclusion."""
        name = self.name.lower()
        kept = [f"∀x ({a}(x) → {b}(x))" for at, (a, b) in enumerate(self.pairs) if at != without]
        said = [f"{self.first}({name})", *kept, *([more] if more else [])]
        return "\n".join(["Premises:", *said, "Conclusion:", goal or f"{self.last}({name})"])


def _chains(format_: str, own: _Chain, other: _Chain) -> Iterator[_Tried]:
    write = getattr(own, format_)
    name, bare = own.name.lower(), own.bare
    denied = replace(bare, question=f"True or false: {own.name} is not a {own.last}.", answer="false")
    yield "swapped_problem", other.bare, write()
    yield "flipped_question", denied, write()
    for at in range(3):
        yield "dropped_sentence", bare, write(without=at)
    yield from _hidden(format_, own, denied)
    if format_ == "guided":
        yield "flipped_answer", bare, own.guided(answer="false")
        yield "false_sentence", bare, own.guided(axiom=f"({own.other} {name})")
        yield "false_sentence", bare, own.guided(step=f"(not ({own.last} {name}))")
        for read_out in (
            f"({own.first} 'x) -> ({own.last} 'x)",
            f"({own.last} 'x) -> ({own.first} 'x)",
            f"{own.name} is a {own.other}.",
            f"Every {own.first} is not a {own.pairs[0][1]}.",
        ):
            yield "other_read_out", bare, own.guided(read_out=read_out)
    elif format_ == "english":
        yield "flipped_answer", bare, own.english(answer="false")
        for more in (
            f"{own.name} is a {own.other}.",
            f"{own.name} is not a {own.last}.",
            f"Every {own.last} is a {own.first}.",
        ):
            yield "false_sentence", bare, own.english(more=more)
    elif format_ == "rules":
        yield from _comments(own)
        yield "false_sentence", bare, own.rules(more=f"{own.other.title()}({own.name}, True)")
        yield "flipped_answer", bare, own.rules(goal=f"{own.last.title()}({own.name}, False)")
        word = own.first.title()
        said = f"{own.name} is {own.first}. {word}s fly."
        merged = replace(bare, dataset="someone's", context=said, question=f"Does {own.name} fly?")
        text = f"Facts:\n{word}({own.name}, True)\nRules:\n{word}s($x, True) >>> Fly($x, True)\n"
        yield "merged_names", merged, f"{text}Query:\nFly({own.name}, True)"
    else:
        yield "false_sentence", bare, own.fol(more=f"{own.other}({name})")
        yield "flipped_answer", bare, own.fol(goal=f"¬{own.last}({name})")


def _comments(own: _Chain) -> Iterator[_Tried]:
    """Yield honest programs with a false sentence behind a formula, before them or after them."""
    fact, rule = own.rules().split("\n")[1], own.rules().split("\n")[3]
    first, second = own.pairs[0]
    for at, said in (
        (fact, f"{own.name} is not a {own.first}."),
        (fact, f"{own.name} is a {own.other}."),
        (rule, f"No {first} is a {second}."),
        (rule, f"Every {second} is a {first}."),
    ):
        yield "false_comment", own.bare, own.rules().replace(at, f"{at} ::: {said}")
    yield "false_comment", own.bare, f"{own.rules()}\nAnswer: false"
    yield "false_comment", own.bare, f"The answer is false.\n{own.rules()}"
    yield "false_comment", own.bare, f"{own.rules()} ::: {own.name} is not a {own.last}."


def _hidden(format_: str, own: _Chain, denied: Problem) -> Iterator[_Tried]:
    """Yield false sentences where a reader may pass over them; `denied` asks the opposite of what is proved."""
    claim, false = denied.question.removeprefix("True or false: "), f"{own.name} is a {own.other}"
    asserted = (
        f"The conclusion is that {claim}",
        f"Claim: {claim}",
        f"We need to show that {claim}",
        f"Let's say {claim}",
    )
    if format_ == "english":
        for said in (*asserted, claim):
            yield "asserted_question", denied, own.english(more=said, answer="false")
        for said in (
            f"Apply the rule to {false.replace(' ', '_')}.",
            f"\n```{false.replace(' ', '_')}\n",
            f"({false}.)",
        ):
            yield "hidden_words", own.bare, own.english(more=said)
    elif format_ == "guided":
        goal = f"[[goal:({own.last} {own.name.lower()})]]"
        turned = own.guided(answer="false").replace(goal, f"[[goal:(not {goal[7:-2]})]]")
        for said in asserted[:3]:
            yield "asserted_question", denied, turned.replace("\nAnswer", f"\n{said}\nAnswer")
        for said in (f"({false}.)", f"<!-- {false}. -->", f"<i>{false}.</i>", f"{false}[1].", f"\u202e{false}.\u202c"):
            yield "hidden_words", own.bare, own.guided(read_out=said)
        yield "hidden_words", own.bare, own.guided(read_out=f"({own.other}ish {own.name.lower()})")


def _colours(seed: int) -> tuple[str, str, str]:
    one, two, three = random.Random(f"row {seed}").sample(_COLOURS, 3)
    return one, two, three


def _row(format_: str, seed: int) -> tuple[Problem, str]:
    """Return three jars in a row, and an honest program."""
    one, two, three = _colours(seed)
    listed = f"On a shelf, there are three jars: a {one} jar, a {two} jar, and a {three} jar."
    facts = f"The {one} jar is to the left of the {two} jar. The {three} jar is the rightmost."
    options = tuple(
        f"{letter}) The {name} jar is the leftmost." for letter, name in zip("ABC", _colours(seed), strict=True)
    )
    problem = Problem(
        f"row {seed}", "logicaldeduction", f"{listed} {facts}", "Which of the following is true?", options
    )
    return problem, (_csp if format_ == "csp" else _logic_program)(one, two, three)


def _rows(format_: str, seed: int) -> Iterator[_Tried]:
    problem, honest = _row(format_, seed)
    one, two, three = _colours(seed)
    listed = f"{problem.context.split('.')[0]}."
    for question in _UNREAD if format_ == "csp" else _UNREAD[:-1]:
        yield "unread_question", replace(problem, question=question), honest
    for question in _FLIPPED:
        yield "flipped_question", replace(problem, question=question), honest
    if format_ == "csp":
        turned = f"{listed} The {two} jar is to the left of the {one} jar. The {three} jar is the rightmost."
        yield "swapped_problem", replace(problem, context=turned), honest
        scales = f"{listed} The {one} jar is to the left of the {two} jar. The {three} jar is the newest."
        yield "two_scales", replace(problem, context=scales), honest
        for more in (
            "Nobody came.",
            "The jars are not in this order.",
            f"The {one} jar is cheaper than the {two} jar.",
        ):
            yield "false_sentence", replace(problem, context=f"{problem.context} {more}"), honest


def _csp(one: str, two: str, three: str) -> str:
    names = [f"{colour}_jar" for colour in (one, two, three)]
    lines = ["Domain:", "1: leftmost", "3: rightmost", "Variables:", *(f"{name} [IN] [1, 2, 3]" for name in names)]
    lines += ["Constraints:", f"{names[0]} < {names[1]}", f"{names[2]} == 3"]
    lines += [f"AllDifferentConstraint([{', '.join(names)}])", "Query:"]
    return "\n".join([*lines, *(f"{letter}) {name} == 1" for letter, name in zip("ABC", names, strict=True))])


def _logic_program(one: str, two: str, three: str) -> str:
    lines = ["# Declarations", f"jars = EnumSort([{one}_jar, {two}_jar, {three}_jar])", "places = EnumSort([1, 2, 3])"]
    lines += ["at = Function([jars] -> [places])", "# Constraints", "Distinct([j:jars], at(j))"]
    lines += [f"at({one}_jar) < at({two}_jar)", f"at({three}_jar) == 3", "# Options"]
    shown = zip("ABC", (one, two, three), strict=True)
    return "\n".join([*lines, *(f"is_valid(at({colour}_jar) == 1) ::: ({letter})" for letter, colour in shown)])


def _pairs() -> Iterator[_Tried]:
    same = json.dumps({"language": "propositional", "left": "p", "right": "p"})
    for dataset in (
        "FOLIO",
        "Folio",
        "folio ",
        "ProofWriter",
        "AR-LSAT",
        "PrOntoQA",
        "someone's",
        "autoeval folio",
        "gsm8k",
    ):
        yield "swapped_problem", Problem(f"of {dataset}", dataset, "Tom is a cat.", "Is it so?"), same
    for formula in _VALID:
        for other in ("q(b) ∨ ¬q(b)", "¬(q(b) ∨ ¬q(b))"):
            made = json.dumps({"language": "first-order", "left": formula, "right": other})
            problem = Problem("f", "autoeval-fol", "Describe.", "Formula?", formal=Formal((), formula))
            yield "valid_formula", replace(problem, meta={"language": "first-order"}), made


if __name__ == "__main__":
    main()
