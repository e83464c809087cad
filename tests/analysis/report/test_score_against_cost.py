"""Score against cost shows what searches and trainings took, and which losses are on the front."""

from dataclasses import replace

import polars as pl
import pytest

from analysis.figures.series import series_of
from analysis.report.score_against_cost import score_against_cost
from analysis.study_results.study_results import read_results
from tests.analysis.changed_results import with_views
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

TRUTH = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=6, seeds=2)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_results(write_store(tmp_path_factory.mktemp("store") / "study", TRUTH))


def figure_of(results):
    return score_against_cost(results, series_of(results.losses))


def cells(figure):
    return {row[0].text: [cell.order for cell in row[1:4]] for row in figure.table.rows}


def test_costs_are_means_over_searches_and_over_trainings(results):
    trials = results.trials
    found = cells(figure_of(results))

    for standing in results.tournament.standings:
        own = trials.filter(loss=standing.competitor)
        searched = own.filter(stage="search").group_by("search").agg(pl.col("seconds").sum())
        trained = own.filter(pl.col("is_winner"), stage="final", state="COMPLETE")
        score, search, training = found[standing.competitor]
        assert score == standing.mean_score
        assert search == pytest.approx(searched["seconds"].mean())
        assert training == pytest.approx(trained["seconds"].mean())


def test_a_loss_that_costs_more_and_scores_less_is_not_on_the_front(results):
    first, *_, last = results.tournament.names
    factor = {first: 2.0, last: 3.0}
    slower = pl.col("seconds") * pl.col("loss").replace_strict(
        factor, default=1.0, return_dtype=pl.Float64
    )
    figure = figure_of(replace(results, trials=results.trials.with_columns(slower)))
    on_front = {row[0].text: row[4].text for row in figure.table.rows}

    assert on_front[first] == "search and training"
    assert on_front[last] == ""
    (search, training) = figure.plots
    assert len(search.values["front"]) == sum(bool(text) for text in on_front.values())
    assert search.values["names"] == list(results.tournament.names)
    assert training.values["x"]["label"] == "Seconds of one slot, one training"


def test_copies_of_trainings_cost_nothing(results):
    is_first = pl.col("trial_id") == results.winners["trial_id"].min()
    copied = results.trials.with_columns(
        pl.when(is_first).then(pl.lit("other")).otherwise("same_as").alias("same_as"),
        pl.when(is_first).then(9e9).otherwise("seconds").alias("seconds"),
    )
    changed = replace(results, trials=copied)
    expected = cells(figure_of(results))
    for loss, values in cells(figure_of(changed)).items():
        assert values[1:] == pytest.approx(expected[loss][1:])


def test_without_a_ranking_or_times_there_is_no_figure(results):
    timeless = results.trials.with_columns(pl.lit(0.0).alias("seconds"))

    assert figure_of(with_views(results, _ranked=(None, None, "no scores"))) is None
    assert figure_of(replace(results, trials=timeless)) is None
