import pickle
from pathlib import Path

import pytest

from podium.errors import StoreError
from podium.orchestrator.results.storage.locations import (
    RemotePath,
    has_scheme,
    parse_place,
)

STUDY = parse_place("s3://bucket/podium/thesis?region=eu-west-1")


def test_a_uri_names_a_place_that_behaves_as_a_path_does():
    assert isinstance(STUDY, RemotePath)
    file = STUDY / "trials" / "search=a.b" / "t0.parquet"
    assert str(file) == "s3://bucket/podium/thesis/trials/search=a.b/t0.parquet?region=eu-west-1"
    assert (file.name, file.stem, file.parent.name) == ("t0.parquet", "t0", "search=a.b")
    assert STUDY.absolute() == STUDY


@pytest.mark.parametrize(
    "text",
    [
        *("s3://bucket", "s3://bucket/a/b?region=x&scheme=http", "gs://bucket/a", "mock:///a/b"),
        # An at and a port are no password.
        *("abfs://c@account.dfs.core.windows.net/x", "s3://bucket/me@home/x"),
        *("hdfs://host:8020/user/me@home/x", "s3://bucket/x?endpoint_override=host:9000"),
    ],
)
def test_a_place_comes_back_from_its_text_and_from_a_pickle(text):
    place = parse_place(text)
    assert str(place) == text
    assert parse_place(str(place)) == parse_place(place) == place
    assert pickle.loads(pickle.dumps(place)) == place


def test_paths_of_this_machine_stay_paths():
    assert parse_place("results/x") == Path("results/x")
    assert parse_place("~/x") == Path.home() / "x"
    assert parse_place(Path("a")) == Path("a")
    assert parse_place("file:///data/with%20a:b@c") == Path("/data/with a:b@c")
    assert not has_scheme("C:/results")
    assert not has_scheme("results/s3:x")


def test_slashes_that_say_nothing_are_left_out():
    assert parse_place("s3://bucket//a///b/") == parse_place("s3://bucket/a/b")
    assert parse_place("s3://bucket/") == parse_place("s3://bucket")
    assert parse_place("s3://bucket").parent == parse_place("s3://bucket")


@pytest.mark.parametrize(
    "text",
    [
        "s3://AKIA123%3Ahunter2@bucket/x",
        "hdfs://me:hunter2@host:8020/x",
        "s3://bucket/x?region=a&aws_access_key_id=hunter2",
        "s3://bucket/x?SESSION_TOKEN=hunter2",
        "abfs://c@account.dfs.core.windows.net/x?sig=hunter2",
        "s3://bucket?endpoint_override=me%3Ahunter2%40host:9000",
        "gs://bucket/x?password=hunter2",
        "s3://AKIA123:9000hunter2/ab@bucket/x",
        *(f"s3://AKIA123:{begin}hunter2@bucket/x" for begin in ("", "ab#", "12?")),
        "s3:///AKIA123:hunter2@bucket/x",
        "file://me:hunter2@host/x",
    ],
)
def test_credentials_in_a_uri_are_refused_and_not_repeated(text):
    with pytest.raises(StoreError, match="environment") as raised:
        parse_place(text)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is raised.value.__context__ is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s3:/bucket/x", "s3:/ does not begin a URI: that takes two slashes"),
        ("s3://bucket/hunter2/../x", r"neither '\.\.' nor '#'"),
        ("s3://bucket/x#hunter2", r"neither '\.\.' nor '#'"),
        ("file://hunter2/x", "needs three slashes"),
        ("s3://[hunter2/x", "no host or bucket that can be read"),
    ],
)
def test_broken_uris_are_refused_and_not_repeated(text, message):
    with pytest.raises(StoreError, match=message) as raised:
        parse_place(text)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is raised.value.__context__ is None
