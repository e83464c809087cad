"""Studies whose searches judge each config on several folds, with simulated training."""

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study.study import EarlyStopping, FinalSettings
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator.small_study import STUDY, rows, run_here, tables

FOLDS, EPOCHS, FACTOR, LAG = 5, 4, 2, 2
RACED = replace(
    STUDY,
    embedding_dims=(8,),
    protocols=(ProtocolSettings(kind="kfold", val_fraction=None, folds=FOLDS),),
    search=replace(
        STUDY.search,
        trials=12,
        early_stopping=EarlyStopping(kind="folds", reduction_factor=FACTOR),
        lag=LAG,
    ),
)


def stopping(kind):
    rules = EarlyStopping(kind=kind, reduction_factor=FACTOR)
    return replace(RACED, search=replace(RACED.search, early_stopping=rules))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    storages = {}
    for kind in ("folds", "none"):
        storages[kind] = tmp_path_factory.mktemp(kind)
        assert not run_here(stopping(kind), storages[kind]).interrupted
    return storages


def searched(storage):
    return rows(storage).filter(pl.col("stage") == "search").sort("search", "index")


def fold_scores(storage):
    """Trial id -> validation Recall@1 of each epoch, fold by fold."""
    found = {}
    scores = Reader(storage / RACED.name).scores().collect()
    chosen = scores.filter(
        pl.col("role") == "val", pl.col("metric") == "recall", pl.col("k") == 1
    ).sort("trial_id", "fold", "epoch")
    for trial, fold, value in chosen.select("trial_id", "fold", "value").iter_rows():
        found.setdefault(trial, {}).setdefault(fold, []).append(value)
    return found


def test_a_config_is_judged_by_the_mean_of_the_best_epoch_of_each_fold(undisturbed):
    scores = fold_scores(undisturbed["none"])
    for row in searched(undisturbed["none"]).iter_rows(named=True):
        of_trial = scores[row["trial_id"]]
        assert sorted(of_trial) == list(range(FOLDS))
        assert row["objective"] == pytest.approx(sum(map(max, of_trial.values())) / FOLDS)
        assert row["state"] == "COMPLETE"
        assert (row["fold"], row["num_folds"], row["epoch_selected"]) == (None, FOLDS, None)
        assert row["epochs_run"] == row["epochs_planned"] == FOLDS * EPOCHS


def test_repeated_folds_judge_a_config_as_more_folds_do(tmp_path):
    protocol = ProtocolSettings(kind="repeated_kfold", val_fraction=None, folds=3, repeats=2)
    study = replace(stopping("none"), protocols=(protocol,))
    study = replace(study, search=replace(study.search, trials=2), losses=study.losses[:1])
    run_here(study, tmp_path)
    for row in searched(tmp_path).iter_rows(named=True):
        assert (row["state"], row["num_folds"], row["epochs_run"]) == ("COMPLETE", 6, 6 * EPOCHS)
        assert len(set(row["split_hash"].split("+"))) == 6


def test_finals_of_the_same_protocol_are_one_trial_a_fold(undisturbed):
    finals = rows(undisturbed["folds"]).filter(pl.col("is_winner"))
    folds = finals.group_by("search", "seed").agg(pl.col("fold").sort())
    assert folds["fold"].to_list() == [list(range(FOLDS))] * len(folds)
    assert finals["epoch_selected"].null_count() == 0
    split = rows(undisturbed["folds"]).filter(pl.col("loss") != "features")
    assert split["protocol_hash"].n_unique() == 1


def test_more_trials_race_against_those_before_as_if_there_had_been_one_run(tmp_path):
    def random_search(trials):
        search = replace(RACED.search, sampler="random", trials=trials)
        return replace(RACED, search=search, final=FinalSettings(seeds=1))

    run_here(random_search(8), tmp_path / "one")
    run_here(random_search(5), tmp_path / "two")
    run_here(random_search(8), tmp_path / "two")
    one, two = (
        tables(tmp_path / name).filter(pl.col("stage") == "search") for name in ("one", "two")
    )
    assert_frame_equal(one, two)
