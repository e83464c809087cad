"""Refuses to go on where data or weights lie under their old path but are others now."""

from collections.abc import Mapping

import polars as pl

from orchestrator.results.errors import PodiumError
from orchestrator.study.study import Study
from trainables.dataset_interface.dataset import Dataset
from trainables.network.initial_weights import weights_fingerprint

__all__ = ["check_unchanged"]


def check_unchanged(
    decisions: pl.DataFrame, study: Study, datasets: Mapping[str, Dataset]
) -> None:
    """Compare what committed trials were trained on with what is there now.

    Args:
        decisions: of the results folder, from `Reader.decisions`.
        study: the study that goes on.
        datasets: its data sets by label, loaded.

    Raises:
        PodiumError: a backbone starts from other weights than before, or a data set has other
            test images.
    """
    weights = {item.name: weights_fingerprint(item) for item in study.backbones}
    tests = {label: dataset.test_hash for label, dataset in datasets.items()}
    problems = [
        *(
            f"the weights of {name}"
            for name in _changed(decisions, "backbone", "weights", weights)
        ),
        *(f"the data set {name}" for name in _changed(decisions, "dataset", "test_hash", tests)),
    ]
    if problems:
        raise PodiumError(
            f"{' and '.join(problems)} changed since this study started: old and new trials "
            "cannot be compared. Put back what was there, or give the study a new name"
        )


def _changed(
    decisions: pl.DataFrame, thing: str, column: str, now: Mapping[str, str]
) -> list[str]:
    """Names of things whose committed trials hold another hash than now."""
    seen = decisions.select(thing, column).unique().sort(thing, column).rows()
    return list(dict.fromkeys(name for name, before in seen if now.get(name, before) != before))
