"""A look at a folder of images, and a study of it with splits and batches that work."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from podium.analysis.wording import counted
from podium.errors import PodiumError
from podium.trainables.dataset_interface.class_splits import refuse_too_few_classes
from podium.trainables.dataset_readers.image_checks import (
    TINY,
    ImageCheck,
    RoleCheck,
    check_images,
)
from podium.trainables.dataset_readers.image_list import ImageList
from podium.trainables.dataset_readers.read_images import READERS, read_images

_FIXED_FROM = 40  # training classes from which one split validates enough of them
_MOST_FOLDS = 5
_IMAGES_OF_A_CLASS = 4  # in a batch, of classes that have so many
_BATCH = 64


# Epochs of a trial, trials of a search, seeds of finals: from what is worth having to what shows
# that everything works.
_EFFORTS = ((20, 10, 8), (10, 6, 8), (5, 4, 8), (3, 3, 5), (2, 2, 2))

ON_GPU = "resnet50"
_ON_CPU = "# This machine has no GPU. With one: backbones [resnet50], image_sizes [224]"
_BACKBONES = {
    ON_GPU: """\
backbones: [resnet50]            # weights of ImageNet; podium's docs list others
""",
    "efficientnet_lite0": f"""\
{_ON_CPU}, mode fine_tune.
backbones: [efficientnet_lite0]  # weights of ImageNet
image_sizes: [128]
""",
    "conv_small": f"""\
{_ON_CPU}.
backbones: [conv_small]
image_sizes: [64]
""",
}
_RATES = """
  learning_rate: 1.0e-3          # of what begins at random
  proxy_learning_rate: 1.0e-2"""
_TRAINING = {
    ON_GPU: "",
    "efficientnet_lite0": f"""
  mode: frozen_features          # of the network; trials train the last layer{_RATES}""",
    "conv_small": _RATES,
}


def folder_study_texts(root: Path, name: str, backbone: str) -> Iterator[str]:
    """Commented study files for a folder of images, each of less effort than the one before.

    Every image is read, once.

    Args:
        root: the folder: of a published data set, or with a folder for each class.
        name: name of the study.
        backbone: ``resnet50`` where there is a GPU; else ``efficientnet_lite0`` or ``conv_small``.

    Raises:
        PodiumError: there are no classes, too few of them, only classes of one image, or images
            that cannot be read; each with what to do about it.
    """
    images, options = _read(root)
    found = check_images(images)
    roles = {role.role: role for role in found.roles}
    train, test = roles["train"], roles.get("test") or roles["query"]
    _refuse_unusable(root, found, train, test)
    protocol, trained = _protocol(train.classes)
    samples = max(2, min(_IMAGES_OF_A_CLASS, int(train.median_per_class)))
    num_classes = max(2, min(_BATCH // samples, trained))  # of a batch
    notes = "".join(f"# {note}\n" for note in _notes(images, found))
    folder = str(root.resolve()).replace("'", "''")
    num_gpus = int(backbone == ON_GPU)
    seen = ", transparency: white" if found.see_through else ""
    seen += ", upright: true" if found.turned else ""
    called = re.sub(r"[^A-Za-z0-9._-]+", "-", root.resolve().name).strip("-._") or name
    label = f", label: '{called}'" if images.dataset == "folder" else ""
    is_halved = images.dataset == "folder" and not (root / "train").is_dir()
    halves = ", the halves by name" if is_halved else ""
    crops = ": AdamW" if _TRAINING[backbone].count("frozen") else ": AdamW, random crops"
    stopping = ", early_stopping: folds" if "kfold" in protocol else ""
    for epochs, trials, seeds in _EFFORTS:
        search = f"search: {{trials: {trials}{stopping}}}"
        yield f"""\
# {train.images:,} images of {train.classes:,} classes to train and validate on, {test.images:,} of
# {test.classes:,} to test on{halves}; a class has {train.min_per_class} to {train.max_per_class} \
(median {train.median_per_class:g}).
{notes}# What it does and costs: podium plan FILE.  Start or continue it: podium run FILE.
study: {name}
datasets: [{{name: {images.dataset}{label}, root: '{folder}'{options}{seen}}}]
{_BACKBONES[backbone]}embedding_dims: [128]
losses: [contrastive, multi_similarity, proxy_anchor]
# Validation classes are kept from training; test classes are never seen before the end.
protocol: {protocol}
{search:<32} # of each loss: 10 and more find better ones
final: {{seeds: {seeds}}}                # fewer than 8 show no difference among four losses
tournament: {{question: these_blocks}}  # of these images, not of all: that takes more data sets
training:
  recipe: psomas2020             # for image files{crops}
  epochs: {epochs:<22} # the recipe's are 100{_TRAINING[backbone]}
  batch_size: {samples * num_classes:<18} # of {num_classes} classes
  samples_per_class: {samples:<11} # images of a class in a batch
keep: {{models: false}}            # true keeps the weights of every final trial
resources: {{gpus_per_trial: {num_gpus}}}   # 1 where there is a GPU; 0.5 for two trials on one
"""


def _read(root: Path) -> tuple[ImageList, str]:
    """The images of a published data set whose layout the folder has, else of a folder a class.

    And the option that a study needs to take fewer of them than were published.
    """
    for name in READERS.keys() - {"folder"}:
        for option, is_partial in (("", False), (", allow_partial: true", True)):
            with suppress(PodiumError):
                return read_images(name, root, allow_partial=is_partial), option
    return read_images("folder", root), ""


def _refuse_unusable(root: Path, found: ImageCheck, train: RoleCheck, test: RoleCheck) -> None:
    if found.broken:
        (path, reason), num_images = found.broken[0], sum(role.images for role in found.roles)
        raise PodiumError(
            f"{root}: {len(found.broken)} of {num_images} images cannot be read, such as "
            f"{path} ({reason}): repair or remove them (podium datasets check lists "
            "all)"
        )
    refuse_too_few_classes(root, num_train=train.classes, num_test=test.classes)
    for role in (train, test):
        if role.max_per_class < 2 and len(found.roles) == 2:  # there is no gallery
            raise PodiumError(
                f"{root}: each class of {role.role} has a single image, and nothing to be found "
                "for it: it takes 2 images or more in some"
            )


def _notes(images: ImageList, found: ImageCheck) -> Iterator[str]:
    for role in found.roles:
        if role.role in ("test", "query") and 2 * role.max_per_class > role.images:
            yield (
                f"One class has {role.max_per_class} of the {role.images:,} images to test on:"
                " Recall@K is mostly about it."
            )
    if singles := sum(role.singletons for role in found.roles if role.role != "gallery"):
        yield f"{counted(singles, 'class has', 'classes have')} one image: they train no pair."
    if found.tiny:
        yield f"{counted(len(found.tiny), 'image has', 'images have')} a side below {TINY} pixels."
    if found.see_through:
        see_through = counted(len(found.see_through), "image has", "images have")
        yield f"{see_through} transparent pixels, which are laid on white."
    if found.turned:
        turned = counted(len(found.turned), "image was", "images were")
        yield f"{turned} not held upright, and turned by EXIF."
    if images.left_out_text:
        yield f"{images.left_out_text.capitalize()}."


def _protocol(num_classes: int) -> tuple[str, int]:
    """A protocol for so many classes, and how many of them it trains on at least."""
    if num_classes >= _FIXED_FROM:
        return "{kind: fixed, val_fraction: 0.25}", num_classes - round(num_classes / 4)
    folds = min(_MOST_FOLDS, num_classes // 2)
    return f"{{kind: kfold, folds: {folds}}}", num_classes - math.ceil(num_classes / folds)
