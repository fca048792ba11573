"""A run folder's copy on another store: whole at any time, whatever dies when."""

import json
import uuid
from importlib.util import find_spec
from pathlib import Path
from queue import Queue

import pytest

from critics.errors import InputError, RunFailed
from training.records import mirror as mirrors
from training.records.mirror import Mirror, MirrorFailed, mirrored
from training.records.store import StoreError, line_of, write_text

LAST = {"dataset": "summary.json", "adapter": "manifest.json"}
RUN = {
    "config.yaml": "name: test\n",
    "round-000/traces.jsonl": "traces " * 40,
    "round-000/dataset/examples.jsonl": "examples",
    "round-000/dataset/summary.json": "{}",
    "report.json": "{}",
}


class Killed(BaseException):
    """The process ended here."""


@pytest.fixture(params=["memory", "file"])
def url(request, tmp_path) -> str:
    name = uuid.uuid4().hex
    return f"memory://{name}/run" if request.param == "memory" else (tmp_path / name / "run").as_uri()


def filled(folder: Path, files: dict[str, str] = RUN) -> Path:
    for name, text in files.items():
        write_text(folder / name, text)
    return folder


def contents(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def fetched(url: str, folder: Path) -> dict[str, str]:
    Mirror(folder, url, LAST).fetch()
    return contents(folder)


def test_another_machine_goes_on_with_what_was_sealed_here(url, tmp_path):
    assert Mirror(filled(tmp_path / "here"), url, LAST).push() == len(RUN)
    assert fetched(url, tmp_path / "there") == dict(sorted(RUN.items()))


def test_a_copied_file_is_readable_under_its_own_name(tmp_path):
    Mirror(filled(tmp_path / "here"), (tmp_path / "store").as_uri(), LAST).push()
    assert (tmp_path / "store/round-000/traces.jsonl").read_text() == RUN["round-000/traces.jsonl"]


def test_nothing_is_copied_twice(url, tmp_path):
    mirror = Mirror(filled(tmp_path / "here"), url, LAST)
    mirror.push()
    assert mirror.push() == 0
    assert Mirror(tmp_path / "here", url, LAST).push() == 0


def test_what_grows_or_is_half_done_stays_here(url, tmp_path):
    unfinished = {
        "round-001/traces.open.jsonl": "open",
        "round-001/adapter/adapter_model.safetensors": "weights without a manifest",
        "round-001/.adapter.work/final/x.json": "beside",
        "log/line.heartbeat.json": "{}",
        ".lock": "",
    }
    Mirror(filled(tmp_path / "here", RUN | unfinished), url, LAST).push()
    assert fetched(url, tmp_path / "there").keys() == RUN.keys()


def test_killed_at_any_call_the_copy_is_whole_and_is_gone_on_with(url, tmp_path, monkeypatch):
    """A call that dies has written half of its bytes; what is fetched then is byte-equal, or not there yet."""
    here = filled(tmp_path / "here")
    Mirror(here, url, LAST).push()
    before = contents(here)
    after = before | {"report.json": '{"round": 1}', "round-001/traces.jsonl": "more " * 50}
    for k in range(12):
        filled(here, {"report.json": f"{k}"} if k % 2 else after)
        now = contents(here)
        whole = _push_until_killed(here, url, monkeypatch, num_calls=k)
        found = fetched(url, tmp_path / f"there-{k}")
        assert {name: text for name, text in found.items() if text not in (now[name], before.get(name))} == {}
        assert found.keys() >= before.keys() - {"report.json"}
        Mirror(here, url, LAST).push()
        assert fetched(url, tmp_path / f"whole-{k}") == now
        before = now
    assert whole  # the last of them had calls to spare


def _push_until_killed(here: Path, url: str, monkeypatch, *, num_calls: int) -> bool:
    mirror, calls = Mirror(here, url, LAST), 0

    def dying(write):
        def call(target: str, content: bytes) -> None:
            nonlocal calls
            calls += 1
            if calls > num_calls:
                write(target, content[: len(content) // 2])
                raise Killed
            write(target, content)

        return call

    write = mirror._store.pipe_file
    monkeypatch.setattr(mirror._store, "pipe_file", dying(write))
    put = dying(write)
    monkeypatch.setattr(mirror._store, "put_file", lambda path, target: put(target, Path(path).read_bytes()))
    try:
        mirror.push()
    except Killed:
        return False
    return True


def test_a_changed_copy_is_refused_by_its_digest(tmp_path):
    url = (tmp_path / "store").as_uri()
    Mirror(filled(tmp_path / "here"), url, LAST).push()
    (tmp_path / "store/round-000/traces.jsonl").write_text("forged " * 40)
    with pytest.raises(StoreError, match=r"round-000/traces\.jsonl"):
        Mirror(tmp_path / "there", url, LAST).fetch()
    assert not (tmp_path / "there/round-000/traces.jsonl").exists()


@pytest.mark.parametrize("name", ["../../escaped", "/escaped", ".ssh/keys", "a\\..\\b"])
def test_a_manifest_cannot_name_a_file_outside_the_folder(name, tmp_path):
    """Attack: whoever can write the store writes a manifest of his own."""
    store = tmp_path / "store"
    write_text(store / "manifest-1.json", line_of({"number": 9, "files": {name: "0" * 64}}))
    with pytest.raises(StoreError, match="not to be trusted"):
        Mirror(tmp_path / "there/run", store.as_uri(), LAST).fetch()
    assert not (tmp_path / "escaped").exists()


def test_two_damaged_manifests_are_an_error_and_one_is_not(tmp_path):
    store, here = tmp_path / "store", filled(tmp_path / "here")
    Mirror(here, store.as_uri(), LAST).push()
    write_text(here / "report.json", "newer")
    Mirror(here, store.as_uri(), LAST).push()
    newest = max(json.loads((store / place).read_text())["number"] for place in mirrors.PLACES)
    _damage(store / mirrors.PLACES[newest % 2])
    assert fetched(store.as_uri(), tmp_path / "there").keys() == RUN.keys() - {"report.json"}
    _damage(store / mirrors.PLACES[1 - newest % 2])
    with pytest.raises(StoreError, match="damaged"):
        Mirror(tmp_path / "elsewhere", store.as_uri(), LAST)


def _damage(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"round-000", b"round-001"))


def test_another_runs_copy_is_refused(url, tmp_path):
    Mirror(filled(tmp_path / "here"), url, LAST).push()
    other = filled(tmp_path / "other", {"config.yaml": "name: other\n"})
    with pytest.raises(StoreError, match="another run"):
        Mirror(other, url, LAST).fetch()


def test_two_runs_that_copy_to_one_url_find_out(url, tmp_path):
    first, second = (Mirror(filled(tmp_path / name), url, LAST) for name in ("first", "second"))
    first.push()
    with pytest.raises(MirrorFailed, match="another run"):
        second.push()


def test_a_packed_file_is_not_fetched_again_in_its_plain_form(url, tmp_path):
    here = filled(tmp_path / "here")
    Mirror(here, url, LAST).push()
    (here / "round-000/traces.jsonl").rename(here / "round-000/traces.jsonl.gz")
    assert Mirror(here, url, LAST).fetch() == 0


def test_what_is_sealed_meanwhile_is_copied_and_the_rest_at_the_end(url, tmp_path, monkeypatch):
    monkeypatch.setattr(mirrors, "PUSH_S", 0.01)
    here, told = filled(tmp_path / "here"), []
    with mirrored(Mirror(here, url, LAST), told.append):
        write_text(here / "round-001/traces.jsonl", "later")
    assert fetched(url, tmp_path / "there") == contents(here)
    assert told == []


def test_a_run_that_fails_is_copied_and_keeps_its_own_error(url, tmp_path):
    here = filled(tmp_path / "here")
    with pytest.raises(RunFailed, match="solver"), mirrored(Mirror(here, url, LAST), print):
        raise RunFailed("the solver failed")
    assert fetched(url, tmp_path / "there") == contents(here)


def test_a_store_that_fails_midway_is_told_and_one_that_fails_at_the_end_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(mirrors, "PUSH_S", 0.01)
    told = Queue()
    mirror = Mirror(filled(tmp_path / "here"), f"memory://{uuid.uuid4().hex}", LAST)

    def refuse(*_: object) -> None:
        raise PermissionError("403")

    monkeypatch.setattr(mirror._store, "put_file", refuse)
    with pytest.raises(MirrorFailed, match="403"), mirrored(mirror, told.put):
        assert "403" in told.get(timeout=30)


@pytest.mark.parametrize(
    ("url", "remedy"),
    [("s3://bucket/run", "s3fs"), ("nosuch://x", "nosuch"), ("folder", "file:///"), ("ftp://me:secret@x/y", "leave")],
)
def test_a_url_that_nothing_opens_names_the_remedy_and_no_secret(url, remedy, tmp_path):
    if url.startswith("s3") and find_spec("s3fs"):
        pytest.skip("s3fs is installed")
    with pytest.raises(InputError, match=remedy) as caught:
        Mirror(tmp_path, url, LAST)
    assert "secret" not in str(caught.value)
