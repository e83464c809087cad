"""The blocks of a study: what its lists are crossed to."""

import itertools

from orchestrator.dataset_facts import dataset_facts
from orchestrator.study import Block, Study
from trainables.settings import DatasetSettings

__all__ = ["blocks", "dataset_of", "sizes_of"]


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
