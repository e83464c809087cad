"""The page of studies that went wrong, are not finished, or have little to tell."""

import re

from analysis.report.report import study_page
from analysis.report.tuning_gains import tuning_gains
from analysis.study_results.study_results import read_results
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_store
from orchestrator.results.trial_files.commit_trials import commit_trial
from tests.analysis.page_text import answer, page_of, text_of
from tests.analysis.synthetic_study import num_rows, rows, write_store
from tests.analysis.synthetic_trials import KS, Truth

SMALL = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2)


def test_a_default_that_won_its_only_block_is_not_called_open(tmp_path):
    folder = tmp_path / "s"
    one_block = Truth(scripts=("greek",), embedding_dims=(16,), search_trials=4, seeds=2)
    paths = StudyPaths(write_store(folder, one_block, stages=("search", "baseline")))
    schema = read_store(paths).schema
    for row in rows(one_block):
        if row["stage"] == "final" and row["is_winner"]:
            kept = row["loss"] == "contrastive"
            assert commit_trial(StudyPaths(folder), schema, {**row, "is_default": kept})
    text = text_of(page_of(read_results(folder), answer, tuning_gains))

    assert "beat the published default on validation for contrastive." in text
    assert (
        "It is uncertain whether tuning beat the published default on test for contra" not in text
    )


def test_a_study_of_which_every_trial_failed_has_a_page(tmp_path):
    folder = tmp_path / "s"
    paths = StudyPaths(write_store(folder, SMALL, stages=()))
    schema = read_store(paths).schema
    lost = {"state": "FAILED", "cause": "diverged", "objective": None, "epoch_selected": None}
    empty = ("scores", "class_hits", "test_scores", "test_class_hits", "test_retrievals")
    for row in rows(SMALL):
        row |= lost | {name: [] for name in empty} | {f"val_recall_at_{k}": None for k in KS}
        assert commit_trial(StudyPaths(folder), schema, row)
    text = text_of(study_page(folder))

    assert "There is no ranking" in text
    assert f"{num_rows(SMALL)} trials of {num_rows(SMALL)} failed" in text


def test_a_study_without_a_trial_has_no_empty_chapter(tmp_path):
    page = study_page(write_store(tmp_path / "begun", Truth(), stages=()))

    assert not re.findall(r'<div class="sections">\s*<section [^>]*>\s*</section>', page)
    assert "Scores: No final trial has been tested yet." in text_of(page)
    assert "Tuning gains: No final trial has been tested yet." in text_of(page)


def test_losses_that_do_not_beat_the_untrained_network_are_named(tmp_path):
    low = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, untrained=0.99)
    text = text_of(page_of(read_results(write_store(tmp_path / "s", low)), answer))
    assert "Not every tuned loss beats the untrained network: contrastive in" in text
    assert "proxy_anchor in glyphs-latin/conv_small/16 do not." in text


def test_planned_losses_that_nothing_is_known_of_are_named(tmp_path):
    folder = tmp_path / "s"
    paths = StudyPaths(write_store(folder, SMALL, stages=("search", "baseline")))
    schema = read_store(paths).schema
    for row in rows(SMALL):
        if row["stage"] == "final" and row["loss"] != "proxy_anchor":
            assert commit_trial(StudyPaths(folder), schema, row)
    text = text_of(page_of(read_results(folder), answer))

    assert "multi_similarity has the best average rank of 2 over 2 blocks" in text
    assert "proxy_anchor has no tested winner yet and is not ranked." in text


def test_a_statistic_that_is_not_a_number_is_a_dash(tmp_path):
    folder = tmp_path / "s"
    paths = StudyPaths(write_store(folder, SMALL, stages=("search", "baseline")))
    schema = read_store(paths).schema
    for row in rows(SMALL):
        if row["stage"] == "final":  # all equal
            row["test_scores"] = [{**score, "hits": 50} for score in row["test_scores"]]
            assert commit_trial(StudyPaths(folder), schema, row)
    text = text_of(study_page(folder))

    assert "All scores tie within every block" in text
    assert " nan" not in text.replace("loss is nan", "")


def test_levels_over_unlike_blocks_are_warned_of(tmp_path):
    warning = "a gain is no difference of two levels"
    whole = read_results(write_store(tmp_path / "whole", SMALL))
    assert warning not in text_of(page_of(whole, tuning_gains))

    folder = tmp_path / "s"
    paths = StudyPaths(write_store(folder, SMALL, stages=("search", "baseline")))
    schema = read_store(paths).schema
    for row in rows(SMALL):
        is_hole = row["loss"] == "contrastive" and "greek" in str(row["block"])
        if row["stage"] == "final" and not (is_hole and row["is_winner"]):
            assert commit_trial(StudyPaths(folder), schema, row)
    assert warning in text_of(page_of(read_results(folder), tuning_gains))
