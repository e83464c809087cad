import shutil
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal, assert_series_equal

from podium.errors import PodiumError
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.study.study import StudyLoss
from podium.trainables.errors import Diverged, TrialInputError
from tests.orchestrator.simulated import simulated_trial
from tests.orchestrator.small_study import (
    STUDY,
    InterruptedAfter,
    rows,
    run_here,
    tables,
    with_search,
)

SEARCHES = 4  # 2 dims x 2 losses


@pytest.fixture(scope="module")
def finished_storage(tmp_path_factory):
    storage = tmp_path_factory.mktemp("undisturbed")
    end = run_here(STUDY, storage)
    assert not end.interrupted
    return storage


def test_winner_and_default_are_retrained_with_the_same_fresh_seeds(finished_storage):
    trials = rows(finished_storage)
    finals = trials.filter(pl.col("stage") == "final")
    seeds = finals.group_by("search", "is_winner", "is_default").agg(pl.col("seed").sort())
    assert seeds["seed"].list.len().to_list() == [2] * len(seeds)
    assert seeds["seed"].n_unique() == 1
    search_seeds = trials.filter(pl.col("stage") == "search")["seed"]
    assert not set(finals["seed"]) & set(search_seeds)
    for (_,), group in finals.group_by("search"):
        assert group["is_default"].any()
        assert group["is_winner"].any()


def test_searches_may_train_for_fewer_epochs_than_finals(finished_storage, tmp_path):
    short = with_search(epochs=2)
    run_here(short, tmp_path)
    trials, usual = rows(tmp_path), rows(finished_storage)
    is_search, is_default = pl.col("stage") == "search", pl.col("is_default")
    searched = trials.filter(is_search)
    assert set(searched["epochs_planned"]) == {2}
    assert searched.filter(pl.col("state") == "COMPLETE")["epochs_run"].unique().to_list() == [2]
    assert set(trials.filter(~is_search & (pl.col("stage") == "final"))["epochs_run"]) == {4}
    assert not set(searched["trial_id"]) & set(usual["trial_id"])
    # Finals of the published default are the same trials, whatever searches were.
    finals = [it.filter(~is_search, is_default)["trial_id"].sort() for it in (trials, usual)]
    assert_series_equal(*finals)
    # A rung lies before the last epoch of a search, none at or after it.
    assert set(searched.filter(pl.col("state") == "PRUNED")["epochs_run"]) <= {1}
    # All epochs that are planned are no other search.
    run_here(with_search(epochs=4), tmp_path / "whole")
    assert_series_equal(rows(tmp_path / "whole")["trial_id"].sort(), usual["trial_id"].sort())


def test_the_winner_is_the_best_complete_trial_of_its_search(finished_storage):
    trials = rows(finished_storage)
    for (search,), finals in trials.filter(pl.col("is_winner")).group_by("search"):
        complete = trials.filter(
            pl.col("search") == search, pl.col("stage") == "search", pl.col("state") == "COMPLETE"
        )
        best = complete.sort("objective", "index", descending=[True, False])["config_hash"][0]
        assert set(finals["config_hash"]) == {best}


def test_every_block_has_its_untrained_network_and_all_dimensions_share_the_features(
    finished_storage,
):
    baseline = rows(finished_storage).filter(pl.col("stage") == "baseline")
    assert set(baseline.group_by("loss", "block", "embedding_dim").len().rows()) == {
        ("untrained", "glyphs-greek/conv_small/8", 8, 2),
        ("untrained", "glyphs-greek/conv_small/16", 16, 2),
        ("features", "glyphs-greek/conv_small", None, 1),
    }


def test_a_finished_study_run_again_changes_nothing(finished_storage):
    before = tables(finished_storage)
    end = run_here(STUDY, finished_storage, InterruptedAfter(0))
    assert not end.interrupted
    assert_frame_equal(tables(finished_storage), before)
    assert not list((finished_storage / STUDY.name / "checkpoints").glob("*"))


def test_a_study_interrupted_again_and_again_ends_in_the_same_tables(finished_storage, tmp_path):
    interruptions = 0
    while run_here(STUDY, tmp_path, InterruptedAfter(16)).interrupted:
        interruptions += 1
    assert interruptions > 1
    assert_frame_equal(tables(tmp_path), tables(finished_storage))


