"""What each protocol picked is worth, and whose picks are best, in one sentence."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from analysis.protocols.protocol_study import ProtocolStudy
from analysis.wording import MOST_NAMED, listed, number

__all__ = [
    "ALPHA",
    "Row",
    "honest",
    "oriented",
    "oriented_picks",
    "pick_means",
    "pick_pairs",
    "picks_of",
    "protocol_headline",
    "ranked",
]

ALPHA = 0.05
"""Level of the verdicts on pairs of protocols."""

_POINTS = 100
_SAME = 1e-9  # means that differ by less are equal

Row = Mapping[str, Any]


def protocol_headline(study: ProtocolStudy) -> str:
    """Whose picks scored best on test, and from which others that cannot be told.

    Empty with fewer than two protocols that do not leak.
    """
    means, measure, how = pick_means(study)
    found = ranked(means, measure, honest(study))
    if len(found) < 2:
        return ""
    if _are_of_unlike_searches(means, measure, [label for label, _ in found]):
        return (
            "Protocols cannot be ranked yet: what they picked has not been tested in the same"
            " searches."
        )
    value = found[0][1]
    best = [label for label, other in found if value - other < _SAME]
    score = f"{study.metric} {number(_POINTS * value)} %"
    if len(best) == len(found):
        return f"{picks_of(study, best)} scored alike on test: {score} ({how})."
    second, behind = found[len(best)]
    return (
        f"{picks_of(study, best)} scored best on test: {score},"
        f" {number(_POINTS * (value - behind))} points above the next, {second} ({how})"
        f"{_doubt(study, best)}."
    )


def _are_of_unlike_searches(means: pl.DataFrame, measure: str, labels: Collection[str]) -> bool:
    """Whether the means are over different numbers of searches, and so of levels."""
    rows = means.filter(pl.col("measure") == measure, pl.col("protocol").is_in(list(labels)))
    return rows["num_cells"].n_unique() > 1


def _doubt(study: ProtocolStudy, best: Sequence[str]) -> str:
    """From which other protocols the best cannot be told; nothing if there is no test."""
    pairs = [
        row
        for row in pick_pairs(study, honest(study))
        if (row["a"] == best[0]) != (row["b"] == best[0]) and row["p_holm"] is not None
    ]
    alike = {name for row in pairs if row["p_holm"] > ALPHA for name in (row["a"], row["b"])}
    others = [label for label in study.order if label in alike - set(best)]
    if not others:
        return ""
    is_any = len(others) == len(honest(study)) - len(best)
    named = "any other" if is_any else listed(others, last="or", most=MOST_NAMED)
    return f"; at {100 * ALPHA:g} % it cannot be told from {named}"


def picks_of(study: ProtocolStudy, labels: Sequence[str]) -> str:
    """What is compared between protocols, as the beginning of a sentence."""
    if study.num_configs == 1:
        return f"The only config under {listed(labels)}"
    return f"What {listed(labels)} picked"


def pick_means(study: ProtocolStudy) -> tuple[pl.DataFrame, str, str]:
    """The fairest scores of picks that there are: means, measure, and how they came about."""
    if study.scale is not None:
        how = "all picks scored by the same networks, trained on all classes"
        return study.scale.means, "picked_test", how
    if ranked(study.finals, "tuned_all", study.order):
        return study.finals, "tuned_all", "retrained on all training classes"
    return study.finals, "tuned_part", "retrained on what the final stage trains on"


def pick_pairs(study: ProtocolStudy, labels: Collection[str]) -> list[Row]:
    """Differences of picks between these protocols, of ``paired_differences``."""
    _, measure, _ = pick_means(study)
    frame = study.scale.differences if study.scale else study.final_differences
    if frame.is_empty():
        return []
    rows = frame.filter(
        pl.col("measure") == measure,
        pl.col("a").is_in(list(labels)),
        pl.col("b").is_in(list(labels)),
        pl.col("mean").is_not_null(),
    ).to_dicts()
    return list(rows)


def ranked(means: pl.DataFrame, measure: str, labels: Collection[str]) -> list[tuple[str, float]]:
    """Protocols with a value, the largest first."""
    rows = means.filter(
        pl.col("measure") == measure,
        pl.col("mean").is_not_null(),
        pl.col("protocol").is_in(list(labels)),
    )
    ordered = rows.sort(["mean", "protocol"], descending=[True, False])
    return list(ordered.select("protocol", "mean").iter_rows())


def honest(study: ProtocolStudy) -> list[str]:
    """Labels of the protocols that do not leak, in the study's order."""
    return [protocol.label for protocol in study.protocols if not protocol.leaks]


def oriented(row: Row, *, by_blocks: bool) -> dict[str, Any]:
    """A pair of protocols with the better one first: ``a``, ``b``, ``mean``, ``low``, ``high``.

    Args:
        row: of ``paired_differences``.
        by_blocks: whether the interval is that over blocks.
    """
    prefix = "block_" if by_blocks else ""
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    found = {**row, "low": low, "high": high}
    if row["mean"] is None or row["mean"] >= 0:
        return found
    turned = {"a": row["b"], "b": row["a"], "mean": -row["mean"]}
    return {**found, **turned, "low": _minus(high), "high": _minus(low)}


def oriented_picks(study: ProtocolStudy, row: Row) -> dict[str, Any]:
    """``oriented``, by the interval that the study's p-values are of."""
    return oriented(row, by_blocks=study.scale is None and study.unit == "seeds")


def _minus(value: float | None) -> float | None:
    return None if value is None else -value
