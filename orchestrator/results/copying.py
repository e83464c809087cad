"""Commits the results of one trial under the identity of another.

Several searches may ask for the same training. It is done once, and each of them gets a row. Test
scores go from file to file here; who asks for the copy does not see them.
"""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from orchestrator.results.errors import CorruptFileError
from orchestrator.results.manifest import take_inventory
from orchestrator.results.parquet import read_groups
from orchestrator.results.paths import StudyPaths
from orchestrator.results.writer import commit_trial

__all__ = ["copy_trial"]


def copy_trial(
    paths: StudyPaths, schema: pa.Schema, trial_id: str, identity: Mapping[str, object]
) -> bool:
    """Commit a row with the results of ``trial_id`` and other identity columns.

    Nothing was trained or tested for it: ``attempts`` and ``test_readings`` are 0.

    Returns:
        False if that row was there before; it stays.

    Raises:
        CorruptFileError: no row of ``trial_id`` can be read.
        StoreError: the store cannot be read or written.
    """
    row = _row(paths, schema, trial_id)
    return commit_trial(paths, schema, {**row, **identity, "attempts": 0, "test_readings": 0})


def _row(paths: StudyPaths, schema: pa.Schema, trial_id: str) -> dict[str, object]:
    inventory = take_inventory(paths)
    loose = inventory.loose.get(trial_id)
    files = (loose,) if loose is not None else inventory.files
    for file in files:
        for group in read_groups(file, schema):
            found = group.filter(pc.equal(group["trial_id"], trial_id))
            if found.num_rows:
                row = found.slice(0, 1).to_pylist()[0]
                # A file from before the study gained hyperparameters lacks their columns.
                return {**dict.fromkeys(schema.names), **row}
    raise CorruptFileError(f"{paths.folder} has no row of trial {trial_id}, to be copied")
