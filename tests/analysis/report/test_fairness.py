"""What a report says of the fairness of its comparisons."""

import pytest

from podium.analysis.report.fairness import fairness
from podium.analysis.report.leaderboard import leaderboard
from podium.analysis.report.pairwise_comparisons import pairwise_comparisons
from podium.analysis.study_results.study_results import read_results
from podium.errors import CorruptFileError
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from tests.analysis.page_text import answer, page_of, rows_of, section_of, text_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import SMALL

GREEK = "glyphs-greek/conv_small/16"
BESIDE = "Not equal between the losses: searched hyperparameters (2 to 5). See Fairness"
SECTIONS = (answer, leaderboard, pairwise_comparisons, fairness)
HOSTILE = "<img src=x onerror=alert(1)>"
DECLARED = {
    "name": "learning_rate",
    "area": "training",
    "sides": [
        {"value": "0.01", "competitors": ["contrastive"]},
        {"value": "0.001", "competitors": ["multi_similarity", "proxy_anchor"]},
    ],
    "blocks": [GREEK],
    "standing": "declared",
    "reason": HOSTILE,
}


def changed_page(folder, change):
    """The page of a small study each of whose rows is changed."""
    return told_page(write_store(folder, SMALL, change=lambda row: row | change(row)))


def told_page(folder):
    """The sections that tell of fairness alone; a whole page has dozens of figures beside."""
    return page_of(read_results(folder), *SECTIONS)


def with_told(folder, change):
    """The store of a small study, and what was written down of its fairness changed."""
    write_store(folder, SMALL)
    file = StudyPaths(folder).provenance
    values = read_checksummed(file)
    change(values)
    write_checksummed(file, values)
    return folder


def test_what_losses_do_not_share_is_shown_once_below_the_leaderboard(synthetic_page):
    part = synthetic_page[synthetic_page.index('<section id="ranking">') :]
    assert text_of(part[: part.index("</section>")]).count(BESIDE) == 1
    assert text_of(synthetic_page).count(BESIDE) == 1
    assert "The losses were not equal in searched hyperparameters (2 to 5)." in text_of(
        synthetic_page
    )


def test_what_a_pair_does_not_share_is_shown_for_every_pair(tmp_path):
    folder = with_told(tmp_path / "s", lambda v: v["fairness"]["disparities"].append(DECLARED))
    apart = {(row[0], row[1]): row[-1] for row in rows_of(told_page(folder), "pairs")}
    assert apart == {
        ("proxy_anchor", "multi_similarity"): "searched hyperparameters",
        ("proxy_anchor", "contrastive"): "searched hyperparameters, learning_rate",
        ("multi_similarity", "contrastive"): "searched hyperparameters, learning_rate",
    }


def test_all_that_differs_is_in_one_table_with_who_answers_for_it(tmp_path):
    folder = with_told(tmp_path / "s", lambda v: v["fairness"]["disparities"].append(DECLARED))
    html = told_page(folder)
    assert rows_of(html, "fairness-differences") == [
        [
            "searched hyperparameters",
            "2 for contrastive; 3 for proxy_anchor; 5 for multi_similarity",
            *("everywhere", "–", "–"),
        ],
        [
            "own parameters",
            "none for contrastive and multi_similarity; some for proxy_anchor",
            *("everywhere", "the loss itself", "–"),
        ],
        [
            "learning_rate",
            "0.01 for contrastive; 0.001 for multi_similarity and proxy_anchor",
            *(GREEK, "declared in the study file", HOSTILE),
        ],
    ]
    assert HOSTILE not in html
    assert "learning_rate (declared in the study file)" in text_of(html)


def test_all_that_is_equal_is_shown_with_its_value(synthetic_page):
    equal = dict(rows_of(synthetic_page, "fairness-equal"))
    assert equal["searches"].startswith("10 trials by tpe")
    assert equal["epochs"] == "6"
    assert "sampler" in equal


def test_trials_that_agree_are_reported_in_one_sentence(synthetic_page):
    text = text_of(section_of(synthetic_page, "fairness"))
    assert "By the stored trials, all losses of a setting had the same backbone, weights" in text
    assert "seeds, epochs planned, selection of the epoch, version of podium" in text
    assert "fairness-recorded" not in synthetic_page
    assert "The stored trials of the losses" not in text_of(synthetic_page)


def test_finals_with_another_torch_are_shown_and_said_first(tmp_path):
    def change(row):
        is_there = (row["block"], row["loss"]) == (GREEK, "contrastive")
        return {"torch_version": "2.14.0"} if is_there and row["stage"] == "final" else {}

    html = changed_page(tmp_path / "s", change)
    values = "2.14.0 for contrastive; 2.15.0 for multi_similarity and proxy_anchor"
    assert rows_of(html, "fairness-recorded") == [
        ["version of torch", "finals of winners", values, GREEK],
        ["version of torch", "finals of defaults", values, GREEK],
    ]
    assert (
        "The stored trials of the losses also differ in version of torch (finals of winners and "
        "finals of defaults, 1 setting): see Fairness."
    ) in text_of(html)
    assert (
        "version of torch"
        not in text_of(section_of(html, "fairness")).partition("Differences between the stored")[0]
    )


def test_a_folder_from_before_this_was_recorded_is_assessed_by_its_trials(tmp_path):
    folder = with_told(tmp_path / "s", lambda values: values.pop("fairness"))
    html = told_page(folder)
    text = text_of(section_of(html, "fairness"))
    assert "was not recorded when this study started" in text
    assert "By the stored trials, all losses of a setting had the same" in text
    assert "fairness-differences" not in html
    assert "Not equal between the losses" not in text_of(html)
    assert "Not equal in" not in html


def test_what_was_written_down_and_damaged_is_an_error(tmp_path):
    folder = with_told(tmp_path / "s", lambda values: values["fairness"].pop("equal"))
    with pytest.raises(CorruptFileError, match=r"provenance\.json is damaged at fairness"):
        told_page(folder)
