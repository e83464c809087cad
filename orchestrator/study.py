"""The study, resolved and frozen: what a study file says once defaults and checks are applied."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from search_spaces.params import Space
from trainables.settings import (
    DatasetSettings,
    HyperparameterValue,
    ProtocolSettings,
    TrainingSettings,
)

__all__ = [
    "Block",
    "EarlyStopping",
    "FinalSettings",
    "KeepSettings",
    "ResourceSettings",
    "Search",
    "SearchSettings",
    "Study",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStopping:
    """When the trials of a search are stopped early, against trials of the same search only.

    ``asha``: at epochs ``grace_epochs * reduction_factor**r`` a trial goes on if it is among the
    best ``1 / reduction_factor`` of those that reached the rung.
    """

    kind: Literal["asha", "none"] = "asha"
    grace_epochs: int = 1
    reduction_factor: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """One hyperparameter search per block, loss and repeat; every search has the same budget."""

    sampler: Literal["tpe", "random", "coordinate"] = "tpe"
    trials: int = 20
    space: str = "joint"
    tune: tuple[str, ...] = ("learning_rate",)
    early_stopping: EarlyStopping = field(default_factory=EarlyStopping)
    order: Literal["asynchronous", "deterministic"] = "asynchronous"
    lag: int = 2
    repeats: int = 1
    max_concurrent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalSettings:
    """Winner and published default of each search, retrained with fresh seeds, then tested once.

    ``protocol`` None means the search's own split.
    """

    seeds: int = 3
    protocol: ProtocolSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceSettings:
    """What one trial occupies."""

    cpus_per_trial: float = 1.0
    gpus_per_trial: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepSettings:
    """What tested trials leave beside their scores (`trainables.artifacts`).

    ``models`` are weights of final trials, ``embeddings`` those of the test images of final trials
    and of the untrained baseline.
    """

    models: bool = True
    embeddings: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One resolved study file; owns one results folder.

    Attributes:
        spaces: what is searched for a loss whose space the study file states itself, training
            parameters included; all other losses have their space called ``search.space``.
        values: hyperparameters the study file sets for a loss: they hold where no search says
            otherwise, and in its first trial.
        ks: the K of Recall@K; the first is the primary one.
    """

    name: str
    datasets: tuple[DatasetSettings, ...]
    backbones: tuple[str, ...]
    embedding_dims: tuple[int, ...]
    losses: tuple[str, ...]
    protocol: ProtocolSettings
    search: SearchSettings
    final: FinalSettings
    training: TrainingSettings
    resources: ResourceSettings
    spaces: Mapping[str, Space] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, HyperparameterValue]] = field(default_factory=dict)
    keep: KeepSettings = field(default_factory=KeepSettings)
    ks: tuple[int, ...] = (1, 2, 4, 8)
    seed: int = 0
    storage: str = "podium-results"


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Block:
    """Data set x backbone x embedding dimension: what a tournament ranks losses within."""

    dataset: str
    backbone: str
    embedding_dim: int

    @property
    def label(self) -> str:
        """``glyphs-latin/conv_small/32``."""
        return f"{self.dataset}/{self.backbone}/{self.embedding_dim}"


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Search:
    """One search: block x loss x protocol x repeat. ``id`` is also its folder name."""

    block: Block
    loss: str
    protocol: str
    repeat: int

    @property
    def id(self) -> str:
        """A name safe in paths: ``glyphs-latin.conv_small.32.contrastive.fixed.0``."""
        block, loss = self.block, self.loss
        for sign, word in (("+", "-and-"), (">", "-then-"), (":", "-")):
            loss = loss.replace(sign, word)
        parts = (block.dataset, block.backbone, block.embedding_dim, loss)
        return ".".join(map(str, (*parts, self.protocol, self.repeat)))
