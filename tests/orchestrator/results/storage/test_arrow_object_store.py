"""Stores of pyarrow, by its file systems of this machine."""

from pyarrow.fs import LocalFileSystem

from orchestrator.results.storage import files
from orchestrator.results.storage.arrow_object_store import ArrowFiles
from orchestrator.results.storage.locations import parse_place
from orchestrator.results.storage.object_store import BackendError


def test_what_was_written_before_the_store_went_away_is_ours(monkeypatch, short_pauses):
    place, real, faults = parse_place("mock:///lost-answer/x"), ArrowFiles._content, [1]

    def content(store, key):
        if faults:
            faults.pop()
            raise BackendError("timeout", is_transient=True)
        return real(store, key)

    monkeypatch.setattr(ArrowFiles, "_content", content)
    assert files.put_if_absent(place, b"mine")
    assert faults == []
    assert not files.put_if_absent(place, b"mine")  # the same bytes are not the same call
    assert not files.put_if_absent(place, b"other")
    assert files.read_bytes(place) == b"mine"


def test_what_another_wrote_while_the_store_was_away_is_not_ours(monkeypatch, short_pauses):
    place, real, faults = parse_place("mock:///other-writer/x"), ArrowFiles.write, [1]

    def write(store, key, content):
        if faults:
            faults.pop()
            real(store, key, b"other")
            raise BackendError("timeout", is_transient=True)
        real(store, key, content)

    monkeypatch.setattr(ArrowFiles, "write", write)
    assert not files.put_if_absent(place, b"mine")
    assert files.read_bytes(place) == b"other"


def test_keys_of_a_file_system_that_begins_at_its_root_are_absolute(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "home")
    store, key = ArrowFiles(LocalFileSystem(), "/"), f"{tmp_path}/study".strip("/")
    store.write(f"{key}/x.json", b"{}")
    assert (tmp_path / "study" / "x.json").read_bytes() == b"{}"
    assert list((tmp_path / "home").iterdir()) == []
    assert store.listing(key, deep=False).sizes == {f"{key}/x.json": 2}
    assert f"{key}/x.json" in store.listing(key, deep=True).sizes
    assert [*store.listing(str(tmp_path).strip("/"), deep=False).folders] == [
        f"{tmp_path}/home".strip("/"),
        key,
    ]


def test_a_folder_that_is_deleted_is_gone_where_there_are_folders():
    below = parse_place("mock:///folders")
    files.put(below / "checkpoints" / "t0" / "state.pt", b"state")
    files.put(below / "checkpoints" / "t1" / "state.pt", b"state")
    files.remove_folder(below / "checkpoints" / "t0")
    files.remove_folder(below / "checkpoints" / "absent")
    assert files.list_folders(below / "checkpoints") == [below / "checkpoints" / "t1"]
