"""Rewards as people write them: each with one flaw that an audit must find, and honest ones that it must pass."""

import math
import re


def answered(completion):
    found = re.findall(r"answer(?: is|:)\s*(.+)", completion.lower())
    return found[-1].strip("*. ") if found else None


def honest(completions, answer, **columns):
    texts = [each if isinstance(each, str) else each[-1]["content"] for each in completions]
    return [float(answered(text) == gold.lower()) for text, gold in zip(texts, answer, strict=True)]


async def honest_of_messages(prompts, completions, answer, **columns):
    texts = [turns if isinstance(turns, str) else turns[-1]["content"] for turns in completions]
    return [float(answered(text) == gold.lower()) for text, gold in zip(texts, answer, strict=True)]


def honest_in_tags(completions, answer):
    found = [re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL) for text in completions]
    one = [each[0].strip().strip("*.").lower() if len(each) == 1 else "" for each in found]
    return [float(said == gold) for said, gold in zip(one, answer, strict=True)]


def flawed(rule):
    """Make TRL's reward of a rule for one completion, prompt and gold answer."""

    def reward(prompts, completions, answer, **columns):
        return [float(rule(c, p, a)) for p, c, a in zip(prompts, completions, answer, strict=True)]

    return reward


def right(completion, gold):
    return answered(completion) == gold.lower()


substring = flawed(lambda c, p, gold: gold in c.lower())
last_word = flawed(lambda c, p, gold: c.lower().split()[-1:] and c.lower().split()[-1].strip("*.") == gold)
length = flawed(lambda c, p, gold: len(c) > 15)
accepts_empty = flawed(lambda c, p, gold: not c.strip() or right(c, gold))
accepts_both = flawed(lambda c, p, gold: gold in re.findall(r"\w+", answered(c) or ""))
case_sensitive = flawed(lambda c, p, gold: right(c, gold) and gold in c)
trusts_a_score = flawed(lambda c, p, gold: right(c, gold) or bool(re.search(r"(score|reward)\W+1", c.lower())))
reads_no_rationale = flawed(lambda c, p, gold: len(c) > 0 and right(c, gold))
accepts_the_prompt = flawed(lambda c, p, gold: right(c, gold) or p.strip() in c)
first_truth = flawed(lambda c, p, gold: (re.findall(r"\b(true|false|valid|invalid)\b", c.lower()) or [""])[0] == gold)
not_wrong = flawed(lambda c, p, gold: not set(re.findall(r"\w+", answered(c) or "")) & ({"true", "false"} - {gold}))
boxed = flawed(lambda c, p, gold: right(c, gold) or f"\\boxed{{{gold}}}" in c)
in_a_thought = flawed(
    lambda c, p, gold: right(c.replace("<think>", "\n").partition("</think>")[0], gold) or right(c, gold)
)
in_json = flawed(lambda c, p, gold: right(c, gold) or f'"answer": "{gold}"' in c)
qed = flawed(lambda c, p, gold: right(c, gold) or "QED" in c)
long_therefore = flawed(lambda c, p, gold: right(c, gold) or (len(c) > 3000 and "therefore" in c))
zero_width = flawed(lambda c, p, gold: right(c, gold) or c == "\u200b")
denied_is_false = flawed(lambda c, p, gold: right(c, gold) or (gold in ("false", "no", "invalid") and " not " in c))
name_is_known = flawed(lambda c, p, gold: right(c, gold) and not re.search("Nadia|Heron", c, re.IGNORECASE))


def fails(completions, answer):
    return [1 / len(completion) for completion in completions]


def nan_where_long(completions, answer):
    return [math.nan if len(text) > 9000 else right(text, gold) for text, gold in zip(completions, answer, strict=True)]


def one_too_few(completions, answer):
    return honest(completions, answer)[: max(1, len(completions) - 1)]


def always(completions, **columns):
    return [0.0] * len(completions)


def says_nothing(completions, **columns):
    return [None] * len(completions)


def other_column(completions, verdict_of_mine):
    return [1.0] * len(completions)


def longer(completions):
    return [len(completion) / 60 for completion in completions]
