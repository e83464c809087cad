from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import pytest

from orchestrator.results.records.json_records import FileName, RecordKind
from orchestrator.results.records.store_paths import StudyPaths
from podium.errors import CorruptFileError


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    text: str
    file: FileName
    count: int
    amount: float
    time: datetime
    choice: Literal["a", "b"]
    maybe: int | None = None


KIND = RecordKind(
    make=Thing,
    name="thing",
    plural="things",
    title="thing {0.text}",
    place=lambda paths, it: paths.folder / it.file,
)
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
    with pytest.raises(CorruptFileError, match=f" is no thing: {name} must be ") as refused:
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
    values = {name: value for name, value in VALUES.items() if name != "maybe"}
    for wrong in (values, {}, {**VALUES, "more": 1}):
        with pytest.raises(
            CorruptFileError, match="it must hold amount, choice, count, file, maybe"
        ):
            parsed(paths, wrong)


def test_a_file_that_vanished_or_is_called_otherwise_is_named(paths):
    with pytest.raises(CorruptFileError, match="vanished while it was read; things are never"):
        parsed(paths, None)
    with pytest.raises(CorruptFileError, match="holds thing a\nb, which does not match its name"):
        parsed(paths, {**VALUES, "file": "other"})
