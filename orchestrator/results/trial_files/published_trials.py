"""The trials of a study as one Parquet file for other people."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.study_snapshot import read_schema, study_name
from orchestrator.results.trial_files.compaction import trial_groups
from orchestrator.results.trial_files.compaction_manifest import take_inventory
from orchestrator.results.trial_files.parquet_file import parquet_writer

LEFT_OUT = ("traceback", "log", "test_retrievals")
"""Columns that are not published: what failures printed, and images of the data set."""


def published_trials(paths: StudyPaths) -> bytes:
    """Every committed trial, all columns but `LEFT_OUT`; the same store gives the same bytes.

    Args:
        paths: paths of the results folder, whose trials may lie in many files.

    Raises:
        PodiumError: it is not a results folder.
        CorruptFileError: a trial cannot be read.
    """
    schema = read_schema(paths)
    kept = pa.schema([it for it in schema if it.name not in LEFT_OUT], metadata=schema.metadata)
    with TemporaryDirectory() as folder, (Path(folder) / "trials.parquet").open("w+b") as file:
        with parquet_writer(file, kept) as writer:
            for group in trial_groups(take_inventory(paths), schema, study_name(paths)):
                writer.write_table(group.select(kept.names))
        file.seek(0)
        return file.read()
