"""The blocks and searches of a study: what its lists are crossed to."""

import itertools
from dataclasses import replace

from orchestrator.ids_and_seeds import seed_for
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.study import Block, Search, Study
from trainables.settings.trial_settings import DatasetSettings, ProtocolSettings

__all__ = [
    "NUM_FINALISTS",
    "blocks",
    "dataset_of",
    "final_protocol_of",
    "num_baseline_runs",
    "num_final_runs",
    "protocol_of",
    "searches",
    "sizes_of",
]


def blocks(study: Study) -> tuple[Block, ...]:
    """Every data set x backbone x embedding dimension x image size, as the study file has them.

    Raises:
        TrialInputError: a data set is unknown, or its options are wrong.
    """
    return tuple(
        Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=dim, image_size=size)
        for dataset in study.datasets
        for backbone, dim, size in itertools.product(
            study.backbones, study.embedding_dims, sizes_of(study, dataset)
        )
    )


def sizes_of(study: Study, dataset: DatasetSettings) -> tuple[int | None, ...]:
    """The image sizes that a data set is trained at; None for its images' own."""
    return (None,) if dataset_facts(dataset).has_own_size else study.image_sizes


def dataset_of(study: Study, block: Block) -> DatasetSettings:
    """The data set of a block."""
    return next(item for item in study.datasets if item.label == block.dataset)


def searches(study: Study) -> tuple[Search, ...]:
    """Every search: block by block, loss by loss, protocol by protocol, repeat by repeat."""
    crossed = itertools.product(
        blocks(study), study.losses, study.protocols, range(study.search.repeats)
    )
    return tuple(
        Search(block=block, loss=loss, protocol=protocol.label, repeat=repeat)
        for block, loss, protocol, repeat in crossed
    )


def protocol_of(study: Study, search: Search) -> ProtocolSettings:
    """How a search judges its configs, by the split seed of its repeat."""
    protocol = next(item for item in study.protocols if item.label == search.protocol)
    return _of_repeat(study, protocol, search.repeat)


def final_protocol_of(study: Study, search: Search) -> ProtocolSettings:
    """How the finalists of a search are trained on a part of the classes."""
    if study.final.protocol is None:
        return protocol_of(study, search)
    return _of_repeat(study, study.final.protocol, search.repeat)


def _of_repeat(study: Study, protocol: ProtocolSettings, repeat: int) -> ProtocolSettings:
    """The first repeat keeps the seed of the study file, others have seeds of their own."""
    if repeat == 0 or study.search.splits == "same" or not protocol.is_seeded:
        return protocol
    return replace(protocol, split_seed=seed_for(protocol.split_seed, "split", repeat))


# The winner of a search and the published default.
NUM_FINALISTS = 2


def num_final_runs(study: Study, search: Search) -> int:
    """Trials of one finalist of a search: seeds x folds on a part, seeds on all classes."""
    folds = {"part": final_protocol_of(study, search).num_folds, "all": 1}
    return study.final.seeds * sum(folds[train_on] for train_on in study.final.train_on)


def num_baseline_runs(study: Study, search: Search) -> int:
    """Trials of the untrained network of a block: seeds x folds of its first search's finals."""
    return study.final.seeds * final_protocol_of(study, search).num_folds
