"""Transforms of training images in code of one's own. B = batch, C = channels, H, W = pixels."""

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from podium.trainables.errors import TrialInputError
from podium.trainables.importable_code import failure_text, named_object

Transform = Callable[[Tensor], Any]


def transform_at(name: str) -> Transform:
    """The transform of that name: a function or an object that is called, or a class of these.

    It is given one image, uint8 of shape (C, H, W), and gives one of the same shape and type, as
    those of torchvision do. A class is made without arguments.

    Raises:
        TrialInputError: there is none of that name, or it cannot be called.
    """
    found = named_object("transform", name)
    made = found() if inspect.isclass(found) else found
    if not callable(made):
        raise TrialInputError(f"transform {name} must be a function or a class; got {made!r}")
    transform: Transform = made
    return transform


def transformed(name: str, transform: Transform, images_BCHW: Tensor, seed: int) -> Tensor:
    """Each image after the transform, whose draws from torch follow from ``seed`` alone.

    Raises:
        TrialInputError: it fails, or gives something else than an image of that shape and type.
    """
    wanted = images_BCHW[0]
    try:
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            torch.manual_seed(seed)
            images = [transform(image_CHW) for image_CHW in images_BCHW]
    except Exception as error:  # whatever code of others does
        raise TrialInputError(
            f"transform {name} fails on an image of shape {tuple(wanted.shape)}:"
            f" {failure_text(error, [name])}"
        ) from error
    for image in images:
        shape, kind = getattr(image, "shape", None), getattr(image, "dtype", type(image).__name__)
        if shape != wanted.shape or kind != wanted.dtype:
            got = kind if shape is None else f"{kind} of shape {tuple(shape)}"
            raise TrialInputError(
                f"transform {name} must give {wanted.dtype} of shape {tuple(wanted.shape)}, as it"
                f" was given; got {got}"
            )
    return torch.stack(images)
