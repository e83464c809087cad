"""One epoch after another of one network under one loss.

B = batch, V = views of an image, C = training classes, N = images, S = steps of an epoch, T =
length of a text vector, D = embedding dimension.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Generator, Tensor, nn
from torch.nn.utils import get_total_norm

from trainables.batches.labelled_images import LabelledImages
from trainables.dataset_interface.batch_sampler import Embeddings, Sampler
from trainables.device import sent
from trainables.errors import Diverged
from trainables.loss_composition.batch import Batch
from trainables.loss_composition.loss_base import Criterion, LossOutput
from trainables.network.network import Network
from trainables.registry import load
from trainables.reproducibility import derive_seed
from trainables.settings.training_settings import TrainingSettings
from trainables.training_loop.evaluation import embed_finite
from trainables.training_loop.frozen_layers import let_rest, warn_of_batch_norm, warn_of_warm_up
from trainables.training_loop.micro_batches import backpropagate
from trainables.training_loop.optimisers import clip_gradients, make_optimiser, set_learning_rates
from trainables.trial_reports import Score

# Of each image, for losses that compare distributions: enough for a covariance, at four times the
# cost of a forward pass.
_NUM_VIEWS = 4


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
        device = images.labels_N.device
        # Proxies are indexed by training class, counted from 0.
        classes, labels_N = np.unique(images.labels_N.cpu().numpy(), return_inverse=True)
        self._labels_N = torch.from_numpy(labels_N).to(device)
        # On the CPU, so that a trial starts from the same proxies wherever it runs.
        generator = torch.Generator().manual_seed(derive_seed(seed, "criterion"))
        criterion.prepare(len(classes), embedder.embedding.out_features, generator)
        self._criterion = criterion.to(device)
        self._optimiser = make_optimiser(embedder, criterion, training)
        self._class_text_CT = (
            None if class_text_CT is None else torch.from_numpy(class_text_CT).to(device)
        )
        self._seed = seed
        self._label_distances = images.label_distances
        sampler = load("batch_samplers", training.sampler)
        known = {"label_distances": images.label_distances}
        self._sampler: Sampler = sampler(
            labels=labels_N,
            batch_size=training.batch_size,
            samples_per_class=training.samples_per_class,
            seed=derive_seed(seed, "batches"),
            **{need: known[need] for need in sampler.needs},
        )

    @property
    def is_normalised(self) -> bool:
        """Whether the loss compares embeddings by direction alone."""
        return "normalised" in self._criterion.needs

    @property
    def loss_parameters(self) -> dict[str, nn.Parameter]:
        """What the loss trains of its own, such as proxies, by name; most losses have nothing."""
        return dict(self._criterion.named_parameters())

    def train(self, fold: int, epoch: int) -> tuple[Score, ...]:
        """One epoch; its mean ``loss`` and ``active_fraction`` as scores of role ``train``.

        Raises:
            Diverged: the loss or a gradient was not finite at some step, or an embedding that the
                sampler needs. The epoch is run to its end first, since looking at each step would
                make CUDA wait for it.
        """
        embeddings_ND = self._embeddings(fold, epoch) if self._sampler.needs_embeddings else None
        self._start_epoch(epoch)
        tuples = torch.Generator().manual_seed(derive_seed(self._seed, "tuples", epoch))
        batches = list(self._sampler.epoch(epoch, embeddings_ND))
        images = self._images.batches.training(
            batches, derive_seed(self._seed, "shifts", epoch), self._num_views
        )
        steps = [
            self._step(images_, self._beside_embeddings(indices, tuples))
            for indices, images_ in zip(batches, images, strict=True)
        ]
        losses_S, active_S, gradients_S = torch.stack(steps).cpu().double().unbind(1)
        for what, values_S in (("loss", losses_S), ("norm of the gradient", gradients_S)):
            _assert_finite(what, values_S, fold, epoch)
        return (
            Score(role="train", metric="loss", value=losses_S.mean().item()),
            Score(role="train", metric="active_fraction", value=active_S.mean().item()),
        )

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

    @property
    def _num_views(self) -> int:
        return _NUM_VIEWS if "several_views" in self._criterion.needs else 1

    def _beside_embeddings(
        self, indices: npt.NDArray[np.int64], tuples: Generator
    ) -> dict[str, Tensor]:
        """What the loss needs of a batch beside embeddings, by its name in `Batch`."""
        device = self._labels_N.device
        labels_B = self._labels_N[sent(torch.from_numpy(indices), device)]
        needs = self._criterion.needs
        beside = {"labels_B": labels_B}
        if "label_distances" in needs:
            assert self._label_distances is not None, "no trial starts without them"
            distances = self._label_distances.between(indices, indices)
            beside["label_distances_BB"] = sent(torch.from_numpy(distances).float(), device)
        if self._criterion.is_random:
            uniform_BB = torch.rand(len(labels_B), len(labels_B), generator=tuples)
            beside["uniform_BB"] = sent(uniform_BB, device)
        if self._class_text_CT is not None:
            beside["class_text_BT"] = self._class_text_CT[labels_B]
        return beside

    def _loss(self, embeddings: Tensor, beside: dict[str, Tensor]) -> LossOutput:
        """The loss of embeddings of shape (V * B, D), first views first."""
        views_VBD = torch.unflatten(embeddings, 0, (self._num_views, -1))
        more = {"views_BVD": views_VBD.transpose(0, 1)} if self._num_views > 1 else {}
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


def _assert_finite(what: str, values_S: Tensor, fold: int, epoch: int) -> None:
    bad = (~values_S.isfinite()).nonzero()
    if len(bad):
        step = int(bad[0])
        value = values_S[step].item()
        raise Diverged(f"the {what} is {value} at step {step + 1} of {len(values_S)}", fold, epoch)
