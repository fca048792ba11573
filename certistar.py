"""Certistar from Python: judge a text, keep what is proved, check certificates again.

    >>> import certistar
    >>> verdict = certistar.judge(context, question, text, format="guided", dataset="prontoqa")
    >>> verdict.verdict, verdict.answer, verdict.grade
    ('certified', 'true', 'checked')

`judge` takes one text, `filter` a list of rows or a `datasets.Dataset`, `save` writes what it kept as a folder, and
`recheck` takes what any of them certified. In a notebook a verdict shows its proof.
The reference is docs/python.md. Nothing heavy is imported before it is needed: `import certistar` loads no solver,
no torch and no datasets. Every other module of critics, rollout and training may change between versions.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pathlib import Path

    from critics.grammar.reader import Reading, Refusal
    from critics.problem import Attempt, Problem
    from critics.recheck.index import RecheckRecord
    from critics.verdict import Certified, CriticError, Malformed, Refuted, TimedOut, Unproved, Vacuous, Verdict
    from critics.verdict.certificate import Certificate
    from rollout.records.traces import Trace
    from training.configuration.learning import Keep, Text
    from training.curation.outcomes import KeptSummary

    __version__: str

__all__ = [
    "Attempt", "Certificate", "Certified", "CriticError", "Malformed", "Problem", "Reading", "Refusal", "Refuted",
    "TimedOut", "Trace", "Unproved", "Vacuous", "Verdict", "__version__", "filter", "judge", "read", "recheck", "save",
]  # fmt: skip
_VERDICTS = ("Certified", "CriticError", "Malformed", "Refuted", "TimedOut", "Unproved", "Vacuous", "Verdict")
_HOMES = {
    "critics.grammar.reader": ("Reading", "Refusal"),
    "critics.verdict.certificate": ("Certificate",),
    "critics.problem": ("Attempt", "Problem"),
    "critics.verdict": _VERDICTS,
    "rollout.records.traces": ("Trace",),
}
"""The module of each name that is imported when it is first asked for."""
_Rows = TypeVar("_Rows", bound=Iterable[Any])


def judge(
    context: str,
    question: str,
    completion: str,
    *,
    answer: str | bool | None = None,
    options: Sequence[str] | None = None,
    format: str = "english",  # noqa: A002
    dataset: str | None = None,
    axioms: Iterable[str] = (),
) -> "Verdict":
    """Judge one text about one question; return its verdict, with a certificate if the text proves its answer.

    `answer` is the gold answer: true, false, unknown, or the letter or text of one of the `options`. A text whose
    answer differs from it is never certified; yes and no answer a question that ends in `?`.
    `format` is the language of the text (docs/python.md has a table).
    `dataset` says in whose language the context is (prontoqa, proofwriter, syllogism, deontiqa): the critic then
    reads the context itself, and the certificate's grade is `checked` instead of `trusted`.

    `axioms` are sentences that the context leaves unsaid; what rests on them is certified with the grade `given`.

    A critic that fails is a verdict (`CriticError`), not an exception. Raises `ValueError` for an unknown format, or
    an answer that the problem cannot have. There is no time limit here: judge programs of strangers with `filter` and
    `jobs=2`, which kills what takes too long.
    """
    from dataclasses import replace

    from critics.errors import InputError
    from critics.judge import judge_safely
    from critics.problem import read_attempt
    from critics.text.blocks import answer_of

    asked = {"context": context, "question": question, "options": None if options is None else list(options)}
    meta = {"axioms": declared} if (declared := list(axioms)) else {}
    problem = {"id": "problem", "dataset": dataset or "rationales", **asked, "meta": meta}
    attempt = read_attempt({"id": "attempt", "problem": problem, "format": format, "completion": completion})
    if answer is not None:
        gold = answer_of(str(answer).lower(), attempt.problem)
        if gold is None:
            told = "not an answer of this problem; give true, false, unknown, or an option"
            raise InputError(f"answer={answer!r}: {told}")
        attempt = replace(attempt, problem=replace(attempt.problem, answer=gold))
    verdict = judge_safely(attempt)
    if verdict.reading is None:
        return verdict
    return replace(verdict, reading=replace(verdict.reading, text=completion))


def read(context: str, question: str | None = None, *, axioms: Iterable[str] = ()) -> "list[Reading | Refusal]":
    """Read the sentences of a context, declared axioms and the question; one `Reading` or `Refusal` for each, in order.

    A `Reading` has `formula` (its text is `str(reading)`), the `phrases` with their places, and the `conventions` it
    rests on. A `Refusal` has the `word` that cannot be read, its `start` and `end`, and `why`: what to write instead.
    """
    from critics.grammar.text import read_text

    return read_text(context, question, axioms)


def filter(  # noqa: A001
    dataset: _Rows,
    keep: "Keep" = "strict",
    *,
    jobs: int = 1,
    columns: Mapping[str, str] | None = None,
    answers: Mapping[str, str] | None = None,
    format: str | None = None,  # noqa: A002
    language: str | None = None,
    timeout_s: float = 10.0,
    text: "Text" = "sampled",
) -> _Rows:
    """Judge all rows, and return those that the filter `keep` keeps: a list for a list, a Dataset for a Dataset.

    Rows are attempts or traces (`problem`, `format`, `completion`), chat messages, ShareGPT, prompts with completions,
    Alpaca, or rows of a table, as their columns' names say; `columns` says which column is the `question`, the
    `rationale`, the `context`, the `options`, the `answer`, the `conclusion` and the `id`, where it is not named so,
    and `answers` what other words of the gold column mean (`{"1": "true"}`). `format` is that of all texts (None: as
    each one looks), `language` is `judge`'s `dataset`.

    Kept rows are as they came, in their order, and have five more columns: `verdict`, `reason`, `grade` (None where
    nothing was certified), `judgement`, the verdict record with its certificate, and `attempt`, what was judged (in a
    Dataset both are JSON text). With `text="proved"`, `attempt` is the text cut to what its critic read and bears out;
    with `text="excerpt"`, a text that is not certified is cut by its sentences that are not read, and judged again.

    With `jobs=1` rows are judged in this process, without a time limit; with more, in so many processes, which are
    killed after `timeout_s` seconds a row. Neither scripts nor notebooks need a `__main__` guard for that. Raises
    `ValueError` where a column is missing, or not one row can be read; rows that cannot be read are dropped with a
    warning.
    """
    from training.exchange.filtering import filtered

    return filtered(dataset, keep, jobs, columns, answers, format, language, timeout_s, text)


def save(dataset: Iterable[Any], folder: "str | Path", *, jobs: int = 1, timeout_s: float = 10.0) -> "KeptSummary":
    """Write rows that `filter` returned as a folder to train on, push and re-check; return its summary.

    The folder is that of `certistar filter`: examples, certificates, lineage, a card that `load_dataset` reads, and the
    rows as they came. Every text is judged once more (`jobs` and `timeout_s` as in `filter`). Raises `ValueError`
    where a row says something else of its text than its critic, or where the folder is there already.
    """
    from pathlib import Path

    from training.exchange.filtering import saved

    return saved(dataset, Path(folder), jobs, timeout_s)


def recheck(records: "Iterable[Mapping[str, Any] | Certified]") -> "RecheckRecord":
    """Check certificates again with the independent checker; return counts, and what was rejected.

    `records` are verdict records, traces, rows that `filter` returned, or `Certified` verdicts of `judge`. The result
    has `checked`, `accepted`, `skipped` (not certified), `second_opinion` and `rejected`, a list of `id` and `reason`.
    A trace's text is judged again by its critic, in this process and without a time limit; `text` says how many were.
    """
    from critics.recheck.rejudging import judge_anew, recheck_texts

    return recheck_texts(map(_recheckable, records), lambda found: map(judge_anew, found)).record()


def _recheckable(record: "Mapping[str, Any] | Certified") -> Mapping[str, Any]:
    """Return the verdict record or the trace; a row of a table is no trace, and its verdict is checked alone."""
    import json

    from critics.verdict import Certified, verdict_record

    if isinstance(record, Certified):
        return verdict_record("attempt", record)
    given = (record.get(name) for name in ("judgement", "attempt"))
    judgement, attempt = (json.loads(value) if isinstance(value, str) else value for value in given)
    if judgement is None:
        return record
    if attempt is None and not isinstance(record.get("problem"), Mapping):
        return judgement
    return {**(record if attempt is None else attempt), "judgement": judgement}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("certistar")
    for module, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(module), name)
    raise AttributeError(f"module 'certistar' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
