"""Stores of two groups with known truth, and ways to make them differ."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.reader import Reader
from orchestrator.results_tools.merge_studies import merge_studies
from podium.errors import PodiumError
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth
from tests.orchestrator.results.store_rows import rewrite

WHOLE = Truth(scripts=("greek", "latin"), embedding_dims=(16,), search_trials=4, seeds=2)
LOSSES = tuple(WHOLE.strengths)


def part(*losses, **changes):
    """The same truth with fewer losses: what a group that ran these alone has."""
    kept = {loss: WHOLE.strengths[loss] for loss in losses}
    gains = {loss: WHOLE.tuning_gains[loss] for loss in losses}
    return replace(WHOLE, strengths=kept, tuning_gains=gains, **changes)


def trials(folder):
    return Reader(folder).trials().drop("study").collect()


def bytes_of(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refusal(folders, output):
    with pytest.raises(PodiumError) as raised:
        merge_studies(folders, output)
    assert not output.exists()
    assert list(output.parent.glob(".*tmp")) == []
    return str(raised.value)


def change_study(folder, change):
    path = StudyPaths(folder).study
    study = yaml.safe_load(path.read_text())
    change(study)
    path.write_text(yaml.safe_dump(study, sort_keys=False))


def change_rows(folder, column, value, *, where=lambda row: True):
    """Rewrite a column of trial files, as another group's run would have written them."""
    changed = 0
    for path in folder.rglob("search=*/*.parquet"):
        table = pq.ParquetFile(path).read()
        if where(table.to_pylist()[0]):
            index = table.column_names.index(column)
            field = table.schema.field(index)
            table = table.set_column(index, field, pa.array([value], field.type))
            rewrite(path, table)
            changed += 1
    assert changed


def two_stores(folder, **changes):
    """Two groups with other losses of one study."""
    ours = write_store(folder / "ours" / "synthetic", part(*LOSSES[:2], **changes))
    theirs = write_store(folder / "theirs" / "synthetic", part(*LOSSES[2:], **changes))
    return [ours, theirs]
