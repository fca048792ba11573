"""The critic as a reward: rewards are the critic's verdicts, what is unknown is masked, and TRL takes what is made."""

import json
import shutil

import pytest
from typer.testing import CliRunner

from critics.errors import InputError
from critics.judge import judge_record
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import demonstrate
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.records.traces import read_judgement, read_trace
from training.cli import app
from training.exchange.exports import preferences
from training.records.store import read_records, write_records
from training.rewards.certified import (
    CertifiedReward,
    certified,
    credited,
    explicit,
    reward,
    rows,
    said_in,
    tokens_before,
)

PROBLEMS = list(generate(PrOntoQA(hops=(1,), extra_kinds=(0, 0)), 4, seed=3))


def judge(attempts):
    return map(judge_record, attempts)


def proved(problem):
    return demonstrate(problem, problem.formal)


def denied(problem):
    """The same proof under the other answer."""
    other = {"true": "false", "false": "true"}[problem.answer]
    return proved(problem).replace(f"Answer: {problem.answer}", f"Answer: {other}")


def traces():
    for problem in PROBLEMS[:2]:
        for number, completion in enumerate(
            [proved(problem), denied(problem), proved(problem), f"Answer: {problem.answer}"]
        ):
            trace = {
                "id": f"{problem.id}#{number}",
                "problem": problem.record(),
                "format": "guided",
                "prompt": text(problem, PromptStyle()),
                "completion": completion,
            }
            yield trace | {"judgement": judge_record(trace)}


def test_a_certificate_is_worth_one_and_what_is_unknown_nothing():
    verdicts = ("refuted", "unproved", "vacuous", "malformed", "timeout", "error")
    assert [reward(read_judgement({"verdict": verdict}), "guided") for verdict in verdicts] == [0, 0, 0, 0, None, None]


@pytest.mark.parametrize(("grade", "worth"), [("checked", 1), ("given", 1), ("aligned", 1), ("trusted", 0)])
def test_a_proof_of_which_nothing_says_that_it_is_about_the_question_is_worth_nothing(grade, worth):
    certificate = {"formalisation": grade, "evidence": {}}
    assert reward(read_judgement({"verdict": "certified", "certificate": certificate}), "guided") == worth


def test_a_proof_with_words_beside_it_that_nobody_reads_is_worth_nothing():
    problem = PROBLEMS[0]
    texts = [proved(problem), proved(problem).replace("\nAnswer", "\nWhereas the moon is made of cheese.\nAnswer")]
    attempts = [
        {"id": str(at), "problem": problem.record(), "format": "guided", "prompt": "P", "completion": said}
        for at, said in enumerate(texts)
    ]
    verdicts = list(judge(attempts))
    assert [verdict["verdict"] for verdict in verdicts] == ["certified"] * 2
    assert [reward(read_judgement(verdict), "guided") for verdict in verdicts] == [1, 0]
    judged = [read_trace(each | {"judgement": verdict}) for each, verdict in zip(attempts, verdicts, strict=True)]
    assert [row["id"] for row in preferences(judged, "kto")] == ["0"]


def test_rewards_are_the_verdicts_and_every_attempt_is_shown():
    shown = []
    table = list(rows(PROBLEMS, lambda problem: text(problem, PromptStyle()), "guided"))
    said = [
        proved(PROBLEMS[0]),
        denied(PROBLEMS[1]),
        "nonsense",
        [{"role": "assistant", "content": proved(PROBLEMS[3])}],
    ]
    columns = {name: [row[name] for row in table] for name in ("problem", "format")}
    assert CertifiedReward(judge, shown.append)([row["prompt"] for row in table], said, **columns) == [1, 0, 0, 1]
    assert [judge_record(attempt)["verdict"] for attempt in shown] == [a["judgement"]["verdict"] for a in shown]


@pytest.mark.parametrize(
    "beside", [{}, {"reasoning_content": " ", "tool_calls": []}, {"reasoning_content": "It is wrong."}]
)
def test_thoughts_beside_the_content_are_judged_with_it(beside):
    """Attack: think falsehoods aloud in a field of their own, which is trained on too."""
    columns = {"problem": [json.dumps(PROBLEMS[0].record())], "format": ["guided"]}
    turn = {"role": "assistant", "content": proved(PROBLEMS[0]), **beside}
    worth = 0 if "wrong" in str(beside) else 1
    assert CertifiedReward(judge)([""], [[turn]], **columns) == [worth]


