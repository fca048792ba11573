"""Convert DeontiQA's published file to problem records, and say what is wrong with its records.

python -m tools.deontiqa deontiqa.jsonl --out problems.jsonl
"""

import argparse
from pathlib import Path

from tools.deontiqa.convert import load_deontiqa, survey_deontiqa
from training.records.store import write_records


def main() -> None:
    """Write the problems; print each record of which nothing can be certified, with the reasons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    problems = [problem.record() for problem in load_deontiqa(given.file)]
    write_records(given.out, problems)
    findings = survey_deontiqa(given.file).values()
    for finding in (each for each in findings if not each.is_sound):
        print(f"{finding.id}: {', '.join(finding.defects)}{'' if finding.is_problem else ', left out'}")
    print(f"{len(problems)} problems in {given.out}; {sum(bool(f.repairs) for f in findings)} records were repaired")


if __name__ == "__main__":
    main()
