"""Verification of pairs, from real training to the store, its checks and the report."""

import json
import re
from dataclasses import replace

import polars as pl
import pytest
from PIL import Image

from podium.analysis.page.table_files import csv_files, latex_files, page_record
from podium.analysis.report.report import study_page, study_report
from podium.analysis.study_results.study_results import read_results
from podium.errors import PodiumError, StudyError
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.verify.verify_store import verify_store
from podium.orchestrator.worker.worker import train
from podium.trainables.errors import TrialInputError
from tests.orchestrator.small_study import run_here
from tests.orchestrator.study_files import load
from tests.podium.calling import call
from tests.podium.kept_studies import trial_of
from tests.trainables.small_photographs import photograph

LETTERS = """\
study: letters
datasets: [{name: glyphs, classes: 32, instances_per_class: 4}]
losses: [contrastive, proxy_anchor]
embedding_dims: [8]
protocol: {val_fraction: 0.34}
search: {trials: 1}
final: {seeds: 2}
training: {epochs: 1, batch_size: 8}
metrics: {k: [1, 2], verification: true}
quarantine: QUARANTINE
"""
FILES = """\
study: files
datasets: [{name: folder, root: data}]
backbones: [{name: resnet18, weights: random}]
embedding_dims: [8]
image_sizes: [32]
losses: [contrastive]
protocol: {kind: fixed, val_fraction: 0.5}
search: {trials: 1}
final: {seeds: 1}
training: {epochs: 1, batch_size: 4, samples_per_class: 2, warm_up_epochs: 0,
  batch_norm: train}
metrics: {k: [1], verification: {pairs: pairs.txt}}
"""
PAIRS = """\
2 2
f 1 2
g 1 3
f 1 g 2
h 3 e 1
e 1 3
h 2 3
e 1 h 1
g 1 h 2
"""
METRICS = {
    "eer",
    "tar_at_far",
    "verification_accuracy",
    "verification_accuracy_se",
    "verification_auc",
}


def run_letters(tmp_path_factory, quarantine, *overrides):
    text = LETTERS.replace("QUARANTINE", quarantine)
    study = load(tmp_path_factory.mktemp("file"), text, *overrides)
    storage = tmp_path_factory.mktemp("results")
    assert run_here(study, storage, InProcessExecutor(train)).progress.failed == 0
    return storage / study.name


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return run_letters(tmp_path_factory, "record")


@pytest.fixture
def place(tmp_path):
    """A study file beside its images and its pairs; classes e to h are for testing."""
    for number, name in enumerate("abcdefgh"):
        (tmp_path / "data" / name).mkdir(parents=True)
        for index in (1, 2, 3):
            image = Image.fromarray(photograph(40, 40, seed=10 * number + index))
            image.save(tmp_path / "data" / name / f"{name}_{index:04d}.png")
    (tmp_path / "pairs.txt").write_text(PAIRS)
    return tmp_path


def run_files(place, storage="results", executor=None):
    end = run_here(load(place, FILES), place / storage, executor)
    assert end.progress.failed == 0
    return place / storage / "files"


def scores_of(folder):
    scores = Reader(folder).test_scores().filter(pl.col("metric").is_in(METRICS))
    return scores.collect()


def test_finals_and_baseline_have_the_scores_and_searches_only_recall(folder):
    trials, scores = Reader(folder).trials().collect(), scores_of(folder)
    stages = dict(zip(trials["trial_id"], trials["stage"], strict=True))
    assert {stages[name] for name in scores["trial_id"]} == {"final", "baseline"}
    by_trial = scores.group_by("trial_id").agg(pl.col("metric").unique().sort())
    assert {tuple(metrics) for metrics in by_trial["metric"]} == {tuple(sorted(METRICS))}
    searched = Reader(folder).test_scores().filter(stage="search").collect()
    assert set(searched["metric"]) == {"recall"}
    assert scores["value"].is_between(0.0, 1.0).all()
    assert (
        not set(Reader(folder).decisions().explode("scores")["scores"].struct.field("metric"))
        & METRICS
    )


