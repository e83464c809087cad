"""JSON files with their checksum, on one line and on many."""

import json

import pytest

from orchestrator.results.storage.checksummed_text import (
    checksum_of,
    read_checksummed,
    read_with_checksum,
    write_checksummed,
    write_compact,
)
from podium.errors import CorruptFileError

VALUES = {"trials": {"s b": ["ü", 'a"\n'], "a": []}, "also": [1, 0.5, None]}


def test_a_compact_file_is_one_line_with_the_checksum_of_any_other(tmp_path):
    path = tmp_path / "x.json"
    assert write_compact(path, VALUES) == checksum_of(VALUES)
    assert path.read_text("utf-8").count("\n") == 1
    assert json.loads(path.read_bytes()).keys() == VALUES.keys() | {"sealed_by", "sha256"}
    assert read_with_checksum(path) == (VALUES, checksum_of(VALUES))


def test_any_changed_byte_of_a_compact_file_is_noticed(tmp_path):
    path = tmp_path / "x.json"
    write_compact(path, VALUES)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in (1, 4):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            if path.read_bytes().strip() == whole.strip():
                continue
            with pytest.raises(CorruptFileError):
                read_checksummed(path)
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place])
        with pytest.raises(CorruptFileError):
            read_checksummed(path)


def test_other_forms_of_the_same_values_have_the_same_checksum(tmp_path):
    path = tmp_path / "x.json"
    write_compact(path, VALUES)
    written = json.loads(path.read_bytes())
    for text in (json.dumps(written), json.dumps(written, indent=3)):
        path.write_text(text, encoding="utf-8")
        assert read_with_checksum(path) == (VALUES, checksum_of(VALUES))
    write_checksummed(path, VALUES)
    assert read_with_checksum(path) == (VALUES, checksum_of(VALUES))
