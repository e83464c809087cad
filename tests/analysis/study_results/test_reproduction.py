"""Published values beside a store with known truth: verdicts against numbers by hand."""

import statistics
from dataclasses import asdict, replace

import polars as pl
import pytest
import scipy.stats

from podium.analysis.figures.series import series_of
from podium.analysis.report.reproduction import reproduction
from podium.analysis.study_results.reproduction import compare_ranks, compare_values
from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.results.records.expected_values import Expected, ExpectedValue
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study.resolved_study import resolved_dict
from tests.analysis.page_text import page_of, rows_of, text_of
from tests.analysis.synthetic_folds import TRUTH as FOLDS_TRUTH
from tests.analysis.synthetic_folds import fold_rows, write_folds
from tests.analysis.synthetic_study import change_snapshot, write_store
from tests.analysis.synthetic_trials import Truth

TRUTH = Truth(
    scripts=("greek", "latin"),
    embedding_dims=(16,),
    search_trials=4,
    failed_finals=(("glyphs-latin/conv_small/16", "contrastive"),),
)
BLOCK = "glyphs-greek/conv_small/16"


def expected_value(value=60.0, **changes):
    usual = {
        "block": BLOCK,
        "loss": "proxy_anchor",
        "protocol": "",
        "finalist": "winner",
        "train_on": "",
        "k": 1,
        "tolerance": 1.0,
    }
    return ExpectedValue(**{**usual, "value": value, **changes})


@pytest.fixture(scope="module")
def reproduced_store(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("reproduction") / "synthetic", TRUTH)


@pytest.fixture(scope="module")
def reproduced_results(reproduced_store):
    return read_results(reproduced_store)


def our_seeds(store_results, loss="proxy_anchor", k=1):
    """Test recalls in percent of the winner's seeds, straight from the store."""
    rows = (
        Reader(store_results.folder)
        .test_scores()
        .filter(
            pl.col("block") == BLOCK,
            pl.col("loss") == loss,
            pl.col("stage") == "final",
            pl.col("is_winner"),
            pl.col("k") == k,
            pl.col("metric") == "recall",
        )
        .collect()
    )
    return [100 * value for value in rows["value"].to_list()]


def compare(results, *values, **more):
    return compare_values(results, Expected(source="a paper", values=values, **more))


def test_ours_is_the_mean_over_seeds_with_the_interval_of_students_t(reproduced_results):
    seeds = our_seeds(reproduced_results)
    assert len(seeds) == 3
    (found,) = compare(reproduced_results, expected_value())
    assert found.ours == pytest.approx(sum(seeds) / 3)
    low, high = scipy.stats.t.interval(0.95, 2, scipy.stats.tmean(seeds), scipy.stats.sem(seeds))
    assert found.half_width == pytest.approx((high - low) / 2, abs=1e-4)


@pytest.mark.parametrize(
    ("beyond", "verdict"),
    [(-0.01, "reproduced"), (0.0, "reproduced"), (0.5, "compatible"), (1.01, "differs")],
)
@pytest.mark.parametrize("side", [-1, 1])
def test_the_verdict_follows_from_tolerance_and_interval(
    reproduced_results, beyond, verdict, side
):
    (plain,) = compare(reproduced_results, expected_value())
    away = side * (1.0 + (beyond * plain.half_width if beyond > 0 else beyond))
    (found,) = compare(reproduced_results, expected_value(plain.ours + away))
    assert found.verdict == verdict
    assert found.difference == pytest.approx(-away)


def test_other_k_finalists_and_training_parts_are_other_values(reproduced_results):
    found = compare(
        reproduced_results,
        expected_value(),
        expected_value(k=4),
        expected_value(finalist="default"),
        expected_value(train_on="part"),
        expected_value(protocol="fixed"),
        expected_value(train_on="all"),
    )
    ours = [value.ours for value in found]
    assert ours[1] > ours[0] > ours[2]
    assert ours[3] == ours[4] == ours[0]
    assert found[5].verdict == "not run"


def test_folds_their_deviation_and_validation_are_values_too(tmp_path):
    truth = replace(FOLDS_TRUTH, seeds=3)
    results = read_results(write_folds(tmp_path / "folds", truth))
    sides = {"validation": ("scores", max), "test": ("test_scores", min)}
    by_fold = {side: {} for side in sides}
    for row in fold_rows(truth):
        for side, (nested, best) in sides.items():
            if row["loss"] == "proxy_anchor":
                value = best(it["value"] for it in row[nested] if it["k"] == 4)
                by_fold[side].setdefault(row["fold"], []).append(100 * value)
    of_folds = {side: [*map(statistics.mean, folds.values())] for side, folds in by_fold.items()}
    asked = {
        **{(side, 0): statistics.mean(values) for side, values in of_folds.items()},
        **{(side, 3): values[2] for side, values in of_folds.items()},
        ("sd", 0): statistics.stdev(of_folds["test"]),
    }
    expected = Expected(
        source="a paper",
        values=tuple(expected_value(k=4, statistic=it, fold=fold) for it, fold in asked),
    )
    found = compare_values(results, expected)
    assert [value.ours for value in found] == pytest.approx([*asked.values()])
    assert [value.num_seeds for value in found] == [3] * 5
    assert [value.half_width is None for value in found] == [False] * 4 + [True]
    shown = rows_of(page_of(with_expected(results, expected), reproduction), "reproduction")
    assert [row[3] for row in shown] == [
        "R@4, validation",
        "R@4",
        "R@4, validation",
        "R@4",
        "R@4, sd over folds",
    ]
    assert [row[2] for row in shown][2:] == ["winner fold 3", "winner fold 3", "winner"]
    (absent,) = compare(results, expected_value(fold=5))
    assert absent.verdict == "not run"


