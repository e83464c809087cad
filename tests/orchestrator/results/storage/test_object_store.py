"""Buckets of a service that fails in all ways, their URIs and credentials, and local copies."""

import os
import resource
import tempfile

import pytest

from podium.errors import CorruptFileError, PlaceError, StoreError, UnreachableError
from podium.orchestrator.results.storage import files, object_store, transient_errors
from podium.orchestrator.results.storage import local_copies as copies_module
from podium.orchestrator.results.storage.local_copies import local_copies
from podium.orchestrator.results.storage.locations import parse_place
from podium.orchestrator.results.storage.object_store import open_client, reason_of
from podium.orchestrator.results.storage.transient_errors import retrying_for
from podium.orchestrator.results.trial_files.parquet_file import verified
from tests.object_store import KEY, SECRET, proxied

ABFS = "container@account.dfs.core.windows.net"


@pytest.fixture
def proxy_and_bucket(s3_service):
    with proxied(s3_service) as both:
        yield both


def test_more_objects_than_one_answer_of_the_service_holds_are_listed(bucket, monkeypatch):
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "10")
    places = [bucket / "many" / f"{number:04d}.json" for number in range(35)]
    list(files.each(lambda place: files.put(place, b""), places))
    assert files.list_files(bucket / "many", ".json") == places


def test_a_large_file_is_sent_in_parts_and_appears_when_the_last_is_there(
    proxy_and_bucket, monkeypatch
):
    monkeypatch.setattr(object_store, "_PART_BYTES", 5 * 2**20)
    proxy, bucket = proxy_and_bucket
    place, content, seen = bucket / "big", os.urandom(11 * 2**20), []

    def fault(method, path):
        if method == "PUT":
            seen.append(files.read_bytes(place))

    proxy.fault = fault
    files.put(place, content)
    assert seen == [None] * 3
    assert files.read_bytes(place) == content


@pytest.mark.parametrize("fault", ["slow down", "origin timed out", "reset", "lose answer"])
def test_whatever_fails_for_a_moment_is_done_again(proxy_and_bucket, fault, monkeypatch):
    monkeypatch.setattr(transient_errors, "_FIRST_PAUSE_SECONDS", 0.01)
    proxy, bucket = proxy_and_bucket
    numbers = iter(range(1_000))
    proxy.fault = lambda method, path: None if next(numbers) % 3 == 2 else fault
    files.check_writable(bucket / "x")
    files.put(bucket / "x/1.json", b"{}")
    assert files.put_if_absent(bucket / "x/2.json", b"{}")
    places = files.list_files(bucket / "x", ".json")
    assert [place.name for place in places] == ["1.json", "2.json"]
    assert [files.read_bytes(place) for place in places] == [b"{}", b"{}"]
    assert files.exists(places[0])
    files.remove(*places)
    assert files.stored_files(bucket) == []
    assert next(numbers) > 20


def test_a_store_that_stays_away_is_a_store_error_when_patience_is_over(proxy_and_bucket):
    proxy, bucket = proxy_and_bucket
    proxy.fault = lambda method, path: "slow down"
    with (
        retrying_for(0.3),
        pytest.raises(UnreachableError, match=r"cannot read s3://.*/x\?.*: .*503 SlowDown"),
    ):
        files.read_bytes(bucket / "x")
    tried = len(proxy.requests)
    assert tried > 1
    with retrying_for(0), pytest.raises(UnreachableError):
        files.put(bucket / "x", b"")
    assert len(proxy.requests) == tried + 1


def test_a_request_that_is_never_answered_is_given_up_and_made_again(
    proxy_and_bucket, monkeypatch, caplog
):
    monkeypatch.setitem(object_store._CLIENT_OPTIONS, "read_timeout", "1s")
    proxy, bucket = proxy_and_bucket
    faults = iter([6.0])
    proxy.fault = lambda method, path: next(faults, None)
    assert files.put_if_absent(bucket / "x", b"mine")
    assert files.read_bytes(bucket / "x") == b"mine"
    assert "the store does not answer; trying again" in caplog.text


ACTIONS = (
    lambda bucket: files.check_writable(bucket / "x"),
    lambda bucket: files.put(bucket / "x", b""),
    lambda bucket: files.put_if_absent(bucket / "x", b""),
    lambda bucket: files.read_bytes(bucket / "x"),
    lambda bucket: files.list_files(bucket, ""),
    lambda bucket: files.contents(bucket),
)


@pytest.mark.parametrize("action", [*ACTIONS[1:], lambda bucket: files.remove(bucket / "x")])
def test_a_missing_permission_is_reported_at_once_and_shows_nothing_of_the_answer(
    proxy_and_bucket, action
):
    proxy, bucket = proxy_and_bucket
    proxy.fault = lambda method, path: "forbidden"
    with pytest.raises(StoreError, match="do not allow it") as raised:
        action(bucket)
    assert len(proxy.requests) == 1
    assert raised.value.__cause__ is raised.value.__context__ is None
    assert KEY not in str(raised.value)
    assert SECRET not in str(raised.value)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_bucket_that_does_not_exist_is_reported_by_every_function(s3_service, action):
    bucket = parse_place(f"s3://absent?scheme=http&endpoint_override={s3_service}")
    with pytest.raises(StoreError, match=r"cannot .* s3://absent.*there is no such bucket"):
        action(bucket)


def test_missing_credentials_of_a_node_are_reported(s3_service, monkeypatch):
    bucket = parse_place(f"s3://private?scheme=http&endpoint_override={s3_service}")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(StoreError, match=r"Missing AccessKeyId \(how nodes get"):
        files.read_bytes(bucket / "x")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9/169.254.169.254")
    with pytest.raises(StoreError, match="no credentials on this node"):
        files.read_bytes(bucket / "x")


