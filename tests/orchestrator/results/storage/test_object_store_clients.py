"""Stores of the three kinds by their URIs, each by its own protocol."""

import threading

import pytest

from orchestrator.results.storage import files
from orchestrator.results.storage.locations import parse_place
from orchestrator.results.storage.object_store import ObjectStore, RequestError
from orchestrator.results.storage.object_store_clients import open_store
from orchestrator.results.storage.transient_errors import retrying_for
from podium.errors import PlaceError, StoreError, UnreachableError

ABFS = "container@account.dfs.core.windows.net"


@pytest.fixture(params=["bucket", "google_bucket", "azure_container", "memory_bucket"])
def store(request):
    return request.getfixturevalue(request.param)


@pytest.fixture(params=["tmp_path", "bucket", "google_bucket", "azure_container", "memory_bucket"])
def place(request):
    """An empty folder: of this machine, or a store of each kind."""
    return request.getfixturevalue(request.param)


def test_files_are_written_read_listed_and_deleted(place):
    folder = place / "a" / "s=x+y"
    files.check_writable(folder)
    assert files.contents(place) == []
    files.put(folder / "1.json", b"a long first version")
    files.put(folder / "1.json", b"{}")
    files.put(folder / "deep" / "2.json", b"two")
    assert files.read_bytes(folder / "1.json") == b"{}"
    assert len(files.read_bytes(folder / "deep" / "2.json") or b"") == 3
    assert files.exists(folder / "1.json")
    assert files.list_names(folder, ".json") == ["1.json"]
    assert files.list_folders(folder) == [folder / "deep"]
    assert files.list_below(folder, ".json") == [folder / "deep" / "2.json"]
    sizes = [(file.path, file.num_bytes) for file in files.stored_files(folder)]
    assert sizes == [("1.json", 2), ("deep/2.json", 3)]
    files.remove(folder / "1.json")
    files.remove_folder(place / "a")
    assert files.contents(place) == []


def test_missing_files_and_folders_read_as_none_and_empty(place):
    missing = place / "missing"
    assert files.read_bytes(missing) is None
    assert files.read_json(missing) is None
    assert not files.exists(missing)
    for listing in (files.list_names, files.list_below):
        assert list(listing(missing, ".json")) == []
    for listing in (files.list_folders, files.list_studies, files.contents, files.stored_files):
        assert list(listing(missing)) == []
    files.remove(missing)
    files.remove_all([missing, missing / "x"])
    files.remove_folder(missing)
    files.remove_if_empty(missing)
    files.remove_temporaries(missing)
    assert files.contents(place) == []


def test_of_many_writers_at_once_exactly_one_wins_and_its_bytes_are_there(place):
    won, start = [], threading.Barrier(12)

    def write(number):
        start.wait()
        if files.put_if_absent(place / "file", bytes([number]) * 1000):
            won.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert files.read_bytes(place / "file") == bytes(won) * 1000
    assert files.contents(place) == [("file", "file")]


def test_a_file_whose_answer_was_lost_counts_as_written_once(store, monkeypatch, short_pauses):
    real, faults = ObjectStore.create, [1]

    def create(self, key, content, token):
        made = real(self, key, content, token)
        if faults:
            faults.pop()
            raise RequestError("timeout", UnreachableError)
        return made

    monkeypatch.setattr(ObjectStore, "create", create)
    assert files.put_if_absent(store / "x", b"mine")
    assert not files.put_if_absent(store / "x", b"mine")  # the same bytes are not the same call


def replaced(store, data, known):
    try:
        files.replace(store / "file", data, store / "guard", lambda found: found == known)
    except StoreError as error:
        assert "was replaced by another process meanwhile" in str(error)  # noqa: PT017
        return False
    return True


def test_a_file_is_replaced_where_it_is_the_one_that_is_to_be_replaced(place):
    assert not replaced(place, b"one", b"none")
    assert files.read_bytes(place / "file") is None
    assert replaced(place, b"one", None)
    assert not replaced(place, b"two", None)
    assert replaced(place, b"two", b"one")
    assert files.read_bytes(place / "file") == b"two"


def test_a_file_that_changes_between_the_look_and_the_write_is_looked_at_again(store):
    looks, others = [], [b"second", b"third", None]
    files.put(store / "file", b"first")

    def meanwhile(found):
        looks.append(found)
        if others:
            other = others.pop(0)
            if other is None:
                files.remove(store / "file")
            else:
                files.put(store / "file", other)
        return True

    files.replace(store / "file", b"mine", store / "guard", meanwhile)
    assert looks == [b"first", b"second", b"third", None]
    assert files.read_bytes(store / "file") == b"mine"


