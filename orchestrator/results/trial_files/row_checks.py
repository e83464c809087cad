"""Checks rows before they are written and files after they are read: nothing is cast silently."""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.locations import Place
from podium.errors import CorruptFileError

_KINDS = ((pa.types.is_string, str), (pa.types.is_boolean, bool), (pa.types.is_integer, int))


def to_table(schema: pa.Schema, row: Mapping[str, object]) -> pa.Table:
    """One row as a table of exactly ``schema``.

    Raises:
        ValueError: columns are missing or unknown, here or in nested rows; a value is of another
            type, does not fit its type, or is NaN or infinite (null is allowed). All are named.
    """
    names = schema.names
    problems = [
        *_named("missing columns", [name for name in names if name not in row]),
        *_named("unknown columns", [name for name in row if name not in names]),
        *_values_that_do_not_fit(schema, row),
    ]
    if not problems:
        try:
            # As one struct: an array for each of a hundred columns takes three times as long.
            rows = pa.array([dict(row)], pa.struct(schema))
            return pa.Table.from_batches([pa.RecordBatch.from_struct_array(rows)], schema)
        except (pa.ArrowException, OverflowError):
            problems = list(_values_that_overflow(schema, row))
    raise ValueError(
        f"the row of trial {row.get('trial_id')!r} does not fit its schema: " + "; ".join(problems)
    )


def _values_that_do_not_fit(schema: pa.Schema, row: Mapping[str, object]) -> Iterator[str]:
    for name, kind in zip(schema.names, schema.types, strict=True):
        value = row.get(name)
        if not _sure_test(kind)(value):
            try:
                yield from _misfits([value], kind, name)
            except (pa.ArrowException, OverflowError) as error:
                yield f"{name}: {error}"


def _values_that_overflow(schema: pa.Schema, row: Mapping[str, object]) -> Iterator[str]:
    """Columns whose values are of their type, and too large for it."""
    for name, kind in zip(schema.names, schema.types, strict=True):
        try:
            pa.array([row[name]], kind)
        except (pa.ArrowException, OverflowError) as error:
            yield f"{name}: {error}"


def check_columns(path: Place, found: pa.Schema, schema: pa.Schema) -> None:
    """Refuse a file whose columns are not those of the study.

    Hyperparameters may be missing: the study may have gained them after the file was written.

    Raises:
        CorruptFileError: a column is missing, unknown, or of another type.
    """
    if found.equals(schema):  # as nearly all files: to look at each column takes milliseconds
        return
    for column in found:
        if column.name not in schema.names:
            raise CorruptFileError(f"{path} has the column {column.name!r}, unknown to its study")
        expected = schema.field(column.name).type
        if column.type != expected:
            raise CorruptFileError(
                f"{path}: column {column.name!r} is {column.type}, its study says {expected}"
            )
    for name in schema.names:
        if name not in found.names and not name.startswith("hp."):
            raise CorruptFileError(f"{path} lacks the column {name!r}")


def check_rows_fit_path(path: Place, rows: pa.Table, study: str) -> None:
    """Refuse a file that does not hold the rows that its path says.

    Raises:
        CorruptFileError: it does not; the file and the difference are named.
    """
    count = StudyPaths.num_gathered(path)
    if rows.num_rows != (count or 1):
        raise CorruptFileError(f"{path} must hold {count or 1} rows, it has {rows.num_rows}")
    expected = {"study": study, "search": StudyPaths.search_of(path)}
    if not count:
        expected["trial_id"] = path.stem
    for name, value in expected.items():
        for found in pc.unique(rows.column(name)).to_pylist():
            if found != value:
                raise CorruptFileError(
                    f"{path} holds a row with {name} {found!r}; at that path it must be {value!r}"
                )
    if pc.count_distinct(rows.column("trial_id"), mode="all").as_py() != rows.num_rows:
        raise CorruptFileError(f"{path} holds a trial twice. Restore the original file")


@cache
def _sure_test(expected: pa.DataType) -> Callable[[Any], bool]:
    """Whether `_misfits` surely has nothing to say of a value: that takes 20 times as long."""
    if pa.types.is_list(expected):
        fits = _sure_test(expected.value_type)
        return lambda value: value is None or (type(value) is list and all(map(fits, value)))
    if pa.types.is_struct(expected):
        tests = {field.name: _sure_test(field.type) for field in expected}
        return lambda value: (
            type(value) is dict
            and value.keys() == tests.keys()
            and all(test(value[name]) for name, test in tests.items())
        )
    if pa.types.is_floating(expected):
        return lambda value: value is None or (type(value) is float and math.isfinite(value))
    if pa.types.is_timestamp(expected):
        return lambda value: (
            value is None or (type(value) is datetime and value.tzinfo is not None)
        )
    kind = next((kind for of_kind, kind in _KINDS if of_kind(expected)), None)
    return lambda value: value is None or type(value) is kind


def _named(what: str, names: list[str]) -> Iterator[str]:
    if names:
        yield f"{what}: {', '.join(names)}"


def _misfits(values: list[Any], expected: pa.DataType, place: str) -> Iterator[str]:
    """Why Python values do not fit a column; Arrow alone would truncate them or fill in nulls."""
    values = [value for value in values if value is not None]
    if not values:
        return
    if pa.types.is_list(expected):
        if not all(isinstance(value, list) for value in values):
            yield f"{place} must be a list"
            return
        inner = [item for value in values for item in value]
        yield from _misfits(inner, expected.value_type, place)
    elif pa.types.is_struct(expected):
        yield from _struct_misfits(values, expected, place)
    else:
        yield from _flat_misfits(pa.array(values), expected, place)


def _struct_misfits(values: list[Any], expected: pa.StructType, place: str) -> Iterator[str]:
    names = {field.name for field in expected}
    for value in values:
        if not isinstance(value, Mapping) or value.keys() != names:
            found = ", ".join(map(str, value)) if isinstance(value, Mapping) else repr(value)
            wanted = ", ".join(field.name for field in expected)
            yield f"{place} must be rows of {wanted}; got {found}"
            return
    for field in expected:
        yield from _misfits([value[field.name] for value in values], field.type, _at(place, field))


def _at(place: str, field: pa.Field) -> str:
    return f"{place}.{field.name}"


def _flat_misfits(values: pa.Array, expected: pa.DataType, place: str) -> Iterator[str]:
    if not _is_of_kind(values.type, expected):
        yield f"{place} must be {expected}, got {values[0].as_py()!r}"
    elif pa.types.is_floating(values.type) and not pc.all(pc.is_finite(values)).as_py():
        yield f"{place} is NaN or infinite"


def _is_of_kind(found: pa.DataType, expected: pa.DataType) -> bool:
    if pa.types.is_floating(expected):
        return bool(pa.types.is_floating(found) or pa.types.is_integer(found))
    if pa.types.is_integer(expected):
        return bool(pa.types.is_integer(found))
    if pa.types.is_timestamp(expected):
        return bool(pa.types.is_timestamp(found) and found.tz is not None)
    return bool(found == expected)