def test_premises_that_are_left_out_earn_a_certificate_and_nothing_where_explicit_texts_are_paid():
    context = "Every cat is warm. Every warm thing is kind. Tom is a cat."
    problem = {"id": "tom", "context": context, "question": "Prove: Tom is kind.", "dataset": "prontoqa-ood"}
    said = [
        "Tom is warm. Tom is kind. Answer: true",
        "Tom is a cat. Every cat is warm. Tom is warm. Every warm thing is kind. Tom is kind. Answer: true",
        "Tom is a cat. Every cat is warm. Tom is warm. Every warm thing is kind. Tom is big. Answer: true",
    ]
    columns = {"problem": [json.dumps(problem)] * 3, "format": ["cot"] * 3}
    assert CertifiedReward(judge, pays="explicit")([""] * 3, said, **columns) == [0, 1, 0]
    assert certified([""] * 3, said, **columns) == [1, 1, 0]
    assert explicit([""] * 3, said, **columns) == [0, 1, 0]


def turn(content, role="assistant", **beside):
    return {"role": role, "content": content, **beside}


def paid(*turns, thoughts="judged"):
    columns = {"problem": [json.dumps(PROBLEMS[0].record())], "format": ["guided"]}
    said = turns[0] if isinstance(turns[0], str) else list(turns)
    return CertifiedReward(judge, thoughts=thoughts)([""], [said], **columns)[0]


@pytest.mark.parametrize("role", ["tool", "user", "system"])
def test_what_others_say_earns_nothing(role):
    """Attack: the proof in somebody else's turn, and the bare answer in the assistant's."""
    bare = f"Answer: {PROBLEMS[0].answer}"
    assert paid(turn(proved(PROBLEMS[0]), role), turn(bare)) == 0
    assert paid(turn("Nonsense.", role, name="search", tool_call_id="1"), turn(proved(PROBLEMS[0]))) == 1


def test_content_as_parts_and_calls_of_tools_are_a_turn_like_others():
    parts = [{"type": "text", "text": proved(PROBLEMS[0])}]
    assert paid(turn(parts)) == 1
    assert paid(turn([*parts, {"type": "text", "text": " The moon is made of cheese."}])) == 0
    assert paid(turn([*parts, {"type": "image_url", "image_url": "x"}])) == 0
    called = turn(None, tool_calls=[{"function": {"name": "look", "arguments": "{}"}}], name="a")
    assert paid(called, turn("x", "tool"), turn(proved(PROBLEMS[0]), name="a")) == 1


@pytest.mark.parametrize("thought", ["Hmm, let me see.", "It is wrong."])
def test_thoughts_are_judged_or_apart_from_the_reply(thought):
    for said in (f"<think>{thought}</think>\n{proved(PROBLEMS[0])}", f"{thought}</think>\n{proved(PROBLEMS[0])}"):
        assert [paid(said, thoughts=how) for how in ("judged", "ignored")] == [0, 1]
        assert [paid(turn(said), thoughts=how) for how in ("judged", "ignored")] == [0, 1]
    beside = turn(proved(PROBLEMS[0]), reasoning_content=thought)
    assert [paid(beside, thoughts=how) for how in ("judged", "ignored")] == [0, 1]
    never_ended = f"<think>{thought} {proved(PROBLEMS[0])}"
    assert [paid(never_ended, thoughts=how) for how in ("judged", "ignored")] == [0, 0]


def test_a_thought_that_is_a_proof_itself_earns():
    proof = proved(PROBLEMS[0]).partition("\nAnswer")[0]
    assert paid(f"<think>{proof}</think>\nAnswer: {PROBLEMS[0].answer}") == 1
    assert said_in(f"a</think>{proof}").start == len("a</think>")


def test_a_critic_that_ran_out_of_time_gives_no_reward():
    def late(attempts):
        return ({"id": attempt["id"], "verdict": "timeout"} for attempt in attempts)

    (row,) = rows(PROBLEMS[:1], lambda _: "p", "guided")
    assert CertifiedReward(late)(["p"], ["c"], problem=[row["problem"]], format=["guided"]) == [None]


