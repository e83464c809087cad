from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.records.runs import read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.study.blocks import num_reserved_trials, trials_per_search
from podium.orchestrator.study.resource_demand import Capacity
from podium.orchestrator.study.study import (
    BudgetSettings,
    EarlyStopping,
    FinalSettings,
    ResourceSettings,
)
from tests.orchestrator.clocked import Clock, ClockedExecutor
from tests.orchestrator.small_study import STUDY, rows, run_here, tables, with_search

HOUR = 3600.0
ONE_GPU = Capacity(cpus=100.0, gpus=1.0)
TWO_CPUS = Capacity(cpus=2.0, gpus=0.0)
# One block, 2 losses; a trial of 4 epochs takes 5 steps of 10 s on half a GPU: 25 GPU-seconds.
MANY = replace(
    with_search(
        order="asynchronous",
        sampler="random",
        trials=30,
        early_stopping=EarlyStopping(kind="none"),
    ),
    embedding_dims=(8,),
    resources=ResourceSettings(gpus_per_trial=0.5),
    final=FinalSettings(seeds=1),
)
SEARCHES = 2


def with_budget(study=MANY, **limits):
    return replace(study, budget=BudgetSettings(**limits))


def alike(settings):
    return 10.0


def slow_proxies(settings):
    return 30.0 if settings.loss == "proxy_anchor" else 10.0


def run(study, storage, step_seconds=alike, **options):
    clock = Clock()
    executor = ClockedExecutor(clock, step_seconds, ONE_GPU, **options)
    end = run_here(study, storage, executor, clock=clock)
    return end, executor


def trials_by_search(storage):
    searched = rows(storage).filter(pl.col("stage") == "search")
    return dict(searched.group_by("loss", "embedding_dim").len("n").select("loss", "n").rows()), (
        sorted(searched.group_by("search").len("n")["n"])
    )


def gpu_seconds(storage, **wanted):
    runs = read_runs(StudyPaths(storage / STUDY.name))
    found = [
        spent
        for one in runs
        for spent in one.spent
        if all(getattr(spent, name) == value for name, value in wanted.items())
    ]
    return sum(spent.gpu_seconds for spent in found)


def num_finals(storage):
    return rows(storage).filter(pl.col("stage") == "final", pl.col("state") == "COMPLETE").height


def test_a_budget_ends_the_searches_early_and_the_finals_still_run(tmp_path):
    end, executor = run(with_budget(gpu_hours=0.2), tmp_path)
    assert not end.interrupted
    assert end.out_of_budget is None
    assert end.progress.trials_done == end.progress.trials_planned
    _, counts = trials_by_search(tmp_path)
    assert max(counts) < 30
    assert max(counts) - min(counts) <= 1
    assert num_finals(tmp_path) >= SEARCHES
    spent = gpu_seconds(tmp_path)
    assert spent <= 0.2 * HOUR
    assert spent > 0.85 * 0.2 * HOUR
    assert spent == pytest.approx(0.5 * executor.busy_seconds)
    # It is told, and uses add up to everything.
    assert all(search.is_cut_short for search in end.progress.searches)
    (use,) = end.progress.budget
    assert (use.what, use.limit) == ("GPU-hours", 0.2)
    assert use.used == pytest.approx(spent / HOUR)
    uses = ("complete", "pruned", "failed", "repeated", "unfinished")
    parts = [gpu_seconds(tmp_path, use=use) for use in uses]
    assert parts[0] == pytest.approx(sum(parts)) == pytest.approx(spent)


def test_searches_get_equal_shares_of_hours_though_a_loss_is_slower(tmp_path):
    run(with_budget(gpu_hours=0.3), tmp_path, slow_proxies)
    of_search = {
        name: gpu_seconds(tmp_path, search=name, stage="search")
        for name in rows(tmp_path).filter(pl.col("stage") == "search")["search"].unique()
    }
    assert len(of_search) == SEARCHES
    whole = 75.0  # of the slower loss
    assert max(of_search.values()) - min(of_search.values()) <= whole
    searched = rows(tmp_path).filter(pl.col("stage") == "search")
    counts = dict(searched.group_by("loss").len().rows())
    assert counts["contrastive"] > 2 * counts["proxy_anchor"]


def test_what_a_finished_search_leaves_goes_to_the_others(tmp_path):
    study = with_budget(replace(MANY, search=replace(MANY.search, trials=8)), gpu_hours=0.25)
    run(study, tmp_path, slow_proxies)
    searched = rows(tmp_path).filter(pl.col("stage") == "search")
    counts = dict(searched.group_by("loss").len().rows())
    assert counts["contrastive"] == 8  # all they wanted
    # Equal shares alone, of what the finals leave, would not do for so many.
    reserved = gpu_seconds(tmp_path, stage="final") + gpu_seconds(tmp_path, stage="baseline")
    share = (0.25 * HOUR - reserved) / SEARCHES
    for name in searched.filter(pl.col("loss") == "proxy_anchor")["search"].unique():
        assert gpu_seconds(tmp_path, search=name, stage="search") > share


