"""Statistical power of a plan: differences it can detect, regret and optimism of its searches.

All in points (hundredths) of Recall@1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any

import pydantic.dataclasses
from pydantic import ConfigDict, Field, ValidationError

from podium.analysis.estimates.design_analysis import (
    chance_of_better,
    classes_needed,
    least_significant_difference,
    random_search_odds,
    recall_error,
    selection_noise,
)
from podium.analysis.estimates.t_test_power import detectable_difference, pairs_needed
from podium.analysis.hypothesis_tests.sign_flip_power import sign_flip_power
from podium.errors import PodiumError
from podium.orchestrator.planning.study_plan import DatasetPlan, StudyPlan
from podium.orchestrator.results.records.json_records import first_problem
from podium.plan.primary_test import planned_units, smallest_p

_Share = Annotated[float, Field(ge=0, le=1)]
_Size = Annotated[float, Field(ge=0)]


@pydantic.dataclasses.dataclass(
    frozen=True, slots=True, kw_only=True, config=ConfigDict(allow_inf_nan=False)
)
class Assumptions:
    """What is not known before a study runs.

    Where the values come from: docs/explanation/statistics/before-a-study.md.

    Attributes:
        recall: Recall@1 of a config on validation, in (0, 100).
        spread: standard deviation of true scores over the configs of a search, above 0.
        class_correlation: intra-class correlation of hits, in [0, 1].
        shared: correlation of the errors of two configs scored on the same classes, in [0, 1].
        seed_std: standard deviation of a config's score over seeds, from 0.
        block_std: standard deviation of the difference of two losses over blocks, from 0.
        block_correlation: share of that variance that blocks of one unit of the test have in
            common, in [0, 1].
    """

    recall: Annotated[float, Field(gt=0, lt=100)] = 80.0
    spread: Annotated[float, Field(gt=0)] = 2.0
    class_correlation: _Share = 0.15
    shared: _Share = 0.7
    seed_std: _Size = 0.5
    block_std: _Size = 1.25
    block_correlation: _Share = 0.55


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetPower:
    """What validation on one data set can show.

    Attributes:
        val_classes: number of classes a config is scored on, over all folds, each counted once.
        standard_error: standard error of a score, queries of a class being correlated.
        noise: standard deviation of the part of a score's error that configs do not share.
        least_significant_difference: smallest difference of two configs that is significant.
        better_wins: probability that a config better by the difference sought scores higher.
        best: probability that a search picks its truly best config.
        regret: expected difference of the best config's true score and the picked one's.
        optimism: expected score minus true score of the picked config.
        classes_needed: number of classes that makes the difference sought significant; None if
            the noise of seeds alone hides it.
        classes_needed_alone: the same if the score did not depend on the seed.
    """

    dataset: str
    protocol: str
    val_classes: int
    standard_error: float
    noise: float
    least_significant_difference: float
    better_wins: float
    best: float
    regret: float
    optimism: float
    classes_needed: int | None
    classes_needed_alone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPower:
    """What a study can show, under assumptions.

    Attributes:
        difference: difference sought, above 0.
        datasets: power on the data sets that are retrieved by class.
        seeds: number of seeds of each finalist, over all folds.
        gain: smallest gain of tuned over default on test that is found with a power of 80 %, by
            a paired t test over seeds at 5 %; None with one seed.
        seeds_needed: number of seeds to find the difference sought; None if too many.
        units: number of data sets, backbones or runs that the test counts as independent.
        power: difference of two losses -> how often the declared test finds it: that sought, twice
            and three times as much; empty without a test.
    """

    difference: float
    assumptions: Assumptions
    search_trials: int
    datasets: tuple[DatasetPower, ...]
    seeds: int
    gain: float | None
    seeds_needed: int | None
    blocks: int
    units: int
    power: Mapping[float, float]


def assumptions_from(texts: Sequence[str]) -> Assumptions:
    """The defaults, overridden by ``KEY=VALUE`` texts.

    Raises:
        PodiumError: a key is unknown, or a value is no number in its range.
    """
    known = [field.name for field in fields(Assumptions)]
    given: dict[str, Any] = {}
    for text in texts:
        name, _, given[name] = text.partition("=")
        if name not in known:
            raise PodiumError(f"--assume takes one of {', '.join(known)}; got {text!r}")
    try:
        return Assumptions(**given)
    except ValidationError as error:
        raise PodiumError(f"--assume {first_problem(error)}") from None


def study_power(planned: StudyPlan, assumptions: Assumptions, difference: float) -> StudyPower:
    """The power of ``planned`` for differences of so many points.

    Configs of ``random_splits`` are scored on classes of their own: ``shared`` is 0 there.

    Raises:
        PodiumError: ``difference`` is not above 0, or not below 100.
    """
    if not 0 < difference < 100:
        raise PodiumError(f"--difference must be points above 0 and below 100; got {difference}")
    # A gain is the difference of two runs: they share the seed's number, but not its effect.
    pair_std = math.sqrt(2) * assumptions.seed_std
    unshared = replace(assumptions, shared=0.0)
    trials = planned.searches[0].search_trials
    return StudyPower(
        difference=difference,
        assumptions=assumptions,
        search_trials=trials,
        datasets=tuple(
            _dataset_power(
                item, trials, unshared if item.draws_splits else assumptions, difference
            )
            for item in planned.datasets
            if item.standard_error is not None and not item.leaks
        ),
        seeds=planned.study.final.seeds,
        gain=detectable_difference(planned.study.final.seeds, difference_std=pair_std),
        seeds_needed=pairs_needed(difference, difference_std=pair_std),
        blocks=len(planned.blocks),
        units=planned_units(planned).number,
        power=_power(planned, assumptions, difference),
    )


def _power(planned: StudyPlan, assumed: Assumptions, difference: float) -> dict[float, float]:
    """Difference -> how often the declared test finds it between two losses."""
    if smallest_p(planned) is None:
        return {}
    units, rules = planned_units(planned).number, planned.study.tournament
    return {
        multiple * difference: sign_flip_power(
            multiple * difference,
            num_units=units,
            num_losses=len(planned.study.losses),
            is_against_one=rules.against is not None,
            difference_std=_unit_std(planned, assumed, units),
            alpha=rules.alpha,
        )
        for multiple in (1, 2, 3)
    }


def _unit_std(planned: StudyPlan, assumed: Assumptions, units: int) -> float:
    """Standard deviation of the difference of two losses over the units of the test."""
    if planned.study.tournament.question == "these_blocks":
        return math.sqrt(2) * assumed.seed_std
    shared = assumed.block_correlation
    size = len(planned.blocks) / units
    return assumed.block_std * math.sqrt(shared + (1 - shared) / size)


def _dataset_power(
    item: DatasetPlan, trials: int, assumed: Assumptions, difference: float
) -> DatasetPower:
    # Repetitions score the same classes again, which adds no classes.
    num_available = item.train_classes + item.val_classes
    num_classes = min(item.val_classes * item.folds, num_available)
    num_queries = round(item.val_queries / item.val_classes * num_classes)
    recall, seed_std = assumed.recall / 100, assumed.seed_std
    standard_error = 100 * recall_error(
        recall,
        num_queries=num_queries,
        num_classes=num_classes,
        class_correlation=assumed.class_correlation,
    )
    noise = selection_noise(standard_error, shared=assumed.shared, seed_std=seed_std)

    def needed(seed_std: float) -> int | None:
        return classes_needed(
            difference / 100,
            recall=recall,
            queries_per_class=num_queries / num_classes,
            class_correlation=assumed.class_correlation,
            shared=assumed.shared,
            seed_std=seed_std / 100,
        )

    alone = needed(0.0)
    assert alone is not None, "without seeds enough classes show any difference"
    best, regret, optimism = random_search_odds(trials, spread=assumed.spread, noise=noise)
    return DatasetPower(
        dataset=item.dataset,
        protocol=item.protocol,
        val_classes=num_classes,
        standard_error=standard_error,
        noise=noise,
        least_significant_difference=least_significant_difference(noise),
        better_wins=chance_of_better(difference, noise),
        best=best,
        regret=regret,
        optimism=optimism,
        classes_needed=needed(seed_std),
        classes_needed_alone=alone,
    )
