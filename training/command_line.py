"""What every command shares: an example under its help, one line for a foreseen failure, and the exit status.

0  done
1  the work failed, or something was rejected; what was finished is kept
2  wrong input: the message names the file, the line, the key or the option, and the remedy
130  interrupted; the same command again goes on
"""

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import typer

EXIT_STATUS = "\b\nExit status: 0 done, 1 failed or rejected, 2 wrong input, 130 interrupted."
EXAMPLES: Mapping[str, str] = {
    "demo": "certistar demo --out checkpoints/demo",
    "run": "certistar run configs/smoke.yaml --set star.rounds=1",
    "problems": "certistar problems prontoqa --num 200 --hops 1,2,3 --out problems.jsonl",
    "rollout": "certistar rollout configs/smoke.yaml --problems problems.jsonl --out traces.jsonl",
    "judge": "certistar judge attempts.jsonl --out verdicts.jsonl --jobs 2",
    "audit": "certistar audit --format rules --self-play 60",
    "recheck": "certistar recheck verdicts.jsonl --json",
    "filter": "certistar filter attempts.jsonl --keep strict --out kept",
    "train": "certistar train configs/smoke.yaml --data kept --out adapter",
    "evaluate": "certistar evaluate configs/smoke.yaml --problems problems.jsonl --adapter adapter",
    "answer": "certistar answer configs/smoke.yaml --problems problems.jsonl --adapter adapter -k 8",
    "compare": "certistar compare checkpoints/demo --json",
    "report": "certistar report checkpoints/demo",
    "prefer": "certistar prefer traces.jsonl --to dpo --out pairs.jsonl",
    "reinforce": "certistar reinforce configs/reinforce_demo.yaml --out adapter",
    "view": "certistar view checkpoints/demo --port 0",
    "pack": "certistar pack checkpoints/demo",
    "export": "certistar export kept --to messages --out messages.jsonl",
    "push": "certistar push checkpoints/smoke file:///tmp/pushed",
    "pull": "certistar pull /tmp/pushed --out pulled",
    "lineage": "certistar lineage checkpoints/smoke/strict/seed-0/round-000/adapter --verify",
    "trace": "certistar trace 017472a0 --run checkpoints/smoke",
    "revoke": "certistar revoke 017472a0 --run checkpoints/smoke",
    "demonstrate": "certistar demonstrate problems.jsonl --out attempts.jsonl",
    "guide": "certistar guide logic --batch texts.jsonl --out allowed.jsonl",
    "pretrain": "certistar pretrain configs/seed.yaml --out checkpoints/my-seed",
    "bench": "certistar bench kernel --json",
    "doctor": "certistar doctor",
}
"""One command line for each command, by its name; a test looks that none is without."""


def register(app: typer.Typer, function: Callable[..., None]) -> Callable[..., None]:
    """Make a function a command; its foreseen failures are one line on standard error and exit status 2 or 1."""

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> None:
        from critics.errors import InputError, RunFailed

        try:
            function(*args, **kwargs)
        except InputError as error:
            _fail(error, 2)
        except RunFailed as error:
            _fail(error, 1)
        except KeyboardInterrupt:
            _fail(RunFailed("interrupted; run the same command again to go on"), 130)

    example = EXAMPLES.get(function.__name__)
    return app.command(epilog=None if example is None else f"\b\nExample: {example}\n\n{EXIT_STATUS}")(guarded)


def _fail(error: Exception, status: int) -> None:
    sys.stderr.write(f"certistar: {' '.join(str(error).split())}\n")
    raise typer.Exit(status)
