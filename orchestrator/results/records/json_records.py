"""Records: frozen dataclasses of plain values, each in a JSON file that its fields name.

How a field is annotated says which values are let in, since a file may come from anywhere. A check
gives the value back, or raises ValueError with the name, the rule and the value.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache, partial
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
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
Check = Callable[[str, Any], Any]

LARGEST = 2**63 - 1
"""The largest whole number that a column holds."""

_SHOWN = 60  # characters that a message shows of a value


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordKind(Generic[T]):
    """One class of records.

    Attributes:
        make: the dataclass.
        name: what messages call a record, such as ``attempt``.
        plural: what messages call those that are never deleted.
        title: format of what messages call the record ``{0}``.
        place: the file of a record.
    """

    make: Callable[..., T]
    name: str
    plural: str
    title: str
    place: Callable[[StudyPaths, T], Place]

    def values(self, record: T) -> dict[str, Any]:
        """The values of the JSON file of a record."""
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in asdict(record).items()  # type: ignore[call-overload]
        }

    def write(self, paths: StudyPaths, record: T) -> None:
        """Write the file of a record, over what it held."""
        write_checksummed(self.place(paths, record), self.values(record))

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
                f"{path} vanished while it was read; {self.plural} are never deleted"
            )
        record = self._made(path, values)
        if self.place(paths, record) != path:
            title = self.title.format(record)
            raise CorruptFileError(f"{path} holds {title}, which does not match its name")
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
        values = with_checksum({self.plural: [self.values(record) for record in records]})
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
        rows = values.get(self.plural)
        if values.keys() != {self.plural} or not isinstance(rows, list):
            raise CorruptFileError(f"{path} must hold {self.plural}, and nothing else")
        return [self._made(path, row) for row in rows]

    def _made(self, path: Place, values: Any) -> T:
        """The record of values that a file holds."""
        checks = _checks_of(self.make)
        if not isinstance(values, dict) or values.keys() != checks.keys():
            names = ", ".join(sorted(checks))
            raise CorruptFileError(f"{path} is no {self.name}: it must hold {names}")
        try:
            return self.make(**checked(values, checks))
        except ValueError as error:
            raise CorruptFileError(f"{path} is no {self.name}: {error}") from error


def checked_row(make: Callable[..., T], name: str, row: Any) -> T:
    """An object of a dataclass from its values within a record."""
    checks = _checks_of(make)
    if not isinstance(row, dict) or row.keys() != checks.keys():
        raise ValueError(f"{name} must hold {', '.join(sorted(checks))}")
    return make(**checked(row, checks))


def checked(values: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    """Values by name, each as the check of its name gives it back."""
    return {name: checks[name](name, value) for name, value in values.items()}


@cache
def _checks_of(make: Callable[..., Any]) -> Mapping[str, Check]:
    hints = get_type_hints(make, include_extras=True)
    return {name: _check(hint) for name, hint in hints.items()}


def _check(hint: Any) -> Check:
    kind = get_origin(hint)
    if kind is Annotated:
        check: Check = hint.__metadata__[0]
        return check
    if kind is Literal:
        return _is_known(*get_args(hint))
    if kind in (Union, UnionType):
        (inner,) = (part for part in get_args(hint) if part is not NoneType)
        return optional(_check(inner))
    return _CHECKS[hint]


def _text(name: str, value: Any) -> str:
    """A text."""
    if type(value) is not str:
        raise _wrong(name, "a text", value)
    return value


def _file_name(name: str, value: Any) -> str:
    """A text that names a search or a trial, and leads nowhere as the name of a file."""
    if type(value) is not str or not is_file_name(value):
        raise _wrong(name, "a name of letters, digits and . _ : + @ -", value)
    return value


def count(name: str, value: Any) -> int:
    """A whole number of at least 0."""
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise _wrong(name, "a whole number of at least 0", value)
    return value


def amount(name: str, value: Any) -> float:
    """A finite number of at least 0, as a float."""
    if type(value) not in (int, float) or not 0 <= value < math.inf:
        raise _wrong(name, "a number of at least 0", value)
    return float(value)


def _time(name: str, value: Any) -> datetime:
    """A time with its zone, written as ISO 8601."""
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _wrong(name, "a time", value) from None
    if found.tzinfo is None:
        raise _wrong(name, "a time with its zone", value)
    return found


def optional(check: Check) -> Check:
    """A check that lets None through."""
    return lambda name, value: None if value is None else check(name, value)


def _is_known(*known: str) -> Check:
    """A check that lets some texts through, and nothing else."""

    def check(name: str, value: Any) -> Any:
        if value not in known:
            raise _wrong(name, f"one of {', '.join(known)}", value)
        return value

    return check


def _wrong(name: str, rule: str, value: object) -> ValueError:
    return ValueError(f"{name} must be {rule}; got {value!r:.{_SHOWN}}")


_CHECKS: Mapping[type, Check] = {str: _text, int: count, float: amount, datetime: _time}

FileName = Annotated[str, _file_name]
"""A text that names a search or a trial, and leads nowhere as the name of a file."""
