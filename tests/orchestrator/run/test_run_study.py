import shutil
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.errors import PodiumError
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.store_paths import StudyPaths
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
from tests.soak import soak

SEARCHES = 4  # 2 dims x 2 losses


@pytest.fixture(scope="module")
def finished_storage(tmp_path_factory):
    storage = tmp_path_factory.mktemp("undisturbed")
    end = run_here(STUDY, storage)
    assert not end.interrupted
    return storage


def test_every_search_gets_exactly_its_budget(finished_storage):
    searches = rows(finished_storage).filter(pl.col("stage") == "search")
    counts = searches.group_by("search").len()
    assert counts["len"].to_list() == [STUDY.search.trials] * SEARCHES


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


def test_only_final_and_baseline_trials_are_tested(finished_storage):
    tested = tables(finished_storage).select("stage", tested=pl.col("test_scores").list.len() > 0)
    assert set(tested.unique().rows()) == {
        ("search", False),
        ("final", True),
        ("baseline", True),
    }


def test_some_trials_are_pruned_and_know_their_rung(finished_storage):
    pruned = rows(finished_storage).filter(pl.col("state") == "PRUNED")
    assert len(pruned) > 0
    assert pruned["rung"].null_count() == 0
    assert (pruned["epochs_run"] < STUDY.training.overrides["epochs"]).all()


def test_suggestion_0_is_the_published_default(finished_storage):
    for asks in read_asks(StudyPaths(finished_storage / STUDY.name)).values():
        assert asks[0].source == "default"
        if "contrastive" in asks[0].search:
            assert asks[0].hyperparameters["margin"] == 0.5


def test_a_finished_study_run_again_changes_nothing(finished_storage):
    before = tables(finished_storage)
    end = run_here(STUDY, finished_storage, InterruptedAfter(0))
    assert not end.interrupted
    assert_frame_equal(tables(finished_storage), before)


@pytest.mark.parametrize("step", [1, 17, *soak(2, 5, 9, 30, 43, 60, 75)])
def test_an_interrupted_study_ends_in_the_same_tables(finished_storage, tmp_path, step):
    end = run_here(STUDY, tmp_path, InterruptedAfter(step))
    assert end.interrupted
    end = run_here(STUDY, tmp_path)
    assert not end.interrupted
    assert_frame_equal(tables(tmp_path), tables(finished_storage))


@pytest.mark.parametrize("steps", [16, *soak(6)])
def test_a_study_interrupted_again_and_again_ends_in_the_same_tables(
    finished_storage, tmp_path, steps
):
    interruptions = 0
    while run_here(STUDY, tmp_path, InterruptedAfter(steps)).interrupted:
        interruptions += 1
    assert interruptions > 1
    assert_frame_equal(tables(tmp_path), tables(finished_storage))


def test_an_asynchronous_study_keeps_its_counts_through_interruptions(tmp_path):
    study = with_search(order="asynchronous")
    for step in (7, 11, 13):
        run_here(study, tmp_path, InterruptedAfter(step))
    run_here(study, tmp_path)
    trials = rows(tmp_path)
    assert trials["trial_id"].n_unique() == len(trials)
    counts = trials.filter(pl.col("stage") == "search").group_by("search").len()
    assert counts["len"].to_list() == [study.search.trials] * SEARCHES


def test_checkpoints_are_gone_when_the_study_is_done(finished_storage):
    assert not list((finished_storage / STUDY.name / "checkpoints").glob("*"))


@pytest.fixture
def copied(finished_storage, tmp_path):
    shutil.copytree(finished_storage, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_more_trials_extend_a_finished_study(copied):
    first = tables(copied)
    more = with_search(trials=8)
    run_here(more, copied)
    trials = rows(copied)
    counts = trials.filter(pl.col("stage") == "search").group_by("search").len()
    assert counts["len"].to_list() == [8] * SEARCHES
    kept = tables(copied).filter(pl.col("trial_id").is_in(first["trial_id"].to_list()))
    assert_frame_equal(kept, first)


def test_a_better_config_found_later_takes_the_title(copied):
    before = _winners(rows(copied))
    run_here(with_search(trials=16), copied)
    trials = rows(copied)
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


def test_a_config_that_a_search_chose_may_be_unusable_by_itself(tmp_path):
    def choosy(settings, *, resume, save, keep):
        if settings.loss == "proxy_anchor" and settings.hyperparameters["margin"] > 0.25:
            raise TrialInputError("margin must be small")
        yield from simulated_trial(settings, resume=resume, save=save)

    end = run_here(STUDY, tmp_path, InProcessExecutor(choosy))
    failed = rows(tmp_path).filter(pl.col("state") == "FAILED")
    assert end.progress.failed == len(failed) > 0
    assert set(failed["cause"]) == {"input"}


def test_a_full_store_stops_the_run_and_is_no_ones_failure(tmp_path, finished_storage):
    from podium.errors import StoreError

    def full(settings, *, resume, save, keep):
        raise StoreError("cannot write /x: No space left on device")
        yield

    with pytest.raises(StoreError, match="No space left"):
        run_here(STUDY, tmp_path, InProcessExecutor(full))
    assert rows(tmp_path).is_empty()
    run_here(STUDY, tmp_path)
    assert_frame_equal(tables(tmp_path), tables(finished_storage))
