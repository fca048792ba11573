"""Places that parcels go to and come from: a repository of the Hugging Face Hub, or a folder.

On the Hub, an adapter is a model repository, and its dataset the dataset repository of the same name. A folder has
`adapter/` and `dataset/`. huggingface_hub finds the token itself: HF_TOKEN, or `hf auth login`.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from critics.errors import InputError, RunFailed
from training.lineage.adapters import MANIFEST
from training.lineage.entries import LINEAGE, REVOKED
from training.lineage.kept import CERTIFICATES, EXAMPLES

Part = Literal["adapter", "dataset"]
PARTS: tuple[Part, ...] = ("adapter", "dataset")
_REPO_TYPES = {"adapter": "model", "dataset": "dataset"}
_WRITTEN = ("*.safetensors", "*.json", "*.jsonl", "*.jinja", "README.md")
"""Files that a push may have left in a folder."""
TAKEN: Mapping[Part, tuple[str, ...]] = {"adapter": _WRITTEN, "dataset": (EXAMPLES, CERTIFICATES, LINEAGE, REVOKED)}
"""Files that are fetched: nothing that is code, nothing pickled, and of a dataset nothing but what is checked."""
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on this machine or on a shared disk."""

    path: Path

    @property
    def name(self) -> str:
        """Return what cards call it."""
        return self.path.name

    def send(self, parcel: Path, part: Part, *, private: bool) -> str:
        """Put a parcel in place whole; what an earlier push left there is replaced, and nothing else."""
        place = self.path / part
        found = list(place.iterdir()) if place.is_dir() and not place.is_symlink() else [place]
        is_ours = all(path.is_file() and any(path.match(pattern) for pattern in _WRITTEN) for path in found)
        is_marked = {CERTIFICATES, MANIFEST} & {path.name for path in found}
        if os.path.lexists(place) and found and not (is_ours and is_marked):
            # A folder of a user's that is called so.
            raise InputError(f"{place}: is there, and no push left it; nothing is written over: choose another place")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            beside = Path(tempfile.mkdtemp(prefix=f".{part}.", dir=self.path))
            try:
                shutil.copytree(parcel, beside, dirs_exist_ok=True)
                beside.chmod(0o755)
                if place.exists():
                    shutil.rmtree(place)
                beside.replace(place)
            finally:
                shutil.rmtree(beside, ignore_errors=True)
        except OSError as error:
            raise InputError(f"{place}: cannot be written ({error.strerror}); choose another place") from error
        return str(place)

    def fetch(self, part: Part, out: Path) -> bool:
        """Copy what is taken of a part; False where it is not there."""
        place = self.path / part
        if not place.is_dir():
            return False
        out.mkdir(parents=True)
        for pattern in TAKEN[part]:
            for path in sorted(place.glob(pattern)):
                if path.is_file() and not path.is_symlink():  # Attack: a link to a file of whoever pulls.
                    shutil.copyfile(path, out / path.name)
        return True


@dataclass(frozen=True, slots=True)
class Repository:
    """A name of the Hub."""

    name: str

    def send(self, parcel: Path, part: Part, *, private: bool) -> str:
        """Upload a parcel as one commit."""
        hub: Any = import_module("huggingface_hub")
        api, kind = hub.HfApi(), _REPO_TYPES[part]
        message = "Adapter and its card" if part == "adapter" else "Certified examples with their certificates"
        _asked(self.name, lambda: api.create_repo(self.name, repo_type=kind, private=private or None, exist_ok=True))
        what = {"repo_id": self.name, "repo_type": kind, "folder_path": str(parcel), "commit_message": message}
        done = _asked(self.name, lambda: api.upload_folder(**what))
        return str(getattr(done, "repo_url", None) or f"{kind} {self.name}")

    def fetch(self, part: Part, out: Path) -> bool:
        """Download what is taken of a part; False where the Hub has no such repository."""
        hub: Any = import_module("huggingface_hub")
        kind = _REPO_TYPES[part]
        if not _asked(self.name, lambda: hub.HfApi().repo_exists(self.name, repo_type=kind)):
            return False
        what = {"repo_type": kind, "local_dir": str(out), "allow_patterns": list(TAKEN[part])}
        _asked(self.name, lambda: hub.snapshot_download(self.name, **what))
        shutil.rmtree(out / ".cache", ignore_errors=True)
        return True


Place = Folder | Repository


def place_to_push(text: str) -> Place:
    """Read where to push to: `owner/name`, or `file:///folder`."""
    if text.startswith("file:"):
        return _folder_of(text)
    if text.startswith((".", "/", "~")) or not _REPOSITORY.fullmatch(text):
        raise InputError(f"{text!r}: write owner/name of the Hub, or file:///folder for a folder")
    return Repository(text)


def place_to_pull(text: str) -> Place:
    """Read where to pull from: `owner/name`, `file:///folder`, or a folder as it is."""
    if text.startswith("file:"):
        return _folder_of(text)
    return Folder(Path(text)) if Path(text).is_dir() else place_to_push(text)


def _folder_of(text: str) -> Folder:
    address = urlsplit(text)
    if address.netloc not in ("", "localhost") or not address.path.startswith("/"):
        raise InputError(f"{text!r}: write an absolute folder, such as file:///data/pushed")
    return Folder(Path(unquote(address.path)))


def _asked(name: str, ask: Callable[[], Result]) -> Result:
    """Return what the Hub says; its refusals and a missing network are one line."""
    errors: Any = import_module("huggingface_hub.errors")
    try:
        return ask()
    except errors.HFValidationError as error:
        raise InputError(f"{name}: is no name of the Hub ({_line(error)})") from error
    except (errors.HTTPError, OSError) as error:  # the HTTP client's own, whichever it is in this version
        raise RunFailed(
            f"{name}: the Hub did not do it ({type(error).__name__}: {_line(error)}); look at the network and at "
            "HF_TOKEN and run the command again; a folder, file:///folder, needs neither"
        ) from error


def _line(error: Any) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")