def test_all_pairs_of_the_test_images_are_counted(folder):
    eer = scores_of(folder).filter(metric="eer")
    assert set(eer["queries"]) == {16 * 6}
    assert set(eer["gallery"]) == {64 * 63 // 2 - 16 * 6}
    tars = scores_of(folder).filter(metric="tar_at_far")
    assert set(tars["k"]) == set(range(23))  # of 1920 pairs 10 are FAR 10 ** -2.28


def test_the_store_is_sound(folder):
    assert not verify_store(folder).problems


def test_searches_have_the_scores_where_all_metrics_are_recorded(tmp_path_factory):
    folder = run_letters(tmp_path_factory, "record_all", "losses=[contrastive]", "final.seeds=1")
    searched = Reader(folder).test_scores().filter(stage="search").collect()
    assert set(searched["metric"]) > METRICS


def test_ids_of_trials_are_those_without_verification(tmp_path, folder):
    study = load(tmp_path, LETTERS.replace("QUARANTINE", "record"))
    run_here(replace(study, verification=False), tmp_path)
    before, after = (Reader(place).trials().collect() for place in (tmp_path / study.name, folder))
    assert set(before["trial_id"]) == set(after["trial_id"])
    assert scores_of(tmp_path / study.name).is_empty()
    assert "verification" not in json.loads(before["settings"][0])
    assert "verification-table" not in study_page(tmp_path / study.name)


def test_the_report_shows_means_over_seeds_as_table_and_curves(folder):
    page = study_report(read_results(folder))
    (section,) = [section for section in page.sections if section.name == "verification"]
    table = section.parts[1]
    finals = read_results(folder).winners.select("trial_id", "loss")
    accuracies = (
        scores_of(folder).filter(metric="verification_accuracy").join(finals, on="trial_id")
    )
    for row in table.rows[:2]:
        own = accuracies.filter(pl.col("loss") == row[1].text)["value"]
        assert len(own) == 2
        assert row[2].order == pytest.approx(100 * own.mean())
        assert re.fullmatch(r"± \d+\.\d\d", row[2].detail)
    assert [row[1].text for row in table.rows] == [
        *("contrastive", "proxy_anchor"),
        *("features", "untrained"),
    ]
    heads = [column.label for column in table.columns[2:]]
    assert heads == ["Accuracy", "1e-1", "1e-2", "EER", "AUC"]
    lowest = min(table.rows[:2], key=lambda row: row[5].order)
    assert lowest[5].is_best
    html = study_page(folder)
    assert 'id="roc-0"' in html
    assert "false accept rate" in html
    assert '[0.01,"1e-2"]' in html
    assert csv_files(page)["verification-table.csv"].startswith("Block,Loss,Accuracy,Accuracy (be")
    assert len(csv_files(page)["roc-table.csv"].splitlines()) == 1 + 23
    assert "TAR at FAR" in latex_files(page)["verification-table.tex"]
    record = page_record(page, None)
    assert {"verification-table", "roc-table"} <= {table["name"] for table in record["tables"]}


def test_evaluate_computes_what_was_recorded(folder, capsys):
    trial = trial_of(folder.parent, study="letters")
    arguments = (trial, "--study", folder, "--metric", "verification", "--json")
    called = call(capsys, "trial", "evaluate", *arguments)
    assert called.code == 0, called.err
    found = {(row["metric"], row["k"]): row["value"] for row in json.loads(called.out)}
    stored = scores_of(folder).filter(trial_id=trial)
    assert found == {
        (row["metric"], row["k"]): row["value"] for row in stored.iter_rows(named=True)
    }


def test_a_file_of_pairs_is_all_that_is_verified(place, capsys):
    folder = run_files(place, executor=InProcessExecutor(train))
    eer = scores_of(folder).filter(metric="eer")
    assert (set(eer["queries"]), set(eer["gallery"])) == ({4}, {4})
    assert scores_of(folder).filter(metric="tar_at_far").is_empty()  # 4 pairs bear no FAR
    assert not verify_store(folder).problems
    assert "verification-table" in study_page(folder)
    trial = trial_of(folder.parent, study="files")
    arguments = (trial, "--study", folder, "--metric", "verification", "--json")
    called = call(capsys, "trial", "evaluate", *arguments)
    assert called.code == 0, called.err
    found = {(row["metric"], row["value"]) for row in json.loads(called.out)}
    stored = scores_of(folder).filter(trial_id=trial)
    assert found == set(stored.select("metric", "value").rows())
    (place / "pairs.txt").write_text(PAIRS.replace("g 1 h 2", "g 1 h 3"))
    refused = call(capsys, "trial", "evaluate", *arguments)
    assert refused.code == 2
    assert "pairs are not those of the trial" in refused.err


def test_other_pairs_are_another_test(place):
    folder = run_files(place)
    before = Reader(folder).trials().collect()
    (place / "pairs.txt").write_text(PAIRS.replace("g 1 h 2", "g 1 h 3"))
    with pytest.raises(PodiumError, match="data set folder"):
        run_files(place)
    other = Reader(run_files(place, "other")).trials().collect()
    assert set(before["test_hash"]).isdisjoint(other["test_hash"])
    assert set(before["trial_id"]).isdisjoint(other["trial_id"])


def test_an_unknown_image_ends_the_start_with_file_line_and_name(place):
    (place / "pairs.txt").write_text(PAIRS.replace("g 1 h 2", "g 1 h 7"))
    with pytest.raises((TrialInputError, StudyError), match=r"pairs\.txt:9: .* no image h/h_0007"):
        run_files(place)
