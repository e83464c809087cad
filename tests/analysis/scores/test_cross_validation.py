import itertools

import polars as pl
import pytest

from podium.analysis.scores.cross_validation import region_of_equivalence
from podium.analysis.scores.final_scores import CELL_COLUMNS


def folds_of(scores_by_finalist):
    """The fold table of one loss: finalist -> score of each fold."""
    cell = dict.fromkeys(CELL_COLUMNS, "x")
    rows = itertools.chain.from_iterable(
        ({**cell, "finalist": finalist, "test": score} for score in scores)
        for finalist, scores in scores_by_finalist.items()
    )
    return pl.DataFrame(list(rows))


def test_the_region_is_the_deviation_of_winners_over_folds():
    winner = [0.6, 0.62, 0.67]
    others = {"default": [0.1, 0.5, 0.9], "untrained": [0.2, 0.3, 0.2]}
    found, _ = region_of_equivalence(None, folds_of({"winner": winner, **others}))
    assert found == pytest.approx(pl.Series(winner).std())


def test_a_region_that_was_declared_counts():
    assert region_of_equivalence(0.5, folds_of({"winner": [0.1, 0.2]}))[0] == 0.005


@pytest.mark.parametrize("scores", [{"winner": [0.1]}, {"default": [0.1, 0.2]}])
def test_without_winners_over_folds_there_is_no_region(scores):
    found, why = region_of_equivalence(None, folds_of(scores))
    assert (found, why) == (0.0, "no standard deviation of winners over folds is known")
