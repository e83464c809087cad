"""The text of ``podium cv``: cells of each block and protocol, pairs of losses, what they mean."""

from collections.abc import Mapping

import polars as pl

from podium.analysis.scores.cross_validation import CLASS_MEANING, CrossValidation
from podium.analysis.wording import in_percent
from podium.terminal.printing import paragraphs, rounded, table_text

_PERCENT = 100


def cross_validation_text(found: CrossValidation) -> str:
    """Tables in percent, then the notes."""
    parts = []
    for (block, protocol), group in found.cells.group_by("block", "protocol", maintain_order=True):
        title = f"{block}, {found.titles[str(protocol)]}"
        parts.append(f"{title}: {found.metric}, %\n{_cells_text(group)}")
        winners = found.pairs.filter(
            pl.col("block") == block,
            pl.col("protocol") == protocol,
            pl.col("finalist") == "winner",
        )
        if len(winners):
            parts.append(_pairs_text(winners))
    of_folds, *others = found.notes
    return paragraphs([*parts, of_folds, CLASS_MEANING, *others])


def _cells_text(cells: pl.DataFrame) -> str:
    """Means and spreads over folds in percent, one row a cell."""
    rows = [
        {
            "loss": row["loss"],
            "config": row["finalist"],
            "folds": f"{row['num_folds']}/{row['num_folds'] + row['num_missing']}",
            "test": _points(row["test_mean"]),
            "sd": _points(row["test_std"]),
            "se": _points(row["class_standard_error"]),
            "val": _points(row["val_mean"]),
            "sd val": _points(row["val_std"]),
            "opt": _points(row["epoch_optimism"]),
            "tau": rounded(row["tau"], 2),
        }
        for row in cells.to_dicts()
    ]
    has_optimism = cells["epoch_optimism"].is_not_null().any()
    return table_text(rows, columns=[name for name in rows[0] if name != "opt" or has_optimism])


def _pairs_text(pairs: pl.DataFrame) -> str:
    rows = [
        {
            "a": row["a"],
            "b": row["b"],
            "a - b": _points(row["mean_difference"]),
            "low": _points(row["low"]),
            "high": _points(row["high"]),
            "p (Holm)": None if row["p_holm"] is None else f"{row['p_holm']:.2g}",
            "% a/=/b": _shares(row),
        }
        for row in pairs.to_dicts()
    ]
    return table_text(rows)


def _shares(row: Mapping[str, float | None]) -> str | None:
    """The three probabilities in percent: ``91/7/2``."""
    masses = [row[name] for name in ("p_a_better", "p_rope", "p_b_better")]
    return "/".join(f"{_PERCENT * mass:.0f}" for mass in masses if mass is not None) or None


def _points(score: float | None) -> float | None:
    return rounded(in_percent(score), 2)
