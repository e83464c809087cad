"""How much of what scores differ by is the backbone's, and how much the loss's."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from podium.analysis.estimates.variance_moments import RESIDUAL, variance_moments

_TERMS = {
    "backbone": ("backbone",),
    "loss": ("loss",),
    "both": ("backbone", "loss"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceShares:
    """Variance components of backbone, loss and their interaction (``both``), and of the rest.

    Attributes:
        spreads: component -> standard deviation, in the unit of the scores.
        shares: component -> its part of the sum of all.
        ranges: component -> least and greatest part when one backbone or data set is left out;
            None where nothing can be.
    """

    spreads: Mapping[str, float]
    shares: Mapping[str, float]
    ranges: Mapping[str, tuple[float, float]] | None


def choice_shares(scores: pl.DataFrame) -> ChoiceShares | None:
    """The shares in a crossed design.

    Args:
        scores: one row per final run of a tuned loss: ``place`` (data set, dimension and size of
            its block), ``dataset``, ``backbone``, ``loss``, ``score``.

    Returns:
        None unless two backbones and two losses can be told from each other.
    """
    found = _shares(scores)
    if found is None:
        return None
    left_out = [
        _shares(scores.filter(pl.col(column) != level))
        for column, least in (("backbone", 3), ("dataset", 2))
        for level in scores[column].unique().sort()
        if scores[column].n_unique() >= least
    ]
    known = [part for part in left_out if part is not None]
    spreads, shares = found
    ranges = {
        name: (min(of[1][name] for of in known), max(of[1][name] for of in known))
        for name in (shares if known else ())
    }
    return ChoiceShares(spreads=spreads, shares=shares, ranges=ranges or None)


def _shares(scores: pl.DataFrame) -> tuple[dict[str, float], dict[str, float]] | None:
    """Standard deviations and parts of the variance; the means of places are fixed."""
    moments = variance_moments(scores, fixed="place", terms=_TERMS)
    if moments is None or not {"backbone", "loss"} <= moments.variances.keys():
        return None
    variances = {name: moments.variances.get(name, 0.0) for name in (*_TERMS, RESIDUAL)}
    if not (total := sum(variances.values())):
        return None
    return (
        {name: variance**0.5 for name, variance in variances.items()},
        {name: variance / total for name, variance in variances.items()},
    )
