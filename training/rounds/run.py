"""A run: lines of rounds, several at once, each stage in its own process; then the report.

    base models measured -> lines (an arm that matches another's amount waits for it) -> report

Stages die with the run. What they finish is in the run folder, so the same command goes on after a crash; a folder
that was begun with another configuration is refused.
"""

import json
import subprocess
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal, TypedDict

from critics.errors import RunFailed
from critics.formats.names import ASP
from rollout.engines import vllm
from rollout.records.digests import file_digest
from training.configuration.run import ArmConfig, RoundTripConfig, RunConfig
from training.configuration.section import ConfigError
from training.finetuning.job import check_installed
from training.lineage.revocation import refuse_tainted
from training.preemption import GRACE_S, Preempted, raised
from training.records.run_folder import Provenance, locked, read_run
from training.records.store import is_stored, write_json, write_text
from training.rounds.line import Line, Notice, base_path, line_path
from training.rounds.loop import measure, run_line
from training.rounds.processes import Channel, Child, ChildDied, Slot, StageProcesses, end_server
from training.rounds.rollout import first_round, require_problems
from training.watchdog import BUDGETS_S, Watchdog, base_name, line_name
from training.workers import choice
from training.workers.strategies import require_server

Report = Callable[[Notice], None]
WATCH_S = 5.0
"""Seconds until the heartbeats of the workers are looked at again."""


@dataclass(frozen=True, slots=True)
class Job:
    """A base model to be measured, or a line to be run."""

    kind: Literal["base", "line"]
    arm: ArmConfig
    seed: int
    name: str
    """In messages, and of its heartbeats: no other unit has it."""


def run(
    config: RunConfig,
    out: Path,
    report: Report = lambda _: None,
    *,
    patience_s: float | None = None,
) -> None:
    """Do everything that is missing in `out`, then write report.json and report.html.

    `patience_s`: how long any stage may make no progress, in the place of each one's own budget.
    Refused is a run of which something rests on a revoked certificate.
    """
    check_installed(config.training.trackers)
    if config.model.engine == "vllm":
        vllm.require()
    server_must_do(config)
    require_problems(config)
    if any(isinstance(arm.strategy, RoundTripConfig) and arm.strategy.rounds != 1 for arm in config.arms):
        raise ConfigError("round_trip.rounds: only trips of one round teach; `certistar evaluate` measures longer ones")
    with raised(), locked(out), choice.cluster(config):
        require_server(config.model)
        lines = lines_of(config)
        claim(config, out, lines["provenance"].get("inputs", {}))
        refuse_tainted(out)
        write_json(out / "lines.json", lines)
        base_digest = lines["provenance"].get("base_digest", "")
        budgets = BUDGETS_S if patience_s is None else dict.fromkeys(BUDGETS_S, patience_s)
        _run_jobs(config, out, base_digest, report, Watchdog(out / "log", budgets))
        from training.reporting.comparison import write_report

        write_report(out)


def server_must_do(config: RunConfig) -> None:
    """Raise `ConfigError` for rounds that no server could sample."""
    if config.model.server is None:
        return
    if config.training.method in ("full", "dora"):
        raise ConfigError(
            f"training.method: {config.training.method} leaves what no server loads while it runs; write lora, "
            "or take model.server out"
        )
    if config.workers.backend == "ray":
        raise ConfigError("workers.backend: a server samples without a cluster; write local")


def num_attempts(config: RunConfig) -> int:
    """Return how many attempts a whole run samples, for a progress bar; hinted retries are not foreseen."""
    star, evaluation = config.star, config.evaluation
    num_greedy = {"never": 0, "ends": 1, "every": star.rounds}[evaluation.greedy]
    per_line = (star.rounds + num_greedy) * evaluation.num_problems
    rounds = sum(arm.taught_by == "itself" for arm in config.arms) * star.rounds - num_shared(config)
    sampled = rounds * star.problems_per_round * config.sampling.samples_per_problem
    bases = {base_path(config, arm, 0): arm for arm in config.arms}
    per_base = evaluation.num_problems * (1 if evaluation.greedy == "never" else 2)
    squared = sum(arm.is_squared for arm in (*config.arms, *bases.values()))
    square = {"never": 0, "sampled": evaluation.num_problems, "both": per_base}[evaluation.square] * squared
    dialogs = sum(arm.format == ASP for arm in config.arms)
    dialog_bases = sum("-asp" in base for base in bases)
    resampled = evaluation.resampled * evaluation.num_problems * (dialogs + dialog_bases)
    return len(config.seeds) * (sampled + len(config.arms) * per_line + len(bases) * per_base + square + resampled)


