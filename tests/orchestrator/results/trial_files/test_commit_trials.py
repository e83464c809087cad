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

NAN = math.nan
(NEIGHBOUR, _) = retrieval("a")["neighbours"]
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
@given(st.fixed_dictionaries({field.name: values_of(field.type) for field in SCHEMA}))
def test_every_row_comes_back_as_it_was(values):
    values = {**values, **PLACE}
    with tempfile.TemporaryDirectory() as folder:
        paths = new_store(Path(folder))
        assert commit_trial(paths, SCHEMA, values)
        path = paths.trial("s0", "t000")
        assert pq.read_table(path, partitioning=None).to_pylist() == [values]
        assert pl.read_parquet(path).to_dicts() == [values]
        assert pq.read_schema(path) == SCHEMA
        assert pq.read_schema(path).metadata == SCHEMA.metadata


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


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        *(("objective", it, "objective: Input should be a finite") for it in (NAN, math.inf)),
        ("scores", [score(), score(value=NAN)], r"scores\.1\.value: Input should be a finite"),
        (
            "test_retrievals",
            [{**retrieval("a"), "neighbours": [{**NEIGHBOUR, "similarity": -math.inf}]}],
            r"test_retrievals\.0\.neighbours\.0\.similarity: Input should be a finite number",
        ),
        *(("index", it, "index: Input should be a valid integer, got") for it in (1.0, True)),
        ("index", 2**31, "index: Input should be less than 2147483648, got 2147483648"),
        ("seed", 2**70, "seed: Input should be less than 9223372036854775808"),
        *(("objective", it, "objective: Input should be a valid number") for it in (True, "0.5")),
        ("is_default", 1, "is_default: Input should be a valid boolean, got 1"),
        *(("hp.miner", it, r"hp\.miner: Input should be a valid string") for it in (3, b"a")),
        ("started_at", datetime(2026, 1, 1), "started_at: Input should have timezone info"),
        ("scores", {"fold": 0}, "scores: Input should be a valid list"),
        *(("scores", [it], r"scores\.0: Input should be a valid dictionary") for it in (1, None)),
        ("scores", [{"fold": 0}], r"scores\.0\.epoch: Field required"),
        ("scores", [score(), {**score(), "more": 1}], r"scores\.1\.more: Extra inputs"),
    ],
)
def test_values_are_never_converted_to_fit_nor_other_than_finite(tmp_path, column, value, message):
    paths = new_store(tmp_path)
    with pytest.raises(ValueError, match=message):
        commit_trial(paths, SCHEMA, row(0, **{column: value}))
    assert not paths.trials.exists()
