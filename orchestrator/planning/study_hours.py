"""Hours of a study: by what its own epochs cost so far, or before any by what images cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orchestrator.planning.image_cost import (
    TOGETHER,
    CostEstimate,
    ImageCost,
    conditions_of,
    cost_under,
)
from orchestrator.planning.image_counts import EMBEDDED, ImageCounts, images_of
from orchestrator.planning.populations import is_together
from orchestrator.planning.search_plan import SearchPlan
from orchestrator.study.blocks import (
    dataset_of,
    final_protocol_of,
    num_baseline_runs,
    protocol_of,
)
from orchestrator.study.budget import SECONDS_PER_HOUR
from orchestrator.study.dataset_facts import dataset_facts
from orchestrator.study.study import Block, Stopping, Study
from trainables.dataset_interface.dataset import DatasetFacts
from trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from trainables.settings.trial_settings import ProtocolSettings

# Part of the epochs of searches that early stopping trained where it was measured
# (`benchmarks/RESULTS.md`, racing over folds).
_TRAINED: dict[Stopping, float] = {
    "asha": 0.26,
    "hyperband": 0.44,
    "median": 0.45,
    "folds": 0.51,
    "none": 1.0,
}
_DEFAULT_WINS = 0.5  # of the finals are then trained

_ALL_CLASSES = ProtocolSettings(kind="refit", val_fraction=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochCost:
    """Seconds of an epoch over trials so far, evaluation included.

    Attributes:
        low: 10th percentile.
        median: 50th percentile.
        high: 90th percentile.
        trials: number of trials.
    """

    low: float
    median: float
    high: float
    trials: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededHours:
    """Hours that all planned trials take.

    Attributes:
        low: hours at the low end of what an epoch or an image costs. If they are by images, also
            with what early stopping can save, and with the published default as every winner.
        median: hours at the median cost.
        high: hours at the high end of the cost.
        finals: hours of the final stage alone, at the median.
    """

    low: float
    median: float
    high: float
    finals: float

    def times(self, factor: float) -> "NeededHours":
        """All of them times a factor."""
        return NeededHours(
            low=self.low * factor,
            median=self.median * factor,
            high=self.high * factor,
            finals=self.finals * factor,
        )


def total(hours: Sequence[NeededHours]) -> NeededHours:
    """The sums, also of both ends: what is wrong of one block is likely wrong of all."""
    return NeededHours(
        low=sum(of.low for of in hours),
        median=sum(of.median for of in hours),
        high=sum(of.high for of in hours),
        finals=sum(of.finals for of in hours),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockHours:
    """Hours of the trials of one block on one worker slot.

    Attributes:
        block: the block.
        hours: hours of all its trials.
        by: what an image of it costs; None if hours are by epochs of the study's own results.
    """

    block: Block
    hours: NeededHours
    by: CostEstimate | None = None


def hours_by_epochs(searches: Sequence[SearchPlan], cost: EpochCost) -> tuple[BlockHours, ...]:
    """All epochs of each block, at what an epoch of the study cost so far."""
    return tuple(
        BlockHours(
            block=block,
            hours=NeededHours(
                low=sum(item.epochs for item in items) * cost.low / SECONDS_PER_HOUR,
                median=sum(item.epochs for item in items) * cost.median / SECONDS_PER_HOUR,
                high=sum(item.epochs for item in items) * cost.high / SECONDS_PER_HOUR,
                finals=sum(item.final_epochs for item in items) * cost.median / SECONDS_PER_HOUR,
            ),
        )
        for block, items in _by_block(searches)
    )


def hours_by_images(
    study: Study, searches: Sequence[SearchPlan], known: Sequence[ImageCost]
) -> tuple[BlockHours, ...]:
    """All images of each block, at what an image costs where that is known.

    Empty if nothing is known of how a block is trained.
    """
    found = []
    has_features: set[tuple[str, str, int | None]] = set()
    for block, items in _by_block(searches):
        conditions = conditions_of(study, block)
        estimate = cost_under(conditions, known)
        if estimate is None:
            return ()
        together = cost_under(replace(conditions, mode=TOGETHER), known) or estimate
        of_block = [
            _search_hours(
                study,
                item,
                searched=together.cost if is_together(study, item.search) else estimate.cost,
                tested=estimate.cost,
            )
            for item in items
        ]
        of_block.append(_baseline_hours(study, items[0], estimate.cost))
        key = (block.dataset, block.backbone, conditions.side)
        if conditions.mode == FROZEN_FEATURES and key not in has_features:
            has_features.add(key)
            embedding = cost_under(replace(conditions, mode="fine_tune"), known)
            if embedding is not None:
                num_images = _facts(study, block).num_images
                of_block.append(_hours(embedding.cost, 0.0, num_images * EMBEDDED, 0.0))
        found.append(BlockHours(block=block, hours=total(of_block), by=estimate))
    return tuple(found)


def _by_block(searches: Sequence[SearchPlan]) -> list[tuple[Block, list[SearchPlan]]]:
    found: dict[Block, list[SearchPlan]] = {}
    for item in searches:
        found.setdefault(item.search.block, []).append(item)
    return list(found.items())


def _search_hours(
    study: Study, item: SearchPlan, *, searched: ImageCost, tested: ImageCost
) -> NeededHours:
    """Of one search and its finals, by what images cost trials of either."""
    facts, protocol = _facts(study, item.search.block), protocol_of(study, item.search)
    images = images_of(facts, protocol)
    search_epochs = item.epochs - item.final_epochs
    search_tests = item.search_trials * protocol.num_folds if study.tests_searches else 0
    stopping = study.search.early_stopping.kind
    is_searched = study.search.trials > 1
    is_raced = is_searched and (protocol.num_folds > 1 or stopping != "folds")
    search = _hours(searched, search_epochs * images.per_epoch, 0.0, search_tests * images.tested)
    finals = _hours(
        tested,
        0.0,
        item.final_epochs * _per_final_epoch(study, item, facts),
        item.final_trials * images.tested,
    )
    return NeededHours(
        low=search.low * (_TRAINED[stopping] if is_raced else 1.0)
        + finals.low * (_DEFAULT_WINS if is_searched else 1.0),
        median=search.median + finals.median,
        high=search.high + finals.high,
        finals=finals.finals,
    )


def _per_final_epoch(study: Study, item: SearchPlan, facts: DatasetFacts) -> float:
    """Trained images that an epoch of a final is worth, on average over its runs."""
    protocol = final_protocol_of(study, item.search)
    runs: list[tuple[ImageCounts, int]] = [
        (images_of(facts, protocol), protocol.num_folds)
        if train_on == "part"
        else (images_of(facts, _ALL_CLASSES), 1)
        for train_on in study.final.train_on
    ]
    num_runs = sum(number for _, number in runs)
    return sum(images.per_epoch * number for images, number in runs) / num_runs


def _baseline_hours(study: Study, item: SearchPlan, cost: ImageCost) -> NeededHours:
    facts = _facts(study, item.search.block)
    images = images_of(facts, final_protocol_of(study, item.search))
    number = num_baseline_runs(study, item.search)
    return _hours(cost, 0.0, number * images.validated * EMBEDDED, number * images.tested)


def _hours(cost: ImageCost, searched: float, final: float, tested: float) -> NeededHours:
    """Hours of images: trained ones of searches, trained ones of finals, and tested ones."""
    per_test = cost.median * EMBEDDED if cost.tested is None else cost.tested
    seconds = (searched + final) * cost.median + tested * per_test
    finals = final * cost.median + tested * per_test
    return NeededHours(
        low=seconds * cost.low / cost.median / SECONDS_PER_HOUR,
        median=seconds / SECONDS_PER_HOUR,
        high=seconds * cost.high / cost.median / SECONDS_PER_HOUR,
        finals=finals / SECONDS_PER_HOUR,
    )


def _facts(study: Study, block: Block) -> DatasetFacts:
    return dataset_facts(dataset_of(study, block))