def num_shared(config: RunConfig) -> int:
    """Return how many first rounds of a seed are another arm's as well."""
    return sum(first_round(config, Path(), arm, 0) is not None for arm in config.arms)


def claim(config: RunConfig, out: Path, inputs: Mapping[str, str]) -> None:
    """Write the resolved configuration, or refuse a folder that was begun with another, or with other `inputs`."""
    import yaml

    path = out / "config.yaml"
    if path.exists():
        begun = RunConfig.model_validate(yaml.safe_load(path.read_text()))
        if begun.digest() != config.digest():
            raise ConfigError(f"{out} was begun with another configuration ({path}); choose another --out or delete it")
        before: Any = read_run(out).provenance.get("inputs") if (out / "lines.json").exists() else inputs
        if before != inputs:
            # Attack, or a slip: the model or the problems exchanged under their names, and old rounds taken for new.
            other = next((name for name in inputs if before.get(name) != inputs[name]), "input")
            raise ConfigError(f"{out} was begun with another {other}, by its digest; choose another --out or delete it")
        return
    write_text(path, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))


def jobs_of(config: RunConfig) -> list[Job]:
    """Return the base measurements first, then the lines, seed by seed in the order of the arms."""
    bases: dict[str, Job] = {}
    lines: list[Job] = []
    for seed in config.seeds:
        for arm in config.arms:
            base = base_path(config, arm, seed)
            bases.setdefault(base, Job("base", arm, seed, base_name(base)))
            lines.append(Job("line", arm, seed, line_name(arm.name, seed)))
    return [*bases.values(), *lines]


def _run_jobs(config: RunConfig, out: Path, base_digest: str, report: Report, watchdog: Watchdog) -> None:
    try:
        gpus: list[str] = Child(_gpus).result()  # in another process, since this one imports no torch
    except ChildDied as death:
        raise RunFailed(f"looking for GPUs: {death}; {out} holds what is finished: run the command again") from death
    jobs = jobs_of(config)
    lines = sum(job.kind == "line" for job in jobs)
    num = choice.lines_at_once(config, len(gpus), lines if gpus else len(jobs))
    choice.check_shares(config, num, len(gpus))
    samples_here = config.workers.backend == "local" and config.model.server is None and config.model.policy is None
    if samples_here and config.model.engine == "vllm":
        choice.engine_gpus(config, gpus)
    slots = Slots([Slot(choice.gpus_of(number, num, gpus), keeps=samples_here) for number in range(num)])

    def work(job: Job) -> None:
        """Measure a base model, or run a line, in a thread that waits for its stages."""
        processes = StageProcesses(
            config, out, job.arm, job.seed, job.name, report, choice.cores_for_each(num), base_digest=base_digest
        )
        with slots.held(processes) as stages, choice.open_workers(config) as workers:
            line = Line(config, out, job.arm, job.seed, workers, elsewhere=stages)
            if job.kind == "base":
                measure(line, None, None)
            else:
                run_line(line)

    def may_begin(job: Job) -> bool:
        """Say whether the attempts that a line takes over from another one are there."""
        path = None if job.kind == "base" else first_round(config, out, job.arm, job.seed)
        return path is None or is_stored(path)

    try:
        with ThreadPoolExecutor(num) as pool:
            _schedule(pool, work, slots, jobs, watchdog, may_begin)
    finally:
        slots.kill()


def _gpus(_: Channel) -> list[str]:
    return choice.visible_gpus()


