"""Summary of a run or of a comparison, as values; `Summary.record` is the content of report.json."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, TypeAlias

from training.autoeval.false_positives import FalsePositives
from training.autoeval.scores import Scores, report_record
from training.estimates import Interval, PairedComparison, Proportion
from training.reporting.evaluations import Grouping, Tally
from training.reporting.times import RunTimes
from training.reporting.trace_sample import Cost

Rate = Literal["accuracy", "certified", "lucky", "compiled", "tests_passed"]
Metric: TypeAlias = Literal["accuracy", "gain", "certified", "tests_passed"]
RATES: Mapping[Rate, str] = {"accuracy": "right", "certified": "certified", "lucky": "lucky"}
"""The rates of every attempt, and the counts that they are made of."""
DIALOG_RATES: Mapping[Rate, str] = {
    "accuracy": "right",
    "compiled": "compiled",
    "tests_passed": "tests_passed",
    "certified": "certified",
}


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of n answers."""

    n: int
    shares: Mapping[Rate, Proportion]

    def __getitem__(self, name: Rate) -> Proportion:
        """Return a share by its name."""
        return self.shares[name]

    def record(self) -> dict[str, object]:
        """Return n, the rates, and their intervals."""
        rates = {name: share.rate for name, share in self.shares.items()}
        return {"n": self.n, **rates, **{f"{name}_interval": list(s.interval) for name, s in self.shares.items()}}


def pooled_rates(cells: Sequence[Tally], made_of: Mapping[Rate, str] = RATES) -> Rates:
    """Return the rates of several counts together, such as those of several seeds."""
    n = sum(cell["n"] for cell in cells)
    return Rates(n, {name: Proportion(sum(cell[count] for cell in cells), n) for name, count in made_of.items()})


@dataclass(frozen=True, slots=True)
class Suites:
    """Tests that dialogs wrote, as far as the solver passes them (figure 5, right, of LLM-ARC)."""

    passed: Proportion
    """Dialogs of which it passes all tests, whatever else the critic has to say about them."""
    tests: Proportion
    """Tests that it passes, of all that were written."""
    unchanged: Proportion
    """Dialogs with a turn that changed nothing, of those whose answer is wrong and whose tests fail (section 5)."""

    @property
    def per_problem(self) -> float:
        """Tests written for a problem."""
        return self.tests.n / self.passed.n if self.passed.n else 0.0

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        rates = {"solver_passed": self.passed, "tests_met": self.tests, "unchanged": self.unchanged}
        shares = {name: rate.rate if rate.n else None for name, rate in rates.items()}
        return {"tests_per_problem": self.per_problem, **shares}


def pooled_suites(cells: Sequence[Tally]) -> Suites | None:
    """Return what the tests of several evaluations come to; None where one is older than the counts."""
    if not all("tests" in cell for cell in cells):
        return None
    pairs = (("solver_passed", "n"), ("tests_met", "tests"), ("unchanged", "stuck"))
    return Suites(*(Proportion(sum(c[part] for c in cells), sum(c[of] for c in cells)) for part, of in pairs))


@dataclass(frozen=True, slots=True)
class Retries:
    """Rates of dialogs, each cut off after a number of retries."""

    retries: int
    rates: Rates
    suites: Suites | None = None
    """None in evaluations that are older than it."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {"retries": self.retries, **self.rates.record(), **(self.suites.record() if self.suites else {})}


@dataclass(frozen=True, slots=True)
class Dialogs:
    """Dialogs over their retries, with feedback and by plain resampling, and the two compared."""

    by_retries: Sequence[Retries] = ()
    resampled: Sequence[Retries] = ()
    """Empty where that was not measured."""
    feedback: Mapping[Rate, PairedComparison] = field(default_factory=dict[Rate, PairedComparison])
    """Feedback minus resampling, after all retries."""

    def record(self) -> dict[str, object]:
        """Return the JSON form, without what was not measured."""
        curves = {"by_retries": self.by_retries, "by_retries_resampled": self.resampled}
        told = [{"metric": metric, **found.record()} for metric, found in self.feedback.items()]
        levels = {key: [level.record() for level in curve] for key, curve in curves.items() if curve}
        return {**levels, **({"feedback": told} if told else {})}


@dataclass(frozen=True, slots=True)
class Round:
    """Results of an arm after one of its rounds, pooled over seeds; round 0 is the model before any fine-tuning."""

    number: int
    rates: Rates
    kept: int
    otherwise: Mapping[str, float | None]
    """Rates under other decodings: `accuracy_greedy` and so on; None where not all seeds were so evaluated."""
    funnel: Mapping[str, int] | None
    """From attempts to training data; None for round 0."""
    answers: Mapping[str, float] | None
    """Rates of answers, abstentions and proofs of the wrong; None in evaluations that are older than them."""
    groups: Mapping[Grouping, Mapping[str, Rates]]
    verdicts: Mapping[str, int]
    reasons: Mapping[str, int]
    grades: Mapping[str, int]
    """How many of the certified answers have which grade."""
    dialogs: Dialogs
    trips: Mapping[str, Scores]
    """Scores of round trips, by data set."""
    false_positives: FalsePositives | None
    coverage: Mapping[str, float] = field(default_factory=dict[str, float])
    """Of the texts that the round kept: how many, and the shares of characters covered, filler and unread."""
    chance: float | None = None
    """How often a random guess is right; None in evaluations that are older than it."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "round": self.number,
            **self.rates.record(),
            "kept": self.kept,
            **self.otherwise,
            "funnel": self.funnel,
            "answers": self.answers,
            **{name: {label: r.record() for label, r in cells.items()} for name, cells in self.groups.items()},
            "verdicts": self.verdicts,
            "reasons": self.reasons,
            "grades": self.grades,
            **({"coverage": self.coverage} if self.coverage else {}),
            **({"chance": self.chance} if self.chance is not None else {}),
            **self.dialogs.record(),
            **({"round_trips": report_record(self.trips)} if self.trips else {}),
            **({"false_positives": self.false_positives.record()} if self.false_positives else {}),
        }


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """Results of one arm, round by round."""

    decoding: str
    keep: str | None
    seeds: Sequence[int]
    rounds: Sequence[Round]
    per_seed: Mapping[str, Mapping[str, Sequence[float]]]
    """Accuracy and certified rate of each seed, round by round."""
    gain: float
    """Accuracy of the last round minus that of round 0."""
    gain_interval: Interval
    failures: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])
    """Of dialogs: what the `first` and the `last` rollout failed at."""

    @property
    def models(self) -> tuple[tuple[str, Round], tuple[str, Round]]:
        """The first and the last model, by what tables call them."""
        return ("before training", self.rounds[0]), ("after", self.rounds[-1])


