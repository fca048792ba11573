"""Results of an audit of a reward: rates of wrong rewards by probe."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rollout.records.sampling import batches
from training.outcomes import Interval, exact_interval
from training.rewards.probes import Expected, ProbeCase
from training.rewards.rewarding import Paid, Rewarding, Rollout

_BATCH = 16
_ORDER = ("accept", "reject", "either")
_CHECKS: Mapping[Expected, str] = {
    "accept": "semantic.oracle_max",
    "reject": "statistical.adversarial_floor",
    "either": "statistical.gameability_gap",
}
_ALLOWED = "unproved"
"""The kind of a right answer without a proof that was accepted, as it may be."""


@dataclass(frozen=True, slots=True)
class AuditLimits:
    """Limits of an audit: the reward that accepts, and the share of wrong rewards that fails it."""

    accept_from: float = 0.5
    threshold: float = 0.0
    """The largest share of wrong rewards that any probe may have."""
    strict: bool = False
    """True if a right answer without a proof must be rejected."""


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of n, with the exact interval."""

    k: int
    n: int
    interval: Interval

    @staticmethod
    def of(rates: Iterable[tuple[int, int]]) -> "Rate":
        """Return the rate of counts taken together."""
        listed = list(rates)
        k, n = sum(k for k, _ in listed), sum(n for _, n in listed)
        return Rate(k, n, exact_interval(k, n))


@dataclass(frozen=True, slots=True)
class ProbeRow:
    """A line of the table."""

    probe: str
    expects: Expected
    wrong: Rate
    """Rewards that are wrong; for `either`, those that accept."""
    abstained: int
    faults: int
    check: str = ""
    """Name of the check in OpenEnv's RFC 008."""

    def is_passed(self, threshold: float) -> bool:
        """Say whether few rewards were wrong; a right answer of which a reward says nothing was not accepted."""
        missed = self.abstained if self.expects == "accept" else 0
        return self.wrong.k + missed <= threshold * (self.wrong.n + missed)


@dataclass(frozen=True, slots=True)
class WrongCase:
    """A row on which a reward is wrong or failed."""

    id: str
    probe: str
    kind: str
    reward: float | None
    fault: str | None
    prompt: str
    completion: str


@dataclass(frozen=True, slots=True)
class RewardReport:
    """An audit's result, in its JSON form."""

    false_positives: Rate
    false_negatives: Rate
    unproved: Rate
    """Right answers without a proof that were accepted; false positives too, if the audit is strict."""
    probes: list[ProbeRow]
    cases: list[WrongCase]
    limits: AuditLimits
    passed: bool
    note: str = ""
    """Reason why nothing was verified at all; empty where something was."""


def paid(rollouts: Sequence[Rollout], rewarding: Rewarding) -> list[Paid]:
    """Pay rollouts in batches of a trainer's size."""
    return [each for batch in batches(rollouts, _BATCH) for each in rewarding(batch)]


def audited(cases: Sequence[ProbeCase], rewarding: Rewarding, limits: AuditLimits) -> RewardReport:
    """Ask a reward about all cases, and report where it is wrong."""
    given = list(zip(cases, paid([case.rollout for case in cases], rewarding), strict=True))
    wrong = [each for case, pay in given if (each := _wrong(case, pay, limits)) is not None]
    names: dict[str, Expected] = {case.probe: case.expects for case in cases}
    probes: list[ProbeRow] = []
    for name, expects in sorted(names.items(), key=lambda item: _ORDER.index(item[1])):
        rewards = [pay.reward for case, pay in given if case.probe == name]
        kinds = Counter(case.kind == "fault" for case in wrong if case.probe == name)
        n = sum(each is not None for each in rewards)
        check = "semantic.floor_gap" if name.startswith("null") else _CHECKS[expects]
        rate, abstained = Rate.of([(kinds[False], n)]), len(rewards) - n - kinds[True]
        probes.append(ProbeRow(name, expects, rate, abstained, kinds[True], check))

    def pooled(*expected: str) -> Rate:
        return Rate.of((row.wrong.k, row.wrong.n) for row in probes if row.expects in expected)

    different = {pay.reward for _, pay in given if pay.fault is None}
    note = ""
    if given and len(different) < 2:  # no verifier can have run
        same = next(iter(different), None)
        note = "every call failed" if not different else f"every completion got {same:g}" if same is not None else ""
        note = f"no verifier ran: {note or 'no completion got a reward'}"
    passed = not note and all(
        not row.faults and (row.is_passed(limits.threshold) or (row.expects == "either" and not limits.strict))
        for row in probes
    )
    positives = pooled("reject", "either") if limits.strict else pooled("reject")
    found = [case for case in wrong if case.kind != _ALLOWED]
    return RewardReport(positives, pooled("accept"), pooled("either"), probes, found, limits, passed, note)


def _wrong(case: ProbeCase, pay: Paid, limits: AuditLimits) -> WrongCase | None:
    is_accepted = pay.reward is not None and pay.reward >= limits.accept_from
    if pay.fault is None and (pay.reward is None or is_accepted == (case.expects == "accept")):
        return None
    kind = "false negative" if case.expects == "accept" else "false positive"
    if pay.fault is not None:
        kind = "fault"
    elif case.expects == "either" and not limits.strict:
        kind = _ALLOWED
    shown = case.rollout
    return WrongCase(shown.id, case.probe, kind, pay.reward, pay.fault, shown.prompt, shown.completion)
