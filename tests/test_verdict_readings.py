"""Verdicts say what stands behind the text, in Python and in JSON."""

import certistar
from critics.verdict import read_verdict, verdict_record

ASKED = ("Pip is a wren. Every wren is a bird.", "True or false: Pip is a bird.")


def test_a_verdict_on_english_accounts_for_its_text_and_can_be_read_back() -> None:
    proved = certistar.judge(*ASKED, "Pip is a wren. Every wren is a bird. Pip is a bird. True.", dataset="prontoqa")
    assert (proved.verdict, proved.coverage, proved.first_bad_step) == ("certified", 1.0, None)
    wrong = certistar.judge(*ASKED, "Pip is a wren. Pip is a newt. True.", dataset="prontoqa")
    assert wrong.first_bad_step is not None
    assert (wrong.first_bad_step.index, wrong.first_bad_step.text) == (1, "Pip is a newt.")
    for verdict in (proved, wrong):
        record = verdict_record("a", verdict)
        assert {"coverage", "spans", "first_bad_step"} <= record.keys()
        assert verdict_record("a", read_verdict(record)) == record


def test_a_critic_that_reads_no_text_accounts_for_nothing() -> None:
    verdict = certistar.judge(*ASKED, "Answer: true", format="cot", dataset="folio")
    assert (verdict.coverage, verdict.spans, verdict.first_bad_step) == (None, (), None)
    assert "coverage" not in verdict_record("a", verdict)
