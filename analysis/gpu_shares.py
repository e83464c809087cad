"""What part of a GPU trials of a study occupied, by its study file."""

from collections.abc import Mapping
from typing import Any

import polars as pl

__all__ = ["gpus_per_trial", "has_gpus"]


def has_gpus(study: Mapping[str, Any]) -> bool:
    """Whether any trial of the study had a part of a GPU."""
    share = gpus_per_trial(study)
    return isinstance(share, pl.Expr) or share > 0


def gpus_per_trial(study: Mapping[str, Any]) -> float | pl.Expr:
    """One number for all trials, or one by the column ``backbone`` where their shares differ."""
    resources = study["resources"]
    of_all = float(resources["gpus_per_trial"])
    own = {
        name: float(share["gpus_per_trial"])
        for name, share in resources.get("backbones", {}).items()
        if share["gpus_per_trial"] is not None
    }
    if set(own.values()) <= {of_all}:
        return of_all
    return pl.col("backbone").replace_strict(own, default=of_all, return_dtype=pl.Float64)