def test_a_budget_that_does_not_do_for_the_finals_stops_the_study_until_there_is_more(tmp_path):
    end, _ = run(with_budget(gpu_hours=0.02), tmp_path)
    assert end.interrupted
    assert "The budget is used up: 0.02 of 0.02 GPU-hours." in end.out_of_budget
    assert (
        "With a larger budget.gpu_hours the same command resumes the study." in end.out_of_budget
    )
    before = gpu_seconds(tmp_path)
    assert 0.02 * HOUR <= before <= 0.02 * HOUR + 1.0
    (one,) = read_runs(StudyPaths(tmp_path / STUDY.name))
    assert one.end == "budget"
    end, executor = run(with_budget(gpu_hours=0.02), tmp_path)
    assert end.out_of_budget is not None
    assert (executor.busy_seconds, gpu_seconds(tmp_path)) == (0.0, before)
    end, _ = run(with_budget(gpu_hours=0.2), tmp_path)
    assert not end.interrupted
    assert gpu_seconds(tmp_path) <= 0.2 * HOUR + 1.0
    assert gpu_seconds(tmp_path, use="unfinished") > 0


def test_searches_that_ended_stay_ended_until_there_is_more(tmp_path):
    run(with_budget(gpu_hours=0.2), tmp_path)
    first = tables(tmp_path)
    _, before = trials_by_search(tmp_path)
    # Under the same budget and a smaller one, also where more trials are planned.
    more = replace(MANY, search=replace(MANY.search, trials=40))
    for study in (with_budget(gpu_hours=0.2), with_budget(more, gpu_hours=0.19)):
        end, executor = run(study, tmp_path)
        assert (end.interrupted, executor.busy_seconds) == (False, 0.0)
        assert_frame_equal(tables(tmp_path), first)
    run(with_budget(more, gpu_hours=0.3), tmp_path)
    _, after = trials_by_search(tmp_path)
    assert min(after) > max(before)
    kept = tables(tmp_path).filter(pl.col("trial_id").is_in(first["trial_id"].to_list()))
    assert_frame_equal(kept, first)
    assert gpu_seconds(tmp_path) <= 0.3 * HOUR


def test_an_interrupted_study_keeps_to_the_same_budget(tmp_path):
    study = with_budget(gpu_hours=0.2)
    end, _ = run(study, tmp_path, stop_at=500.0)
    assert end.interrupted
    assert end.out_of_budget is None
    end, _ = run(study, tmp_path)
    assert not end.interrupted
    assert 0.8 * 0.2 * HOUR < gpu_seconds(tmp_path) <= 0.2 * HOUR
    _, counts = trials_by_search(tmp_path)
    assert max(counts) - min(counts) <= 1


def test_wall_hours_count_from_start_to_end_of_all_runs(tmp_path):
    study = with_budget(wall_hours=0.15)
    end, _ = run(study, tmp_path, stop_at=250.0)
    assert end.interrupted
    end, _ = run(study, tmp_path)
    assert not end.interrupted
    runs = read_runs(StudyPaths(tmp_path / STUDY.name))
    assert [one.end for one in runs] == ["interrupted", "finished"]
    assert 0.8 * 0.15 * HOUR < sum(one.seconds for one in runs) <= 0.15 * HOUR
    _, counts = trials_by_search(tmp_path)
    assert 2 <= min(counts) < 30
    assert max(counts) - min(counts) <= 1


def test_a_budget_of_trials_gives_the_tables_of_a_smaller_study(tmp_path):
    deterministic = with_search(trials=9)
    reserved = num_reserved_trials(deterministic)
    study = with_budget(deterministic, trials=reserved + 4 * 5 + 3)
    assert trials_per_search(study) == 5
    run_here(study, tmp_path / "budget")
    run_here(with_search(trials=5), tmp_path / "fewer")
    assert_frame_equal(tables(tmp_path / "budget"), tables(tmp_path / "fewer"))


def test_a_budget_of_trials_that_shrinks_stops_the_study(tmp_path):
    study = with_search(trials=9)
    end = run_here(study, tmp_path, ClockedExecutor(Clock(), alike, TWO_CPUS, stop_at=500.0))
    assert end.interrupted
    done = rows(tmp_path).height
    least = num_reserved_trials(study) + 4
    assert done > least
    end = run_here(with_budget(study, trials=least), tmp_path)
    assert f"The budget is used up: {done} of {least} trials." in end.out_of_budget
    assert rows(tmp_path).height == done
    end = run_here(with_budget(study, trials=200), tmp_path)
    assert not end.interrupted
