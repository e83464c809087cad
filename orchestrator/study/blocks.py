"""The blocks and searches of a study, the cross product of its lists, and their budgets."""

import itertools
from collections.abc import Iterator
from dataclasses import replace

from podium.orchestrator.ids_and_seeds import seed_for
from podium.orchestrator.results.records.runs import HOURS
from podium.orchestrator.study.study import Block, BudgetSettings, Search, Study
from podium.trainables.dataset_interface.load_dataset import has_own_size
from podium.trainables.settings.trial_settings import (
    BASELINES,
    FEATURES,
    DatasetSettings,
    ProtocolSettings,
)

# The winner of a search and the published default.
NUM_FINALISTS = 2


def blocks(study: Study) -> tuple[Block, ...]:
    """Every data set x backbone x embedding dimension x image size, in the study file's order.

    Raises:
        TrialInputError: a data set is unknown, or its options are wrong.
    """
    return tuple(
        Block(dataset=dataset.label, backbone=backbone.name, embedding_dim=dim, image_size=size)
        for dataset in study.datasets
        for sizes in [(None,) if has_own_size(dataset) else study.image_sizes]
        for backbone, dim, size in itertools.product(study.backbones, study.embedding_dims, sizes)
    )


def searches(study: Study) -> tuple[Search, ...]:
    """Every search: block by block, loss by loss, protocol by protocol, repeat by repeat."""
    crossed = itertools.product(
        blocks(study), study.loss_names, study.protocols, range(study.search.repeats)
    )
    return tuple(
        Search(block=block, loss=loss, protocol=protocol.label, repeat=repeat)
        for block, loss, protocol, repeat in crossed
    )


def baseline_searches(study: Study, block: Block) -> Iterator[Search]:
    """What baseline trials of a block have in place of a search: one for each of its baselines.

    Features have no embedding dimension: they are of the block of the first one, for all of them.
    """
    for loss in BASELINES:
        of_loss = replace(block, embedding_dim=None) if loss == FEATURES else block
        if of_loss is block or block.embedding_dim == study.embedding_dims[0]:
            label = study.protocols[0].label
            yield Search(block=of_loss, loss=loss, protocol=label, repeat=0)


def dataset_of(study: Study, block: Block) -> DatasetSettings:
    """The data set of a block."""
    return next(item for item in study.datasets if item.label == block.dataset)


def protocol_of(study: Study, search: Search) -> ProtocolSettings:
    """The protocol that a search validates its configs by, with the split seed of its repeat."""
    protocol = next(item for item in study.protocols if item.label == search.protocol)
    return _of_repeat(study, protocol, search.repeat)


def final_protocol_of(study: Study, search: Search) -> ProtocolSettings:
    """The protocol by which finalists of a search are trained on a part of the classes."""
    if study.final.protocol is None:
        return protocol_of(study, search)
    return _of_repeat(study, study.final.protocol, search.repeat)


def most_finals(study: Study, search: Search) -> int:
    """Finals of a search at most; of a search of one trial those of the published default alone.

    Each finalist has seeds x folds on part of the classes, and seeds on all of them. Where it is a
    budget that leaves one trial, the search may hold more of a time when the budget was larger.
    """
    folds = {"part": final_protocol_of(study, search).num_folds, "all": 1}
    runs = study.final.seeds * sum(folds[train_on] for train_on in study.final.train_on)
    has_default_alone = study.search.trials == 1 and study.budget.trials is None
    return runs if has_default_alone else NUM_FINALISTS * runs


def num_baseline_runs(study: Study, block: Block) -> int:
    """Trials of the baselines of a block: features once, others seeds x folds as its finals."""
    return sum(
        1 if it.loss == FEATURES else study.final.seeds * final_protocol_of(study, it).num_folds
        for it in baseline_searches(study, block)
    )


def _of_repeat(study: Study, protocol: ProtocolSettings, repeat: int) -> ProtocolSettings:
    """The first repeat keeps the seed of the study file, others have seeds of their own."""
    if repeat == 0 or study.search.splits == "same" or not protocol.is_seeded:
        return protocol
    return replace(protocol, split_seed=seed_for(protocol.split_seed, "split", repeat))


SECONDS_PER_HOUR = 3600.0


def num_reserved_trials(study: Study) -> int:
    """Upper bound on trials of the final stage and its baselines: no default wins its search."""
    finals = sum(most_finals(study, search) for search in searches(study))
    return finals + sum(num_baseline_runs(study, block) for block in blocks(study))


def trials_per_search(study: Study) -> int:
    """Trials of every search: ``search.trials``, or less if its share of ``budget.trials`` is.

    A share does not grow where another search ends early: tables would depend on which one.
    """
    if study.budget.trials is None:
        return study.search.trials
    share = (study.budget.trials - num_reserved_trials(study)) // len(searches(study))
    return max(1, min(study.search.trials, share))


def with_trials_per_search(study: Study) -> Study:
    """The study with `trials_per_search` as its ``search.trials``."""
    return replace(study, search=replace(study.search, trials=trials_per_search(study)))


def has_time_limit(budget: BudgetSettings) -> bool:
    """Whether the budget limits GPU hours or hours of wall-clock time."""
    return any(getattr(budget, name) is not None for name in HOURS)
