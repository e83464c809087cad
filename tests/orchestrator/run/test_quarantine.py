"""No test score reaches a search: replacing them all changes nothing but the test columns."""

from dataclasses import replace

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.journal import read_asks
from podium.orchestrator.results.records.metric_columns import known_test_columns
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.trial_schema import TEST_COLUMNS
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.search_samplers.sampler_names import DO_NOT_LEARN, SAMPLERS
from podium.orchestrator.study.study import (
    EarlyStopping,
    FinalSettings,
    SearchSettings,
    StudyLoss,
    StudyTraining,
    WarmStart,
)
from podium.trainables.settings.trial_settings import ProtocolSettings
from tests.orchestrator.planted import PlantedTrial, hashed, inverted, planted
from tests.orchestrator.results.store_frames import decisions
from tests.orchestrator.small_study import LISTED, STUDY, InterruptedAfter, rows, run_here, tables
from tests.soak import soak

LEARNERS = sorted({*SAMPLERS} - DO_NOT_LEARN)
HONEST = (
    ProtocolSettings(kind="fixed", val_fraction=0.25),
    ProtocolSettings(kind="kfold", val_fraction=None, folds=3),
    ProtocolSettings(kind="random_splits", val_fraction=0.25),
    ProtocolSettings(kind="repeated_kfold", val_fraction=None, folds=2, repeats=2),
)
TEST_TUNED = ProtocolSettings(kind="test_tuned", val_fraction=None)
CROSSED = replace(
    STUDY,
    name="crossed",
    embedding_dims=(8,),
    losses=(StudyLoss("contrastive"),),
    protocols=HONEST,
    search=SearchSettings(
        sampler="random",
        trials=5,
        early_stopping=EarlyStopping(kind="asha", reduction_factor=2),
        order="deterministic",
        lag=2,
    ),
    final=FinalSettings(seeds=1, train_on=("part", "all")),
    training=StudyTraining(overrides={"epochs": 4}),
    quarantine="record",
)


def with_search(study, **changes):
    return replace(study, search=replace(study.search, **changes))


def run_planted(study, storage, tested=hashed, **options):
    end = run_here(study, storage, InProcessExecutor(PlantedTrial(tested, **options)))
    assert not end.interrupted
    assert end.progress.failed == 0
    return storage


def but_tests(storage, study=CROSSED):
    """Every byte of the store that is no test score: rows, suggestions, frames for searches."""
    paths = StudyPaths(storage / study.name)
    trials = tables(storage, study)
    flat = known_test_columns(trials.columns)
    untested = trials.drop(*flat, *(name for name, _ in TEST_COLUMNS))
    return untested, read_asks(paths), decisions(Reader(paths.folder))


def assert_same_but_tests(study, one, other):
    (rows_one, asks_one, known_one), (rows_other, asks_other, known_other) = (
        but_tests(storage, study) for storage in (one, other)
    )
    assert asks_one == asks_other
    assert_frame_equal(known_one, known_other)
    assert_frame_equal(rows_one, rows_other)


def scores_on_test(storage, study=CROSSED):
    return Reader(storage / study.name).test_scores().collect()


def assert_tests_differ(study, one, other):
    """Or the comparison would show nothing."""
    values = [scores_on_test(storage, study)["value"] for storage in (one, other)]
    assert len(values[0]) == len(values[1]) > 0
    assert (values[0] != values[1]).mean() > 0.9


@pytest.mark.parametrize("sampler", [*LEARNERS, *soak(*sorted(DO_NOT_LEARN))])
def test_no_sampler_sees_a_test_score(tmp_path, sampler):
    few = replace(CROSSED, protocols=HONEST[1:2], final=FinalSettings(seeds=1))
    if sampler in ("grid", "coordinate"):
        few = with_search(replace(few, losses=(LISTED,)), tune=())
    study = with_search(few, sampler=sampler)
    one = run_planted(study, tmp_path / "one", hashed)
    other = run_planted(study, tmp_path / "other", inverted, test_seconds=1000.0)
    assert_tests_differ(study, one, other)
    assert_same_but_tests(study, one, other)


