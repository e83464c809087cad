"""Makes the specifications of a study's trials, from its data sets and weights."""

import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from podium.orchestrator.ids_and_seeds import (
    draw_of_config,
    draw_of_seed,
    id_under,
    seed_for,
    trial_id,
)
from podium.orchestrator.study.blocks import (
    baseline_searches,
    dataset_of,
    final_protocol_of,
    protocol_of,
)
from podium.orchestrator.study.configs import training_of
from podium.orchestrator.study.foreign_code import code_of_trial
from podium.orchestrator.study.resource_demand import demand_of
from podium.orchestrator.study.study import Block, Search, Study, TrainOn
from podium.orchestrator.trials.specification import Config, Finalist, TrialSpec
from podium.trainables.dataset_interface.class_splits import (
    assert_not_tested,
    make_split,
    protocol_hash,
)
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.network.initial_weights import weights_fingerprint
from podium.trainables.settings.trial_settings import ProtocolSettings, TrialSettings

_SPLITS_KEPT = 1024
_REFIT = ProtocolSettings(kind="refit", val_fraction=None)


def check_published(study: Study, datasets: Collection[Dataset]) -> None:
    """Check lists of validation classes by name; plans only know how many classes there are.

    Raises:
        TrialInputError: a listed class is not a training class of every data set.
    """
    for protocol in (*study.protocols, study.final.protocol):
        if protocol is None or protocol.kind != "published":
            continue
        for dataset in datasets:
            test_names = [dataset.class_names[class_id] for class_id in dataset.test_classes]
            assert_not_tested(protocol, test_names)
            make_split(dataset.train_class_names, protocol, 0)


