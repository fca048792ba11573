import json

import pytest

from training.store import OpenStore, StoreError, line_of, read_records, write_records

RECORDS = [{"id": "a", "text": 'quotes ", "crc": "00000000"}'}, {"id": "b", "text": "umlaut ä\u2028"}]


def test_a_line_ends_in_its_checksum_and_reads_back():
    line = line_of(RECORDS[0])
    assert list(json.loads(line))[-1] == "crc"


def test_sealed_records_read_back(tmp_path):
    write_records(tmp_path / "t.jsonl", RECORDS, checksum=True)
    assert list(read_records(tmp_path / "t.jsonl", checksum=True)) == RECORDS


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


@pytest.mark.parametrize("cut", [1, 7, 30])
def test_a_torn_tail_is_cut_and_the_rest_kept(tmp_path, cut):
    path = tmp_path / "t.jsonl"
    OpenStore(path).append(RECORDS)
    path.write_bytes(path.read_bytes()[:-cut])
    store = OpenStore(path)
    assert store.records == RECORDS[:1]
    store.append(RECORDS[1:])
    assert OpenStore(path).records == RECORDS


def test_damage_before_the_tail_is_an_error(tmp_path):
    path = tmp_path / "t.jsonl"
    OpenStore(path).append(RECORDS)
    path.write_text(path.read_text().replace("quotes", "quoted"))
    with pytest.raises(StoreError, match=":1:"):
        OpenStore(path)


def test_a_line_that_is_no_object_is_named(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"id": 1}\n[1]\n')
    with pytest.raises(StoreError, match=r"t\.jsonl:2: a JSON object is needed"):
        list(read_records(tmp_path / "t.jsonl"))
