"""JSON files with their checksum."""

import json

import pytest

from podium.errors import CorruptFileError
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)

VALUES = {"trials": {"s b": ["ü", 'a"\n'], "a": []}, "also": [1, 0.5, 1e-300, 2**70, None]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.json"


def test_what_was_written_is_read_and_any_changed_or_missing_byte_is_noticed(path):
    write_checksummed(path, VALUES)
    assert read_checksummed(path) == VALUES
    whole = path.read_bytes()
    flipped = (
        whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :]
        for at in range(len(whole))
        for bit in (1, 4)
    )
    for wrong in (*flipped, *(whole[:length] for length in range(len(whole))), whole + b" "):
        path.write_bytes(wrong)
        with pytest.raises(CorruptFileError, match=r"x\.json was changed after"):
            read_checksummed(path)


def test_json_is_json_to_others_and_a_missing_file_is_none(path):
    assert read_checksummed(path) is None
    write_checksummed(path, VALUES)
    assert json.loads(path.read_bytes()).items() > VALUES.items()


@pytest.mark.parametrize(
    "value", ["NaN", "-Infinity", "1e999", "9" * 10_000, *("[" * n for n in (9, 100_000))]
)
def test_what_an_attacker_seals_must_be_json_of_finite_numbers(path, monkeypatch, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_checksummed(path, {"a": float("nan")})
    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", lambda *_, **__: f'{{"a": {value}}}')
        write_checksummed(path, {})
    with pytest.raises(CorruptFileError, match=r"x\.json is not valid JSON"):
        read_checksummed(path)
