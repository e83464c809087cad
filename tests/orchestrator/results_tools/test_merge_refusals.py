"""What may not be merged, each with its reason; and merges that die."""

from pathlib import Path

import polars as pl
import pytest

from orchestrator.results.locks.study_lock import StudyLock
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_study
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools.merge_studies import merge_studies
from orchestrator.run.snapshot_study import check_startable
from orchestrator.study.resolved_study import study_from_resolved
from podium.errors import PodiumError, StoreError
from tests.analysis.synthetic_study import write_store
from tests.orchestrator.merged_stores import (
    LOSSES,
    change_rows,
    change_study,
    part,
    refusal,
    trials,
    two_stores,
)
from tests.orchestrator.results.store_rows import change_json


@pytest.fixture
def two(tmp_path):
    return two_stores(tmp_path)


def test_one_trial_with_other_numbers_is_refused_and_named(tmp_path):
    ours, theirs = (write_store(tmp_path / name, part(*LOSSES[:2])) for name in ("a", "b"))
    trial = trials(theirs).filter(pl.col("state") == "COMPLETE")["trial_id"][0]
    change_rows(theirs, "objective", 0.123, where=lambda row: row["trial_id"] == trial)
    told = refusal([ours, theirs], tmp_path / "both")
    assert f"trial {trial} of search" in told
    assert "(objective)" in told


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("test_hash", "the test classes or images differ"),
        ("protocol_hash", "the training and validation classes differ"),
        ("weights", "the weights of the network differ"),
    ],
)
def test_other_data_are_refused(two, tmp_path, column, message):
    def where(row):
        return row["dataset"] == "glyphs-greek" and row["stage"] != "baseline"

    change_rows(two[1], column, "another", where=where)
    told = refusal(two, tmp_path / "both")
    assert message in told
    assert f"another in {two[1]}" in told
    assert "glyphs-greek/conv_small/16" in told
    assert "glyphs-latin" not in told


def test_a_search_with_other_trials_is_refused(tmp_path):
    ours, theirs = (write_store(tmp_path / name, part(*LOSSES[:2])) for name in ("a", "b"))
    files = sorted(theirs.rglob("*.search.config2.*parquet"))
    assert files
    files[0].unlink()
    told = refusal([ours, theirs], tmp_path / "both")
    assert "has other trials in" in told
    assert "larger budget" in told


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["search"].update(trials=9), "search.trials differs: 4 in"),
        (lambda s: s["final"].update(seeds=5), "final.seeds differs"),
        (lambda s: s["training"].update(epochs=99), "training.epochs: 99 ->"),
        (lambda s: s.update(seed=7), "seed:"),
        (lambda s: s["protocols"][0].update(val_fraction=0.3), "protocol"),
        (lambda s: s["tournament"].update(test="nemenyi"), "tournament.test"),
    ],
)
def test_other_studies_are_refused_with_what_differs(two, tmp_path, change, message):
    change_study(two[1], change)
    told = refusal(two, tmp_path / "both")
    assert message in told or message in told.replace(" -> ", ": ")
    assert "cannot be merged:" in told


def test_every_reason_is_said_at_once(two, tmp_path):
    change_study(two[1], lambda study: study["search"].update(trials=9))
    change_json(StudyPaths(two[1]).provenance, numerics_version=1)
    change_json(StudyPaths(two[0]).provenance, numerics_version=2)
    told = refusal(two, tmp_path / "both")
    assert "numerics_version differs: " in told
    assert "search.trials differs: " in told


def test_other_k_are_refused(two, tmp_path):
    change_study(two[1], lambda study: study.update(ks=[1, 10]))
    assert "ks" in refusal(two, tmp_path / "both")


def test_studies_of_other_names_are_merged(two, tmp_path):
    change_study(two[1], lambda study: study.update(name="theirs"))
    change_json(StudyPaths(two[1]).store, study="theirs")
    change_rows(two[1], "study", "theirs")
    merge_studies(two, tmp_path / "both")
    assert set(Reader(tmp_path / "both").trials().collect()["study"]) == {"both"}


def test_a_merged_folder_is_not_run_on(two, tmp_path):
    output = tmp_path / "both"
    merge_studies(two, output)
    study = study_from_resolved(read_study(StudyPaths(output)))
    with pytest.raises(PodiumError, match="holds merged results, which cannot be run"):
        check_startable(study, StudyPaths(output))


def test_what_is_in_the_way_or_no_store_is_refused(two, tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(PodiumError, match="exists already"):
        merge_studies(two, tmp_path / "taken")
    message = refusal([two[0], tmp_path / "taken"], tmp_path / "new")
    assert "taken is not a results folder" in message
    assert "at least two different" in refusal(two[:1], tmp_path / "new")
    assert "at least two different" in refusal([two[0], two[0]], tmp_path / "new")
    assert "is named after its folder" in refusal(two, tmp_path / "a b")
    with StudyLock(StudyPaths(two[0]), print):
        assert "is being run" in refusal(two, tmp_path / "new")


def test_a_study_file_is_no_results_folder(two, tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("study: a")
    with pytest.raises(PodiumError, match=r"only results folders can be merged") as told:
        merge_studies([two[0], path], tmp_path / "both")
    assert told.value.exit_code == PodiumError.exit_code


def test_sources_are_only_read_so_nothing_is_merged_into_one(two, tmp_path):
    before = sorted(two[0].rglob("*"))
    with pytest.raises(PodiumError, match="must not lie in a folder that is merged"):
        merge_studies(two, two[0] / "both")
    assert sorted(two[0].rglob("*")) == before


def test_a_merge_that_dies_leaves_nothing_half_done_and_can_be_repeated(
    two, tmp_path, monkeypatch
):
    output = tmp_path / "both"

    real = Path.replace

    def full(path, target):
        if "attempts" in path.parts or "asks" in path.parts:
            raise OSError(28, "No space left on device")
        return real(path, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreError, match="No space left"):
        merge_studies(two, output)
    assert not output.exists()
    monkeypatch.undo()
    leftover = tmp_path / f".{output.name}.0123.tmp"
    leftover.mkdir()
    (leftover / "store.json").write_text("half")
    merge_studies(two, output)
    assert [path.name for path in tmp_path.glob(".*")] == []
