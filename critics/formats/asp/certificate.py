"""Evidence of `asp` attempts, kind `answer-sets`: answer sets and cores that show what program and tests do."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TestEvidence:
    """An answer set in which a test passes, or the rules that contradict it where it asks for that, and its kills."""

    __test__ = False
    witness: tuple[str, ...] | None
    core: tuple[int, ...] | None
    kills: tuple[str, ...]
    """Names of the mutants on which it fails."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "witness": None if self.witness is None else list(self.witness),
            "core": None if self.core is None else list(self.core),
            "kills": list(self.kills),
        }


@dataclass(frozen=True, slots=True)
class AnswerSetEvidence:
    """A program with an answer set, its query's value and the rules that give it, and its tests."""

    completion: str
    num_premises: int | None
    witness: tuple[str, ...]
    value: str
    support: tuple[int, ...]
    tests: tuple[TestEvidence, ...]
    num_mutants: int

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "completion": self.completion,
            "num_premises": self.num_premises,
            "reference": "none",
            "witness": list(self.witness),
            "value": self.value,
            "support": list(self.support),
            "tests": [test.record() for test in self.tests],
            "num_mutants": self.num_mutants,
        }
