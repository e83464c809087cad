"""Resizes images before the trials that read them start, where somebody can watch it."""

from collections.abc import Mapping

from orchestrator.study.blocks import blocks
from orchestrator.study.configs import training_of
from orchestrator.study.study import Study
from trainables.dataset_interface.dataset import Dataset
from trainables.file_caches.array_cache import cache_folder_at
from trainables.file_caches.image_files import ImageFiles
from trainables.file_caches.resized_images import evaluation_side, resized

__all__ = ["prepare_images"]


def prepare_images(study: Study, datasets: Mapping[str, Dataset]) -> None:
    """Make every cache of resized images that the study's blocks read on this machine.

    Trials would make them too, but silently, and the others would wait. Vectors, images of one
    size and ``cache: none`` have no such cache; where features are frozen, images may not be read
    at all.

    Raises:
        TrialInputError: an image cannot be decoded, or the cache cannot be written.
    """
    wanted: set[tuple[str, int]] = set()
    for block in blocks(study):
        training = training_of(study, block)
        if training.cache == "resized" and training.mode == "fine_tune" and block.image_size:
            side = evaluation_side(block.image_size, training.evaluation_crop)
            wanted.add((block.dataset, side))
    for label, side in sorted(wanted):
        dataset = datasets[label]
        if dataset.vectors is None and isinstance(dataset.pixels, ImageFiles):
            resized(dataset.pixels, side, cache_folder_at(None))
