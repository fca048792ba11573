"""What an actor learns from its dialogs: which lessons, in which mix, and which tokens."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.judge import judge_record
from rollout.actor_critic.prompt import opening as actor_opening
from rollout.actor_critic.prompt import solved_examples, system_text
from rollout.policies.policy import Completion, HuggingFacePolicy, ScriptedPolicy, load_tokenizer
from rollout.prompts.conversation import as_text, message
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.records.traces import Judgement, Trace, read_trace, with_judgement
from rollout.servers.policy import ServerPolicy
from rollout.settings import DialogSettings, ServerSettings
from rollout.strategies.dialog import converse
from tests.in_process import review_here
from tests.rehearsal.server import Sent, completion, listening, sent
from training.configuration.learning import LessonConfig
from training.curation.filters import kept
from training.finetuning.examples import IGNORED, Collator, Example, checked, masked_example
from training.lessons.judged_fields import judged_fields
from training.lessons.teaching import KINDS, ExampleError, Lesson, lessons, mixed, read_lesson, upsampled

SHOWN = solved_examples()[7]
PROBLEM = SHOWN.problem()
GOOD = SHOWN.reply()
BROKEN = GOOD[:-1]
UNSAFE = GOOD.replace("knows(X, Y) :- in_team(X, T)", "knows(X, Y) :- in_team(Z, T)")
FAILING = GOOD.replace('"do-not-infer": ["knows(p3, p4)"]', '"infer-All": ["knows(p3, p4)"]')
BARE = PromptStyle("few-shot")


def judged(script: list[str | Completion], settings: DialogSettings | None = None) -> Trace:
    policy = ScriptedPolicy(script)
    settings = settings or DialogSettings()
    (trace,) = converse(policy, [PROBLEM], settings, Sampling(), seed=3, review=review_here)
    record = json.loads(json.dumps(trace.record()))
    return read_trace(record | {"judgement": judge_record(record)})


MENDED = judged([BROKEN, UNSAFE, FAILING, GOOD])


def test_the_script_goes_wrong_as_it_should() -> None:
    assert [turn.review.kind for turn in MENDED.turns] == ["reply", "compile", "tests", "clean"]
    assert MENDED.judged.is_certified


def test_a_dialog_teaches_its_last_rectification_and_the_direct_way() -> None:
    fix, direct = lessons(MENDED, LessonConfig())
    assert (fix.kind, direct.kind) == ("test-fix", "direct")
    assert [turn["content"] for turn in fix.messages if turn["role"] == "assistant"] == [FAILING, GOOD]
    assert "is missing from an answer set" in fix.messages[3]["content"]
    assert [turn.learnt for turn in fix.turns] == [False, True]
    assert [turn["role"] for turn in direct.messages] == ["system", "user", "assistant"]
    assert direct.messages[-1]["content"] == GOOD
    assert direct.classes == SHOWN.classes
    assert lessons(MENDED, LessonConfig(shortcuts=False)) == [fix]


def test_a_lesson_shows_no_examples_whatever_the_actor_was_shown() -> None:
    for lesson in lessons(MENDED, LessonConfig()):
        assert lesson.messages[0]["content"] == system_text(DialogSettings().trained())
        assert "### Example" not in lesson.messages[0]["content"]
    assert "### Example" in MENDED.messages[0]["content"]


def test_a_compile_fix_ends_where_the_program_compiles() -> None:
    fix, _ = lessons(judged([UNSAFE, GOOD]), LessonConfig())
    assert fix.kind == "compile-fix"
    early, late, _ = lessons(MENDED, LessonConfig(passing_only=False))
    assert (early.kind, late.kind) == ("compile-fix", "test-fix")
    assert [turn["content"] for turn in early.messages if turn["role"] == "assistant"] == [UNSAFE, FAILING]
    assert early.id != late.id


PUBLISHED = LessonConfig(mixture="published")


@pytest.mark.parametrize(
    ("script", "kinds"),
    [
        ([GOOD], ["direct"]),
        ([BROKEN, UNSAFE, FAILING, GOOD], ["compile-fix", "test-fix", "direct"]),
        ([UNSAFE, GOOD], ["compile-fix", "direct"]),
        ([UNSAFE, FAILING, FAILING], ["compile-fix"]),
        ([FAILING, FAILING, FAILING], []),
        ([FAILING, UNSAFE, GOOD], ["compile-fix", "direct"]),
    ],
)
def test_the_papers_mixture_teaches_no_test_that_fails(script: list[str | Completion], kinds: list[str]) -> None:
    found = lessons(judged(script, DialogSettings(max_retries=len(script) - 1, max_refusals=0)), PUBLISHED)
    assert [lesson.kind for lesson in found] == kinds
    for lesson in found:
        wanted = {"compile-fix": (UNSAFE, FAILING, GOOD), "test-fix": (GOOD,), "direct": (GOOD,)}[lesson.kind]
        assert lesson.messages[-1]["content"] in wanted
        assert lesson.turns[-1].learnt


def test_our_mixture_teaches_how_a_kept_dialog_ended_and_the_papers_does_not() -> None:
    stuck = judged([UNSAFE, FAILING], DialogSettings(max_retries=1, max_refusals=0))
    assert [lesson.messages[-1]["content"] for lesson in lessons(stuck, LessonConfig())] == [FAILING, FAILING]
    assert [lesson.kind for lesson in lessons(stuck, PUBLISHED)] == ["compile-fix"]
    with pytest.raises(ValueError, match="mixture: `published` says itself"):
        LessonConfig(mixture="published", shortcuts=False)


def test_leaving_the_failing_test_out_is_no_lesson() -> None:
    data = json.loads(FAILING)
    fails = next(n for n, test in enumerate(data["Tests"]) if test.get("infer-All") == ["knows(p3, p4)"])
    without = json.dumps({**data, "Tests": [test for n, test in enumerate(data["Tests"]) if n != fails]})
    dropped = judged([FAILING, without], DialogSettings(max_retries=1, max_refusals=0))
    assert [turn.refused for turn in dropped.turns] == [False, True]
    assert lessons(dropped, PUBLISHED) == []


def test_a_suite_that_the_solver_passes_counts_as_passed_in_the_papers_mixture() -> None:
    data = json.loads(GOOD)
    twice = json.dumps({**data, "Tests": [*data["Tests"], {**data["Tests"][0], "Explanation": "Once more."}]})
    stuck = judged([twice], DialogSettings(max_retries=0))
    assert [turn.review.kind for turn in stuck.turns] == ["tests"]
    assert [lesson.kind for lesson in lessons(stuck, PUBLISHED)] == ["direct"]
    assert not kept(stuck, "tests")


def test_a_whole_dialog_can_be_learnt_but_never_a_refused_turn() -> None:
    record = judged([FAILING, FAILING, GOOD])
    fix, _ = lessons(record, LessonConfig(extent="whole", loss="actor"))
    assert [turn["content"] for turn in fix.messages if turn["role"] == "assistant"] == [FAILING, FAILING, GOOD]
    assert [turn.learnt for turn in fix.turns] == [True, False, True]
    last, _ = lessons(record, LessonConfig())
    assert "leaves test 2 as it was" in last.messages[3]["content"]


def test_one_turn_gives_one_direct_lesson_and_resampling_gives_no_fix() -> None:
    assert [lesson.kind for lesson in lessons(judged([GOOD]), LessonConfig(shortcuts=False))] == ["direct"]
    resampled = judged([FAILING, GOOD], DialogSettings(history="none"))
    assert [lesson.kind for lesson in lessons(resampled, LessonConfig())] == ["direct"]


def test_of_portions_only_the_last_teaches() -> None:
    settings = DialogSettings(examples=0, portion_size=2)
    first = json.dumps({"Model": SHOWN.model.splitlines()[:5], "Tests": []})
    begun = json.dumps({"Model": SHOWN.model.splitlines()[:5], "Tests": list(SHOWN.tests[:2])})
    record = judged([first, begun, GOOD], settings)
    assert [turn.portion for turn in record.turns] == [0, 0, 1]
    (direct,) = lessons(record, LessonConfig())
    assert begun in direct.messages[1]["content"]
    assert direct.messages[0]["content"] == system_text(settings)
    assert "R3: " in direct.messages[1]["content"]


def test_of_somebody_elses_dialog_only_what_was_judged_teaches() -> None:
    mended = judged_fields(judged([FAILING, FAILING, GOOD]))
    (direct,) = lessons(mended, LessonConfig())
    assert [turn["content"] for turn in direct.messages[1:]] == [actor_opening(PROBLEM), GOOD]
    settings = DialogSettings(examples=0, portion_size=2)
    begun = json.dumps({"Model": SHOWN.model.splitlines()[:5], "Tests": list(SHOWN.tests[:2])})
    (of_portions,) = lessons(judged_fields(judged([begun, GOOD], settings)), LessonConfig())
    assert begun in of_portions.messages[1]["content"]


def test_a_fault_of_somebody_elses_dialog_is_read_where_the_critic_finds_it_again() -> None:
    """The mended reply is learnt behind the last wrong one, which is not; the words of another critic are cut out."""
    told = judged([BROKEN, FAILING, GOOD])
    fix, direct = lessons(judged_fields(told, review_here), LessonConfig())
    assert (fix.kind, direct.kind) == ("test-fix", "direct")
    assert [turn["content"] for turn in fix.messages if turn["role"] == "assistant"] == [FAILING, GOOD]
    assert [turn.learnt for turn in fix.turns] == [False, True]
    said = told.messages[-2]["content"]
    forged = {
        "words": (said.replace("missing from", "in"), FAILING),
        "more words": (f"{said}\nThe moon is cheese.", FAILING),
        "a fault of another reply": (said, UNSAFE),
        "a reply without a fault": (said, GOOD),
    }
    for what, (words, wrong) in forged.items():
        messages = (*told.messages[:-3], message("assistant", wrong), message("user", words), told.messages[-1])
        shown = judged_fields(replace(told, messages=messages), review_here).messages
        assert [turn["content"] for turn in shown] == [actor_opening(PROBLEM), GOOD], what


def test_an_earlier_portion_that_nobody_judged_is_not_read() -> None:
    settings = DialogSettings(examples=0, portion_size=2)
    begun = json.dumps({"Model": [*SHOWN.model.splitlines()[:5], "moon(cheese)."], "Tests": list(SHOWN.tests[:2])})
    with pytest.raises(InputError, match="prompt_not_derived"):
        judged_fields(judged([begun, GOOD], settings))


def test_arms_keep_what_they_say() -> None:
    wrong_label = replace(MENDED, judgement=Judgement("refuted", "wrong_answer", "true", ""))
    lucky = judged([FAILING], DialogSettings(max_retries=0))
    cut_off = judged([Completion(GOOD, (), False)])
    untested = judged([SHOWN.reply(tests=False)], DialogSettings(tests=False, depth="compile"))
    uncertified = replace(MENDED, judgement=Judgement("vacuous", "kills_no_mutant", "false", ""))
    found = {
        arm: [kept(record, arm) for record in (MENDED, wrong_label, lucky, cut_off, untested, uncertified)]
        for arm in ("unfiltered", "label", "tests", "trusted")
    }
    assert found == {
        "unfiltered": [True, True, True, False, True, True],
        "label": [True, False, True, False, True, True],
        "tests": [True, False, False, False, False, True],
        "trusted": [True, False, False, False, False, False],
    }


def lesson(number: int, kind: Any, *classes: str) -> Lesson:
    return Lesson(f"l{number}", kind, (message("user", "?"),), (), classes)


MANY = [lesson(n, KINDS[n % 3], "equality" if n == 7 else "negation") for n in range(60)]


def test_the_mix_has_the_shares_that_are_asked_for() -> None:
    shares: dict[Any, float] = {"compile-fix": 0.25, "test-fix": 0.25, "direct": 0.5}
    chosen = mixed(MANY, LessonConfig(shares=shares), seed=1)
    assert [sum(x.kind == kind for x in chosen) for kind in KINDS] == [10, 10, 20]
    assert [x.id for x in chosen] == [x.id for x in MANY if x in chosen]
    assert mixed(MANY, LessonConfig(), seed=1) == MANY
    assert mixed(MANY, LessonConfig(shares=shares), seed=2) != chosen
    with pytest.raises(ValueError, match="add up"):
        LessonConfig(shares={"direct": 0.5})


def test_rare_classes_are_sampled_up() -> None:
    copied = upsampled(MANY, LessonConfig(rare_copies=3))
    assert len(copied) == 62
    assert [x.id for x in copied if "equality" in x.classes] == ["l7", "l7~2", "l7~3"]
    assert upsampled(MANY, LessonConfig(rare_below=0.01, rare_copies=3)) == MANY


def test_a_lesson_survives_its_file() -> None:
    for made in lessons(MENDED, LessonConfig()):
        assert read_lesson(json.loads(json.dumps(made.record()))) == made
    broken = lessons(MENDED, LessonConfig())[0].record() | {"turns": []}
    with pytest.raises(ExampleError, match="turns"):
        read_lesson(broken)


CHAT = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}{{ eos_token }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
FORGETFUL = CHAT.replace("m['content']", "(m['content'] if m['role'] != 'assistant' else '(left out)')")


def templated(tokenizer: Any, template: str) -> Any:
    def conversation(messages: Any) -> str:
        turns = [dict(turn) for turn in messages]
        return tokenizer.apply_chat_template(
            turns, chat_template=template, tokenize=False, add_generation_prompt=True
        )  # fmt: skip

    return conversation


def runs_of(example: Example, tokenizer: Any, *, learnt: bool) -> list[str]:
    """Return the texts of the runs of tokens that are learnt, or are not."""
    runs: list[list[int]] = []
    before = None
    for token, is_learnt in zip(example.ids, example.learnt, strict=True):
        if is_learnt == learnt:
            runs = runs if before == is_learnt else [*runs, []]
            runs[-1].append(token)
        before = is_learnt
    return [tokenizer.decode(run, skip_special_tokens=False) for run in runs]


@pytest.mark.parametrize("loss", ["final", "actor"])
def test_the_mask_covers_the_actors_turns_and_nothing_else(tiny_model: Path, loss: Any) -> None:
    tokenizer = load_tokenizer(str(tiny_model))
    eos = tokenizer.eos_token
    (fix, *_) = lessons(MENDED, LessonConfig(extent="whole", loss=loss))
    example = masked_example(fix, templated(tokenizer, CHAT), tokenizer, PromptStyle("chat"))
    learnt = runs_of(example, tokenizer, learnt=True)
    replies = [BROKEN, UNSAFE, FAILING, GOOD]
    assert learnt == [reply + eos for reply in (replies if loss == "actor" else replies[-1:])]
    read = runs_of(example, tokenizer, learnt=False)
    assert len(read) == len(learnt)
    assert "is missing from an answer set" in read[-1]
    whole = tokenizer.decode(example.ids, skip_special_tokens=False)
    assert whole == templated(tokenizer, CHAT)(fix.messages).removesuffix("\n<|assistant|>")
    assert checked(example, eos_id=tokenizer.eos_token_id, max_tokens=10**6) is example


def test_a_template_that_forgets_turns_is_refused_where_they_are_learnt(tiny_model: Path) -> None:
    tokenizer = load_tokenizer(str(tiny_model))
    forgetful = templated(tokenizer, FORGETFUL)
    fix, _ = lessons(MENDED, LessonConfig(loss="actor"))
    with pytest.raises(ExampleError, match="set loss to 'final'"):
        masked_example(fix, forgetful, tokenizer, PromptStyle("chat"))
    fix, _ = lessons(MENDED, LessonConfig())
    example = masked_example(fix, forgetful, tokenizer, PromptStyle("chat"))
    assert runs_of(example, tokenizer, learnt=True) == [GOOD + tokenizer.eos_token]


def test_stored_ids_are_learnt_as_they_were_written(tiny_model: Path) -> None:
    """The same text in other tokens is another lesson: what the policy wrote is what is reinforced."""
    tokenizer = load_tokenizer(str(tiny_model))
    ids = [token for char in GOOD for token in tokenizer(char, add_special_tokens=False)["input_ids"]]
    assert tokenizer.decode(ids) == GOOD
    assert ids != tokenizer(GOOD, add_special_tokens=False)["input_ids"]
    stored = (*ids, tokenizer.eos_token_id)
    for given, expected in ((stored, stored), (stored[5:], None)):
        (direct,) = lessons(judged([Completion(GOOD, given, True)]), LessonConfig())
        example = masked_example(direct, as_text, tokenizer, BARE)
        learnt = tuple(token for token, is_learnt in zip(example.ids, example.learnt, strict=True) if is_learnt)
        again = (*tokenizer(GOOD, add_special_tokens=False)["input_ids"], tokenizer.eos_token_id)
        assert learnt == (again if expected is None else expected)


def test_a_real_policy_speaks_and_its_words_are_masked(tiny_model: Path) -> None:
    policy = HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle("bare"))
    settings = DialogSettings(examples=0, max_retries=1)
    sampling = Sampling(max_new_tokens=6)
    (trace,) = converse(policy, [PROBLEM], settings, sampling, seed=3, review=review_here)
    assert [turn.review.kind for turn in trace.turns] == ["reply", "reply"]
    assert all(turn.completion_ids for turn in trace.turns)
    fix, _ = lessons(trace, LessonConfig())
    example = masked_example(fix, policy.conversation, policy.tokenizer, policy.prompt_style)
    learnt = [token for token, is_learnt in zip(example.ids, example.learnt, strict=True) if is_learnt]
    assert learnt[:-1] == [t for t in trace.turns[1].completion_ids if t != policy.tokenizer.eos_token_id]


def test_padding_and_what_was_read_carry_no_label() -> None:
    short = Example("a", (5, 6, 7), (False, True, True))
    long = Example("b", (5, 6, 7, 8, 9), (False, True, False, True, True))
    batch: Any = Collator(pad_id=0)([(short,), (long,)])
    assert batch["labels"].tolist() == [[IGNORED, 6, 7, IGNORED, IGNORED], [IGNORED, 6, IGNORED, 8, 9]]
    assert batch["input_ids"].tolist()[0] == [5, 6, 7, 0, 0]
    assert batch["attention_mask"].sum(dim=1).tolist() == [3, 5]


@pytest.mark.parametrize(
    ("ids", "learnt", "told"),
    [
        ((5, 2), (False, True), "no token"),
        ((5, 6, 2), (False, True, False), "end-of-text"),
        ((5, 6, 7), (False, True, True), "end-of-text"),
        ((5, 5, 6, 2), (False, False, True, True), "exceed"),
    ],
)
def test_what_would_teach_nothing_is_an_error(ids: tuple[int, ...], learnt: tuple[bool, ...], told: str) -> None:
    with pytest.raises(ExampleError, match=told):
        checked(Example("a", ids, learnt), eos_id=2, max_tokens=3)


@pytest.fixture
def recorded() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A chat server on loopback that replays a recorded dialog, and what it was asked."""
    replies = [(BROKEN, "stop"), (GOOD[:200], "length"), (UNSAFE, "stop"), (FAILING, "stop"), (GOOD, "stop")]
    asked: list[dict[str, Any]] = []

    def answer(_: str, body: dict[str, Any]) -> Sent:
        text, finish = replies[len(asked)]
        asked.append(body)
        return sent(completion(text, finish, chat=True))

    with listening(answer) as url:
        yield url, asked


def test_a_dialog_with_a_server_is_certified_and_teaches(recorded: tuple[str, list[dict[str, Any]]]) -> None:
    base_url, asked = recorded
    settings = ServerSettings(base_url=base_url, model="m", kind="chat", retries=0)
    policy = ServerPolicy(settings, prompt_style=PromptStyle("chat"))
    sampling = Sampling(max_new_tokens=2000)
    (trace,) = converse(policy, [PROBLEM], DialogSettings(), sampling, seed=3, review=review_here)
    assert [turn.review.reason for turn in trace.turns] == ["json", "cut_off", "unsafe", "not_in_all", ""]
    assert [len(body["messages"]) for body in asked] == [2, 4, 6, 8, 10]
    record = json.loads(json.dumps(trace.record()))
    certified = with_judgement(read_trace(record), judge_record(record))
    assert certified.judged.is_certified
    assert kept(certified, "trusted")
    assert [lesson.kind for lesson in lessons(certified, LessonConfig())] == ["test-fix", "direct"]
    assert all(turn["server"]["calls"] == 1 for turn in record["steps"])
