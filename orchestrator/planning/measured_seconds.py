"""Seconds that images took the trials of a results folder."""

from datetime import datetime

import polars as pl

from podium.orchestrator.planning.image_seconds import ImageKind, Table, kind_of
from podium.orchestrator.planning.study_hours import images_of
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.study import Study

_SECONDS = pl.col("seconds") - pl.col("test_seconds").fill_null(0.0)
_DEVICE = pl.when(pl.col("device") == "cpu").then(pl.lit("cpu")).otherwise(pl.lit("gpu"))


def measured_seconds(study: Study, reader: Reader, since: datetime | None = None) -> Table:
    """Mean seconds of a trained image of each kind, over complete trials of searches and folds.

    With a time, which has a time zone, over those that ended since then.
    """
    trained = reader.trials().filter(
        pl.col("state") == "COMPLETE",
        pl.col("same_as").is_null(),
        pl.col("epochs_run") > 0,
        (pl.col("stage") == "search") | (pl.col("train_on") == "part"),
        pl.lit(value=True) if since is None else pl.col("ended_at") >= since,
    )
    summed = trained.group_by(
        "block", "protocol", _DEVICE.alias("device"), maintain_order=True
    ).agg(_SECONDS.sum().alias("seconds"), pl.col("epochs_run").sum().alias("epochs"))
    of_block = {block.label: block for block in blocks(study)}
    of_protocol = {protocol.label: protocol for protocol in study.protocols}
    sums: dict[ImageKind, tuple[float, float]] = {}
    for row in summed.collect().iter_rows(named=True):
        block, protocol = of_block.get(row["block"]), of_protocol.get(row["protocol"])
        if block is not None and protocol is not None:
            kind = kind_of(study, block, row["device"])
            seconds, images = sums.get(kind, (0.0, 0.0))
            of_epoch, _, _ = images_of(study, block, protocol)
            sums[kind] = (seconds + row["seconds"], images + row["epochs"] * of_epoch)
    return {kind: seconds / images for kind, (seconds, images) in sums.items() if seconds > 0}
