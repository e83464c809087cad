"""Copies of code that were changed, moved or removed."""

import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_provenance, read_study
from orchestrator.results.storage.checksummed_text import write_checksummed
from orchestrator.verify.verify_store import verify_store
from tests.orchestrator.damaged_stores import problems
from tests.orchestrator.own_code import OwnCode
from tests.orchestrator.small_study import run_here


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A results folder with a copy of own code, which is not on this machine any more."""
    code = tmp_path / "code"
    code.mkdir()
    own = OwnCode(code)
    with monkeypatch.context() as with_code:
        with_code.syspath_prepend(code)
        run_here(own.study(), tmp_path)
    paths = StudyPaths(tmp_path / "own")
    (fingerprint,) = read_study(paths)["code"].values()
    return paths, fingerprint, own


def test_a_sound_copy_needs_no_code_on_this_machine(store):
    paths, _, _ = store
    found = verify_store(paths.folder)
    assert found.problems == []
    assert found.checked["copies of code"] == 2


@pytest.mark.parametrize("damage", ["changed", "missing", "a link"])
def test_a_damaged_copy_is_named(store, damage):
    paths, fingerprint, own = store
    copy = paths.code_folder(fingerprint) / own.helper.name
    copy.unlink()
    if damage == "changed":
        copy.write_text("SCALE = 3\n")
    elif damage == "a link":
        copy.symlink_to(own.helper)
    found = problems(paths.folder)
    assert own.helper.name in found
    assert ("is not the copy of the code that was recorded" in found) == (damage != "a link")


def rewritten(paths, change):
    values = read_provenance(paths)
    change(values["code"])
    write_checksummed(paths.provenance, values)


def test_a_missing_record_is_named(store):
    paths, fingerprint, own = store
    rewritten(paths, lambda code: code.clear())
    assert f"the code of {own.path} with the SHA-256 {fingerprint}" in problems(paths.folder)


RECORDS = ({}, {"files": {}, "packages": {}}, {"files": []}, [])
NAMES = ("../../own.py", "/etc/passwd", "a//b.py", ".hidden", "a/../b")


@pytest.mark.parametrize("values", [*RECORDS, *NAMES])
def test_a_record_of_another_form_or_that_leads_out_of_its_folder_is_refused(store, values):
    paths, _, own = store
    is_name = isinstance(values, str)
    rewritten(
        paths,
        lambda code: code.update(
            {own.path: {**code[own.path], "files": [values]} if is_name else values}
        ),
    )
    assert "is damaged at code" in problems(paths.folder)
