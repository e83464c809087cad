"""Studies are in one group exactly where they may be merged, and could be ranked."""

import pytest

from orchestrator.results.trial_files.merge_trials import read_source
from orchestrator.results_tools.merge_studies import merge_sources, merge_studies
from orchestrator.results_tools.mergeable_groups import mergeable_groups
from tests.analysis.synthetic_study import write_store
from tests.orchestrator.merged_stores import LOSSES, bytes_of, part


def names(found):
    return [[source.paths.folder.name for source in group] for group in found.groups]


@pytest.fixture
def group_of(tmp_path):
    def groups(**truths):
        folders = [write_store(tmp_path / name, truth) for name, truth in truths.items()]
        return mergeable_groups([read_source(folder) for folder in folders])

    return groups


def test_studies_of_other_losses_make_a_group_and_another_budget_another(group_of, tmp_path):
    found = group_of(
        a=part(LOSSES[0]),
        b=part(*LOSSES[:2], search_trials=5),
        c=part(*LOSSES[1:]),
        d=part(LOSSES[2], search_trials=5),
    )
    assert names(found) == [["a", "c"], ["b", "d"]]
    assert found.reasons == {}


def test_a_study_that_is_alone_has_a_reason_for_each_other_group(group_of, tmp_path):
    found = group_of(a=part(*LOSSES, search_trials=5), b=part(*LOSSES[:2]), c=part(LOSSES[2]))
    assert names(found) == [["a"], ["b", "c"]]
    (reasons,) = found.reasons.values()
    assert len(reasons) == 2
    assert all("search.trials differs" in reason for reason in reasons)


def test_studies_without_a_block_of_all_losses_are_apart(group_of):
    found = group_of(a=part(LOSSES[0], scripts=("greek",)), b=part(LOSSES[1], scripts=("latin",)))
    assert names(found) == [["a"], ["b"]]
    assert (
        "no block would hold final trials of every loss" in next(iter(found.reasons.values()))[0]
    )


def test_a_merge_without_weights_has_all_else(tmp_path):
    folders = [write_store(tmp_path / loss, part(loss)) for loss in LOSSES[:2]]
    (folders[0] / "models").mkdir()
    (folders[0] / "models" / "t.0.safetensors").write_bytes(b"weights")
    merge_studies(folders, tmp_path / "x" / "all")
    merge_sources(list(map(read_source, folders)), tmp_path / "y" / "all", with_weights=False)
    whole, light = bytes_of(tmp_path / "x"), bytes_of(tmp_path / "y")
    assert whole.keys() - light.keys() == {"all/models/t.0.safetensors"}
    assert all(whole[name] == content for name, content in light.items())
