"""The page of studies that went wrong, are not finished, or have little to tell."""

import re
from dataclasses import replace

import pytest

from podium.analysis.report.tuning_gains import tuning_gains
from podium.analysis.study_results.study_results import read_results
from tests.analysis.page_text import answer, page_of, study_page, text_of
from tests.analysis.synthetic_study import num_rows, write_store
from tests.analysis.synthetic_trials import KS, SMALL, Truth


def test_a_default_that_won_its_only_block_is_not_called_open(tmp_path):
    one_block = Truth(scripts=("greek",), embedding_dims=(16,), search_trials=4, seeds=2)

    def kept(row):
        is_kept = row["is_winner"] or row["stage"] != "final"
        is_default = row["is_default"] or (row["is_winner"] and row["loss"] == "contrastive")
        return is_kept and {**row, "is_default": is_default}

    folder = write_store(tmp_path / "s", one_block, change=kept)
    text = text_of(page_of(read_results(folder), answer, tuning_gains))

    assert "beat the default on validation for contrastive." in text
    assert "Tuning changed the test score of these settings for contrastive" not in text


def test_a_study_of_which_every_trial_failed_has_a_page(tmp_path):
    lost = {"state": "FAILED", "cause": "diverged", "objective": None, "epoch_selected": None}
    empty = ("scores", "class_hits", "test_scores", "test_class_hits", "test_retrievals")
    lost |= {name: [] for name in empty} | {f"val_recall_at_{k}": None for k in KS}
    text = text_of(study_page(write_store(tmp_path / "s", SMALL, change=lambda row: row | lost)))

    assert "There is no ranking" in text
    assert f"{num_rows(SMALL)} trials of {num_rows(SMALL)} failed" in text


def test_a_study_without_a_trial_has_no_empty_chapter(tmp_path):
    page = study_page(write_store(tmp_path / "begun", Truth(), stages=()))

    assert not re.findall(r'<div class="sections">\s*<section [^>]*>\s*</section>', page)
    assert "Scores: No final trial has been tested yet." in text_of(page)
    assert "Tuning gains: No final trial has been tested yet." in text_of(page)


@pytest.mark.parametrize(
    ("untrained", "features", "better"),
    [(0.95, 0.35, "the untrained network"), (0.35, 0.95, "the untouched features")],
)
def test_that_no_loss_beats_the_better_baseline_is_said_at_the_top(
    tmp_path, untrained, features, better
):
    low = replace(SMALL, untrained=untrained, features=features)
    text = text_of(page_of(read_results(write_store(tmp_path / "s", low)), answer))
    assert text.count(f"No tuned loss beats the better baseline in any setting, {better}: ") == 1


def test_losses_that_do_not_beat_the_better_baseline_are_named(tmp_path):
    truth = replace(SMALL, features=0.6)
    text = text_of(page_of(read_results(write_store(tmp_path / "s", truth)), answer))
    assert "Not every tuned loss beats the better baseline, the untouched features: contr" in text
    assert "and multi_similarity in glyphs-latin/conv_small/16 do not." in text


@pytest.mark.parametrize(
    ("untrained", "better"),
    [
        (0.25, "the untouched features"),
        (0.35, "the untrained network"),
        (0.2725, "in some the untrained network, in others the untouched features"),
    ],
)
def test_the_better_baseline_that_every_tuned_loss_beats_is_named(tmp_path, untrained, better):
    truth = replace(SMALL, untrained=untrained, noise=0.02)
    text = text_of(page_of(read_results(write_store(tmp_path / "s", truth)), answer))
    assert f"Every tuned loss beats the better baseline in every setting: {better}." in text


def test_planned_losses_that_nothing_is_known_of_are_named(tmp_path):
    def known(row):
        return (row["loss"] != "proxy_anchor" or row["stage"] != "final") and row

    folder = write_store(tmp_path / "s", SMALL, change=known)
    text = text_of(page_of(read_results(folder), answer))

    assert "multi_similarity is first in all 2 settings" in text
    assert "Not ranked, as no winner has been tested yet: proxy_anchor." in text


def test_a_statistic_that_is_not_a_number_is_a_dash(tmp_path):
    def equal(row):
        scores = [{**it, "hits": 50} for it in row["test_scores"]]
        return {**row, "test_scores": scores} if row["stage"] == "final" else row

    folder = write_store(tmp_path / "s", SMALL, change=equal)
    text = text_of(study_page(folder))

    assert "tie for first of 3 over 2 settings, with an average rank of 2.00." in text
    assert " nan" not in text.replace("loss is nan", "")


def test_levels_over_unlike_blocks_are_warned_of(tmp_path):
    warning = "a gain is no difference of two levels"
    whole = read_results(write_store(tmp_path / "whole", SMALL))
    assert warning not in text_of(page_of(whole, tuning_gains))

    def with_hole(row):
        is_hole = row["loss"] == "contrastive" and "greek" in str(row["block"])
        return None if is_hole and row["is_winner"] else row

    folder = write_store(tmp_path / "s", SMALL, change=with_hole)
    assert warning in text_of(page_of(read_results(folder), tuning_gains))
