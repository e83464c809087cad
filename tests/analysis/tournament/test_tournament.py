import subprocess
import sys

import polars as pl
import pytest

from podium.analysis.tournament.tournament import hold_tournament
from podium.errors import PodiumError
from podium.orchestrator.results.records.tournament_rules import TournamentRules
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
    assert again.block_labels == first.block_labels


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_score_takes_its_block_out_and_is_never_first(missing):
    scores = {"p": {"a": 2.0, "b": 1.0}, "q": {"a": 3.0, "b": 1.0}, "r": {"a": 1.0, "b": missing}}
    tournament = tournament_of_frame(score_frame(scores))
    assert tournament.block_labels == ("p", "q")
    assert tournament.excluded == {"r": ("b",)}
    assert [(s.competitor, s.wins) for s in tournament.standings] == [("a", 2), ("b", 0)]


def test_an_absent_row_takes_its_block_out():
    scores = {"p": {"a": 2.0, "b": 1.0, "c": 0.0}, "q": {"a": 3.0}}
    assert tournament_of_frame(score_frame(scores)).excluded == {"q": ("b", "c")}


def test_no_complete_block_is_refused_with_what_is_missing():
    with pytest.raises(PodiumError, match=r"no setting holds a score of every .*; p lacks b"):
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


def test_one_block_is_an_order_without_a_test():
    tournament = tournament_of_frame(score_frame({"p": {"a": 1.0, "b": 3.0, "c": 2.0}}))
    assert not tournament.is_tested
    assert [s.competitor for s in tournament.standings] == ["b", "c", "a"]
    assert [pair.p for pair in tournament.pairs] == [None] * 3
    assert tournament.leaders_without == {}


def test_who_leads_without_each_backbone_is_counted_again():
    table = thesis_cub200.recalls()
    for backbone, leaders in thesis_cub200.tournament().leaders_without.items():
        rest = table.filter(pl.col("backbone") != backbone)
        held = hold_tournament(rest, by=thesis_cub200.BY, competitor="loss", score="recall")
        assert leaders == tuple(s.competitor for s in held.standings if s.place == 1)
    two = {"p": {"a": 2.0, "b": 1.0}, "q": {"a": 1.0, "b": 2.0}, "r": {"a": 2.0, "b": 1.0}}
    held = tournament_of_frame(score_frame(two))
    assert held.leaders_without == {"p": ("a", "b"), "q": ("a",), "r": ("a", "b")}


def test_rules_that_name_no_competitor_are_refused():
    frame = score_frame({"p": {"a": 1.0, "b": 2.0}})
    with pytest.raises(PodiumError, match="against must be one of a, b; got 'c'"):
        tournament_of_frame(frame, rules=TournamentRules(against="c"))
    with pytest.raises(PodiumError, match="friedman compares at least three"):
        tournament_of_frame(frame, rules=TournamentRules(test="friedman"))


def test_ranking_needs_neither_torch_nor_ray_nor_scipy_stats():
    code = (
        "import sys; from tests.analysis.thesis_cub200 import tournament; tournament();"
        "print([m for m in ('torch', 'ray', 'optuna', 'scipy.stats') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
