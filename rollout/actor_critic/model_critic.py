"""A language model beside the critic: it doubts tests and puts proofs into words, and decides nothing.

LLM-ARC (section 5.1) wants both: a second critic that asks whether a test's expectation is what the statements demand,
because tests may pass for the wrong reason, and a model that turns the solver's proof back into English. What it says
is added to what the actor is told, marked as an opinion. Kind, reason, part and failing tests of a review stay what
the solver made them; a reply that the solver accepts is told nothing; and no verdict asks for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from critics.problem import is_object
from rollout.actor_critic.feedback import Reply, Reviewing, replied_object
from rollout.policies.policy import ChatPolicy, Completion
from rollout.prompts.conversation import Messages, message
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.steps import DialogReview, SecondOpinion

_EXPLAINED = ("contradiction", "tests")
"""Kinds of review that have a proof to be put into words; of what cannot be read, line and column say enough."""
_MAX_READ = 16_000
"""Characters of a reply that a model is asked about; a longer one gets no opinion."""
_LONGEST_WORDS = 700
_LONGEST_DOUBT = 200
"""Characters told of the proof in words, and of each doubt."""
_UNMARKED = str.maketrans("<>[]", "‹›()")

_TASK = """You assist a logician who translates English statements into an answer set program with tests. The solver \
clingo has run the program, and you are shown what it found. Two things are asked of you.
First, go through the tests. Suppose a test's facts, take the statements literally, and ask whether they demand what \
the test expects: that its literals hold always (infer-All), may hold (infer-Any), never hold (do-not-infer), or that \
its facts contradict the statements (expect-contradiction). Go by the statements; the program may be wrong.
Then say in at most three plain sentences what the solver found and how it comes about, with the numbers of the rules \
and the names of the individuals. Add nothing that the solver did not find, do not answer the query, and do not \
rewrite the program.
Reply with one JSON object and nothing else: {"tests": {"1": "", "2": "why"}, "words": "the sentences"}. Under the \
number of a test stands an empty text where its expectation is right, and else in one sentence what the statements \
demand instead."""
_MARK = "A language model has read this as well. Its opinion may be wrong and decides nothing:"


@dataclass(frozen=True, slots=True)
class OpinionSettings:
    """Settings of a model critic: what it is asked about, and how much it may write."""

    max_new_tokens: int = 400
    """Most tokens of one opinion; a dialog has at most one for each turn."""
    temperature: float = 0.0
    on_accepted: bool = False
    """True if it is asked about replies that the solver accepts as well: for the record alone, since the dialog is
    over then, whatever it doubts."""


@dataclass(frozen=True, slots=True)
class ModelCritic:
    """Reviews as `review` does, and adds what `policy` thinks: a `Reviewing` made of another."""

    review: Reviewing
    policy: ChatPolicy
    settings: OpinionSettings = field(default_factory=OpinionSettings)
    seed: int = 0

    def __call__(self, replies: Sequence[Reply]) -> list[DialogReview]:
        """Review replies in their order.

        An opinion depends on reply, review and seed, and not on what else is in the batch. Raises `Interrupted`
        where the policy cannot go on: an arm that was to have opinions must not silently be one without.
        """
        reviews, settings = self.review(replies), self.settings
        kinds = {*_EXPLAINED, *(["clean"] if settings.on_accepted else [])}
        asked = [n for n, reply in enumerate(replies) if reviews[n].kind in kinds and len(reply.text) <= _MAX_READ]
        if not asked:
            return reviews
        prompts = [self.policy.conversation(question(replies[place], reviews[place])) for place in asked]
        seeds = [derived_seed(self.seed, "model-critic", prompt) for prompt in prompts]
        sampling = Sampling("free", settings.temperature, max_new_tokens=settings.max_new_tokens)
        completions = self.policy.complete(prompts, None, seeds, sampling)
        for place, completion, seed in zip(asked, completions, seeds, strict=True):
            review = reviews[place]
            opinion = _opinion(completion, review.num_tests, seed, self.policy.digests)
            # Everything but what is told is the solver's.
            # Attack: a critic that can be flattered must not be able to accept, so of a clean reply nothing is changed.
            said = review.told + told(opinion) if review.told else ""
            reviews[place] = replace(review, told=said, opinion=opinion)
        return reviews


def question(reply: Reply, review: DialogReview) -> Messages:
    """Return the conversation that asks for an opinion. Nothing of a reply knows the gold answer."""
    found = review.told or "The program runs, and all tests pass."
    parts = [
        f"The statements:\n{reply.source.context}\nQuery: {reply.source.question}",
        f"The program with its tests:\n{reply.text}",
        f"What the solver found:\n{found}",
    ]
    return [message("system", _TASK), message("user", "\n\n".join(parts))]


def _opinion(completion: Completion, num_tests: int, seed: int, policy: PolicyDigests) -> SecondOpinion:
    said = replied_object(completion.text) or {}  # a reply that is none is no opinion
    listed = said.get("tests")
    tests: dict[str, object] = listed if is_object(listed) else {}
    doubts = {number: _plain(tests.get(str(number)), _LONGEST_DOUBT) for number in range(1, num_tests + 1)}
    return SecondOpinion(
        {number: why for number, why in doubts.items() if why},
        _plain(said.get("words"), _LONGEST_WORDS),
        completion.text,
        completion.finished,
        seed,
        policy,
        completion.server,
    )


def _plain(value: object, longest: int) -> str:
    """Return a text as one short line.

    Attack: `\\n### Reply` and a chat template's tokens would end the critic's turn and forge one of somebody else's.
    """
    if not isinstance(value, str):
        return ""
    line = " ".join(value.split()).translate(_UNMARKED)
    line = "".join(character for character in line if character.isprintable())
    return line if len(line) <= longest else f"{line[:longest]} .."


def told(opinion: SecondOpinion) -> str:
    """Return what is added to the solver's own words; empty where the opinion has nothing to say."""
    lines = [f"- What the solver found, in other words: {opinion.words}"] if opinion.words else []
    lines += [f"- Test {number} is in doubt: {why}" for number, why in opinion.doubts.items()]
    return "\n".join(["", _MARK, *lines]) if lines else ""
