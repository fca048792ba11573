"""Parts from other packages: the cookbook's critic is installed and used as it says; bad plug-ins say what is wrong."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from critics import registry
from critics.errors import InputError
from critics.formats.format import CriticPlugin, as_format, judge_by
from critics.formats.guided.critic import judge_guided
from critics.formats.horn import horn_certificate
from critics.judge import JudgePool, judge_record
from critics.problem import Attempt, Problem
from critics.recheck.rejudging import recheck
from critics.replay.formula import parse_literal
from critics.replay.kernel import Axiom
from critics.verdict import Certified, Unproved, Verdict
from rollout.problems.catalogue import family
from tools.critic_kit import PROMISES, budget_violations, violations
from training.cli import app
from training.commands.guide import build_guide

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / "plug-ins.md").read_text(), re.MULTILINE | re.DOTALL)
MODULE, LINEAR, KIT = (text for language, text in BLOCKS if language == "python")
CATALOGUE, PROMPT, CONFIG = (text for language, text in BLOCKS if language == "yaml")
ENTRY_POINTS, LINEAR_ENTRY_POINTS = (
    text.replace('project.entry-points."certistar.critics"', "certistar.critics")
    .replace('project.entry-points."certistar.strategies"', "certistar.strategies")
    .replace('"', "")
    for language, text in BLOCKS
    if language == "toml"
)


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    registry._installed.cache_clear()
    yield
    registry._installed.cache_clear()
    for name in ("certistar_factors", "certistar_linear", "solver", "parts", "broken"):
        sys.modules.pop(name, None)


def install(folder: Path, package: str, entry_points: str, **files: str) -> None:
    """Put a distribution with entry points into a folder, as pip would."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(entry_points, encoding="utf-8")
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")


