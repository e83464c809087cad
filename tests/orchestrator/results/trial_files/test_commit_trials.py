import math
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import StoreError
from podium.orchestrator.results.records.metric_columns import known_test_columns
from podium.orchestrator.results.records.trial_schema import trial_schema
from podium.orchestrator.results.trial_files.commit_trials import commit_trial
from tests.orchestrator.results.store_rows import (
    NAME,
    SCHEMA,
    commit,
    new_store,
    retrieval,
    row,
    score,
)

DERIVED = list(known_test_columns(SCHEMA.names))
PLACE = {"study": NAME, "search": "s0", "trial_id": "t000"}


def values_of(kind: pa.DataType, *, nullable: bool = True) -> st.SearchStrategy[object]:
    """Any value a column of this type may hold."""
    if pa.types.is_list(kind):
        values = st.lists(values_of(kind.value_type, nullable=False), max_size=2)
    elif pa.types.is_struct(kind):
        values = st.fixed_dictionaries({field.name: values_of(field.type) for field in kind})
    elif pa.types.is_integer(kind):
        top = 2 ** (kind.bit_width - 1)
        values = st.integers(-top, top - 1)
    elif pa.types.is_floating(kind):
        values = st.floats(allow_nan=False, allow_infinity=False, width=kind.bit_width)
    elif pa.types.is_timestamp(kind):
        values = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
    else:
        simple = {pa.bool_(): st.booleans(), pa.string(): st.text(), pa.binary(): st.binary()}
        values = simple[kind]
    return st.none() | values if nullable else values


@settings(max_examples=40)
@given(
    st.fixed_dictionaries(
        {field.name: values_of(field.type) for field in SCHEMA if field.name not in DERIVED}
    )
)
def test_every_row_comes_back_as_it_was(values):
    values = {**values, **PLACE}
    with tempfile.TemporaryDirectory() as folder:
        paths = commit(new_store(Path(folder)), values)
        path = paths.trial("s0", "t000")
        stored = pq.read_table(path, partitioning=None).drop_columns(DERIVED)
        assert stored.to_pylist() == [values]
        assert pl.read_parquet(path).drop(DERIVED).to_dicts() == [values]


def test_the_file_has_exactly_the_columns_and_types_of_the_schema(tmp_path):
    paths = commit(new_store(tmp_path), dict(reversed(row(0).items())))
    found = pq.read_schema(paths.trial("s0", "t000"))
    assert found.remove_metadata() == SCHEMA.remove_metadata()
    assert found.metadata == SCHEMA.metadata
    meta = pq.read_metadata(paths.trial("s0", "t000"))
    assert meta.row_group(0).column(0).compression == "LZ4"


def test_the_first_commit_wins(tmp_path):
    paths = commit(new_store(tmp_path), row(0, objective=0.5))
    path = paths.trial("s0", "t000")
    before = path.read_bytes()
    assert not commit_trial(paths, SCHEMA, row(0, objective=0.9))
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_missing_and_unknown_columns_are_named_together(tmp_path):
    values = {**row(0), "hp.gamma": 1.0, "extra": 2}
    del values["state"], values["scores"]
    message = (
        r"'t000' does not fit.*state: Field required.*scores: Field required.*"
        r"hp.gamma: Extra inputs are not permitted, got 1.0; extra: Extra inputs .*, got 2"
    )
    with pytest.raises(ValueError, match=message):
        commit_trial(new_store(tmp_path), SCHEMA, values)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("objective", "objective"),
        ("val_recall_at_1", "val_recall_at_1"),
        ("hp.margin", r"hp\.margin"),
        ("scores", r"scores\.1\.value"),
        ("test_scores", r"test_scores\.1\.value"),
        ("test_retrievals", r"test_retrievals\.0\.neighbours\.1\.similarity"),
    ],
)
def test_non_finite_numbers_never_get_in(tmp_path, column, message, value):
    bad = value
    if column.endswith("scores"):
        bad = [score(), score(value=value)]
    if column == "test_retrievals":
        bad = [retrieval("a")]
        bad[0]["neighbours"][1] = {**bad[0]["neighbours"][1], "similarity": value}
    paths = new_store(tmp_path)
    with pytest.raises(ValueError, match=rf"{message}: Input should be a finite number, got"):
        commit_trial(paths, SCHEMA, row(0, **{column: bad}))
    assert not paths.trials.exists()


def test_null_is_allowed_where_there_is_no_number(tmp_path):
    values = row(0, objective=None, scores=[score(value=None)])
    paths = commit(new_store(tmp_path), values)
    (stored,) = pl.read_parquet(paths.trial("s0", "t000")).to_dicts()
    assert stored["objective"] is None
    assert stored["scores"][0]["value"] is None


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("index", 1.0, "index: Input should be a valid integer, got 1.0"),
        ("index", True, "index: Input should be a valid integer, got True"),
        ("index", 2**31, "index: Input should be less than 2147483648, got 2147483648"),
        ("seed", 2**70, "seed: Input should be less than 9223372036854775808"),
        ("objective", True, "objective: Input should be a valid number, got True"),
        ("objective", "0.5", "objective: Input should be a valid number, got '0.5'"),
        ("is_default", 1, "is_default: Input should be a valid boolean, got 1"),
        ("state", b"COMPLETE", "state: Input should be a valid string"),
        ("hp.miner", 3, r"hp\.miner: Input should be a valid string, got 3"),
        ("started_at", datetime(2026, 1, 1), "started_at: Input should have timezone info"),
        ("scores", {"fold": 0}, "scores: Input should be a valid list"),
        ("scores", [1], r"scores\.0: Input should be a valid dictionary, got 1"),
        ("scores", [None], r"scores\.0: Input should be a valid dictionary, got None"),
        ("scores", [{"fold": 0}], r"scores\.0\.epoch: Field required"),
        ("scores", [score(), {**score(), "more": 1}], r"scores\.1\.more: Extra inputs"),
        ("scores", [score(), {**score(), "epoch": 1.5}], r"scores\.1\.epoch: Input should be"),
        ("test_retrievals", [{**retrieval("a"), "neighbours": [{}]}], r"neighbours\.0\.png: Fie"),
    ],
)
def test_values_are_never_converted_to_fit(tmp_path, column, value, message):
    with pytest.raises(ValueError, match=message):
        commit_trial(new_store(tmp_path), SCHEMA, row(0, **{column: value}))


def test_whole_numbers_are_fine_where_a_float_is_meant(tmp_path):
    paths = commit(new_store(tmp_path), row(0, objective=1))
    assert pl.read_parquet(paths.trial("s0", "t000"))["objective"].to_list() == [1.0]


def test_a_store_that_cannot_be_written_is_a_store_error(tmp_path):
    paths = new_store(tmp_path)
    paths.trials.write_text("in the way")
    with pytest.raises(StoreError, match=r"cannot write .*t000\.parquet: Not a directory"):
        commit_trial(paths, SCHEMA, row(0))


def test_names_that_are_no_file_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"search '\.\./x' cannot be a file name"):
        commit_trial(new_store(tmp_path), SCHEMA, row(0, search="../x"))


def test_a_study_without_hyperparameters_has_a_schema_too(tmp_path):
    schema = trial_schema((1,), {})
    paths = commit(new_store(tmp_path, schema), _without_hyperparameters(schema), schema=schema)
    assert pl.read_parquet(paths.trial("s0", "t000")).columns == schema.names


def _without_hyperparameters(schema):
    values = row(0)
    return {name: values[name] for name in schema.names}
