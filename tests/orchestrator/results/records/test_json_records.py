from datetime import UTC, datetime
from typing import Literal

import pytest
from pydantic.dataclasses import dataclass

from orchestrator.results.records.json_records import (
    STRICT,
    Amount,
    Count,
    FileName,
    RecordKind,
    Time,
)
from orchestrator.results.records.store_paths import StudyPaths
from podium.errors import CorruptFileError


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Thing:
    text: str
    file: FileName
    count: Count
    amount: Amount
    time: Time
    choice: Literal["a", "b"]
    maybe: Count | None = None


KIND = RecordKind(Thing, "thing", "things", lambda paths, it: paths.folder / it.file)
VALUES = {
    "text": "a\nb",
    "file": "s:1+a@b-c.d",
    "count": 2**63 - 1,
    "amount": 3,
    "time": "2026-01-02T03:04:05+00:00",
    "choice": "b",
    "maybe": None,
}
WRONG = {
    "text": (None, 1, True, [], {}),
    "file": (None, "", "../x", "a/b", ".x", "a\nb", "/etc/passwd", ["a"]),
    "count": (None, -1, 1.0, True, "1", 2**63, []),
    "amount": (None, -0.5, float("inf"), float("nan"), True, "1", {}),
    "time": (None, "yesterday", "2026-01-02T03:04:05", 5, []),
    "choice": ("c", None, [], {}),
    "maybe": ("1", -1, []),
}


@pytest.fixture
def paths(tmp_path):
    return StudyPaths(tmp_path / "study")


def parsed(paths, values, kind=KIND):
    return kind.parsed(paths, paths.folder / "s:1+a@b-c.d", values)


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, given in WRONG.items() for value in given]
)
def test_a_value_of_another_type_is_refused_by_name(paths, name, value):
    with pytest.raises(CorruptFileError, match=f" is no thing: {name}: ") as refused:
        parsed(paths, {**VALUES, name: value})
    assert len(str(refused.value).partition(" is no thing: ")[2]) < 150


def test_right_values_come_back_and_are_written_as_they_were(paths):
    thing = parsed(paths, VALUES)
    assert thing == Thing(
        text="a\nb",
        file="s:1+a@b-c.d",
        count=2**63 - 1,
        amount=3.0,
        time=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        choice="b",
    )
    assert list(KIND.values(thing).items()) == list(VALUES.items())


def test_every_field_must_be_there_and_no_other(paths):
    without = {name: value for name, value in VALUES.items() if name != "count"}
    for wrong, message in (
        (without, "count: Field required"),
        ({}, "text: Field required"),
        ({**VALUES, "more": 1}, "more: Unexpected keyword argument"),
    ):
        with pytest.raises(CorruptFileError, match=f"is no thing: {message}"):
            parsed(paths, wrong)


def test_a_file_that_vanished_or_is_called_otherwise_is_named(paths):
    with pytest.raises(CorruptFileError, match="vanished while it was read; things are never"):
        parsed(paths, None)
    with pytest.raises(
        CorruptFileError, match="holds the thing of study/other, which does not match its name"
    ):
        parsed(paths, {**VALUES, "file": "other"})
