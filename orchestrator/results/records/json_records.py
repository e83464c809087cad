"""Records: frozen dataclasses of plain values, kept as JSON.

pydantic checks the values, in code and in files alike, since a file may come from anywhere.
"""

from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import FILE_NAME

T = TypeVar("T")

STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
"""How pydantic reads a record: nothing is cast, unknown keys are refused."""

_SHOWN = 60  # characters that a message shows of a value

FileName = Annotated[str, Field(pattern=f"^{FILE_NAME}$")]
"""A text that names a search or a trial, and leads nowhere as the name of a file."""
Count = Annotated[int, Field(ge=0, lt=2**63)]
"""A whole number of at least 0 that a column holds."""


def parsed(adapter: TypeAdapter[T], content: bytes, where: str, name: str) -> T:
    """The record of a JSON text; else a CorruptFileError that says where and what it must be."""
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
