"""What verify says of copies of code that were changed, moved or removed."""

import json

import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_study
from orchestrator.results.storage.checksummed_text import write_checksummed
from orchestrator.verify.verify_store import verify_store
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


def problems(paths):
    return "\n".join(map(str, verify_store(paths.folder).problems))


def test_a_sound_copy_needs_no_code_on_this_machine(store):
    paths, _, _ = store
    found = verify_store(paths.folder)
    assert found.problems == []
    assert found.checked["copies of code"] == 2


def test_a_changed_copy_is_named(store):
    paths, fingerprint, own = store
    (paths.code_folder(fingerprint) / own.helper.name).write_text("SCALE = 3\n")
    assert f"{own.helper.name}: a copy of code must have the SHA-256" in problems(paths)


def test_a_missing_copy_is_named(store):
    paths, fingerprint, own = store
    (paths.code_folder(fingerprint) / own.loss.name).unlink()
    assert f"{own.loss.name}: a copy of code must have" in problems(paths)
    assert "it is missing" in problems(paths)


def test_a_link_in_place_of_a_copy_is_named(store, tmp_path):
    paths, fingerprint, own = store
    copy = paths.code_folder(fingerprint) / own.helper.name
    copy.unlink()
    copy.symlink_to(own.helper)
    assert own.helper.name in problems(paths)


def test_a_missing_record_is_named(store):
    paths, fingerprint, own = store
    paths.code_record(fingerprint).unlink()
    assert f"the record of the code of {own.path} is missing" in problems(paths)


def test_a_record_of_other_code_is_named(store):
    paths, fingerprint, own = store
    record = paths.code_record(fingerprint)
    write_checksummed(record, {"files": {own.loss.name: "0" * 64}, "packages": {}})
    assert f"must be the record of the code of {own.path}" in problems(paths)


@pytest.mark.parametrize("name", ["../../own.py", "/etc/passwd", "a//b.py", ".hidden", "a/../b"])
def test_a_record_that_leads_out_of_its_folder_is_refused(store, name):
    paths, fingerprint, _ = store
    write_checksummed(paths.code_record(fingerprint), {"files": {name: "0" * 64}, "packages": {}})
    assert "is not a record of code: it names" in problems(paths)


@pytest.mark.parametrize("values", [{}, {"files": [], "packages": {}}, {"files": {}}, {"x": 1}])
def test_a_record_of_another_form_is_refused(store, values):
    paths, fingerprint, _ = store
    paths.code_record(fingerprint).write_text(json.dumps(values))
    assert "is not a record of code" in problems(paths)
