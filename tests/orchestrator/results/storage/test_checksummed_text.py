"""JSON and YAML files with their checksum."""

import json

import pytest

from orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    text_with_checksum,
    text_without_checksum,
    write_checksummed,
)
from podium.errors import CorruptFileError

VALUES = {"trials": {"s b": ["ü", 'a"\n'], "a": []}, "also": [1, 0.5, None]}


def test_any_changed_byte_is_noticed(tmp_path):
    path = tmp_path / "x.json"
    write_checksummed(path, VALUES)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in (1, 4):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            if not whole[place : place + 1].isspace():  # between values
                with pytest.raises(CorruptFileError):
                    read_checksummed(path)
    for place in range(len(whole) - 1):
        path.write_bytes(whole[:place])
        with pytest.raises(CorruptFileError):
            read_checksummed(path)


def test_other_forms_of_the_same_values_have_the_same_checksum(tmp_path):
    path = tmp_path / "x.json"
    write_checksummed(path, VALUES)
    written = json.loads(path.read_bytes())
    for text in (json.dumps(written), json.dumps(written, indent=3)):
        path.write_text(text, encoding="utf-8")
        assert read_checksummed(path) == VALUES


def test_a_file_without_its_checksum_is_refused(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(VALUES), encoding="utf-8")
    with pytest.raises(CorruptFileError, match="does not match its SHA-256"):
        read_checksummed(path)
    with pytest.raises(CorruptFileError, match="does not match its SHA-256"):
        text_without_checksum(path, b"name: x\n")
    assert text_without_checksum(path, text_with_checksum(b"name: x\n")) == b"name: x\n"
