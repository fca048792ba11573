"""Judging again: what a file says of a text is compared with what the format's critic says of it now.

A certificate proves its own evidence. That the text beside it says what the evidence says, only the format's critic
can tell. Critics are deterministic, so that an honest verdict comes out again.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from critics import registry
from critics.formats.format import find_format
from critics.judge import Judging, judge_record
from critics.problem import Problem, RecordError, is_object, read_attempt, read_problem_text
from critics.recheck.index import RecheckRecord, Report, examine
from critics.recheck.records import verdict_in
from critics.replay.grades import GRADES, grade_of
from critics.verdict import CriticError, VerdictRecord, verdict_record
from critics.verdict.reading import SpanRecord

JUDGED_OTHERWISE = "judged_otherwise"
NOT_JUDGED_AGAIN = "not_judged_again"
"""The critic could not tell: it failed, ran out of time, or could not limit a process. That is never accepted."""
ILL_FORMED = "ill_formed"
BAD_LINE = "bad_line"
_UNDECIDED = ("error", "timeout")
_PARTS = ("kind", "problem", "claim", "evidence", "repairs")
"""Keys of a certificate that are compared, beside its critic's name and grade. Limits may be of another version."""
_OF_TEXTS = ("coverage", "spans", "first_bad_step", "step_validity", "premise_grounding", "explicit")
"""Keys that critics of texts add to a verdict."""
_NOT_COMPARED = ("id", "verdict", "feedback", "certificate")


def judge_anew(record: object) -> VerdictRecord:
    """Judge an attempt of an untrusted file: what a critic cannot read is a verdict, and not the end of the file."""
    try:
        return judge_record(record)
    except RecordError as error:
        return verdict_record(
            str(record.get("id") if is_object(record) else None), CriticError(ILL_FORMED, None, str(error))
        )


def objection(stored: Mapping[str, Any], fresh: VerdictRecord) -> str | None:
    """Return the reason why a stored verdict is not believed, given the critic's own; None where both agree.

    A stored `timeout` or `error` says nothing of the text, so that nothing contradicts it. A stored verdict may lack a
    key, and may not have another value under it.
    """
    if stored.get("verdict") in _UNDECIDED:
        return None
    if fresh["verdict"] in _UNDECIDED:
        return NOT_JUDGED_AGAIN
    if stored.get("verdict") != fresh["verdict"]:
        return JUDGED_OTHERWISE
    keys = {*fresh, *_OF_TEXTS}.difference(_NOT_COMPARED)
    # Attack: an honest certificate beside spans, a reason or a place of the first bad step that flatter the text.
    if any(key in stored and not _same(stored[key], fresh.get(key)) for key in keys):
        return JUDGED_OTHERWISE
    one, other = stored.get("certificate"), fresh["certificate"]
    return None if _same(_parts(one), _parts(other)) and _grade(one) >= _grade(other) else JUDGED_OTHERWISE


def _same(one: object, other: object) -> bool:
    """Say whether two values are the same JSON, in which `true` is not 1."""
    return one == other and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _parts(certificate: object) -> list[object] | None:
    if not is_object(certificate):
        return None
    # Attack: another critic's name, so that revoking the critic passes the certificate over.
    engine = str(certificate.get("engine")).partition(" ")[0]
    return [engine, *(certificate.get(key) for key in _PARTS)]


def _grade(certificate: object) -> int:
    """Return the place of a grade, the best first: a file may say less of a text than the critic does."""
    if not is_object(certificate):
        return len(GRADES)
    evidence, word = certificate.get("evidence"), certificate.get("formalisation")
    grade = grade_of(word, evidence.get("reference", "none") if is_object(evidence) else None)
    return -1 if grade is None else GRADES.index(grade)


@dataclass(slots=True)
class TextReport:
    """Outcome of a re-check that judges again whatever text stands beside a certificate."""

    evidence: Report = field(default_factory=Report)
    judged_again: int = 0
    """Number of texts."""
    without_text: int = 0
    """Number of certificates whose records hold no text, so that their evidence alone was checked."""

    def record(self) -> RecheckRecord:
        """Return the JSON form: the evidence's, and of how many records the text was judged."""
        text = {"judged_again": self.judged_again, "not_there": self.without_text}
        return {**self.evidence.record(), "text": text if self.judged_again else "not there"}

    def told(self) -> str:
        """Return what people are told of the texts."""
        said = f"{self.judged_again} texts were judged again"
        if not self.without_text:
            return said
        return f"{said}; of {self.without_text} certificates the text is not there: their evidence alone was checked"


def recheck_texts(records: Iterable[object], judging: Judging) -> TextReport:
    """Re-check certificates, and judge again the texts of those that hold."""
    found = TextReport()
    texts: list[_Text] = []
    for position, record in enumerate(records):
        report = examine([record])
        if is_object(record) and report.accepted:
            restored = record
            if record.get("completion") is None and record.get("messages") is None:
                restored = _restored(verdict_in(record))
            if restored is not None:
                texts.append(_Text(record, report, restored))
                continue
            found.without_text += 1
            given = record.get("problem")
            brings = is_object(given) and given.get("formal") is not None
            _read_problem_again(verdict_in(record), report, brings=brings)
        found.evidence.add(report, str(verdict_in(record).get("id", position)))
    readable: list[_Text] = []
    for text in texts:
        try:
            read_attempt(text.attempt)
            readable.append(text)
        except RecordError:
            _reject(found.evidence, text, ILL_FORMED)
    attempts = [{key: value for key, value in text.attempt.items() if key != "judgement"} for text in readable]
    verdicts = judging(attempts) if attempts else ()
    for text, fresh in zip(readable, verdicts, strict=True):
        found.judged_again += 1
        stored = verdict_in(text.record)
        if text.attempt is not text.record and _surrounds(stored, fresh):
            stored = {key: value for key, value in stored.items() if key not in _OF_TEXTS}
        reason = objection(stored if text.is_verbatim() else _as_mended(stored, fresh), fresh)
        if reason is None:
            text.report.confirm(stored["certificate"]["formalisation"])
            found.evidence.add(text.report, "")
        else:
            _reject(found.evidence, text, reason)
    return found


