"""How many bytes a study takes: its results folder, and caches on each machine that trains."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from orchestrator.planning.search_plan import SearchPlan
from orchestrator.study.blocks import dataset_of, num_baseline_runs
from orchestrator.study.configs import training_of
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.loss_facts import facts_of
from orchestrator.study.study import Block, Study
from trainables.dataset_interface.dataset import DatasetFacts
from trainables.network.backbone_facts import backbone_facts
from trainables.settings.frozen_feature_rules import FROZEN_FEATURES

_FLOAT = 4  # bytes of a weight and of a number of an embedding
# Bytes as measured in folders of some hundred trials (`benchmarks/RESULTS.md`).
_ROW = 4_000  # of a trial, compacted
_RECORDS = 1_000  # attempt and ask of a trial
_LOG, _MOST_LOGS = 600, 1_000
_PER_STUDY = 450_000  # report, provenance, log of a run
_HEADER, _NAME = 8_000, 45  # of a file of weights or embeddings, and of each class in it
_OF_IMAGE = 16  # its label and place
_COPIES = 4  # in a checkpoint: weights, those of the best epoch, and two of the optimizer's
_LONGER_SIDE = 4 / 3  # of a photograph


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskSize:
    """Bytes if every planned trial is trained.

    Attributes:
        records: rows, asks, attempts, logs and the report.
        models: weights of final trials; 0 if they are not kept.
        embeddings: embeddings of test images; 0 if they are not kept.
        checkpoint: of a trial that is running, deleted at its end.
        caches: outside of the results folder, shared by all studies of the same images.
        uncounted: networks of other libraries, whose weights are not counted.
    """

    records: int
    models: int
    embeddings: int
    checkpoint: int
    caches: int
    uncounted: tuple[str, ...]

    @property
    def results(self) -> int:
        """Of the results folder once the study has ended."""
        return self.records + self.models + self.embeddings


def disk_size(study: Study, searches: Sequence[SearchPlan]) -> DiskSize:
    """Estimate the bytes of a study.

    Args:
        study: the resolved study.
        searches: one plan for each of its searches.
    """
    first_of = {item.search.block: item for item in reversed(searches)}
    baselines = {block: num_baseline_runs(study, item.search) for block, item in first_of.items()}
    num_trials = sum(item.search_trials + item.final_trials for item in searches)
    num_trials += sum(baselines.values())
    weights = {
        (item.search.block, item.search.loss): _weights(study, item.search.block, item.search.loss)
        for item in searches
    }
    models = sum(
        item.final_trials
        * (_header(_facts(study, item.search.block)) + _FLOAT * weights[_key(item)])
        for item in searches
    )
    embeddings = sum(
        item.final_trials * _embeddings(study, item.search.block) for item in searches
    )
    embeddings += sum(number * _embeddings(study, block) for block, number in baselines.items())
    return DiskSize(
        records=_PER_STUDY + num_trials * (_ROW + _RECORDS) + min(num_trials, _MOST_LOGS) * _LOG,
        models=models if study.keep.models else 0,
        embeddings=embeddings if study.keep.embeddings else 0,
        checkpoint=_COPIES * _FLOAT * max(weights.values()),
        caches=_caches(study, list(first_of)),
        uncounted=tuple(it.name for it in study.backbones if backbone_facts(it.name) is None),
    )


def _key(item: SearchPlan) -> tuple[Block, str]:
    return item.search.block, item.search.loss


def _facts(study: Study, block: Block) -> DatasetFacts:
    return dataset_facts(dataset_of(study, block))


def _weights(study: Study, block: Block, loss: str) -> int:
    """Numbers in a network with its embedding layer and the loss's own parameters."""
    data, of_loss = _facts(study, block), facts_of(loss)
    num_features, number = _num_features(block, data), 0.0
    if (network := backbone_facts(block.backbone)) is not None:
        number = network.million_weights * 1e6
        if network.takes_features and network.num_features:
            number += network.num_features * (data.num_features or 0)
    number += (num_features + 1) * block.embedding_dim
    if "proxies" in of_loss.needs:
        centres = of_loss.defaults.get("centres", 1)
        number += data.num_train_classes * block.embedding_dim * int(centres)
    return round(number)


def _num_features(block: Block, data: DatasetFacts) -> int:
    """Length of what goes into the embedding layer; 0 if that is not known."""
    network = backbone_facts(block.backbone)
    return 0 if network is None else network.num_features or data.num_features or 0


def _header(data: DatasetFacts) -> int:
    return _HEADER + _NAME * (data.num_train_classes + data.num_test_classes)


def _embeddings(study: Study, block: Block) -> int:
    """Bytes of the embeddings of a trial, with the paths of images that are files."""
    data = _facts(study, block)
    of_image = _FLOAT * block.embedding_dim + _OF_IMAGE + (0 if data.has_own_size else _NAME)
    return _header(data) + (data.num_images - data.num_train_images) * of_image


def _caches(study: Study, blocks: Sequence[Block]) -> int:
    """Bytes of images and features that are made once; each counted once."""
    found: dict[tuple[object, ...], int] = {}
    for block in blocks:
        data, training = _facts(study, block), training_of(study, block)
        found[(block.dataset,)] = data.cached_bytes
        if training.mode == FROZEN_FEATURES:
            key = (block.dataset, block.backbone, block.image_size)
            found[key] = data.num_images * _num_features(block, data) * _FLOAT
        elif training.cache == "resized" and block.image_size:
            side = round(block.image_size / training.evaluation_crop)
            found[(block.dataset, side)] = math.ceil(data.num_images * 3 * side**2 * _LONGER_SIDE)
    return sum(found.values())
