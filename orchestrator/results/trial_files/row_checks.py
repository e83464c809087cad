"""Checks rows before they are written: nothing is cast silently."""

from collections.abc import Mapping
from functools import cache

import pyarrow as pa
from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

_MOST_NAMED = 10  # problems of a row; a list may have one for each of its entries


def to_table(schema: pa.Schema, row: Mapping[str, object]) -> pa.Table:
    """One row as a table of exactly ``schema``.

    Raises:
        ValueError: columns are missing or unknown, here or in nested rows; a value is of another
            type, does not fit its type, or is NaN or infinite (null is allowed). They are named,
            up to ten.
    """
    try:
        values = _checker(schema).validate_python(dict(row))
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, it['loc']))}: {it['msg']}, got {it['input']!r:.60}"
            for it in error.errors(include_url=False)[:_MOST_NAMED]
        ]
        raise ValueError(
            f"the row of trial {row.get('trial_id')!r} does not fit its schema:"
            f" {'; '.join(problems)}"
        ) from None
    # As one struct: an array for each of a hundred columns takes three times as long.
    rows = pa.array([values], pa.struct(schema))
    return pa.Table.from_batches([pa.RecordBatch.from_struct_array(rows)], schema)


@cache
def _checker(schema: pa.Schema) -> SchemaValidator:
    return SchemaValidator(_values_of(pa.struct(schema)))


def _values_of(kind: pa.DataType) -> CoreSchema:
    """Python values of a type of Arrow, which alone would truncate them or fill in nulls."""
    if pa.types.is_struct(kind):
        fields = {
            field.name: core_schema.typed_dict_field(
                core_schema.nullable_schema(_values_of(field.type))
            )
            for field in kind
        }
        return core_schema.typed_dict_schema(fields, strict=True, extra_behavior="forbid")
    if pa.types.is_list(kind):
        return core_schema.list_schema(_values_of(kind.value_type), strict=True)
    if pa.types.is_integer(kind):
        top = 2 ** (kind.bit_width - 1)
        return core_schema.int_schema(strict=True, ge=-top, lt=top)
    if pa.types.is_timestamp(kind):
        return core_schema.datetime_schema(strict=True, tz_constraint="aware")
    if pa.types.is_floating(kind):
        return core_schema.float_schema(strict=True, allow_inf_nan=False)
    if pa.types.is_boolean(kind):
        return core_schema.bool_schema(strict=True)
    if pa.types.is_binary(kind):
        return core_schema.bytes_schema(strict=True)
    return core_schema.str_schema(strict=True)
