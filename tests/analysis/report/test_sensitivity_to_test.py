"""The section on other tests says what they say, of studies and of published tables."""

import shutil
from pathlib import Path

import pytest

from analysis.report.sensitivity_to_test import sensitivity_to_test
from analysis.study_results.study_results import read_results
from analysis.tournament.verdict_text import verdict_sentences
from analysis.typed_tables.score_table import read_table
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import (
    read_schema,
    read_study,
    write_snapshot_files,
)
from tests.analysis.page_text import page_of, rows_of, table_page, text_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

CUB200 = Path(__file__).parents[2] / "data" / "thesis_recall_cub200.csv"
SMALL = Truth(scripts=("greek", "latin"), embedding_dims=(8, 16), search_trials=3, seeds=3)


def page_of_table(path, by):
    where = ["k=1"] if path == CUB200 else ()
    table = read_table(path, by=by, competitor="loss", score="recall", where=where)
    return table_page(table, title="t", source="s")


def page_and_results_of(folder):
    """The section of a study alone, and what it was made of."""
    results = read_results(folder)
    return page_of(results, sensitivity_to_test), results


@pytest.fixture(scope="module")
def three_seed_store(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("store") / "synthetic", SMALL)


def declared(store, folder, **rules):
    """The study, had it declared these rules before it ran."""
    shutil.copytree(store, folder)
    paths = StudyPaths(folder)
    study = {**read_study(paths)}
    study["tournament"] = {**study["tournament"], **rules}
    write_snapshot_files(
        paths, name="synthetic", study=study, provenance={}, schema=read_schema(paths)
    )
    return folder


def test_the_thesis_has_its_pairs_under_each_test(independent_thesis_page):
    rows = rows_of(independent_thesis_page, "tests")
    assert [row[0] for row in rows][:2] == ["Wilcoxon–Holm (primary)", "permutation–Holm"]
    assert {row[0]: row[1] for row in rows}["Nemenyi"] == "14"
    assert rows[0][1] == "26"
    assert rows[0][3] == "1 kept, 2 shared, 3 shared"


def test_a_table_is_not_said_to_have_declared_a_test(thesis_page, three_seed_store):
    study, _ = page_and_results_of(three_seed_store)
    assert "The primary test was declared before the outcome was known" in text_of(study)
    assert "A table declares no test; the primary one is podium's default" in text_of(thesis_page)
    assert "declared before" not in text_of(thesis_page)


def test_what_the_pool_decides_is_reported_for_the_thesis(independent_thesis_page):
    text = text_of(independent_thesis_page)
    assert "with the best 5 alone the critical difference is 1.761 and not 3.910" in text
    assert "ProxyAnchor and SoftTriple (average ranks 2.17 apart, 1.92 among 5)" in text


def test_without_seeds_there_is_no_region_and_no_interval_of_means(thesis_page):
    assert "No region of practical equivalence: nothing is known of seeds." in text_of(thesis_page)
    means = {row[0]: row[1:] for row in rows_of(thesis_page, "interquartile-means")}
    assert means["ProxyAnchor"] == ["+3.71", "–", "12"]


def test_the_matrix_has_gap_wins_and_p_of_each_pair(thesis_page, independent_thesis_page):
    assert rows_of(thesis_page, "pair-matrix")[0][2] == "+2.23 12/0/0; p = 1.00"
    first = rows_of(independent_thesis_page, "pair-matrix")[0]
    assert first[0] == "ProxyAnchor"
    assert first[2] == "+2.23 12/0/0; p = 0.022"
    second = rows_of(independent_thesis_page, "pair-matrix")[1]
    assert second[1] == "−2.23 0/0/12; p = 0.022"


def test_holes_are_tested_over_all_blocks_in_addition_to_the_ranking(tmp_path):
    path = tmp_path / "holes.csv"
    scores = {"a": "9988776", "b": "8877665", "c": "776 554"}
    lines = [
        f"{block},{loss},{score.strip()}"
        for loss, row in scores.items()
        for block, score in enumerate(row)
    ]
    path.write_text("\n".join(["block,loss,recall", *lines]) + "\n")
    page = page_of_table(path, ("block",))
    assert [row[0] for row in rows_of(page, "available-ranks")] == ["a", "b", "c"]
    assert [row[4] for row in rows_of(page, "available-ranks")] == ["7", "7", "6"]
    assert "Skillings–Mack: " in text_of(page)
    assert "by permutation over 7 blocks" in text_of(page)


def test_one_block_has_no_such_section(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("block,loss,recall\nx,a,1\nx,b,2\nx,c,3\n")
    assert "Sensitivity to the test" not in text_of(page_of_table(path, ("block",)))


def test_a_study_has_a_region_from_its_seeds_and_intervals_over_them(three_seed_store):
    page, _ = page_and_results_of(three_seed_store)
    assert "the standard deviation of runs" in text_of(page)
    assert "Runs are compared seed by seed" in text_of(page)
    means = rows_of(page, "interquartile-means")
    assert [row[0] for row in means] == ["proxy_anchor", "multi_similarity", "contrastive"]
    assert " to " in means[0][2]


def test_a_study_is_decided_by_the_test_it_declared(three_seed_store, tmp_path):
    folder = declared(three_seed_store, tmp_path / "s", test="nemenyi", alpha=0.1, rope_points=2.0)
    page, results = page_and_results_of(folder)
    assert (results.tournament.test, results.tournament.alpha) == ("nemenyi", 0.1)
    assert "however large its gap (Nemenyi, 10 %)" in " ".join(
        verdict_sentences(results.tournament, results.stability)
    )
    assert rows_of(page, "tests")[0][0] == "Nemenyi (primary)"
    assert "practical equivalence: 2 either way, as declared" in text_of(page)


def test_a_folder_from_before_tests_were_declared_has_the_default(three_seed_store, tmp_path):
    folder = shutil.copytree(three_seed_store, tmp_path / "s")
    paths = StudyPaths(folder)
    study = {key: value for key, value in read_study(paths).items() if key != "tournament"}
    write_snapshot_files(
        paths, name="synthetic", study=study, provenance={}, schema=read_schema(paths)
    )
    assert read_results(folder).tournament.test == "wilcoxon_holm"
