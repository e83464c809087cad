"""Test scores of what each protocol picked, and the headline: whose picks are best."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from podium.analysis.protocols.protocol_study import ProtocolStudy
from podium.analysis.wording import MOST_NAMED, listed, number

ALPHA = 0.05
"""Significance level of the verdicts on pairs of protocols."""

_POINTS = 100
_SAME = 1e-9  # means that differ by less count as equal

Row = Mapping[str, Any]


def protocol_headline(study: ProtocolStudy) -> str:
    """Whose picks scored best on test, and from which others they do not differ significantly.

    Empty with fewer than two protocols that do not leak.
    """
    means, measure, how = pick_means(study)
    found = ranked_means(means, measure, non_leaking(study))
    if len(found) < 2:
        return ""
    is_ranked = pl.col("protocol").is_in([label for label, _ in found])
    if means.filter(is_ranked, measure=measure)["num_cells"].n_unique() > 1:
        return (
            "Protocols cannot be ranked yet: what they picked has not been tested in the same"
            " searches."
        )
    value = found[0][1]
    best = [label for label, other in found if value - other < _SAME]
    score = f"{study.metric} {number(_POINTS * value)} %"
    if len(best) == len(found):
        return f"{picks_phrase(study, best)} scored alike on test: {score} ({how})."
    second, behind = found[len(best)]
    return (
        f"{picks_phrase(study, best)} scored best on test: {score},"
        f" {number(_POINTS * (value - behind))} points above the next, {second} ({how})"
        f"{_not_different(study, best)}."
    )


def _not_different(study: ProtocolStudy, best: Sequence[str]) -> str:
    """The protocols that the best does not differ from significantly; empty without a test."""
    pairs = [
        row
        for row in pick_differences(study, non_leaking(study))
        if (row["a"] == best[0]) != (row["b"] == best[0]) and row["p_holm"] is not None
    ]
    not_different = {
        name for row in pairs if row["p_holm"] > ALPHA for name in (row["a"], row["b"])
    }
    others = [label for label in study.order if label in not_different - set(best)]
    if not others:
        return ""
    is_any = len(others) == len(non_leaking(study)) - len(best)
    named = "any other" if is_any else listed(others, last="or", most=MOST_NAMED)
    return f"; at {100 * ALPHA:g} % it does not differ significantly from {named}"


def picks_phrase(study: ProtocolStudy, labels: Sequence[str]) -> str:
    """The picks of these protocols, as the beginning of a sentence."""
    if study.num_configs == 1:
        return f"The only config under {listed(labels)}"
    return f"What {listed(labels)} picked"


def pick_means(study: ProtocolStudy) -> tuple[pl.DataFrame, str, str]:
    """The fairest available scores of picks: means, measure, and how picks were scored."""
    if study.picks.scale is not None:
        how = "all picks scored by the same networks, trained on all classes"
        return study.picks.scale.means, "picked_test", how
    if ranked_means(study.finals.means, "tuned_all", study.order):
        return study.finals.means, "tuned_all", "retrained on all training classes"
    return study.finals.means, "tuned_part", "retrained on what the final stage trains on"


def pick_differences(study: ProtocolStudy, labels: Collection[str]) -> list[Row]:
    """Differences between the picks of these protocols, rows of ``paired_differences``."""
    _, measure, _ = pick_means(study)
    frame = study.picks.scale.differences if study.picks.scale else study.finals.differences
    if frame.is_empty():
        return []
    rows = frame.filter(
        pl.col("measure") == measure,
        pl.col("a").is_in(list(labels)),
        pl.col("b").is_in(list(labels)),
        pl.col("mean").is_not_null(),
    ).to_dicts()
    return list(rows)


def ranked_means(
    means: pl.DataFrame, measure: str, labels: Collection[str]
) -> list[tuple[str, float]]:
    """Protocols with a mean and the mean, the largest first; null means are left out."""
    rows = means.filter(
        pl.col("measure") == measure,
        pl.col("mean").is_not_null(),
        pl.col("protocol").is_in(list(labels)),
    )
    ordered = rows.sort(["mean", "protocol"], descending=[True, False])
    return list(ordered.select("protocol", "mean").iter_rows())


def non_leaking(study: ProtocolStudy) -> list[str]:
    """Labels of the protocols that do not leak, in the study's order."""
    return [protocol.label for protocol in study.protocols if not protocol.leaks]


def better_first(row: Row) -> dict[str, Any]:
    """A pair of protocols with the better one first: ``a``, ``b``, ``mean``, ``low``, ``high``."""
    if row["mean"] is None or row["mean"] >= 0:
        return dict(row)
    turned = {"a": row["b"], "b": row["a"], "mean": -row["mean"]}
    return {**row, **turned, "low": _minus(row["high"]), "high": _minus(row["low"])}


def _minus(value: float | None) -> float | None:
    return None if value is None else -value
