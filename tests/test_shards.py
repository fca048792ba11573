"""What is packed away is what was there, can be read by everyone, and names its damage."""

import random
import subprocess

import pytest

from training.records.store import (
    StoreError,
    pack,
    packed_path,
    read_records,
    write_records,
)

RECORDS = [{"id": f"p{n}#0", "completion": "[[infer:(tumpus rex)]] ä " * 20, "sample": n} for n in range(50)]


@pytest.fixture
def traces(tmp_path):
    path = tmp_path / "round-000" / "traces.jsonl"
    write_records(path, RECORDS, checksum=True)
    (path.parent / "dataset").mkdir()
    (path.parent / "dataset" / "summary.json").write_text("{}")
    return path


def test_zcat_gives_the_plain_file_back(traces):
    plain = traces.read_bytes()
    packed = pack(traces)
    assert packed.stat().st_size < len(plain) / 3
    assert not traces.exists()
    assert subprocess.run(["zcat", str(packed)], capture_output=True, check=True).stdout == plain
    assert list(read_records(traces, checksum=True)) == RECORDS


def test_the_same_file_packs_to_the_same_bytes(traces):
    plain = traces.read_bytes()
    first = pack(traces).read_bytes()
    traces.write_bytes(plain)
    assert pack(traces).read_bytes() == first


def test_datasets_reads_what_is_packed(traces, tmp_path):
    import datasets

    pack(traces)
    loaded = datasets.load_dataset(
        "json", data_files=str(packed_path(traces)), split="train", cache_dir=str(tmp_path / "cache")
    )
    assert loaded["id"] == [record["id"] for record in RECORDS]


def test_a_damaged_line_is_not_packed_and_named(traces):
    content = traces.read_bytes()
    traces.write_bytes(content.replace(b"p30#0", b"p31#0"))
    with pytest.raises(StoreError, match=r"traces\.jsonl:31: the line is damaged"):
        pack(traces)
    assert [path.name for path in traces.parent.iterdir() if path.is_file()] == ["traces.jsonl"]


def test_a_flipped_bit_is_caught_or_changes_nothing(traces):
    pack(traces)
    path = packed_path(traces)
    content = path.read_bytes()
    chance = random.Random(0)
    told: list[str] = []
    for _ in range(300):
        flipped = bytearray(content)
        flipped[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(flipped)
        try:
            assert list(read_records(traces, checksum=True)) == RECORDS
        except StoreError as error:
            told.append(str(error))
    assert len(told) > 250
    assert all("traces.jsonl.gz" in message for message in told)