@pytest.mark.parametrize("kind", ["asha", "folds"])
def test_no_early_stopping_sees_a_test_score(tmp_path, kind):
    rules = EarlyStopping(kind=kind, reduction_factor=2)
    refitted = replace(
        CROSSED, protocols=HONEST[1:2], final=FinalSettings(seeds=1, train_on=("all",))
    )
    study = with_search(refitted, trials=8, early_stopping=rules)
    one = run_planted(study, tmp_path / "one", hashed)
    other = run_planted(study, tmp_path / "other", inverted)
    assert_tests_differ(study, one, other)
    assert_same_but_tests(study, one, other)
    stopped = rows(one, study).filter(pl.col("state") == "PRUNED")
    assert len(stopped) > 0


def test_no_warm_start_sees_a_test_score(tmp_path):
    study = replace(CROSSED, protocols=HONEST[1:2], final=FinalSettings(seeds=1))
    storages = [tmp_path / "one", tmp_path / "other"]
    later = []
    for storage, tested in zip(storages, (hashed, inverted), strict=True):
        run_planted(replace(study, name="earlier"), storage, tested)
        warm = WarmStart(folder=str(storage / "earlier"), top=2)
        later.append(with_search(study, warm_start=warm))
        run_planted(later[-1], storage)
    assert_tests_differ(replace(study, name="earlier"), *storages)
    assert_same_but_tests(study, *storages)
    sources = [
        ask.source
        for asks in read_asks(StudyPaths(storages[0] / study.name)).values()
        for ask in asks
    ]
    assert set(sources) == {"default", "given", "sampler"}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    return run_planted(CROSSED, tmp_path_factory.mktemp("recorded"))


def test_a_quarantine_changes_nothing_that_was_there_without_it(recorded, tmp_path):
    one = recorded
    study = replace(CROSSED, quarantine="none")
    other = run_planted(study, tmp_path / "other")
    untested = ["settings", "test_readings"]
    (with_it, asks_with, known_with), (without, asks_without, known_without) = (
        but_tests(storage) for storage in (one, other)
    )
    assert asks_with == asks_without
    assert_frame_equal(known_with, known_without)
    assert_frame_equal(with_it.drop(untested), without.drop(untested))
    stages = {storage: set(scores_on_test(storage)["stage"]) for storage in (one, other)}
    assert stages == {one: {"search", "final", "baseline"}, other: {"final", "baseline"}}


def test_a_quarantine_shows_no_score_of_a_search_beside_its_trials(recorded):
    assert "search" in set(scores_on_test(recorded)["stage"])
    trials = Reader(recorded / CROSSED.name).trials().collect()
    flat = list(known_test_columns(trials.columns))
    searched = trials.filter(pl.col("stage") == "search")
    finals = trials.filter(pl.col("stage") != "search")
    assert searched.select(flat).null_count().row(0) == (len(searched),) * len(flat)
    assert finals["test_recall_at_1"].null_count() == 0


@pytest.fixture(scope="module")
def with_plant(tmp_path_factory):
    """Every protocol tries the same configs; one of them is poor on validation everywhere."""
    study = with_search(CROSSED, shared_configs=True, early_stopping=EarlyStopping(kind="none"))
    study = replace(study, protocols=(*HONEST, TEST_TUNED))
    before = run_planted(study, tmp_path_factory.mktemp("before"))
    searched = rows(before, study).filter(pl.col("stage") == "search", ~pl.col("is_default"))
    honest = searched.filter(~pl.col("leaks")).with_columns(
        place=pl.col("objective").rank(descending=True).over("search")
    )
    best = honest.group_by("config_hash").agg(pl.col("place").min()).sort("place", "config_hash")
    name, place = best.row(-1)
    assert place > 1  # first nowhere
    storage = run_planted(study, tmp_path_factory.mktemp("planted"), planted(name))
    return study, storage, name


def test_no_search_prefers_a_config_that_is_perfect_on_test(with_plant):
    study, storage, name = with_plant
    trials = rows(storage, study)
    tried = trials.filter(pl.col("stage") == "search", pl.col("config_hash") == name)
    assert set(tried["protocol"]) == {protocol.kind for protocol in study.protocols}
    perfect = scores_on_test(storage, study).filter(
        pl.col("stage") == "search", pl.col("k") == 1, pl.col("value") == 1.0
    )
    assert set(perfect["config_hash"]) == {name}
    winners = trials.filter("is_winner", pl.col("protocol") != "test_tuned")
    assert set(winners["protocol"]) == {protocol.kind for protocol in HONEST}
    assert name not in set(winners["config_hash"])


