"""What a run ends with: the same leaders and the same verdict as the report."""

from dataclasses import replace

import pytest

from podium.analysis.report.verdict import answer_headline
from podium.analysis.study_results.study_results import read_results
from podium.terminal.leaders_text import leaders_text
from tests.analysis.page_text import study_page
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    truth = Truth(search_trials=4, seeds=2)
    return read_results(write_store(tmp_path_factory.mktemp("store") / "synthetic", truth))


def text_of(results):
    headline = answer_headline(results)
    return leaders_text(results.tournament, headline, score=results.ranked_by.label)


def test_the_first_three_are_those_of_the_leaderboard(results):
    header, *lines = text_of(results).split("\n\n")[0].splitlines()
    assert header.split("  ")[-1] == "mean Recall@1, %"
    shown = [line.split() for line in lines]
    assert shown == [
        [s.competitor, str(s.place), f"{s.average_rank:.2f}", f"{s.mean_score:.2f}"]
        for s in results.tournament.standings[:3]
    ]
    assert [line[0] for line in shown] == ["proxy_anchor", "multi_similarity", "contrastive"]


def test_the_verdict_is_the_sentence_that_opens_the_report(results):
    _, verdict = text_of(results).split("\n\n")
    assert " ".join(verdict.split()) == " ".join(answer_headline(results).split())
    assert answer_headline(results) in study_page(results.folder)


def test_it_fits_eighty_columns_whatever_losses_are_called(results, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    long = {s.competitor: f"{s.competitor}_{'x' * 90}" for s in results.tournament.standings}
    tournament = replace(
        results.tournament,
        standings=tuple(
            replace(s, competitor=long[s.competitor]) for s in results.tournament.standings
        ),
    )
    table, _ = leaders_text(tournament, "a b", score="mean label distance").split("\n\n")
    assert all(len(line) <= 80 for line in table.splitlines())
