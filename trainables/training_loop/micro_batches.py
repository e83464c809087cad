"""Gradients of a whole batch, from a network that sees a few of its images at a time.

B = images of a batch, all views of each counted, D = embedding dimension.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from podium.trainables.errors import TrialInputError
from podium.trainables.loss_composition.loss_base import LossOutput
from podium.trainables.network.network import Network


def backpropagate(
    network: Network,
    images: Tensor,
    loss_of: Callable[[Tensor], LossOutput],
    micro_batch_size: int,
) -> LossOutput:
    """Add the gradients of a batch's loss to the parameters of network and loss.

    A loss that compares images with one another is no sum over parts of a batch, so to add up the
    gradients of parts would minimise another loss. Instead all images are embedded without a
    gradient; the loss of the whole batch gives the gradient of each embedding; and with these the
    images go through the network once more, a part at a time (Gao et al. 2021, Scaling Deep
    Contrastive Learning Batch Size under Memory Limited Setup). That costs a second forward pass.

    The gradients are those of the whole batch up to rounding, dropout included, which draws the
    same numbers in both passes. Only BatchNorm in training normalises each part by itself; its
    statistics are updated once for each part.

    Args:
        network: in training mode.
        images: images of the batch, of shape (B, ...).
        loss_of: the loss of embeddings of shape (B, D); called once.
        micro_batch_size: images at a time, at most: parts are as equal as they can be, so that no
            image is left to be normalised by itself; 0 or at least B: all at once.

    Returns:
        What ``loss_of`` gave.

    Raises:
        TrialInputError: BatchNorm in training would see one number of a channel at a time.
    """
    if micro_batch_size == 0 or micro_batch_size >= len(images):
        output = loss_of(network(images))
        output.value.backward()  # type: ignore[no-untyped-call]
        return output
    num_parts = math.ceil(len(images) / micro_batch_size)
    parts = torch.tensor_split(images, num_parts)
    states = []
    with torch.no_grad(), _unchanged_buffers(network):
        embedded = []
        for part in parts:
            states.append(_random_state(images.device))
            embedded.append(_embedded(network, part, micro_batch_size))
    embeddings_BD = torch.cat(embedded).requires_grad_()
    output = loss_of(embeddings_BD)
    output.value.backward()  # type: ignore[no-untyped-call]
    gradients_BD = embeddings_BD.grad
    assert gradients_BD is not None, "a loss depends on its embeddings"
    for part, gradients, state in zip(
        parts, torch.tensor_split(gradients_BD, num_parts), states, strict=True
    ):
        _set_random_state(images.device, state)
        network(part).backward(gradients)  # type: ignore[no-untyped-call]
    return output


def _embedded(network: Network, part: Tensor, micro_batch_size: int) -> Tensor:
    try:
        return network(part)
    except ValueError as error:  # of BatchNorm, whose message is about a layer
        if len(part) > 1:
            raise
        raise TrialInputError(
            f"training.micro_batch_size {micro_batch_size} leaves one image by itself, and "
            "BatchNorm that trains cannot normalise a map of one pixel by itself: use larger "
            "parts, or freeze training.batch_norm"
        ) from error


@contextmanager
def _unchanged_buffers(network: Network) -> Iterator[None]:
    """Undo what the first pass does to running statistics; the second one does it again."""
    buffers = list(network.embedder.buffers())
    before = [buffer.clone() for buffer in buffers]
    yield
    for buffer, value in zip(buffers, before, strict=True):
        buffer.copy_(value)


def _random_state(device: torch.device) -> tuple[Tensor, Tensor | None]:
    is_cuda = device.type == "cuda"
    return torch.get_rng_state(), torch.cuda.get_rng_state(device) if is_cuda else None


def _set_random_state(device: torch.device, state: tuple[Tensor, Tensor | None]) -> None:
    torch.set_rng_state(state[0])
    if state[1] is not None:
        torch.cuda.set_rng_state(state[1], device)
