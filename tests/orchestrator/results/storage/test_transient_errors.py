import errno
import logging
import os
import threading
import time
from pathlib import Path

import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage import files
from orchestrator.results.storage.files import refuse_links
from orchestrator.results.storage.transient_errors import retrying_for
from podium.errors import CorruptFileError, StoreError, UnreachableError
from tests.orchestrator.results.failing_calls import fail_calls, system_error

pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.mark.parametrize("error", [errno.ESTALE, errno.EIO, errno.ETIMEDOUT, errno.ENOTCONN])
@pytest.mark.parametrize("name", ["open", "replace", "mkdir"])
def test_a_folder_that_is_away_for_a_moment_is_written_in_the_end(
    tmp_path, monkeypatch, name, error
):
    left = fail_calls(monkeypatch, Path, name, system_error(error), 3)
    files.put(tmp_path / "new" / "x", b"content")
    assert left == [0]
    assert files.read_bytes(tmp_path / "new" / "x") == b"content"
    assert files.list_names(tmp_path / "new", "") == ["x"]
    assert len(list((tmp_path / "new").iterdir())) == 1


@pytest.mark.parametrize(("owner", "name"), [(Path, "open"), (Path, "hardlink_to"), (os, "fsync")])
def test_the_first_commit_learns_that_it_won_whatever_failed_on_the_way(
    tmp_path, monkeypatch, owner, name
):
    with monkeypatch.context() as patch:
        left = fail_calls(patch, owner, name, system_error(errno.ESTALE), 1)
        assert files.put_if_absent(tmp_path / "x", b"mine")
        assert left == [0]
    assert not files.put_if_absent(tmp_path / "x", b"other")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_link_that_was_made_although_it_seemed_to_fail_is_ours(tmp_path, monkeypatch):
    real = Path.hardlink_to

    def made_in_vain(self, target, calls=[]):  # noqa: B006
        real(self, target)
        if not calls:
            calls.append(1)
            raise OSError(errno.ETIMEDOUT, "timed out")

    monkeypatch.setattr(Path, "hardlink_to", made_in_vain)
    assert files.put_if_absent(tmp_path / "x", b"mine")
    assert not files.put_if_absent(tmp_path / "x", b"mine")


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_an_error_that_will_not_pass_is_raised_at_once(tmp_path, monkeypatch, error):
    left = fail_calls(monkeypatch, Path, "open", system_error(error), 5)
    with pytest.raises(StoreError, match=os.strerror(error)) as raised:
        files.put(tmp_path / "x", b"")
    assert left == [4]
    assert not isinstance(raised.value, UnreachableError)


def test_retries_end_and_an_outage_is_reported_once(tmp_path, monkeypatch, caplog):
    fail_calls(monkeypatch, os, "open", system_error(errno.ESTALE), 10_000)
    started = time.monotonic()
    with (
        caplog.at_level(logging.WARNING, "podium.store"),
        retrying_for(0.2),
        pytest.raises(UnreachableError, match=r"cannot read .*/x: Stale"),
    ):
        files.read_bytes(tmp_path / "x")
    assert 0.2 <= time.monotonic() - started < 30  # without the limit it would be 120
    (said,) = caplog.messages
    assert "trying again for up to 0.2 s" in said


def test_a_thread_that_does_not_wait_leaves_the_report_to_those_that_do(
    tmp_path, monkeypatch, caplog
):
    left = fail_calls(monkeypatch, os, "open", system_error(errno.ESTALE), 10_000)
    waiting = threading.Thread(target=files.read_bytes, args=(tmp_path / "x",))
    with caplog.at_level(logging.WARNING, "podium.store"):
        waiting.start()
        while not caplog.messages:
            time.sleep(0.001)
        with retrying_for(0), pytest.raises(UnreachableError):
            files.read_bytes(tmp_path / "x")
        before = left[0]
        while left[0] > before - 2:  # it fails again, and says nothing
            time.sleep(0.001)
        left[0] = 0
        waiting.join()
    away, again = caplog.messages
    assert "trying again" in away
    assert again == "the results store responds again"


def test_a_commit_in_force_is_known_although_its_temporary_file_cannot_be_deleted(
    tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        left = fail_calls(patch, Path, "unlink", system_error(errno.ESTALE), 1)
        assert files.put_if_absent(tmp_path / "x", b"mine")
        assert left == [0]
    assert not files.put_if_absent(tmp_path / "x", b"mine")
    files.remove_temporaries(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_all_operations_of_a_block_have_one_limit(tmp_path, monkeypatch):
    fail_calls(monkeypatch, os, "open", system_error(errno.ESTALE), 10_000)
    started = time.monotonic()
    with retrying_for(0.1):
        for _ in range(5):
            with pytest.raises(UnreachableError), retrying_for(10):
                files.read_bytes(tmp_path / "x")
    assert time.monotonic() - started < 0.3


def test_links_are_looked_for_when_the_folder_is_back(tmp_path, monkeypatch):
    paths = StudyPaths(tmp_path)
    (tmp_path / "models").symlink_to(tmp_path / "elsewhere")
    left = fail_calls(monkeypatch, os, "scandir", system_error(errno.ESTALE), 3)
    with pytest.raises(CorruptFileError, match="is a symbolic link"):
        refuse_links(paths.folder, deep=True)
    assert left == [0]


def test_the_patience_of_one_thread_is_not_that_of_others(tmp_path, monkeypatch):
    (tmp_path / "x").touch()
    fail_calls(monkeypatch, os, "open", system_error(errno.ESTALE), 3)
    found = []
    with retrying_for(0):
        thread = threading.Thread(target=lambda: found.append(files.read_bytes(tmp_path / "x")))
        thread.start()
        thread.join()
    assert found == [b""]
