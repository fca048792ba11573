"""Filters: which judged traces become training examples.

naive and guided are STaR's own criterion, a right answer, without and with the guide; of a round trip, whose answer
only the critic knows, naive asks that a formula came back. label is naive under the name that LLM-ARC has for it;
tests also asks that a program passes its own tests; proved is guided and LogicGuide's strict filter, a proof in the
guide's environment whose outcome is the gold answer (weaker than a certificate: `formal_outcome`);
majority, which needs no gold answer, asks for the answer that most
samples of the problem give; well-formed is what a filter without a critic could see of a
proof: a right answer, a last sentence with the question's words, and a sentence of its own for each hop;
strict asks for a certificate whose formulas were checked, were given, or are borne out by the text, and faithful is
another name for it; explicit is strict that also asks for each step's premises to be said before it; trusted asks
for a certificate of any grade;
unfiltered keeps whatever was finished. The rest is counted, never silently dropped.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from critics.errors import InputError
from critics.formats.names import GUIDED
from critics.judge import Judging
from critics.problem import Problem
from critics.replay.answers import in_terms_of
from critics.replay.grades import Grade, count_by_grade
from rollout.records.sampling import FREE, derived_seed
from rollout.records.steps import DialogTurn
from rollout.records.traces import Trace, with_judgement
from training.configuration.learning import CERTIFIED, Keep
from training.curation.outcomes import Funnel, is_decided


def judged(traces: Iterable[Trace], judging: Judging) -> Iterator[Trace]:
    """Yield the traces with their verdicts and certificates; `judging` is given all of them at once."""
    listed = list(traces)
    for trace, verdict in zip(listed, judging([trace.record() for trace in listed]), strict=True):
        yield with_judgement(trace, verdict)


NUM_OTHERS = 2
FITS_ANOTHER = "fits_another_problem"
ON_TRUST = ("aligned", "trusted")


def independent(chosen: Sequence[Trace], keep: Keep, judging: Judging) -> tuple[list[Trace], list[str]]:
    """Return the kept traces without those that are certified of another problem, and the ids of the latter."""
    doubted = [trace for trace in chosen if keep in CERTIFIED and trace.judged.grade in ON_TRUST]
    problems = list({trace.problem.context: trace.problem for trace in chosen}.values())
    asked = [(trace.id, attempt) for trace in doubted for attempt in _elsewhere(trace, problems)]
    fresh = judged([attempt for _, attempt in asked], judging) if asked else ()
    foreign = {id_ for (id_, _), attempt in zip(asked, fresh, strict=True) if attempt.judged.is_certified}
    return [t for t in chosen if t.id not in foreign], [t.id for t in chosen if t.id in foreign]


def _elsewhere(trace: Trace, problems: Sequence[Problem]) -> Iterator[Trace]:
    """Yield the attempt at the next problems of its kind that have another text, their gold answers withheld."""
    own = trace.problem

    def kind(problem: Problem) -> tuple[str, int]:
        return problem.dataset, len(problem.options or ())

    at = next(i for i, problem in enumerate(problems) if problem.context == own.context)
    others = [p for p in (*problems[at + 1 :], *problems[:at]) if kind(p) == kind(own)][:NUM_OTHERS]
    for number, other in enumerate(others):
        problem = replace(other, answer=None, formal=None, meta=own.meta)
        yield replace(trace, id=f"{trace.id}~{number}", problem=problem, judgement=None)


if TYPE_CHECKING:
    from rollout.decoding.guide import Truth


@dataclass(frozen=True, slots=True)
class Outline:
    """Counted properties of a judged trace: so few that a million fit in memory."""

    right: bool
    lucky: bool
    verdict: str
    reason: str
    grade: Grade | None = None
    gold: str | None = None
    """The gold answer, where it is a truth value or an option."""


def outline(trace: Trace) -> Outline:
    """Return what is counted of a judged trace."""
    judged = trace.judged
    return Outline(is_right(trace), is_lucky(trace), judged.verdict, judged.reason, judged.grade, _choice(trace))


def _choice(trace: Trace) -> str | None:
    gold, options = trace.problem.answer, trace.problem.options
    return gold if gold in (options or ("true", "false", "unknown")) else None


def by_answer(outlines: Sequence[Outline], kept: Sequence[Trace]) -> dict[str, dict[str, int]]:
    """Count sampled, right, certified and kept for each gold answer that is a truth value or an option."""
    passed = Counter(map(_choice, kept))
    found: dict[str, dict[str, int]] = {}
    for gold in sorted({each.gold for each in outlines if each.gold is not None}):
        own = [each for each in outlines if each.gold == gold]
        certified = sum(each.verdict == "certified" for each in own)
        right = sum(each.right for each in own)
        found[gold] = {"sampled": len(own), "right": right, "certified": certified, "kept": passed[gold]}
    return found


def problem_key(problem: Problem) -> str:
    """Return what two attempts at one problem share, whatever the problem is called."""
    return json.dumps([problem.context, problem.question, problem.options])


def is_right(trace: Trace) -> bool:
    """Say whether the answer equals the gold one; an unknown gold answer makes nothing right."""
    gold = trace.problem.answer
    return gold is not None and trace.judged.answer == gold


def is_certified(trace: Trace) -> bool:
    """Say whether the critic certified the trace."""
    return trace.judged.is_certified


def is_lucky(trace: Trace) -> bool:
    """Say whether the answer is right, and a critic that read the whole text found no proof in it."""
    return is_right(trace) and not is_certified(trace) and is_decided(trace)


def is_strict(trace: Trace) -> bool:
    """Say whether somebody beside the model vouches for what is proved, and its text holds nothing but that."""
    return trace.judged.is_strict


def is_guided(trace: Trace) -> bool:
    """Say whether the answer is right and was written under the guide."""
    is_free = trace.sampling is not None and trace.sampling.decoding == FREE
    return is_right(trace) and trace.format == GUIDED and not is_free


def kept(trace: Trace, keep: Keep) -> bool:
    """Apply one filter to one judged trace. A completion that was cut off teaches no model to stop: never kept."""
    if not trace.finished:
        return False
    match keep:
        case "strict" | "faithful":
            return is_strict(trace)
        case "explicit":
            return is_strict(trace) and trace.judged.is_explicit(trace.format)
        case "trusted":
            return is_certified(trace)
        case "guided":
            return is_guided(trace)
        case "proved":
            return is_guided(trace) and proves_label(trace)
        case "tests":
            return is_right(trace) and passes_tests(trace)
        case "naive" | "label":
            return comes_back_readable(trace) if trace.legs else is_right(trace)
        case "well-formed":
            return is_right(trace) and looks_proved(trace.problem, trace.completion)
        case "majority":  # `select` counts the votes
            return trace.judged.answer is not None
        case "unfiltered":
            return True


def looks_proved(problem: Problem, completion: str) -> bool:
    """Say whether an English attempt looks proved: long enough for its problem's hops, and it ends with the question.

    Sentences of the context are not counted. The last sentence before the answer has all words of the question but
    `not`. No premise is read.
    """
    *said, _ = [line for line in completion.strip().split("\n") if line.strip()] or [""]
    sentences = re.findall(r"[^.!?]+[.!?]", " ".join(said))
    asked = problem.question.rpartition(":")[2]
    wanted, ends = (set(re.findall(r"\w+", text.lower())) - {"not"} for text in (asked, (sentences or [""])[-1]))
    num_own = sum(sentence.strip() not in problem.context for sentence in sentences)
    return num_own >= problem.meta.get("hops", 0) and wanted <= ends


def balanced(traces: Sequence[Trace], *, seed: int) -> list[Trace]:
    """Return as many traces of each answer that was given as the rarest has; of one answer alone, none."""
    counts = Counter(trace.judged.answer for trace in traces)
    groups = [[trace for trace in traces if trace.judged.answer == answer] for answer in counts]
    num = min(counts.values()) if len(counts) > 1 else 0
    chosen = {trace.id for group in groups for trace in subsample(group, num, seed=seed)}
    return [trace for trace in traces if trace.id in chosen]


def compiles(trace: Trace) -> bool:
    """Say whether the last turn of a dialog could be read and compiled."""
    return _last_turn(trace).review.kind not in ("reply", "compile", "unknown", "error")


def passes_tests(trace: Trace) -> bool:
    """Say whether the last program of a dialog has tests and the critic had nothing left to say about them."""
    last = _last_turn(trace)
    return last.is_accepted and last.review.num_tests > 0


def passes_in_solver(trace: Trace) -> bool:
    """Say whether the solver passes all tests of the last program of a dialog: LLM-ARC's notion of passed.

    Tests that are none, that repeat each other or that the critic has other doubts about count as passed here.
    """
    review = _last_turn(trace).review
    return 0 < review.num_tests == review.num_met


def _last_turn(trace: Trace) -> DialogTurn:
    if not trace.turns:
        raise InputError(f"attempt {trace.id!r} is no dialog with a critic, so nothing is known of its tests")
    return trace.turns[-1]


def comes_back_readable(trace: Trace) -> bool:
    """Say whether a judged trip came back with a formula at all: the criterion of the `naive` arm."""
    return trace.ending == "arrived" and trace.judged.verdict not in ("malformed", "error")


def select(traces: Iterable[Trace], keep: Keep) -> list[Trace]:
    """Return the kept traces in order, without a second copy of the same text about the same problem.

    majority keeps what answers as most finished samples of its problem do, and nothing where two answers have as many.
    """
    traces = list(traces)
    if keep == "majority":
        traces = voted(traces, lambda trace: trace.judged.answer)
    found: dict[tuple[str, str, str], Trace] = {}
    for trace in traces:
        if kept(trace, keep):
            found.setdefault(_content(trace), trace)
    return list(found.values())


def voted(traces: Sequence[Trace], said: Callable[[Trace], str | None]) -> list[Trace]:
    """Return the traces that say what most finished ones of their problem say, two at least and more than any other."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for trace in traces:
        if trace.finished and (vote := said(trace)) is not None:
            votes[problem_key(trace.problem)][vote] += 1
    winners = {key: _winner(of_problem) for key, of_problem in votes.items()}
    return [t for t in traces if said(t) is not None and said(t) == winners.get(problem_key(t.problem))]


