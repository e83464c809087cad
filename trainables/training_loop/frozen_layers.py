"""Which parts of a backbone rest in an epoch: all of it in the warm-up, its BatchNorm throughout.

B = batch.
"""

import warnings
from collections.abc import Iterator

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from podium.trainables.network.fine_tuning import ADAPTERS
from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from podium.trainables.settings.training_settings import TrainingSettings


def let_rest(backbone: nn.Module, training: TrainingSettings, epoch: int) -> None:
    """Freeze what the recipe freezes in an epoch, counted from 1; the rest trains.

    In the warm-up no parameter of the backbone gets a gradient. Its BatchNorm goes on to follow
    the batches unless the recipe freezes it, as in published code.

    Args:
        backbone: in training mode.
        training: the recipe.
        epoch: the one that begins.
    """
    trains = epoch > training.warm_up_epochs
    for name, weight in backbone.named_parameters():
        weight.requires_grad_(trains and (training.lora_rank == 0 or ADAPTERS in name))
    if training.batch_norm == "train":
        return
    for module in _batch_norms(backbone):
        module.eval()
        if training.batch_norm == "frozen":
            module.requires_grad_(False)


def warn_of_batch_norm(backbone: nn.Module, training: TrainingSettings) -> None:
    """Warn if freezing BatchNorm does nothing, or nothing good; warnings are kept with a trial."""
    if training.batch_norm == "train" or training.mode == FROZEN_FEATURES:
        return
    layers = list(_batch_norms(backbone))
    if not layers:
        warnings.warn(
            f"training.batch_norm {training.batch_norm!r} changes nothing: the backbone has no "
            "BatchNorm",
            stacklevel=2,
        )
    elif all(_has_seen_nothing(layer) for layer in layers):
        warnings.warn(
            f"training.batch_norm {training.batch_norm!r} freezes statistics that were computed"
            " from no image: the backbone starts from random weights",
            stacklevel=2,
        )


def warn_of_warm_up(backbone: nn.Module, training: TrainingSettings) -> None:
    """Warn if the warm-up never ends: a recipe's may be longer than the epochs of a short try."""
    if training.mode == FROZEN_FEATURES or not any(True for _ in backbone.parameters()):
        return
    if training.warm_up_epochs >= training.epochs:
        warnings.warn(
            f"the backbone never trains: training.warm_up_epochs is {training.warm_up_epochs} of "
            f"{training.epochs} epochs",
            stacklevel=2,
        )


def _batch_norms(backbone: nn.Module) -> Iterator[_BatchNorm]:
    return (module for module in backbone.modules() if isinstance(module, _BatchNorm))


def _has_seen_nothing(layer: _BatchNorm) -> bool:
    mean, variance = layer.running_mean, layer.running_var
    if mean is None or variance is None:
        return False
    return not bool(mean.any()) and bool((variance == 1.0).all())
