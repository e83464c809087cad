import json
from datetime import UTC, datetime
from typing import Literal

import pytest
from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.json_records import (
    STRICT,
    Amount,
    Count,
    FileName,
    Time,
    parsed,
)


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class Thing:
    text: str
    file: FileName
    count: Count
    amount: Amount
    time: Time
    choice: Literal["a", "b"]
    maybe: Count | None = None


THING = TypeAdapter(Thing)
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


def thing_of(values):
    return parsed(THING, json.dumps(values).encode(), "things.json", "thing")


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, given in WRONG.items() for value in given]
)
def test_a_value_of_another_type_is_refused_by_name(name, value):
    with pytest.raises(CorruptFileError, match=f" is no thing: {name}: ") as refused:
        thing_of({**VALUES, name: value})
    assert len(str(refused.value).partition(" is no thing: ")[2]) < 150


def test_right_values_come_back():
    thing = thing_of(VALUES)
    assert thing == Thing(
        text="a\nb",
        file="s:1+a@b-c.d",
        count=2**63 - 1,
        amount=3.0,
        time=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        choice="b",
    )


def test_every_field_must_be_there_and_no_other():
    without = {name: value for name, value in VALUES.items() if name != "count"}
    for wrong, message in (
        (without, "count: Field required"),
        ({}, "text: Field required"),
        ({**VALUES, "more": 1}, "more: Unexpected keyword argument"),
    ):
        with pytest.raises(CorruptFileError, match=f"is no thing: {message}"):
            thing_of(wrong)
