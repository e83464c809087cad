"""Commits trials: one trial = one file = one row, nothing is cast, and the first commit wins."""

from collections.abc import Mapping, Sequence
from functools import cache

import polars as pl
import pyarrow as pa
from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store
from podium.orchestrator.results.storage.files import list_files, put_if_absent, remove
from podium.orchestrator.results.storage.local_copies import keep_copy
from podium.orchestrator.results.trial_files.inventory import open_rows, take_inventory, trials_in
from podium.orchestrator.results.trial_files.parquet_file import encode

_MOST_NAMED = 10  # problems of a row; a list may have one for each of its entries
_LEAVES: dict[pa.DataType, CoreSchema] = {
    pa.timestamp("us", "UTC"): core_schema.datetime_schema(strict=True, tz_constraint="aware"),
    pa.float64(): core_schema.float_schema(strict=True, allow_inf_nan=False),
    pa.float32(): core_schema.float_schema(strict=True, allow_inf_nan=False),
    pa.bool_(): core_schema.bool_schema(strict=True),
    pa.binary(): core_schema.bytes_schema(strict=True),
    pa.string(): core_schema.str_schema(strict=True),
}


def commit_trial(paths: StudyPaths, schema: pa.Schema, row: Mapping[str, object]) -> bool:
    """Write the row of an ended trial, which is never changed again.

    It has a value for every column of the schema, None for null; nested ones are lists of dicts.

    Returns:
        Whether the row was written; if the trial was committed before, that row stays.

    Raises:
        ValueError: the row does not fit the schema, or holds NaN or infinities.
        StoreError: the store cannot be written, or not be read after the row was: a later commit
            of the trial finds out whether its row is there.
    """
    data = encode(to_table(schema, row))
    search, trial_id = str(row["search"]), str(row["trial_id"])
    path = paths.trial(search, trial_id)
    if not put_if_absent(path, data):
        return False
    # The file of a trial that was gathered may be gone, so that its name is free. It is looked for
    # now that the name is taken: no gathering can slip in.
    gathered = list_files(path.parent, ".gathered.parquet")
    if any(trial_id in trials_in(file) for file in gathered):
        remove(path)
        return False
    keep_copy(path, data)  # which whoever gathers it need not fetch
    return True


def copy_trials(
    paths: StudyPaths, schema: pa.Schema, search: str, copies: Sequence[Mapping[str, object]]
) -> None:
    """Commit rows with the results of trials of a search; one that was there before stays.

    Copies are identity columns of each new row, of which ``same_as`` names its trial. Nothing was
    trained or tested for them: ``attempts`` and ``test_readings`` are 0.

    Raises:
        CorruptFileError: a trial to be copied has no row, or a file is damaged or foreign.
        StoreError: the store cannot be read or written.
    """
    files = take_inventory(paths, search).get(search, ())
    rows = open_rows(files, read_store(paths), schema.names)
    originals = rows.filter(pl.col("trial_id").is_in([copy["same_as"] for copy in copies]))
    known = {row["trial_id"]: row for row in originals.to_dicts()}
    for copy in copies:
        if (trial_id := copy["same_as"]) not in known:
            raise CorruptFileError(f"{paths.folder} has no row of trial {trial_id}, to be copied")
        row = {**dict.fromkeys(schema.names), **known[trial_id], **copy}
        commit_trial(paths, schema, {**row, "attempts": 0, "test_readings": 0})


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
    return _LEAVES[kind]