def test_a_dataset_without_problems_is_an_error_that_says_what_makes_one():
    with pytest.raises(InputError, match=r"no column 'problem'.*training\.rewards"):
        CertifiedReward(judge)(["p"], ["c"])


def test_pairs_set_a_proof_against_a_refuted_attempt_at_the_same_problem():
    found = list(preferences(map(read_trace, traces()), "dpo"))
    assert [row["id"] for row in found] == [f"{p.id}#0>{p.id}#1" for p in PROBLEMS[:2]]
    assert all(
        row["chosen"] == proved(p) and row["rejected"] == denied(p) for row, p in zip(found, PROBLEMS, strict=False)
    )


def test_labels_leave_out_what_is_neither_proved_nor_refuted():
    assert [row["label"] for row in preferences(map(read_trace, traces()), "kto")] == [True, True, False] * 2


def test_dialogs_have_no_preference():
    trace = next(traces())
    del trace["prompt"]
    with pytest.raises(InputError, match="dialogs"):
        list(preferences([read_trace(trace)], "dpo"))


def test_prefer_judges_what_has_no_verdict(tmp_path):
    bare = [{key: trace[key] for key in trace if key != "judgement"} for trace in traces()]
    write_records(tmp_path / "t.jsonl", bare)
    done = CliRunner().invoke(
        app, ["prefer", str(tmp_path / "t.jsonl"), "--to", "dpo", "--out", str(tmp_path / "p.jsonl")]
    )
    assert done.exit_code == 0, done.output
    assert len(list(read_records(tmp_path / "p.jsonl"))) == 2
    done = CliRunner().invoke(
        app, ["prefer", str(tmp_path / "t.jsonl"), "--to", "ppo", "--out", str(tmp_path / "q.jsonl")]
    )
    assert done.exit_code == 2


def strayed(problem):
    """The proof up to its last inference, which says the opposite."""
    before, mark, after = proved(problem).rpartition("[[infer:")
    inference, end, rest = after.partition("]]")
    wrong = inference.removeprefix("(not ").removesuffix(")") if "(not" in inference else f"(not {inference})"
    return f"{before}{mark}{wrong}{end}{rest}"


def test_tokens_before_a_character_are_those_that_end_there():
    assert [tokens_before([1, 2, 3], start, lambda ids: "ab" * len(ids)) for start in range(7)] == [0, 0, 1, 1, 2, 2, 3]


def short(completions, **_):
    """A second reward, as somebody else would write it."""
    return [1.0 / (1 + len(str(each))) for each in completions]


def test_trls_own_script_takes_the_reward_by_name_beside_another_one(tiny_model, tmp_path, monkeypatch):
    """The recipe of docs/rewards.md on own problems, and what it learnt from can be checked again."""
    pytest.importorskip("trl", reason="pip install 'certistar[trl]'")
    from trl.scripts import grpo as script

    write_records(tmp_path / "own.jsonl", [problem.record() for problem in PROBLEMS])
    words = [
        "export",
        tmp_path / "own.jsonl",
        "--to",
        "rewards",
        "--format",
        "guided",
        "--out",
        tmp_path / "d/train.jsonl",
    ]
    assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
    model = shutil.copytree(tiny_model, tmp_path / "model")
    (model / "chat_template.jinja").write_text("{% for turn in messages %}{{ turn['content'] }}\n{% endfor %}")
    monkeypatch.setenv("CERTISTAR_TRACES", str(tmp_path / "traces.jsonl"))
    options = f"""--model_name_or_path {model} --dataset_name {tmp_path / "d"} --reward_weights 1.0 0.1
        --reward_funcs training.rewards.certified.certified {__name__}.short --num_generations 2 --max_steps 2
        --per_device_train_batch_size 4 --max_completion_length 8 --output_dir {tmp_path / "adapter"} --use_peft
        --report_to none --use_cpu --bf16 false --gradient_checkpointing false"""
    script.main(*script.make_parser().parse_args_and_config(options.split(), fail_with_unknown_args=False))
    assert (tmp_path / "adapter/adapter_model.safetensors").exists()
    traces = list(read_records(tmp_path / "traces.jsonl"))
    assert len(traces) == 8
    assert [trace["reward"] for trace in traces] == [
        reward(read_judgement(judge_record(trace)), "guided") for trace in traces
    ]


