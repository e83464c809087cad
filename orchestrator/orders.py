"""Trial orders: everything about a trial that is known before it starts."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from orchestrator.blocks import dataset_of
from orchestrator.configs import training_of
from orchestrator.identity import config_hash, draw_for, seed_for, trial_id
from orchestrator.study import Block, KeepSettings, Search, Study
from trainables.backbone_weights import weights_fingerprint
from trainables.datasets._base import Dataset
from trainables.datasets.splits import assert_not_tested, make_split, protocol_hash
from trainables.settings import (
    UNTRAINED,
    HyperparameterValue,
    ProtocolSettings,
    TrialSettings,
)

__all__ = ["Config", "Finalist", "OrderMaker", "TrialJob", "TrialOrder", "check_published"]

Config = Mapping[str, HyperparameterValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialJob:
    """What a worker needs to run a trial; plain values, so that it travels."""

    trial_id: str
    attempt: int
    study_folder: str
    settings: dict[str, Any]
    keeps_model: bool = False
    keeps_embeddings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Finalist:
    """A config of the final stage; the winner may be the published default itself."""

    config: Config
    is_default: bool
    is_winner: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialOrder:
    """One trial with its place in the study; fills the identity columns of its row.

    ``weights`` is the fingerprint of what the backbone starts from.
    """

    trial_id: str
    stage: Literal["search", "final", "baseline"]
    search: Search
    index: int
    seed_index: int
    settings: TrialSettings
    is_default: bool
    is_winner: bool
    selected_from: int | None
    split_hashes: tuple[str, ...]
    protocol_hash: str
    test_hash: str
    weights: str

    def job(self, study_folder: str, attempt: int, keep: KeepSettings) -> TrialJob:
        """The order as a worker gets it. Only what is tested leaves something behind."""
        return TrialJob(
            trial_id=self.trial_id,
            attempt=attempt,
            study_folder=study_folder,
            settings=self.settings.to_dict(),
            keeps_model=keep.models and self.stage == "final",
            keeps_embeddings=keep.embeddings and self.settings.evaluate_test,
        )

    def identity_columns(self, study: str) -> dict[str, object]:
        """The identity columns of the trial's row, in no particular order."""
        settings, search = self.settings, self.search
        single_fold = len(settings.folds) == 1
        return {
            "study": study,
            "trial_id": self.trial_id,
            "search": search.id,
            "stage": self.stage,
            "index": self.index,
            "config_hash": config_hash(settings.hyperparameters),
            "is_default": self.is_default,
            "is_winner": self.is_winner,
            "selected_from": self.selected_from,
            "block": search.block.label,
            "dataset": search.block.dataset,
            "backbone": search.block.backbone,
            "weights": self.weights,
            "embedding_dim": search.block.embedding_dim,
            "image_size": search.block.image_size,
            "loss": search.loss,
            "protocol": settings.protocol.kind,
            "repeat": search.repeat,
            "fold": settings.folds[0] if single_fold else None,
            "num_folds": settings.protocol.num_folds,
            "seed": settings.seed,
            "seed_index": self.seed_index,
            "leaks": False,
            "split_hash": "+".join(self.split_hashes),
            "protocol_hash": self.protocol_hash,
            "test_hash": self.test_hash,
            "settings": json.dumps(settings.to_dict(), sort_keys=True),
        }


def check_published(study: Study, datasets: Collection[Dataset]) -> None:
    """Judge lists of validation classes by name; plans only know how many classes there are.

    Raises:
        TrialInputError: a listed class is not a training class of every data set.
    """
    for protocol in (study.protocol, study.final.protocol):
        if protocol is None or protocol.kind != "published":
            continue
        for dataset in datasets:
            test_names = [dataset.class_names[class_id] for class_id in dataset.test_classes]
            assert_not_tested(protocol, test_names)
            make_split(dataset.train_class_names, protocol, 0)


