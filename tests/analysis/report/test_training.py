"""What the figures of training and search show of a study with known truth."""

from dataclasses import replace

import polars as pl
import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.page.html_page import Illustration
from podium.analysis.report.training import learning_curves, search_history
from podium.analysis.report.validation_and_test import validation_and_test
from podium.analysis.study_results.study_results import read_results
from podium.errors import PodiumError
from tests.analysis.changed_results import with_views
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import EPOCHS, Truth

TRUTH = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=8, seeds=3)
LOSSES = len(TRUTH.strengths)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_results(write_store(tmp_path_factory.mktemp("store") / "study", TRUTH))


def drawn(section, results):
    parts = section(results, series_of(results.losses)).parts
    return next(part for part in parts if isinstance(part, Illustration))


def curve(*points, block="b", loss="contrastive"):
    """Rows of curves: of each point seed, fold, epoch and value."""
    return [
        {
            "block": block,
            "loss": loss,
            "metric": "recall",
            "repeat": 0,
            "seed_index": seed,
            "fold": fold,
            "epoch": epoch,
            "value": value,
        }
        for seed, fold, epoch, value in points
    ]


def test_every_block_has_a_curve_of_every_loss_and_a_selector(results):
    found = drawn(learning_curves, results)

    assert found.selector == "Setting"
    assert [plot.label for plot in found.plots] == sorted(set(results.winners["block"]))
    for plot in found.plots:
        assert {line["name"] for line in plot.values["lines"]} == set(results.losses)
        assert plot.values["xs"] == [list(map(float, range(1, EPOCHS + 1)))]


def test_a_curve_is_the_mean_of_seeds_with_their_range(results):
    rows = curve((0, 0, 1, 50.0), (0, 1, 1, 60.0), (1, 0, 1, 70.0), (0, 0, 2, 80.0))
    found = drawn(learning_curves, with_views(results, curves=pl.DataFrame(rows)))
    (line,) = found.plots[0].values["lines"]

    # The second epoch is not reached by both seeds.
    assert (line["y"], line["low"], line["high"]) == ([62.5], [55.0], [70.0])
    assert found.selector == ""


def test_diagnostics_are_curves_of_their_own_as_they_are_stored(tmp_path):
    truth = replace(TRUTH, has_diagnostics=True)
    results = read_results(write_store(tmp_path / "study", truth))
    every = series_of(results.losses)
    figure, fold = learning_curves(results, every).parts
    (found,) = fold.parts
    stored = results.reader.scores().filter(
        pl.col("metric").is_in(["gradient_norm", "effective_rank"]),
        pl.col("trial_id").is_in(results.winners["trial_id"].implode()),
    )
    means = stored.group_by("block", "loss", "metric", "epoch").agg(pl.col("value").mean())
    for plot in found.plots:
        title, block = plot.label.split(", ")
        metric = title.lower().replace(" ", "_")
        for line in plot.values["lines"]:
            own = means.filter(block=block, loss=line["name"], metric=metric).sort("epoch")
            assert line["y"] == pytest.approx(own.collect()["value"].to_list(), rel=1e-5)
    assert len(found.plots) == 2 * len(figure.plots)
    assert [column.label for column in found.table.columns][2:] == [
        "Gradient norm",
        "Effective rank",
    ]
    with pytest.raises(PodiumError, match="it ranks nothing: see Learning curves"):
        read_results(tmp_path / "study", score="effective_rank")


def test_every_trial_is_a_dot_and_the_line_is_the_best_complete_one_so_far(results):
    found = drawn(search_history, results)
    trials = results.search_trials.sort("index")

    for plot in found.plots:
        assert len(plot.values["lines"]) == LOSSES
        for line in plot.values["lines"]:
            own = trials.filter(block=plot.label, loss=line["name"])
            xs = plot.values["xs"][line["xs"]]
            best, expected = None, {}
            for index, state, value in own.select("index", "state", "objective").rows():
                if state == "COMPLETE" and (best is None or value > best):
                    best = value
                    expected[float(index)] = 100 * value
            expected[float(own["index"][-1])] = 100 * best
            assert dict(zip(xs, line["y"], strict=True)) == pytest.approx(expected)
            assert line["dots"]["x"] == own["index"].cast(pl.Float64).to_list()
            assert line["dots"]["state"] == "".join(state[0].lower() for state in own["state"])


def test_a_pruned_trial_never_becomes_the_incumbent_and_a_failed_one_has_no_value(results):
    trials = results.search_trials.filter(search=results.search_trials["search"][0])
    changed = (
        trials.sort("index")
        .head(3)
        .with_columns(
            state=pl.Series(["COMPLETE", "PRUNED", "FAILED"]),
            objective=pl.Series([0.5, 0.9, None]),
        )
    )
    found = drawn(search_history, _searched(results, changed))
    (line,) = found.plots[0].values["lines"]

    assert line["y"] == [50.0, 50.0]
    assert line["dots"]["y"] == [50.0, 90.0, None]
    assert line["dots"]["state"] == "cpf"


def test_a_search_without_a_complete_trial_has_no_incumbent_but_its_dots(results):
    trials = results.search_trials.filter(search=results.search_trials["search"][0])
    pruned = trials.head(2).with_columns(state=pl.lit("PRUNED"), objective=pl.lit(0.4))
    (line,) = drawn(search_history, _searched(results, pruned)).plots[0].values["lines"]

    assert line["y"] == []
    assert line["dots"]["state"] == "pp"


def test_long_searches_are_sampled_and_the_caption_says_so(results):
    first = results.search_trials.filter(search=results.search_trials["search"][0]).head(1)
    index = pl.Series("index", range(9_000))
    many = pl.concat([first.drop("index")] * 9_000).with_columns(
        index, state=pl.lit("COMPLETE"), objective=index / 10_000
    )
    found = drawn(search_history, _searched(results, many))
    (line,) = found.plots[0].values["lines"]

    assert len(line["dots"]["x"]) == 300
    assert "300 trials are dots, spread evenly" in found.caption


def test_a_point_of_each_finalist_marks_the_pick_and_the_best_of_its_block(results):
    (plot,) = drawn(validation_and_test, results).plots
    points = plot.values["points"]
    blocks = results.winners["block"].n_unique()

    assert len(points["x"]) == 2 * LOSSES * blocks
    assert sum(points["hollow"]) == LOSSES * blocks
    assert sum(points["picked"]) >= blocks
    assert sum(points["best"]) >= blocks


def _searched(results, trials):
    return replace(results, trials=trials)
