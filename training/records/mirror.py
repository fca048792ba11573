"""A run folder on an object store too: `s3://`, `gs://`, or whatever else fsspec opens.

    run folder -> push -> URL/round-000/traces.jsonl ..., and the manifest last        (while the run works)
    URL -> fetch -> what another machine's run folder lacks                            (before it works)

Object stores neither append nor sync, so a run works in a folder of its own, and its sealed files are copied. Only
files that the manifest names, with their digests, are ever read: a file is named once it is uploaded whole, and taken
out of the manifest before its bytes change. The manifest has two places, written in turn, so that one is always whole.
It is no lock: a run that finds another run's manifest there stops writing.
"""

import hashlib
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path, PurePosixPath
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from critics.errors import InputError, RunFailed
from training.records.store import StoreError, is_stored, line_of, read_line, write_chunks

PLACES = ("manifest-0.json", "manifest-1.json")
PUSH_S = 30.0
"""Between two looks for newly sealed files; a failed upload is tried again then."""
CHUNK = 2**20
NOT_COPIED = ("log",)
"""Folders of files that grow and belong to one machine."""


class MirrorFailed(RunFailed):
    """The other store cannot be read or written; the run folder is whole all the same."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """Files of a run that are whole on the other store: names and SHA-256 digests, oldest first."""

    number: int = 0
    files: Mapping[str, str] = field(default_factory=dict[str, str])

    def line(self) -> bytes:
        """Return the manifest as one line with its checksum."""
        return line_of({"id": "mirror", "number": self.number, "files": dict(self.files)}).encode()


class Mirror:
    """A run folder and its copy at a URL; raises `InputError` where no file system is known for the URL.

    `last_files` names, by a folder's name, the file that is written last in it: until that is there, nothing of the
    folder is copied, because what is in it may yet be written again.
    """

    def __init__(self, folder: Path, url: str, last_files: Mapping[str, str]) -> None:
        self.folder, self.url, self._last_files = folder, url.rstrip("/"), last_files
        self._store, self._root = _opened(self.url)
        self._digests: dict[tuple[str, int, int, int], str] = {}
        with self._reaching():
            self._manifest = self._latest()

    def fetch(self) -> int:
        """Put in place what the folder lacks, and return how many files that were.

        Raises `StoreError` where what is there already is another run's, or what is fetched is not what was sent.
        """
        num = 0
        for name, digest in self._manifest.files.items():
            path = self.folder / _harmless(name, self.url)
            if not is_stored(path):
                write_chunks(path, self._fetched(name, digest))
                num += 1
            elif path.is_file() and (name == "config.yaml" or "/" in name) and self._digest(path) != digest:
                raise StoreError(
                    f"{path}: {self.url} holds another run, whose file differs; choose another URL or folder"
                )
        return num

    def push(self) -> int:
        """Copy what was sealed since, and return how many files that were; raises `MirrorFailed`."""
        named = self._manifest.files
        fresh = {name: digest for name, digest in self._sealed() if named.get(name) != digest}
        if not fresh:
            return 0
        with self._reaching():
            if fresh.keys() & named.keys():
                self._name({name: digest for name, digest in named.items() if name not in fresh})
            sent = {name: digest for name, digest in fresh.items() if self._send(name, digest)}
            self._name({**self._manifest.files, **sent})
        return len(sent)

    def _sealed(self) -> Iterator[tuple[str, str]]:
        """Yield names and digests of what will not change under its name, oldest first."""
        found: list[tuple[int, str, Path]] = []
        for parent, folders, names in os.walk(self.folder):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in NOT_COPIED)
            here = Path(parent)
            last = self._last_files.get(here.name)
            if last is not None and not (here / last).exists():
                continue
            found += [_placed(here / name, self.folder) for name in names if _may_be_sealed(name)]
        for _, name, path in sorted(found):
            if path.exists():  # `certistar pack` takes plain files away
                yield name, self._digest(path)

    def _send(self, name: str, digest: str) -> bool:
        """Copy one file; False: it was replaced meanwhile, and the next push will find it."""
        path = self.folder / name
        target = f"{self._root}/{name}"
        try:
            self._store.put_file(str(path), target)
        except FileNotFoundError:
            if not path.exists():
                return False
            self._store.makedirs(self._store._parent(target), exist_ok=True)
            self._store.put_file(str(path), target)
        return self._digest(path) == digest

    def _fetched(self, name: str, digest: str) -> Iterator[bytes]:
        total = hashlib.sha256()
        with self._reaching(), self._store.open(f"{self._root}/{name}", "rb") as file:
            while chunk := file.read(CHUNK):
                total.update(chunk)
                yield chunk
        if total.hexdigest() != digest:
            raise StoreError(f"{self.url}/{name}: is not what was copied there; delete {self.url} or restore the file")

    def _name(self, files: Mapping[str, str]) -> None:
        if self._latest() != self._manifest:
            raise MirrorFailed(f"{self.url}: another run copies to it; nothing more was written there: end one of them")
        manifest = Manifest(self._manifest.number + 1, files)
        target = f"{self._root}/{PLACES[manifest.number % 2]}"
        try:
            self._store.pipe_file(target, manifest.line())
        except FileNotFoundError:
            self._store.makedirs(self._root, exist_ok=True)
            self._store.pipe_file(target, manifest.line())
        self._manifest = manifest

    def _latest(self) -> Manifest:
        """Return the newest manifest that is whole; one of the two may be cut off by a crash, the other is whole."""
        found: list[Manifest | None] = []
        for place in PLACES:
            try:
                found.append(_read_manifest(self._store.cat_file(f"{self._root}/{place}")))
            except FileNotFoundError:
                continue
        whole = [manifest for manifest in found if manifest is not None]
        if len(found) == len(PLACES) and not whole:
            raise StoreError(f"{self.url}: both manifests are damaged; delete what is there, and it is copied again")
        return max(whole, key=lambda manifest: manifest.number, default=Manifest())

    def _digest(self, path: Path) -> str:
        """Return a file's SHA-256, read once for each content: sealed files are replaced, never written to."""
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns)
            if key not in self._digests:
                self._digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
        return self._digests[key]

    @contextmanager
    def _reaching(self) -> Generator[None]:
        try:
            yield
        except (InputError, RunFailed, GeneratorExit):
            raise
        except Exception as error:  # every backend has exceptions of its own
            raise MirrorFailed(
                f"{self.url}: cannot be read or written ({type(error).__name__}: {error}); the run folder keeps all; "
                "look at the address, the credentials and the network, and run the same command again"
            ) from error


