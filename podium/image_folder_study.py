"""A look at a folder of images, and a study of it with splits and batches that work."""

import math
from collections.abc import Iterator
from pathlib import Path

from podium.errors import PodiumError
from trainables.dataset_interface.class_splits import refuse_too_few_classes
from trainables.dataset_readers.image_checks import TINY, ImageCheck, RoleCheck, check_images
from trainables.dataset_readers.image_list import ImageList
from trainables.dataset_readers.read_images import read_images

_FIXED_FROM = 40  # training classes from which one split validates enough of them
_MOST_FOLDS = 5
_IMAGES_OF_A_CLASS = 4  # in a batch, of classes that have so many
_BATCH = 64


def folder_study_text(root: Path, name: str) -> str:
    """A commented study file for a folder of images, every one of which is read.

    Raises:
        PodiumError: there are no classes, too few of them, only classes of one image, or images
            that cannot be read; each with what to do about it.
    """
    images = read_images("folder", root)
    found = check_images(images)
    roles = {role.role: role for role in found.roles}
    train, test = roles["train"], roles.get("test") or roles["query"]
    _refuse_unusable(root, found, train, test)
    protocol, trained = _protocol(train.classes)
    samples = max(2, min(_IMAGES_OF_A_CLASS, int(train.median_per_class)))
    num_classes = max(2, min(_BATCH // samples, trained))  # of a batch
    notes = "".join(f"# {note}\n" for note in _notes(images, found))
    folder = str(root.resolve()).replace("'", "''")
    seen = ", transparency: white" if found.see_through else ""
    return f"""\
# {train.images:,} images of {train.classes:,} classes to train and validate on, {test.images:,} of
# {test.classes:,} to test on; a class has {train.min_per_class} to {train.max_per_class} \
(median {train.median_per_class:g}).
{notes}# What it does and costs: podium plan FILE.  Start or continue it: podium run FILE.
study: {name}
datasets: [{{name: folder, root: '{folder}'{seen}}}]
backbones: [resnet50]            # weights of ImageNet; podium's docs list others
embedding_dims: [128]
losses: [contrastive, multi_similarity, proxy_anchor]
# Validation classes are kept from training; test classes are never seen before the end.
protocol: {protocol}
search: {{trials: 10}}             # of each loss
final: {{seeds: 8}}                # with fewer no difference of four losses can be significant
tournament: {{question: these_blocks}}  # of these images, not of all: that takes more data sets
training:
  recipe: psomas2020             # for image files: AdamW, random crops, 224 pixels
  epochs: 20                     # the recipe's are 100
  batch_size: {samples * num_classes:<18} # of {num_classes} classes
  samples_per_class: {samples:<11} # images of a class in a batch
resources: {{gpus_per_trial: 0}}   # 1 where there is a GPU; 0.5 for two trials on one
"""


def _refuse_unusable(root: Path, found: ImageCheck, train: RoleCheck, test: RoleCheck) -> None:
    if found.broken:
        first, num_images = found.broken[0], sum(role.images for role in found.roles)
        raise PodiumError(
            f"{root}: {len(found.broken)} of {num_images} images cannot be read, such as "
            f"{first.path} ({first.reason}): repair or remove them (podium datasets check folder "
            "lists all)"
        )
    refuse_too_few_classes(root, num_train=train.classes, num_test=test.classes)
    for role in (train, test):
        if role.max_per_class < 2 and len(found.roles) == 2:  # there is no gallery
            raise PodiumError(
                f"{root}: each class of {role.role} has a single image, and nothing to be found "
                "for it: it takes 2 images or more in some"
            )


def _notes(images: ImageList, found: ImageCheck) -> Iterator[str]:
    if singles := sum(role.singletons for role in found.roles if role.role != "gallery"):
        yield f"{singles} classes have one image: they train no pair."
    if found.tiny:
        yield f"{len(found.tiny)} images have a side below {TINY} pixels."
    if found.see_through:
        yield f"{len(found.see_through)} images have transparent pixels: they are laid on white."
    if found.turned:
        yield f"{len(found.turned)} images were not held upright: they are seen as stored."
    if images.left_out_text:
        yield f"{images.left_out_text.capitalize()}."


def _protocol(num_classes: int) -> tuple[str, int]:
    """A protocol for so many classes, and how many of them it trains on at least."""
    if num_classes >= _FIXED_FROM:
        return "{kind: fixed, val_fraction: 0.25}", num_classes - round(num_classes / 4)
    folds = min(_MOST_FOLDS, num_classes // 2)
    return f"{{kind: kfold, folds: {folds}}}", num_classes - math.ceil(num_classes / folds)
