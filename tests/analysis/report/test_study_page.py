"""The report of a study whose truth is known."""

import re
from dataclasses import replace

import pytest

from podium.analysis.report.leaderboard import leaderboard
from podium.analysis.report.provenance import provenance
from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from tests.analysis.page_text import answer, page_of, rows_of, study_page, text_of
from tests.analysis.synthetic_study import num_rows, write_store
from tests.analysis.synthetic_trials import SMALL, Truth
from tests.orchestrator.changed_folders import change_study

SCRIPTS = ("all", "armenian", "cyrillic", "georgian", "greek", "latin", "symbols")


@pytest.fixture(scope="module")
def seen(synthetic_page):
    return text_of(synthetic_page)


def small_store(folder, **changes):
    return write_store(folder, replace(SMALL, **changes))


def test_it_opens_with_the_true_winner_and_how_sure_that_is(seen):
    opening = seen[seen.index("proxy_anchor is first in all 8 settings, on average") :]

    assert "it takes 6 data sets or 6 backbones; these are 4 and 1." in opening
    assert "not for papers." in opening


def test_seven_data_sets_support_the_true_order(tmp_path):
    folder = write_store(tmp_path / "s", replace(SMALL, scripts=SCRIPTS, seeds=3))
    seen = text_of(page_of(read_results(folder), answer))

    assert "proxy_anchor is first in all 7 settings" in seen
    assert "The test counts 7 data sets" in seen
    assert "All 3 pairs differ significantly" in seen


def test_the_gap_it_states_is_the_true_one(seen):
    # Strength 0.06 + tuning 0.08 against 0.03 + 0.02; seeds add noise of 0.4 points / sqrt(24).
    gap = float(re.search(r"on average ([\d.]+) points of Recall@1 above ", seen)[1])

    assert gap == pytest.approx(9.0, abs=0.4)


def test_what_tuning_bought_is_the_true_gain_without_an_interval_over_four_data_sets(
    synthetic_page, seen
):
    gains = {row[0]: row[5] for row in rows_of(synthetic_page, "tuning-summary")}

    assert set(gains) == {"contrastive", "multi_similarity", "proxy_anchor"}
    for loss, gain in gains.items():
        assert float(gain) == pytest.approx(100 * Truth().tuning_gains[loss], abs=0.4)
    assert "Gains are means of these settings. Whether that holds on other data sets" in seen


def test_a_data_set_of_which_images_may_be_missing_is_not_that_of_the_literature(
    synthetic_page, tmp_path
):
    assert "allow_partial" not in synthetic_page
    store = write_store(tmp_path / "s", SMALL)

    def allow(study):
        study["datasets"][0]["options"]["allow_partial"] = True

    change_study(store, allow)
    assert "Read with allow_partial, which need not be" in page_of(read_results(store), answer)


def test_baselines_are_shown_with_the_losses(synthetic_page, seen):
    assert "beats the better baseline in every setting: the untrained network." in seen
    last = [row[0] for row in rows_of(synthetic_page, "recall-0")[-2:]]
    assert last == ["features", "untrained"]


def test_counts_of_trials_are_complete(synthetic_page, seen):
    (total,) = [row for row in rows_of(synthetic_page, "cost") if row[0] == "all"]
    searched = [int(cell) for cell in total[1:4]]

    assert sum(searched) == 8 * 3 * 10
    assert int(total[4]) == 8 * 3  # each search asked for one trial twice
    assert int(total[5]) == 8 * 3 * 2 * 3 + 8 * 3 + 4
    assert f"It took {num_rows(Truth())} trials" in seen
    assert "All 24 searches had the same budget: 10 trials each." in seen


def test_failures_are_listed_with_their_cause(synthetic_page, seen):
    (failure,) = rows_of(synthetic_page, "failures")

    assert failure[:2] == ["diverged", "24"]
    assert failure[4] == "loss is nan at epoch 1"
    assert "24 trials of 412 failed (diverged 24)" in seen


def test_provenance_names_versions_seeds_and_hashes(seen):
    for fact in ("2.15.0", "0123abc", "1000, 1001, 1002", "test-glyphs-latin", "node-a"):
        assert fact in seen


def test_provenance_tells_what_was_searched_in_words_and_by_block_where_that_differs(tmp_path):
    folder = write_store(tmp_path / "s", SMALL)
    margin = {"kind": "real", "low": 0.1, "high": 0.9, "log": False, "step": None, "unit": ""}
    rate = {**margin, "low": 1e-4, "high": 0.03, "log": True}
    form = {"kind": "choice", "values": ["soft", "hard"], "unit": "", "source": "own"}
    both = ["glyphs-greek/conv_small/16", "glyphs-latin/conv_small/16"]
    spaces = {
        "contrastive": [{"blocks": both, "parameters": {"margin": margin, "form": form}}],
        "multi_similarity": [{"blocks": both, "parameters": {}}],
        "proxy_anchor": [
            {"blocks": both[:1], "parameters": {"learning_rate": rate}},
            {"blocks": both[1:], "parameters": {"learning_rate": {**rate, "high": 0.3}}},
        ],
    }
    file = StudyPaths(folder).provenance
    write_checksummed(file, {**read_checksummed(file), "spaces": spaces})
    found = text_of(page_of(read_results(folder), provenance))
    for words in (
        "searched of contrastive margin 0.1 to 0.9; form soft, hard searched of",
        "searched of multi_similarity nothing searched of",
        f"searched of proxy_anchor in {both[0]} learning_rate 0.0001 to 0.03, log",
        f"searched of proxy_anchor in {both[1]} learning_rate 0.0001 to 0.3, log",
    ):
        assert words in found


def test_ids_are_unique_over_all_figures_and_tables(synthetic_page):
    ids = re.findall(r'\bid="([^"]+)"', synthetic_page)

    assert len(ids) == len(set(ids))


def test_a_block_whose_winner_failed_is_left_out_and_said(tmp_path):
    block = "glyphs-greek/conv_small/16"
    folder = small_store(tmp_path / "s", failed_finals=((block, "contrastive"),), seeds=2)
    seen = text_of(page_of(read_results(folder), answer, leaderboard))

    assert "Left out of the ranking for missing scores: 1 setting" in seen
    assert "lacks contrastive" in seen
    assert "2 final trials among them" in seen


def test_a_study_that_tried_defaults_only_claims_nothing_of_tuning(tmp_path):
    truth = replace(SMALL, search_trials=1)

    def kept(row):
        is_kept = row["is_winner"] or row["stage"] != "final"
        return is_kept and {**row, "is_default": row["is_default"] or row["is_winner"]}

    html = study_page(write_store(tmp_path / "s", truth, change=kept))

    assert "Nothing but the default was evaluated for contrastive" in text_of(html)
    assert "No other config beat" not in html
    assert 'id="tuning-gains"' not in html


def test_a_study_that_has_only_searched_says_so(tmp_path):
    folder = write_store(tmp_path / "s", SMALL, stages=("search",))
    html = study_page(folder)
    seen = text_of(html)

    assert "There is no ranking" in seen
    assert "No final trial has been tested yet." in seen
    assert "No winner was retrained with validation classes." in seen
