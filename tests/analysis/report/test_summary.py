"""What the first screen of a page says, beside its picture."""

import polars as pl
import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.report.summary import study_summary, table_summary
from podium.analysis.study_results.study_results import read_results
from podium.analysis.tournament.table_tournament import rank_table
from podium.analysis.typed_tables.score_table import read_table
from podium.analysis.typed_tables.table_options import TableOptions
from podium.analysis.wording import duration
from tests.analysis import thesis_cub200
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth


def summary_of(table):
    results = rank_table(table)
    return table_summary(results, series_of(results.tournament.names)), results


def written(folder, text):
    file = folder / "scores.csv"
    file.write_text(text)
    return read_table(file, TableOptions(by=("block",), competitor="loss", score="recall"))


@pytest.fixture(scope="module")
def one_loss(tmp_path_factory):
    truth = Truth(
        strengths={"contrastive": 0.0},
        tuning_gains={"contrastive": 0.04},
        scripts=("greek", "latin"),
        search_trials=4,
        seeds=2,
    )
    return read_results(write_store(tmp_path_factory.mktemp("store") / "s", truth))


def test_one_loss_is_said_to_reach_its_mean_score_and_what_tuning_gained(one_loss):
    summary = study_summary(one_loss, series_of(one_loss.losses))
    tested = one_loss.selection
    mean = sum(tested["test_winner"]) / len(tested)
    gain = mean - sum(tested["test_default"]) / len(tested)

    assert [value for value, _ in summary.facts[:2]] == [
        f"{100 * mean:.1f}",
        f"+{100 * gain:.1f}",
    ]
    assert summary.verdict.startswith(
        f"contrastive reaches a Recall@1 of {100 * mean:.1f} % over 4 settings;"
    )
    made = one_loss.trials.filter(pl.col("stage").is_in(["search", "final"]))
    label = f"trials that took {duration(made['seconds'].sum())} of training"
    assert summary.facts[2] == (f"{made.height}", label)
    levels = [row[1].order for row in summary.leaderboard.rows]
    assert levels == sorted(levels, reverse=True)
    assert levels[0] == pytest.approx(100 * mean)


def test_losses_in_files_of_ones_own_are_named_as_yours(tmp_path):
    strengths = {"contrastive": 0.1, "triplet": 0.0}
    truth = Truth(
        strengths=strengths, tuning_gains=strengths, scripts=("greek",), search_trials=4, seeds=2
    )
    results = read_results(write_store(tmp_path / "s", truth))
    captions = []
    for shown in ({}, {"triplet": "Triplet"}, {"mine.py:contrastive": "contrastive"}):
        results.reader.shown = shown
        captions.append(study_summary(results, series_of(results.losses)).leaderboard.caption)
    assert captions[0] == captions[1] == captions[2].replace("; yours: contrastive", "")
    assert "; yours: contrastive" in captions[2]


def test_what_was_not_tested_is_told_as_an_order():
    summary, _ = summary_of(thesis_cub200.score_table())
    assert summary.verdict.endswith("6 data sets or 6 backbones; these are 1 and 3.")
    assert [value for value, _ in summary.facts] == ["+2.2", "12 of 12", "10 × 12"]
    assert [row[1].text for row in summary.leaderboard.rows] == ["1", "2", "3", "4", "5"]


def incomplete_table(folder, first):
    """8 blocks, all of whose scores are known in two; there b has ``first``, elsewhere 2."""
    scores = pl.DataFrame(
        {"block": b, "loss": loss, "recall": value}
        for b in range(8)
        for loss, value in (("a", 3.0), ("b", first if b < 2 else 2.0), ("c", 1.0))
        if loss != "c" or b < 2
    )
    scores.write_csv(folder / "scores.csv")
    return read_table(
        folder / "scores.csv", TableOptions(by=("block",), competitor="loss", score="recall")
    )


def test_without_a_score_in_a_block_the_first_over_all_blocks_is_named(tmp_path):
    other, _ = summary_of(incomplete_table(tmp_path, first=4.0))
    same, _ = summary_of(incomplete_table(tmp_path, first=2.0))

    over_all = "Over all 8 settings, 6 of which lack scores, a comes first, before"
    for summary, first in ((other, "b"), (same, "a")):
        assert summary.verdict.startswith(over_all)
        assert f"Among those with all scores: {first} is first in all 2" in summary.verdict
