import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from podium.analysis.tournament.tournament import hold_tournament
from podium.errors import PodiumError
from tests.analysis import thesis_cub200


def score_frame(scores):
    """{block: {competitor: score}} as a long table."""
    return pl.DataFrame(
        [
            {"block": block, "loss": loss, "score": score}
            for block, row in scores.items()
            for loss, score in row.items()
        ],
        schema={"block": pl.String, "loss": pl.String, "score": pl.Float64},
    )


def tournament_of_frame(frame, **options):
    return hold_tournament(frame, by=["block"], competitor="loss", score="score", **options)


def test_the_thesis_table_gives_the_published_totals():
    standings = thesis_cub200.tournament().standings
    assert {s.competitor: s.total_rank for s in standings} == thesis_cub200.TOTALS
    assert [s.competitor for s in standings] == list(thesis_cub200.TOTALS)
    assert [s.rank_std for s in standings] == pytest.approx(thesis_cub200.RANK_STDS, abs=0.005)
    assert [s.place for s in standings] == list(range(1, 11))


def test_the_published_averages_hold_but_for_the_misprints():
    published = pl.read_csv(thesis_cub200.DATA / "thesis_tournament_published.csv")
    averages = {s.competitor: s.average_rank for s in thesis_cub200.tournament().standings}
    wrong = [
        row["loss"]
        for row in published.to_dicts()
        if abs(averages[row["loss"]] - row["average_rank"]) > 0.005
    ]
    assert wrong == ["SoftTriple", "Triplet"]  # truncated; digits swapped


def test_ranks_and_scores_stand_in_the_order_of_the_table():
    tournament = thesis_cub200.independent()
    assert tournament.critical_difference == pytest.approx(3.9104, abs=5e-5)
    assert tournament.ranks_BC.sum(axis=0).tolist() == list(thesis_cub200.TOTALS.values())
    assert len(tournament.blocks) == len(tournament.block_labels) == 12
    block = tournament.block_labels.index("CUB200-2011/ResNet50/64")
    assert tournament.blocks[block]["embedding_dim"] == 64
    contrastive = tournament.names.index("Contrastive")
    assert tournament.scores_BC[block, contrastive] == 60.28


def test_the_order_of_rows_does_not_matter():
    shuffled = thesis_cub200.recalls().sample(fraction=1, shuffle=True, seed=1)
    again = hold_tournament(shuffled, by=thesis_cub200.BY, competitor="loss", score="recall")
    first = thesis_cub200.tournament()
    assert again.standings == first.standings
    assert again.pairs == first.pairs
    assert again.friedman == first.friedman
    assert again.block_labels == first.block_labels


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_score_takes_its_block_out_and_is_never_first(missing):
    scores = {"p": {"a": 2.0, "b": 1.0}, "q": {"a": 3.0, "b": 1.0}, "r": {"a": 1.0, "b": missing}}
    tournament = tournament_of_frame(score_frame(scores))
    assert tournament.block_labels == ("p", "q")
    assert [(e.block, e.missing) for e in tournament.excluded] == [("r", ("b",))]
    assert [(s.competitor, s.wins) for s in tournament.standings] == [("a", 2), ("b", 0)]


def test_an_absent_row_takes_its_block_out():
    scores = {"p": {"a": 2.0, "b": 1.0, "c": 0.0}, "q": {"a": 3.0}}
    assert [(e.block, e.missing) for e in tournament_of_frame(score_frame(scores)).excluded] == [
        ("q", ("b", "c"))
    ]


def test_no_complete_block_is_refused_with_what_is_missing():
    with pytest.raises(PodiumError, match=r"no block holds a score of every .*; p lacks b"):
        tournament_of_frame(score_frame({"p": {"a": 1.0}, "q": {"b": 1.0}}))


def test_two_scores_of_one_competitor_are_refused():
    frame = score_frame({"p": {"a": 1.0, "b": 2.0}})
    with pytest.raises(PodiumError, match="p holds 2 of a"):
        tournament_of_frame(pl.concat([frame, frame.head(1)]))


def test_one_competitor_is_no_tournament():
    with pytest.raises(PodiumError, match=r"at least two competitors; column 'loss' holds a"):
        tournament_of_frame(score_frame({"p": {"a": 1.0}, "q": {"a": 2.0}}))


def test_an_infinite_score_is_refused():
    with pytest.raises(ValueError, match="finite"):
        tournament_of_frame(score_frame({"p": {"a": 1.0, "b": float("inf")}}))


def test_competitors_may_be_called_like_columns():
    names = ["block", "loss", "score", "__score"]
    tournament = tournament_of_frame(
        score_frame({b: {n: float(i) for i, n in enumerate(names)} for b in "pq"})
    )
    assert tournament.names == tuple(reversed(names))


def test_two_competitors_get_a_wilcoxon_test_only():
    scores = {str(b): {"a": 1.0 + b, "b": 0.5 * b} for b in range(6)}
    tournament = tournament_of_frame(score_frame(scores))
    assert tournament.friedman is None
    assert tournament.critical_difference is None
    assert tournament.pairs[0].p_holm == pytest.approx(2 / 2**6)
    assert tournament.groups == ()
    assert tournament.nemenyi_groups == ()


def test_one_block_is_descriptive():
    tournament = tournament_of_frame(score_frame({"p": {"a": 1.0, "b": 3.0, "c": 2.0}}))
    assert tournament.is_descriptive
    assert [s.competitor for s in tournament.standings] == ["b", "c", "a"]
    assert tournament.friedman is None
    assert tournament.smallest_p is None


def test_a_level_moves_verdicts_and_the_critical_difference():
    strict = thesis_cub200.tournament(alpha=0.01)
    assert strict.critical_difference > thesis_cub200.tournament().critical_difference
    assert len(strict.groups[0]) > 1


def test_groups_are_the_pairs_that_are_not_different():
    tournament = thesis_cub200.independent()
    p = {frozenset((pair.a, pair.b)): pair.p_holm for pair in tournament.pairs}
    joined = {
        frozenset((a, b)) for group in tournament.groups for a in group for b in group if a != b
    }
    assert joined == {pair for pair, value in p.items() if value > 0.05}
    assert len(joined) == 45 - 26


def test_equal_competitors_are_called_different_no_more_often_than_alpha():
    generator = np.random.default_rng(0)
    rounds, alarms = 200, 0
    for _ in range(rounds):
        rows = generator.normal(size=(8, 3))
        tournament = tournament_of_frame(
            score_frame({str(b): dict(zip("abc", row, strict=True)) for b, row in enumerate(rows)})
        )
        alarms += any(pair.p_holm <= 0.05 for pair in tournament.pairs)
    # Five standard deviations above 5 % of 200.
    assert alarms <= 10 + 5 * np.sqrt(200 * 0.05 * 0.95)


def test_ranking_needs_neither_torch_nor_ray_nor_scipy_stats():
    code = (
        "import sys; from tests.analysis.thesis_cub200 import tournament; tournament();"
        "print([m for m in ('torch', 'ray', 'optuna', 'scipy.stats') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
