"""A study of continuous labels from its file to its report, with real training in this process."""

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.worker.worker import train
from tests.analysis.page_text import study_page
from tests.orchestrator.small_study import run_here
from tests.orchestrator.study_files import load
from tests.podium.calling import call

TEXT = """\
study: shapes
datasets: [{name: glyph_masks, classes: 24, instances_per_class: 4}]
losses: [log_ratio, dense_triplet]
embedding_dims: [8]
protocol: {val_fraction: 0.34}
search:
  trials: 3
  order: deterministic
  early_stopping: {kind: asha, grace_epochs: 1, reduction_factor: 2}
final: {seeds: 2}
training: {epochs: 2, batch_size: 8, sampler: label_neighbours}
metrics: {k: [3, 1]}
"""
METRICS = ("ndcg", "mean_label_distance")


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def study(cache, tmp_path_factory):
    return load(tmp_path_factory.mktemp("file"), TEXT)


@pytest.fixture(scope="module")
def folder(study, tmp_path_factory):
    storage = tmp_path_factory.mktemp("results")
    end = run_here(study, storage, InProcessExecutor(train))
    assert not end.interrupted
    assert end.progress.score == "nDCG@3"
    return storage / study.name


@pytest.fixture(scope="module")
def trials(folder):
    return Reader(folder).trials().collect()


def test_every_trial_has_both_metrics_at_every_k_and_no_recall(folder, trials):
    assert set(trials["state"]) <= {"COMPLETE", "PRUNED"}
    trials = trials.filter(pl.col("loss") != "features")  # which are not validated
    flat = [name for name in trials.columns if name.startswith("val_")]
    assert flat == [f"val_{metric}_at_{k}" for metric in METRICS for k in (3, 1)]
    assert trials.select(flat).null_count().sum_horizontal().item() == 0
    scores = Reader(folder).scores().filter(pl.col("role") == "val").collect()
    assert set(scores["metric"]) == set(METRICS)
    assert Reader(folder).class_hits().collect().is_empty()


def test_the_objective_is_the_best_ndcg_at_the_first_k(folder, trials):
    best = (
        Reader(folder)
        .scores()
        .filter(pl.col("role") == "val", pl.col("metric") == "ndcg", pl.col("k") == 3)
        .group_by("trial_id")
        .agg(pl.col("value").max().alias("objective"))
        .sort("trial_id")
        .collect()
    )
    trials = trials.filter(pl.col("loss") != "features")  # which are not validated
    assert_frame_equal(trials.select("trial_id", "objective").sort("trial_id"), best)
    assert (trials["objective"] == trials["val_ndcg_at_3"]).all()


def test_the_search_picks_the_config_with_the_best_ndcg(trials):
    searched = trials.filter(pl.col("stage") == "search", pl.col("state") == "COMPLETE")
    for (search,), rows in searched.group_by("search"):
        best = rows.sort("objective", "index", descending=[True, False])["config_hash"][0]
        finals = trials.filter(pl.col("search") == search, "is_winner")
        assert set(finals["config_hash"]) == {best}


def test_the_report_never_calls_it_a_recall(folder):
    page = study_page(folder)
    assert "nDCG@3" in page
    assert "mean label distance@3" in page
    assert "retrieved by label distance, so none is right or wrong" in page
    assert "Recall" not in page
    assert " recall" not in page


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("tournament", "ranked by ndcg"),
        ("status", "best val nDCG@3"),
        ("plan --full", "scored by nDCG"),
    ],
)
def test_commands_never_call_it_a_recall(folder, capsys, command, told):
    called = call(capsys, *command.split(), folder)
    assert called.code == 0
    assert told in called.out
    assert "ecall" not in called.out
    assert "R@" not in called.out


def test_a_trial_trained_again_has_the_same_scores(folder, trials, capsys):
    final = trials.filter(pl.col("stage") == "final")["trial_id"][0]
    called = call(capsys, "trial", "rerun", final, "--study", folder)
    assert called.code == 0
    assert "val nDCG@3" in called.out
    assert "same: all 8 stored validation scores are equal" in called.out
