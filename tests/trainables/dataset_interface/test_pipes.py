"""No reader of data waits for a pipe, and none takes a folder for a file."""

import os

import pytest

from podium.trainables.dataset_interface.class_text import read_class_text
from podium.trainables.dataset_interface.label_distances import read_label_distances
from podium.trainables.datasets._feature_files import read_feature_files
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.file_hashes import file_hashes
from tests.trainables.feature_folder import write_feature_folder


def in_features(name):
    def read(path):
        root = write_feature_folder(path.with_name("root"), classes=4)
        (root / name).unlink()
        path.rename(root / name)
        read_feature_files(root)

    return read


READERS = {
    "features": in_features("features.npy"),
    "labels": in_features("labels.csv"),
    "label distances": lambda path: read_label_distances(path, 4, None),
    "class text": lambda path: read_class_text(path, ["a"]),
    "an image": lambda path: file_hashes([path], path.with_name("cache")),
}


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_is_refused_at_once(tmp_path, name, make):
    make(tmp_path / "given")
    with pytest.raises(TrialInputError, match="must be a file; it is a folder, a pipe"):
        READERS[name](tmp_path / "given")