class OrderMaker:
    """Makes the orders of one study; needs its data sets for class lists and fingerprints.

    Raises:
        TrialInputError: a backbone's weights are not there.
    """

    def __init__(
        self, study: Study, datasets: Mapping[str, Dataset], cache_folder: str | None = None
    ) -> None:
        self._study = study
        self._datasets = datasets
        self._backbones = {settings.name: settings for settings in study.backbones}
        self._weights = {name: weights_fingerprint(it) for name, it in self._backbones.items()}
        self._cache_folder = cache_folder

    def search_trial(
        self, search: Search, index: int, config: Config, *, is_default: bool
    ) -> TrialOrder:
        """The trial of suggestion ``index``; all trials of a search share one seed."""
        protocol = self._study.protocol
        return self._order(
            stage="search",
            search=search,
            index=index,
            config=config,
            protocol=protocol,
            folds=tuple(range(protocol.num_folds)),
            seed_index=0,
            is_default=is_default,
        )

    def final_trials(
        self, search: Search, finalists: tuple[Finalist, ...], selected_from: int
    ) -> tuple[TrialOrder, ...]:
        """Each finalist over all fresh seeds and folds; seeds and folds are paired."""
        orders = [
            self._order(
                stage="final",
                search=search,
                index=0,
                config=finalist.config,
                protocol=protocol,
                folds=(fold,),
                seed_index=seed_index,
                is_default=finalist.is_default,
                is_winner=finalist.is_winner,
                selected_from=selected_from,
            )
            for protocol in [self._study.final.protocol or self._study.protocol]
            for seed_index in range(self._study.final.seeds)
            for fold in range(protocol.num_folds)
            for finalist in finalists
        ]
        return tuple(replace(order, index=index) for index, order in enumerate(orders))

    def baseline_trials(self, block: Block) -> tuple[TrialOrder, ...]:
        """The untrained embedding of a block, over the seeds and folds of the final stage."""
        search = Search(block=block, loss=UNTRAINED, protocol=self._study.protocol.kind, repeat=0)
        protocol = self._study.final.protocol or self._study.protocol
        places = [
            (seed_index, fold)
            for seed_index in range(self._study.final.seeds)
            for fold in range(protocol.num_folds)
        ]
        return tuple(
            self._order(
                stage="baseline",
                search=search,
                index=index,
                config={},
                protocol=protocol,
                folds=(fold,),
                seed_index=seed_index,
                is_default=False,
            )
            for index, (seed_index, fold) in enumerate(places)
        )

    def _order(
        self,
        *,
        stage: Literal["search", "final", "baseline"],
        search: Search,
        index: int,
        config: Config,
        protocol: ProtocolSettings,
        folds: tuple[int, ...],
        seed_index: int,
        is_default: bool,
        is_winner: bool = False,
        selected_from: int | None = None,
    ) -> TrialOrder:
        study = self._study
        block = search.block
        dataset = self._datasets[block.dataset]
        class_names = dataset.train_class_names
        # The baseline shares the finals' seeds, so that it starts from the same weights.
        seed_stage = "search" if stage == "search" else "final"
        seed = seed_for(study.seed, seed_stage, search.repeat, seed_index)
        draw = draw_for(protocol, stage, config, seed)
        splits = tuple(make_split(class_names, protocol, fold, draw).hash for fold in folds)
        training = training_of(study, block)
        if stage == "baseline":
            training = replace(training, epochs=0)
        settings = TrialSettings(
            dataset=dataset_of(study, block),
            protocol=protocol,
            folds=folds,
            backbone=self._backbones[block.backbone],
            embedding_dim=block.embedding_dim,
            image_size=block.image_size,
            loss=search.loss,
            hyperparameters=dict(config),
            training=training,
            seed=seed,
            ks=study.ks,
            draw=draw,
            evaluate_test=stage != "search",
            num_threads=max(1, int(study.resources.cpus_per_trial)),
            cache_folder=self._cache_folder,
        )
        weights = self._weights[block.backbone]
        return TrialOrder(
            trial_id=trial_id(
                settings, dataset=dataset.fingerprint, splits=splits, weights=weights
            ),
            stage=stage,
            search=search,
            index=index,
            seed_index=seed_index,
            settings=settings,
            is_default=is_default,
            is_winner=is_winner,
            selected_from=selected_from,
            split_hashes=splits,
            protocol_hash=protocol_hash(class_names, protocol),
            test_hash=dataset.test_hash,
            weights=weights,
        )