@dataclass(frozen=True, slots=True)
class Cell:
    """Corner of the square of filter by decoding: a model of an arm under one decoding, pooled over seeds."""

    arm: str
    decoding: str
    temperature: float
    number: int
    """Its round; 0 is the model before any fine-tuning."""
    rates: Rates
    coverage: float | None

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        named = {"arm": self.arm, "decoding": self.decoding, "temperature": self.temperature, "round": self.number}
        return {**named, **self.rates.record(), "coverage": self.coverage}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two arms compared by a metric."""

    a: str
    b: str
    metric: Metric
    found: PairedComparison
    p_holm: float
    """Corrected for all comparisons of the summary."""
    paired: bool
    is_primary: bool = False
    """Whether its metric was declared before the run as the one that counts."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        named = {"a": self.a, "b": self.b, "metric": self.metric}
        how = {"p_holm": self.p_holm, "paired": self.paired, "primary": self.is_primary}
        return {**named, **self.found.record(), **how}


@dataclass(frozen=True, slots=True)
class Revoked:
    """Certificates and critics revoked in a run, from revoked.json."""

    certificates: Sequence[str]
    critics: Sequence[str]
    num_adapters: int
    """How many adapters rest on it."""
    content: Mapping[str, object]
    """The file itself."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Arms, their comparisons, and what the numbers come from."""

    arms: Mapping[str, ArmSummary]
    comparisons: Sequence[Comparison]
    provenance: Mapping[str, object]
    differences: Mapping[str, Sequence[object]] = field(default_factory=dict[str, Sequence[object]])
    """Keys in which the configurations of several runs differ, with the value of each."""
    revoked: Revoked | None = None
    square: Sequence[Cell] = ()
    """First and last models under every decoding that was measured."""
    primary: Metric | None = None
    """The metric that was declared before the run."""
    bases: int = 1
    """How many base models, trained independently, the numbers are of."""
    costs: Mapping[tuple[str, int], Cost] | None = None
    """What the attempts took, by arm and round; None where no trace was read for it."""
    times: RunTimes | None = None
    """Times and memory foretold and measured; None where no forecast was kept."""

    @property
    def models(self) -> Iterator[tuple[str, str, Round]]:
        """The first and the last model of each arm: the arm's name, `before training` or `after`, and its round."""
        return ((name, label, found) for name, arm in self.arms.items() for label, found in arm.models)

    def record(self) -> dict[str, object]:
        """Return the content of report.json."""
        return {
            "arms": {name: self._arm_record(name, arm) for name, arm in self.arms.items()},
            "square": [cell.record() for cell in self.square],
            "primary": self.primary,
            "bases": self.bases,
            "comparisons": [comparison.record() for comparison in self.comparisons],
            "provenance": self.provenance,
            **({} if self.revoked is None else {"revoked": self.revoked.content}),
            **({} if self.times is None else {"times": self.times.record()}),
        }

    def _arm_record(self, name: str, arm: ArmSummary) -> dict[str, object]:
        return {
            "decoding": arm.decoding,
            "keep": arm.keep,
            "seeds": arm.seeds,
            "rounds": [{**found.record(), **self._cost_record(name, found)} for found in arm.rounds],
            "per_seed": arm.per_seed,
            "gain": arm.gain,
            "gain_interval": list(arm.gain_interval),
            **({"failures": arm.failures} if arm.failures else {}),
        }

    def _cost_record(self, arm: str, found: Round) -> dict[str, object]:
        if self.costs is None:
            return {}
        cost = self.costs.get((arm, found.number))
        return {"cost": None if cost is None else asdict(cost)}
