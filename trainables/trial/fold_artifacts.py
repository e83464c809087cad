"""What a tested fold leaves behind: its network and the embeddings of the test images.

N = images, D = embedding dimension.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from podium.kept_files.embeddings_file import EmbeddingsFile
from podium.trainables.batches.labelled_images import LabelledImages
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.file_caches.decoded_pixels import ArrayPixels
from podium.trainables.file_caches.image_files import ImageFiles
from podium.trainables.saved_models.model_file import ModelFile, Transform
from podium.trainables.tasks import Geometry
from podium.trainables.trial.setup import TrialSetup
from podium.trainables.trial_reports import TestReport


@dataclass(frozen=True, slots=True, kw_only=True)
class FoldArtifacts:
    """Both files of a fold, not written yet; their ``origin`` is for the caller to fill in."""

    model: ModelFile
    embeddings: EmbeddingsFile


def fold_model(
    setup: TrialSetup,
    report: TestReport,
    *,
    geometry: Geometry,
    weights: Mapping[str, Tensor],
    loss_parameters: Mapping[str, Tensor],
    train_classes: Sequence[str],
) -> ModelFile:
    """The network of a fold with what has to be known of it.

    Args:
        setup: the trial.
        report: report of the test.
        geometry: by which distance images were retrieved.
        weights: weights of the network at the epoch that was tested, by name.
        loss_parameters: trained parameters of the loss, such as proxies; empty for most.
        train_classes: names, in the order of the rows of proxies.
    """
    dataset = setup.dataset
    return ModelFile(
        settings=setup.settings,
        fold=report.fold,
        epoch=report.epoch,
        transform=transform_of(setup, dataset),
        num_inputs=None if dataset.vectors is None else dataset.vectors.num_features,
        geometry=geometry,
        dataset={
            "name": dataset.name,
            "fingerprint": dataset.fingerprint,
            "test_hash": dataset.test_hash,
        },
        train_classes=tuple(train_classes),
        test_classes=tuple(dataset.class_names[label] for label in dataset.test_classes),
        scores=tuple(
            {"metric": score.metric, "k": score.k, "value": score.value} for score in report.scores
        ),
        weights=weights,
        loss_parameters=loss_parameters,
        origin={},
    )


def embeddings_of_test(
    model: ModelFile, dataset: Dataset, test: LabelledImages, embeddings_ND: Tensor
) -> EmbeddingsFile:
    """The embeddings of the test images with what has to be known of them.

    Args:
        model: the network that made them.
        dataset: has the images.
        test: the images.
        embeddings_ND: embeddings of the images of ``test``.
    """
    return EmbeddingsFile(
        fold=model.fold,
        epoch=model.epoch,
        task=dataset.task,
        dataset=model.dataset,
        class_names=dataset.class_names,
        image_names=_image_names(dataset, test.indices_N.tolist()),
        geometry=model.geometry,
        scores=model.scores,
        embeddings_ND=embeddings_ND.float().cpu().numpy(),
        labels_N=test.labels_N.cpu().numpy(),
        indices_N=test.indices_N.cpu().numpy(),
        is_gallery_N=None if test.is_gallery_N is None else test.is_gallery_N.cpu().numpy(),
        origin=model.origin,
    )


def transform_of(setup: TrialSetup, dataset: Dataset) -> Transform | None:
    """What the images of the trial go through; None if the data set has vectors in their place."""
    if dataset.vectors is not None:
        return None
    pixels, size = dataset.pixels, setup.settings.image_size
    if isinstance(pixels, ArrayPixels):
        height, width = pixels.images_NHW.shape[1:]
        return Transform(channels=1, height=height, width=width, evaluation_crop=None)
    assert size is not None, "images without a size of their own are resized"
    crop = setup.training.evaluation_crop
    return Transform(channels=3, height=size, width=size, evaluation_crop=crop)


def _image_names(dataset: Dataset, indices_N: Sequence[int]) -> tuple[str, ...] | None:
    """Paths below the folder that all files of the data set have in common."""
    if dataset.vectors is not None or not isinstance(dataset.pixels, ImageFiles):
        return None
    paths = dataset.pixels.paths
    root = Path(os.path.commonpath([path.parent for path in paths]))
    return tuple(paths[index].relative_to(root).as_posix() for index in indices_N)
