"""The store of a benchmark reads like one that a study wrote."""

import polars as pl

from analysis.study_results.study_results import read_results
from benchmarks.synthetic_store import Size, write_synthetic_store
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader

SMALL = Size(
    datasets=("cub200",),
    backbones=("resnet50",),
    embedding_dims=(64, 128, 256),
    losses=("contrastive", "triplet"),
    trials=6,
    seeds=2,
    epochs=7,
    test_classes=10,
)


def test_it_has_every_trial_that_was_asked_for(tmp_path):
    folder = write_synthetic_store(tmp_path / "s", SMALL)
    trials = Reader(folder).trials().collect()

    counts = dict(trials["stage"].value_counts().iter_rows())
    assert counts["search"] == 3 * 2 * 6
    assert 3 * 2 * 2 <= counts["final"] <= 3 * 2 * 2 * 2  # the default may win
    assert counts["baseline"] == 3 * 2
    assert len(list(StudyPaths(folder).asks.rglob("*.json"))) == counts["search"]


def test_the_strongest_loss_wins_and_winners_are_the_best_of_their_search(tmp_path):
    results = read_results(write_synthetic_store(tmp_path / "s", SMALL, asks=False))

    assert results.tournament.names == ("triplet", "contrastive")
    best = (
        results.search_trials.filter(state="COMPLETE")
        .sort("objective", descending=True)
        .group_by("search")
        .first()
    )
    winners = results.finals.filter(pl.col("is_winner")).select("search", "config_hash").unique()
    assert set(winners.iter_rows()) == set(best.select("search", "config_hash").iter_rows())


def test_hits_of_classes_and_scores_are_of_the_same_epochs(tmp_path):
    reader = Reader(write_synthetic_store(tmp_path / "s", SMALL, asks=False))
    epochs = reader.scores().filter(k=1).select("trial_id", "epoch").collect()
    hits = reader.class_hits().select("trial_id", "epoch").unique().collect()

    assert set(epochs.iter_rows()) == set(hits.iter_rows())