def test_a_replacement_whose_answer_was_lost_counts_as_written(store, monkeypatch, short_pauses):
    real, faults = ObjectStore.replace, [1, 2]

    def replace(self, key, content, known):
        made = real(self, key, content, known)
        if faults:
            faults.pop()
            raise RequestError("timeout", UnreachableError)
        return made

    monkeypatch.setattr(ObjectStore, "replace", replace)
    assert replaced(store, b"one", None)
    assert replaced(store, b"two", b"one")
    assert not replaced(store, b"three", b"one")


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("s3://bucket/x?colour=red", "no setting 'colour'; known: endpoint_override, region"),
        ("gs://bucket/x?region=y", "no setting 'region'; known: endpoint_override, scheme"),
        ("s3://bucket/x?scheme=ftp", "scheme .* must be one of http, https; got ftp"),
        ("s3:///x", "needs a bucket"),
        ("ftp2://host/x", "known: s3, gs, gcs, abfs, abfss, az, file"),
        ("gcs:///x", "needs a bucket, as in gcs://bucket/folder"),
        (
            "abfs://container/x",
            "needs a container and an account after the slashes, as in container@account",
        ),
        (
            "abfss://account.dfs.core.windows.net/container/x",
            "needs a container and an account after",
        ),
        ("az://account@container/x", "needs a container and an account after"),
        ("hdfs://host:8020/x", "no store for hdfs:// URIs; known: s3, gs, gcs, abfs, abfss, az,"),
    ],
)
def test_a_uri_that_names_no_store_is_refused(uri, reason, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(PlaceError, match=f"cannot read {uri.partition('?')[0]}.*: .*{reason}"):
        files.read_bytes(parse_place(uri))


@pytest.mark.parametrize(
    ("scheme", "authority", "endpoint"),
    [
        ("abfs", ABFS, "https://account.blob.core.windows.net"),
        (
            "abfss",
            "c@account.blob.core.chinacloudapi.cn",
            "https://account.blob.core.chinacloudapi.cn",
        ),
        ("az", ABFS, "https://account.blob.core.windows.net"),
    ],
)
def test_the_account_of_azure_stands_in_the_uri(scheme, authority, endpoint):
    config = open_store(scheme, authority, "")._client.config
    assert (config["account_name"], config["endpoint"]) == ("account", endpoint)


def test_the_account_of_azure_may_stand_in_the_environment(monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "mine")
    assert open_store("az", "container", "")._client.config["container_name"] == "container"


@pytest.mark.parametrize("scheme", ["gs", "gcs"])
def test_the_bucket_of_google_stands_in_the_uri(scheme, monkeypatch):
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", "token")
    assert open_store(scheme, "mine", "")._client.config["bucket"] == "mine"


def test_credentials_that_cannot_be_read_are_reported(monkeypatch, tmp_path):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "absent.json"))
    with pytest.raises(StoreError, match="the file of GOOGLE_APPLICATION_CREDENTIALS cannot be"):
        files.read_bytes(parse_place("gs://bucket-without-credentials/x"))


@pytest.mark.parametrize(
    "uri", ["gs://bucket/x", f"abfs://{ABFS}/x", "s3://bucket/x"], ids=["gs", "abfs", "s3"]
)
def test_an_address_without_a_server_is_an_unreachable_store(uri, monkeypatch, s3_service):
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", "token")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "a2V5")
    place = parse_place(f"{uri}?scheme=http&endpoint_override=127.0.0.1:9")
    with retrying_for(0), pytest.raises(UnreachableError, match="the store does not answer"):
        files.read_bytes(place)


@pytest.mark.parametrize(
    ("problem", "is_transient", "reason"),
    [
        ("status code: 503 Service Unavailable: <Code>ServerBusy</Code>", True, "503 ServerBusy"),
        ("Bulk delete request failed for key a: busy (code: 503)", True, "answers 503"),
        ("status code: 429 Too Many Requests: ", True, "answers 429"),
        ("status code: 501 Not Implemented: ", False, "answers 501"),
        ("status code: 404: <Code>ContainerNotFound</Code>", False, "no such container"),
        ("status code: 403: <Code>AuthorizationFailure</Code>", False, "403 AuthorizationFailure"),
        ("HTTP error: Os { code: 111, kind: ConnectionRefused }", True, "does not answer"),
        ("GET http://169.254.169.254/metadata/identity: HTTP error", False, "none here"),
        ("GET http://metadata.google.internal/computeMetadata: HTTP error", False, "none here"),
    ],
)
def test_what_may_be_over_in_a_moment_is_told_by_the_answer(problem, is_transient, reason):
    from obstore.exceptions import GenericError

    def fail():
        raise GenericError(problem)

    with pytest.raises(RequestError, match=reason) as raised:
        ObjectStore(fail, "none here")
    assert (raised.value.kind is UnreachableError) == is_transient
