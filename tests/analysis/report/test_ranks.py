"""What a page says of ranks: shared ranks, their intervals."""

import re
from dataclasses import replace

import numpy as np
import polars as pl

from podium.analysis.report.leaderboard import bootstrap_note
from podium.analysis.study_results.study_results import read_results
from podium.analysis.tournament.medals import shared_places
from podium.analysis.tournament.rank_stability import rank_stability
from podium.analysis.typed_tables.score_table import ScoreTable
from podium.analysis.wording import MOST_NAMED
from tests.analysis import thesis_cub200
from tests.analysis.page_text import rows_of, table_page, text_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth

SMALL = Truth(scripts=("greek", "latin"), embedding_dims=(16, 32), search_trials=3, seeds=2)
FAILED = ("glyphs-greek/conv_small/16", "contrastive")


def test_shared_ranks_are_ranges_down_the_whole_leaderboard(independent_thesis_page):
    ranks = {row[0]: row[1] for row in rows_of(independent_thesis_page, "leaderboard")}
    assert ranks["ProxyAnchor"] == "1"
    assert ranks["NPair"] == "10"  # none is behind it
    assert ranks["MultiSimilarity"].startswith("2–")  # SoftTriple shares the second with it
    tournament = thesis_cub200.independent()
    shared = shared_places(tournament, rank_stability(tournament))
    sharing = {*shared, *(other for others in shared.values() for other in others)}
    assert {name for name, rank in ranks.items() if "–" in rank} == sharing


def test_the_note_names_all_who_share_one_of_the_first_three_ranks(independent_thesis_page):
    seen = text_of(independent_thesis_page)
    assert (
        "MultiSimilarity with Contrastive, LiftedStructure, Margin and ArcFace. A rank is shared"
    ) in seen
    assert "and no single block decides it." in seen


def page_of_scores(names, scores_BC):
    blocks = [f"p{b:02}" for b in range(len(scores_BC))]
    columns = {
        "block": np.repeat(blocks, len(names)),
        "loss": names * len(blocks),
        "score": scores_BC.ravel(),
    }
    rows = pl.DataFrame(columns)
    table = ScoreTable(
        cells=rows,
        runs=rows,
        run_columns=(),
        by=("block",),
        competitor="loss",
        score="score",
        warnings=(),
    )
    return table_page(table, title="t", source="s")


def test_a_note_without_any_of_the_first_three_names_none():
    scores = np.tile([5.0, 4, 3, 2, 1], (12, 1))
    scores[1::3, 3:] = [1, 2]
    page = page_of_scores(list("abcde"), scores)
    assert [row[1] for row in rows_of(page, "leaderboard")] == ["1", "2", "3", "4–5", "4–5"]
    assert "Shared ranks" not in text_of(page)
    assert "A rank is shared unless its holder differs" in text_of(page)


def test_a_study_of_one_block_is_resampled_by_its_seeds(tmp_path):
    truth = replace(SMALL, scripts=("latin",), embedding_dims=(16,))
    results = read_results(write_store(tmp_path / "s", truth))
    note = bootstrap_note(results.stability)
    assert "10,000 resamples of the runs of the one block" in note
    assert "No interval: it takes 3 runs of each competitor." in note
    assert "They say what other runs of the same blocks would change, not other blocks." in note
    assert {c.low for c in results.stability.bootstrap.competitors} == {None}


def test_of_a_rank_shared_with_many_only_some_are_named():
    names = [f"loss{c:02}" for c in range(12)]
    scores = np.random.default_rng(0).normal(size=(3, 12))
    (note,) = re.findall(r"Shared ranks: [^.]*", text_of(page_of_scores(names, scores)))

    for rank in note.split(";"):
        assert rank.endswith(" others")
        assert rank.count("loss") == 1 + MOST_NAMED
