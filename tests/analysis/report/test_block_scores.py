"""Scores by block: every competitor of every block, and each of its runs."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from podium.analysis.figures.series import series_of
from podium.analysis.report.scores import block_scores
from podium.analysis.study_results.study_results import read_results
from podium.analysis.tournament.tournament import hold_tournament
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

COMPETITORS = ("a", "b", "c")


def tournament_of(datasets, backbones):
    rows = [
        {"dataset": dataset, "backbone": backbone, "loss": loss, "recall": 10.0 * d + n + i}
        for d, dataset in enumerate(datasets)
        for n, backbone in enumerate(backbones)
        for i, loss in enumerate(COMPETITORS)
    ]
    by = ["dataset", "backbone"]
    return hold_tournament(pl.DataFrame(rows), by=by, competitor="loss", score="recall")


def figure_of(tournament, runs=None):
    held = tournament if runs is None else replace(tournament, runs=runs)
    return block_scores(held, series_of(COMPETITORS), word="recall")


def test_every_score_of_every_block_is_a_mark():
    tournament = tournament_of(("x", "y"), ("n", "m"))
    (plot,) = figure_of(tournament).plots
    fields = plot.values["rows"]
    found = {
        (name, loss): value
        for name, loss, value in zip(
            fields["name"], fields["competitor"], fields["value"], strict=True
        )
    }
    assert found == {
        (label, loss): tournament.scores_BC[b, c]
        for b, label in enumerate(tournament.block_labels)
        for c, loss in enumerate(tournament.names)
    }


def test_the_best_competitor_is_drawn_last_so_that_it_lies_on_top():
    tournament = tournament_of(("x",), ("n", "m"))
    (plot,) = figure_of(tournament).plots
    assert plot.values["rows"]["competitor"][:3] == ["a", "b", "c"]
    assert tournament.names[0] == "c"


def test_of_many_blocks_one_data_set_is_shown_at_a_time():
    backbones = [f"n{n}" for n in range(6)]
    figure = figure_of(tournament_of(("x", "y", "z"), backbones))
    assert figure.selector == "Data set"
    assert [plot.label for plot in figure.plots] == ["x", "y", "z"]
    assert [len(plot.values["rows"]["name"]) for plot in figure.plots] == [18, 18, 18]
    assert set(figure.plots[0].values["rows"]["name"]) == set(backbones)


def test_a_run_that_is_missing_is_no_dot_and_a_single_run_none():
    tournament = tournament_of(("x",), ("n",))
    runs = (np.array([[12.0, 11.0, np.nan], [12.5, np.nan, 9.0]]),)
    (plot,) = figure_of(tournament, runs).plots
    assert plot.values["rows"]["dots"] == [[], [], [12.0, 12.5]]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    truth = Truth(scripts=("latin",), embedding_dims=(16, 32), search_trials=3, seeds=3)
    return read_results(write_store(tmp_path_factory.mktemp("store") / "s", truth))


def test_runs_of_a_study_have_the_scores_of_its_cells_as_their_mean(results):
    assert len(results.tournament.runs) == 2
    for b, scores_UC in enumerate(results.tournament.runs):
        assert scores_UC.shape == (3, 3)
        assert scores_UC.mean(axis=0) == pytest.approx(results.tournament.scores_BC[b])
