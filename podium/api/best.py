"""The configs that won the searches of a loss."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from podium.analysis.scores.final_scores import final_trials
from podium.analysis.scores.shown_reader import ShownReader
from podium.errors import PodiumError
from podium.orchestrator.results.records.metric_columns import (
    hyperparameters_of,
    known_test_columns,
)

_PLACE = ("block", "protocol", "repeat")


@dataclass(frozen=True, slots=True, kw_only=True)
class BestConfig:
    """The config that won one search.

    Attributes:
        loss: name of the loss.
        block: data set, backbone, embedding dimension, and image size if it varies.
        protocol: label of the validation protocol.
        repeat: number of the search among those of its block, loss and protocol, from 0.
        trial_id: id of the search trial by which it won.
        hyperparameters: its hyperparameters by name.
        validation: score of that trial on validation classes, from 0 to 1.
        test: mean test score of its final trials over seeds and folds, from 0 to 1, by the same
            metric; None before any ended.
        test_std: sample standard deviation of these; None with fewer than two.
        final_trial_ids: ids of these final trials, whose networks `podium.Results.model` loads.
    """

    loss: str
    block: str
    protocol: str
    repeat: int
    trial_id: str
    hyperparameters: Mapping[str, float | int | str | bool]
    validation: float
    test: float | None
    test_std: float | None
    final_trial_ids: tuple[str, ...]


def best_configs(reader: ShownReader, loss: str) -> tuple[BestConfig, ...]:
    """The winners of a loss: see `podium.Results.best`."""
    loss = reader.shown.get(loss, loss)
    check_losses(reader.study(), [loss])
    trials = reader.trials().filter(pl.col("loss") == loss).collect()
    finals = final_trials(trials.lazy()).filter(pl.col("finalist") == "winner")
    ended = trials.filter(pl.col("stage") == "search", pl.col("state") == "COMPLETE")
    if ended.is_empty():
        raise PodiumError(f"no search of {loss} has a complete trial yet")
    searches = ended.partition_by("search", as_dict=True, maintain_order=True)
    found = [
        _best(searched, finals.filter(pl.col("search") == search))
        for (search,), searched in searches.items()
    ]
    return tuple(sorted(found, key=lambda it: (it.block, it.protocol, it.repeat)))


def check_losses(study: Mapping[str, Any], losses: Sequence[str]) -> None:
    """Raise PodiumError if one of the losses is not of a study, given as resolved."""
    for name in losses:
        if name not in study["losses"]:
            known = ", ".join(sorted(study["losses"]))
            raise PodiumError(f"loss must be one of {known}; got {name!r}")


def _best(searched: pl.DataFrame, finals: pl.DataFrame) -> BestConfig:
    """The config with finals; before there are any, the best so far, the earliest on ties."""
    picked = searched.filter(pl.col("config_hash").is_in(finals["config_hash"].implode()))
    ranked = (searched if picked.is_empty() else picked).sort(
        "objective", "index", descending=[True, False]
    )
    row = ranked.row(0, named=True)
    tested = finals.filter(pl.col("state") == "COMPLETE")
    scores = tested[next(iter(known_test_columns(finals.columns)))].drop_nulls()
    return BestConfig(
        **{name: row[name] for name in ("loss", *_PLACE, "trial_id")},
        hyperparameters=hyperparameters_of(row),
        validation=row["objective"],
        test=_number(scores.mean()),
        test_std=_number(scores.std()),
        final_trial_ids=tuple(tested["trial_id"]),
    )


def _number(value: object) -> float | None:
    return value if isinstance(value, float) else None
