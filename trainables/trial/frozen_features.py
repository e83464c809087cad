"""A backbone that never moves: its features are computed once per node, trials train the head.

N = images, B = images of a batch, F = features.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from podium.trainables.batches.feature_batches import FeatureBatches
from podium.trainables.batches.image_pipeline import ImageInput
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.file_caches.array_cache import cache_folder_at, cached_array
from podium.trainables.file_caches.feature_cache import Append, cached_features
from podium.trainables.file_caches.feature_vectors import FeatureVectors
from podium.trainables.foreign_code import foreign_code
from podium.trainables.hashing import digest
from podium.trainables.network.backbone_facts import is_external, is_import_path
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.initial_weights import weights_fingerprint
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.network.network import Network
from podium.trainables.reproducibility import reproducible
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS, BackboneSettings
from podium.trainables.trial.setup import TrialSetup

# Packages of trainables whose code decides what a backbone computes.
_CODE_FOLDERS = ("backbones", "network")

_VERSION = 2  # raised whenever a change of podium changes what features come out

# Training settings that change the features of an image.
_USED = ("precision", "channels_last", "pooling", "evaluation_crop", "cache", "loader")

# What computes them: with another version of these they are computed again.
_LIBRARIES = [version(name) for name in ("torch", "torchvision", "pillow")]

_HEAD_ALONE = BackboneSettings(name="identity")


class FrozenFeatures:
    """The network's input in place of `ImageInput`, and the network that is left.

    Features are those of images as they are evaluated, by the backbone in its evaluation mode.
    Those of training and of test classes are files of their own: who only searches never touches a
    test image. A file goes by everything that changes its content; the seed is part of that only
    where the backbone starts from nothing.

    Args:
        setup: the trial.
        images: how images would reach the network.
        seed: seed of the network's initial weights.
    """

    def __init__(self, setup: TrialSetup, images: ImageInput, seed: int) -> None:
        self._setup = setup
        # What a recipe does to training images is not asked of them here.
        unaugmented = replace(setup.training, augmentation="none")
        self._images = replace(images, training=unaugmented)
        self._seed = seed
        self._uncompiled = replace(setup.training, compile=False)
        self._folder = cache_folder_at(setup.settings.cache_folder) / "features"
        self._known: dict[tuple[int, ...], tuple[npt.NDArray[np.int64], FeatureVectors]] = {}

    @property
    def device(self) -> torch.device:
        """Of the network."""
        return self._images.device

    def make_embedder(self) -> Embedder:
        """The head alone. It starts as it would behind the backbone; draws from torch's generator.

        Raises:
            TrialInputError: see `batches`.
        """
        dataset = self._setup.dataset
        _, vectors = self._half(dataset, dataset.train_classes)
        # Where the generator stands once the backbone is drawn, without drawing it again.
        start = cached_array(self._path("start", [self._seed]), self._generator_behind_backbone)
        torch.set_rng_state(torch.from_numpy(np.array(start)))
        nothing = make_backbone(_HEAD_ALONE, vectors.num_features)
        return Embedder(nothing, self._setup.settings.embedding_dim, self._setup.training)

    def batches(self, dataset: Dataset, indices_N: npt.NDArray[np.int64]) -> FeatureBatches:
        """Features of some images, all of training classes or all of test classes.

        Raises:
            TrialInputError: there is no such backbone, its weights are not there, the images do
                not go with the trial's choices, or the cache folder cannot be written.
        """
        is_test = np.isin(dataset.labels[indices_N], dataset.test_classes)
        assert is_test.all() or not is_test.any(), "a role has images of one half"
        half = dataset.test_classes if is_test.any() else dataset.train_classes
        every_N, vectors = self._half(dataset, half)
        return FeatureBatches(vectors, np.searchsorted(every_N, indices_N), self.device)

    def _half(
        self, dataset: Dataset, class_ids: tuple[int, ...]
    ) -> tuple[npt.NDArray[np.int64], FeatureVectors]:
        """All images of one half of the classes, and their features in the same order."""
        if class_ids not in self._known:
            indices_N = np.flatnonzero(np.isin(dataset.labels, class_ids))
            name = self._setup.settings.backbone.name
            vectors = cached_features(
                self._path(dataset.name, self._content(dataset, indices_N)),
                len(indices_N),
                lambda write: self._compute(dataset, indices_N, write),
                what=f"computing the features of {len(indices_N):,} images by {name}",
            )
            self._known[class_ids] = indices_N, vectors
        return self._known[class_ids]

    def _compute(self, dataset: Dataset, indices_N: npt.NDArray[np.int64], write: Append) -> None:
        with reproducible(self._seed, self._setup.settings.num_threads), torch.no_grad():
            embedder = self._setup.make_embedder().to(self.device)
            network = Network(embedder, self._uncompiled, self.device)
            network.eval()
            for images_BCHW in self._images.batches(dataset, indices_N).evaluation():
                write(network.features(images_BCHW).cpu().numpy())

    def _generator_behind_backbone(self) -> npt.NDArray[np.uint8]:
        with reproducible(self._seed, self._setup.settings.num_threads):
            make_backbone(self._setup.settings.backbone)
            state: npt.NDArray[np.uint8] = torch.get_rng_state().numpy()
        return state

    def _path(self, label: str, content: Sequence[object]) -> Path:
        chosen = self._setup.settings.backbone
        key = digest(
            [
                _VERSION,
                _LIBRARIES,
                chosen.name,
                weights_fingerprint(chosen),
                _code_hash(chosen.name),
                *content,
            ]
        )
        backbone = re.sub(r"[^\w.-]", "_", chosen.name)
        return self._folder / f"{label}-{backbone}-{key}.npy"

    def _content(self, dataset: Dataset, indices_N: npt.NDArray[np.int64]) -> list[object]:
        """What else changes the features of these images."""
        settings, training = self._setup.settings, self._setup.training
        return [
            dataset.pixels.content_hash(indices_N),
            settings.image_size,
            {name: getattr(training, name) for name in _USED},
            self._seed if _is_drawn(settings.backbone) else None,
            # The order of additions follows from both, and so do the last bits.
            self.device.type,
            settings.num_threads,
        ]


def _is_drawn(backbone: BackboneSettings) -> bool:
    """Whether weights may follow from the seed; who knows what others' own classes draw."""
    return backbone.weights == RANDOM_WEIGHTS or is_import_path(backbone.name)


def _code_hash(backbone: str) -> str:
    """Hash of the code of a backbone; of one of podium's with all that lies beside it."""
    code = foreign_code(backbone) if is_external(backbone) else None
    return _hash_of_podium() if code is None else code.fingerprint


@cache
def _hash_of_podium() -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in source_files())).hexdigest()


def source_files() -> list[Path]:
    """The files of podium whose code decides what its backbones compute; never none."""
    folders = [Path(__file__).parents[1] / name for name in _CODE_FOLDERS]
    files = {folder: sorted(folder.glob("*.py")) for folder in folders}
    assert all(files.values()), "without their source, stale features would pass for current ones"
    return [file for folder in folders for file in files[folder]]
