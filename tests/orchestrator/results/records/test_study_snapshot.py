from dataclasses import replace

import pytest

from podium.errors import CorruptFileError, PodiumError
from podium.orchestrator.results.records.metric_columns import RECALL
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import (
    check_readable,
    read_provenance,
    read_store,
    read_study,
    write_snapshot_files,
)
from podium.orchestrator.results.records.trial_schema import SCHEMA_VERSION
from podium.orchestrator.results.storage.checksummed_text import (
    write_checksummed,
)
from podium.orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.results.store_rows import NAME, PROVENANCE, STORE, WIDE, new_store

STUDY = {"name": NAME, "ks": (1, 2), "search": {"trials": 3, "lr": 1e-05}, "größe": None}


def freeze(paths, store=STORE, study=STUDY):
    write_snapshot_files(paths, store, study=study, provenance=PROVENANCE)


def test_study_and_provenance_come_back_with_lists_for_tuples(tmp_path):
    paths = StudyPaths(tmp_path / NAME)
    assert read_study(paths) is None
    assert read_provenance(paths) is None
    freeze(paths)
    assert read_study(paths) == {**STUDY, "ks": [1, 2]}
    assert list(read_study(paths)) == list(STUDY)
    assert read_provenance(paths) == {"study": NAME, **PROVENANCE}
    assert Reader(paths.folder).study() == read_study(paths)
    assert Reader(paths.folder).provenance() == read_provenance(paths)


@pytest.mark.parametrize("store", [STORE, WIDE, replace(STORE, ks=(4,), hyperparameters={})])
def test_the_columns_come_back(tmp_path, store):
    paths = new_store(tmp_path, store)
    assert read_store(paths) == store
    assert read_store(paths).schema.equals(store.schema, check_metadata=True)


def test_a_new_folder_is_of_any_study_and_a_grown_study_replaces_its_snapshot(tmp_path):
    check_readable(StudyPaths(tmp_path / NAME), "any")
    assert not (tmp_path / NAME).exists()
    paths = new_store(tmp_path)
    freeze(paths, WIDE, {**STUDY, "more": 1})
    assert read_store(paths) == WIDE
    assert read_study(paths)["more"] == 1


def test_a_folder_of_another_study_is_refused_by_both_names(tmp_path):
    paths = new_store(tmp_path)
    before = paths.study.read_bytes()
    message = r"holds results of the study 'tiny', not of 'other'"
    with pytest.raises(PodiumError, match=message):
        check_readable(paths, "other")
    with pytest.raises(PodiumError, match=message):
        freeze(paths, replace(STORE, study="other"))
    assert paths.study.read_bytes() == before


def test_a_folder_that_is_no_results_folder_is_refused(tmp_path):
    with pytest.raises(PodiumError, match=r"is not a results folder of podium: it has no"):
        Reader(tmp_path)
    with pytest.raises(PodiumError, match="nothing has run there yet"):
        read_store(StudyPaths(tmp_path / "missing"))


def test_the_study_is_written_last_so_a_killed_snapshot_is_no_start(tmp_path):
    paths = StudyPaths(tmp_path / NAME)
    with pytest.raises(ValueError, match="not JSON compliant"):
        freeze(paths, study={"lr": float("nan")})
    assert read_store(paths).study == NAME
    assert read_study(paths) is None
    with pytest.raises(PodiumError, match=r"study\.json is missing: the study never started"):
        Reader(paths.folder).study()


@pytest.mark.parametrize(
    ("file", "read"), [("study.json", read_study), ("provenance.json", read_provenance)]
)
def test_damaged_files_are_named(tmp_path, file, read):
    paths = new_store(tmp_path)
    (paths.folder / file).write_text("{")
    with pytest.raises(CorruptFileError, match=rf"{file} was changed after it was written, or is"):
        read(paths)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, r"store\.json is no store of trials: ks: Field required"),
        ({"ks": [0]}, r" ks\.0: Input should be greater than 0; got 0"),
        (
            {"ks": [1], "metrics": [RECALL._asdict()], "hyperparameters": {"a": "blob"}},
            r" hyperparameters\.a: .* got 'blob'",
        ),
        ({"ks": [1], "hyperparameters": {}, "metrics": [{"name": "a b"}]}, r" metrics\.0\.name"),
        ({"schema_version": 99}, "version 99 of the results schema; .* reads"),
    ],
)
def test_a_damaged_or_newer_store_file_is_refused(tmp_path, values, message):
    paths = new_store(tmp_path)
    store = {"study": "tiny", "schema_version": SCHEMA_VERSION}
    write_checksummed(paths.store, {**store, **values})
    with pytest.raises(PodiumError, match=message):
        Reader(paths.folder)
    paths.store.write_text('{"study": "tiny"')
    with pytest.raises(PodiumError, match=r"store\.json was changed"):
        Reader(paths.folder)
