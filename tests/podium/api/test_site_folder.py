"""What podium wrote may be replaced and deleted; what others wrote stays."""

import json
import signal
import subprocess
import sys

import pytest

from podium.api.site_folder import GUARD, SiteFolder
from podium.errors import CorruptFileError, LockHeldError, PodiumError, StoreError


def publish(folder, files):
    with SiteFolder.open(folder) as site:
        for path, text in files.items():
            site.add(path, text.encode())
        return site.publish({"of": sorted(files)})


def names_in(folder):
    files = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    return sorted(name for name in files if name != GUARD)


def opened(folder):
    with SiteFolder.open(folder) as site:
        return site


def test_a_new_version_writes_what_differs_and_deletes_what_is_gone(tmp_path):
    first = publish(tmp_path, {"index.html": "1", "studies/a.html": "a", "studies/b c.html": "b"})
    assert first.written == ("index.html", "studies/a.html", "studies/b c.html")
    second = publish(tmp_path, {"index.html": "2", "studies/a.html": "a"})
    assert (second.written, second.kept) == (("index.html",), ("studies/a.html",))
    assert second.removed == ("studies/b c.html",)
    assert publish(tmp_path, {"index.html": "2"}).removed == ("studies/a.html",)
    assert names_in(tmp_path) == ["index.html", "site.json"]
    assert not (tmp_path / "studies").exists()


def test_a_folder_with_files_and_no_manifest_is_refused_as_it_is(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(PodiumError, match=r"holds thesis\.tex and no site\.json"):
        opened(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_hidden_files_such_as_those_of_git_are_no_reason_to_refuse(tmp_path):
    (tmp_path / ".nojekyll").touch()
    publish(tmp_path, {"index.html": "1"})
    assert names_in(tmp_path) == [".nojekyll", "index.html", "site.json"]


def test_a_file_of_somebody_in_the_way_is_not_replaced(tmp_path):
    publish(tmp_path, {"index.html": "1"})
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "a.html").write_text("mine")
    with pytest.raises(PodiumError, match=r"a\.html is in the way"):
        publish(tmp_path, {"index.html": "2", "studies/a.html": "a"})
    assert (tmp_path / "index.html").read_text() == "1"
    assert (tmp_path / "studies" / "a.html").read_text() == "mine"


def test_a_page_that_somebody_changed_is_replaced_but_not_deleted(tmp_path):
    files = {"index.html": "1", "studies/a.html": "a"}
    publish(tmp_path, files)
    (tmp_path / "studies" / "a.html").write_text("mine")
    assert publish(tmp_path, {"index.html": "1"}).removed == ()
    assert (tmp_path / "studies" / "a.html").read_text() == "mine"
    (tmp_path / "index.html").write_text("edited")
    assert publish(tmp_path, {"index.html": "1"}).written == ("index.html",)


def test_a_version_that_is_not_published_changes_nothing(tmp_path):
    publish(tmp_path, {"index.html": "1"})
    with SiteFolder.open(tmp_path) as site:
        site.add("index.html", b"2")
    assert (tmp_path / "index.html").read_text() == "1"
    assert publish(tmp_path, {"index.html": "3"}).written == ("index.html",)
    assert names_in(tmp_path) == ["index.html", "site.json"]


KILLED = """
import os, signal, sys
from pathlib import Path
from podium.api.site_folder import SiteFolder
with SiteFolder.open(Path(sys.argv[1])) as site:
    site.add("index.html", b"2")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_that_is_killed_leaves_the_old_site_and_does_not_block_the_next(tmp_path):
    publish(tmp_path, {"index.html": "1"})
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path]).returncode == -signal.SIGKILL
    assert (tmp_path / "index.html").read_text() == "1"
    assert publish(tmp_path, {"index.html": "3"}).written == ("index.html",)
    assert names_in(tmp_path) == ["index.html", "site.json"]


def test_of_two_writers_at_once_the_second_is_refused_and_the_first_not_disturbed(tmp_path):
    with SiteFolder.open(tmp_path) as first:
        first.add("index.html", b"1")
        with pytest.raises(LockHeldError, match="is being written by another podium site"):
            opened(tmp_path)
        assert first.publish({}).written == ("index.html",)
    assert publish(tmp_path, {"index.html": "2"}).written == ("index.html",)


def test_an_index_is_replaced_after_what_it_links_to_and_before_anything_is_deleted(tmp_path):
    publish(tmp_path, {"index.html": "1", "studies/a.html": "a"})
    with SiteFolder.open(tmp_path) as site:
        for path in ("index.html", "leaderboards/b.html", "studies/b.html"):
            site.add(path, b"2")
        (tmp_path / "studies" / "b.html").mkdir()  # so that publishing ends half-way
        with pytest.raises(StoreError, match="cannot write in"):
            site.publish({})
    assert (tmp_path / "leaderboards" / "b.html").read_text() == "2"
    assert (tmp_path / "index.html").read_text() == "1"
    assert (tmp_path / "studies" / "a.html").read_text() == "a"
    (tmp_path / "studies" / "b.html").rmdir()
    assert publish(tmp_path, {"index.html": "3"}).removed == (
        "leaderboards/b.html",
        "studies/a.html",
    )


def test_what_a_version_was_made_from_is_there_next_time(tmp_path):
    publish(tmp_path, {"index.html": "1"})
    assert opened(tmp_path).memory == {"of": ["index.html"]}


def test_files_are_kept_together_and_only_as_they_were_written(tmp_path):
    publish(tmp_path, {"studies/a.html": "a", "studies/b.html": "b"})
    with SiteFolder.open(tmp_path) as site:
        assert site.keep(["studies/a.html"])
        (tmp_path / "studies" / "b.html").write_text("mine")
        assert not site.keep(["studies/a.html", "studies/b.html"])
        assert not site.keep(["studies/c.html"])
        assert set(site.files) == {"studies/a.html"}


@pytest.mark.parametrize("path", ["../thesis.tex", "/etc/passwd", "data/x/../../y.parquet", "x"])
def test_a_manifest_that_leads_elsewhere_is_refused(tmp_path, path):
    publish(tmp_path, {"index.html": "1"})
    manifest = tmp_path / "site.json"
    manifest.write_text(json.dumps({"files": {path: "0" * 64}}))
    with pytest.raises(CorruptFileError, match=r"site\.json is not the list of a site's files"):
        opened(tmp_path)


def test_a_manifest_that_was_changed_is_refused(tmp_path):
    publish(tmp_path, {"index.html": "1"})
    manifest = tmp_path / "site.json"
    manifest.write_text(manifest.read_text().replace("index.html", "studies/index.html"))
    with pytest.raises(CorruptFileError, match="does not match its SHA-256"):
        opened(tmp_path)
