"""Copies of code that were changed, moved or removed."""

import pytest

from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_provenance, read_study
from podium.orchestrator.results.storage.checksummed_text import write_checksummed
from podium.orchestrator.verify.verify_store import verify_store
from tests.orchestrator.damaged_stores import copy_of, problems
from tests.orchestrator.own_code import OwnCode
from tests.orchestrator.small_study import run_here


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A results folder with a copy of own code, which is not on this machine any more."""
    storage = tmp_path_factory.mktemp("storage")
    own = OwnCode(tmp_path_factory.mktemp("code"))
    with pytest.MonkeyPatch.context() as with_code:
        with_code.syspath_prepend(own.helper.parent)
        run_here(own.study(), storage)
    found = verify_store(storage / "own")
    assert (found.problems, found.checked["copies of code"]) == ([], 2)
    return StudyPaths(storage / "own"), own


@pytest.mark.parametrize("damage", ["changed", "missing", "a link"])
def test_a_damaged_copy_is_named(sound, tmp_path, damage):
    paths, own = copy_of(sound[0], tmp_path), sound[1]
    (fingerprint,) = read_study(paths)["code"].values()
    copy = paths.code_folder(fingerprint) / own.helper.name
    copy.unlink()
    if damage == "changed":
        copy.write_text("SCALE = 3\n")
    elif damage == "a link":
        copy.symlink_to(own.helper)
    found = problems(paths.folder)
    assert own.helper.name in found
    assert ("is not the copy of the code that was recorded" in found) == (damage != "a link")


OUTSIDE = ("../../own.py", "/etc/passwd", "a//b.py", ".hidden", "a/../b")


@pytest.mark.parametrize(
    ("recorded", "told"),
    [
        (None, "must tell of the code of {0} with the SHA-256"),
        ([], "is damaged at code"),
        ({}, "is damaged at code"),
        ({"files": {}, "packages": {}}, "is damaged at code"),
        *(({"fingerprint": "a", "files": [it], "packages": {}}, "at code") for it in OUTSIDE),
    ],
)
def test_a_record_that_is_missing_of_another_form_or_leads_elsewhere_is_named(
    sound, tmp_path, recorded, told
):
    paths, own = copy_of(sound[0], tmp_path), sound[1]
    values = read_provenance(paths)
    values["code"] = {} if recorded is None else {own.path: recorded}
    write_checksummed(paths.provenance, values)
    assert told.format(own.path) in problems(paths.folder)