def test_tuning_on_test_picks_it_and_every_trial_of_that_choice_is_marked(with_plant):
    study, storage, name = with_plant
    trials = rows(storage, study)
    leaking = trials.filter(pl.col("protocol") == "test_tuned", pl.col("stage") != "baseline")
    winners = leaking.filter("is_winner")
    assert set(winners["config_hash"]) == {name}
    assert set(winners["train_on"]) == {"part", "all"}
    assert winners["leaks"].all()
    assert leaking["leaks"].all()
    others = trials.filter(pl.col("protocol") != "test_tuned")
    assert not others["leaks"].any()


def test_the_winner_of_a_search_is_the_best_on_validation_by_brute_force(with_plant):
    study, storage, _ = with_plant
    scores = Reader(storage / study.name).scores().collect()
    best_epochs = (
        scores.filter(pl.col("stage") == "search", pl.col("role") == "val", pl.col("k") == 1)
        .group_by("search", "config_hash", "fold")
        .agg(pl.col("value").max())
        .group_by("search", "config_hash")
        .agg(pl.col("value").mean())
    )
    winners = rows(storage, study).filter("is_winner")
    for search, config in winners.select("search", "config_hash").unique().iter_rows():
        of_search = best_epochs.filter(pl.col("search") == search).sort("value")
        assert of_search["config_hash"][-1] == config


def test_each_reading_of_the_test_classes_is_counted(with_plant):
    study, storage, _ = with_plant
    epochs, trials = 4, rows(storage, study)
    of_folds = {"fixed": 1, "kfold": 3, "random_splits": 1, "repeated_kfold": 4}
    for row in trials.iter_rows(named=True):
        if row["same_as"] is not None:
            expected = 0
        elif row["stage"] == "search" and row["protocol"] != "test_tuned":
            expected = of_folds[row["protocol"]]
        elif row["split_protocol"] == "test_tuned":
            expected = epochs + 1
        else:
            expected = 1
        assert row["test_readings"] == expected, row


def test_finals_with_a_split_of_their_own_leak_only_if_test_classes_picked_them(tmp_path):
    final = FinalSettings(seeds=1, protocol=HONEST[0], train_on=("part", "all"))
    study = replace(CROSSED, protocols=(TEST_TUNED,), final=final)

    def all_but_the_default(settings, fold, epoch):
        is_default = settings.hyperparameters.get("margin") == 0.5
        return 0.0 if is_default else hashed(settings, fold, epoch)

    trials = rows(run_planted(study, tmp_path, all_but_the_default), study)
    marked = {
        (stage, train_on, is_winner): leaks
        for stage, train_on, is_winner, leaks in trials.select(
            "stage", "train_on", "is_winner", "leaks"
        ).iter_rows()
    }
    assert marked == {
        ("search", None, False): True,
        ("baseline", None, False): False,
        ("final", "part", False): False,  # the published default
        ("final", "part", True): True,
        ("final", "all", False): True,  # trained as long as was best on test
        ("final", "all", True): True,
    }


def test_pruned_trials_have_test_scores_of_their_finished_folds_alone(tmp_path):
    rules = EarlyStopping(kind="folds", reduction_factor=2)
    study = with_search(CROSSED, trials=8, early_stopping=rules)
    storage = run_planted(study, tmp_path)
    pruned = rows(storage, study).filter(pl.col("state") == "PRUNED", pl.col("num_folds") > 1)
    tested = scores_on_test(storage, study).filter(pl.col("k") == 1)
    assert len(pruned) > 0
    for row in pruned.iter_rows(named=True):
        of_trial = tested.filter(pl.col("trial_id") == row["trial_id"])
        assert sorted(of_trial["fold"]) == list(range(row["test_readings"]))
        assert row["test_readings"] == row["epochs_run"] // 4 - 1


def test_an_interrupted_quarantine_ends_in_the_same_tables(tmp_path):
    study = with_search(replace(CROSSED, protocols=HONEST[:2]), sampler="tpe")
    undisturbed = run_planted(study, tmp_path / "one")
    again = tmp_path / "other"
    end = run_here(study, again, InterruptedAfter(24, PlantedTrial(hashed)))
    assert end.interrupted
    # What is left of the searches is tested by other scores, and does not know.
    run_here(study, again, InProcessExecutor(PlantedTrial(inverted)))
    assert_same_but_tests(study, undisturbed, again)
