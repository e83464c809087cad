"""Folds and test scores of a cross-validation in the page, its CSV, LaTeX and JSON."""

import csv
import io
import statistics
from dataclasses import replace
from itertools import chain

import pytest

from podium.analysis.page.html_page import render_page
from podium.analysis.page.table_files import csv_files
from podium.analysis.report.cross_validation import cross_validation
from podium.analysis.report.report import study_report
from podium.analysis.report.training import learning_curves
from podium.analysis.study_results.study_results import read_results
from tests.analysis.page_text import answer, page_of, rows_of, section_of, text_of
from tests.analysis.synthetic_folds import FOLDS, TRUTH, default_rows, fold_rows, write_folds

CELLS, EVERY_FOLD = "cross-validation-cells", "cross-validation-folds"
SEVERAL = replace(TRUTH, scripts=("greek", "latin"), seeds=2)
LOSSES = sorted(TRUTH.strengths)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "folds"
    defaults = default_rows(TRUTH, "contrastive")
    write_folds(folder, rows=chain(fold_rows(), defaults))
    return study_report(read_results(folder))


@pytest.fixture(scope="module")
def page(report):
    return render_page(report)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Two blocks, two seeds; the search of contrastive selected the published default."""
    folder = tmp_path_factory.mktemp("store") / "several"
    is_kept = {"contrastive": True}
    rows = ({**row, "is_default": is_kept.get(row["loss"], False)} for row in fold_rows(SEVERAL))
    write_folds(folder, SEVERAL, rows)
    return read_results(folder)


def truth_of(loss, truth=TRUTH):
    """Block -> validation and test scores of each fold in percent, means over seeds."""
    found = {}
    for row in fold_rows(truth):
        if row["loss"] == loss:
            val = max(score["value"] for score in row["scores"] if score["k"] == 1)
            test = next(score["value"] for score in row["test_scores"] if score["k"] == 1)
            sides = found.setdefault(row["block"], {}).setdefault(row["fold"], ([], []))
            sides[0].append(100 * val)
            sides[1].append(100 * test)
    return {
        block: [tuple(map(statistics.mean, sides)) for sides in folds.values()]
        for block, folds in found.items()
    }


def csv_of(page, table):
    return list(csv.DictReader(io.StringIO(csv_files(page)[f"{table}.csv"])))


def assert_cell_is_of(row, folds):
    val, test = zip(*folds, strict=True)
    assert float(row["Test Mean"]) == pytest.approx(statistics.mean(test))
    assert float(row["Test sd"]) == pytest.approx(statistics.stdev(test))
    assert float(row["Validation Mean"]) == pytest.approx(statistics.mean(val))
    assert float(row["Validation sd"]) == pytest.approx(statistics.stdev(val))
    assert int(row["Folds"]) == len(folds)


def test_the_csv_has_mean_and_sample_deviation_over_folds(report):
    rows = csv_of(report, CELLS)
    assert [(row["Loss"], row["Config"]) for row in rows] == [
        ("contrastive", "default"),
        ("contrastive", "tuned"),
        ("multi_similarity", "tuned"),
        ("proxy_anchor", "tuned"),
    ]
    for row in rows:
        (folds,) = truth_of(row["Loss"]).values()
        assert_cell_is_of(row, folds)


def test_the_csv_has_every_fold_with_its_scores_and_its_epoch(report):
    rows = [row for row in csv_of(report, EVERY_FOLD) if row["Config"] == "tuned"]
    assert [row["Loss"] for row in rows] == [loss for loss in LOSSES for _ in range(FOLDS)]
    for index, row in enumerate(rows):
        fold = index % FOLDS
        val, test = next(iter(truth_of(row["Loss"]).values()))[fold]
        assert (int(row["Fold"]), float(row["Epoch"])) == (fold, fold + 1)
        assert float(row["Best validation"]) == pytest.approx(val)
        assert float(row["Test"]) == pytest.approx(test)


def lines_of(latex, start):
    lines = map(str.strip, latex.splitlines())
    return [line for line in lines if line.startswith(start)]


def test_the_page_shows_what_the_files_hold(page):
    (folds,) = truth_of("proxy_anchor").values()
    val, test = zip(*folds, strict=True)
    row = rows_of(page, CELLS)[-1]
    assert row[:5] == [
        "proxy_anchor",
        "tuned",
        str(FOLDS),
        f"{statistics.mean(test):.2f}",
        f"{statistics.stdev(test):.2f}",
    ]
    assert rows_of(page, EVERY_FOLD)[-1] == [
        *("proxy_anchor", "tuned", "3"),
        *(f"{val[-1]:.2f}", "4", f"{test[-1]:.2f}"),
    ]
    seen = text_of(section_of(page, "cross-validation"))
    assert "over 4 folds of the training classes" in seen
    assert "glyphs-greek/conv_small/16; tuned by fixed, folds of kfold" in seen
    assert "not the standard error of the mean" in seen


def test_blocks_and_seeds_are_told_apart_and_a_kept_default_is_there_once(several):
    page = page_of(several, cross_validation)
    rows = rows_of(page, CELLS)
    assert [row[:3] for row in rows] == [
        [loss, config, f"glyphs-{script}/conv_small/16"]
        for script in ("greek", "latin")
        for loss, config in zip(LOSSES, ("tuned = default", "tuned", "tuned"), strict=True)
    ]
    for row in rows:
        test = [score for _, score in truth_of(row[0], SEVERAL)[row[2]]]
        assert row[4:6] == [f"{statistics.mean(test):.2f}", f"{statistics.stdev(test):.2f}"]
    assert len(rows_of(page, EVERY_FOLD)) == len(rows) * FOLDS
    assert "Seeds are averaged within a fold." in text_of(page)


def test_folds_are_averaged_and_never_counted_as_blocks(several):
    page = text_of(page_of(several, answer, learning_curves))
    assert "proxy_anchor is first in all 2 settings" in page
    assert "mean and range (band) of 2 seeds" in page


def test_a_fold_that_failed_is_counted_as_missing(tmp_path):
    failed = {"state": "FAILED", "test_scores": [], "test_class_hits": [], "cause": "diverged"}
    rows = ({**row, **(failed if row["fold"] == 2 else {})} for row in fold_rows())
    results = read_results(write_folds(tmp_path / "folds", rows=rows))
    page = page_of(results, cross_validation)
    assert [row[2] for row in rows_of(page, CELLS)] == ["3", "3", "3"]
    assert "Missing: 3 folds." in text_of(page)


def test_studies_without_tested_folds_have_no_such_chapter(synthetic_results, tmp_path):
    assert cross_validation(synthetic_results, {}) is None
    untested = ({**row, "test_scores": [], "test_class_hits": []} for row in fold_rows())
    results = read_results(write_folds(tmp_path / "folds", rows=untested))
    assert cross_validation(results, {}) is None


def test_by_nmi_the_chapter_has_no_validation_scores_but_epochs_and_folds(tmp_path):
    folder = write_folds(tmp_path / "folds")
    page = study_report(read_results(folder, score="nmi"))
    assert list(csv_of(page, CELLS)[0]) == ["Loss", "Config", "Folds", "Test Mean", "Test sd"]
    rows = csv_of(page, EVERY_FOLD)
    assert list(rows[0]) == ["Loss", "Config", "Fold", "Epoch", "Test"]
    for row, stored in zip(rows, sorted(fold_rows(), key=lambda one: one["loss"]), strict=True):
        (nmi,) = (score["value"] for score in stored["test_scores"] if score["metric"] == "nmi")
        assert float(row["Test"]) == pytest.approx(100 * nmi)
        assert (int(row["Fold"]), float(row["Epoch"])) == (
            stored["fold"],
            stored["epoch_selected"],
        )
    assert "NMI of each fold (small dots), on the test classes" in text_of(render_page(page))
