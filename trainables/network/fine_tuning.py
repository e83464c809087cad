"""Of a network of timm: its layers in order, adapters of low rank, and recomputed layers."""

from typing import Any

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_base import Backbone
from podium.trainables.settings.training_settings import TrainingSettings

ADAPTERS = "lora_"
"""What the names of adapters' weights contain."""


def prepare_fine_tuning(backbone: Backbone, training: TrainingSettings) -> None:
    """Add adapters and let layers be recomputed, as the recipe says.

    Adapters start as a change of 0; their first matrices are drawn from torch's generator.

    Raises:
        TrialInputError: the network cannot do what the recipe asks.
    """
    if training.gradient_checkpointing:
        network = _of_timm(backbone, "gradient_checkpointing")
        if training.batch_norm == "train" and any(
            isinstance(module, _BatchNorm) for module in network.modules()
        ):
            raise TrialInputError(
                f"training.batch_norm must be frozen for {backbone.label}: with"
                " gradient_checkpointing it would follow each batch twice"
            )
        try:
            network.set_grad_checkpointing()
        except AssertionError as error:  # networks that cannot say so
            raise TrialInputError(
                f"training.gradient_checkpointing must be false for {backbone.label}: timm cannot"
            ) from error
    if training.lora_rank:
        from peft import LoraConfig, inject_adapter_in_model

        network = _of_timm(backbone, "lora_rank")
        linear = [name for name, it in network.named_modules() if isinstance(it, nn.Linear)]
        if not linear:
            raise TrialInputError(
                f"training.lora_rank must be 0 for {backbone.label}: it has no linear layers"
            )
        rank = training.lora_rank
        config = LoraConfig(r=rank, lora_alpha=rank, target_modules=linear)
        inject_adapter_in_model(config, network)


def layer_groups(backbone: Backbone, training: TrainingSettings) -> list[dict[str, Any]]:
    """Trained parameters of each layer, with the ``lr_scale`` that its learning rate has.

    Raises:
        TrialInputError: the network does not say what its layers are.
    """
    network = _of_timm(backbone, "layer_decay")
    from timm.optim import param_groups_layer_decay  # type: ignore[attr-defined]

    groups: list[dict[str, Any]] = param_groups_layer_decay(
        network,
        training.weight_decay,
        weight_decay_exclude_1d=False,
        layer_decay=training.layer_decay,
    )
    return groups


def _of_timm(backbone: Backbone, setting: str) -> Any:
    """The network of timm in a backbone."""
    network = getattr(backbone, "network", None)
    if not hasattr(network, "group_matcher"):
        raise TrialInputError(
            f"training.{setting} is for networks of timm (timm:NAME); got {backbone.label}"
        )
    return network
