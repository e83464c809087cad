import polars as pl
import pytest

from analysis.protocols.published_protocols import published_protocols
from podium.errors import PodiumError


@pytest.fixture
def typed(tmp_path):
    def write(**columns):
        path = tmp_path / "typed.csv"
        pl.DataFrame(columns).write_csv(path)
        return path

    return write


def verdicts(path, **options):
    return dict(published_protocols(path, **options).verdicts)


def test_each_group_has_its_verdict(typed):
    path = typed(
        loss=["a", "a", "b", "b", "c"],
        setting=["x", "y", "x", "y", "x"],
        val_recall=[1.0, 2, 5, 3, 1],
        test_recall=[7.0, 4, 6, 1, 1],
        test_std=[0.1] * 5,
    )
    assert verdicts(path) == {
        "a": "test chooses x; validation chooses y, 3.00 points worse",
        "b": "validation and test both choose x",
        "c": "one candidate, and nothing to choose among",
    }


def test_folds_are_averaged_and_compared(typed):
    path = typed(
        config=["x", "x", "y", "y"],
        fold=[0, 1, 0, 1],
        val=[1.0, 3, 5, 3],
        test=[7.0, 4, 6, 1],
    )
    assert verdicts(path)[""] == (
        "x: test 5.500 ± 2.121 over 2 folds (sample standard deviation), validation 2.000 ± 1.414,"
        " Kendall's tau over folds -1.000; y: test 3.500 ± 3.536 over 2 folds (sample standard"
        " deviation), validation 4.000 ± 1.414, Kendall's tau over folds 1.000; test chooses x;"
        " validation chooses y, 2.00 points worse"
    )


def test_columns_can_be_named(typed):
    path = typed(ratio=["x", "y"], place=["p", "p"], seen=[1.0, 2], unseen=[2.0, 1])
    found = verdicts(path, by=["place"], candidate="ratio", val="seen", test="unseen")
    assert found == {"p": "test chooses x; validation chooses y, 1.00 points worse"}


def test_without_validation_scores_nothing_is_known(typed):
    path = typed(setting=["x", "y"], val=pl.Series([None, None], dtype=pl.Float64), test=[1.0, 2])
    reasons = verdicts(path)
    assert reasons == {"": "no validation scores, so what validation would choose is not known"}


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"setting": ["x"], "test": [1.0]}, {}, "one column of val scores; in .* none is"),
        ({"val_a": [1.0], "val_b": [1.0], "test": [1.0]}, {}, "val_a, val_b might be"),
        ({"val": [1.0], "test": [1.0]}, {"by": ["nowhere"]}, "no column 'nowhere'"),
        ({"val": [1.0, 2], "test": [1.0, 2]}, {}, "occurs twice"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(typed, columns, options, message):
    with pytest.raises(PodiumError, match=message):
        published_protocols(typed(**columns), **options)
