import json
import random
import resource
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from training.records.open_store import OpenStore, read_growing
from training.records.store import StoreError, StoreFull, fits, is_stored, line_of, read_records, write_records

RECORDS = [{"id": "a", "text": 'quotes ", "crc": "00000000"}'}, {"id": "b", "text": "umlaut ä\u2028"}]
MANY = [{"id": f"{n}", "text": "ä" * (n % 40)} for n in range(60)]


def test_a_line_ends_in_its_checksum_and_reads_back():
    line = line_of(RECORDS[0])
    assert list(json.loads(line))[-1] == "crc"
    assert fits(line.encode())


def test_a_checksum_is_compared_as_text():
    line = line_of({"id": 1})
    loud = line[:-11] + line[-11:-3].upper() + line[-3:]
    assert loud != line
    assert int(loud[-11:-3], 16) == int(line[-11:-3], 16)
    assert not fits(loud.encode())


def test_sealed_records_read_back(tmp_path):
    assert write_records(tmp_path / "t.jsonl", iter(RECORDS), checksum=True) == 2
    assert list(read_records(tmp_path / "t.jsonl", checksum=True)) == RECORDS


def test_records_are_written_and_read_one_by_one(tmp_path):
    held = []

    def stream():
        for record in MANY:
            held.append(record["id"])
            yield record

    write_records(tmp_path / "t.jsonl", stream(), checksum=True)
    reader = read_records(tmp_path / "t.jsonl")
    assert next(reader) == MANY[0]
    assert held[-1] == MANY[-1]["id"]


def test_a_file_that_fails_on_the_way_leaves_the_old_one_and_nothing_beside_it(tmp_path):
    write_records(tmp_path / "t.jsonl", RECORDS)

    def breaking():
        yield RECORDS[1]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_records(tmp_path / "t.jsonl", breaking())
    assert list(read_records(tmp_path / "t.jsonl")) == RECORDS
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_a_changed_line_is_named(tmp_path):
    path = tmp_path / "t.jsonl"
    write_records(path, RECORDS, checksum=True)
    path.write_text(path.read_text().replace("umlaut", "vowel"))
    with pytest.raises(StoreError, match=r"t\.jsonl:2: the checksum does not fit"):
        list(read_records(path, checksum=True))


def test_a_line_without_checksum_is_refused_where_one_belongs(tmp_path):
    path = tmp_path / "t.jsonl"
    write_records(path, RECORDS)
    assert list(read_records(path)) == RECORDS
    with pytest.raises(StoreError, match="no checksum"):
        list(read_records(path, checksum=True))


