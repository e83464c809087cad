"""Hours of the budget that ``control.yaml`` changes while a study runs."""

from dataclasses import replace

import polars as pl
import pytest

from podium.errors import StudyError
from podium.live.followed_study import FollowedStudy
from podium.orchestrator.results.records.runs import read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_study
from podium.orchestrator.study.study import BudgetSettings
from tests.orchestrator.clocked import Clock, ClockedExecutor
from tests.orchestrator.run.test_budgets import MANY, ONE_GPU, alike
from tests.orchestrator.small_study import STUDY, rows, run_here

SMALL, LARGE = BudgetSettings(gpu_hours=0.15), BudgetSettings(gpu_hours=0.3)


def run(storage, budget, edit=None, at=250.0):
    """A run in which the file is edited after so many seconds."""
    clock, file = Clock(), storage / STUDY.name / "control.yaml"

    def watch(scheduler):
        if edit is not None and clock.seconds == 100.0 + at:
            file.write_text(edit)

    executor = ClockedExecutor(clock, alike, ONE_GPU, watch=watch)
    return run_here(replace(MANY, budget=budget), storage, executor, clock=clock)


def num_searched(storage):
    return rows(storage).filter(pl.col("stage") == "search").height


def paths_in(storage):
    return StudyPaths(storage / STUDY.name)


def test_more_hours_while_it_runs_train_as_many_trials_as_from_the_start(tmp_path):
    for name, budget, edit in (
        ("small", SMALL, None),
        ("large", LARGE, None),
        ("raised", SMALL, "budget: {gpu_hours: 0.3}"),
        ("lowered", LARGE, "budget: {gpu_hours: 0.15}"),
    ):
        assert not run(tmp_path / name, budget, edit).interrupted
    number = {file.name: num_searched(file) for file in tmp_path.iterdir()}
    assert number["small"] == number["lowered"] < number["large"]
    assert number["raised"] == number["large"]
    raised = paths_in(tmp_path / "raised")
    assert read_runs(raised)[-1].budget["gpu_hours"] == 0.3
    assert read_study(raised)["budget"]["gpu_hours"] == 0.3
    (use,) = FollowedStudy(raised.folder).view().progress.budget
    assert use.limit == 0.3


def test_hours_below_what_is_used_stop_the_study_until_there_are_more(tmp_path):
    end = run(tmp_path, LARGE, "budget: {gpu_hours: 0.01}")
    assert "The budget is used up" in end.out_of_budget
    again = run(tmp_path, LARGE)
    assert "of 0.01 GPU-hours" in again.out_of_budget
    (tmp_path / STUDY.name / "control.yaml").unlink()
    assert not run(tmp_path, LARGE).interrupted


def test_searches_that_ended_for_want_of_hours_go_on_at_the_next_start(tmp_path):
    assert not run(tmp_path, SMALL).interrupted
    before = num_searched(tmp_path)
    (tmp_path / STUDY.name / "control.yaml").write_text("budget: {gpu_hours: 0.3}")
    assert not run(tmp_path, SMALL).interrupted
    assert num_searched(tmp_path) > before


@pytest.mark.parametrize(
    ("study", "text", "told"),
    [
        (STUDY, "wall_hours: 1", "control.yaml:1: budget.wall_hours cannot be combined with"),
        (MANY, "trials: 9", 'unknown key in budget; got "trials"; choices: gpu_hours'),
    ],
)
def test_hours_that_the_study_file_may_not_have_are_refused(tmp_path, study, text, told):
    (tmp_path / STUDY.name).mkdir()
    (tmp_path / STUDY.name / "control.yaml").write_text(f"budget: {{{text}}}")
    with pytest.raises(StudyError, match=told):
        run_here(study, tmp_path)
