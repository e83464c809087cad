"""Recalls that leave the line of their data set, against the line by scipy."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import theilslopes

from analysis.audit.outlying_recalls import outlying_recalls
from analysis.audit.score_columns import ScoreColumns
from tests.analysis import thesis_cub200

COLUMNS = ScoreColumns(by=("dataset",), competitor="loss", score="recall", has_k=True)


def table(recalls_LK, ks=(1, 2, 4), dataset="CUB"):
    return pl.DataFrame(
        [
            {"dataset": dataset, "loss": f"loss {loss}", "k": k, "recall": float(recall)}
            for loss, row in enumerate(recalls_LK)
            for k, recall in zip(ks, row, strict=True)
        ]
    )


def smooth_recalls(num_losses=12, seed=0):
    """Percent at three K whose log odds lie close to lines."""
    generator = np.random.default_rng(seed)
    odds_L = generator.uniform(-0.5, 1, num_losses)
    odds_LK = (
        odds_L[:, None] + np.array([0, 0.55, 1.1]) + generator.normal(0, 0.02, (num_losses, 3))
    )
    return 100 / (1 + np.exp(-np.sort(odds_LK, axis=1)))


def noted(frame, columns=COLUMNS):
    return [note.where for note in outlying_recalls(frame, columns)]


def test_a_wrong_digit_that_keeps_the_order_is_noted():
    recalls_LK = smooth_recalls()
    assert noted(table(recalls_LK)) == []
    recalls_LK[3, 0] -= 10
    assert noted(table(recalls_LK)) == ["CUB/loss 3, k = 2"]


def test_shares_of_1_are_compared_alike():
    recalls_LK = smooth_recalls()
    recalls_LK[3, 2] += 8
    assert noted(table(recalls_LK / 100)) == noted(table(recalls_LK)) == ["CUB/loss 3, k = 4"]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_noted_is_what_scipys_line_says(seed):
    recalls_LK = smooth_recalls(seed=seed)
    recalls_LK[0, 1] += 3.5 if seed % 2 else -3.5
    expected = []
    for before, after, k in ((0, 1, 2), (1, 2, 4)):
        x_L, y_L = (np.log(r / (100 - r)) for r in recalls_LK[:, [before, after]].T)
        slope = theilslopes(y_L, x_L).slope
        intercept = np.median(y_L - slope * x_L)
        off_L = np.abs(y_L - slope * x_L - intercept)
        points_L = np.abs(recalls_LK[:, after] - 100 / (1 + np.exp(-slope * x_L - intercept)))
        is_far_L = (off_L > 6 * 1.4826 * np.median(off_L)) & (points_L > 3)
        rises_L = recalls_LK[:, after] >= recalls_LK[:, before]
        expected += [f"CUB/loss {i}, k = {k}" for i in np.flatnonzero(is_far_L & rises_L)]
    assert sorted(noted(table(recalls_LK))) == sorted(expected)


def test_few_rows_make_no_line():
    recalls_LK = smooth_recalls(7)
    recalls_LK[3, 0] -= 10
    assert noted(table(recalls_LK)) == []


def test_data_sets_have_lines_of_their_own():
    easy = table(smooth_recalls(seed=1), dataset="CARS").with_columns(pl.col("recall") / 4 + 74)
    assert noted(pl.concat([table(smooth_recalls()), easy])) == []


def test_missing_falling_and_impossible_recalls_are_left_to_other_checks():
    recalls_LK = smooth_recalls()
    recalls_LK[0] = (60, 20, 99)
    frame = table(recalls_LK).with_columns(
        pl.when(pl.col("loss") == "loss 1").then(None).otherwise("recall").alias("recall")
    )
    frame = frame.with_columns(
        pl.when((pl.col("loss") == "loss 2") & (pl.col("k") == 1))
        .then(160.0)
        .otherwise("recall")
        .alias("recall")
    )
    assert "CUB/loss 0, k = 2" not in noted(frame)
    assert not [where for where in noted(frame) if "loss 1," in where or "loss 2," in where]


def test_equal_rows_are_on_their_line():
    assert noted(table(np.tile([50.0, 60.0, 70.0], (9, 1)))) == []


def test_scores_without_k_have_none():
    columns = ScoreColumns(by=("dataset",), competitor="loss", score="recall")
    assert noted(table(smooth_recalls(), ks=(1, 2, 4)).filter(pl.col("k") == 1), columns) == []


def test_the_tables_of_the_thesis_on_cub200_have_none():
    frame = pl.read_csv(thesis_cub200.RECALLS).with_columns(pl.col("recall").cast(pl.Float64))
    columns = ScoreColumns(by=thesis_cub200.BY, competitor="loss", score="recall", has_k=True)
    assert noted(frame, columns) == []