@dataclass(frozen=True, slots=True)
class _Text:
    """Record whose certificate holds, with the report on that."""

    record: Mapping[str, Any]
    report: Report
    attempt: Mapping[str, Any]
    """The record's own, or the one that the certificate holds."""

    def is_verbatim(self) -> bool:
        """Say whether the attempt stands as it was written, and not in canonical text."""
        held = verdict_in(self.record)["certificate"]["evidence"]
        return self.attempt is self.record or self.attempt["completion"] in held.values()


def _reject(report: Report, text: _Text, reason: str) -> None:
    entry = {"id": str(text.record.get("id")), "reason": reason}
    report.rejected.append(entry)
    if reason == NOT_JUDGED_AGAIN:
        report.unchecked.append(entry)


def _surrounds(stored: Mapping[str, Any], fresh: VerdictRecord) -> bool:
    """Say whether a verdict on a reply has the places of that on its answer, and unread ones around them."""
    outer: list[SpanRecord] = list(stored.get("spans") or ())
    inner = list(fresh.get("spans") or ())
    for at in range(len(outer) - len(inner) + 1):
        within, rest = outer[at : at + len(inner)], outer[:at] + outer[at + len(inner) :]
        moved = within[0]["start"] - inner[0]["start"] if inner else 0
        same = [{**span, "start": span["start"] + moved, "end": span["end"] + moved} for span in inner]
        if within == same and all(span["kind"] == "unread" for span in rest):
            return float(stored.get("coverage") or 0.0) <= float(fresh.get("coverage", 1.0))
    return False


def _as_mended(stored: Mapping[str, Any], fresh: VerdictRecord) -> Mapping[str, Any]:
    """Return what to compare with a verdict on canonical text, which needs none of the repairs, or some of them.

    Places in the text as it was written say nothing of this one.
    """
    written, found = stored["certificate"], fresh["certificate"]
    left = [] if found is None else found["repairs"]
    needed = left if set(left) <= set(written["repairs"]) else []
    told = {key: value for key, value in stored.items() if key not in _OF_TEXTS}
    return {**told, "certificate": {**written, "repairs": needed}}


def _restored(verdict: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the attempt that a certificate without a text beside it holds itself; None where it holds none.

    Its data set is the one whose translator read the problem, where the certificate names one.
    """
    certificate = verdict["certificate"]
    evidence = certificate["evidence"]
    for name in registry.formats():
        format_ = find_format(name)
        if certificate["kind"] not in format_.kinds:
            continue
        try:
            text, meta = format_.restored(evidence)
        except (KeyError, TypeError, AttributeError):
            return None
        source = evidence.get("reference", "none")
        dataset = source if source in _translated() else format_.asking
        problem = {**certificate["problem"], "id": "", "dataset": dataset, "meta": meta}
        return {"id": str(verdict.get("id")), "problem": problem, "format": name, "completion": text}
    return None


def _translated() -> set[str]:
    from critics.text.reference import TRANSLATORS

    return set(TRANSLATORS)


def _read_problem_again(verdict: Mapping[str, Any], report: Report, *, brings: bool) -> None:
    """Read the problem of a certificate whose attempt is not there: its text must not deny claim or reference.

    `brings` says that the record's own problem has a formalisation, which may know more than the text. Whether the
    attempt's own formulas say what the text says is not seen here.
    """
    from critics.text.reference import ReferenceMismatch, reference, text_contradicts
    from critics.text.trust.bars import is_foreign

    certificate = verdict["certificate"]
    source = str(certificate["evidence"].get("reference", "none"))
    sealed = read_problem_text(certificate["problem"], "certificate.problem")
    problem = Problem("", source, sealed.context, sealed.question, sealed.options, sealed.answer, sealed.formal)
    is_translated = source in _translated()
    try:
        if source == "given" and problem.formal is not None and is_foreign(problem, problem.formal):
            # Attack: a formalisation of another text.
            report.refuse("reference_is_not_the_text")
        elif text_contradicts(problem, certificate["claim"], "none" if source == "given" and not brings else source):
            # Attack: a reference of one's own for a text that says otherwise, or says nothing of it.
            report.refuse("text_says_otherwise")
        elif is_translated and (known := reference(problem)) and known.source != source:
            report.refuse("reference_is_not_the_text")
        elif is_translated and certificate["formalisation"] == "checked":
            report.confirm("checked")
    except ReferenceMismatch:
        # Attack: axioms that the text does not state, under the name of the translator that would have read it.
        report.refuse("reference_is_not_the_text")


def recheck(records: Iterable[object]) -> RecheckRecord:
    """Return counts and rejections for verdict records or traces, whose texts are judged again in this process."""
    return recheck_texts(records, lambda found: [judge_anew(each) for each in found]).evidence.record()
