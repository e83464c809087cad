"""Stores of several groups as one: each trial once, and the same bytes in any order."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis.report.report import study_page
from orchestrator.results.records.asks import read_asks
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import MERGED_FROM, read_provenance, read_study
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools.merge_studies import merge_studies
from orchestrator.results_tools.study_status import study_status
from orchestrator.study.resolved_study import study_from_resolved
from orchestrator.study.study import StudyLoss
from tests.analysis.synthetic_study import write_store
from tests.orchestrator.merged_stores import (
    LOSSES,
    WHOLE,
    bytes_of,
    change_rows,
    change_study,
    part,
    trials,
    two_stores,
)
from tests.orchestrator.results.store_rows import change_json, rewrite
from tests.orchestrator.small_study import STUDY, run_here


@pytest.fixture
def two(tmp_path):
    return two_stores(tmp_path)


def test_the_merged_store_is_that_of_one_group_that_ran_all(two, tmp_path):
    alone = write_store(tmp_path / "alone" / "synthetic", WHOLE)
    merged = merge_studies(two, tmp_path / "both")
    assert trials(tmp_path / "both").equals(trials(alone))
    for frame in ("scores", "test_scores", "class_hits", "test_class_hits", "test_retrievals"):
        ours, whole = (getattr(Reader(f), frame)().collect() for f in (tmp_path / "both", alone))
        assert ours.equals(whole)
    assert merged.trials == len(trials(alone))
    assert merged.losses == tuple(sorted(LOSSES))
    # the untrained baselines are the same trials in both
    assert merged.num_shared == 2 * len(WHOLE.blocks)
    assert merged.num_blocks == 2


def test_everything_reads_the_merged_folder(two, tmp_path):
    output = tmp_path / "both"
    merged = merge_studies(two, output)
    paths = StudyPaths(output)
    assert check_store(paths) == merged.trials
    assert compact(paths) == 0
    status = study_status(output)
    assert len(status.searches) == 3 * 2
    assert all(row["trials"] == row["planned"] for row in status.searches)
    asks = read_asks(paths)
    assert all(len(asks[row["search"]]) == row["planned"] + 1 for row in status.searches)
    study = study_from_resolved(read_study(paths))
    assert (study.name, set(study.loss_names)) == ("both", set(LOSSES))
    assert set(Reader(output).trials().collect()["study"]) == {"both"}
    page = study_page(output)
    assert all(loss in page for loss in LOSSES)
    origins = read_provenance(paths)[MERGED_FROM]
    assert sorted(origin.split(" ")[0] for origin in origins) == ["synthetic", "synthetic"]
    assert any(f"losses {LOSSES[2]})" in origin for origin in origins)


def test_the_order_of_the_folders_and_files_does_not_matter(tmp_path):
    folders = [
        write_store(tmp_path / f"group{number}", part(loss, scripts=("greek",)))
        for number, loss in enumerate(LOSSES)
    ]
    compact(StudyPaths(folders[1]))
    first, second, third = folders
    orders = [folders, [third, second, first], [second, third, first]]
    outputs = [tmp_path / f"merge{number}" / "all" for number in range(len(orders))]
    for order, output in zip(orders, outputs, strict=True):
        merge_studies(order, output)
    written = [bytes_of(output) for output in outputs]
    assert all(each == written[0] for each in written)
    assert study_page(outputs[0]) == study_page(outputs[-1])


def test_sources_are_left_untouched(two, tmp_path):
    before = [bytes_of(folder) for folder in two]
    merge_studies(two, tmp_path / "both")
    assert [bytes_of(folder) for folder in two] == before


def test_a_trial_of_two_sources_is_kept_once(tmp_path):
    ours = write_store(tmp_path / "ours", part(*LOSSES[:2]))
    theirs = write_store(tmp_path / "theirs", part(*LOSSES[1:]))
    merged = merge_studies([ours, theirs], tmp_path / "both")
    shared = trials(ours).join(trials(theirs), on="trial_id", how="semi")
    assert merged.num_shared == len(shared) > 0
    assert trials(tmp_path / "both")["trial_id"].is_unique().all()


def test_what_another_machine_costs_is_no_other_number(tmp_path):
    ours, theirs = (write_store(tmp_path / name, part(*LOSSES[:2])) for name in ("a", "b"))
    for column, value in (("seconds", 99.0), ("node", "else"), ("log", "slow")):
        change_rows(theirs, column, value)
    assert merge_studies([ours, theirs], tmp_path / "both").num_shared == len(trials(ours))


def test_places_resources_and_reasons_may_differ(two, tmp_path):
    def elsewhere(study):
        study.update(storage="/elsewhere", declared_differences={"batch_size": "memory"})
        study["resources"].update(cpus_per_trial=8.0)

    change_study(two[1], elsewhere)
    merge_studies(two, tmp_path / "both")
    study = read_study(StudyPaths(tmp_path / "both"))
    assert study["declared_differences"] == {"batch_size": "memory"}


def test_blocks_of_the_union_may_lack_losses(tmp_path):
    ours = write_store(tmp_path / "a", part(*LOSSES[:2], scripts=("greek",)))
    theirs = write_store(tmp_path / "b", part(*LOSSES[1:], scripts=("latin",)))
    merged = merge_studies([ours, theirs], tmp_path / "both")
    assert (merged.num_blocks, len(merged.losses)) == (2, 3)
    finals = trials(tmp_path / "both").filter(pl.col("stage") == "final")
    cells = finals.select("dataset", "loss").unique()
    assert ("glyphs-latin", LOSSES[0]) not in cells.rows()
    assert len(cells) == 4


def test_merged_folders_can_be_merged_again(tmp_path):
    folders = [write_store(tmp_path / f"g{n}", part(loss)) for n, loss in enumerate(LOSSES)]
    merge_studies(folders[:2], tmp_path / "two")
    merge_studies([tmp_path / "two", folders[2]], tmp_path / "three")
    merge_studies(folders, tmp_path / "all")
    assert trials(tmp_path / "three").equals(trials(tmp_path / "all"))


@pytest.fixture(scope="module")
def run_parts(tmp_path_factory) -> list[Path]:
    """Two stores that the orchestrator wrote, each with a loss of its own."""
    folder = tmp_path_factory.mktemp("run")
    for loss in STUDY.loss_names:
        run_here(replace(STUDY, losses=(StudyLoss(loss),)), folder / loss)
    run_here(STUDY, folder / "all")
    return [folder / name / STUDY.name for name in (*STUDY.loss_names, "all")]


_COSTS = (
    "study",
    "settings",
    "seconds",
    "test_seconds",
    "peak_memory_mb",
    "started_at",
    "ended_at",
)


def test_runs_of_two_groups_are_what_one_run_would_have_been(run_parts, tmp_path):
    *parts, whole = run_parts
    output = tmp_path / "merged"
    merge_studies(parts, output)
    ours, theirs = (Reader(f).trials().drop(_COSTS).collect() for f in (output, whole))
    assert ours.sort("trial_id").equals(theirs.sort("trial_id").select(ours.columns))
    status = study_status(output)
    assert status.searches == study_status(whole).searches
    assert read_provenance(StudyPaths(output))["fairness"] is not None
    assert read_provenance(StudyPaths(output))["spaces"].keys() == set(STUDY.loss_names)
    kinds = [read_provenance(StudyPaths(folder))["loss_kinds"] for folder in (output, whole)]
    assert kinds[0] == kinds[1]
    assert kinds[0].keys() == set(STUDY.loss_names)


def without_baselines(folder):
    """The trial files that are left when those of untrained networks are deleted."""
    for path in list(folder.rglob("search=*untrained*/*.parquet")):
        path.unlink()
    return list(folder.rglob("search=*/*.parquet"))


def test_a_hyperparameter_that_is_whole_for_one_group_only_becomes_a_number(two, tmp_path):
    change_json(StudyPaths(two[1]).store, hyperparameters={"margin": "int"})
    for path in without_baselines(two[1]):
        table = pq.ParquetFile(path).read()
        index = table.column_names.index("hp.margin")
        field = pa.field("hp.margin", pa.int64())
        rewrite(path, table.set_column(index, field, pa.array([3], pa.int64())))
    merge_studies(two, tmp_path / "both")
    margins = trials(tmp_path / "both").filter(pl.col("loss") == LOSSES[2])["hp.margin"]
    assert (margins.dtype, set(margins)) == (pl.Float64, {3.0})


def test_a_hyperparameter_that_only_one_group_has_is_null_for_the_others(two, tmp_path):
    change_json(StudyPaths(two[1]).store, hyperparameters={"scale": "float"})
    for path in without_baselines(two[1]):
        table = pq.ParquetFile(path).read()
        names = ["hp.scale" if name == "hp.margin" else name for name in table.column_names]
        rewrite(path, table.rename_columns(names))
    merge_studies(two, tmp_path / "both")
    own = trials(tmp_path / "both").filter(pl.col("loss") == LOSSES[2])
    assert own["hp.margin"].is_null().all()
    assert own["hp.scale"].is_not_null().all()
