"""The trials of a study that was never trained, before they are columns.

Suffixes of arrays: T trials of one search, H hyperparameters.

Test recall = level of the block + strength of the loss + what the config adds + noise of the
seed.
"""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from orchestrator.study.study import (
    Block,
    FinalSettings,
    ResourceSettings,
    Search,
    SearchSettings,
    Study,
    StudyLoss,
    StudyTraining,
)
from trainables.settings.trial_settings import BackboneSettings, DatasetSettings, ProtocolSettings

KS = (1, 2, 4, 8)
HYPERPARAMETERS = ("learning_rate", "margin", "scale")
_PRUNED_AFTER = 5
_LOSSES = (
    *("contrastive", "triplet", "lifted_structure", "n_pair", "proxy_nca"),
    *("margin", "arcface", "multi_similarity", "soft_triple", "proxy_anchor"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much was run: by default the thesis's grid, 28 blocks by 10 losses by 50 trials.

    Attributes:
        thumbnails: whether tested trials of the first two seeds store retrieved images.
    """

    datasets: tuple[str, ...] = ("cub200", "cars196")
    backbones: tuple[str, ...] = ("resnet50", "googlenet")
    embedding_dims: tuple[int, ...] = (64, 96, 128, 192, 256, 384, 512)
    losses: tuple[str, ...] = _LOSSES
    trials: int = 50
    seeds: int = 3
    epochs: int = 20
    val_classes: int = 10
    test_classes: int = 100
    thumbnails: bool = True

    @classmethod
    def of_trials(cls, num_trials: int, *, per_search: int | None = None) -> "Size":
        """A study with about so many trials of searches.

        Args:
            num_trials: number of trials of all searches.
            per_search: number of trials of each search, of as many blocks as it takes; None means
                the grid's 28 blocks, with as many trials a search as it takes.
        """
        usual = cls()
        if per_search is None:
            return cls(trials=math.ceil(num_trials / len(usual.blocks) / len(usual.losses)))
        networks = len(usual.datasets) * len(usual.backbones)
        dims = math.ceil(num_trials / per_search / len(usual.losses) / networks)
        return cls(trials=per_search, embedding_dims=tuple(range(16, 16 + 4 * dims, 4)))

    @property
    def num_search_trials(self) -> int:
        """Number of trials of all searches."""
        return len(self.blocks) * len(self.losses) * self.trials

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Every data set, network and dimension."""
        return tuple(
            Block(dataset=dataset, backbone=backbone, embedding_dim=dim)
            for dataset in self.datasets
            for backbone in self.backbones
            for dim in self.embedding_dims
        )

    @property
    def study(self) -> Study:
        """The study file that would have asked for it."""
        return Study(
            name="synthetic",
            datasets=tuple(DatasetSettings(name=name) for name in self.datasets),
            backbones=tuple(BackboneSettings(name=name) for name in self.backbones),
            embedding_dims=self.embedding_dims,
            losses=tuple(map(StudyLoss, self.losses)),
            protocols=(ProtocolSettings(),),
            search=SearchSettings(trials=self.trials),
            final=FinalSettings(seeds=self.seeds),
            training=StudyTraining(overrides={"epochs": self.epochs}),
            resources=ResourceSettings(),
            ks=KS,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One trial, before it is columns; ``recall`` is what it would reach on test."""

    search: Search
    stage: str
    index: int
    config: str
    seed_index: int
    state: str
    epochs: int
    recall: float
    values: tuple[float, ...]
    is_default: bool = False
    is_winner: bool = False

    @property
    def trial_id(self) -> str:
        text = f"{self.search.id}.{self.stage}.{self.config}.{self.seed_index}"
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def is_tested(self) -> bool:
        return self.stage != "search" and self.state == "COMPLETE"

    @property
    def has_scores(self) -> bool:
        return self.state != "FAILED"


def searches_of(size: Size) -> Iterator[Search]:
    for block in size.blocks:
        for loss in (*size.losses, "untrained"):
            yield Search(block=block, loss=loss, protocol="fixed", repeat=0)


def search_rows(size: Size, search: Search, generator: np.random.Generator) -> list[Row]:
    """Trial 0 is the default; of the others some were stopped early and few failed."""
    level = 0.45 + 0.01 * size.blocks.index(search.block)
    if search.loss == "untrained":
        noise = generator.normal(0, 0.004, size.seeds)
        return [
            Row(
                search=search,
                stage="baseline",
                index=seed,
                config="none",
                seed_index=seed,
                state="COMPLETE",
                epochs=0,
                recall=level - 0.1 + float(noise[seed]),
                values=(),
            )
            for seed in range(size.seeds)
        ]
    place = size.losses.index(search.loss)
    level += 0.008 * place + float(generator.normal(0, 0.006))
    values_TH = generator.uniform(0, 1, (size.trials, len(HYPERPARAMETERS)))
    added_T = 0.05 - 0.25 * (values_TH[:, 0] - 0.6) ** 2 - 0.08 * (values_TH[:, 1] - 0.3) ** 2
    recall_T = level + added_T + generator.normal(0, 0.004, size.trials)
    fate_T = generator.uniform(0, 1, size.trials)
    fate_T[0] = 1
    states = np.where(fate_T < 0.03, "FAILED", np.where(fate_T < 0.6, "PRUNED", "COMPLETE"))
    epochs = {"FAILED": 1, "PRUNED": _PRUNED_AFTER, "COMPLETE": size.epochs}
    searched = [
        Row(
            search=search,
            stage="search",
            index=index,
            config=f"config{index}",
            seed_index=0,
            state=str(state),
            epochs=epochs[str(state)],
            recall=float(recall_T[index]),
            values=tuple(map(float, values_TH[index])),
            is_default=index == 0,
        )
        for index, state in enumerate(states)
    ]
    best = int(np.argmax(np.where(states == "COMPLETE", recall_T, -1)))
    finals = []
    for config in dict.fromkeys((0, best)):
        for seed in range(size.seeds):
            finals.append(
                Row(
                    search=search,
                    stage="final",
                    index=seed,
                    config=f"config{config}",
                    seed_index=seed,
                    state="COMPLETE",
                    epochs=size.epochs,
                    recall=float(level + added_T[config] + generator.normal(0, 0.004)),
                    values=tuple(map(float, values_TH[config])),
                    is_default=config == 0,
                    is_winner=config == best,
                )
            )
    return [*searched, *finals]
