"""Expected best of a study of random search, and validation beside test in equal galleries."""

from dataclasses import replace

import polars as pl
import pytest

from analysis.figures.series import series_of
from analysis.report.matched_gallery import matched_gallery
from analysis.report.search_budget import search_budget
from analysis.scores.protocol_runs import search_runs
from analysis.selection.expected_best import expected_best
from analysis.study_results.study_results import read_results
from orchestrator.results.records.artifact_files import save_embeddings
from orchestrator.results.records.store_paths import StudyPaths
from tests.analysis.changed_results import with_views
from tests.analysis.page_text import page_of, rows_of, text_of
from tests.analysis.stored_embeddings import clusters, embeddings_file
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import CLASSES, Truth

TRUTH = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=6, seeds=2)


@pytest.fixture
def small_store(tmp_path):
    return write_store(tmp_path / "small", TRUTH)


def as_random(results):
    """As if its trials were random draws of which none was stopped."""
    search = {**results.study["search"], "sampler": "random"}
    kept = results.trials.filter(pl.col("state") != "PRUNED")
    drawn = kept.filter(pl.col("stage") == "search").select("search", "trial_id")
    changed = replace(results, study={**results.study, "search": search}, trials=kept)
    return with_views(changed, drawn=drawn)


def test_of_random_search_it_is_the_mean_of_the_searches_expected_best(small_store):
    results = as_random(read_results(small_store))
    searched = results.trials.filter(pl.col("stage") == "search", ~pl.col("is_default"))
    reader = results.reader
    curves = expected_best(
        search_runs(searched, reader.scores(), reader.test_scores(), metric="recall", k=1),
        sampler="random",
    )
    first = curves.filter(pl.col("num_trials") == 1)["unbiased"]
    level = first.mean()
    rows = rows_of(page_of(results, search_budget), "budget-table")

    assert {row[1] for row in rows} == {"1", "2"}  # of four draws one failed and one was stopped
    for loss, trials, biased, unbiased, *_ in rows:
        of_loss = curves.filter(pl.col("loss") == loss, pl.col("num_trials") == int(trials))
        for shown, name in ((biased, "biased"), (unbiased, "unbiased")):
            expected = 100 * (of_loss[name].mean() - level)
            assert float(shown.replace("−", "-")) == pytest.approx(expected, abs=0.006)


def test_the_biased_estimate_leads_and_pruning_leaves_what_happened(small_store):
    results = read_results(small_store)
    page = page_of(as_random(results), search_budget)
    assert "misleading least (Dodge et al. 2021), so it is the main line" in text_of(page)
    search = {**results.study["search"], "sampler": "random"}
    pruned = with_views(
        replace(results, study={**results.study, "search": search}),
        drawn=results.trials.filter(pl.col("stage") == "search").select("search", "trial_id"),
    )
    assert "Trials were stopped early, so they are no independent draws" in text_of(
        page_of(pruned, search_budget)
    )


def results_with_embeddings(store, num_classes, per_class):
    """Every tested run leaves embeddings of so many classes; validation has 20."""
    paths = StudyPaths(store)
    trials = read_results(store).finals
    for trial_id in trials["trial_id"].unique():
        points, labels = clusters(num_classes, per_class, apart=0.45, seed=1)
        save_embeddings(paths, trial_id, 0, embeddings_file(points, labels).to_bytes())
    return read_results(store)


def test_without_embeddings_there_are_no_galleries_of_one_size(small_store):
    results = read_results(small_store)

    assert matched_gallery(results, series_of(results.losses)) is None


def test_validation_minus_test_is_the_size_of_the_gallery_and_the_rest(small_store):
    results = results_with_embeddings(small_store, 23, 13)  # 299 images, as the stored scores say
    rows = rows_of(page_of(results, matched_gallery), "matched-table")

    assert len(rows) == 6
    for _, _, validation, few, test, gallery, rest, classes in rows:
        values = [
            float(text.split()[0].replace("−", "-"))
            for text in (validation, few, test, gallery, rest)
        ]
        assert values[3] == pytest.approx(values[1] - values[2], abs=0.011)
        assert values[4] == pytest.approx(values[0] - values[1], abs=0.011)
        assert classes == str(CLASSES)


def test_queries_with_a_gallery_of_their_own_are_left_out(small_store):
    # The stored scores are of a gallery of another size than the embeddings.
    results = results_with_embeddings(small_store, 30, 8)

    assert matched_gallery(results, series_of(results.losses)) is None
