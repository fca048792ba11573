"""Archives of finished runs for `docs/results`: `python -m tools.archived_runs RUN.. --out DIR`.

`NAME.tar.xz` of a run holds what `certistar compare` reads (configuration, evaluations, counts by round), and each
held-out attempt of its first seed, by the base and after the last round, with its certificate: `certistar recheck NAME`
judges them again. The attempts lie unpacked, so that xz finds what they share. Archives of one run are byte-equal.
"""

import gzip
import io
import tarfile
from pathlib import Path
from typing import Annotated

import typer
import yaml

from critics.errors import InputError

READ = ("config.yaml", "lines.json", "summary.json", "evaluation.json")
ATTEMPTS = "evaluation.jsonl.gz"


def files(run: Path) -> list[tuple[str, Path]]:
    """Return the archive's files by their names in it, in the order of their names."""
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    seed, last = f"seed-{config['seeds'][0]}", f"round-{config['star']['rounds'] - 1:03d}"
    found = [path for name in READ for path in run.rglob(name)]
    attempts = [path for path in run.rglob(ATTEMPTS) if seed in path.parts]
    found += [path for path in attempts if last in path.parts or "base" in path.relative_to(run).parts]
    return sorted((f"{run.name}/{path.relative_to(run).as_posix().removesuffix('.gz')}", path) for path in found)


def write(run: Path, out: Path) -> Path:
    """Archive a run into `out`; return the archive. An unfinished run is refused."""
    if not (run / "report.json").exists():
        raise InputError(f"{run}: is no finished run; `certistar run` goes on with it")
    archive = out / f"{run.name}.tar.xz"
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for name, path in files(run):
            content = path.read_bytes()
            entry = tarfile.TarInfo(name)
            content = gzip.decompress(content) if path.suffix == ".gz" else content
            entry.size = len(content)
            packed.addfile(entry, io.BytesIO(content))
    return archive


def main(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN..")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the archives.")],
) -> None:
    """Archive finished runs with the held-out attempts of one seed."""
    out.mkdir(parents=True, exist_ok=True)
    for run in runs:
        archive = write(run, out)
        print(f"{archive}: {archive.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
