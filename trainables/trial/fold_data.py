"""What one fold of a trial is given: its split, the images of each role, and its fresh network."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from podium.trainables.batches.image_pipeline import ImageInput
from podium.trainables.batches.labelled_images import (
    LabelledImages,
    NetworkInput,
    images_of_classes,
)
from podium.trainables.batches.leakage_guard import LeakageGuard, Role
from podium.trainables.dataset_interface.class_splits import (
    Split,
    assert_class_disjoint,
    assert_not_tested,
    make_split,
)
from podium.trainables.network.embedder import Embedder
from podium.trainables.reproducibility import derive_seed, reproducible
from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from podium.trainables.trial.frozen_features import FrozenFeatures
from podium.trainables.trial.setup import TrialSetup


class FoldData:
    """Images of three roles that share no class and no image, and the network they start from.

    All of it follows from the trial's seed and the fold, not from the loss or its hyperparameters.

    Args:
        setup: the trial.
        fold: index of the protocol's split.
        device: device of the network and of the images.

    Attributes:
        seed: seed of the fold.
        split: names of the classes of training and validation.

    Raises:
        TrialInputError: the protocol does not fit the data set.
    """

    def __init__(self, setup: TrialSetup, fold: int, device: torch.device) -> None:
        self._setup = setup
        self.seed = derive_seed(setup.settings.seed, fold)
        images = ImageInput(
            training=setup.training,
            image_size=setup.settings.image_size,
            device=device,
            cache_folder=setup.settings.cache_folder,
            num_threads=setup.settings.num_threads,
        )
        is_frozen = setup.training.mode == FROZEN_FEATURES
        self._frozen = (
            FrozenFeatures(setup, images, derive_seed(self.seed, "network")) if is_frozen else None
        )
        self._input: NetworkInput = self._frozen or images
        self.split = _split(setup, fold)
        leaks = setup.settings.protocol.leaks
        self._guard = LeakageGuard(setup.dataset, tests_in_validation=leaks)

    def make_embedder(self) -> Embedder:
        """A fresh network, or the head alone; draws from torch's generator."""
        return (self._frozen or self._setup).make_embedder()

    def trained(self) -> LabelledImages:
        """The images of the training side.

        Raises:
            TrialInputError: an image has another role already.
        """
        return self._gather("training", _ids(self._setup, self.split.train))

    def class_text(self) -> npt.NDArray[np.float32]:
        """A vector for the name of each class of the training side, shape (C, T)."""
        return self._setup.dataset.text_of_classes(_ids(self._setup, self.split.train))

    def validated(self) -> LabelledImages | None:
        """What the role val is bound to: nothing under ``refit``."""
        setup, protocol = self._setup, self._setup.settings.protocol
        if not protocol.is_validated:
            return None
        ids = setup.dataset.test_classes if protocol.leaks else _ids(setup, self.split.val)
        return self._gather("validation", ids)

    def tested(self) -> LabelledImages:
        """The images of the test classes.

        Raises:
            TrialInputError: one was trained on or, unless the protocol leaks, validated.
        """
        return self._gather("test", self._setup.dataset.test_classes)

    def _gather(self, role: Role, class_ids: Sequence[int]) -> LabelledImages:
        images = images_of_classes(self._setup.dataset, class_ids, self._input)
        return self._guard.admit(role, images)

    def whole_weights(self, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Trained weights with those of a backbone that never moved and was not needed."""
        if self._frozen is None:
            return dict(weights)
        seed = derive_seed(self.seed, "network")
        with reproducible(seed, self._setup.settings.num_threads):
            return {**self._setup.make_embedder().state_dict(), **weights}


def _split(setup: TrialSetup, fold: int) -> Split:
    names = setup.dataset.class_names
    test_names = [names[class_id] for class_id in setup.dataset.test_classes]
    assert_not_tested(setup.settings.protocol, test_names)
    split = make_split(
        [names[class_id] for class_id in setup.dataset.train_classes],
        setup.settings.protocol,
        fold,
        setup.settings.draw,
    )
    assert_class_disjoint(split, test_names)
    return split


def _ids(setup: TrialSetup, class_names: tuple[str, ...]) -> list[int]:
    ids = {name: class_id for class_id, name in enumerate(setup.dataset.class_names)}
    return [ids[name] for name in class_names]
