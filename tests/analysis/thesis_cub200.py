"""The published table that the golden tests rank."""

from pathlib import Path

import polars as pl

from podium.analysis.tournament.tournament import Tournament, hold_tournament
from podium.analysis.typed_tables.score_table import ScoreTable, read_table
from podium.analysis.typed_tables.table_options import TableOptions
from podium.orchestrator.results.records.tournament_rules import TournamentRules

DATA = Path(__file__).parent.parent / "data"
RECALLS = DATA / "thesis_recall_cub200.csv"
BY = ("dataset", "backbone", "embedding_dim")
_RULES = TournamentRules()
_UNKNOWN = {"dataset": "images", "backbone": "network"}

# R@1 over 12 blocks, best first.
TOTALS = {
    "ProxyAnchor": 12,
    "SoftTriple": 38,
    "MultiSimilarity": 51,
    "Contrastive": 52,
    "LiftedStructure": 54,
    "Margin": 70,
    "ArcFace": 79,
    "ProxyNCA": 81,
    "Triplet": 103,
    "NPair": 120,
}
RANK_STDS = [0, 1.19, 2.05, 1.72, 1.88, 1.27, 2.31, 1.66, 0.51, 0]


def recalls(k: int = 1) -> pl.DataFrame:
    return pl.read_csv(RECALLS).filter(pl.col("k") == k)


def score_table() -> ScoreTable:
    """R@1 as a user reads it from the file."""
    return read_table(
        RECALLS, TableOptions(by=BY, competitor="loss", score="recall", where=["k=1"])
    )


def tournament(rules: TournamentRules = _RULES) -> Tournament:
    return hold_tournament(recalls(), by=BY, competitor="loss", score="recall", rules=rules)


def independent() -> Tournament:
    """The same with all 12 blocks taken as independent: no column says what they share."""
    by = [_UNKNOWN.get(name, name) for name in BY]
    return hold_tournament(recalls().rename(_UNKNOWN), by=by, competitor="loss", score="recall")