class TrialSpecMaker:
    """Makes the specifications of one study's trials.

    Args:
        datasets: its data sets by label, for class lists and fingerprints.

    Raises:
        TrialInputError: a backbone's weights are not there.
    """

    def __init__(self, study: Study, datasets: Mapping[str, Dataset]) -> None:
        self._study = study
        self._datasets = datasets
        self._backbones = {settings.name: settings for settings in study.backbones}
        self._weights = {name: weights_fingerprint(it) for name, it in self._backbones.items()}
        # Most trials of a study share their splits, which take longer than the rest of them.
        self._split_hash = lru_cache(_SPLITS_KEPT)(self._new_split_hash)
        self._protocol_hash = lru_cache(_SPLITS_KEPT)(self._new_protocol_hash)

    def _new_split_hash(
        self, dataset: str, protocol: ProtocolSettings, fold: int, draw: str
    ) -> str:
        return make_split(self._datasets[dataset].train_class_names, protocol, fold, draw).hash

    def _new_protocol_hash(self, dataset: str, protocol: ProtocolSettings) -> str:
        return protocol_hash(self._datasets[dataset].train_class_names, protocol)

    def search_trial(self, search: Search, index: int, config: Config) -> TrialSpec:
        """The trial of suggestion ``index``, of which 0 is always the default.

        All trials of a search share one seed.
        """
        study, protocol = self._study, protocol_of(self._study, search)
        folds = tuple(range(protocol.num_folds))
        seed = seed_for(study.seed, "search", search.repeat, 0)
        draw = draw_of_config(protocol, config)
        settings = replace(
            self._settings(search, protocol, folds, config, seed, draw),
            stop_epoch=study.search.epochs,
            test_scores="metrics" if study.quarantine == "record_all" else "recall",
            evaluate_test=study.tests_searches,
        )
        spec = self._spec("search", search, index, settings)
        if search.protocol != study.protocols[0].label:
            spec = replace(spec, trial_id=id_under(spec.trial_id, search.protocol))
        return replace(spec, is_default=index == 0, leaks=protocol.leaks)

    def final_trials(
        self, search: Search, finalists: tuple[Finalist, ...], selected_from: int
    ) -> tuple[TrialSpec, ...]:
        """Each finalist over all fresh seeds and folds; seeds and folds are paired."""
        specs = [
            self._final_trial(search, finalist, train_on, seed_index, fold)
            for train_on in self._study.final.train_on
            for seed_index, fold in self._seeds_and_folds(self._final_protocol(search, train_on))
            for finalist in finalists
        ]
        return tuple(
            replace(spec, index=index, selected_from=selected_from)
            for index, spec in enumerate(specs)
        )

    def baseline_trials(self, block: Block) -> tuple[TrialSpec, ...]:
        """The baselines of a block, over the seeds and folds of the final stage.

        No seed and no fold changes features, so they are scored once, whatever is validated.
        """
        specs = []
        for search in baseline_searches(self._study, block):
            has_head = search.block.embedding_dim is not None
            protocol = self._final_protocol(search, "part" if has_head else "all")
            places = self._seeds_and_folds(protocol) if has_head else ((0, 0),)
            for index, (seed_index, fold) in enumerate(places):
                tested = self._tested_settings(search, protocol, {}, seed_index, fold)
                settings = replace(tested, training=replace(tested.training, epochs=0))
                spec = self._spec("baseline", search, index, settings)
                specs.append(replace(spec, seed_index=seed_index))
        return tuple(specs)

    def _final_trial(
        self, search: Search, finalist: Finalist, train_on: TrainOn, seed_index: int, fold: int
    ) -> TrialSpec:
        protocol = self._final_protocol(search, train_on)
        settings = self._tested_settings(search, protocol, finalist.config, seed_index, fold)
        if train_on == "all":
            settings = replace(settings, stop_epoch=finalist.selected_epoch)
        is_chosen = finalist.is_winner or settings.stop_epoch is not None
        return replace(
            self._spec("final", search, 0, settings),
            seed_index=seed_index,
            is_default=finalist.is_default,
            is_winner=finalist.is_winner,
            train_on=train_on,
            # Test classes chose the epoch, or the search's choice went into the trial.
            leaks=protocol.leaks or (is_chosen and protocol_of(self._study, search).leaks),
        )

    def _final_protocol(self, search: Search, train_on: TrainOn) -> ProtocolSettings:
        return _REFIT if train_on == "all" else final_protocol_of(self._study, search)

    def _seeds_and_folds(self, protocol: ProtocolSettings) -> Iterable[tuple[int, int]]:
        return itertools.product(range(self._study.final.seeds), range(protocol.num_folds))

    def _tested_settings(
        self,
        search: Search,
        protocol: ProtocolSettings,
        config: Config,
        seed_index: int,
        fold: int,
    ) -> TrialSettings:
        """Settings of finals, and of the baseline, which starts from the same weights."""
        seed = seed_for(self._study.seed, "final", search.repeat, seed_index)
        draw = draw_of_seed(protocol, seed)
        settings = self._settings(search, protocol, (fold,), config, seed, draw)
        return replace(settings, test_scores="all", evaluate_test=True)

    def _settings(
        self,
        search: Search,
        protocol: ProtocolSettings,
        folds: tuple[int, ...],
        config: Config,
        seed: int,
        draw: str,
    ) -> TrialSettings:
        """What all stages set alike."""
        study, block = self._study, search.block
        training = training_of(study, block)
        return TrialSettings(
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
            num_threads=max(1, int(demand_of(study).cpus)),
            code=code_of_trial(study.code, search.loss, block.backbone, training.transform),
        )

    def _spec(
        self,
        stage: Literal["search", "final", "baseline"],
        search: Search,
        index: int,
        settings: TrialSettings,
    ) -> TrialSpec:
        """The trial with its id and the hashes of its data."""
        dataset, protocol = self._datasets[search.block.dataset], settings.protocol
        splits = tuple(
            self._split_hash(search.block.dataset, protocol, fold, settings.draw)
            for fold in settings.folds
        )
        weights = self._weights[search.block.backbone]
        return TrialSpec(
            trial_id=trial_id(
                settings, dataset=dataset.fingerprint, splits=splits, weights=weights
            ),
            stage=stage,
            search=search,
            index=index,
            settings=settings,
            split_hash="+".join(splits),
            protocol_hash=self._protocol_hash(search.block.dataset, protocol),
            test_hash=dataset.test_hash,
            data_hash=dataset.fingerprint,
            weights=weights,
        )