@contextmanager
def mirrored(mirror: Mirror, tell: Callable[[str], None]) -> Generator[None]:
    """Fetch what is missing, copy what gets sealed while the body works, and the rest when it ends or fails.

    A copy that fails midway is told and tried again; raises `MirrorFailed` where the last one fails.
    """
    mirror.fetch()
    ended = Event()
    thread = Thread(target=_keep_pushing, args=(mirror, ended, tell), daemon=True)
    thread.start()

    def end() -> None:
        ended.set()
        thread.join()

    try:
        yield
    except BaseException:
        end()
        with suppress(RunFailed, InputError):  # what ended the body is the news
            mirror.push()
        raise
    end()
    mirror.push()


def _keep_pushing(mirror: Mirror, ended: Event, tell: Callable[[str], None]) -> None:
    while not ended.wait(PUSH_S):
        try:
            mirror.push()
        except (RunFailed, InputError) as error:
            tell(str(error))


def _opened(url: str) -> tuple[Any, str]:
    """Return the file system of a URL and the path in it; raises `InputError`."""
    core: Any = import_module("fsspec.core")
    address = urlsplit(url)
    if address.password:
        raise InputError("--mirror: leave passwords out of the URL; the store's own variables or files have a place")
    if not address.scheme:
        raise InputError(f"--mirror {url}: is no URL such as s3://bucket/run; a folder is file:///path")
    try:
        return core.url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
    except (ImportError, ValueError) as error:
        raise InputError(f"--mirror {url}: {error} (s3:// needs `pip install s3fs`, gs:// `gcsfs`)") from error


def _harmless(name: str, url: str) -> PurePosixPath:
    """Return a name as a path. Attack: a manifest that names `../../.ssh/authorized_keys`."""
    path = PurePosixPath(name)
    if path.is_absolute() or "\\" in name or any(part.startswith(".") for part in path.parts) or not path.parts:
        raise StoreError(
            f"{url}: its manifest names {name!r}, which is no file of a run; the store is not to be trusted"
        )
    return path


def _may_be_sealed(name: str) -> bool:
    return not name.startswith(".") and not name.endswith(".open.jsonl")


def _placed(path: Path, folder: Path) -> tuple[int, str, Path]:
    try:
        written = path.stat().st_mtime_ns
    except FileNotFoundError:
        written = 0
    return written, path.relative_to(folder).as_posix(), path


def _read_manifest(content: bytes) -> Manifest | None:
    """Return the manifest; None where the write was cut off."""
    try:
        record = read_line(content, where="manifest", checksum=True)
        return Manifest(int(record["number"]), {str(name): str(digest) for name, digest in record["files"].items()})
    except (StoreError, KeyError, AttributeError, TypeError, ValueError):
        return None
