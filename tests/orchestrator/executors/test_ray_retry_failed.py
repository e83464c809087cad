"""Failed trials that are retried by Ray's workers."""

import shutil
from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

from orchestrator.executors.ray_tune import RayTuneExecutor
from orchestrator.study.resource_demand import most_demand
from tests.orchestrator.broken_trials import (
    FRAIL,
    assert_sound,
    run_broken,
    run_fixed,
)
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import tables

# To Ray a trial that is retried is as any other.
pytestmark = [pytest.mark.soak, pytest.mark.ray, pytest.mark.filterwarnings("default")]

ROOT = Path(__file__).parents[3]


def test_a_retry_through_ray_gives_the_tables_of_one_in_this_process(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where workers find the simulated training
    here, by_ray = tmp_path / "here", tmp_path / "ray"
    run_broken(here)
    shutil.copytree(here, by_ray)
    run_fixed(here)
    run_fixed(by_ray, executor=RayTuneExecutor(most_demand(FRAIL), trial=simulated_trial))
    assert_sound(by_ray)
    assert_frame_equal(tables(by_ray, FRAIL), tables(here, FRAIL))
