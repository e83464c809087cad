"""Published values of single configs beside trials of searches that were tested in quarantine."""

import statistics

import polars as pl
import pytest

from podium.analysis.report.reproduction import reproduction
from podium.analysis.study_results.reproduction import compare_values
from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.expected_values import Expected, expected_of
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study_validation.load_study import load_study
from tests.analysis.page_text import page_of, text_of
from tests.orchestrator.small_study import run_here

STUDY = """\
study: grid
datasets: [{name: glyphs, script: greek, classes: 40, instances_per_class: 4}]
embedding_dims: [8]
losses: [{loss: gradml, values: {w: 0.5}, space: {k: [2.0, 2.5]}}]
search: {sampler: grid, trials: 2, tune: [], early_stopping: none, repeats: 2}
protocol: {kind: test_tuned}
final: {seeds: 1}
training: {epochs: 1}
metrics: {k: [1, 2]}
quarantine: record_all
expect:
  source: a paper
  tolerance: 0.5
  finalist: default
  file: table.csv
"""
TABLE = """\
hp.k,hp.w,hp.learning_rate,metric,k,value
2.5,,,NMI,,50
2.5,0.5,,,2,50
4,,,,,50
,,,F1,,50
,,0.5,,,50
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("configs")
    (folder / "study.yaml").write_text(STUDY)
    (folder / "table.csv").write_text(TABLE)
    end = run_here(load_study(folder / "study.yaml"), folder, InProcessExecutor())
    assert end.progress.failed == 0
    return read_results(folder / "grid")


def scores_of(results, *conditions):
    """Test scores in percent, straight from the store."""
    rows = Reader(results.folder).test_scores().filter(*conditions).collect()
    return [100 * value for value in rows["value"].to_list()]


def test_a_config_is_compared_by_the_mean_over_the_repeats_of_its_search(results):
    nmi, recall, *_ = compare_values(results, expected_of(results.study))
    searched = results.trials.filter(pl.col("stage") == "search", pl.col("hp.k") == 2.5)
    of_config = (pl.col("trial_id").is_in(searched["trial_id"].implode()),)
    nmis = scores_of(results, *of_config, pl.col("metric") == "nmi")
    recalls = scores_of(results, *of_config, pl.col("metric") == "recall", pl.col("k") == 2)
    assert len(nmis) == len(recalls) == nmi.num_seeds == recall.num_seeds == 2
    assert nmi.ours == pytest.approx(statistics.mean(nmis), rel=1e-9)
    assert recall.ours == pytest.approx(statistics.mean(recalls), rel=1e-9)


def test_a_config_that_was_not_searched_was_not_run(results):
    compared = compare_values(results, expected_of(results.study))
    assert [value.verdict for value in compared].count("not run") == 2
    assert {compared[2].ours, compared[4].ours} == {None}


def test_a_finalist_is_compared_by_a_metric_without_k(results):
    f1 = compare_values(results, expected_of(results.study))[3]
    finals = (pl.col("stage") == "final", pl.col("is_default"), pl.col("metric") == "f1")
    assert f1.ours == pytest.approx(statistics.mean(scores_of(results, *finals)), rel=1e-9)


def test_the_report_names_config_and_metric(results):
    text = text_of(page_of(results, reproduction))
    assert "k=2.5 w=0.5" in text
    assert "NMI" in text


def test_finals_alone_have_images_of_what_was_retrieved(results):
    stages = results.reader.test_retrievals().select("stage").unique().collect()
    assert "search" not in stages["stage"].to_list()


def test_nothing_is_expected_of_nothing(results):
    assert compare_values(results, Expected(source="a paper")) == ()
