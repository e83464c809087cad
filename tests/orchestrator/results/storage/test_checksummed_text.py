"""JSON and YAML files with their checksum."""

import json

import pytest

from podium.errors import CorruptFileError
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    text_with_checksum,
    text_without_checksum,
    write_checksummed,
)

VALUES = {"trials": {"s b": ["ü", 'a"\n'], "a": []}, "also": [1, 0.5, 1e-300, 2**70, None]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.json"


def test_any_changed_byte_is_noticed(path):
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


def test_other_forms_of_the_same_values_have_the_same_checksum(path):
    write_checksummed(path, VALUES)
    written = json.loads(path.read_bytes())
    for text in (json.dumps(written), json.dumps(written, indent=3)):
        path.write_text(text, encoding="utf-8")
        assert read_checksummed(path) == VALUES


def test_a_file_without_its_checksum_is_refused(path):
    path.write_text(json.dumps(VALUES), encoding="utf-8")
    with pytest.raises(CorruptFileError, match="does not match its SHA-256"):
        read_checksummed(path)
    with pytest.raises(CorruptFileError, match="does not match its SHA-256"):
        text_without_checksum(path, b"name: x\n")
    assert text_without_checksum(path, text_with_checksum(b"name: x\n")) == b"name: x\n"


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "-1e999", f"{9**400}.0"])
def test_a_number_that_is_not_finite_is_neither_read_nor_written(path, number):
    path.write_text(f'{{"a": {number}}}')
    with pytest.raises(CorruptFileError, match=r"x\.json is not valid JSON"):
        read_checksummed(path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_checksummed(path, {"a": float("nan")})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1', "EOF"),
        ("", "EOF"),
        ("\x00\x00", "expected value"),
        ("[1]", "it must be an object"),
        *((f'{{"a": {"[" * depth}{"]" * depth}}}', "recursion") for depth in (1_000, 100_000)),
    ],
    ids=["cut", "empty", "zeros", "a list", "deep", "deeper"],
)
def test_what_is_no_json_object_is_named(path, text, told):
    path.write_text(text)
    with pytest.raises(CorruptFileError, match=rf"x\.json is not valid JSON: {told}"):
        read_checksummed(path)
