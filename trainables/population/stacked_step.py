"""One training step of many heads at once: they see the same batch of features.

P = members, B = batch, F = features, D = embedding dimension.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.func import grad_and_value, vmap
from torch.nn import functional

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Loss
from podium.trainables.population.stacked_optimiser import Rates, Trained, update

WEIGHT, BIAS = "weight", "bias"
"""Names of what the embedding layer trains."""

NOTHING = "nothing"
"""Of clipping: no member of the population clips its gradients."""

Tensors = Mapping[str, Tensor]

# Of each member in one epoch: the rates of the embedding layer, and those of what the loss trains.
StepRates = tuple[Sequence[Rates], Sequence[Rates]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StackedStep:
    """What all members have in common.

    Attributes:
        chosen: hyperparameters of the loss that are no real numbers.
        clipped: whose gradients are clipped: ``all``, ``network``, ``loss`` or `NOTHING`.
        is_normalised: whether the head gives embeddings of length 1.
    """

    loss: type[Loss]
    chosen: Mapping[str, Any]
    optimiser: str
    clipped: str
    is_normalised: bool

    def __call__(
        self,
        layer: Mapping[str, Trained],
        own: Mapping[str, Trained],
        reals: Tensors,
        clip_P: Tensor,
        rates: StepRates,
        features_BF: Tensor,
        beside: Tensors,
    ) -> Tensor:
        """Move every member by one step, in place.

        Args:
            layer: weight (P, D, F) and bias (P, D) of the embedding layers.
            own: what the loss trains, by name.
            reals: real-valued hyperparameters of the loss, each of shape (P,).
            clip_P: bound of the absolute value of each number of a gradient; infinite for none.
            rates: learning rates and the like.
            features_BF: the batch.
            beside: the rest of the batch, as `Batch` names it.

        Returns:
            Loss, active fraction and norm of the gradient before clipping, shape (P, 3).
        """
        parameters = {name: trained.value for name, trained in own.items()}
        embeddings_PBD = embed(layer[WEIGHT].value, layer[BIAS].value, features_BF)
        (of_embeddings_PBD, of_loss), (value_P, active_P) = self._gradients(
            embeddings_PBD, parameters, reals, beside
        )
        of_layer = {
            WEIGHT: _weight_gradient(of_embeddings_PBD, features_BF),
            BIAS: of_embeddings_PBD.sum(1),
        }
        norm_P = _norms((*of_layer.values(), *of_loss.values()))
        for group, gradients, of_group, clipped in (
            (layer, of_layer, rates[0], ("all", "network")),
            (own, of_loss, rates[1], ("all", "loss")),
        ):
            update(
                self.optimiser,
                group,
                _clip(gradients, clip_P) if self.clipped in clipped else gradients,
                of_group,
            )
        return torch.stack([value_P, active_P, norm_P], dim=1)

    def bytes_of_loss(
        self, embeddings_BD: Tensor, parameters: Tensors, reals: Tensors, beside: Tensors
    ) -> int:
        """Bytes of the largest tensor that the gradient of one member's loss needs."""
        sizes = [embeddings_BD.nbytes]

        def note(saved: Tensor) -> Tensor:
            sizes.append(saved.nbytes)
            return saved

        with torch.enable_grad(), saved_tensors_hooks(note, lambda saved: saved):
            trained = {name: value.requires_grad_() for name, value in parameters.items()}
            self._loss_of(beside, embeddings_BD.requires_grad_(), trained, reals)
        return max(sizes)

    def _loss_of(
        self, beside: Tensors, embeddings_BD: Tensor, parameters: Tensors, reals: Tensors
    ) -> tuple[Tensor, Tensor]:
        if self.is_normalised:
            embeddings_BD = functional.normalize(embeddings_BD, dim=1)
        batch = Batch.of(embeddings_BD, **beside)
        output = self.loss.compute(batch, parameters, {**self.chosen, **reals})
        return output.value, output.active_fraction

    def _gradients(
        self, embeddings_PBD: Tensor, parameters: Tensors, reals: Tensors, beside: Tensors
    ) -> tuple[tuple[Tensor, dict[str, Tensor]], tuple[Tensor, Tensor]]:
        gradients: Callable[..., Any] = grad_and_value(
            partial(self._loss_of, beside), argnums=(0, 1), has_aux=True
        )
        found: tuple[tuple[Tensor, dict[str, Tensor]], tuple[Tensor, Tensor]] = vmap(gradients)(
            embeddings_PBD, parameters, reals
        )
        return found


def embed(weight_PDF: Tensor, bias_PD: Tensor, features_BF: Tensor) -> Tensor:
    """Embeddings of every member, shape (P, B, D).

    A product for each member, with the bits of the layer alone: one product over all members is
    no faster, and rounds sums in another order, which training turns into other embeddings.
    """
    features_PBF = features_BF.expand(len(weight_PDF), *features_BF.shape)
    return torch.baddbmm(bias_PD[:, None], features_PBF, weight_PDF.transpose(1, 2))


def _weight_gradient(of_embeddings_PBD: Tensor, features_BF: Tensor) -> Tensor:
    num_members, _, dim = of_embeddings_PBD.shape
    flat = of_embeddings_PBD.transpose(1, 2).reshape(num_members * dim, -1) @ features_BF
    return flat.view(num_members, dim, -1)


def _norms(gradients: tuple[Tensor, ...]) -> Tensor:
    squares = [gradient.reshape(len(gradient), -1).square().sum(1) for gradient in gradients]
    return torch.stack(squares).sum(0).sqrt()


def _clip(gradients: Tensors, bound_P: Tensor) -> dict[str, Tensor]:
    clipped = {}
    for name, gradient in gradients.items():
        bound = bound_P.view((-1,) + (1,) * (gradient.dim() - 1))
        clipped[name] = gradient.clamp(-bound, bound)
    return clipped
