"""One epoch after another of one network under one loss.

B = batch, V = views of an image, C = training classes, N = images, S = steps of an epoch, T =
length of a text vector, D = embedding dimension.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.utils import get_total_norm

from podium.trainables.batches.labelled_images import LabelledImages
from podium.trainables.dataset_interface.batch_sampler import Embeddings
from podium.trainables.errors import Diverged
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Criterion, LossOutput
from podium.trainables.network.network import Network
from podium.trainables.reproducibility import derive_seed
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.training_loop.evaluation import embed_finite
from podium.trainables.training_loop.frozen_layers import (
    let_rest,
    warn_of_batch_norm,
    warn_of_warm_up,
)
from podium.trainables.training_loop.micro_batches import backpropagate
from podium.trainables.training_loop.optimisers import (
    clip_gradients,
    make_optimiser,
    set_learning_rates,
)
from podium.trainables.training_loop.training_batches import TrainingBatches
from podium.trainables.trial_reports import Score


class Trainer:
    """Network, loss, optimiser and batches of one fold.

    Args:
        network: trained in place.
        criterion: not prepared yet; its own parameters follow from the seed.
        images: images of the training classes.
        training: the recipe.
        seed: seed of the fold; batches, augmentation and proxies follow from it, whatever the loss
            draws.
        class_text_CT: a vector for the name of each training class, in ascending order of their
            ids; for losses that need it.
    """

    def __init__(
        self,
        network: Network,
        criterion: Criterion,
        images: LabelledImages,
        training: TrainingSettings,
        seed: int,
        class_text_CT: npt.NDArray[np.float32] | None = None,
    ) -> None:
        self._network = network
        self._embedder = embedder = network.embedder
        self._training = training
        warn_of_batch_norm(embedder.backbone, training)
        warn_of_warm_up(embedder.backbone, training)
        self._images = images
        self._batches = batches = TrainingBatches(images, training, seed, criterion, class_text_CT)
        # On the CPU, so that a trial starts from the same proxies wherever it runs.
        generator = torch.Generator().manual_seed(derive_seed(seed, "criterion"))
        criterion.prepare(batches.num_classes, embedder.embedding.out_features, generator)
        self._criterion = criterion.to(images.labels_N.device)
        self._optimiser = make_optimiser(embedder, criterion, training)

    @property
    def needs(self) -> frozenset[str]:
        """What the loss needs; see `Criterion`."""
        return self._criterion.needs

    @property
    def loss_parameters(self) -> dict[str, nn.Parameter]:
        """What the loss trains of its own, such as proxies, by name; most losses have nothing."""
        return dict(self._criterion.named_parameters())

    def train(self, fold: int, epoch: int) -> tuple[Score, ...]:
        """One epoch; the `epoch_scores` of its steps.

        Raises:
            Diverged: the loss or a gradient was not finite at some step, or an embedding that the
                sampler needs. The epoch is run to its end first, since looking at each step would
                make CUDA wait for it.
        """
        needs_embeddings = self._batches.need_embeddings
        embeddings_ND = self._embeddings(fold, epoch) if needs_embeddings else None
        self._start_epoch(epoch)
        steps = [
            self._step(images, beside)
            for images, beside in self._batches.epoch(epoch, embeddings_ND)
        ]
        return epoch_scores(torch.stack(steps).cpu().double(), fold, epoch)

    def _embeddings(self, fold: int, epoch: int) -> Embeddings:
        """Of the training images, as they are evaluated, by the network before the epoch."""
        embeddings_ND = embed_finite(self._network, self._images, "train", fold, epoch)
        found: Embeddings = embeddings_ND.float().cpu().numpy()
        return found

    def _start_epoch(self, epoch: int) -> None:
        self._network.train()
        self._criterion.train()
        self._criterion.start_epoch(epoch)
        let_rest(self._embedder.backbone, self._training, epoch)
        set_learning_rates(self._optimiser, self._training, epoch)

    def _loss(self, embeddings: Tensor, beside: dict[str, Tensor]) -> LossOutput:
        """The loss of embeddings of shape (V * B, D), first views first."""
        views_VBD = torch.unflatten(embeddings, 0, (self._batches.num_views, -1))
        more = {"views_BVD": views_VBD.transpose(0, 1)} if self._batches.num_views > 1 else {}
        output: LossOutput = self._criterion(Batch.of(views_VBD[0], **beside, **more))
        return output

    def _step(self, images: Tensor, beside: dict[str, Tensor]) -> Tensor:
        """Loss, active fraction and norm of the gradient, shape (3,), still on the device.

        The norm is that before clipping, which would hide that a gradient is infinite.
        """
        self._optimiser.zero_grad(set_to_none=True)
        output = backpropagate(
            self._network,
            images,
            lambda embeddings: self._loss(embeddings, beside),
            self._training.micro_batch_size,
        )
        norm = get_total_norm(_gradients(self._embedder, self._criterion))
        clip_gradients(self._embedder.parameters(), self._criterion.parameters(), self._training)
        self._optimiser.step()
        return torch.stack([output.value.detach(), output.active_fraction, norm])

    def state_dict(self) -> dict[str, Any]:
        """What the next epoch depends on, beside the network."""
        return {
            "criterion": self._criterion.state_dict(),
            "optimiser": self._optimiser.state_dict(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from `state_dict`."""
        self._criterion.load_state_dict(state["criterion"])
        self._optimiser.load_state_dict(state["optimiser"])


def _gradients(*modules: nn.Module) -> list[Tensor]:
    return [
        weight.grad
        for module in modules
        for weight in module.parameters()
        if weight.grad is not None
    ]


def epoch_scores(steps_S3: Tensor, fold: int, epoch: int) -> tuple[Score, ...]:
    """Mean ``loss``, ``active_fraction`` and ``gradient_norm`` of an epoch, of role ``train``.

    Args:
        steps_S3: these three of each step, on the CPU; the norm is that before clipping.
        fold: index of the fold, for messages.
        epoch: number of the epoch, for messages.

    Raises:
        Diverged: a loss or a gradient was not finite.
    """
    losses_S, active_S, norms_S = steps_S3.unbind(1)
    for what, values_S in (("loss", losses_S), ("norm of the gradient", norms_S)):
        bad = (~values_S.isfinite()).nonzero()
        if len(bad):
            step = int(bad[0])
            text = f"the {what} is {values_S[step].item()} at step {step + 1} of {len(values_S)}"
            raise Diverged(text, fold, epoch)
    values = {"loss": losses_S, "active_fraction": active_S, "gradient_norm": norms_S}
    return tuple(
        Score(role="train", metric=name, value=values_S.mean().item())
        for name, values_S in values.items()
    )
