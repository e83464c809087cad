"""A disk that is away for a moment, for long, or for ever."""

import errno
import logging
import os
import time
from pathlib import Path

import pytest

from podium.errors import StoreError, UnreachableError
from podium.orchestrator.results.storage import files
from podium.orchestrator.results.storage.transient_errors import retrying_for
from tests.orchestrator.results.failing_calls import fail_calls, system_error

pytestmark = pytest.mark.usefixtures("short_pauses")
ALWAYS = 10_000


@pytest.fixture
def path(tmp_path):
    (tmp_path / "x").touch()
    return tmp_path / "x"


@pytest.mark.parametrize("error", [errno.ESTALE, errno.EIO, errno.ETIMEDOUT, errno.ENOTCONN])
@pytest.mark.parametrize("name", ["open", "replace", "mkdir"])
def test_a_folder_that_is_away_for_a_moment_is_written_in_the_end(
    tmp_path, monkeypatch, name, error
):
    left = fail_calls(monkeypatch, Path, name, system_error(error), 3)
    files.put(tmp_path / "new" / "x", b"content")
    assert left == [0]
    assert files.read_bytes(tmp_path / "new" / "x") == b"content"
    assert [*(tmp_path / "new").iterdir()] == [tmp_path / "new" / "x"]


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Path, "open"), (Path, "hardlink_to"), (os, "fsync"), (Path, "unlink")],
)
def test_the_first_commit_learns_that_it_won_whatever_failed_on_the_way(
    tmp_path, monkeypatch, owner, name
):
    with monkeypatch.context() as patch:
        left = fail_calls(patch, owner, name, system_error(errno.ESTALE), 1)
        assert files.put_if_absent(tmp_path / "x", b"mine")
        assert left == [0]
    assert not files.put_if_absent(tmp_path / "x", b"other")
    files.remove_temporaries(tmp_path)  # of which one could not be deleted
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_link_that_was_made_although_it_seemed_to_fail_is_ours(tmp_path, monkeypatch):
    real, answers = Path.hardlink_to, iter([OSError(errno.ETIMEDOUT, "timed out")])

    def made_in_vain(self, target):
        real(self, target)
        for error in answers:
            raise error

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


def test_all_operations_of_a_block_have_one_limit_and_the_first_that_waits_says_so(
    path, monkeypatch, caplog
):
    fail_calls(monkeypatch, os, "open", system_error(errno.ESTALE), ALWAYS)
    started = time.monotonic()
    with caplog.at_level(logging.WARNING, "podium.store"), retrying_for(0.1):
        for _ in range(5):
            with pytest.raises(UnreachableError, match=r"read .*/x: Stale"), retrying_for(10):
                files.read_bytes(path)
    assert 0.1 <= time.monotonic() - started < 0.3  # without the limit it would be 120
    (said,) = caplog.messages
    assert "trying again for up to 0.1 s" in said