def _winner(votes: Counter[str]) -> str | None:
    """Return the answer with the most votes; None where two have as many, or it has no other vote than its own."""
    first, second = (*votes.most_common(2), ("", 0), ("", 0))[:2]
    return first[0] if first[1] > max(1, second[1]) else None


def false_positives(traces: Iterable[Trace], rate: float, reason: str | None, *, seed: int) -> list[Trace]:
    """Return a share of the lucky traces: those that a critic with this rate of false positives would let through.

    Chosen by a hash of (seed, id); those that were refused for `reason`, if any is named, come first.
    """
    seen: dict[tuple[str, str, str], Trace] = {}
    for trace in traces:
        if trace.finished and is_lucky(trace):
            seen.setdefault(_content(trace), trace)
    lucky = sorted(seen.values(), key=lambda t: derived_seed(seed, "false-positives", t.id))
    return sorted(lucky, key=lambda t: t.judged.reason != reason)[: round(rate * len(lucky))]


def subsample(traces: Sequence[Trace], num: int, *, seed: int) -> list[Trace]:
    """Return at most `num` traces, chosen by a hash of (seed, id), in their order."""
    chosen = {t.id for t in sorted(traces, key=lambda t: derived_seed(seed, "subsample", t.id))[:num]}
    return [trace for trace in traces if trace.id in chosen]


