"""The steps of each epoch of one fold: images, and what a loss is given beside their embeddings.

B = batch, V = views of an image, C = training classes, N = images, T = length of a text vector.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from torch import Generator, Tensor

from podium.trainables.batches.labelled_images import LabelledImages
from podium.trainables.batches.own_transform import transform_at, transformed
from podium.trainables.dataset_interface.batch_sampler import Embeddings, Sampler
from podium.trainables.device import sent
from podium.trainables.loss_composition.loss_base import Criterion
from podium.trainables.registry import load
from podium.trainables.reproducibility import derive_seed
from podium.trainables.settings.training_settings import TrainingSettings

# Of each image, for losses that compare distributions: enough for a covariance, at four times the
# cost of a forward pass.
_NUM_VIEWS = 4


class TrainingBatches:
    """Batches as the recipe draws them; all follows from the seed and the epoch.

    Args:
        images: images of the training classes.
        training: the recipe.
        seed: seed of the fold.
        criterion: says what a step of it needs.
        class_text_CT: a vector for the name of each training class, in ascending order of their
            ids; for losses that need it.

    Attributes:
        num_classes: C.
        num_views: V.
        need_embeddings: whether `epoch` needs the embeddings of the training images.
    """

    def __init__(
        self,
        images: LabelledImages,
        training: TrainingSettings,
        seed: int,
        criterion: Criterion,
        class_text_CT: npt.NDArray[np.float32] | None = None,
    ) -> None:
        self._images = images
        device = images.labels_N.device
        # Proxies are indexed by training class, counted from 0.
        classes, labels_N = np.unique(images.labels_N.cpu().numpy(), return_inverse=True)
        self.num_classes = len(classes)
        self._labels_N = torch.from_numpy(labels_N).to(device)
        self._class_text_CT = (
            None if class_text_CT is None else torch.from_numpy(class_text_CT).to(device)
        )
        self._seed = seed
        self._needs, self._is_random = criterion.needs, criterion.is_random
        self.num_views = _NUM_VIEWS if "several_views" in criterion.needs else 1
        self._label_distances = images.label_distances
        sampler = load("batch_samplers", training.sampler)
        known = {"label_distances": images.label_distances}
        self._sampler: Sampler = sampler(
            labels=labels_N,
            batch_size=training.batch_size,
            samples_per_class=training.samples_per_class,
            seed=derive_seed(seed, "batches"),
            **{need: known[need] for need in sampler.needs},
        )
        self.need_embeddings = self._sampler.needs_embeddings
        self._transform = training.transform

    def epoch(
        self, epoch: int, embeddings_ND: Embeddings | None = None
    ) -> Iterator[tuple[Tensor, dict[str, Tensor]]]:
        """Each step's images, of shape (V * B, ...), and the rest of its `Batch` by name."""
        tuples = torch.Generator().manual_seed(derive_seed(self._seed, "tuples", epoch))
        batches = list(self._sampler.epoch(epoch, embeddings_ND))
        images = self._images.batches.training(
            batches, derive_seed(self._seed, "shifts", epoch), self.num_views
        )
        transform = transform_at(self._transform) if self._transform else None
        for step, (indices_B, images_) in enumerate(zip(batches, images, strict=True)):
            if transform is not None and images_.ndim == 4:  # not features
                seed = derive_seed(self._seed, "transform", epoch, step)
                images_ = transformed(self._transform, transform, images_, seed)
            yield images_, self._beside_embeddings(indices_B, tuples)

    def _beside_embeddings(
        self, indices_B: npt.NDArray[np.int64], tuples: Generator
    ) -> dict[str, Tensor]:
        device = self._labels_N.device
        labels_B = self._labels_N[sent(torch.from_numpy(indices_B), device)]
        beside = {"labels_B": labels_B}
        if "label_distances" in self._needs:
            assert self._label_distances is not None, "no trial starts without them"
            distances = self._label_distances.between(indices_B, indices_B)
            beside["label_distances_BB"] = sent(torch.from_numpy(distances).float(), device)
        if self._is_random:
            uniform_BB = torch.rand(len(labels_B), len(labels_B), generator=tuples)
            beside["uniform_BB"] = sent(uniform_BB, device)
        if self._class_text_CT is not None:
            beside["class_text_BT"] = self._class_text_CT[labels_B]
        return beside