def test_a_line_that_is_no_object_or_no_utf8_is_named(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": 1}\n[1]\n')
    with pytest.raises(StoreError, match=r"t\.jsonl:2: a JSON object is needed"):
        list(read_records(path))
    path.write_bytes(b'{"id": 1}\n{"id": "\xff"}\n')
    with pytest.raises(StoreError, match=r"t\.jsonl:2: is not UTF-8"):
        list(read_records(path))


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_a_torn_tail_is_cut_and_the_rest_kept(tmp_path, cut):
    path = tmp_path / "t.jsonl"
    OpenStore(path).append(RECORDS)
    path.write_bytes(path.read_bytes()[:-cut] if cut > 1 else path.read_bytes() + b"{")
    store = OpenStore(path)
    assert list(store) == RECORDS[: 1 + (cut == 1)]
    store.append([{"id": "c"}])
    assert [r["id"] for r in OpenStore(path)] == ["a", "b", "c"][:: 1 if cut == 1 else 2]


def test_a_tail_torn_by_another_writer_does_not_swallow_the_next_record(tmp_path):
    """Attack: a writer dies amidst its write while another one has the store open."""
    path = tmp_path / "t.jsonl"
    store = OpenStore(path)
    store.append(RECORDS[:1])
    with path.open("ab") as file:
        file.write(line_of(RECORDS[1]).encode()[:20])
    assert list(read_growing(path)) == RECORDS[:1]
    store.append(RECORDS[1:])
    assert list(read_growing(path)) == RECORDS


def test_a_flipped_last_newline_is_damage_and_no_torn_tail(tmp_path):
    """Attack: an acknowledged record whose newline is damaged must not be cut off as if nobody had been told of it."""
    path = tmp_path / "t.jsonl"
    OpenStore(path).append(RECORDS)
    path.write_bytes(path.read_bytes()[:-1] + b"\x0b")
    for act in (lambda: OpenStore(path), lambda: list(read_growing(path))):
        with pytest.raises(StoreError, match=r"t\.jsonl:2: the end of the line is damaged"):
            act()


def test_damage_before_the_tail_is_an_error(tmp_path):
    path = tmp_path / "t.jsonl"
    OpenStore(path).append(RECORDS)
    path.write_text(path.read_text().replace("quotes", "quoted"))
    with pytest.raises(StoreError, match=":1:"):
        OpenStore(path)


def test_a_unit_is_read_without_the_rest_and_damage_in_it_is_named(tmp_path):
    path = tmp_path / "t.jsonl"
    store = OpenStore(path)
    store.append([{"unit": f"u{n % 3}", **record} for n, record in enumerate(MANY)])
    assert store.unit("u1") == MANY[1::3]
    assert store.unit("u9") == []
    assert store.units() == {"u0": 20, "u1": 20, "u2": 20}
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"4"', b'"5"'))
    with pytest.raises(StoreError, match=r"t\.jsonl:5: the checksum"):
        store.unit("u1")


def test_what_another_writer_stored_in_a_unit_is_not_stored_again(tmp_path):
    first, second = OpenStore(tmp_path / "t.jsonl"), OpenStore(tmp_path / "t.jsonl")
    batch = [{"unit": "u", **record} for record in RECORDS]
    assert first.append(batch[:1]) == 1
    assert second.append([*batch, *batch]) == 1
    assert first.append(batch) == 0
    assert first.unit("u") == second.unit("u") == RECORDS


def test_the_index_is_smaller_than_a_hundredth_of_what_it_is_about(tmp_path):
    store = OpenStore(tmp_path / "t.jsonl")
    store.append([{"unit": "u", "id": f"{n}", "text": "x" * 2000} for n in range(500)])
    size = sum(places.itemsize * len(places) for places in store._units.values())
    assert size * 100 < store.path.stat().st_size


def test_a_store_that_was_replaced_while_open_is_refused(tmp_path):
    store = OpenStore(tmp_path / "t.jsonl")
    store.append(RECORDS)
    write_records(store.path, [*RECORDS, *RECORDS], checksum=True)
    with pytest.raises(StoreError, match="replaced"):
        store.append(RECORDS)
    store.path.unlink()
    with pytest.raises(StoreError, match="No such file"):
        store.append(RECORDS)
    assert not store.path.exists()


@pytest.mark.parametrize("opened", [False, True])
def test_two_thousand_flipped_bits_are_caught_and_their_lines_named(tmp_path, opened):
    path = tmp_path / "t.jsonl"
    write_records(path, MANY, checksum=True)
    content = path.read_bytes()
    chance = random.Random(0)
    places = [chance.randrange(len(content)) for _ in range(1000)]
    for place in places:
        number = content.count(b"\n", 0, place) + 1
        flipped = bytearray(content)
        flipped[place] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        with pytest.raises(StoreError) as caught:
            OpenStore(path) if opened else list(read_records(path, checksum=True))
        assert f"t.jsonl:{number}:" in str(caught.value)
        assert path.read_bytes() == flipped


@contextmanager
def little_room(folder: Path):
    """Mount a file system of 64 kB where root may, else limit the size of files in this process."""
    room = folder / "room"
    room.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(room)], capture_output=True, check=False
    )
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        if mounted.returncode:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, old[1]))
        yield room
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        if not mounted.returncode:
            subprocess.run(["umount", str(room)], check=True)


def test_a_full_disk_stops_cleanly_and_all_that_was_acknowledged_reloads(tmp_path):
    acknowledged = []

    def fill(store):
        for start in range(0, 1000, 7):
            batch = [{"id": start + n, "text": "x" * 300} for n in range(7)]
            store.append(batch)
            acknowledged.extend(batch)

    with little_room(tmp_path) as room:
        with pytest.raises(StoreFull, match="free space"):
            fill(OpenStore(room / "t.jsonl"))
        again = OpenStore(room / "t.jsonl")
        found = list(again)
        assert len(acknowledged) > 50
        assert found[: len(acknowledged)] == acknowledged
        assert len(found) - len(acknowledged) < 7
        with pytest.raises(StoreFull):
            again.append([{"id": "more", "text": "x" * 2**16}])
        assert list(OpenStore(room / "t.jsonl")) == found
        with pytest.raises(StoreFull, match="free space"):
            write_records(room / "whole.jsonl", ({"id": n, "text": "x" * 300} for n in range(1000)))
        assert [path.name for path in room.iterdir()] == ["t.jsonl"]


