"""Records: frozen dataclasses of plain values, each in a JSON file that its fields name.

pydantic checks the values, in code and in files alike, since a file may come from anywhere.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
)

from orchestrator.results.records.store_paths import StudyPaths, is_file_name
from orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    read_checksummed_of_many,
    verified,
    with_checksum,
    write_checksummed,
)
from orchestrator.results.storage.files import each, read_bytes, replace
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

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


class RecordKind(Generic[T]):
    """One class of records.

    Args:
        make: the dataclass of pydantic.
        name: what messages call a record, such as ``attempt``.
        plural: what messages call those that are never deleted.
        place: the file of a record.
    """

    def __init__(
        self, make: type[T], name: str, plural: str, place: Callable[[StudyPaths, T], Place]
    ) -> None:
        self._adapter = TypeAdapter(make)
        self._name = name
        self._plural = plural
        self.place = place

    def write(self, paths: StudyPaths, record: T) -> None:
        """Write the file of a record, over what it held."""
        write_checksummed(self.place(paths, record), self.values(record))

    def values(self, record: T) -> dict[str, Any]:
        """The values of the JSON file of a record."""
        return {
            name: value.isoformat() if isinstance(value, date) else value
            for name, value in asdict(record).items()  # type: ignore[call-overload]
        }

    def read(self, paths: StudyPaths, path: Place) -> T:
        """The record in a file; CorruptFileError as `parsed`."""
        return self.parsed(paths, path, read_checksummed(path))

    def read_many(self, paths: StudyPaths, files: Sequence[Place]) -> Iterator[T]:
        """The records in files, in order; CorruptFileError as `parsed`."""
        return map(partial(self.parsed, paths), files, read_checksummed_of_many(files))

    def parsed(self, paths: StudyPaths, path: Place, values: Mapping[str, Any] | None) -> T:
        """The record of a file.

        Args:
            paths: paths of the study.
            path: the file.
            values: what it holds; None if it is missing.

        Raises:
            CorruptFileError: it vanished, or is not the record that its name says.
        """
        if values is None:
            raise CorruptFileError(
                f"{path} vanished while it was read; {self._plural} are never deleted"
            )
        record = self._made(path, values)
        if self.place(paths, record) != path:
            right = self.place(paths, record)
            raise CorruptFileError(
                f"{path} holds the {self._name} of {right.parent.name}/{right.name}, which does"
                " not match its name"
            )
        return record

    def write_gathered(
        self,
        paths: StudyPaths,
        path: Place,
        records: Iterable[T],
        may_replace: Callable[[list[T]], bool],
    ) -> None:
        """Write many records into one file.

        Args:
            paths: paths of the study.
            path: the file.
            records: what it is to hold.
            may_replace: whether they may take the place of those that it holds.

        Raises:
            CorruptFileError: what it holds is damaged.
            StoreError: it cannot be written, or what it holds must stay.
        """
        values = with_checksum({self._plural: [self.values(record) for record in records]})
        content = json.dumps(values, allow_nan=False, ensure_ascii=False).encode()
        replace(path, content, paths.lock_guard, lambda found: may_replace(self._in(path, found)))

    def read_gathered(self, files: Sequence[Place]) -> Iterator[list[T]]:
        """The records of each of some files of many; none of a file that is missing.

        Raises:
            CorruptFileError: a file is truncated, was changed, or holds something else.
        """
        return map(self._in, files, each(read_bytes, files))

    def _in(self, path: Place, content: bytes | None) -> list[T]:
        values = verified(path, content)
        if values is None:
            return []
        rows = values.get(self._plural)
        if values.keys() != {self._plural} or not isinstance(rows, list):
            raise CorruptFileError(f"{path} must hold {self._plural}, and nothing else")
        return [self._made(path, row) for row in rows]

    def _made(self, path: Place, values: Any) -> T:
        """The record of values that a file holds."""
        try:
            return self._adapter.validate_json(json.dumps(values))  # in which times are texts
        except ValidationError as error:
            found = error.errors()[0]
            where = ".".join(map(str, found["loc"]))
            rule = found["msg"].removeprefix("Value error, ")
            raise CorruptFileError(
                f"{path} is no {self._name}: {where}{': ' if where else ''}{rule}; got"
                f" {found['input']!r:.{_SHOWN}}"
            ) from None
