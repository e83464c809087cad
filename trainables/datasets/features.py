"""Feature vectors that were computed before, by whatever computed them, as a data set."""

from collections.abc import Mapping
from pathlib import Path
from typing import Self

import numpy as np

from podium.trainables.dataset_interface.dataset import Dataset, DatasetFacts
from podium.trainables.datasets._feature_files import read_feature_files
from podium.trainables.errors import TrialInputError, unknown_name
from podium.trainables.settings.training_settings import HyperparameterValue


class Features(Dataset):
    """A vector for each image (`trainables.datasets._feature_files` has the form of the files).

    The vectors go to a backbone that takes features. Training and test classes are as the file
    says; images of the role ``gallery`` are searched and never ask.

    Option ``root``: the folder with both files. The vectors are read where they are, not copied.
    """

    name = "features"

    @classmethod
    def facts(cls, options: Mapping[str, HyperparameterValue]) -> DatasetFacts:
        """See `Dataset.facts`. The labels are read, a tenth of a second for 100,000."""
        root = _root(options)
        vectors, rows = read_feature_files(root)
        trained = {name for name, role, _ in rows if role == "train"}
        every = {name for name, _, _ in rows}
        return DatasetFacts(
            num_train_classes=len(trained),
            num_test_classes=len(every) - len(trained),
            num_images=len(rows),
            num_train_images=sum(role == "train" for _, role, _ in rows),
            description=f"vectors of {vectors.num_features} features in {root}",
            num_features=vectors.num_features,
        )

    @classmethod
    def load(cls, options: Mapping[str, HyperparameterValue], cache_folder: Path) -> Self:
        """See `Dataset.load`. All vectors are read once, to check and to hash them."""
        root = _root(options)
        vectors, rows = read_feature_files(root)
        if place := vectors.first_not_finite():
            row, column = place
            name, _, image = rows[row]
            named = f"{image or 'an image'} of class {name!r}"
            raise TrialInputError(
                f"{root}: every feature must be finite; got {vectors.values_NF[row, column]} in "
                f"row {row + 1}, column {column + 1} ({named})"
            )
        roles = np.array([role for _, role, _ in rows])
        class_names, labels = np.unique([name for name, _, _ in rows], return_inverse=True)
        return cls(
            class_names=class_names.tolist(),
            test_class_names={name for name, role, _ in rows if role != "train"},
            labels=labels,
            pixels=vectors,
            gallery_N=roles == "gallery" if "gallery" in roles else None,
        )


def _root(options: Mapping[str, HyperparameterValue]) -> Path:
    for name in options:
        if name != "root":
            raise unknown_name("option of features", name, ["root"])
    root = options.get("root")
    if not isinstance(root, str) or not root:
        raise TrialInputError(
            f"data set features: root must be the folder of the files; got {root!r}"
        )
    return Path(root).expanduser()