def grpo(tiny_model, tmp_path, rewarding, made=lambda trainer: trainer):
    """A GRPO trainer over four attempts at one prompt."""
    trl = pytest.importorskip("trl", reason="pip install 'certistar[trl]'")
    from datasets import Dataset

    from rollout.policies.policy import load_model, load_tokenizer

    return made(trl.GRPOTrainer)(
        model=load_model(str(tiny_model)),
        reward_funcs=rewarding,
        args=trl.GRPOConfig(
            output_dir=str(tmp_path), per_device_train_batch_size=4, num_generations=4, max_completion_length=4,
            use_cpu=True, bf16=False, report_to=[], scale_rewards="none", max_steps=1, save_strategy="no",
        ),
        train_dataset=Dataset.from_list([{"prompt": text(PROBLEMS[0], PromptStyle())}] * 4),
        processing_class=load_tokenizer(str(tiny_model)),
    )  # fmt: skip


def scored(trainer):
    trainer.model.train()
    return trainer._generate_and_score_completions([{"prompt": text(PROBLEMS[0], PromptStyle())}] * 4)


def test_trl_masks_what_is_unknown(tiny_model, tmp_path):
    """The contract that None means: no advantage for that attempt, and the others' baseline without it."""

    def known_of_the_first_three(completions, **_):
        return [float(i == 0) if i < 3 else None for i in range(len(completions))]

    made = scored(grpo(tiny_model, tmp_path, known_of_the_first_three))
    assert made["advantages"].flatten().tolist() == pytest.approx([2 / 3, -1 / 3, -1 / 3, 0])


def test_trl_punishes_from_the_first_bad_step_on(tiny_model, tmp_path):
    """The contract with TRL: advantages of each token are weighed as such, and nothing else changes."""

    class FirstIsProved:
        __name__ = "first_is_proved"

        def __call__(self, completions, **_):
            self.bad_starts, self.are_thinking = [1, len(completions[1]) - 1, None, 1], [False] * 4
            return [1.0, 0.0, 0.0, None]

    trainer = grpo(tiny_model, tmp_path, FirstIsProved(), credited)
    made = scored(trainer)
    first, second, third, fourth = ({round(one, 2) for one in row} for row in made["advantages"].tolist())
    assert (first, second, third, fourth) == ({0.67}, {0.0, -0.33}, {-0.33}, {0.0})
    assert made["advantages"].shape == made["completion_ids"].shape
    assert trainer.train().global_step == 1


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["dpo", "kto"])
def test_trl_learns_from_preferences(shape, tiny_model, tmp_path):
    trl = pytest.importorskip("trl", reason="pip install 'certistar[trl]'")
    from datasets import Dataset

    from rollout.policies.policy import load_model, load_tokenizer

    trainer, arguments = {"dpo": (trl.DPOTrainer, trl.DPOConfig), "kto": (trl.KTOTrainer, trl.KTOConfig)}[shape]
    table = Dataset.from_list([json.loads(json.dumps(row)) for row in preferences(map(read_trace, traces()), shape)])
    trained = trainer(
        model=load_model(str(tiny_model)),
        args=arguments(
            output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=2, use_cpu=True, bf16=False,
            report_to=[], save_strategy="no",
        ),
        train_dataset=table,
        processing_class=load_tokenizer(str(tiny_model)),
    ).train()  # fmt: skip
    assert trained.global_step == 1


def test_a_problem_without_an_answer_would_pay_for_any_proof(tmp_path):
    from rollout.problems.prontoqa import PrOntoQA, generate
    from training.rewards.certified import reward_rows

    (problem,) = generate(PrOntoQA(hops=(1,)), 1, seed=3)
    file = tmp_path / "p.jsonl"
    file.write_text(json.dumps(problem.record()) + "\n")
    (row,) = reward_rows(file, None)
    assert (row["format"], row["prompt"][0]["role"]) == ("cot", "system")
    file.write_text(json.dumps({**problem.record(), "answer": None}) + "\n")
    with pytest.raises(InputError, match="has no answer"):
        reward_rows(file, "guided")
