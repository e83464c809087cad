"""Makes the specifications of a study's trials, from its data sets and weights."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

from orchestrator.ids_and_seeds import draw_for, id_under, seed_for, trial_id
from orchestrator.study.blocks import dataset_of, final_protocol_of, protocol_of
from orchestrator.study.configs import training_of
from orchestrator.study.foreign_code import code_of_trial
from orchestrator.study.resource_demand import demand_of
from orchestrator.study.study import Block, Search, Study, TrainOn
from orchestrator.trials.specification import Config, Finalist, TrialSpec
from trainables.dataset_interface.class_splits import assert_not_tested, make_split, protocol_hash
from trainables.dataset_interface.dataset import Dataset
from trainables.network.initial_weights import weights_fingerprint
from trainables.settings.trial_settings import UNTRAINED, ProtocolSettings, TrialSettings

__all__ = ["TrialSpecMaker", "check_published"]

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
        study: the resolved study.
        datasets: its data sets by label, for class lists and fingerprints.
        cache_folder: folder for cached features and images; None means the usual one.

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
    ) -> TrialSpec:
        """The trial of suggestion ``index``; all trials of a search share one seed."""
        protocol = protocol_of(self._study, search)
        return self._spec(
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
    ) -> tuple[TrialSpec, ...]:
        """Each finalist over all fresh seeds and folds; seeds and folds are paired."""
        specs = [
            self._spec(
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
                train_on=train_on,
                stop_epoch=finalist.selected_epoch if train_on == "all" else None,
            )
            for train_on, protocol in self._final_trainings(search)
            for seed_index in range(self._study.final.seeds)
            for fold in range(protocol.num_folds)
            for finalist in finalists
        ]
        return tuple(replace(spec, index=index) for index, spec in enumerate(specs))

    def _final_trainings(self, search: Search) -> list[tuple[TrainOn, ProtocolSettings]]:
        protocols: dict[TrainOn, ProtocolSettings] = {
            "part": final_protocol_of(self._study, search),
            "all": _REFIT,
        }
        return [(train_on, protocols[train_on]) for train_on in self._study.final.train_on]

    def baseline_trials(self, block: Block) -> tuple[TrialSpec, ...]:
        """The untrained embedding of a block, over the seeds and folds of the final stage."""
        first = self._study.protocols[0].label
        search = Search(block=block, loss=UNTRAINED, protocol=first, repeat=0)
        protocol = final_protocol_of(self._study, search)
        pairs = [
            (seed_index, fold)
            for seed_index in range(self._study.final.seeds)
            for fold in range(protocol.num_folds)
        ]
        return tuple(
            self._spec(
                stage="baseline",
                search=search,
                index=index,
                config={},
                protocol=protocol,
                folds=(fold,),
                seed_index=seed_index,
                is_default=False,
            )
            for index, (seed_index, fold) in enumerate(pairs)
        )

    def _spec(
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
        train_on: TrainOn | None = None,
        stop_epoch: int | None = None,
    ) -> TrialSpec:
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
            stop_epoch=stop_epoch,
            test_scores="recall" if stage == "search" else "all",
            evaluate_test=stage != "search" or study.quarantine == "record",
            num_threads=max(1, int(demand_of(study, block).cpus)),
            cache_folder=self._cache_folder,
            code=code_of_trial(study.code, search.loss, block.backbone),
        )
        weights = self._weights[block.backbone]
        identity = trial_id(settings, dataset=dataset.fingerprint, splits=splits, weights=weights)
        if stage == "search" and search.protocol != study.protocols[0].label:
            identity = id_under(identity, search.protocol)
        return TrialSpec(
            trial_id=identity,
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
            train_on=train_on,
            leaks=stage != "baseline"
            and self._leaks(search, protocol, is_chosen=is_winner or stop_epoch is not None),
        )

    def _leaks(self, search: Search, protocol: ProtocolSettings, *, is_chosen: bool) -> bool:
        """Whether test classes chose the epoch, or the search's choice went into the trial."""
        return protocol.leaks or (is_chosen and protocol_of(self._study, search).leaks)