@pytest.fixture
def copied(finished_storage, tmp_path):
    shutil.copytree(finished_storage, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_more_trials_extend_a_finished_study_and_a_better_config_takes_the_title(copied):
    first, before = tables(copied), _winners(rows(copied))
    run_here(with_search(trials=16), copied)
    kept = tables(copied).filter(pl.col("trial_id").is_in(first["trial_id"].to_list()))
    assert_frame_equal(kept.drop("is_winner"), first.drop("is_winner"))
    trials = rows(copied)
    counts = trials.filter(pl.col("stage") == "search").group_by("search").len()
    assert counts["len"].to_list() == [16] * SEARCHES
    after = _winners(trials)
    assert after != before
    for search, winner in after.items():
        complete = trials.filter(
            pl.col("search") == search, pl.col("stage") == "search", pl.col("state") == "COMPLETE"
        )
        best = complete.sort("objective", "index", descending=[True, False])["config_hash"][0]
        assert winner == [best]


def _winners(trials):
    winners = trials.filter(pl.col("is_winner")).group_by("search").agg(pl.col("config_hash"))
    return {search: sorted(set(hashes)) for search, hashes in winners.iter_rows()}


def test_another_loss_extends_a_study_and_plain_polars_still_reads_it(tmp_path):
    run_here(replace(STUDY, losses=(StudyLoss("contrastive"),)), tmp_path)
    run_here(
        replace(STUDY, losses=(StudyLoss("contrastive"), StudyLoss("proxy_anchor"))), tmp_path
    )
    trials = pl.read_parquet(f"{tmp_path}/{STUDY.name}/**/*.parquet")
    assert trials["trial_id"].n_unique() == len(trials)
    assert set(trials["loss"]) == {"contrastive", "proxy_anchor", "untrained", "features"}


def diverging_trial(settings, *, resume, save, keep):
    if settings.loss == "proxy_anchor" and settings.hyperparameters["margin"] > 0.25:
        raise Diverged("the loss is nan", 0, 1)
    yield from simulated_trial(settings, resume=resume, save=save)


def test_failed_trials_are_recorded_with_their_cause_and_the_study_continues(tmp_path):
    end = run_here(STUDY, tmp_path, InProcessExecutor(diverging_trial))
    (line,) = end.progress.failures
    assert line.startswith("diverged: the loss is nan (fold 0, epoch 1) (glyphs-greek/conv_small/")
    assert line.endswith(f" proxy_anchor) (and {end.progress.failed - 1} more)")
    failed = rows(tmp_path).filter(pl.col("state") == "FAILED")
    assert end.progress.failed == len(failed) > 0
    assert set(failed["cause"]) == {"diverged"}
    assert failed["objective"].null_count() == len(failed)
    assert all("the loss is nan" in text for text in failed["traceback"])


def unreadable_trial(settings, *, resume, save, keep):
    raise TrialInputError("2 images cannot be read:\na.jpg\nb.jpg")
    yield


def test_data_or_weights_that_no_trial_can_use_stop_the_run_and_fail_no_trial(
    tmp_path, finished_storage
):
    with pytest.raises(
        PodiumError, match=r"(?s)contrastive cannot be trained: 2 .*a\.jpg\nb\.jpg"
    ):
        run_here(STUDY, tmp_path, InProcessExecutor(unreadable_trial))
    assert rows(tmp_path).is_empty()
    run_here(STUDY, tmp_path)
    assert_frame_equal(tables(tmp_path), tables(finished_storage))


@pytest.mark.parametrize("error", [RuntimeError("no kernel image"), MemoryError("too much")])
def test_a_study_of_which_nothing_works_stops_at_its_first_trial(tmp_path, error):
    def broken(settings, *, resume, save, keep):
        raise error
        yield

    with pytest.raises(PodiumError, match=f"contrastive cannot be trained: .*{error}"):
        run_here(STUDY, tmp_path, InProcessExecutor(broken))
    assert rows(tmp_path).is_empty()


def test_an_error_of_one_loss_does_not_stop_the_others(tmp_path):
    def broken(settings, *, resume, save, keep):
        if settings.loss == "proxy_anchor":
            raise RuntimeError("shapes differ")
        yield from simulated_trial(settings, resume=resume, save=save)

    end = run_here(STUDY, tmp_path, InProcessExecutor(broken))
    failed = rows(tmp_path).filter(pl.col("state") == "FAILED")
    assert set(failed["loss"]) == {"proxy_anchor"}
    assert set(failed["cause"]) == {"error"}
    assert end.progress.trials_done == end.progress.trials_planned
