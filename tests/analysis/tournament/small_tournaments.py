"""Tournaments of a few typed scores."""

import polars as pl

from podium.analysis.tournament.tournament import hold_tournament


def tournament_of(scores, names="abcdefgh", **options):
    """A tournament of rows of scores, one row per block ``p00``, ``p01``, ...; None is missing."""
    rows = [
        {"block": f"p{b:02}", "loss": name, "score": float(score)}
        for b, row in enumerate(scores)
        for name, score in zip(names, row, strict=False)
        if score is not None
    ]
    frame = pl.DataFrame(rows)
    return hold_tournament(frame, by=["block"], competitor="loss", score="score", **options)


def grid_tournament(scores_BC, datasets, names="abcdefgh", **options):
    """A tournament of blocks that are data set x dimension, one row of scores each."""
    rows = [
        {"dataset": dataset, "dim": f"{b:02}", "loss": name, "score": float(score)}
        for b, (dataset, row) in enumerate(zip(datasets, scores_BC, strict=True))
        for name, score in zip(names, row, strict=False)
    ]
    by = ["dataset", "dim"]
    return hold_tournament(pl.DataFrame(rows), by=by, competitor="loss", score="score", **options)
