"""The critic of `english` attempts: a chain of thought in regular English, judged sentence by sentence without a model.

Every sentence must be the context's, established before, or one step away (`steps`), and the answer must be proved
about the question that was asked. A sentence that is read and does not hold makes the attempt `unproved`, reason
`unsupported_sentence` (`skipped_steps` where it follows in several steps). One that is not read makes it `malformed`,
reason `not_read`. Both quote the sentence.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from critics.formats.english.trial import Trial
from critics.formats.horn import derivation
from critics.grammar.frames import overruling
from critics.grammar.reader import Refusal
from critics.grammar.text import read_text, sentences
from critics.problem import AXIOMS, SETTLED, Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.certificate import CONTROLLED
from critics.replay.clauses import OutOfWork
from critics.replay.english import check_english
from critics.replay.kernel import ArityError, WorkLimitExceeded
from critics.replay.semantics import semantics_of
from critics.replay.sorts import SortError
from critics.text.blocks import answer_of
from critics.text.english.language import Unreadable, language_of, reader_of
from critics.text.english.outline import Outline
from critics.text.english.passage import TextSentence, coverage, lines, painted
from critics.text.english.steps import WORK_LIMIT, Ledger, Warrant
from critics.text.english.wording import answer_in
from critics.text.reference import is_trusting, text_contradicts
from critics.verdict import Certified, CriticError, Malformed, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import Certificate, certify
from critics.verdict.conclusion import BadSentence, brief, certified, is_wrong, refused, wrong_answer
from critics.verdict.reading import EARLY, BadStep, Span, TextReading

KIND = "english-proof"
ENGINE = "certistar-english/1"


def english_certificate(problem: Problem, trial: Trial, spans: Sequence[Span], completion: str) -> Certificate:
    """Return the certificate of a trial that ended well, digest included.

    It holds everything that is established, in order, and where the text says it; where the answer is that nothing
    decides the question, everything that forward chaining gives.
    """
    assert trial.claimed is not None
    language = trial.language
    evidence = {
        "reference": language.source,
        "semantics": language.semantics.kind,
        "completion": completion,
        "goal": list(map(str, language.goal)),
        "entries": [
            {"says": str(entry.clause), "how": entry.step.how, "premises": list(entry.step.premises)}
            for entry in trial.ledger.entries
        ],
        "spans": [span.record() for span in spans],
        "closure": derivation(language.saturation().entries) if trial.proved == "unknown" else None,
    }
    limits = {"work": WORK_LIMIT}
    return certify(KIND, problem, trial.claimed, evidence, engine=ENGINE, formal=language.formal, limits=limits)


MAX_CHARACTERS = 30_000
_NOT_READ = frozenset({"not_read", "context_not_read", "question_not_read"})
"""Reasons for which the grammar, which reads any context, has a try."""
MAX_SENTENCES = 400


def judge_english(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt; pure, deterministic and bounded."""
    has_reader = reader_of(problem.dataset) != CONTROLLED and not is_trusting()
    if "formulas" in problem.meta and not has_reader and problem.formal is None:
        from critics.formats.english.formalised import judge_formalised

        return judge_formalised(problem, attempt)
    if is_trusting():
        # A text in English is read or it is nothing: there is no formalisation to be taken on trust.
        return CriticError("no_reference", None, "plain English is not judged where no reader is to be used")
    if not has_reader and (other := overruling(sentences(problem.context), ())) is not None:
        # Attack: `The following is false. Every cat is warm.`
        return CriticError("context_not_read", None, brief(f"{other!r} speaks of other sentences"))
    if SETTLED in problem.meta or problem.meta.get(AXIOMS):
        return _by_grammar(problem, attempt)
    verdict = read_english(problem, attempt)
    # Forward rules say less than the sentences do, and clauses less than formulas.
    is_weak = isinstance(verdict, Unproved) and (not has_reader or semantics_of(problem.dataset).forward)
    # The answer may stand before its proof, which the grammar looks at.
    is_early = EARLY in verdict.feedback or (verdict.reason == "skipped_steps" and not _bad_index(verdict))
    # The data set promises a language that the context is not in; PrOntoQA's has other rules besides its own.
    is_foreign = isinstance(verdict, CriticError) and has_reader and problem.dataset != "prontoqa"
    if problem.formal is not None or is_foreign or not (verdict.reason in _NOT_READ or is_weak or is_early):
        return verdict
    by_grammar = _by_grammar(problem, attempt)
    if not has_reader:
        return _of_any_context(problem, verdict, by_grammar)
    if isinstance(verdict, CriticError) and isinstance(by_grammar, Malformed) and _lost(problem) is None:
        return by_grammar
    # Of two readers that do not read a text whole the one that reads on says where it is lost.
    if isinstance(verdict, Malformed) and isinstance(by_grammar, Malformed | Unproved):
        found, lost = _bad_index(by_grammar), _bad_index(verdict)
        is_further = found > lost or (isinstance(by_grammar, Unproved) and found in (-1, lost))
        return by_grammar if is_further else verdict
    return by_grammar if isinstance(by_grammar, Certified) else verdict


