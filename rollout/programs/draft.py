"""An attempt in progress: the problem without its gold answer, the steps so far, and how to ask for more."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from critics.formats.rules.critic import is_closed_world
from critics.problem import TRUTH_VALUES, Problem
from critics.text.answer_reader import read_answer
from rollout.policies.engine import Steps, Write, inspect, write
from rollout.policies.policy import Completion
from rollout.programs.prompt import about, answering, mended_examples, opening, program_in
from rollout.programs.review import KINDS, ProgramSubmission
from rollout.prompts.conversation import Message, Messages
from rollout.records.sampling import derived_seed
from rollout.records.steps import ProgramReply, ProgramStep, RunReview
from rollout.records.traces import BackupAnswer
from rollout.settings import ProgramDepth


@dataclass(frozen=True, slots=True)
class ProgramDraft:
    """A program, what running it shows, and the reply that holds it."""

    program: str
    review: RunReview
    reply: Completion
    is_first: bool = True
    """True if the reply is to the problem itself, and not to something said about an earlier draft."""

    def is_done(self, depth: ProgramDepth) -> bool:
        """Say whether nothing is left to be said about it."""
        return self.review.kind == "answered" and not (depth == "strict" and self.review.is_barred)

    def is_no_worse_than(self, other: "ProgramDraft") -> bool:
        """Say whether it comes as far as another: a refinement must not cost an answer."""
        mine, theirs = (KINDS.index(draft.review.kind) for draft in (self, other))
        return mine < theirs or (mine == theirs and self.review.is_barred <= other.review.is_barred)


@dataclass
class Task:
    """Tools of prototypers and refiners at one problem; everything written through it is recorded in `steps`."""

    problem: Problem
    """Without its answer (`rollout.programs.review.without_gold`): nothing here can give it away."""
    format: str
    seed: int
    depth: ProgramDepth
    num_examples: int
    steps: list[ProgramStep] = field(default_factory=list[ProgramStep])

    def opening(self) -> list[Message]:
        """Return the conversation up to the first program."""
        return opening(self.problem, self.format, self.num_examples)

    def about(self, draft: ProgramDraft, said: str, purpose: str | None = None) -> list[Message]:
        """Return the conversation in which something is said about a draft.

        Where examples are shown, so is how a program was mended for the same `purpose`.
        """
        known = mended_examples() if self.num_examples else ()
        shown = [each for each in known if (each.purpose, each.after.format) == (purpose, self.format)]
        return about(self.opening(), draft.program, said, shown)

    def ask(self, purpose: str, messages: Messages) -> Steps[Completion]:
        """Have one reply written and recorded."""
        [completion] = yield from self.ask_each(purpose, [messages])
        return completion

    def ask_each(self, purpose: str, asked: Sequence[Messages]) -> Steps[list[Completion]]:
        """Have a reply to each of several conversations written, all at once.

        Each has a seed of its own, so that fewer replies to the same are the first of more.
        """
        first = sum(step.purpose == purpose for step in self.steps if isinstance(step, ProgramReply))
        seeds = [derived_seed(self.seed, purpose, first + n) for n in range(len(asked))]
        completions = yield from write([Write(each, seed) for each, seed in zip(asked, seeds, strict=True)])
        for messages, reply, seed in zip(asked, completions, seeds, strict=True):
            said = None if purpose == "sample" else messages[-1]["content"]
            step = ProgramReply(purpose, reply.text, reply.ids, reply.finished, seed, server=reply.server, asked=said)
            self.steps.append(step)
        return completions

    def back_up(self, kind: str) -> Steps[BackupAnswer]:
        """Answer without a program (001, section 4.2): `llm` asks the policy itself, `random` draws by the seed.

        Never certified, never a program: a trace holds it beside the attempt, where no critic sees it.
        """
        if kind == "random":
            return BackupAnswer(kind, drawn_answer(self.problem, self.seed))
        reply = yield from self.ask("backup", answering(self.problem))
        return BackupAnswer(kind, read_answer(reply.text, self.problem))

    def run(self, programs: Sequence[str], *, finished: Sequence[bool]) -> Steps[list[RunReview]]:
        """Have programs run; the reviews go to the last steps."""
        listed = zip(programs, finished, strict=True)
        reviews = yield from inspect([ProgramSubmission(self.problem, self.format, *each) for each in listed])
        start = len(self.steps) - len(programs)
        for place, review in enumerate(reviews, start):
            step = self.steps[place]
            assert isinstance(step, ProgramReply), "what is run was written last"
            self.steps[place] = replace(step, review=review)
        return reviews

    def decide(self, *, kept: bool) -> None:
        """Record of the last refinement whether it is gone on with."""
        step = self.steps[-1]
        assert isinstance(step, ProgramReply), "a refinement was written last"
        self.steps[-1] = replace(step, kept=kept)

    def drafted(self, completions: Sequence[Completion]) -> Steps[list[ProgramDraft]]:
        """Return what replies hold as drafts that were run."""
        programs = [program_in(completion.text) for completion in completions]
        reviews = yield from self.run(programs, finished=[completion.finished for completion in completions])
        return [ProgramDraft(*each) for each in zip(programs, reviews, completions, strict=True)]

    def redrafted(self, reply: Completion) -> Steps[ProgramDraft]:
        """Return what a reply about an earlier draft holds."""
        [draft] = yield from self.drafted([reply])
        return replace(draft, is_first=False)


def drawn_answer(problem: Problem, seed: int) -> str:
    """Draw one of all answers that the problem can have: what is left of the accuracy when luck is taken out."""
    choices = TRUTH_VALUES[:2] if is_closed_world(problem) else TRUTH_VALUES
    if problem.options is not None:
        choices = tuple(chr(ord("A") + place) for place in range(len(problem.options)))
    return choices[derived_seed(seed, "random answer") % len(choices)]
