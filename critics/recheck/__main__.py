"""`python -m critics.recheck FILE [--json]`: re-check certificates with the standard library alone.

It checks the evidence, and not that a text beside it says what the evidence says: `certistar recheck` judges that.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from critics.recheck.index import Report, examine

EVIDENCE_ALONE = "the evidence was checked, and not the texts beside it; `certistar recheck` judges these again"


def main() -> int:
    """Return 0 where all certificates hold, 1 where one does not or could not be checked, 2 for a wrong input."""
    parser = argparse.ArgumentParser(prog="python -m critics.recheck", description=__doc__)
    parser.add_argument("file", type=Path, help="verdicts or traces, one JSON object a line")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    bad: list[dict[str, str]] = []
    try:
        report = examine(_records(arguments.file, bad))
    except OSError as error:
        print(f"{arguments.file}: {error}", file=sys.stderr)
        return 2
    report.rejected += bad
    if arguments.json:
        print(
            json.dumps({**report.record(), "text": "not read", "kinds": report.table(), "grades": report.confirmed()})
        )
    else:
        print("\n".join([*told(report), EVIDENCE_ALONE]))
    return 1 if report.rejected else 0


def _records(path: Path, bad: list[dict[str, str]]) -> Iterator[object]:
    """Read lines; one that is no JSON is a rejected one, and the file goes on."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                if line.strip():
                    yield json.loads(line)
            except (ValueError, RecursionError):
                bad.append({"id": f"line {number}", "reason": "bad_line"})


def told(report: Report) -> Iterator[str]:
    """Yield what people are told, line by line."""
    record = report.record()
    yield (
        f"{record['accepted']} of {record['checked']} certificates hold; {record['skipped']} records skipped; "
        f"{record['second_opinion']} second opinions; {len(report.unchecked)} could not be checked here"
    )
    for kind, trusts in report.table().items():
        yield f"  {kind}: {', '.join(f'{num} {trust}' for trust, num in trusts.items())}"
    if report.accepted:
        yield f"grades: {', '.join(f'{num} {grade}' for grade, num in report.confirmed().items())}"
    for rejection in report.rejected:
        word = "not checked" if rejection in report.unchecked else "rejected"
        yield f"{word} {rejection['id']}: {rejection['reason']}"


if __name__ == "__main__":
    sys.exit(main())
