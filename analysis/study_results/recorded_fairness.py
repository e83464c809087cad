"""Whether the losses of a block were trained under equal conditions, by the stored trials.

What was planned is recorded in the provenance (`planned_fairness`). Losses are compared within
a group: block, protocol and repeat of their searches.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from pydantic import TypeAdapter

from podium.orchestrator.results.records.fairness_record import Disparity, Fairness, Side

CHECKED: Mapping[str, str] = {
    "backbone": "backbone",
    "weights": "weights",
    "embedding_dim": "embedding dimension",
    "image_size": "image size",
    "test_hash": "test classes and images",
    "protocol_hash": "protocol",
    "split_hash": "splits",
    "seed": "seeds",
    "epochs_planned": "epochs planned",
    "training": "training beside the config",
    "selection_rule": "selection of the epoch",
    "podium_version": "version of podium",
    "torch_version": "version of torch",
    "git_commit": "code",
    "device": "device",
}
"""Column -> name of what is compared."""

_GROUP = ("block", "protocol", "repeat", "train_on")
_READ = ("loss", "stage", "state", "is_winner", "is_default", "split_protocol")
_STAGES = {
    "search": pl.col("stage") == "search",
    "winners": (pl.col("stage") == "final") & pl.col("is_winner"),
    "defaults": (pl.col("stage") == "final") & pl.col("is_default"),
}
_HASHES = ("test_hash", "protocol_hash", "split_hash", "git_commit")
_SHOWN_HASH = 8
_MOST_SHOWN = 3
# A final run that failed is not in any mean, so its seed and split are missing there.
_OF_COMPLETE = ("seed", "split_hash")


@dataclass(frozen=True, slots=True, kw_only=True)
class FairnessCheck:
    """One condition compared between the losses in all groups of a stage.

    Attributes:
        stage: trials that are compared with each other: ``search``, or, of the finalists,
            ``winners`` or ``defaults``.
        column: one of `CHECKED`.
        num_groups: number of groups in which at least two losses have trials.
        disparities: differences between losses; their ``blocks`` name the groups.
    """

    stage: str
    column: str
    num_groups: int
    disparities: tuple[Disparity, ...]


def planned_fairness(provenance: Mapping[str, Any]) -> Fairness | None:
    """What the study was planned to share between its losses; None if it was not recorded."""
    values = provenance.get("fairness")
    found: Fairness | None = TypeAdapter(Fairness | None).validate_python(values)
    return found


def fairness_checks(trials: pl.DataFrame) -> tuple[FairnessCheck, ...]:
    """The checks of everything in `CHECKED` by stage; columns without any value are left out.

    Splits that are drawn for each config are compared by their protocol alone, and the epochs of
    trials on all classes, which each search selects, are not compared.

    Args:
        trials: one row a trial, of all stages, with the column ``training``: the settings that its
            config takes precedence over, as JSON text.
    """
    return tuple(
        FairnessCheck(
            stage=stage,
            column=column,
            num_groups=_groups(rows, column).filter(pl.col("num_losses") > 1).height,
            disparities=tuple(_disparities(rows, column)),
        )
        for stage in _STAGES
        for column in CHECKED
        if not (rows := _comparable(trials, stage, column)).is_empty()
    )


def used_budgets(trials: pl.DataFrame, planned_trials: int) -> pl.DataFrame:
    """Numbers of searches, trials, epochs and failures of each loss.

    Returns:
        By ``loss`` and ``protocol``: ``searches``, ``short_searches`` (with fewer trials than
        planned), ``fewest_trials`` and ``most_trials`` of a search, ``mean_epochs`` of a search,
        ``pruned`` and ``failed`` (trials of searches), ``finals`` and ``failed_finals`` (of
        winners).
    """
    keys = ["loss", "protocol"]
    state = pl.col("state")
    searched = (
        trials.filter(pl.col("stage") == "search")
        .group_by(*keys, "search")
        .agg(
            pl.len().alias("trials"),
            pl.col("epochs_run").sum().alias("epochs"),
            (state == "PRUNED").sum().alias("pruned"),
            (state == "FAILED").sum().alias("failed"),
        )
        .group_by(keys)
        .agg(
            pl.len().alias("searches"),
            (pl.col("trials") < planned_trials).sum().alias("short_searches"),
            pl.col("trials").min().alias("fewest_trials"),
            pl.col("trials").max().alias("most_trials"),
            pl.col("epochs").mean().alias("mean_epochs"),
            pl.col("pruned", "failed").sum(),
        )
    )
    finals = (
        trials.filter(pl.col("stage") == "final", pl.col("is_winner"))
        .group_by(keys)
        .agg(pl.len().alias("finals"), (state != "COMPLETE").sum().alias("failed_finals"))
    )
    counts = ["finals", "failed_finals"]
    return (
        searched.join(finals, on=keys, how="left")
        .with_columns(pl.col(counts).fill_null(0))
        .sort(keys)
    )


def _comparable(trials: pl.DataFrame, stage: str, column: str) -> pl.DataFrame:
    """The trials that are compared, with what the comparison reads: a filter copies all else."""
    read = dict.fromkeys((*_GROUP, *_READ, column))
    rows = trials.select(*read).filter(_STAGES[stage])
    if stage == "search" and column == "split_hash":
        rows = rows.filter(pl.col("split_protocol") != "random_splits")
    if stage != "search" and column == "epochs_planned":
        rows = rows.filter(pl.col("train_on") == "part")
    if rows[column].is_null().all():
        return rows.clear()
    return rows


def _groups(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """Each group with its losses, and the distinct values of each of them as sorted texts."""
    text = pl.col(column).cast(pl.String)
    if column in _OF_COMPLETE:
        text = text.filter((pl.col("state") == "COMPLETE") | (pl.col("stage") == "search"))
    joined = pl.col("values").list.join("\n")
    return (
        rows.group_by(*_GROUP, "loss")
        .agg(text.drop_nulls().unique().sort().alias("values"))
        .group_by(_GROUP)
        .agg(pl.len().alias("num_losses"), joined.n_unique().alias("num_sides"), "loss", "values")
        .sort(_GROUP)
    )


def _disparities(rows: pl.DataFrame, column: str) -> Iterator[Disparity]:
    """The same sides in several groups are one disparity."""
    found: dict[tuple[Side, ...], list[str]] = {}
    has_protocols = rows["protocol"].n_unique() > 1
    for group in _groups(rows, column).filter(pl.col("num_sides") > 1).to_dicts():
        sides = _sides(dict(zip(group["loss"], group["values"], strict=True)), column)
        under = f" under {group['protocol']}" if has_protocols else ""
        found.setdefault(sides, []).append(f"{group['block']}{under}")
    for sides, groups in found.items():
        yield Disparity(
            name=CHECKED[column], area="training", sides=sides, blocks=tuple(dict.fromkeys(groups))
        )


def _sides(values: Mapping[str, Sequence[str]], column: str) -> tuple[Side, ...]:
    """The sides of a disparity: few values as they are; of many, those that a loss lacks."""
    everything = sorted({value for own in values.values() for value in own})
    shown = _shown(everything, column)
    by_text: dict[str, list[str]] = {}
    for loss in sorted(values):
        lacking = [shown[value] for value in everything if value not in values[loss]]
        if len(everything) <= _MOST_SHOWN:
            text = ", ".join(shown[value] for value in values[loss]) or "none"
        elif not lacking:
            text = f"all {len(everything)}"
        elif len(lacking) <= _MOST_SHOWN:
            text = f"all but {', '.join(lacking)}"
        else:
            text = f"{len(values[loss])} of {len(everything)}"
        by_text.setdefault(text, []).append(loss)
    return tuple(Side(value=text, competitors=tuple(by_text[text])) for text in sorted(by_text))


def _shown(values: Sequence[str], column: str) -> dict[str, str]:
    """Value -> text: hashes shortened, of settings only those that differ."""
    if column == "training":
        settings = {value: json.loads(value) for value in values}
        names = sorted({name for each in settings.values() for name in each})
        varying = [
            name for name in names if len({str(it.get(name)) for it in settings.values()}) > 1
        ]
        return {
            value: " and ".join(f"{name} {each.get(name)}" for name in varying)
            for value, each in settings.items()
        }
    short = _SHOWN_HASH if column in _HASHES else None
    return {value: value[:short] for value in values}
