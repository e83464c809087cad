"""A trained network as one safetensors file with all that is needed to use it anywhere.

Tensors are named as in `Embedder` (``backbone.*``, ``embedding.*``); the loss's own parameters,
such as proxies with a row for each training class, follow as ``loss.*``.

C = channels, H, W = height and width of the network's input.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy.typing as npt
import torch
from torch import Tensor

from podium.kept_files.embeddings_file import geometry_facts, geometry_in
from podium.kept_files.tensor_file import encode_tensors, read_tensors, tensor_hash
from podium.trainables.errors import TrialInputError
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.settings.hyperparameters import resolved_training
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import (
    LOCATION_OPTIONS,
    RANDOM_WEIGHTS,
    TrialSettings,
)
from podium.trainables.tasks import Geometry

_KIND = "model"
_LOSS = "loss."
_HEAD = "embedding.weight"


@dataclass(frozen=True, slots=True, kw_only=True)
class Transform:
    """From an image to what the network takes: uint8 of shape (C, H, W).

    Scale, mean and order of channels are the network's own, since they go with its weights.

    Attributes:
        channels: 1 for grey, 3 for RGB.
        height: in pixels.
        width: in pixels.
        evaluation_crop: side of the centre crop over the shorter side of the resized image; None
            where images must have this height and width already.
    """

    channels: int
    height: int
    width: int
    evaluation_crop: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One fold's network at its best epoch, and where it comes from.

    Attributes:
        settings: settings of the trial; without paths of files, which mean nothing elsewhere.
        fold: split of the protocol.
        epoch: the selected one, counted from 1.
        transform: transform of images; None if the network takes vectors instead.
        num_inputs: length of these vectors; None for images.
        geometry: by which distance the images of the test were retrieved.
        dataset: name, fingerprint and test hash of the data set.
        train_classes: names, sorted: the rows of the loss's parameters.
        test_classes: names, sorted.
        scores: scores of the test classes: metric, k (None for metrics without) and value.
        weights: the network, by the names of its state.
        loss_parameters: trained parameters of the loss at that epoch; empty for most losses.
        origin: who made it: versions, study, trial.
    """

    settings: TrialSettings
    fold: int
    epoch: int
    transform: Transform | None
    num_inputs: int | None
    geometry: Geometry
    dataset: Mapping[str, str]
    train_classes: tuple[str, ...]
    test_classes: tuple[str, ...]
    scores: tuple[Mapping[str, Any], ...]
    weights: Mapping[str, Tensor]
    loss_parameters: Mapping[str, Tensor]
    origin: Mapping[str, str | int]

    @property
    def training(self) -> TrainingSettings:
        """The recipe, with the hyperparameters that override it."""
        return resolved_training(self.settings.training, self.settings.hyperparameters)

    def to_bytes(self) -> bytes:
        """The file; equal models give equal bytes."""
        facts = {
            "settings": _anywhere(self.settings).to_dict(),
            "fold": self.fold,
            "epoch": self.epoch,
            "transform": None if self.transform is None else asdict(self.transform),
            "num_inputs": self.num_inputs,
            **geometry_facts(self.geometry),
            "dataset": dict(self.dataset),
            "train_classes": self.train_classes,
            "test_classes": self.test_classes,
            "scores": self.scores,
            "weights_sha256": tensor_hash(_arrays(self.weights)),
            "origin": dict(self.origin),
        }
        own = {_LOSS + name: value for name, value in self.loss_parameters.items()}
        return encode_tensors(_KIND, facts, _arrays({**self.weights, **own}))

    def make_embedder(self) -> Embedder:
        """The network with these weights, on the CPU, in evaluation mode.

        Raises:
            TrialInputError: this version of podium has no such backbone, or another one of its
                name.
        """
        unfilled = replace(self.settings.backbone, weights=RANDOM_WEIGHTS)
        side = None if self.transform is None else self.transform.height
        backbone = make_backbone(unfilled, self.num_inputs, side)
        embedder = Embedder(backbone, self.settings.embedding_dim, self.training)
        try:
            embedder.load_state_dict(dict(self.weights))
        except RuntimeError as error:
            reason = str(error).splitlines()[1].strip()
            raise TrialInputError(
                f"the weights do not fit the backbone {self.settings.backbone.name} of this "
                f"version of podium: {reason}"
            ) from error
        return embedder.eval()


def read_model(file: str | Path) -> ModelFile:
    """The model in a file that `ModelFile.to_bytes` wrote, with every byte of it checked.

    Raises:
        PodiumError: the file cannot be read, is damaged or no model, or is of a version of podium
            whose settings this one does not know.
    """
    facts, arrays = read_tensors(Path(file), _KIND)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    transform = facts.get("transform")
    try:
        model = ModelFile(
            settings=TrialSettings.from_dict(facts["settings"]),
            fold=facts["fold"],
            epoch=facts["epoch"],
            transform=None if transform is None else Transform(**transform),
            num_inputs=facts["num_inputs"],
            geometry=geometry_in(facts),
            dataset=facts["dataset"],
            train_classes=tuple(facts["train_classes"]),
            test_classes=tuple(facts["test_classes"]),
            scores=tuple(facts["scores"]),
            weights={name: tensors[name] for name in tensors if not name.startswith(_LOSS)},
            loss_parameters={
                name.removeprefix(_LOSS): value
                for name, value in tensors.items()
                if name.startswith(_LOSS)
            },
            origin=facts["origin"],
        )
        shape, dim = model.weights[_HEAD].shape, model.settings.embedding_dim
    except (KeyError, TypeError, AttributeError) as error:
        raise TrialInputError(
            f"{file} was written by a version of podium that this one does not read: {error!r}"
        ) from error
    if len(shape) != 2 or shape[0] != dim:  # before a network of any size is made of it
        raise TrialInputError(
            f"{file} is of {dim!r} dimensions, but its embedding layer has the shape "
            f"{tuple(shape)}"
        )
    return model


def _arrays(tensors: Mapping[str, Tensor]) -> dict[str, npt.NDArray[Any]]:
    return {name: value.detach().cpu().numpy() for name, value in tensors.items()}


def _anywhere(settings: TrialSettings) -> TrialSettings:
    """Without folders; of a file that the backbone started from, the name stays."""
    options = {
        name: value
        for name, value in settings.dataset.options.items()
        if name not in LOCATION_OPTIONS
    }
    backbone = settings.backbone
    return replace(
        settings,
        dataset=replace(settings.dataset, options=options),
        backbone=replace(backbone, weights=Path(backbone.weights).name),
        cache_folder=None,
    )
