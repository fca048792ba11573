"""Thirty worked answers in the shapes in which exports lie around, made by code: three problems in ten styles.

Five styles are proofs that are read, so that fifteen of each file are certified; of preferences each chosen text
is one.
"""

import json
from typing import Any

Row = dict[str, Any]
CASES = [
    ("Rex", "dog", "mammal", "furry"),
    ("Polly", "parrot", "bird", "feathered"),
    ("Tom", "cat", "feline", "playful"),
]
PLAIN = "{n} is a {a}. Every {a} is a {b}, so {n} is a {b}. Every {b} is {c}, so {n} is {c}."
STYLES = [
    (True, PLAIN),
    (True, "1. {n} is a {a}.\n2. Every {a} is a {b}.\n3. So {n} is a {b}.\n4. Every {b} is {c}.\n5. So {n} is {c}."),
    (True, "**1.** {n} is a {a}. Every {a} is a {b}. So {n} is a {b}.\n**2.** Every {b} is {c}. So {n} is {c}."),
    (True, "{n} is a {a} -> {n} is a {b} -> {n} is {c}."),
    (True, "First, {n} is a {a}. Since every {a} is a {b}, {n} is a {b}. Because every {b} is {c}, {n} is {c}."),
    (False, "{n} is a {a}. That makes {n} some kind of {b}, I guess, and those tend to look {c}."),
    (False, "{n} is a {a}, so {n} is {c}."),
    (False, "I would say yes."),
    (False, "{n} is a newt, so {n} is {c}."),
    (False, "{n} is a {a}. Every {a} is a {b}, so {n} is a {b}. Every {b} is cold, so {n} is cold."),
]  # fmt: skip
SYSTEM = "You are a helpful assistant. Think step by step before you answer."
TASK = "Decide whether the statement is true or false, using only the given facts. Answer with True or False."
BOXED = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."
ASK_BOXED = "Solve the logic puzzle. Please reason step by step, and put your final answer within \\boxed{}."


def clean() -> list[Row]:
    """Return the plain table: context, question, rationale without its answer's line, answer."""
    rows: list[Row] = []
    for _, style in STYLES:
        for name, a, b, c in CASES:
            said = dict(zip("nabc", (name, a, b, c), strict=True))
            context = "Every {a} is a {b}. Every {b} is {c}. {n} is a {a}.".format(**said)
            rows.append({"context": context, "question": f"True or false: {name} is {c}.",
                         "rationale": style.format(**said), "answer": "True"})  # fmt: skip
    return rows


def _answered(row: Row) -> str:
    return f"{row['rationale']}\nAnswer: True"


def _asked(row: Row) -> str:
    return f"{row['context']} {row['question']}"


def _user(text: str) -> Row:
    return {"role": "user", "content": text}


def _reply(text: str) -> Row:
    return {"role": "assistant", "content": text}


def sharegpt(row: Row) -> Row:
    turns = [("system", SYSTEM), ("human", _asked(row)), ("gpt", _answered(row))]
    return {"conversations": [{"from": who, "value": text} for who, text in turns], "label": "True"}


def messages(row: Row) -> Row:
    return {"messages": [_user(_asked(row)), _reply(_answered(row))], "answer": True}


def alpaca(row: Row) -> Row:
    statement = row["question"].removeprefix("True or false: ")
    return {"instruction": TASK, "input": f"{row['context']}\nStatement: {statement}", "output": _answered(row)}


def alpaca_prompt(row: Row) -> Row:
    prompt = (
        "Below is an instruction that describes a task, paired with an input that provides further context. "
        f"Write a response that appropriately completes the request.\n\n"
        f"### Instruction:\n{TASK}\n\n### Input:\n{_asked(row)}\n\n### Response:\n"
    )
    return {"prompt": prompt, "completion": _answered(row)}


def headings(row: Row) -> Row:
    statement = row["question"].removeprefix("True or false: ")
    asked = f"### Context\n{row['context']}\n\n### Question\nTrue or false: {statement}\n"
    return {"prompt": asked, "completion": _answered(row), "answer": "True"}


def lead_in(row: Row) -> Row:
    prompt = (
        f"Given the following facts:\n{row['context']}\n\nIs the following statement true or false?\n{row['question']}"
    )
    return {"prompt": prompt, "completion": _answered(row)}