def likeliest(traces: Sequence[Trace], num: int) -> list[Trace]:
    """Return at most `num` traces, those whose tokens have the highest mean log-probability, in their order."""
    if bare := next((trace.id for trace in traces if not trace.log_probabilities), None):
        raise InputError(f"attempt {bare!r} has no log-probabilities; sample with sampling.log_probabilities: true")
    chosen = {t.id for t in sorted(traces, key=lambda t: (-fmean(t.log_probabilities), t.id))[:num]}
    return [trace for trace in traces if trace.id in chosen]


def funnel(traces: Sequence[Outline], num_kept: int) -> Funnel:
    """Count sampled, right, certified (by grade), lucky and kept, with every verdict and reason."""
    return {
        "sampled": len(traces),
        "right": sum(outline.right for outline in traces),
        "certified": sum(outline.verdict == "certified" for outline in traces),
        "grades": count_by_grade(outline.grade for outline in traces),
        "lucky": sum(outline.lucky for outline in traces),
        "kept": num_kept,
        "verdicts": dict(sorted(Counter(outline.verdict for outline in traces).items())),
        "reasons": dict(sorted(Counter(outline.reason for outline in traces).items())),
    }


def _content(trace: Trace) -> tuple[str, str, str]:
    """Return what is asked and what was written about it."""
    written = str(trace.messages) if trace.messages else trace.completion
    if trace.legs:  # the description is learnt as well, and may be another one
        written = "\n".join(leg.completion for leg in trace.legs)
    return trace.problem.context, trace.problem.question, written


_BLOCK = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)
NOT_CERTIFIED = "none"


def formal_outcome(trace: Trace) -> "Truth | None":
    """Return what the environment of the attempt has decided at its end, taking the formalisation on trust.

    This is the paper's formal verdict (section 4.1), which needs neither an answer nor agreement with the text: the
    guide's own state after all closed blocks, in which a step that does not follow changes nothing. `unknown` where
    all that follows was inferred and the goal is open; None where more could be inferred, or no goal is set. Not asked
    is whether the formalisation says what the text says, whether the goal is the question, whether an axiom is a
    premise at all, contradicts another or is the goal itself, or whether the sentences beside the blocks are true.
    """
    if trace.messages or trace.legs:
        return None
    from rollout.guides.logic import LogicGuide

    guide = LogicGuide.for_problem(trace.problem)
    for block in _BLOCK.findall(trace.completion):
        guide.close(block.encode(errors="replace"))
    return guide.conclusion()


def proves_label(trace: Trace) -> bool:
    """Say whether the environment holds a proof, of the goal or of its negation, whose outcome is the gold answer.

    That nothing more follows is no proof: a gold answer `unknown` is never proved so.
    """
    gold = trace.problem.answer
    if gold is None or trace.format != GUIDED:
        return False
    outcome = formal_outcome(trace)
    return outcome in ("true", "false") and in_terms_of(outcome, trace.problem.options) == gold


def kept_by_grade(traces: Iterable[Trace]) -> dict[str, int]:
    """Count kept traces by the grade of their certificates, and those that have none."""
    grades = [trace.judged.grade for trace in traces]
    return {**count_by_grade(grades), NOT_CERTIFIED: sum(grade is None for grade in grades)}