@pytest.fixture
def factors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cookbook's package, installed in a folder that is on the path of this process and of those it starts."""
    install(tmp_path, "certistar_factors", ENTRY_POINTS, certistar_factors__py=MODULE, factors__yaml=CATALOGUE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def attempt(completion: str, number: int = 91, **problem: Any) -> dict[str, Any]:
    asked = Problem("p", "primes", "", f"Is {number} prime?", **problem)
    return {"id": "a", "problem": asked.record(), "format": "factors", "completion": completion}


def test_the_cookbooks_critic_has_under_80_lines() -> None:
    assert len(MODULE.splitlines()) < 80


def test_the_cookbooks_critic_judges_and_its_certificates_recheck(factors: Path) -> None:
    record = attempt("91 = 7 * 13\nAnswer: false", answer="false")
    with JudgePool() as pool:
        certified, guess, wrong = pool.judge(
            [record, {**attempt("Answer: true"), "id": "b"}, {**attempt("Answer: true", answer="false"), "id": "c"}]
        )
    assert (certified["verdict"], certified["answer"]) == ("certified", "false")
    assert (guess["verdict"], guess["reason"]) == ("unproved", "remainder_missing")
    assert (wrong["verdict"], wrong["reason"]) == ("refuted", "wrong_answer")
    trace = {**record, "judgement": certified}
    counts = recheck([trace, {**record, "judgement": guess}])
    assert counts == {"checked": 1, "accepted": 1, "skipped": 1, "second_opinion": 0, "rejected": []}
    for changed, reason in (
        ({**trace, "completion": "Answer: false"}, "other_attempt"),
        ({**trace, "problem": attempt("", 93)["problem"]}, "other_problem"),
        ({**trace, "judgement": {**certified, "answer": "true"}}, "answer_is_not_claim"),
        ({**trace, "judgement": {**certified, "certificate": {**certified["certificate"], "claim": "true"}}}, "digest"),
    ):
        assert recheck([changed])["rejected"] == [{"id": "a", "reason": reason}]


def test_the_commands_of_the_cookbook_work(factors: Path) -> None:
    attempts, verdicts = factors / "attempts.jsonl", factors / "verdicts.jsonl"
    attempts.write_text(json.dumps(attempt("91 = 7 * 13\nAnswer: false")) + "\n", encoding="utf-8")
    runner = CliRunner()
    judged = runner.invoke(app, ["judge", str(attempts), "--out", str(verdicts), "--json"])
    grades = {"checked": 1, "given": 0, "aligned": 0, "trusted": 0}
    assert (judged.exit_code, json.loads(judged.stdout)) == (0, {"certified": 1, "grades": grades})
    rechecked = runner.invoke(app, ["recheck", str(verdicts), "--json"])
    assert (rechecked.exit_code, json.loads(rechecked.stdout)["accepted"]) == (0, 1)
    for way in (["--format", "factors"], ["--critic", "certistar_factors:critic"]):
        audited = runner.invoke(app, ["audit", *way, "--json"])
        assert audited.exit_code == 0, audited.stdout
        (shown,) = json.loads(audited.stdout)
        assert (shown["honest"], shown["cheats"], shown["wrong"]) == (3, 10, [])


def test_the_cookbooks_own_test_passes(factors: Path) -> None:
    (factors / "test_factors.py").write_text(KIT, encoding="utf-8")
    command = [sys.executable, "-c", "import test_factors; test_factors.test_the_critic_keeps_its_promises()"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


SOLVER = """
import re
from certistar_linear import solution
from rollout.policies.policy import Completion, ScriptedPolicy

class Solver(ScriptedPolicy):
    \"\"\"Solves two of three, and guesses the others.\"\"\"

    def complete(self, prompts, guides, seeds, sampling):
        found = [solution(re.findall("Solve (.*) for x", prompt)[-1]) for prompt in prompts]
        texts = (f"x = {x}\\nAnswer: {x}" if x.numerator % 3 else f"Answer: {x}" for x in found)
        return [Completion(text, (), True) for text in texts]

def policy(model, adapter, style):
    return Solver([])
"""


@pytest.mark.slow
def test_the_cookbooks_numbers_go_through_a_run_with_their_own_critic_and_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = LINEAR_ENTRY_POINTS + "[certistar.policies]\nsolver = solver:policy\n"
    install(tmp_path, "certistar_linear", points, certistar_linear__py=LINEAR, solver__py=SOLVER)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    monkeypatch.chdir(tmp_path)
    Path("linear.yaml").write_text(CONFIG, encoding="utf-8")
    Path("linear-prompt.yaml").write_text(PROMPT, encoding="utf-8")
    for name, first in (("train", 0), ("test", 12)):
        rows = (f"Solve {n % 4 + 2}x + 4 = {(n % 4 + 2) * n + 4} for x.,{n}" for n in range(first, first + 12))
        Path(f"{name}.csv").write_text("\n".join(["question,answer", *rows]) + "\n", encoding="utf-8")
    told = {"model.name": ROOT / "checkpoints" / "base-easy", "model.policy": "solver", "training.max_steps": 1}
    told |= {"star.problems_per_round": 12}
    words = [word for key, value in told.items() for word in ("--set", f"{key}={value}")]
    done = CliRunner().invoke(app, ["run", "linear.yaml", "--out", "run", *words])
    assert (done.exit_code, "test.csv: problems 0 to 49 are wanted" in done.output) == (2, True)
    words += ["--set", "evaluation.num_problems=12"]
    done = CliRunner().invoke(app, ["run", "linear.yaml", "--out", "run", *words])
    assert done.exit_code == 0, done.output
    strict = json.loads(Path("run/report.json").read_text())["arms"]["strict"]["rounds"][0]
    assert (strict["n"], strict["accuracy"], strict["certified"]) == (12, 1.0, 8 / 12)
    assert all(list(Path("run", arm).rglob("adapter_model.safetensors")) for arm in ("strict", "right"))
    done = CliRunner().invoke(app, ["recheck", "run/strict/seed-0/round-000/traces.jsonl", "--json"])
    assert (done.exit_code, json.loads(done.stdout)["accepted"]) == (0, 8)


PROBLEM = Problem("p", "mine", "", "Is it?", answer="true")
HONEST = [
    Attempt(
        "a",
        PROBLEM,
        "guided",
        "[[axiom:(p a)]] [[axiom:(p 'x) -> (q 'x)]] [[goal:(q a)]] [[infer:(q a)]]\nAnswer: true",
    )
]


def certified(problem: Problem, claim: str = "true") -> Certified:
    goal = parse_literal("(q a)")
    return Certified(claim, horn_certificate("horn-proof", problem, None, claim, goal, [Axiom(goal)], {"work": 1}))


class Forgetful:
    """A critic whose verdicts depend on how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, problem: Problem, attempt: Attempt) -> Verdict:
        self.asked += 1
        return Unproved(f"time{self.asked}", None, "no")


def failing(problem: Problem, attempt: Attempt) -> Verdict:
    raise ZeroDivisionError


def as_json(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge, and certify with plain JSON, as a plug-in may."""
    found = judge_guided(problem, attempt)
    return Certified(found.answer, found.certificate.record()) if isinstance(found, Certified) else found  # type: ignore[arg-type]


def test_the_kit_finds_every_broken_promise_and_passes_our_own_critic() -> None:
    assert violations(CriticPlugin(judge_guided), HONEST) == []
    assert violations(CriticPlugin(as_json), HONEST) == []
    broken = {
        "honest": lambda problem, attempt: Unproved("no", None, "no"),
        "no_exception": failing,
        "verdict_shape": lambda problem, attempt: Unproved("two words", "maybe", ""),
        "determinism": Forgetful(),
        "gold_answer": lambda problem, attempt: certified(problem),
        "nothing_for_nothing": lambda problem, attempt: certified(problem),
        "certificate_shape": lambda problem, attempt: Certified("true", {"proof": "trust me"}),
        "recheck": lambda problem, attempt: certified(problem),
    }
    for promise, judge in broken.items():
        found = violations(CriticPlugin(judge), HONEST)  # type: ignore[arg-type]
        assert promise in {violation.promise for violation in found}, promise
        assert {violation.promise for violation in found} <= PROMISES.keys()
    with pytest.raises(InputError, match="gold answer"):
        violations(CriticPlugin(judge_guided), [])


def test_the_kit_finds_a_checker_that_checks_nothing(factors: Path) -> None:
    judge = registry.load("critics", "factors").judge
    asked = Problem("p", "primes", "", "Is 91 prime?", answer="false")
    honest = [Attempt("a", asked, "factors", "91 = 7 * 13\nAnswer: false")]
    assert violations(registry.load("critics", "factors"), honest) == []
    believing = violations(CriticPlugin(judge, lambda certificate: True), honest)
    assert {violation.promise for violation in believing} == {"forgery"}


def test_a_critic_that_hangs_is_stopped_and_one_that_certifies_nothing_is_told(factors: Path) -> None:
    (factors / "parts.py").write_text(
        "import time\nfrom certistar_factors import critic\n\n"
        "def judge(problem, attempt):\n    while attempt.completion == 'hang':\n        time.sleep(1)\n"
        "    return critic.judge(problem, attempt)\n",
        encoding="utf-8",
    )
    asked = Problem("p", "primes", "", "Is 91 prime?")
    honest = Attempt("a", asked, "factors", "91 = 7 * 13\nAnswer: false")
    hanging = Attempt("b", asked, "factors", "hang")
    assert budget_violations("parts:judge", hanging, honest, timeout_s=1.5) == []
    found = budget_violations("parts:judge", hanging, Attempt("c", asked, "factors", ""), timeout_s=1.5)
    assert [violation.promise for violation in found] == ["budget"]


def test_without_plug_ins_nothing_is_looked_for_twice_and_a_bad_one_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert registry.names("policies") == []
    with pytest.raises(InputError, match="no installed package"):
        registry.load("policies", "mine")
    registry._installed.cache_clear()
    install(
        tmp_path,
        "broken",
        "[certistar.critics]\nguided = broken:critic\ngone = missing_module:critic\nnumber = broken:NUMBER\n"
        "liar = broken:critic\n"
        "[certistar.datasets]\nodd = broken:NUMBER\n[certistar.guides]\nlogic = broken:critic\n",
        broken__py="NUMBER = 3\ndef critic(problem, attempt):\n    return 'certified'\n",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match=r"'guided' in .* is built in"):
        registry.names("critics", ["guided"])
    with pytest.raises(InputError, match="cannot be imported"):
        judge_record({**attempt("x"), "format": "gone"})
    with pytest.raises(InputError, match="not int"):
        judge_record({**attempt("x"), "format": "number"})
    with pytest.raises(InputError, match="Family, not int"):
        family("odd")
    with pytest.raises(InputError, match=r"'logic' in .* is built in"):
        build_guide("logic")
    # What is built in keeps its name, and what is no verdict is the critic's failure.
    guided = {**attempt("[[goal:(p a)]]\nAnswer: true"), "format": "guided"}
    assert judge_record(guided)["verdict"] == "unproved"
    liar = as_format(registry.load("critics", "liar"), "liar")
    with pytest.raises(TypeError, match="not str"):
        judge_by(liar, PROBLEM, HONEST[0])
    assert judge_record({**attempt("x"), "format": "liar"})["reason"] == "critic_failed"
    twice = tmp_path / "twice"
    twice.mkdir()
    install(twice, "other", "[certistar.critics]\ngone = another:critic\n")
    monkeypatch.syspath_prepend(str(twice))
    registry._installed.cache_clear()
    with pytest.raises(InputError, match="uninstall one"):
        registry.names("critics")


PARTS = """
from dataclasses import dataclass
from critics.problem import Problem
from rollout.guides.parity import ParityGuide
from rollout.problems.catalogue import Family
from rollout.policies.policy import ScriptedPolicy
from training.workers.strategies import SingleAttempt

@dataclass(frozen=True)
class Numbers:
    split: str
    largest: int = 9

def generate(config, num, *, seed, start=0):
    for index in range(start, start + num):
        yield Problem(f"n{index}", "numbers", "", f"Is {index % config.largest} prime?")

numbers = Family(Numbers, generate)

def strategy(config, arm):
    return SingleAttempt("factors")

def policy(model, adapter, style):
    return ScriptedPolicy([model.name])

guide = ParityGuide
"""


def test_a_data_set_a_guide_a_strategy_and_a_policy_come_from_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = {"datasets": "numbers", "guides": "guide", "strategies": "strategy", "policies": "policy"}
    section = "".join(f"[certistar.{group}]\nmine = parts:{name}\n" for group, name in groups.items())
    install(tmp_path, "parts", section, parts__py=PARTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "problems.jsonl"
    made = CliRunner().invoke(app, ["problems", "mine", "--num", "3", "--set", "largest=2", "--out", str(out)])
    assert made.exit_code == 0, made.output
    assert [json.loads(line)["question"] for line in out.read_text().splitlines()][1] == "Is 1 prime?"
    assert type(build_guide("mine")).__name__ == "ParityGuide"
    from training.configuration.run import RunConfig
    from training.workers.strategies import build_policy, no_review, strategy_of

    config = RunConfig.model_validate(
        {
            "name": "x",
            "model": {"name": "said", "policy": "mine"},
            "problems": {"dataset": "mine"},
            "arms": [
                {
                    "name": "a",
                    "keep": "strict",
                    "decoding": "free",
                    "strategy": {"name": "plug-in", "of": "mine", "format": "cot"},
                }
            ],
        }
    )
    strategy = strategy_of(config, config.arms[0], trained=False, review=no_review)
    assert getattr(strategy, "format", None) == "factors"
    assert type(build_policy(config.model, None, config.model.style("cot"))).__name__ == "ScriptedPolicy"
