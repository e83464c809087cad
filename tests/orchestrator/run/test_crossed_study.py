"""Studies that cross protocols: refits, what is paired, fresh splits, shared configs."""

import json
from dataclasses import replace
from math import floor

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study.study import (
    EarlyStopping,
    FinalSettings,
    SearchSettings,
    StudyLoss,
    StudyTraining,
)
from podium.orchestrator.trials.history import mean_epoch
from podium.trainables.errors import Diverged
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator.planted import PlantedTrial, hashed
from tests.orchestrator.small_study import STUDY, InterruptedAfter, rows, run_here, tables

EPOCHS, SEEDS = 6, 1
PROTOCOLS = (
    ProtocolSettings(kind="fixed", name="80-20", val_fraction=0.2),
    ProtocolSettings(kind="kfold", val_fraction=None, folds=2),
    ProtocolSettings(kind="random_splits", val_fraction=0.25),
    ProtocolSettings(kind="test_tuned", val_fraction=None),
)
CROSSED = replace(
    STUDY,
    name="crossed",
    embedding_dims=(8,),
    protocols=PROTOCOLS,
    search=SearchSettings(
        sampler="random",
        shared_configs=True,
        trials=4,
        early_stopping=EarlyStopping(kind="asha", reduction_factor=2),
        order="deterministic",
        repeats=2,
        splits="fresh",
    ),
    final=FinalSettings(seeds=SEEDS, train_on=("part", "all")),
    training=StudyTraining(overrides={"epochs": EPOCHS}),
)

# For what searches try, whatever is reported on the way.
SHORT = replace(
    CROSSED, final=FinalSettings(seeds=1), training=StudyTraining(overrides={"epochs": 1})
)


def run_planted(study, storage, trial=None):
    end = run_here(study, storage, InProcessExecutor(trial or PlantedTrial(hashed)))
    assert not end.interrupted
    return storage


@pytest.fixture(scope="module")
def storage(tmp_path_factory):
    return run_planted(CROSSED, tmp_path_factory.mktemp("crossed"))


@pytest.fixture(scope="module")
def trials(storage):
    return rows(storage, CROSSED)


def stop_of(row):
    return json.loads(row["settings"])["stop_epoch"]


def selected_in_search(storage, study):
    """(Search, config) -> the best epoch of each fold, the earliest on ties."""
    scores = Reader(storage / study.name).scores().collect()
    found = {}
    for row in scores.filter(stage="search", role="val", metric="recall", k=1).to_dicts():
        folds = found.setdefault((row["search"], row["config_hash"]), {})
        key = (-row["value"], row["epoch"])
        folds[row["fold"]] = min(folds.get(row["fold"], key), key)
    return {place: [epoch for _, epoch in folds.values()] for place, folds in found.items()}


def test_a_refit_stops_where_the_search_selected_on_the_mean(storage, trials):
    selected = selected_in_search(storage, CROSSED)
    refits = trials.filter(train_on="all").to_dicts()
    assert len(refits) > 2 * 4 * 2 * SEEDS
    for row in refits:
        epochs = selected[row["search"], row["config_hash"]]
        expected = floor(sum(epochs) / len(epochs) + 0.5)
        assert stop_of(row) == expected
        assert row["epochs_planned"] == row["epochs_run"] == row["epoch_selected"] == expected
        assert (row["selection_rule"], row["split_protocol"]) == ("last_epoch", "refit")
        assert (row["objective"], row["val_recall_at_1"]) == (None, None)
    stops = {stop_of(row) for row in refits}
    assert len(stops) > 2
    halves = [epochs for epochs in selected.values() if sum(epochs) / len(epochs) % 1 == 0.5]
    assert halves


@pytest.mark.parametrize(("epochs", "mean"), [([3], 3), ([2, 3], 3), ([1, 1, 3], 2), ([], None)])
def test_halves_are_rounded_up(epochs, mean):
    assert mean_epoch(epochs) == mean


def test_other_finals_go_over_all_their_epochs(trials):
    for row in trials.filter(train_on="part").to_dicts():
        assert stop_of(row) is None
        assert row["epochs_run"] == EPOCHS
        assert row["selection_rule"] == "best_val_epoch"
        assert row["objective"] is not None


class DefaultFails(PlantedTrial):
    """The published default diverges in searches after so many epochs."""

    def __init__(self, after):
        super().__init__(hashed)
        self._after = after

    def __call__(self, settings, *, resume, save, keep=None):
        reports = super().__call__(settings, resume=resume, save=save, keep=keep)
        is_default = settings.hyperparameters.get("margin") == 0.5
        for number, report in enumerate(reports):
            if is_default and not settings.evaluate_test and number == self._after:
                raise Diverged("the loss is nan", 0, number)
            yield report


