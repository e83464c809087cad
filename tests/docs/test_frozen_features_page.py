"""What docs/how-to/frozen-features.md says of files and settings is so."""

import numpy as np

from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import DatasetSettings
from podium.trainables.settings.unused_settings import unused_settings
from tests.docs.code_blocks import TEXTS, run_python

PAGE = TEXTS["docs/how-to/frozen-features.md"]


def test_the_example_makes_a_data_set_of_stored_embeddings(in_prepared):
    run_python("docs/how-to/frozen-features.md")
    settings = DatasetSettings(name="features", options={"root": str(in_prepared / "vectors")})
    dataset = load_dataset(settings, None)
    assert dataset.train_class_names == ("class 0", "class 1")
    assert dataset.labels.tolist() == [0, 1, 2, 3] * 3
    stored = np.load("embeddings.npz")["embeddings"]
    np.testing.assert_array_equal(dataset.vectors.rows(np.arange(12)), stored)


def ignored(training, **surroundings):
    """Settings that change nothing here, or for another reason than usual."""
    usual = unused_settings(TrainingSettings())
    reasons = unused_settings(training, **surroundings)
    return [name for name, why in reasons.items() if why != usual.get(name)]


def test_every_setting_that_changes_nothing_is_named():
    of_mode, of_vectors = PAGE.split("## Data set `features`")
    for part, names in (
        (of_mode, ignored(TrainingSettings(mode=FROZEN_FEATURES))),
        (of_vectors, ignored(TrainingSettings(), has_vectors=True)),
    ):
        assert names
        assert [name for name in names if f"`{name}`" not in part] == []
