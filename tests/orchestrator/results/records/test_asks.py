import random
import string
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.results.records.asks import Ask, read_asks, write_ask
from orchestrator.results.records.json_records import LARGEST
from orchestrator.results.records.store_paths import StudyPaths
from podium.errors import CorruptFileError
from tests.orchestrator.results.store_rows import change_json

ASK = Ask(
    search="s",
    index=0,
    trial_id="t",
    config_hash="c",
    hyperparameters={"margin": 0.1, "proxies": 3, "easy": True, "miner": "none"},
    source="sampler",
)

VALUES = st.one_of(
    st.booleans(),
    st.integers(-LARGEST, LARGEST),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(string.ascii_letters, min_size=1), VALUES))
def test_hyperparameters_come_back_with_value_and_type(hyperparameters):
    with tempfile.TemporaryDirectory() as folder:
        paths = StudyPaths(Path(folder))
        write_ask(paths, replace(ASK, hyperparameters=hyperparameters))
        (ask,) = read_asks(paths)["s"]
    assert dict(ask.hyperparameters) == hyperparameters
    for name, value in hyperparameters.items():
        assert type(ask.hyperparameters[name]) is type(value)
    assert list(ask.hyperparameters) == list(hyperparameters)


def test_asks_come_in_the_order_of_their_index_by_search(tmp_path):
    paths = StudyPaths(tmp_path)
    for search in ("s1", "s0"):
        for index in random.Random(0).sample(range(12), 12):
            assert write_ask(paths, replace(ASK, search=search, index=index))
    found = read_asks(paths)
    assert list(found) == ["s0", "s1"]
    assert [ask.index for ask in found["s1"]] == list(range(12))


def test_a_deleted_ask_is_named(tmp_path):
    paths = StudyPaths(tmp_path)
    for index in range(3):
        write_ask(paths, replace(ASK, index=index))
    paths.ask("s", 1).unlink()
    with pytest.raises(CorruptFileError, match=r"s/000001\.json is missing, while"):
        read_asks(paths)


def test_an_index_is_given_away_once(tmp_path):
    paths = StudyPaths(tmp_path)
    assert write_ask(paths, ASK)
    assert not write_ask(paths, replace(ASK, trial_id="other"))
    assert read_asks(paths) == {"s": [ASK]}


def test_a_store_without_asks_has_none(tmp_path):
    assert read_asks(StudyPaths(tmp_path)) == {}


@pytest.mark.parametrize("size", [0, 1, 40])
def test_a_truncated_ask_is_named(tmp_path, size):
    paths = StudyPaths(tmp_path)
    write_ask(paths, ASK)
    path = paths.ask("s", 0)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(CorruptFileError, match=r"asks/s/000000\.json is not valid JSON"):
        read_asks(paths)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extra": 1}, "is no ask: extra: Unexpected keyword argument"),
        ({"hyperparameters": [1]}, "is no ask: hyperparameters: Input should be"),
        (
            {"hyperparameters": {"a": None}},
            "hyperparameters.a: must be a plain bool, int, float or str",
        ),
        ({"source": "me"}, "source: Input should be 'default', 'given' or 'sampler'"),
        ({"index": 4}, "holds the ask of s/000004.json, which does not match its name"),
        ({"search": "z"}, "holds the ask of z/000000.json, which does not match its name"),
    ],
)
def test_a_foreign_ask_is_named(tmp_path, change, message):
    paths = StudyPaths(tmp_path)
    write_ask(paths, ASK)
    path = paths.ask("s", 0)
    change_json(path, **change)
    with pytest.raises(CorruptFileError, match=rf"000000\.json.*{message}"):
        read_asks(paths)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_non_finite_hyperparameters_are_refused(tmp_path, value):
    with pytest.raises(ValueError, match="must be a finite number"):
        write_ask(StudyPaths(tmp_path), replace(ASK, hyperparameters={"a": value}))
    assert list(tmp_path.iterdir()) == []


def test_values_that_would_come_back_as_another_type_are_refused():
    with pytest.raises(ValueError, match=r"sizes\n.*must be a plain bool"):
        replace(ASK, hyperparameters={"sizes": (1, 2)})