def test_a_store_that_ignores_conditions_is_refused_before_anything_runs(proxy_and_bucket):
    proxy, bucket = proxy_and_bucket
    files.check_writable(bucket / "study")
    assert files.list_files(bucket / "study", "") == []
    real = proxy.RequestHandlerClass

    class Forgetful(real):
        def handle_one(self):
            del self.headers["If-None-Match"]
            super().handle_one()

        do_PUT = do_POST = do_GET = do_DELETE = handle_one

    proxy.RequestHandlerClass = Forgetful
    other = parse_place(f"{bucket}&region=eu-west-1")  # a client, and so a connection, of its own
    with pytest.raises(StoreError, match="ignores `If-None-Match"):
        files.check_writable(other / "study")


def test_a_thousand_objects_are_deleted_by_one_request(proxy_and_bucket):
    proxy, bucket = proxy_and_bucket
    places = [bucket / f"search=a+{index:04}" for index in range(20)]
    list(files.each(lambda place: files.put(place, b""), places))
    proxy.fault = lambda method, path: "forbidden"
    with pytest.raises(StoreError, match=r"cannot delete .*do not allow it"):
        files.remove(*places)
    proxy.fault = lambda method, path: None
    proxy.requests.clear()
    files.remove(*places, *(bucket / f"absent{index}" for index in range(1000)))
    assert [method for method, _ in proxy.requests] == ["POST", "POST"]
    assert files.list_files(bucket, "") == []
    files.remove()


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("s3://bucket/x?colour=red", "settings endpoint_override, region and .*, and no 'colour'"),
        ("gs://bucket/x?region=y", "settings endpoint_override and scheme .*, and no 'region'"),
        ("s3://bucket/x?scheme=ftp", r"scheme \(http or https\), and no 'ftp'"),
        *((uri, "the URI needs a bucket, as in s3://") for uri in ("s3:///x", "gcs:///x")),
        ("abfs://container/x", "or a container and its account, as in abfs://container@account"),
        ("az://account@container/x", "or a container and its account"),
        ("hdfs://host:8020/x", "no store for hdfs:// URIs; known: s3, abfs, abfss, az, gs, gcs,"),
    ],
)
def test_a_uri_that_names_no_store_is_refused(uri, reason, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(PlaceError, match=reason):
        files.read_bytes(parse_place(uri))


def test_what_is_asked_for_stands_in_the_uri_or_in_the_environment(monkeypatch, tmp_path):
    for scheme in ("abfs", "abfss", "az"):
        config = open_client(scheme, ABFS, "").config
        assert (config["account_name"], config["container_name"]) == ("account", "container")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "mine")
    assert open_client("az", "container", "").config["container_name"] == "container"
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", "token")
    for scheme in ("gs", "gcs"):
        assert open_client(scheme, "mine", "").config["bucket"] == "mine"
    monkeypatch.delenv("GOOGLE_BEARER_TOKEN")
    key = tmp_path / "key.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key))
    for words in ("open service account file", "decode service account file"):
        with pytest.raises(StoreError, match=rf"/x: Unable to {words} \(how nodes") as raised:
            files.read_bytes(parse_place("gs://bucket-without-credentials/x"))
        key.write_text('{"type": "hunter2"}')
    assert "hunter2" not in str(raised.value)


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
        ("status code: 404: <Code>ContainerNotFound</Code>", False, "no such bucket"),
        ("status code: 403: <Code>AuthorizationFailure</Code>", False, "403 AuthorizationFailure"),
        ("HTTP error: Os { code: 111, kind: ConnectionRefused }", True, "does not answer"),
        ("GET http://169.254.169.254/metadata/identity: HTTP error", False, "no credentials"),
        ("GET http://metadata.google.internal/computeMetadata: HTTP", False, "no credentials"),
    ],
)
def test_what_may_be_over_in_a_moment_is_told_by_the_answer(problem, is_transient, reason):
    kind, told = reason_of(problem, has_answered=False)
    assert reason in told
    assert (kind is UnreachableError) == is_transient


def test_missing_room_for_copies_is_reported_and_no_file_is_called_damaged(bucket, monkeypatch):
    place = bucket / "full.parquet"
    files.put(place, bytes(100_000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(StoreError, match=r"cannot write .*podium-copies.*: File too large"):
            verified(place)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with pytest.raises(CorruptFileError, match="not a readable Parquet file"):
        verified(place)
    with monkeypatch.context() as patch:
        patch.setattr(copies_module, "_folder", copies_module._folder.__wrapped__)
        patch.setattr(tempfile, "tempdir", "/nonexistent/podium")
        with pytest.raises(StoreError, match=r"cannot copy s3://.*: No such file"):
            verified(place)


def test_copies_are_fetched_once_in_parallel_and_private(s3_service, tmp_path):
    with proxied(s3_service) as (proxy, bucket):
        places = [bucket / f"{number}.parquet" for number in range(20)]
        for place in places:
            files.put(place, place.name.encode())
        proxy.requests.clear()
        copies = local_copies(places)
        assert [copy.read_text() for copy in copies] == [place.name for place in places]
        assert local_copies([*places, *places]) == copies * 2
        assert len(proxy.requests) == len(places)
        assert copies[0].parent.stat().st_mode & 0o077 == 0
        # What is missing is left for its reader to report.
        assert not local_copies([bucket / "none.parquet"])[0].exists()
    assert local_copies([tmp_path / "absent"]) == [tmp_path / "absent"]
