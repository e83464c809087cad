"""Regions of the best configs as plain values, for JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from analysis.hyperparameters.best_regions import BestRegion

__all__ = ["region_records"]

_FIELDS = (
    *("low", "median", "high", "median_low", "median_high"),
    *("favourite", "favourite_share", "overall_share"),
    *("num_best", "num_winners", "num_at_low", "num_at_high", "warns_low", "warns_high"),
)


def region_records(regions: Mapping[str, Sequence[BestRegion]]) -> list[dict[str, Any]]:
    """One record for each loss and hyperparameter: what was tried, and where the best lie.

    ``unit`` is ``place`` where ranges differ between blocks: 0 is the lower end, 1 the upper one.
    """
    return [
        {
            "loss": loss,
            "hyperparameter": region.hyperparameter,
            "tried_low": None if region.tried.is_choice else region.tried.low,
            "tried_high": None if region.tried.is_choice else region.tried.high,
            "tried_values": list(region.tried.values) or None,
            "scale": _scale(region),
            "unit": "place" if region.is_relative else "value",
            **{name: getattr(region, name) for name in _FIELDS},
        }
        for loss, found in regions.items()
        for region in found
    ]


def _scale(region: BestRegion) -> str | None:
    if region.tried.is_choice:
        return "choice"
    if not region.tried.is_recorded:
        return None
    return "log" if region.tried.log else "linear"
