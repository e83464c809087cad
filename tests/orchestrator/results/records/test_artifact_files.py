import pytest

from podium.errors import PodiumError
from podium.orchestrator.results.records.artifact_files import (
    embedding_files,
    file_of_fold,
    model_files,
)
from podium.orchestrator.results.storage.files import put


def test_files_are_found_by_trial_and_fold(paths):
    assert model_files(paths, "ab") == embedding_files(paths, "ab") == {}
    for trial_id, fold in (("ab", 0), ("ab", 11), ("abc", 2)):
        put(paths.model(trial_id, fold), b"weights")
    put(paths.test_embeddings("ab", 3), b"333")
    assert model_files(paths, "ab") == {fold: paths.model("ab", fold) for fold in (0, 11)}
    assert list(embedding_files(paths, "ab")) == [3]
    assert model_files(paths, "a") == {}


def test_one_fold_needs_no_name_and_several_do(paths):
    put(paths.model("ab", 4), b"")
    assert file_of_fold(model_files(paths, "ab"), None) == paths.model("ab", 4)
    put(paths.model("ab", 2), b"")
    files = model_files(paths, "ab")
    assert file_of_fold(files, 2) == paths.model("ab", 2)
    with pytest.raises(PodiumError, match="choose one with --fold; known: 2, 4"):
        file_of_fold(files, None)
    with pytest.raises(PodiumError, match="kept nothing of fold 3; known: 2, 4"):
        file_of_fold(files, 3)