def with_expected(results, expected):
    return replace(results, study={**results.study, "expect": asdict(expected)})


def test_failed_and_unknown_cells_were_not_run(reproduced_results):
    failed, absent = compare(
        reproduced_results,
        expected_value(block="glyphs-latin/conv_small/16", loss="contrastive"),
        expected_value(block="glyphs-thai/conv_small/16"),
    )
    assert (failed.verdict, failed.ours, failed.num_failed) == ("not run", None, 3)
    assert (absent.verdict, absent.num_failed) == ("not run", 0)


def test_ranks_are_compared_with_the_tournament(reproduced_results):
    ranks = {"proxy_anchor": 1.2, "multi_similarity": 1.0, "margin": 3.0}
    found = compare_ranks(
        reproduced_results, Expected(source="a paper", ranks=ranks, rank_tolerance=0.5)
    )
    assert {loss: each.verdict for loss, each in found.items()} == {
        "proxy_anchor": "reproduced",
        "multi_similarity": "differs",
        "margin": "not run",
    }


def expecting(folder, expected, truth=TRUTH):
    """The store with another frozen study, as `podium run` writes it when `expect` changes."""
    study = replace(truth.study_file, expect=expected)
    return change_snapshot(folder, study=resolved_dict(study))


def test_the_page_says_what_is_reproduced(tmp_path, reproduced_results):
    (plain,) = compare(reproduced_results, expected_value())
    expected = Expected(
        source="Someone 2020, table <3>",
        values=(
            expected_value(round(plain.ours, 1)),
            expected_value(round(plain.ours - 20, 1), k=2, protocol="fixed"),
            expected_value(block="glyphs-latin/conv_small/16", loss="contrastive"),
        ),
        num_elsewhere=7,
        ranks={"proxy_anchor": 1.0},
    )
    folder = expecting(write_store(tmp_path / "synthetic", TRUTH), expected)
    page = page_of(read_results(folder), reproduction)
    text = text_of(page)
    assert (
        "Of 3 published values, 1 is reproduced, 1 differs and 1 was not run, as published in:"
        " Someone 2020, table <3>." in text
    )
    assert "It is proxy_anchor in glyphs-greek/conv_small/16, by +" in text
    assert "7 further values of the published table are of settings" in text
    assert "Of 1 published average rank, 1 is reproduced." in text
    rows = rows_of(page, "reproduction")
    assert [row[-1].split(" by")[0] for row in rows] == ["reproduced", "differs", "not run"]
    assert "3 seeds" in rows[0][5]
    assert "3 failed" in rows[2][5]


def test_a_printed_row_whose_recall_falls_is_compared_with_nothing(tmp_path, reproduced_results):
    (plain,) = compare(reproduced_results, expected_value())
    row = [expected_value(plain.ours + more, k=k) for k, more in ((4, 8.0), (1, 0.0), (2, -0.01))]
    other = expected_value(0.0, k=4, finalist="default")
    found = compare(reproduced_results, *row, other)
    assert [value.verdict for value in found] == ["impossible"] * 3 + ["differs"]
    assert [value.difference for value in found[:3]] == [None] * 3
    assert found[1].ours == plain.ours

    expected = Expected(source="Someone 2020, table 3", values=(*row, expected_value(60.0, k=8)))
    folder = expecting(write_store(tmp_path / "synthetic", TRUTH), expected)
    page = page_of(read_results(folder), reproduction)
    text = text_of(page)
    assert "Of 4 published values, 0 are reproduced and 4 are impossible as printed" in text
    assert "some value of the row is misprinted and none of it is compared" in text
    assert {row[-1] for row in rows_of(page, "reproduction")} == {"impossible as printed"}


def test_equal_recalls_are_possible_and_other_scores_may_fall():
    values = [
        expected_value(60.0),
        expected_value(60.0, k=2),
        expected_value(59.0, k=2, config="k=2"),
    ]
    assert Expected(source="s", values=tuple(values)).impossible("recall") == ()
    falling = Expected(source="s", values=(expected_value(60.0), expected_value(59.0, k=2)))
    assert falling.impossible("ndcg") == ()
    assert falling.impossible("recall") == falling.values


def test_a_study_that_expects_nothing_has_no_such_chapter(reproduced_results):
    assert reproduction(reproduced_results, series_of(reproduced_results.losses)) is None
