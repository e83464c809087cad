"""The trials of a results folder as runs of TensorBoard: scalars by epoch, and hyperparameters.

One folder and one event file a trial, written whole: a trial that is there is not written again.
The store keeps no time of an epoch, so that every event carries the time of the trial's commit.
Test scores are left out; they belong to the report.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from podium.orchestrator.results.storage.files import put
from podium.orchestrator.results.trial_files.reader import Reader

if TYPE_CHECKING:
    from tensorboardX.proto.summary_pb2 import Summary

OBJECTIVE_TAG = "objective"
"""The scalar that TensorBoard shows beside the hyperparameters of a trial."""

_FILE = "events.out.tfevents.podium"  # TensorBoard knows event files by "tfevents"
_VERSION = "brain.Event:2"
_PREFIX = "hp."
_NUM_AT_ONCE = 500  # trials whose scores are in memory together
_FACTS = ("loss", "block", "protocol", "stage", "seed", "config_hash")


def event_file(folder: Path, search: str, stage: str, trial_id: str) -> Path:
    """The event file of a trial."""
    return folder / search / f"{stage}-{trial_id}" / _FILE


def write_runs(reader: Reader, folder: Path) -> int:
    """Write a run for every committed trial that has none yet.

    Args:
        reader: reader of the results folder.
        folder: TensorBoard's ``--logdir``; made if it is missing.

    Returns:
        How many runs were written.

    Raises:
        PodiumError: a file of the store is corrupt, or a run cannot be written.
    """
    trials = reader.trials().drop("settings", "traceback", "log").collect()
    missing = [
        (row, file)
        for row in trials.iter_rows(named=True)
        if not (file := event_file(folder, row["search"], row["stage"], row["trial_id"])).is_file()
    ]
    for start in range(0, len(missing), _NUM_AT_ONCE):
        part = missing[start : start + _NUM_AT_ONCE]
        scores = _scores(reader, [row["trial_id"] for row, _ in part])
        for row, file in part:
            put(file, b"".join(_records(row, scores.get(row["trial_id"], ()))))
    return len(missing)


def _scores(reader: Reader, trial_ids: Sequence[str]) -> dict[str, list[tuple[Any, ...]]]:
    """Epoch, tag and value of every training and validation score, in the order of epochs."""
    rows = (
        reader.scores()
        .filter(pl.col("trial_id").is_in(trial_ids), pl.col("value").is_not_null())
        .with_columns((pl.col("fold").n_unique().over("trial_id") > 1).alias("has_folds"))
        .select(
            "trial_id",
            "epoch",
            pl.concat_str(
                pl.format("{}/{}", "role", "metric"),
                pl.when(pl.col("k").is_not_null()).then(pl.format("_at_{}", "k")),
                pl.when("has_folds").then(pl.format("/fold_{}", "fold")),
                ignore_nulls=True,
            ).alias("tag"),
            "value",
        )
        .sort("trial_id", "epoch", "tag", maintain_order=True)
        .collect()
    )
    grouped = groupby(rows.iter_rows(), key=itemgetter(0))
    return {trial_id: [row[1:] for row in part] for trial_id, part in grouped}


def _records(row: Mapping[str, Any], scores: Iterable[tuple[Any, ...]]) -> Iterator[bytes]:
    """The event file of a trial, record by record."""
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.proto.summary_pb2 import Summary

    time = row["ended_at"].timestamp()
    yield _framed(Event(wall_time=time, file_version=_VERSION).SerializeToString())
    for summary in _hyperparameter_summaries(row):
        yield _framed(Event(wall_time=time, step=0, summary=summary).SerializeToString())
    for epoch, part in groupby(scores, key=itemgetter(0)):
        values = [Summary.Value(tag=tag, simple_value=value) for _, tag, value in part]
        summary = Summary(value=values)
        yield _framed(Event(wall_time=time, step=epoch, summary=summary).SerializeToString())
    if row["objective"] is not None:
        best = Summary(value=[Summary.Value(tag=OBJECTIVE_TAG, simple_value=row["objective"])])
        event = Event(wall_time=time, step=row["epochs_run"] or 0, summary=best)
        yield _framed(event.SerializeToString())


def _hyperparameter_summaries(row: Mapping[str, Any]) -> "tuple[Summary, ...]":
    """What the plug-in for hyperparameters shows: values, and whether the trial succeeded."""
    from tensorboardX.proto.api_pb2 import Status
    from tensorboardX.proto.plugin_hparams_pb2 import HParamsPluginData
    from tensorboardX.summary import hparams

    values = {
        name.removeprefix(_PREFIX): value
        for name, value in row.items()
        if (name.startswith(_PREFIX) or name in _FACTS) and value is not None
    }
    experiment, start, end = hparams(values, {OBJECTIVE_TAG: None})
    if row["state"] == "FAILED":
        plugin = end.value[0].metadata.plugin_data
        content = HParamsPluginData.FromString(plugin.content)
        content.session_end_info.status = Status.Value("STATUS_FAILURE")
        plugin.content = content.SerializeToString()
    return experiment, start, end


def _framed(data: bytes) -> bytes:
    """A record as TensorFlow frames it: length, data, and a checksum of each."""
    from tensorboardX.record_writer import masked_crc32c

    length = struct.pack("<Q", len(data))
    checksums = [struct.pack("<I", masked_crc32c(part)) for part in (length, data)]
    return b"".join((length, checksums[0], data, checksums[1]))
