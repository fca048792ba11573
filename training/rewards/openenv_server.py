"""The critics as an environment of OpenEnv (extra `openenv`): `reset` asks a question, `step` judges the attempt.

    python -m training.rewards.openenv_server --set problems.dataset=proofwriter --port 8000

The observation has the verdict and the certificate. What no critic could decide has no reward, and `undecided`.
"""

# The extra is not installed where types are checked.
# pyright: basic, reportMissingImports=false

from itertools import count
from pathlib import Path
from typing import Annotated, Any

import typer
from openenv.core.env_server import Action, Environment, Observation, State, create_app
from pydantic import Field

from critics.errors import InputError
from critics.problem import Problem
from training.configuration.section import Section, read_yaml, validated
from training.rewards.questions import Critics, Limits, Questions


class Attempt(Action):
    """An attempt at the question."""

    completion: str = Field(description="The reasoning, ending in a line `Answer: ..`")


class Judged(Observation):
    """The question, and after an attempt what the critics say of it."""

    messages: list[dict[str, str]] = Field(default_factory=list, description="Instructions and question, as turns")
    verdict: str | None = Field(default=None, description="certified, refuted, unproved, .., timeout or error")
    reason: str | None = Field(default=None, description="Why it is not certified")
    undecided: bool = Field(default=False, description="No critic could decide it: neither proved nor wrong")
    record: dict[str, object] = Field(default_factory=dict, description="The judged attempt, with its certificate")


class Served(Section):
    """Configuration of a server: its questions, and limits for its critics."""

    questions: Questions = Questions()
    limits: Limits = Limits()


class CertifiedEnvironment(Environment[Attempt, Judged, State]):
    """A session: one question, one attempt.

    A second attempt at a question is refused, else a policy could try answers until one is paid.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, questions: Questions, problems: list[Problem], critics: Critics, places: "count[int]") -> None:
        super().__init__()
        self._questions, self._problems, self._critics, self._places = questions, problems, critics, places
        self._problem: Problem | None = None
        self._state = State()

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, problem: int | None = None, **_: Any
    ) -> Judged:
        """Ask the question at place `problem`, or `seed`; without either the next one. Places go round."""
        place = next((at for at in (problem, seed) if at is not None), None)
        place = next(self._places) if place is None else place
        self._problem = self._problems[place % len(self._problems)]
        self._state = State(episode_id=episode_id)
        return Judged(messages=self._questions.messages(self._problem))

    def step(self, action: Attempt, timeout_s: float | None = None, **_: Any) -> Judged:
        """Judge the attempt, which ends the episode; the critics' time is the server's `limits`."""
        problem, self._problem = self._problem, None
        if problem is None:
            raise ValueError("there is no open question; reset asks one, and one attempt is judged")
        self._state = State(episode_id=self._state.episode_id, step_count=1)
        found = self._critics.rewarded(problem.id, problem, self._questions.format, action.completion)
        said = {"verdict": found.verdict.verdict, "reason": found.verdict.reason, "record": found.record}
        return Judged(done=True, reward=found.reward, undecided=found.reward is None, **said)

    @property
    def state(self) -> State:
        """Id of this episode, and whether its attempt was made."""
        return self._state


def served(config: Served, max_sessions: int = 64) -> Any:
    """Return the server as an ASGI application; raises `InputError` where a problem has no answer."""
    problems, critics, places = config.questions.load(), Critics(config.limits), count()
    return create_app(
        lambda: CertifiedEnvironment(config.questions, problems, critics, places),
        Attempt,
        Judged,
        env_name="certistar",
        max_concurrent_envs=max_sessions,
    )


def main(
    config: Annotated[Path | None, typer.Argument(help="YAML file with `questions` and `limits`.")] = None,
    overrides: Annotated[list[str] | None, typer.Option("--set", help="A key of it, as key=value.")] = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    max_sessions: Annotated[int, typer.Option(help="Sessions at once.")] = 64,
) -> None:
    """Serve certistar's problems and critics as an environment of OpenEnv."""
    import uvicorn

    try:
        data = {} if config is None else read_yaml(config)
        app = served(validated(Served, data, overrides or [], config or Path("--set")), max_sessions)
    except InputError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    uvicorn.run(app, host=host, port=port)


if __name__ == "__main__":
    typer.run(main)
