"""`audit --reward`: probes against anybody's reward function, and two rewards against each other on stored rollouts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path

from critics.errors import InputError
from critics.problem import Problem, is_list, is_object
from rollout.problems.catalogue import is_generated
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.records.traces import Trace
from training.commands.attempts import attempts_that_are
from training.commands.options import say
from training.configuration.section import nearest
from training.exchange.columns import read_answers, read_columns
from training.exchange.rationales import Reading, as_they_stand, read_table
from training.records.tables import read_rows
from training.rewards.findings import Agreement, AuditLimits, RewardReport, WrongCase, agreement, audited, paid
from training.rewards.probes import (
    DATASETS,
    FORMATS,
    TEMPLATE,
    Demonstration,
    Style,
    cases,
    demonstrated,
    generated,
    gold_word,
)
from training.rewards.rewarding import Paid, Rewarding, Rollout, rewarding
from training.tables import between, with_interval


@dataclass(frozen=True, slots=True)
class RewardAudit:
    """Options of the command, by their names."""

    reward: str
    against: str | None
    traces: Path | None
    data: Sequence[str] | None
    formats: Sequence[str] | None
    num: int | None
    template: str | None
    answers: Sequence[str] | None
    columns: Sequence[str] | None
    messages: bool | None
    strict: bool
    accept_from: float
    threshold: float | None
    seed: int
    jobs: int
    timeout: float
    as_json: bool

    def rewarding(self, entry: str) -> AbstractContextManager[Rewarding]:
        """Give what pays rollouts as `entry` says."""
        return rewarding(entry, timeout_s=self.timeout, jobs=self.jobs, turns=self.messages)


def audit_reward(asked: RewardAudit) -> bool:
    """Audit a reward and print what was found; return whether it passed."""
    template, num = asked.template or TEMPLATE, asked.num or 30
    if "{answer}" not in template or "{rationale}" not in template:
        raise InputError("--template: must hold {rationale} and {answer}, as in '<think>{rationale}</think>{answer}'")
    words = {answer: word for word, answer in read_answers(asked.answers).items()}
    demonstrations, rows = _demonstrations(asked, num)
    style = Style(template.replace("\\n", "\n"), words, read_columns(asked.columns).get("answer"))
    limits = AuditLimits(asked.accept_from, asked.threshold or 0.0, asked.strict)
    with asked.rewarding(asked.reward) as pay:
        made = list(cases(demonstrations, style, num, asked.seed))
        say(f"{len(made)} probes of {len(demonstrations)} problems (seed {asked.seed})")
        report = audited(made, pay, limits)
    about = {"reward": asked.reward, "seed": asked.seed, "problems": len(demonstrations), "left_out": rows}
    if asked.as_json:
        print(json.dumps({**about, **asdict(report)}))
    else:
        _show(report)
    return report.passed


def _demonstrations(asked: RewardAudit, num: int) -> tuple[list[Demonstration], int]:
    """Return certified demonstrations, and the number of the user's rows that are not."""
    names = asked.data or DATASETS
    if all(map(is_generated, names)):
        if wrong := next((name for name in asked.formats or () if name not in FORMATS), None):
            raise InputError(f"--format {wrong!r}: rewards are probed in one of {', '.join(FORMATS)}")
        formats = asked.formats or FORMATS[:1]
        found = [each for name in formats for each in generated(names, name, -(-num // len(formats)), asked.seed)]
        if not found:
            raise InputError(f"--data {', '.join(names)}: nothing of it can be proved in English; leave --data out")
        return found, 0
    if len(names) > 1:
        raise InputError(f"--data: name one file, or generators ({nearest(names[0], DATASETS)})")
    rollouts, found = list(_rollouts(names[0], asked)), list[Demonstration]()
    for each in rollouts:
        if each.problem is not None:
            found += demonstrated(each.problem, each.completion, each.format, each.prompt, each.columns)
    say(f"{len(found)} of {len(rollouts)} rows are certified, in English or guided, and end in `Answer: ..`")
    if not found:
        raise InputError(f"{names[0]}: no row is a certified demonstration; `certistar filter` says why of each")
    return found[:num], len(rollouts) - len(found)


def compare_rewards(asked: RewardAudit) -> bool:
    """Pay stored rollouts by two rewards and print where they differ; return whether they differ seldom enough."""
    if asked.traces is None or asked.against is None:
        raise InputError("--against needs --traces FILE: stored rollouts that both rewards are asked about")
    rollouts = list(_rollouts(str(asked.traces), asked))
    given: list[list[Paid]] = []
    for entry in (asked.reward, asked.against):
        with asked.rewarding(entry) as pay:
            given.append(paid(rollouts, pay))
    found = agreement(rollouts, given[0], given[1], asked.accept_from)
    if asked.as_json:
        print(json.dumps({"reward": asked.reward, "against": asked.against, **asdict(found)}))
    else:
        _show_agreement(asked, found)
    agreed = found.agreement or 0.0  # where nothing was decided by both, nothing says that they agree
    return not found.faults and (asked.threshold is None or 1 - agreed <= asked.threshold)


def _rollouts(source: str, asked: RewardAudit) -> Iterator[Rollout]:
    """Yield the rows of a file as rollouts; one whose problem cannot be read is for rewards that need none."""
    found = read_rows(source)
    rows = [((number, place), row) for number, each in enumerate(found) for place, row in enumerate(each.rows)]
    if any(is_object(row.values.get("problem")) for _, row in rows):
        given, rejected = attempts_that_are(Path(source), found)
        say(f"{len(given)} attempts, and {len(rejected)} rows that are none")
        for each in given:
            attempt = each.attempt
            yield _rollout(each.id, each.record, attempt.completion, attempt.problem, attempt.format)
        return
    known: Mapping[tuple[int, int], Trace] = {}
    format_ = asked.formats[0] if asked.formats else None
    try:
        reading = Reading(read_columns(asked.columns), read_answers(asked.answers), format_)
        table = read_table(found, reading, source)
        known = {table.places[trace.id]: trace for trace in as_they_stand(table)}
        for line in table.told:
            say(line)
    except InputError as error:
        if not any("completion" in row.values for _, row in rows):
            raise
        say(f"no critic can read these rows: {error}")
    for place, row in rows:
        trace, said = known.get(place), row.values.get("completion")
        own = said if isinstance(said, str) else _last_turn(said)
        if trace is not None:
            yield _rollout(row.id, row.values, own or trace.completion, trace.problem, trace.format)
        elif own is not None:
            yield _rollout(row.id, row.values, own, None, "cot")
        else:
            say(f"{source}: row {row.number}: is left out, because no completion can be read in it")


def _rollout(
    name: str, values: Mapping[str, object], completion: str, problem: Problem | None, format_: str
) -> Rollout:
    prompt = values.get("prompt")
    shown = prompt if isinstance(prompt, str) else _last_turn(prompt)
    own = {key: value for key, value in values.items() if key not in ("problem", "messages", "judgement")}
    if problem is not None:
        shown = shown or text(problem, PromptStyle())
        own = {"context": problem.context, "question": problem.question, "answer": gold_word(problem), **own}
    return Rollout(name, shown or "", completion, own, problem, format_)


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


def _show_agreement(asked: RewardAudit, found: Agreement) -> None:
    counts = f"{found.n} rollouts of {found.prompts} prompts decided by both"
    say(f"{counts}, {found.undecided} not; {len(found.faults)} faults")
    only = f"only {asked.reward} {found.only_reward}, only {asked.against} {found.only_against}"
    say(f"both accept {found.both}, {only}, neither {found.neither}")
    if found.agreement is not None and found.difference_interval is not None:
        say(f"they agree on {with_interval(found.agreement, found.agreement_interval)}")
        low, high = found.difference_interval
        say(f"difference {found.difference:+.1%} ({low:+.1%} to {high:+.1%}), McNemar's exact p {found.p:.2g}")
        if found.prompts < found.n:
            say(f"rows of one prompt are not independent: by prompts the exact sign-flip p is {found.p_by_prompt:.2g}")
    for case in {case.reward > case.against: case for case in reversed(found.disagreements)}.values():
        say(f"{case.id}: {asked.reward} {case.reward:g}, {asked.against} {case.against:g}: {_brief(case.completion)}")
    for fault in found.faults[:10]:
        say(f"fault at {fault}")