def verifiers(row: Row) -> Row:
    text = f"<think>\nHm, {row['context']} Let me see.\n</think>\n{row['rationale']}\n\\boxed{{True}}"
    turns = [{"role": "system", "content": BOXED}, _user(f"{ASK_BOXED}\n\n{_asked(row)}")]
    return {"example_id": 1, "prompt": turns, "completion": [_reply(text)], "task": "logic", "reward": 1.0,
            "answer": "True", "metrics": {"correct": 1.0}, "info": {}}  # fmt: skip


def tags(row: Row) -> Row:
    text = f"<reasoning>\n{row['rationale']}\n</reasoning>\n<answer>\nTrue\n</answer>"
    system = "Respond in the following format:\n<reasoning>\n...\n</reasoning>\n<answer>\n...\n</answer>"
    return {"messages": [{"role": "system", "content": system}, _user(_asked(row)), _reply(text)], "answer": "True"}


def preferences(row: Row) -> Row:
    says = dict(zip("nabc", next(case for case in CASES if case[0] in row["context"]), strict=True))
    chosen = f"{PLAIN.format(**says)}\nAnswer: True"
    return {"prompt": _asked(row), "chosen": chosen, "rejected": "I would say so.\nAnswer: True"}


def preference_chats(row: Row) -> Row:
    plain = preferences(row)
    asked = _user(plain["prompt"])
    return {"chosen": [asked, _reply(plain["chosen"])], "rejected": [asked, _reply(plain["rejected"])]}


def stepwise(row: Row) -> Row:
    steps = [*row["rationale"].splitlines(), "Answer: True"]
    return {"prompt": _asked(row), "completions": steps, "labels": [True] * len(steps)}


def several_options(row: Row) -> Row:
    return {"context": row["context"], "question": row["question"], "A": "True", "B": "False",
            "rationale": f"{row['rationale']}\nAnswer: A", "label": 0}  # fmt: skip


SHAPES = {"sharegpt": sharegpt, "messages": messages, "alpaca": alpaca, "alpaca_prompt": alpaca_prompt,
          "headings": headings, "lead_in": lead_in, "verifiers": verifiers, "tags": tags, "preferences": preferences,
          "preference_chats": preference_chats, "stepwise": stepwise, "several_options": several_options}  # fmt: skip


def nemo_gym() -> list[Row]:
    """Return rollouts of NeMo-Gym, with thoughts in an item of their own; each was paid by its answer."""
    part = {"annotations": [], "type": "output_text", "logprobs": []}
    made: list[Row] = []
    for number, row in enumerate(clean()):
        thought = {"id": "r", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed",
                   "content": [part | {"text": _answered(row)}]}  # fmt: skip
        asked = {"input": [{"role": "user", "type": "message", "content": _asked(row)}], "instructions": SYSTEM}
        response = {"object": "response", "status": "completed", "output": [thought, message]}
        made.append({"_ng_task_index": number % 3, "_ng_rollout_index": number, "responses_create_params": asked,
                     "response": response, "reward": 1.0, "expected_answer": row["answer"]})  # fmt: skip
    return made


def batch() -> list[list[Row]]:
    """Return the lines of a batch's input and of its output, in another order."""
    given: list[Row] = []
    made: list[Row] = []
    for number, row in enumerate(clean()):
        body = {"model": "gpt-4o", "messages": [{"role": "system", "content": SYSTEM}, _user(_asked(row))]}
        given.append({"custom_id": f"row-{number}", "method": "POST", "url": "/v1/chat/completions", "body": body})
        choice = {"index": 0, "message": _reply(_answered(row)), "finish_reason": "stop"}
        response = {"status_code": 200, "request_id": "r", "body": {"id": "c", "choices": [choice]}}
        made.append({"id": f"b{number}", "custom_id": f"row-{number}", "response": response, "error": None})
    return [given, made[::-1]]


def steps() -> list[Row]:
    """Return a row for each step of each text."""
    return [
        {"problem_id": number, "question": _asked(row), "step_index": place, "step": step, "answer": "True"}
        for number, row in enumerate(clean())
        for place, step in enumerate(_answered(row).splitlines())
    ]


def lines(rows: list[Row]) -> str:
    """Return rows as JSON lines."""
    return "".join(f"{json.dumps(row)}\n" for row in rows)
