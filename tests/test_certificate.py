"""Certificates and verdicts as values: the same record before and after reading, and errors that name the key."""

import json
from pathlib import Path
from typing import Any

import pytest

from critics.judge import judge_record
from critics.problem import RecordError
from critics.replay.certificate import digest
from critics.verdict import VERDICTS, Unproved, read_verdict, verdict_record
from critics.verdict.certificate import read_certificate

HONEST = [
    json.loads(line)
    for line in (Path(__file__).parent / "honest_attempts.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    by_format = {record["format"]: record for record in HONEST}
    return [judge_record(record) for record in by_format.values()]


def test_a_verdict_is_the_same_record_after_reading(records: list[dict[str, Any]]) -> None:
    for record in records:
        written = json.dumps(record)
        assert json.dumps(verdict_record(record["id"], read_verdict(json.loads(written)))) == written
    certified = [record["certificate"] for record in records if record["verdict"] == "certified"]
    assert len({certificate["kind"] for certificate in certified}) > 4
    assert all(read_certificate(certificate).digest == digest(certificate) for certificate in certified)
    for name in VERDICTS[1:]:
        refused = {"id": "a", "verdict": name, "reason": "why", "answer": None, "feedback": "so", "certificate": None}
        assert verdict_record("a", read_verdict(refused)) == refused
    assert read_verdict({"verdict": "unproved", "reason": "r", "feedback": "f"}) == Unproved("r", None, "f")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"claim": 1}, "certificate.claim must be text, not 1"),
        ({"extra": 1}, "certificate: the keys are"),
        ({"limits": {"work": "1"}}, "certificate.limits: whole numbers"),
        ({"repairs": "none"}, "certificate.repairs: a list of texts"),
        ({"evidence": []}, "certificate.evidence: an object"),
        ({"problem": None}, "certificate.problem: an object"),
    ],
)
def test_what_is_no_certificate_is_told_by_its_key(
    changes: dict[str, Any], said: str, records: list[dict[str, Any]]
) -> None:
    certificate = next(record["certificate"] for record in records if record["certificate"] is not None)
    with pytest.raises(RecordError, match=said):
        read_certificate({**certificate, **changes})
    with pytest.raises(RecordError, match="verdict: 'sure' is not one of"):
        read_verdict({"verdict": "sure"})
