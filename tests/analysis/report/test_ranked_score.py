"""A page whose losses are ranked by another stored score than the study's own."""

from dataclasses import replace

import polars as pl
import pytest

from podium.analysis.page.html_page import render_page
from podium.analysis.page.table_files import tables_of
from podium.analysis.report.hyperparameters import hyperparameters
from podium.analysis.report.leaderboard import leaderboard
from podium.analysis.report.methods import methods
from podium.analysis.report.report import study_report
from podium.analysis.study_results.study_results import read_results
from podium.errors import PodiumError
from tests.analysis.page_text import answer, page_of, text_of
from tests.analysis.synthetic_study import change_snapshot, write_store
from tests.analysis.synthetic_trials import Truth

TRUTH = Truth(
    scripts=("cyrillic", "greek"),
    embedding_dims=(16, 32),
    search_trials=8,
    seeds=2,
    has_without_k=True,
    tests_searches=True,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return write_store(tmp_path_factory.mktemp("store") / "s", TRUTH)


@pytest.fixture(scope="module")
def by_nmi(store):
    return read_results(store, score="nmi")


@pytest.fixture(scope="module")
def nmi_page(by_nmi):
    return study_report(by_nmi)


@pytest.fixture(scope="module")
def nmi_text(nmi_page):
    return text_of(render_page(nmi_page))


def mean_by_hand(store, loss, metric):
    """Mean over blocks of the mean over seeds of the winners, in percent."""
    results = read_results(store)
    winners = results.winners.select("trial_id", "block", "loss")
    scores = results.reader.test_scores().filter(pl.col("metric") == metric).collect()
    rows = winners.join(scores.select("trial_id", "value"), on="trial_id").filter(loss=loss)
    of_block = {
        block: rows.filter(block=block)["value"].to_list() for block in rows["block"].unique()
    }
    means = [sum(values) / len(values) for values in of_block.values()]
    return 100 * sum(means) / len(means)


def test_nmi_ranks_the_losses_in_its_own_order(store, by_nmi):
    # NMI falls where recall rises, so the order turns round.
    assert read_results(store).tournament.names == by_nmi.tournament.names[::-1]
    for standing in by_nmi.tournament.standings:
        expected = mean_by_hand(store, standing.competitor, "nmi")
        assert standing.mean_score == pytest.approx(expected, rel=1e-9)
        assert standing.wins in (0, 4)


def test_verdict_leaderboard_and_lines_say_by_what_they_rank(nmi_page, nmi_text):
    tables = {table.name: table for table in tables_of(nmi_page)}
    assert "points of NMI above " in nmi_text
    assert [c.label for c in tables["leaderboard"].columns][-1] == "Mean NMI, %"
    assert tables["nmi-0"].caption.startswith("NMI in %")
    assert "NMI, % of the losses by embedding dimension" in nmi_text
    assert "NMI, by which losses are ranked, and Recall@1 are percentages" in nmi_text
    assert "Tuning changed the test score of these settings by Recall@1 for" in nmi_text


def test_a_score_chosen_after_the_run_is_said_to_be(store, nmi_text):
    warning = (
        "Losses are ranked by NMI, chosen after the run; the study was to rank them by Recall@1."
    )
    assert warning in nmi_text
    own = read_results(store, score="Recall@1")
    assert "chosen after the run" not in text_of(page_of(own, answer, leaderboard, methods))


def test_a_declared_score_is_ranked_by_without_an_option(tmp_path):
    small = replace(TRUTH, embedding_dims=(16,), search_trials=4)
    folder = change_snapshot(write_store(tmp_path / "s", small), score="f1")
    results = read_results(folder)
    text = text_of(page_of(results, answer, leaderboard, methods))
    assert results.ranked_by.name == "f1"
    assert "points of F1 above" in text
    assert "chosen after the run" not in text
    late = text_of(page_of(read_results(folder, score="recall@1"), answer, methods))
    assert "ranked by Recall@1, chosen after the run; the study was to rank them by F1." in late


def test_published_ranks_are_compared_with_the_declared_tournament(by_nmi, store):
    own = read_results(store).tournament
    assert by_nmi.declared_tournament.names == own.names != by_nmi.tournament.names


def test_another_k_is_ranked_by_its_own_hits(store):
    results = read_results(store, score="recall@4")
    best = results.tournament.standings[0]
    assert best.mean_score == pytest.approx(mean_at_k(store, best.competitor, 4), rel=1e-9)


def mean_at_k(store, loss, k):
    results = read_results(store)
    found = results.cells.filter(loss=loss, finalist="winner", k=k)["score"]
    return 100 * found.mean()


def test_a_score_that_is_not_stored_is_refused_with_those_that_are(store, tmp_path):
    known = "recall@1, recall@2, recall@4, recall@8"
    with pytest.raises(PodiumError) as refused:
        read_results(store, score="nmi@1")
    assert str(refused.value) == (
        f"score of this study must be one of {known}, r_precision, map_at_r, nmi, f1; got 'nmi@1'"
    )
    without = write_store(tmp_path / "s", Truth(scripts=("greek",), search_trials=4))
    with pytest.raises(PodiumError, match=rf"must be one of {known}; got 'nmi'"):
        read_results(without, score="nmi")


def test_importances_follow_the_score_where_searches_were_tested_by_it(nmi_text):
    text = nmi_text
    assert (
        "Configs are compared by NMI on test, which no search read: they maximised Recall@1 on"
        " validation." in text
    )


def test_importances_stay_with_validation_where_searches_were_not_tested(tmp_path):
    truth = Truth(scripts=("greek",), search_trials=24, has_without_k=True)
    results = read_results(write_store(tmp_path / "s", truth), score="nmi")
    text = text_of(page_of(results, hyperparameters))
    assert "Configs are compared by Recall@1 on validation: no trial of these searches" in text
    assert "least five) on validation, mean over" in text
