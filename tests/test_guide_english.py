"""The English guide: what it allows the critic certifies, its masks are exact, and a writer may draw at random."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import ValidationError
from typer.testing import CliRunner

import certistar
from critics.errors import InputError
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.verdict import Verdict
from rollout.decoding.masks import MaskEngine
from rollout.decoding.rows import GuideViolation, SentenceRow, row_of
from rollout.decoding.vocabulary import token_bytes
from rollout.engines.grammar import GuideBackend, GuidedRequest
from rollout.guides.catalogue import GuideRecipe, guide_named, read_recipe
from rollout.guides.english import EnglishGuide
from rollout.policies.policy import HuggingFacePolicy, load_tokenizer
from rollout.policies.reasoning import RandomWriter
from rollout.problems.catalogue import family
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling, Switches
from rollout.records.traces import Trace
from rollout.servers.author import GuidedText
from rollout.strategies.single import sample
from training.cli import app
from training.configuration.run import ArmConfig, RunConfig

ROOT = Path(__file__).parents[1]
PIP = Problem(
    "pip", "prontoqa", "Every wren is a bird. Every bird is warm. Every newt is slow. Pip is a wren.",
    "True or false: Pip is not warm.",
)  # fmt: skip
ASKED = "Based on the above information, is the following statement true, false, or unknown?"
UNDECIDED = Problem(
    "erin", "proofwriter", "Erin is cold. If someone is cold then they are big. If someone is red then they are kind.",
    f"{ASKED} Erin is kind.", ("A) True", "B) False", "C) Unknown"),
)  # fmt: skip
RANDOM = RandomWriter(PromptStyle("bare", None, "cot"))
STRADDLING = [
    ". ",
    ".\n",
    ". E",
    ". Every wren",
    ".\nAnswer: ",
    " bird. Every bird",
    "\nAnswer: false",
    "Reasoning:",
    " Pip",
]
TABLE: list[bytes | None] = [None, *(bytes([byte]) for byte in range(128)), *map(str.encode, STRADDLING)]
SAMPLING = Sampling(guide="english")


def problems(dataset: str, num: int, **keys: object) -> list[Problem]:
    made = family(dataset)
    return list(made.generate(made.configured(keys, "develop"), num, seed=11))


def judged(trace: Trace, format_: str = "cot") -> Verdict:
    return judge(trace.problem, Attempt(trace.id, trace.problem, format_, trace.completion))


def sentences(guide: EnglishGuide) -> set[str]:
    return set() if guide.is_over else {word.decode() for word in guide.allowed().words}


def after(problem: Problem, *said: str, most: int | None = None) -> EnglishGuide:
    guide = EnglishGuide.for_problem(problem, most)
    for text in said:
        assert text in sentences(guide), text
        guide.close(text.encode())
    return guide


@pytest.mark.parametrize(
    ("dataset", "keys"),
    [("prontoqa", {"hops": [1, 3, 5]}), ("proofwriter", {}), ("syllogism", {}), ("prontoqa-ood", {"hops": [2]})],
)
def test_whatever_a_random_writer_ends_in_an_answer_is_certified(dataset: str, keys: dict[str, object]) -> None:
    for most in (None, 6):
        traces = list(
            sample(RANDOM, problems(dataset, 25, **keys), replace(SAMPLING, max_sentences=most), seed=1, format_="cot")
        )
        answered = [trace for trace in traces if "Answer:" in trace.completion]
        for trace in answered:
            for format_ in ("cot", "english"):
                verdict = judged(trace, format_)
                assert verdict.verdict == "certified", (trace.problem, trace.completion, verdict)
        if most is None and dataset != "prontoqa-ood":
            assert len(answered) == len(traces)
        assert len(answered) > 3


def may_follow(guide: EnglishGuide, text: bytes) -> bool:
    """Say whether some text that begins so can be made of allowed sentences: the oracle, without rows or masks."""
    if not text:
        return True
    for word in () if guide.is_over else guide.allowed().words:
        if word.startswith(text):
            return True
        if text.startswith(word):
            other = guide.clone()
            other.close(word)
            if may_follow(other, text[len(word) :]):
                return True
    return False


@pytest.mark.parametrize("table", ["straddling", "base-easy"])
def test_a_mask_allows_what_some_sequence_of_sentences_begins_with(table: str) -> None:
    known = TABLE if table == "straddling" else token_bytes(load_tokenizer(str(ROOT / "checkpoints/base-easy")))
    engine = MaskEngine(known, [0] if table == "straddling" else [])
    for seed, problem in enumerate([PIP, UNDECIDED, *problems("syllogism", 1)]):
        rng, row, text = random.Random(seed), row_of(EnglishGuide.for_problem(problem, 3)), b""
        while row.block is not None:
            ids = engine.allowed(row).tolist()
            start = EnglishGuide.for_problem(problem, 3)
            assert ids == [i for i, token in enumerate(known) if token and may_follow(start, text + token)]
            chosen = rng.choice([i for i in ids if len(known[i] or b"") > 1] or ids)
            text += known[chosen] or b""
            row.push(known[chosen] or b"")
        assert engine.allowed(row).tolist() == engine.eos_ids.tolist()


def test_nothing_but_the_answer_follows_once_it_is_decided() -> None:
    assert not any("Answer" in each for each in sentences(after(PIP)))
    assert sentences(after(PIP, "Pip is a bird.", " Pip is warm.")) == {"\nAnswer: false"}
    assert after(PIP, "Pip is a bird.", " Pip is warm.", "\nAnswer: false").is_over


def test_premises_are_said_once_and_a_rule_again_where_a_step_needs_it() -> None:
    assert "Every bird is warm." in sentences(after(PIP))
    said = after(PIP, "Every bird is warm.", " Every wren is a bird.", " Pip is a bird.", " Every newt is slow.")
    assert " Every bird is warm." in sentences(said), "the step to warm was blocked by the rule about newts"
    assert " Every wren is a bird." not in sentences(said)
    assert " Pip is warm." not in sentences(said)


def test_unknown_needs_all_that_bears_on_the_question_and_the_question_itself() -> None:
    red, asked = "If someone is red then they are kind.", "The question is: Erin is kind."
    assert sentences(after(UNDECIDED, red, f" {asked}")) == {"\nAnswer: C) Unknown"}
    assert not any("Answer" in each for each in sentences(after(UNDECIDED, red)))
    assert not any("question" in each for each in sentences(after(PIP))), "in PrOntoQA's logic nothing decides it"


def test_a_text_ends_without_an_answer_behind_so_many_sentences() -> None:
    assert after(PIP, "Pip is a wren.", " Pip is a bird.", most=2).is_over
    assert sentences(after(PIP, "Pip is a bird.", " Pip is warm.", most=2)) == {"\nAnswer: false"}


@pytest.mark.parametrize(
    ("problem", "told"),
    [
        (replace(PIP, context="Colourless green ideas, sleep furiously!"), "'pip' is not read"),
        (replace(PIP, context=f"{PIP.context} Pip is not a wren."), "contradicts itself"),
        (replace(PIP, dataset="folio"), "the answer alone"),
    ],
)
def test_a_problem_that_is_not_read_is_refused(problem: Problem, told: str) -> None:
    with pytest.raises(InputError, match=told):
        EnglishGuide.for_problem(problem)


def test_a_users_own_context_has_the_guide_too() -> None:
    own = Problem("own", "", "Every tenant is insured. Ann is a tenant.", "Is Ann insured?")
    (trace,) = sample(RANDOM, [own], SAMPLING, seed=2, format_="cot")
    assert certistar.judge(own.context, own.question, trace.completion, format="cot").verdict == "certified"


def test_a_recipe_travels_with_its_limit() -> None:
    recipe = GuideRecipe("english", PIP, max_sentences=3)
    assert read_recipe(json.loads(json.dumps(recipe.record()))).max_sentences == 3
    assert isinstance(guide_named("english", PIP), EnglishGuide)


def test_engines_and_servers_are_held_to_the_same_sentences() -> None:
    backend = GuideBackend(MaskEngine(TABLE, [0]), len(TABLE))
    made, row = backend.grammar(GuidedRequest(EnglishGuide.for_problem(PIP), 90, fits_blocks=False)), row_of(after(PIP))
    for byte in b"Pip is a bird. Pip is warm.\nAnswer: false":
        expected = {i for i, token in enumerate(TABLE) if token and row.accepts(token)}
        assert {i for i in range(len(TABLE)) if made.place().allows(i)} == expected
        assert made.accept_tokens("r", [byte + 1])
        row.push(bytes([byte]))
    assert made.validate_tokens([0]) == [0]
    text = GuidedText(EnglishGuide.for_problem(PIP))
    assert not text.take("Pip is a bird. Pip is green. ")
    assert text.text == "Pip is a bird. Pip is "
    assert text.take("warm.\nAnswer: false\nAnd more.")
    assert (text.text, text.ended) == ("Pip is a bird. Pip is warm.\nAnswer: false", "stop")
    with pytest.raises(GuideViolation):
        SentenceRow(after(PIP)).push(b"[[")


def test_a_model_writes_under_it_with_and_without_jumps() -> None:
    policy = HuggingFacePolicy(str(ROOT / "checkpoints/base-easy"), prompt_style=PromptStyle("bare", None, "cot"))
    asked = problems("prontoqa", 4, hops=[1, 2])
    for switches in (Switches(), Switches(jump_forward=True, fit_blocks=True, gathered_head=True)):
        sampling = replace(SAMPLING, switches=switches, max_new_tokens=300)
        traces = list(sample(policy, asked, sampling, seed=1, format_="cot"))
        assert {trace.finished for trace in traces} == {True}
        assert {judged(trace).verdict for trace in traces} == {"certified"}
        assert any(trace.forced for trace in traces) is switches.jump_forward


def test_guided_chains_of_thought_have_this_guide_unless_told_otherwise() -> None:
    arm = {"name": "a", "keep": "strict", "decoding": "guided"}
    assert ArmConfig.model_validate({**arm, "strategy": "cot"}).guide == "english"
    assert ArmConfig.model_validate({**arm, "strategy": {"name": "cot"}, "guide": "quote"}).guide == "quote"
    assert ArmConfig.model_validate({**arm, "strategy": "cot", "decoding": "free"}).guide == "logic"
    with pytest.raises(ValidationError, match="strategy: cot"):
        ArmConfig.model_validate({**arm, "guide": "english"})
    with pytest.raises(ValidationError, match="max_sentences"):
        RunConfig.model_validate({"name": "r", "model": {"name": "m"}, "sampling": {"max_sentences": 3}})


def test_the_random_writer_needs_a_guide_that_leaves_nothing_free() -> None:
    for sampling in (Sampling("free"), Sampling("guided")):
        with pytest.raises(InputError, match="random"):
            list(sample(RANDOM, [PIP], sampling, seed=0, format_="cot"))


def test_the_shipped_configuration_measures_a_model_beside_the_random_writer(tmp_path: Path) -> None:
    asked = ["evaluate", "configs/english_guide.yaml", "--num", "6", "--out", str(tmp_path / "out")]
    models = ["--model", "checkpoints/base-easy", "--model", "random", "--arm", "guided"]
    ended = CliRunner().invoke(app, [*asked, *models, "--json"])
    assert ended.exit_code == 0, ended.output
    for name in ("checkpoints_base-easy", "random"):
        record = json.loads((tmp_path / "out" / name / "guided" / "evaluation.json").read_text(encoding="utf-8"))
        assert record["modes"]["sampled"]["n"] == 6


def test_the_random_writer_writes_traces_and_learns_nothing(tmp_path: Path) -> None:
    problems, out = tmp_path / "problems.jsonl", tmp_path / "traces.jsonl"
    problems.write_text(json.dumps(PIP.record()) + "\n", encoding="utf-8")
    own = ["configs/english_guide.yaml", "--set", "model.name=random"]
    ended = CliRunner().invoke(app, ["rollout", *own, "--problems", str(problems), "--out", str(out)])
    assert (ended.exit_code, len(out.read_text(encoding="utf-8").splitlines())) == (0, 1), ended.output
    for plan in ([], ["--dry-run"]):
        refused = CliRunner().invoke(app, ["run", *own, "--out", str(tmp_path / "run"), *plan])
        assert (refused.exit_code, "certistar evaluate" in refused.stderr) == (2, True), refused.output


@pytest.mark.slow
def test_the_shipped_configuration_trains_on_what_the_guide_wrote(tmp_path: Path) -> None:
    small = ["--set", "star.problems_per_round=4", "--set", "evaluation.num_problems=4"]
    ended = CliRunner().invoke(app, ["run", "configs/english_guide.yaml", "--out", str(tmp_path), *small])
    assert ended.exit_code == 0, ended.output
    record = json.loads((tmp_path / "guided/seed-0/round-000/evaluation.json").read_text(encoding="utf-8"))
    assert set(record["modes"]) == {"sampled", "free"}  # the other cell of the square
