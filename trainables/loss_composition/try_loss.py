"""A loss on one batch of random embeddings: what is wrong with its code shows before any trial."""

from collections.abc import Mapping

import torch

from podium.trainables.errors import TrialInputError
from podium.trainables.importable_code import failure_text
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import LossOutput
from podium.trainables.loss_composition.make_criterion import make_criterion
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import HyperparameterValue

_NUM_CLASSES, _IMAGES_OF_CLASS, _DIM = 8, 4, 32


def try_loss(loss: str, hyperparameters: Mapping[str, HyperparameterValue]) -> None:
    """Compute a loss of one's own and its gradient on 32 random embeddings of 8 classes.

    Args:
        loss: its name; files were read.
        hyperparameters: value of each of its hyperparameters.

    Raises:
        TrialInputError: it fails, gives no finite number, or one without a gradient. An error in a
            file comes with its line.
    """
    generator = torch.Generator().manual_seed(0)
    criterion = make_criterion(loss, hyperparameters)
    criterion.prepare(_NUM_CLASSES, _DIM, generator)
    embeddings_BD = torch.randn(_NUM_CLASSES * _IMAGES_OF_CLASS, _DIM, generator=generator)
    embeddings_BD.requires_grad_()
    labels_B = torch.arange(_NUM_CLASSES).repeat_interleave(_IMAGES_OF_CLASS)
    try:
        output: LossOutput = criterion(Batch.of(embeddings_BD, labels_B))
        value = output.value
        if not torch.isfinite(value):
            raise TrialInputError(
                f"loss {loss}: on {len(labels_B)} random embeddings of {_NUM_CLASSES} classes its"
                f" value is {value.item():g}; it must be a finite number"
            )
        value.backward()  # type: ignore[no-untyped-call]
    except TrialInputError:
        raise
    except Exception as error:  # whatever the code of the loss does
        files = [term.name for term in parse_loss(loss).all_terms]
        reason = failure_text(error, files)
        if "inplace operation" in reason:  # torch's words for it
            reason = "it overwrites values that its gradient needs: write x = x / n, not x /= n"
        raise TrialInputError(
            f"loss {loss} fails on a batch of embeddings {tuple(embeddings_BD.shape)} and labels"
            f" {tuple(labels_B.shape)}: {reason}"
        ) from error