def _of_any_context(problem: Problem, verdict: Verdict, by_grammar: Verdict) -> Verdict:
    """Return the grammar's verdict; an error where it refuses and the context is read in part: the rest may bear it."""
    lost = _lost(problem) if isinstance(by_grammar, Unproved | Malformed | CriticError) else None
    if lost is None:
        return by_grammar
    why = verdict.feedback if lost.text in verdict.feedback else f"{lost.text!r}: {lost.word}: {lost.why}"
    told = why if lost.text in by_grammar.feedback else f"{why}; in the text, {by_grammar.feedback}"
    return CriticError("context_not_read", by_grammar.answer, brief(told), reading=by_grammar.reading)


def _lost(problem: Problem) -> Refusal | None:
    """Return the first sentence of the context that the grammar does not read."""
    return next((each for each in read_text(problem.context) if isinstance(each, Refusal)), None)


def _bad_index(verdict: Verdict) -> int:
    bad = None if verdict.reading is None else verdict.reading.first_bad_step
    return -1 if bad is None else bad.index


def _by_grammar(problem: Problem, attempt: Attempt) -> Verdict:
    from critics.formats.english.readings import judge_readings

    verdict = judge_readings(problem, attempt)
    said = lines(attempt.completion, problem.question) if verdict.answer is None else ()
    return replace(verdict, answer=verdict.answer or _last_answer(list(islice(said, MAX_SENTENCES)), problem))


def read_english(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt by its problem's English alone; the verdict says what stands behind each piece of the text."""
    text = attempt.completion
    if len(text) > MAX_CHARACTERS:
        return _unread(Malformed("too_long", None, f"more than {MAX_CHARACTERS} characters"), text)
    sentences = list(islice(lines(text, problem.question), MAX_SENTENCES + 1))
    if len(sentences) > MAX_SENTENCES:
        return _unread(Malformed("too_long", None, f"more than {MAX_SENTENCES} sentences"), text)
    try:
        language = language_of(problem)
    except Unreadable as error:
        return _unread(CriticError(error.reason, _last_answer(sentences, problem), brief(str(error))), text)
    outline = Outline(language, problem.question)
    answer = _last_answer(sentences, problem)
    try:
        if language.contradicts_itself():
            return _unread(Vacuous("inconsistent_context", answer, "the context contradicts itself"), text)
        ledger = Ledger(forward=language.semantics.forward)
        for clause in language.stated:
            ledger.add(clause, Warrant("context", ()))
    except (WorkLimitExceeded, OutOfWork) as error:
        return _unread(TimedOut("work_limit", answer, brief(str(error) or "the context takes too much work")), text)
    except (ArityError, SortError) as error:
        return _unread(CriticError("no_reference", answer, brief(str(error))), text)
    return _tried(problem, attempt, Trial(problem, language, ledger), sentences, answer, outline)


def _tried(
    problem: Problem,
    attempt: Attempt,
    trial: Trial,
    sentences: Sequence[TextSentence],
    answer: str | None,
    outline: Outline,
) -> Verdict:
    refusal: BadSentence | None = None
    done: list[tuple[int, int]] = []
    try:
        for index, line in enumerate(sentences):
            trial.sentence(line, outline.units(line), index)
            done.append(line.passage.span)
        trial.end()
    except BadSentence as sentence:
        refusal = sentence
    bad = None if refusal is None else refusal.bad
    spans = painted(trial.spans if bad is None else _before(trial.spans, bad, done), done, attempt.completion)
    verdict = _proved(problem, attempt, trial, spans) if refusal is None else refused(refusal, problem, answer)
    unsaid = tuple(trial.unsaid) if isinstance(verdict, Certified) else None
    return replace(verdict, reading=TextReading(coverage(spans, attempt.completion), spans, bad, unsaid=unsaid))


def _before(spans: Sequence[Span], bad: BadStep, done: Sequence[tuple[int, int]]) -> list[Span]:
    """Return the spans of the sentences before the first that does not hold."""
    end = done[bad.index - 1][1] if 0 < bad.index <= len(done) else 0
    return [span for span in spans if span.end <= end]


def _proved(problem: Problem, attempt: Attempt, trial: Trial, spans: Sequence[Span]) -> Verdict:
    """Certify what the independent checker accepts as well."""
    assert trial.claimed is not None
    assert trial.proved is not None
    claim = trial.claimed
    if is_wrong(claim, problem):
        return wrong_answer(claim)
    source = trial.language.source
    if in_terms_of(trial.proved, problem.options) != claim or text_contradicts(
        problem, claim, "given" if source == CONTROLLED else source
    ):
        return Unproved("text_says_otherwise", claim, "a translator reads the text otherwise")
    return certified(english_certificate(problem, trial, spans, attempt.completion), check_english)


def _last_answer(sentences: Sequence[TextSentence], problem: Problem) -> str | None:
    """Return the last answer that a sentence gives, whatever the others say."""
    for line in reversed(sentences):
        value = answer_in(line)
        found = None if value is None else answer_of(value, problem)
        if found is not None:
            return found
    return None


def _unread(verdict: Verdict, text: str) -> Verdict:
    return replace(verdict, reading=TextReading(0.0, painted((), (), text)))