def _schedule(
    pool: ThreadPoolExecutor,
    work: Callable[[Job], None],
    slots: "Slots",
    jobs: list[Job],
    watchdog: Watchdog,
    may_begin: Callable[[Job], bool],
) -> None:
    """Start jobs in order as their needs are met; one that fails or hangs stops the run and is reported."""
    waiting, done = list(jobs), set[tuple[str, int]]()
    running: dict[Future[None], Job] = {}
    try:
        while waiting or running:
            matched = [j for j in waiting if j.arm.match is None or (j.arm.match, j.seed) in done or j.kind == "base"]
            ready = list(filter(may_begin, matched))
            for job in ready:
                running[pool.submit(work, job)] = job
                waiting.remove(job)
            finished, _ = wait(running, timeout=WATCH_S, return_when=FIRST_COMPLETED)
            watchdog.check()
            for future in finished:
                job = running.pop(future)
                future.result()
                if job.kind == "line":
                    done.add((job.arm.name, job.seed))
    except BaseException as error:
        pool.shutdown(wait=False, cancel_futures=True)
        if isinstance(error, Preempted):
            slots.ask_to_end()
            wait(running, timeout=GRACE_S)
        slots.kill()  # one that hangs ends in no other way
        end_server()
        raise


class Slots:
    """Places for lines that are worked on at once."""

    def __init__(self, slots: Sequence[Slot]) -> None:
        self._slots = slots
        self._free: SimpleQueue[Slot] = SimpleQueue()
        for slot in slots:
            self._free.put(slot)
        self._busy: set[StageProcesses] = set()
        self._is_ended = False

    @contextmanager
    def held(self, stages: StageProcesses) -> Generator[StageProcesses]:
        """Hold a slot for the stages of a line."""
        stages.slot = self._free.get()
        self._busy.add(stages)
        if self._is_ended:  # while this line was about to begin
            stages.kill()
        try:
            yield stages
        finally:
            self._busy.discard(stages)
            self._free.put(stages.slot)

    def ask_to_end(self) -> None:
        """Let fine-tunings write a checkpoint, end all other stages, and start none."""
        self._is_ended = True
        for stages in list(self._busy):
            stages.ask_to_end()

    def kill(self) -> None:
        """End all stages at once, and those of lines that begin from now on."""
        self._is_ended = True
        for stages in list(self._busy):
            stages.kill()
        for slot in self._slots:
            slot.kill()


class LinePlace(TypedDict):
    """A line of a run, with its folders below the run's."""

    arm: str
    seed: int
    path: str
    base: str


class LinesFile(TypedDict):
    """The content of lines.json."""

    lines: list[LinePlace]
    num_rounds: int
    provenance: Provenance


def lines_of(config: RunConfig) -> LinesFile:
    """Return lines.json: the lines of a run with their folders, and where its numbers come from."""
    lines: list[LinePlace] = [
        {"arm": arm.name, "seed": seed, "path": line_path(config, arm, seed), "base": base_path(config, arm, seed)}
        for arm in config.arms
        for seed in config.seeds
    ]
    return {"lines": lines, "num_rounds": config.star.rounds, "provenance": provenance(config)}


def provenance(config: RunConfig) -> Provenance:
    """Return what a report's numbers come from: configuration, code, libraries and the base model."""
    from rollout.policies.policy import model_digest

    made = Path(config.model.name) / "provenance.json"
    base = model_digest(config.model.pinned)
    named = {
        "problems": config.problems.source,
        "held_out": config.held_out and config.held_out.source,
        "model.prompt_file": config.model.prompt_file,
    }
    files = {key: Path(name) for key, name in named.items() if name and Path(name).is_file()}
    engine = ("vllm",) if config.model.engine == "vllm" else ()
    return {
        "config": config.name,
        "config_digest": config.digest(),
        "commit": commit(),
        "versions": {name: version(name) for name in ("certistar", "torch", "transformers", "peft", *engine)},
        "seeds": config.seeds,
        "held_out_split": config.evaluation.split,
        "base": config.model.pinned,
        "base_digest": base,
        "inputs": {"model": base, **{key: file_digest(path) for key, path in files.items()}},
        "base_provenance": json.loads(made.read_text()) if made.exists() else None,
    }


def version(name: str) -> str | None:
    """Return the version of a distribution; None where it is not installed."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def commit() -> str | None:
    """Return the commit of the code that runs, with `+` where the tree has changes; None outside a checkout."""
    folder = Path(__file__).parent

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None
