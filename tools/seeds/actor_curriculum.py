"""Lessons that train the embedded seed actor from scratch: replies to problems, and replies that mend earlier ones.

A mended reply goes on from a reply that was spoilt on purpose and from what the critic really said to it, so that the
model learns what a dialog looks like. How much is wrong in what it learns is in the configuration.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from critics.problem import Problem
from rollout.actor_critic.demonstration import draft
from rollout.actor_critic.feedback import Reply, review
from rollout.actor_critic.prompt import feedback_text, opening
from rollout.problems.catalogue import family
from rollout.problems.controlled_english import ADJECTIVES, NAMES
from rollout.prompts.conversation import Message, message
from rollout.records.steps import DialogReview
from tools.seeds.actor_flaws import flawed
from tools.seeds.configuration import ActorPretrainingConfig, FlawsConfig, LessonPhaseConfig
from tools.seeds.piece_tokenizer import EOS, PAD, common_pieces, piece_tokenizer

USER, ACTOR = "<|user|>", "<|actor|>"
CHAT_TEMPLATE = (
    "{%- for turn in messages -%}"
    "{%- if turn['role'] == 'assistant' -%}" + ACTOR + "{{ turn['content'] }}" + EOS + "{%- elif turn['content'] -%}"
    "" + USER + "{{ turn['content'] }}{%- endif -%}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}" + ACTOR + "{%- endif -%}"
)
"""Earlier turns are repeated word for word; empty instructions are none."""
_MIN_COUNT = 10
"""Occurrences in the sample from which a piece is a token of its own."""
_NUM_SAMPLED = 2000
_MAX_TRIES = 20


@dataclass(frozen=True, slots=True)
class SeedLesson:
    """A conversation that is read, and the reply that is learnt."""

    id: str
    messages: tuple[Message, ...]
    reply: str


def lessons(config: ActorPretrainingConfig, phase: LessonPhaseConfig, *, seed: int) -> Iterator[SeedLesson]:
    """Yield the phase's lessons; each depends only on the configuration, the seed and its index."""
    made = family(config.actor)
    problems = made.generate(made.configured(phase.family, "pretrain"), phase.num_examples, seed=seed)
    for problem in problems:
        rng = random.Random(f"{seed}/{problem.id}")
        if rng.random() < phase.mended and (wrong := _wrong(problem, phase.first_flaws, rng)) is not None:
            reply, said = wrong
            told = message("assistant", reply), message("user", feedback_text(said))
            asked = (*_opened(problem), *told)
            yield SeedLesson(f"{problem.id}/mended", asked, _reply(problem, phase.mended_flaws, rng))
        else:
            yield SeedLesson(f"{problem.id}/direct", _opened(problem), _reply(problem, phase.flaws, rng))


def _opened(problem: Problem) -> tuple[Message, ...]:
    return message("system", ""), message("user", opening(problem))


def _reply(problem: Problem, flaws: FlawsConfig, rng: random.Random) -> str:
    return flawed(draft(problem), flaws, rng).text()


def _wrong(problem: Problem, flaws: FlawsConfig, rng: random.Random) -> tuple[str, DialogReview] | None:
    """Return a spoilt reply and what the critic makes of it; None where it would not be found wrong."""
    for _ in range(_MAX_TRIES):
        reply = _reply(problem, flaws, rng)
        said = review(Reply.to(problem, reply, finished=True, depth="tests", in_full=False))
        if said.kind != "clean":
            return reply, said
    return None


_WORDS = "|".join((*NAMES, *(name.lower() for name in NAMES), *ADJECTIVES))
_PIECE = re.compile(
    rf"""\b(?:{_WORDS})\b | R\d
    | \{{"Model":\ \["%\ 
    | \.",\ "Facts":\ \["-?
    | (?:\(X\)|\))?\.",\ "(?:%\ |1\ \{{-?|-)?
    | \(X\)\ :-\ -? | \)\ :-\ -? | \);\ -? | \)\}}\ 1\.",\ "-?
    | (?:\(X\)|\))\."\],\ "Tests":\ \[\{{"Rules":\ \["
    | "\],\ "Explanation":\ "
    | (?:\(kim\)|\))\."\],\ "[a-zA-Z-]+":\ \["-?
    | (?:\(kim\)|\))"\]\}},\ \{{"Rules":\ \["
    | (?:\(kim\)|\))"\]\}}\],\ "Query":\ \["ATOM\(-?
    | \)\)"\]\}}
    | \ is\ not\  | \ is\  | \ if\  | \ or\  | ,\ but\ not\ both
    | Everybody\ who\ is\  | Nobody\ who\ is\  | Either\ 
    | \.\nQuery:\  | \.\n | :\ 
    | [A-Za-z]+\ ? | \d | [^A-Za-z0-9\s]+\ ? | \s""",
    re.VERBOSE,
)
"""Words of the vocabulary alone, so that text and program share them; what stands between them in one piece."""


def build_actor_tokenizer(config: ActorPretrainingConfig) -> Any:
    """Return a tokenizer with a token for every piece that is common in the lessons, and for every single byte."""
    built = piece_tokenizer(common_pieces(_sample(config), _PIECE, min_count=_MIN_COUNT), (EOS, PAD, USER, ACTOR))
    built.chat_template = CHAT_TEMPLATE
    return built


def _sample(config: ActorPretrainingConfig) -> Iterator[str]:
    last = config.phases[-1].model_copy(update={"num_examples": _NUM_SAMPLED, "mended": 0.5})
    for lesson in lessons(config, last, seed=config.seed * 100 + 99):
        yield from (*(turn["content"] for turn in lesson.messages), lesson.reply)
