"""What images cost the trials of a results folder."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import polars as pl

from orchestrator.planning.image_cost import (
    TOGETHER,
    Conditions,
    Device,
    ImageCost,
    conditions_of,
)
from orchestrator.planning.image_counts import images_of
from orchestrator.results.trial_files.reader import Reader
from orchestrator.study.blocks import blocks, dataset_of
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.study import Study

_DEVICES: tuple[Device, ...] = ("cpu", "gpu")


def measured_costs(study: Study, reader: Reader, since: datetime) -> list[ImageCost]:
    """One cost for each set of conditions, over complete trials that ended after ``since``.

    Epochs are those of search trials, tests those of finals, which test one fold each. Where
    searches train many heads at once, finals are the only trials alone, and epochs are theirs too.

    Args:
        study: the study whose results they are.
        reader: of its results folder.
        since: time with a time zone.
    """
    numbers, counted = _numbered_conditions(study)
    an_image = (
        (pl.col("seconds") - pl.col("test_seconds")) / pl.col("epochs_run") / pl.col("per_epoch")
    )
    is_measured = pl.col("is_search") | (pl.col("is_like_search") & ~pl.col("is_search").any())
    of_epoch = pl.when(is_measured).then(an_image)
    of_final = pl.when(stage="final").then(pl.col("test_seconds") / pl.col("tested"))
    found = (
        _trials(reader, since)
        .join(counted.lazy(), on=["block", "protocol", "device", "executor"])
        .group_by("number", maintain_order=True)
        .agg(
            of_epoch.quantile(0.1, "linear").alias("low"),
            of_epoch.median().alias("median"),
            of_epoch.quantile(0.9, "linear").alias("high"),
            of_final.median().alias("tested"),
            of_epoch.count().alias("trials"),
        )
        .filter(pl.col("median") > 0)
        .collect()
    )
    conditions = {number: item for item, number in numbers.items()}
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    return [
        ImageCost(conditions=conditions[row.pop("number")], source="machine", day=day, **row)
        for row in found.iter_rows(named=True)
    ]


def _numbered_conditions(study: Study) -> tuple[dict[Conditions, int], pl.DataFrame]:
    """A number for each set of conditions, and what belongs to it: by block and protocol."""
    numbers: dict[Conditions, int] = {}
    rows = []
    for block in blocks(study):
        facts = dataset_facts(dataset_of(study, block))
        for device, executor in product(_DEVICES, ("single", "population")):
            conditions = conditions_of(study, block, device)
            if executor == "population":
                conditions = replace(conditions, mode=TOGETHER)
            number = numbers.setdefault(conditions, len(numbers))
            for protocol in study.protocols:
                images = images_of(facts, protocol)
                rows.append(
                    {
                        "block": block.label,
                        "protocol": protocol.label,
                        "device": device,
                        "executor": executor,
                        "number": number,
                        "per_epoch": images.per_epoch,
                        "tested": images.tested,
                    }
                )
    return numbers, pl.DataFrame(rows)


def _trials(reader: Reader, since: datetime) -> pl.LazyFrame:
    """Complete trials that were trained, with the kind of their device."""
    is_on_cpu = pl.col("device") == "cpu"
    return (
        reader.trials()
        .filter(
            pl.col("state") == "COMPLETE",
            pl.col("same_as").is_null(),
            pl.col("epochs_run") > 0,
            pl.col("ended_at") >= since,
        )
        .select(
            "block",
            "protocol",
            "stage",
            pl.col("executor").fill_null("single"),
            (pl.col("stage") == "search").alias("is_search"),
            (pl.col("train_on") == "part").fill_null(value=False).alias("is_like_search"),
            "seconds",
            pl.col("test_seconds").fill_null(0.0),
            "epochs_run",
            pl.when(is_on_cpu).then(pl.lit("cpu")).otherwise(pl.lit("gpu")).alias("device"),
        )
    )
