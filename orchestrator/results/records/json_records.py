"""Records: frozen dataclasses of plain values, kept as JSON.

pydantic checks the values, in code and in files alike, since a file may come from anywhere.
"""

import math
from datetime import datetime
from typing import Annotated, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import is_file_name

T = TypeVar("T")

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
"""How pydantic reads a record: nothing is cast, unknown keys are refused."""

LARGEST = 2**63 - 1
"""The largest whole number that a column holds."""

_SHOWN = 60  # characters that a message shows of a value


def _file_name(text: str) -> str:
    if not is_file_name(text):
        raise ValueError("must be a name of letters, digits and . _ : + @ -")
    return text


def _with_zone(time: datetime) -> datetime:
    if time.tzinfo is None:
        raise ValueError("must be a time with its zone")
    return time


FileName = Annotated[str, AfterValidator(_file_name)]
"""A text that names a search or a trial, and leads nowhere as the name of a file."""
Count = Annotated[int, Field(ge=0, le=LARGEST)]
"""A whole number of at least 0."""
Amount = Annotated[float, Field(ge=0, lt=math.inf)]
"""A finite number of at least 0."""
Time = Annotated[datetime, AfterValidator(_with_zone)]
"""A time with its zone, in files as ISO 8601."""


def parsed(adapter: TypeAdapter[T], content: bytes, where: str, name: str) -> T:
    """The record of a JSON text.

    Args:
        adapter: of the class of the record.
        content: the text.
        where: its place, and
        name: what a record is called, for messages.

    Raises:
        CorruptFileError: it is no such record.
    """
    try:
        return adapter.validate_json(content)
    except ValidationError as error:
        raise CorruptFileError(f"{where} is no {name}: {first_problem(error)}") from None


def first_problem(error: ValidationError) -> str:
    """``place: rule; got value``, of the first thing that pydantic refuses."""
    found = error.errors()[0]
    place = "".join(f"{it}." for it in found["loc"]).removesuffix(".")
    rule = found["msg"].removeprefix("Value error, ")
    return f"{place}{': ' if place else ''}{rule}; got {found['input']!r:.{_SHOWN}}"
