"""Rows are gathered while a study runs; whoever is killed meanwhile, nothing is lost."""

import signal
from dataclasses import replace
from random import Random

from polars.testing import assert_frame_equal

from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.gather_trials import gather_all
from podium.orchestrator.results.trial_files.inventory import (
    gathered,
    num_trials,
    take_inventory,
    trial_files,
)
from podium.orchestrator.run import run_study as run_study_module
from podium.orchestrator.scheduling import study_scheduler
from tests.orchestrator.results.store_rows import check_store
from tests.orchestrator.small_study import STUDY, InterruptedAfter, run_here, tables, with_search
from tests.podium.warm_process import Started


def test_a_run_gathers_each_search_that_is_over_and_all_rows_at_its_end(tmp_path, monkeypatch):
    found = []

    def look(paths):
        files = [file for needed in take_inventory(paths).values() for file in needed]
        whole = gathered(files)
        found.append((len(whole), len(files) - len(whole), num_row_files(paths)))
        gather_all(paths)

    monkeypatch.setattr(run_study_module, "gather_all", look)
    run_here(STUDY, tmp_path)
    ((num_whole, loose, row_files),) = found
    assert num_whole == len(read_asks(StudyPaths(tmp_path / STUDY.name)))
    assert row_files - loose > loose > 0, "rows of finals are gathered at the end"
    assert num_row_files(StudyPaths(tmp_path / STUDY.name)) == 0


def test_a_long_search_is_gathered_again_and_again_before_it_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(study_scheduler, "_LEAST_GATHERED", 4)
    study = replace(with_search(trials=30, sampler="random"), embedding_dims=(8,))
    run_here(study, tmp_path, InterruptedAfter(100))
    paths = StudyPaths(tmp_path / study.name)
    files = {search: needed for search, needed in take_inventory(paths).items() if len(needed) > 1}
    assert {search for search, asks in read_asks(paths).items() if len(asks) > 6} <= files.keys()
    assert sum(map(num_trials, files.values())) > 20
    for search, needed in files.items():
        assert len(gathered(needed)) == 1
        assert len(gathered(trial_files(paths, search))) <= 2, "it, and the one before"
        assert 0 < len(needed) - 1 < num_trials(needed) / 2
    run_here(study, tmp_path)
    run_here(study, tmp_path / "plain")
    assert_frame_equal(tables(tmp_path, study), tables(tmp_path / "plain", study))


def num_row_files(paths):
    """Files of single rows, also of rows that are gathered already."""
    return sum(".gathered." not in file.name for file in paths.trials.glob("*/*.parquet"))


def test_a_run_killed_while_it_gathers_is_continued_by_the_same_command(tmp_path):
    run_here(STUDY, tmp_path / "plain")
    storage = tmp_path / "killed"
    for operation in Random(7).sample(range(3, 20), 2):
        module = "tests.orchestrator.run_until_gathering"
        assert Started(storage, operation, module=module).end().returncode == -signal.SIGKILL
        check_store(StudyPaths(storage / STUDY.name))
    run_here(STUDY, storage)
    assert_frame_equal(tables(storage), tables(tmp_path / "plain"))
