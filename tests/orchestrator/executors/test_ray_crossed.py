"""A study of two protocols through Ray, with finals that both ask for."""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.executors.ray_tune import RayTuneExecutor
from orchestrator.results.records.journal import read_attempts
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.study.resource_demand import most_demand
from tests.orchestrator.planted import PlantedTrial, hashed
from tests.orchestrator.shared_finals import SMALL
from tests.orchestrator.small_study import rows, run_here, tables

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def tables_without_ray(tmp_path_factory):
    """The same study, run in one process without Ray."""
    storage = tmp_path_factory.mktemp("undisturbed")
    run_here(SMALL, storage, InProcessExecutor(PlantedTrial(hashed)))
    return tables(storage, SMALL)


def test_ray_gives_the_tables_of_one_process(tmp_path, tables_without_ray, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where workers find the simulated training
    monkeypatch.chdir(tmp_path)
    relative = Path("results")  # workers run in another folder, and must not take it for theirs
    executor = RayTuneExecutor(most_demand(SMALL), trial=PlantedTrial(hashed))
    end = run_here(SMALL, relative, executor)
    assert end.progress.trials_done == end.progress.trials_planned == len(tables_without_ray)
    assert_frame_equal(tables(relative, SMALL), tables_without_ray)
    is_copy = pl.col("same_as").is_not_null()
    assert rows(relative, SMALL).filter(is_copy).height > 2
    trained = rows(relative, SMALL).filter(~is_copy)
    assert trained["device"].null_count() == 0
    paths = StudyPaths(tmp_path / "results" / SMALL.name)
    numbers = Counter(attempt.trial_id for attempt in read_attempts(paths))
    assert {numbers[it] for it in trained["trial_id"]} == {1}