def test_a_packed_file_is_read_under_its_old_name(tmp_path):
    import gzip

    path = tmp_path / "t.jsonl"
    assert not is_stored(path)
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress("".join(map(line_of, RECORDS)).encode()))
    assert is_stored(path)
    assert list(read_records(path, checksum=True)) == RECORDS
    content = (tmp_path / "t.jsonl.gz").read_bytes()
    (tmp_path / "t.jsonl.gz").write_bytes(content[:-9])
    with pytest.raises(StoreError, match=r"t\.jsonl\.gz:"):
        list(read_records(path, checksum=True))


WRITER = """
import sys, time
from pathlib import Path
from training.records.open_store import OpenStore
path, name, size, total = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
store = OpenStore(path)
done = sum(num for unit, num in store.units().items() if unit.startswith(name))
for start in range(done - done % size, total, size):
    units = [f"{name}n{start // size}"] * size
    store.append([{"unit": u, "id": f"{name}-{start + n}", "text": "ä" * (n % 50)} for n, u in enumerate(units)])
    sys.stdout.write(f"{start + size}\\n")
    sys.stdout.flush()
    time.sleep(0.001)
"""


def killed_writers(path: Path, *, total: int, size: int, kills: int, seed: int) -> None:
    """Two writers append at once, are killed at random moments and started again; a reader reads all along."""
    chance = random.Random(seed)
    logs = {name: path.with_name(f"{name}.log") for name in "ab"}
    path.touch()

    def start(name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", WRITER, str(path), name, str(size), str(total)]
        with logs[name].open("ab") as log:
            return subprocess.Popen(command, stdout=log, cwd=Path(__file__).parents[1])

    def num_acknowledged() -> int:
        return sum(map(_acknowledged, logs.values()))

    writers = {name: start(name) for name in logs}
    for number in range(kills):
        while num_acknowledged() < 2 * total * number / kills:
            time.sleep(0.002)
        time.sleep(chance.uniform(0, 0.02))
        name = chance.choice([name for name, log in logs.items() if _acknowledged(log) < total] or ["a"])
        writers[name].kill()
        writers[name].wait()
        writers[name] = start(name)
        if number % 8 == 0:  # a reader beside writers
            promised = num_acknowledged()
            assert sum(1 for _ in read_growing(path)) >= promised
    for writer in writers.values():
        assert writer.wait() == 0
    for name, log in logs.items():
        assert _acknowledged(log) == total, name


def _acknowledged(log: Path) -> int:
    lines = log.read_bytes().split(b"\n")[:-1] if log.exists() else []
    return int(lines[-1]) if lines else 0


@pytest.mark.parametrize(
    ("total", "size", "kills"),
    [
        pytest.param(6_000, 20, 4, id="few"),
        pytest.param(175_000, 200, 40, id="many", marks=pytest.mark.slow),
    ],
)
def test_killed_writers_lose_nothing_and_double_nothing(tmp_path, total, size, kills):
    path = tmp_path / "t.jsonl"
    killed_writers(path, total=total, size=size, kills=kills, seed=0)
    found = [record["id"] for record in read_growing(path)]
    assert len(found) == len(set(found)) == 2 * total
    assert set(found) == {f"{name}-{n}" for name in "ab" for n in range(total)}


def test_a_folder_is_made_with_the_first_record_and_one_that_cannot_be_is_named_at_once(tmp_path):
    store = OpenStore(tmp_path / "results" / "model" / "attempts.open.jsonl")
    assert not list(tmp_path.iterdir())
    assert list(store) == []
    store.append([{"id": "a"}])
    assert [record["id"] for record in OpenStore(store.path)] == ["a"]
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="choose another place"):
        OpenStore(tmp_path / "file" / "folder" / "attempts.open.jsonl")
