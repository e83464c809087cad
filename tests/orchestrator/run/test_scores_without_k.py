"""The scores of test classes that have no K, from real training to the store and the report."""

import polars as pl
import pytest

from podium.analysis.report.report import study_page
from podium.analysis.scores.study_table import study_table
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.records.study_snapshot import read_store
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.worker.worker import train
from tests.orchestrator.small_study import run_here
from tests.orchestrator.study_files import load

TEXT = """\
study: letters
datasets: [{name: glyphs, classes: 24, instances_per_class: 4}]
losses: [contrastive, proxy_anchor]
embedding_dims: [8]
protocol: {val_fraction: 0.34}
search: {trials: 2}
final: {seeds: 1}
training: {epochs: 1, batch_size: 8}
metrics: {k: [1, 2]}
"""
WITHOUT_K = ["f1", "map_at_r", "nmi", "r_precision"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        study = load(tmp_path_factory.mktemp("file"), TEXT)
        storage = tmp_path_factory.mktemp("results")
        assert not run_here(study, storage, InProcessExecutor(train)).interrupted
        return storage / study.name


def test_every_tested_trial_has_each_of_them_once(folder):
    without_k = Reader(folder).test_scores().filter(pl.col("k").is_null())
    found = without_k.group_by("trial_id").agg(pl.col("metric").sort(), pl.col("value"))
    found = found.collect()
    stages = ["final", "baseline"]
    tested = Reader(folder).trials().filter(pl.col("stage").is_in(stages)).collect()
    assert set(found["trial_id"]) == set(tested["trial_id"])
    assert {tuple(metrics) for metrics in found["metric"]} == {tuple(WITHOUT_K)}
    assert found["value"].explode().is_between(0.0, 1.0).all()


def test_validation_and_searches_know_nothing_of_them(folder):
    assert not set(Reader(folder).scores().collect()["metric"]) & set(WITHOUT_K)
    columns = Reader(folder).trials().collect_schema().names()
    assert [name for name in columns if name.startswith("val_")] == [
        "val_recall_at_1",
        "val_recall_at_2",
    ]
    metrics = [tuple(metric) for metric in read_store(StudyPaths(folder)).metrics]
    assert metrics == [("recall", "maximise")]


def test_no_rank_and_no_cell_counts_them(folder):
    reader = Reader(folder)
    recalls = reader.test_scores().filter(metric="recall")
    tables = [
        study_table(reader.trials(), scores, primary_k=1)
        for scores in (reader.test_scores(), recalls)
    ]
    assert tables[0].cells.equals(tables[1].cells)
    assert "Recall@1" in study_page(folder)
