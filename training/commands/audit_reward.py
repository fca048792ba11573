"""`audit --reward`: probes against anybody's reward function."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from critics.errors import InputError
from critics.problem import is_list, is_object
from rollout.problems.catalogue import is_generated
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.records.traces import Trace
from training.commands.attempts import attempts_that_are
from training.commands.options import say
from training.configuration.section import nearest
from training.exchange.columns import Values, read_answers, read_columns
from training.exchange.rationales import Reading, as_they_stand, read_table
from training.outcomes import between
from training.records.tables import read_rows
from training.rewards import probes
from training.rewards.findings import AuditLimits, RewardReport, WrongCase, audited
from training.rewards.rewarding import rewarding


@dataclass(frozen=True, slots=True)
class RewardAudit:
    """Options of the command, by their names."""

    reward: str
    data: Sequence[str] | None
    formats: Sequence[str] | None
    num: int | None
    template: str | None
    answers: Sequence[str] | None
    columns: Sequence[str] | None
    messages: bool
    strict: bool
    accept_from: float
    threshold: float | None
    seed: int
    jobs: int
    timeout: float
    as_json: bool


def audit_reward(asked: RewardAudit) -> bool:
    """Audit a reward and print what was found; return whether it passed."""
    template, num = asked.template or probes.TEMPLATE, asked.num or 30
    if "{answer}" not in template or "{rationale}" not in template:
        raise InputError("--template: must hold {rationale} and {answer}, as in '<think>{rationale}</think>{answer}'")
    words = {answer: word for word, answer in read_answers(asked.answers).items()}
    demonstrations, rows = _demonstrations(asked, num)
    style = probes.Style(template.replace("\\n", "\n"), words, read_columns(asked.columns).get("answer"))
    limits = AuditLimits(asked.accept_from, asked.threshold or 0.0, asked.strict)
    with rewarding(asked.reward, timeout_s=asked.timeout, jobs=asked.jobs, turns=asked.messages) as pay:
        made = list(probes.cases(demonstrations, style, num, asked.seed))
        say(f"{len(made)} probes of {len(demonstrations)} problems (seed {asked.seed})")
        report = audited(made, pay, limits)
    about = {"reward": asked.reward, "seed": asked.seed, "problems": len(demonstrations), "left_out": rows}
    if asked.as_json:
        print(json.dumps({**about, **asdict(report)}))
    else:
        _show(report)
    return report.passed


def _demonstrations(asked: RewardAudit, num: int) -> tuple[list[probes.Demonstration], int]:
    """Return certified demonstrations, and the number of the user's rows that are not."""
    names = asked.data or probes.DATASETS
    if all(map(is_generated, names)):
        if wrong := next((name for name in asked.formats or () if name not in probes.FORMATS), None):
            raise InputError(f"--format {wrong!r}: rewards are probed in one of {', '.join(probes.FORMATS)}")
        formats = asked.formats or probes.FORMATS[:1]
        found = [
            each for name in formats for each in probes.generated(names, name, -(-num // len(formats)), asked.seed)
        ]
        if not found:
            raise InputError(f"--data {', '.join(names)}: nothing of it can be proved in English; leave --data out")
        return found, 0
    if len(names) > 1:
        raise InputError(f"--data: name one file, or generators ({nearest(names[0], probes.DATASETS)})")
    rows, found = list(_rows(names[0], asked)), list[probes.Demonstration]()
    for values, trace in rows:
        own = {key: value for key, value in values.items() if key not in ("problem", "messages", "judgement")}
        problem, asked_as = trace.problem, values.get("prompt")
        shown = (asked_as if isinstance(asked_as, str) else _last_turn(asked_as)) or text(problem, PromptStyle())
        about = {"context": problem.context, "question": problem.question, "answer": probes.gold_word(problem)}
        found += probes.demonstrated(problem, trace.completion, trace.format, shown, {**about, **own})
    say(f"{len(found)} of {len(rows)} rows are certified, in English or guided, and end in `Answer: ..`")
    if not found:
        raise InputError(f"{names[0]}: no row is a certified demonstration; `certistar filter` says why of each")
    return found[:num], len(rows) - len(found)


def _rows(source: str, asked: RewardAudit) -> Iterator[tuple[Values, Trace]]:
    """Yield the rows of a file that can be read, with what they are as attempts."""
    found = read_rows(source)
    if any(is_object(row.values.get("problem")) for rows in found for row in rows.rows):
        given, rejected = attempts_that_are(Path(source), found)
        say(f"{len(given)} attempts, and {len(rejected)} rows that are none")
        for each in given:
            attempt = each.attempt
            yield each.record, Trace(each.id, attempt.problem, attempt.format, attempt.completion)
        return
    format_ = asked.formats[0] if asked.formats else None
    table = read_table(found, Reading(read_columns(asked.columns), read_answers(asked.answers), format_), source)
    for line in table.told:
        say(line)
    for trace in as_they_stand(table):
        number, place = table.places[trace.id]
        yield table.sources[number].rows[place].values, trace


def _last_turn(said: object) -> str | None:
    turn = said[-1] if is_list(said) and said else None
    content = turn.get("content") if is_object(turn) else None
    return content if isinstance(content, str) else None


def _show(report: RewardReport) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table("probe", "should be", "wrong", "of n", "95% exact", "no reward", "faults", "OpenEnv check")
    should = {"accept": "accepted", "reject": "rejected", "either": "rejected" if report.limits.strict else "either"}
    for row in report.probes:
        counts = map(str, (row.abstained, row.faults))
        rate = (str(row.wrong.k), str(row.wrong.n), between(row.wrong.interval))
        shown.add_row(row.probe, should[row.expects], *rate, *counts, row.check)
    Console(stderr=True, width=140).print(shown)
    first: dict[tuple[str, str], WrongCase] = {}
    for case in report.cases:
        first.setdefault((case.kind, case.fault or case.probe), case)
    for case in sorted(first.values(), key=lambda case: case.kind):
        what = f"({case.fault})" if case.fault else f"reward {case.reward:g}"
        say(f"{case.kind} at {case.id}, {what}: {_brief(case.completion)}")
    if report.note:
        say(report.note)
    unproved = "counted above" if report.limits.strict else "allowed without --strict"
    for name, rate, note in (
        ("false positives", report.false_positives, ""),
        ("false negatives", report.false_negatives, ""),
        ("right answers without a proof accepted", report.unproved, f" ({unproved})"),
    ):
        say(f"{name}: {rate.k} of {rate.n}, {between(rate.interval)}{note}")
    say("passed" if report.passed else f"failed: a probe has over {report.limits.threshold:.0%} wrong, or a fault")


def _brief(completion: str) -> str:
    """Return a text in one line that hides no character."""
    shown = ascii(completion)
    return shown if len(shown) <= 160 else f"{shown[:60]} .. {shown[-90:]}"
