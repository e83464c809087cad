"""Folders that change while they are merged: the result is whole, or there is none."""

import random
import shutil

import pytest

from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.trial_files.compaction import compact
from orchestrator.results.trial_files.integrity import check_store
from orchestrator.results_tools.merge_studies import merge_studies
from podium.errors import PodiumError
from tests.orchestrator.merged_stores import bytes_of, trials, two_stores
from tests.orchestrator.results.file_operations import FileOperations

MOMENTS = 10
FEW_TRIALS = {"scripts": ("greek",), "search_trials": 4, "seeds": 1}
REFUSAL = (
    "was changed while it was merged, by a run or a compaction: wait for that to end, then merge"
)


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """Folder with the sources, which each merge gets a copy of, and how long a merge is."""
    folder = tmp_path_factory.mktemp("groups")
    sources = two_stores(folder / "whole", **FEW_TRIALS)
    with pytest.MonkeyPatch.context() as patch:
        operations = FileOperations(patch)
        merge_studies(sources, folder / "both")
    return folder, [source.relative_to(folder / "whole") for source in sources], operations.count


class Another:
    """A process that changes a folder once, before a chosen file operation of the merge."""

    def __init__(self, moment, change):
        self._left, self._change = moment, change

    def look(self):
        self._left -= 1
        if self._left == 0:
            self._change()


def merged_meanwhile(stores, folder, monkeypatch, moment, change, prepare=lambda sources: None):
    """The merged folder, or None if the merge was refused, and its sources."""
    whole, names, _ = stores
    shutil.copytree(whole / "whole", folder / "whole")
    sources = [folder / "whole" / name for name in names]
    prepare(sources)
    output = folder / "both"
    with monkeypatch.context() as patch:
        FileOperations(patch, between=Another(moment, lambda: change(sources)).look)
        try:
            merge_studies(sources, output)
        except PodiumError as error:
            refusal = str(error)
        else:
            return output, sources
    assert REFUSAL in refusal
    assert not output.exists()
    assert list(folder.glob(".*")) == []
    return None, sources


def moments(stores):
    """Some file operations of a merge, seeded, the first and the last among them."""
    count = stores[2]
    return [1, *sorted(random.Random(5).sample(range(2, count), MOMENTS)), count]


def test_a_compaction_at_any_moment_of_a_merge_loses_and_doubles_nothing(
    stores, tmp_path, monkeypatch
):
    expected = set(trials(stores[0] / "both")["trial_id"])
    outcomes = set()
    for moment in moments(stores):
        output, sources = merged_meanwhile(
            stores,
            tmp_path / str(moment),
            monkeypatch,
            moment,
            lambda sources: compact(StudyPaths(sources[0])),
        )
        outcomes.add(output is None)
        assert len(trials(sources[0])) == check_store(StudyPaths(sources[0]))
        if output is not None:
            found = trials(output)["trial_id"].to_list()
            assert sorted(found) == sorted(expected)
            assert check_store(StudyPaths(output)) == len(expected)
    assert outcomes == {False, True}


def test_a_trial_committed_at_any_moment_of_a_merge_is_in_it_once_or_not_at_all(
    stores, tmp_path, monkeypatch
):
    expected = set(trials(stores[0] / "both")["trial_id"])
    taken = {}

    def take_one(sources):
        own = sorted((sources[1] / "trials").rglob("*.parquet"))
        path = next(path for path in own if "untrained" not in path.parent.name)
        taken[path] = path.read_bytes()
        path.unlink()

    def commit(sources):
        path, content = taken.popitem()
        path.write_bytes(content)

    for moment in moments(stores):
        output, _ = merged_meanwhile(
            stores, tmp_path / str(moment), monkeypatch, moment, commit, prepare=take_one
        )
        if output is not None:
            found = trials(output)["trial_id"].to_list()
            assert len(found) == len(set(found))
            assert len(expected - set(found)) <= 1
            assert check_store(StudyPaths(output)) == len(found)


def test_a_merge_changes_nothing_in_a_folder_that_changes_meanwhile(stores, tmp_path, monkeypatch):
    _, sources = merged_meanwhile(
        stores,
        tmp_path,
        monkeypatch,
        stores[2] // 2,
        lambda sources: compact(StudyPaths(sources[0])),
    )
    alone = tmp_path / "alone"
    shutil.copytree(stores[0] / "whole" / stores[1][0], alone)
    compact(StudyPaths(alone))
    assert bytes_of(sources[0]) == bytes_of(alone)
    assert bytes_of(sources[1]) == bytes_of(stores[0] / "whole" / stores[1][1])
