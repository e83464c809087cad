"""A trained network at work: embeddings of image files, and again of the test images.

    from podium.trainables.saved_models.trained_model import load_model

    model = load_model("winner.safetensors")
    embeddings_ND = model.embed_files(["a.jpg", "b.jpg"])

N = images, B = some of them, C = channels, H, W = height and width, D = embedding dimension.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor

from podium.trainables.batches.cpu_batches import HostBatches
from podium.trainables.batches.image_batches import ImageBatches, ResidentBatches
from podium.trainables.batches.image_pipeline import ImageInput
from podium.trainables.batches.labelled_images import LabelledImages, images_of_classes
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.device import trial_device
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.array_cache import cache_folder_at
from podium.trainables.file_caches.build_progress import Progress
from podium.trainables.file_caches.image_files import ImageFiles, Transparency
from podium.trainables.file_caches.resized_images import evaluation_side
from podium.trainables.network.backbone_facts import is_import_path
from podium.trainables.network.network import Network
from podium.trainables.reproducibility import reproducible
from podium.trainables.saved_models.model_file import ModelFile, Transform, read_model


class TrainedModel:
    """The network of a model file, where it can work.

    Nothing it does is random: the same images in the same order give the same bits on one machine
    and device; unless the trial compiled its network, those of its own test.

    Raises:
        TrialInputError: this version of podium has no such backbone, or another one of its name.

    Attributes:
        embedder: the network in evaluation mode, on CUDA if there is one: uint8 images of shape
            (B, C, H, W) to embeddings (B, D).
    """

    def __init__(self, file: ModelFile) -> None:
        self.file = file
        self._num_threads = file.settings.num_threads
        self._device = trial_device()
        self.embedder = file.make_embedder().to(self._device)
        # To compile would cost minutes and need a compiler, for other last bits at most.
        training = replace(file.training, compile=False)
        self._network = Network(self.embedder, training, self._device)

    def embed_files(self, images: Sequence[str | Path]) -> npt.NDArray[np.float32]:
        """Embeddings of image files, (N, D), in their order; progress goes to standard error.

        Grey images and images of other sizes become what the transform says; RGB ones become grey
        where the network was trained on grey.

        Raises:
            TrialInputError: the network takes no images; or a file is not there, is no whole
                image, or has another size where the model resizes none.
        """
        if not images:
            return np.empty((0, self.embedder.embedding.out_features), dtype=np.float32)
        transform = self.file.transform
        if transform is None:
            raise TrialInputError(
                f"this model of the data set {self.file.dataset['name']} takes vectors of "
                f"{self.file.num_inputs} features, not images"
            )
        options = self.file.settings.dataset.own_options
        files = ImageFiles(
            [Path(image) for image in images],
            cache_folder_at(None),
            cast(Transparency, options.get("transparency", "drop")),
            bool(options.get("upright", False)),
        )
        progress = Progress("embedding", len(images))
        batches = self._batches(files, transform)
        embeddings_ND = self._embed(batches, progress.advance).cpu().numpy()
        progress.end()
        return embeddings_ND

    def embed_test(
        self, dataset: Dataset, cache_folder: str | None = None
    ) -> tuple[Tensor, LabelledImages]:
        """Embeddings of the test images of the data set the network was made for, and the images.

        Raises:
            TrialInputError: ``dataset`` is another data set.
        """
        known = self.file.dataset
        if dataset.test_hash != known["test_hash"]:
            raise TrialInputError(
                f"the test images of {dataset.name} are not those this model was tested on: their "
                f"hash is {dataset.test_hash}, the model's is {known['test_hash']}"
            )
        image_input = ImageInput(
            training=self.file.training,
            image_size=self.file.settings.image_size,
            device=self._device,
            cache_folder=cache_folder,
            num_threads=self._num_threads,
        )
        images = images_of_classes(dataset, dataset.test_classes, image_input)
        return self._embed(images.batches), images

    def _embed(
        self, batches: ImageBatches, advance: Callable[[int], object] = lambda count: None
    ) -> Tensor:
        embeddings: list[Tensor] = []
        self._network.eval()
        with reproducible(0, self._num_threads), torch.no_grad():
            for images_BCHW in batches.evaluation():
                embeddings.append(self._network(images_BCHW))
                advance(len(images_BCHW))
        return torch.cat(embeddings)

    def _batches(self, files: ImageFiles, transform: Transform) -> ImageBatches:
        if transform.evaluation_crop is None:
            images_NHW = np.stack([_grey(files, index, transform) for index in range(len(files))])
            images_N1HW = torch.from_numpy(images_NHW[:, None]).to(self._device)
            return ResidentBatches(images_N1HW, is_shifted=False)
        return HostBatches(
            files,
            np.arange(len(files)),
            image_size=transform.height,
            shorter_side=evaluation_side(transform.height, transform.evaluation_crop),
            crop=None,
            device=self._device,
            num_threads=self._num_threads,
        )


def _grey(files: ImageFiles, index: int, transform: Transform) -> npt.NDArray[np.uint8]:
    image_HW3 = files.image(index)
    height, width = image_HW3.shape[:2]
    if (height, width) != (transform.height, transform.width):
        raise TrialInputError(
            f"{files.paths[index]} is {width} x {height}; this model was trained on images of "
            f"{transform.width} x {transform.height} and does not resize"
        )
    return np.asarray(Image.fromarray(image_HW3).convert("L"))


def load_model(file: str | Path, *, trust_code: bool = False) -> TrainedModel:
    """The network in a model file, ready to embed.

    Args:
        file: file of ``podium export`` or of a results folder.
        trust_code: whether a module may be imported because the file names it. It does where the
            backbone was given by import path.

    Raises:
        PodiumError: the file is missing, damaged, or of a version of podium whose settings or
            backbone this one does not have; or it names code that is not trusted.
    """
    model = read_model(file)
    backbone = model.settings.backbone.name
    if is_import_path(backbone) and not trust_code:
        raise TrialInputError(
            f"{file} names its backbone by the import path {backbone}: to use it would run that"
            " module as it is on this machine; if you trust the file, pass --trust-code, or"
            " trust_code=True in Python"
        )
    return TrainedModel(model)