@pytest.mark.parametrize("after", [0, 2])
def test_a_default_that_failed_in_the_search_is_refitted_as_far_as_is_known(tmp_path, after):
    study = replace(CROSSED, losses=(StudyLoss("contrastive"),), protocols=PROTOCOLS[:1])
    run_planted(study, tmp_path, DefaultFails(after))
    trials = rows(tmp_path, study)
    failed = trials.filter(pl.col("is_default"), stage="search")
    assert set(failed["state"]) == {"FAILED"}
    selected = selected_in_search(tmp_path, study)
    for row in trials.filter(pl.col("is_default"), train_on="all").to_dicts():
        (epoch,) = selected.get((row["search"], row["config_hash"]), [None])
        assert stop_of(row) == epoch
        assert row["epochs_run"] == (epoch or EPOCHS)
        assert (epoch is None) == (after == 0)


def test_finals_share_seeds_between_losses_protocols_and_trainings(trials):
    finals = trials.filter(pl.col("stage") == "final")
    for (_, index), group in finals.group_by("repeat", "seed_index"):
        assert group["seed"].n_unique() == 1
        assert group["loss"].n_unique() == 2
        assert group["protocol"].n_unique() == len(PROTOCOLS)
        assert index in range(SEEDS)
    assert finals["seed"].n_unique() == 2 * SEEDS
    searched = trials.filter(pl.col("stage") == "search")
    assert searched.group_by("repeat").agg(pl.col("seed").n_unique())["seed"].to_list() == [1, 1]
    assert not set(searched["seed"]) & set(finals["seed"])
    baseline = trials.filter(pl.col("stage") == "baseline")
    assert set(baseline["seed"]) <= set(finals["seed"])


def test_finals_share_their_folds_between_losses_and_competitors(trials):
    part = trials.filter(train_on="part")
    for _, group in part.group_by("protocol", "repeat", "seed_index", "fold"):
        assert group["split_hash"].n_unique() == 1
        assert set(group["loss"]) == {"contrastive", "proxy_anchor"}
    refits = trials.filter(train_on="all")
    assert refits["split_hash"].n_unique() == refits["protocol_hash"].n_unique() == 1


def test_fresh_splits_differ_between_repeats_and_not_between_losses(trials):
    searched = trials.filter(stage="search")
    of_repeat = searched.group_by("protocol", "repeat").agg(pl.col("split_hash").unique())
    hashes = {(protocol, repeat): set(found) for protocol, repeat, found in of_repeat.iter_rows()}
    for protocol in PROTOCOLS[:2]:
        first, second = hashes[protocol.label, 0], hashes[protocol.label, 1]
        assert len(first) == len(second) == 1
        assert first != second
    assert hashes["test_tuned", 0] == hashes["test_tuned", 1]
    # A fresh split for each config, other ones in the other repeat; some may meet by chance.
    drawn = searched.filter(protocol="random_splits")
    pairs = drawn.group_by("config_hash").agg(pl.col("split_hash").n_unique())
    assert (pairs["split_hash"] == 2).mean() > 0.8


def tried(trials):
    """Search -> its configs in order."""
    searched = trials.filter(pl.col("stage") == "search").sort("search", "index")
    return {
        (loss, protocol, repeat): configs
        for loss, protocol, repeat, configs in searched.group_by(
            "loss", "protocol", "repeat", maintain_order=True
        )
        .agg("config_hash")
        .iter_rows()
    }


def test_shared_configs_are_the_same_for_all_protocols_and_repeats_of_a_loss(tmp_path):
    search = replace(CROSSED.search, sampler="qmc")
    found = tried(rows(run_planted(replace(SHORT, search=search), tmp_path), SHORT))
    for loss in SHORT.loss_names:
        of_loss = [configs for (of, _, _), configs in found.items() if of == loss]
        assert len(of_loss) == 8
        assert all(configs == of_loss[0] for configs in of_loss)
        assert len(set(of_loss[0])) == len(of_loss[0]) > 3


def test_without_sharing_only_the_default_is_tried_by_all(tmp_path):
    search = replace(CROSSED.search, shared_configs=False)
    study = replace(SHORT, search=search, losses=SHORT.losses[:1])
    first, *others = map(set, tried(rows(run_planted(study, tmp_path), study)).values())
    assert all(len(first & configs) == 1 for configs in others)


def test_an_interrupted_crossed_study_ends_in_the_same_tables(storage, tmp_path):
    executor = InterruptedAfter(200, PlantedTrial(hashed))
    assert run_here(CROSSED, tmp_path, executor).interrupted
    run_planted(CROSSED, tmp_path)
    assert_frame_equal(tables(tmp_path, CROSSED), tables(storage, CROSSED))
