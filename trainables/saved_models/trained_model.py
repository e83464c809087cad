"""A trained network at work: embeddings of image files, and again of the test images.

    from trainables.saved_models.trained_model import load_model

    model = load_model("winner.safetensors")
    embeddings_ND = model.embed_files(["a.jpg", "b.jpg"])

N = images, B = some of them, C = channels, H, W = height and width, D = embedding dimension.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor

from trainables.batches.cpu_batches import HostBatches
from trainables.batches.image_batches import ImageBatches, ResidentBatches
from trainables.batches.image_pipeline import ImageInput
from trainables.batches.labelled_images import LabelledImages, images_of_classes
from trainables.dataset_interface.dataset import Dataset
from trainables.device import trial_device
from trainables.errors import TrialInputError
from trainables.file_caches.build_progress import Progress, in_threads
from trainables.file_caches.decoded_pixels import Pixels
from trainables.file_caches.image_files import decode_rgb
from trainables.hashing import digest
from trainables.network.backbone_facts import is_import_path
from trainables.network.network import Network
from trainables.reproducibility import reproducible
from trainables.saved_models.model_file import ModelFile, Transform, read_model


class TrainedModel:
    """The network of a model file, where it can work.

    Nothing it does is random: the same images in the same order give the same bits on one machine,
    device and number of threads; unless the trial compiled its network, those of its own test.

    Args:
        file: weights and transform.
        num_threads: number of threads of torch and of decoding; None for the trial's.

    Raises:
        TrialInputError: this version of podium has no such backbone, or another one of its name.

    Attributes:
        file: as given.
        embedder: the network in evaluation mode, on CUDA if there is one: uint8 images of shape
            (B, C, H, W) to embeddings (B, D).
    """

    def __init__(self, file: ModelFile, num_threads: int | None = None) -> None:
        self.file = file
        self._num_threads = num_threads or file.settings.num_threads
        self._device = trial_device()
        self.embedder = file.make_embedder().to(self._device)
        # To compile would cost minutes and need a compiler, for other last bits at most.
        training = replace(file.training, compile=False)
        self._network = Network(self.embedder, training, self._device)

    @property
    def transform(self) -> Transform:
        """Of images.

        Raises:
            TrialInputError: the network takes none.
        """
        if self.file.transform is None:
            raise TrialInputError(
                f"this model of the data set {self.file.dataset['name']} takes vectors of "
                f"{self.file.num_inputs} features, not images"
            )
        return self.file.transform

    def problem_with(self, image: Path) -> str | None:
        """Why an image file cannot be embedded; None if it can.

        Raises:
            TrialInputError: the network takes no images.
        """
        transform = self.transform
        try:
            height, width = _read_rgb(image).shape[:2]
        except TrialInputError as error:
            return str(error)
        is_resized = transform.evaluation_crop is not None
        if not is_resized and (height, width) != (transform.height, transform.width):
            return (
                f"{image} is {width} x {height}; this model was trained on images of "
                f"{transform.width} x {transform.height} and does not resize"
            )
        return None

    def problems_with(self, images: Sequence[Path]) -> list[str | None]:
        """`problem_with` of each image file, several at a time."""
        return list(in_threads(self.problem_with, images, what="reading images"))

    def embed_files(self, images: Sequence[str | Path]) -> npt.NDArray[np.float32]:
        """Embeddings of image files, (N, D), in their order; progress goes to standard error.

        Grey images and images of other sizes become what the transform says; RGB ones become grey
        where the network was trained on grey.

        Raises:
            TrialInputError: a file is not there, is no whole image, or has another size where the
                model resizes none.
        """
        if not images:
            return np.empty((0, self.file.settings.embedding_dim), dtype=np.float32)
        batches = self._batches([Path(image) for image in images])
        progress = Progress("embedding", len(images))
        embeddings_ND = self._embed(batches, progress.advance).cpu().numpy()
        progress.end()
        return embeddings_ND

    def embed_test(
        self, dataset: Dataset, cache_folder: str | None = None
    ) -> tuple[Tensor, LabelledImages]:
        """Embeddings of the test images of the data set the network was made for, and the images.

        Args:
            dataset: the data set that the model was trained on.
            cache_folder: folder of its resized images; None for podium's own.

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

    def _batches(self, paths: Sequence[Path]) -> ImageBatches:
        transform = self.transform
        if transform.evaluation_crop is None:
            images_NHW = np.stack([self._grey(path) for path in paths])
            images_N1HW = torch.from_numpy(images_NHW[:, None]).to(self._device)
            return ResidentBatches(images_N1HW, is_shifted=False)
        return HostBatches(
            _Files(paths),
            np.arange(len(paths)),
            image_size=transform.height,
            shorter_side=transform.shorter_side,
            crop_scale_min=None,
            device=self._device,
            num_threads=self._num_threads,
        )

    def _grey(self, path: Path) -> npt.NDArray[np.uint8]:
        if problem := self.problem_with(path):
            raise TrialInputError(problem)
        return np.asarray(Image.fromarray(_read_rgb(path)).convert("L"))


def load_model(
    file: str | Path, num_threads: int | None = None, *, trust_code: bool = False
) -> TrainedModel:
    """The network in a model file, ready to embed.

    Args:
        file: file of ``podium export`` or of a results folder.
        num_threads: see `TrainedModel`.
        trust_code: whether a module may be imported because the file names it. It does where the
            backbone was given by import path.

    Raises:
        TrialInputError: the file is missing, damaged, or of a version of podium whose settings or
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
    return TrainedModel(model, num_threads)


class _Files(Pixels):
    """Image files, each read when it is indexed; unlike `ImageFiles` not hashed before."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    def __len__(self) -> int:
        return len(self._paths)

    def image(self, index: int) -> npt.NDArray[np.uint8]:
        return _read_rgb(self._paths[index])

    def content_hash(self, indices: npt.NDArray[np.int64]) -> str:
        return digest([sha256(self._paths[index].read_bytes()).hexdigest() for index in indices])


def _read_rgb(path: Path) -> npt.NDArray[np.uint8]:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TrialInputError(f"{path} cannot be read: {error.strerror}") from error
    return np.asarray(decode_rgb(content, path))
