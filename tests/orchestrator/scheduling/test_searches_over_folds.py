"""Studies whose searches judge each config on several folds, with simulated training."""

import math
from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchestrator.planning.study_plan import plan
from orchestrator.results.trial_files.reader import Reader
from orchestrator.study.study import EarlyStopping, FinalSettings
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here, tables
from tests.soak import soak
from trainables.settings.trial_settings import ProtocolSettings

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
    for kind in ("folds", "asha", "none"):
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


def test_without_early_stopping_as_many_epochs_are_run_as_planned(undisturbed):
    run = rows(undisturbed["none"]).group_by("stage").agg(pl.col("epochs_run").sum())
    planned = {name: stage.epochs for name, stage in plan(stopping("none")).stages.items()}
    assert dict(run.iter_rows())["search"] == planned["search"]


@pytest.mark.parametrize("kind", ["folds", "asha"])
def test_racing_saves_epochs(undisturbed, kind):
    raced, full = searched(undisturbed[kind]), searched(undisturbed["none"])
    assert len(raced) == len(full)
    assert raced["epochs_run"].sum() < 0.7 * full["epochs_run"].sum()


def test_trials_are_stopped_after_whole_folds_only(undisturbed):
    pruned = searched(undisturbed["folds"]).filter(pl.col("state") == "PRUNED")
    assert set(pruned.select("epochs_run", "rung").rows()) <= {(4, 0), (8, 1), (16, 2)}
    assert pruned["rung"].n_unique() > 1
    assert (pruned["epochs_planned"] == FOLDS * EPOCHS).all()


def test_a_race_by_epochs_too_stops_in_the_first_fold_or_after_a_whole_one(undisturbed):
    pruned = searched(undisturbed["asha"]).filter(pl.col("state") == "PRUNED")
    expected = {(1, 0), (2, 1), (4, 2), (8, 3), (16, 4)}
    assert set(pruned.select("epochs_run", "rung").rows()) <= expected


def test_exactly_those_are_stopped_whose_folds_are_worse_than_those_of_earlier_trials(undisturbed):
    """Every decision taken again from the scores in the store, by brute force."""
    scores = fold_scores(undisturbed["folds"])
    for (_,), group in searched(undisturbed["folds"]).group_by("search"):
        means = {
            row["index"]: [
                sum(map(max, list(scores[row["trial_id"]].values())[:count])) / count
                for count in range(1, len(scores[row["trial_id"]]) + 1)
            ]
            for row in group.iter_rows(named=True)
        }
        for row in group.iter_rows(named=True):
            index, survived = row["index"], 0
            for count in (1, 2, 4):
                mine = means[index][count - 1]
                rivals = [
                    other[count - 1]
                    for rival, other in means.items()
                    if rival <= index - LAG and len(other) >= count
                ]
                better = sum(value > mine for value in rivals)
                if index and rivals and better >= math.ceil((len(rivals) + 1) / FACTOR):
                    break
                survived = count
            if row["state"] == "PRUNED":
                assert len(means[index]) == {0: 1, 1: 2, 2: 4}[survived]
            else:
                assert survived == 4


def test_the_published_default_is_judged_on_all_folds(undisturbed):
    for kind in ("folds", "asha"):
        defaults = searched(undisturbed[kind]).filter("is_default")
        assert set(defaults.select("state", "epochs_run").rows()) == {("COMPLETE", 20)}


def test_the_winner_is_the_best_of_those_judged_on_all_folds(undisturbed):
    trials = rows(undisturbed["folds"])
    for (search,), finals in trials.filter(pl.col("is_winner")).group_by("search"):
        complete = searched(undisturbed["folds"]).filter(
            pl.col("search") == search, pl.col("state") == "COMPLETE"
        )
        best = complete.sort("objective", "index", descending=[True, False])["config_hash"][0]
        assert set(finals["config_hash"]) == {best}


def test_finals_of_the_same_protocol_are_one_trial_a_fold(undisturbed):
    finals = rows(undisturbed["folds"]).filter(pl.col("is_winner"))
    folds = finals.group_by("search", "seed").agg(pl.col("fold").sort())
    assert folds["fold"].to_list() == [list(range(FOLDS))] * len(folds)
    assert finals["epoch_selected"].null_count() == 0
    hashes = rows(undisturbed["folds"])["protocol_hash"]
    assert hashes.n_unique() == 1


@pytest.mark.parametrize("kind", ["folds", *soak("asha")])
@pytest.mark.parametrize("step", [47, *soak(3, 11, 26, 80, 119)])
def test_an_interrupted_race_ends_in_the_same_tables(undisturbed, tmp_path, kind, step):
    study = stopping(kind)
    assert run_here(study, tmp_path, InterruptedAfter(step)).interrupted
    assert not run_here(study, tmp_path).interrupted
    assert_frame_equal(tables(tmp_path), tables(undisturbed[kind]))


@pytest.mark.parametrize("steps", [70, *soak(25)])
def test_a_race_interrupted_again_and_again_ends_in_the_same_tables(undisturbed, tmp_path, steps):
    interruptions = 0
    while run_here(RACED, tmp_path, InterruptedAfter(steps)).interrupted:
        interruptions += 1
    assert interruptions > 1
    assert_frame_equal(tables(tmp_path), tables(undisturbed["folds"]))


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
