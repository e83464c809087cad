"""Share of a GPU that the trials of a study occupied, by its study file."""

from collections.abc import Mapping
from typing import Any

import polars as pl


def has_gpus(study: Mapping[str, Any]) -> bool:
    """Whether any trial of the study had a share of a GPU."""
    return any(share > 0 for share in _shares(study).values())


def gpus_per_trial(study: Mapping[str, Any]) -> float | pl.Expr:
    """One number for all trials, or one by the column ``backbone`` where their shares differ."""
    shares = _shares(study)
    if len(set(shares.values())) == 1:
        return next(iter(shares.values()))
    # Rows may have a backbone that the study file no longer names.
    of_all = float(study["resources"]["gpus_per_trial"])
    return pl.col("backbone").replace_strict(shares, default=of_all, return_dtype=pl.Float64)


def _shares(study: Mapping[str, Any]) -> dict[str, float]:
    """Backbone -> share of a GPU."""
    resources = study["resources"]
    own = {name: share["gpus_per_trial"] for name, share in resources.get("backbones", {}).items()}
    shares = {item["name"]: own.get(item["name"]) for item in study["backbones"]}
    of_all = resources["gpus_per_trial"]
    return {name: float(of_all if share is None else share) for name, share in shares.items()}
