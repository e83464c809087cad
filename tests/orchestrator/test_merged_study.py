"""Stores of several groups as one: each trial once, the same bytes in any order, or a reason."""

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from analysis.report import study_page
from orchestrator.freezing import check_startable
from orchestrator.merged_study import merge_studies
from orchestrator.results.compact import compact
from orchestrator.results.errors import PodiumError, StoreError
from orchestrator.results.frozen import MERGED_FROM, read_provenance, read_study
from orchestrator.results.integrity import check_store
from orchestrator.results.paths import StudyPaths
from orchestrator.results.reader import Reader
from orchestrator.status import study_status
from orchestrator.study_resolved import study_from_resolved
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.orchestrator.small_study import STUDY, run_here

WHOLE = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2)
LOSSES = tuple(WHOLE.strengths)


def part(*losses, **changes):
    """The same truth with fewer losses: what a group that ran these alone has."""
    kept = {loss: WHOLE.strengths[loss] for loss in losses}
    gains = {loss: WHOLE.tuning_gains[loss] for loss in losses}
    return replace(WHOLE, strengths=kept, tuning_gains=gains, **changes)


@pytest.fixture
def two(tmp_path):
    ours = write_store(tmp_path / "ours" / "synthetic", part(*LOSSES[:2]))
    theirs = write_store(tmp_path / "theirs" / "synthetic", part(*LOSSES[2:]))
    return [ours, theirs]


def trials(folder):
    return Reader(folder).trials().drop("study").collect()


def bytes_of(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refusal(folders, output):
    with pytest.raises(PodiumError) as raised:
        merge_studies(folders, output)
    assert not output.exists()
    assert list(output.parent.glob(".*tmp")) == []
    return str(raised.value)


def change_json(path, **values):
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def change_study(folder, change):
    path = StudyPaths(folder).study
    study = yaml.safe_load(path.read_text())
    change(study)
    path.write_text(yaml.safe_dump(study, sort_keys=False))


def change_rows(folder, column, value, *, where=lambda row: True):
    """Rewrite a column of trial files, as another group's run would have written them."""
    changed = 0
    for path in folder.rglob("search=*/*.parquet"):
        table = pq.ParquetFile(path).read()
        if where(table.to_pylist()[0]):
            index = table.column_names.index(column)
            field = table.schema.field(index)
            table = table.set_column(index, field, pa.array([value], field.type))
            pq.write_table(table, path)
            changed += 1
    assert changed


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
    assert all(row["duplicates"] == 1 for row in status.searches)
    study = study_from_resolved(read_study(paths))
    assert (study.name, set(study.losses)) == ("both", set(LOSSES))
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
    orders = list(itertools.permutations(folders))
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


def test_places_resources_and_reasons_may_differ(two, tmp_path):
    def elsewhere(study):
        study.update(storage="/elsewhere", declared_differences={"batch_size": "memory"})
        study["resources"].update(cpus_per_trial=8.0)

    change_study(two[1], elsewhere)
    merge_studies(two, tmp_path / "both")
    study = read_study(StudyPaths(tmp_path / "both"))
    assert study["declared_differences"] == {"batch_size": "memory"}


def test_studies_of_other_names_are_merged(two, tmp_path):
    change_study(two[1], lambda study: study.update(name="theirs"))
    change_json(StudyPaths(two[1]).store, study="theirs")
    change_rows(two[1], "study", "theirs")
    merge_studies(two, tmp_path / "both")
    assert set(Reader(tmp_path / "both").trials().collect()["study"]) == {"both"}


def test_blocks_of_the_union_may_lack_losses(tmp_path):
    ours = write_store(tmp_path / "a", part(*LOSSES[:2], scripts=("greek",)))
    theirs = write_store(tmp_path / "b", part(*LOSSES[1:], scripts=("latin",)))
    merged = merge_studies([ours, theirs], tmp_path / "both")
    assert (merged.num_blocks, len(merged.losses)) == (2, 3)
    finals = trials(tmp_path / "both").filter(pl.col("stage") == "final")
    cells = finals.select("dataset", "loss").unique()
    assert ("glyphs-latin", LOSSES[0]) not in cells.rows()
    assert len(cells) == 4


def test_a_merged_folder_is_not_run_on(two, tmp_path):
    output = tmp_path / "both"
    merge_studies(two, output)
    study = study_from_resolved(read_study(StudyPaths(output)))
    with pytest.raises(PodiumError, match="holds merged results, which are not run"):
        check_startable(study, StudyPaths(output))


def test_merged_folders_can_be_merged_again(tmp_path):
    folders = [write_store(tmp_path / f"g{n}", part(loss)) for n, loss in enumerate(LOSSES)]
    merge_studies(folders[:2], tmp_path / "two")
    merge_studies([tmp_path / "two", folders[2]], tmp_path / "three")
    merge_studies(folders, tmp_path / "all")
    assert trials(tmp_path / "three").equals(trials(tmp_path / "all"))


def test_what_is_in_the_way_or_no_store_is_refused(two, tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(PodiumError, match="exists already"):
        merge_studies(two, tmp_path / "taken")
    assert "no results folder" in refusal([two[0], tmp_path / "taken"], tmp_path / "new")
    assert "at least two different" in refusal(two[:1], tmp_path / "new")
    assert "at least two different" in refusal([two[0], two[0]], tmp_path / "new")
    assert "is called as its folder" in refusal(two, tmp_path / "a b")
    StudyPaths(two[0]).lock.write_text("{}")
    assert "is being run" in refusal(two, tmp_path / "new")


def test_a_merge_that_dies_leaves_nothing_half_done_and_can_be_repeated(
    two, tmp_path, monkeypatch
):
    output = tmp_path / "both"

    def full(source, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(StoreError, match="No space left"):
        merge_studies(two, output)
    assert not output.exists()
    monkeypatch.undo()
    leftover = tmp_path / f".{output.name}.0123.tmp"
    leftover.mkdir()
    (leftover / "store.json").write_text("half")
    merge_studies(two, output)
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.fixture(scope="module")
def run_parts(tmp_path_factory) -> list[Path]:
    """Two stores that the orchestrator wrote, each with a loss of its own."""
    folder = tmp_path_factory.mktemp("run")
    for loss in STUDY.losses:
        run_here(replace(STUDY, losses=(loss,)), folder / loss)
    run_here(STUDY, folder / "all")
    return [folder / name / STUDY.name for name in (*STUDY.losses, "all")]


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
    assert read_provenance(StudyPaths(output))["spaces"].keys() == set(STUDY.losses)
