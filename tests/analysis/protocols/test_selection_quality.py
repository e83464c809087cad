"""What picks are worth, where searches stop trials early or try configs of their own."""

import pytest

from podium.analysis.protocols.selection_quality import selection_quality
from tests.analysis.protocol_studies import run, runs_table

CONFIGS = ["c0", "c1", "c2", "c3"]
# Test scores of the scale in every repeat: c2 is the best by far.
TEST = {"c0": 50.0, "c1": 52.0, "c2": 60.0, "c3": 51.0}


def repeated_searches(val, *, repeats=4, protocol="raced", out=()):
    """The same search in every repeat; ``out`` are pruned there and have no test score."""
    return [
        run(
            config,
            protocol=protocol,
            repeat=repeat,
            seed=repeat,
            state="PRUNED" if config in out else "COMPLETE",
            val=val[config],
            test=None if config in out else TEST[config],
        )
        for repeat in range(repeats)
        for config in CONFIGS
    ]


def scaled(rows):
    """Choices of one protocol, scored by runs of all configs that none was stopped in."""
    tested = runs_table(repeated_searches(TEST))
    return selection_quality(runs_table(rows), order=["raced"], tested=tested)


def mean_of_measure(found, measure):
    return dict(found.means.select("measure", "mean").iter_rows())[measure]


def test_a_config_that_the_search_pruned_may_still_be_the_best():
    val = {"c0": 70.0, "c1": 75.0, "c2": 60.0, "c3": 71.0}
    found = scaled(repeated_searches(val, out=("c2",)))
    assert mean_of_measure(found, "regret") == pytest.approx(TEST["c2"] - TEST["c1"])
    rate = found.pick_rates.row(0, named=True)
    assert (rate["rate"], rate["chance"]) == (0, 1 / 4)
    # Its score is of fewer folds, so it has no place in the order: 50 < 51 < 52 as 70 < 71 < 75.
    assert mean_of_measure(found, "tau") == pytest.approx(1)


def test_a_pruned_config_that_is_not_the_best_changes_no_regret():
    val = {"c0": 70.0, "c1": 72.0, "c2": 75.0, "c3": 40.0}
    found = scaled(repeated_searches(val, out=("c3",)))
    assert mean_of_measure(found, "regret") == pytest.approx(0)
    assert found.pick_rates["rate"].item() == 1


def test_a_pick_that_alone_was_tried_elsewhere_is_not_scored():
    rows = [
        run(config, repeat=repeat, seed=repeat, val=val, test=val)
        for repeat in range(4)
        for config, val in {"default": 60.0, f"a{repeat}": 55.0, f"b{repeat}": 50.0}.items()
    ]
    assert selection_quality(runs_table(rows), order=["p"]) is None


def test_half_of_the_configs_tried_elsewhere_are_enough():
    rows = [
        run(config, repeat=repeat, seed=repeat, val=val, test=val)
        for repeat in range(4)
        for config, val in {"default": 60.0, "given": 55.0, f"a{repeat}": 50.0}.items()
    ]
    found = selection_quality(runs_table(rows), order=["p"])
    assert mean_of_measure(found, "picked_test") == pytest.approx(60)
    assert found.pick_rates["chance"].item() == 1 / 2
