"""Any change of a folder changes its hash, and nothing else does."""

import shutil

import pytest

from orchestrator.results.storage.content_digest import content_digest
from orchestrator.results.storage.files import put


@pytest.fixture
def folder(tmp_path):
    for name, content in (("a.json", b"1"), ("trials/b.parquet", b"2"), ("trials/c", b"")):
        put(tmp_path / "study" / name, content)
    return tmp_path / "study"


CHANGES = {
    "content": lambda folder: (folder / "a.json").write_bytes(b"2"),
    "name": lambda folder: (folder / "a.json").rename(folder / "b.json"),
    "missing": lambda folder: (folder / "trials" / "c").unlink(),
    "swapped": lambda folder: (
        (folder / "a.json").write_bytes(b"2"),
        (folder / "trials" / "b.parquet").write_bytes(b"1"),
    ),
    "folder": lambda folder: (folder / "empty").mkdir(),
    "link": lambda folder: (folder / "link").symlink_to("a.json"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_changes_it(folder, change):
    before = content_digest(folder)
    change(folder)
    assert content_digest(folder) != before


def test_it_depends_on_nothing_but_the_content(folder, tmp_path, memory_bucket):
    before = content_digest(folder)
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "a.json").touch()
    assert content_digest(copy) == before
