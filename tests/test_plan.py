"""An evaluation is counted before it asks: requests, tokens, money, the window and the memory."""

from pathlib import Path

from typer.testing import CliRunner

from critics.problem import Problem
from rollout.prompts.conversation import message
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from training.cli import app
from training.planning.forecast import Requests
from training.planning.lengths import Lengths, StandIn

ROOT = Path(__file__).parents[1]
SERVED = "model: {name: Qwen/Qwen3-8B, prompt: chat, server: {base_url: 'http://127.0.0.1:9/v1', model: q, kind: chat}}"


def plan(tmp_path: Path, body: str, *words: object):
    config = tmp_path / "c.yaml"
    config.write_text(f"name: c\n{body}\nevaluation: {{num_problems: 4}}\n")
    return CliRunner().invoke(app, ["evaluate", str(config), "--dry-run", *map(str, words)])


def test_a_server_is_asked_once_for_free_text_and_after_every_block_under_a_guide(tmp_path: Path) -> None:
    free_arm = "{name: u, keep: naive, decoding: free, strategy: cot}"
    arms = f"arms:\n  - {{name: g, keep: guided, decoding: guided}}\n  - {free_arm}"
    done = plan(tmp_path, f"{SERVED}\n{arms}", "--arm", "g", "--arm", "u")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("plan: 1 models, 2 arms, 4 problems: 8 attempts")
    guided, free = [line for line in done.stdout.splitlines() if "attempts left" in line]
    assert free.startswith("  4 attempts left: 4 requests, ")
    assert " to " in guided.partition("requests")[0]


def test_a_dialog_is_counted_up_to_its_last_retry(tmp_path: Path) -> None:
    dialog = "{name: actor-critic, max_retries: 2, max_refusals: 0}"
    arms = f"arms: [{{name: d, keep: strict, decoding: free, strategy: {dialog}}}]"
    done = plan(
        tmp_path, f"{SERVED}\n{arms}\nproblems: {{dataset: controlled-english}}\nsampling: {{max_new_tokens: 40}}"
    )
    assert done.exit_code == 0, done.output
    assert "4 attempts left: 4 to 12 requests" in done.stdout


def test_what_does_not_fit_the_window_is_refused_with_a_remedy(tmp_path: Path) -> None:
    body = "model: {name: huggyllama/llama-13b, dtype: bfloat16, prompt: few-shot}\nsampling: {max_new_tokens: 1500}"
    done = plan(tmp_path, body, "--on", "A100")
    assert done.exit_code == 2
    assert "reads 2,048 tokens" in done.stderr
    assert "model.examples" in done.stderr


def test_what_does_not_fit_the_memory_is_refused(tmp_path: Path) -> None:
    done = plan(tmp_path, "model: {name: Qwen/Qwen3-8B, dtype: bfloat16, prompt: chat}", "--on", "T4")
    assert done.exit_code == 2
    assert "evaluation.batch_size" in done.stderr


def test_lengths_say_by_how_much_they_pass_the_window() -> None:
    own = Lengths(100, 50, 60, known=True, longest_prompt=120, limit=80, window=190)
    assert own.overflow == 10
    assert Lengths(100, 50, 60, known=True, longest_prompt=120, limit=80).overflow == 0
    assert "window 190" in own.line("a")


def test_requests_scale() -> None:
    found = Requests(1, 2, 1e6, 2e6, 0, 1e6).scaled(2)
    assert found.line() == "2 to 4 requests, 2,000,000 to 4,000,000 tokens read, 0 to 2,000,000 written"


def test_a_stand_in_keeps_what_it_is_asked() -> None:
    policy = StandIn(PromptStyle("chat"), None, "no")
    asked = [
        policy.prompt(Problem("p", "prontoqa", "Rex is a cat.", "Is Rex a cat?")),
        policy.conversation([message("user", "x")]),
    ]
    assert [c.text for c in policy.complete(asked, None, [0, 0], Sampling())] == ["no", "no"]
    assert policy.asked == [asked]
    assert policy.score(["a"], ["b"]) == [0.0]


def test_nothing_finished_is_asked_again(tmp_path: Path, tiny_model: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text(
        f"name: c\nmodel: {{name: {tiny_model}}}\nsampling: {{max_new_tokens: 8}}\nevaluation: {{num_problems: 3}}\n"
    )
    words = ["evaluate", str(config), "--out", str(tmp_path / "out")]
    assert CliRunner().invoke(app, words).exit_code == 0
    told = CliRunner().invoke(app, [*words, "--dry-run"])
    assert told.exit_code == 0, told.output
    assert "finished, nothing is asked" in told.stdout
    (evaluation,) = (tmp_path / "out").rglob("evaluation.json")
    evaluation.unlink()
    told = CliRunner().invoke(app, [*words, "--dry-run"])
    assert "0 attempts left (3 are stored)" in told.stdout
