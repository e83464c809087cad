import pickle
from pathlib import Path

import pytest

from orchestrator.results.storage.locations import (
    RemotePath,
    has_scheme,
    parse_place,
)
from podium.errors import StoreError

STUDY = parse_place("s3://bucket/podium/thesis?region=eu-west-1")


def test_a_uri_names_a_place_that_behaves_as_a_path_does():
    assert isinstance(STUDY, RemotePath)
    file = STUDY / "trials" / "search=a.b" / "t0.parquet"
    assert str(file) == "s3://bucket/podium/thesis/trials/search=a.b/t0.parquet?region=eu-west-1"
    assert (file.name, file.stem, file.suffix) == ("t0.parquet", "t0", ".parquet")
    assert file.parent.name == "search=a.b"
    assert STUDY.absolute() == STUDY.resolve() == STUDY


@pytest.mark.parametrize(
    "text",
    ["s3://bucket", "s3://bucket/a/b?region=x&scheme=http", "gs://bucket/a", "mock:///a/b"],
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
    assert parse_place("file:///data/with%20space") == Path("/data/with space")
    assert not has_scheme("C:/results")
    assert not has_scheme("results/s3:x")


def test_slashes_that_say_nothing_are_left_out():
    assert parse_place("s3://bucket//a///b/") == parse_place("s3://bucket/a/b")
    assert parse_place("s3://bucket/") == parse_place("s3://bucket")
    assert parse_place("s3://bucket").parent == parse_place("s3://bucket")


@pytest.mark.parametrize(
    "text",
    [
        "s3://AKIA123:hunter2@bucket/x",
        "s3://AKIA123%3Ahunter2@bucket/x",
        "hdfs://me:hunter2@host:8020/x",
        "s3://bucket/x?secret_key=hunter2",
        "s3://bucket/x?region=a&aws_access_key_id=hunter2",
        "s3://bucket/x?SESSION_TOKEN=hunter2",
        "abfs://c@account.dfs.core.windows.net/x?sas_token=hunter2",
        "abfs://c@account.dfs.core.windows.net/x?sig=hunter2",
        "s3://bucket?endpoint_override=me:hunter2@host:9000",
        "s3://bucket?endpoint_override=me%3Ahunter2%40host:9000",
        "gs://bucket/x?password=hunter2",
        "s3://AKIA123:hunter2/ab@bucket/x",
        "s3://AKIA123:9000hunter2/ab@bucket/x",
        "s3://AKIA123:ab#hunter2@bucket/x",
        "s3://AKIA123:ab?hunter2@bucket/x",
        "s3://AKIA123:12?hunter2@bucket/x",
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
    "text",
    [
        "abfs://c@account.dfs.core.windows.net/x",
        "s3://bucket/me@home/x",
        "hdfs://host:8020/user/me@home/x",
        "s3://bucket/x?endpoint_override=host:9000",
    ],
)
def test_an_at_and_a_port_are_no_password(text):
    assert str(parse_place(text)) == text


def test_a_path_of_this_machine_holds_no_password():
    assert parse_place("file:///data/a:b@c") == Path("/data/a:b@c")


@pytest.mark.parametrize(
    "text", ["s3://b/hunter2/../x", "s3://b/x#hunter2", "file://hunter2/x", "s3://[hunter2/x"]
)
def test_what_a_broken_uri_holds_is_not_repeated(text):
    with pytest.raises(StoreError) as raised:
        parse_place(text)
    assert "hunter2" not in str(raised.value)
    assert raised.value.__cause__ is raised.value.__context__ is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s3:/bucket/x", "s3:/ does not begin a URI: that takes two slashes"),
        ("s3://bucket/../x", r"neither '\.\.' nor '#'"),
        ("s3://bucket/x#y", r"neither '\.\.' nor '#'"),
        ("file://host/x", "needs three slashes"),
    ],
)
def test_broken_uris_are_refused(text, message):
    with pytest.raises(StoreError, match=message):
        parse_place(text)
