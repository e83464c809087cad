"""What is equal between the competitors of a study, and what is not. Pure: reads no results.

Competitors are the losses within a block. What affects a comparison beside the loss itself is
either equal by construction or a `Disparity`; one that the study file causes has to be declared
in it. Protocols are competitors too where a study crosses several.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from podium.errors import StudyError
from podium.orchestrator.results.records.fairness_record import (
    Disparity,
    Fairness,
    join_names,
    summarise_differences,
)
from podium.orchestrator.study.blocks import blocks
from podium.orchestrator.study.budget import has_time_limit, trials_per_search
from podium.orchestrator.study.fairness_of_losses import (
    FIRST_CONFIG,
    LOSS_PROPERTIES,
    SEARCHED,
    TRIED,
    TRY_FIRST,
    WARM_START,
    loss_disparities,
    warm_start_disparity,
)
from podium.orchestrator.study.fairness_of_training import group_by_value, training_disparities
from podium.orchestrator.study.study import Block, Study
from podium.trainables.settings.training_settings import TRAINING_TYPES
from podium.trainables.settings.trial_settings import ProtocolSettings

DECLARABLE = (
    *TRAINING_TYPES,
    TRY_FIRST,
    WARM_START,
    FIRST_CONFIG,
    SEARCHED,
    TRIED,
    *LOSS_PROPERTIES,
)
"""Names of all that competitors can differ in; keys of ``declared_differences``."""


def fairness(study: Study) -> Fairness:
    """What the competitors of the study share and in what they differ.

    Raises:
        TrialInputError: a data set, network or loss is unknown.
    """
    crossed = representatives(blocks(study))
    between_protocols = [item for item in _of_protocols(study) if len(item.sides) > 1]
    return Fairness(
        equal=_equal(study),
        settings=_equal_settings(study, crossed),
        disparities=(*disparities(study, crossed), *between_protocols),
    )


def report_differences(study: Study, say: Callable[[str], object]) -> None:
    """Say in one line in what the losses differ, after configs of earlier results were found.

    Raises:
        StudyError: the losses differ in something that the study file should declare.
    """
    found = disparities(study, representatives(blocks(study)))
    if rules := undeclared(found):
        raise StudyError([f"study {study.name}: {rule}" for rule in rules.values()])
    if summary := summarise_differences(found):
        say(f"Not equal between the losses: {summary}. See podium plan for details.")


def undeclared(found: Iterable[Disparity]) -> dict[str, str]:
    """Undeclared difference -> message with losses, values and the line to add."""
    items: dict[str, list[Disparity]] = {}
    for item in found:
        if item.standing == "undeclared":
            items.setdefault(item.name, []).append(item)
    return {
        name: f"the losses differ in {name} ({_where(of_name)}): make it the "
        "same for all, or say why it is not in a line of its own: "
        f'declared_differences: {{{name}: "..."}}'
        for name, of_name in items.items()
    }


def _where(items: Iterable[Disparity]) -> str:
    return "; ".join(f"{item.values} {item.where}".rstrip() for item in items)


def disparities(study: Study, crossed: Mapping[Block, tuple[str, ...]]) -> tuple[Disparity, ...]:
    """All differences between the losses, training settings first.

    Args:
        study: the study.
        crossed: one block of those trained alike -> their labels, from `representatives`.

    Raises:
        TrialInputError: a data set, network or loss is unknown.
    """
    found: dict[Disparity, list[str]] = {}
    for block, labels in crossed.items():
        for item in (*training_disparities(study, block), *loss_disparities(study, block)):
            found.setdefault(_declared(study, item), []).extend(labels)
    all_labels = [label for labels in crossed.values() for label in labels]
    for label in all_labels:
        item = _declared(study, warm_start_disparity(study, label))
        found.setdefault(item, []).append(label)
    order = {name: rank for rank, name in enumerate(DECLARABLE)}
    return tuple(
        replace(item, blocks=() if len(labels) == len(all_labels) else tuple(labels))
        for item, labels in sorted(found.items(), key=lambda pair: order[pair[0].name])
        if len(item.sides) > 1
    )


def representatives(crossed: Iterable[Block]) -> dict[Block, tuple[str, ...]]:
    """First block of each data set and backbone -> labels of all of them, trained alike."""
    labels: dict[tuple[str, str], list[Block]] = {}
    for block in crossed:
        labels.setdefault((block.dataset, block.backbone), []).append(block)
    return {items[0]: tuple(item.label for item in items) for items in labels.values()}


def _of_protocols(study: Study) -> Iterator[Disparity]:
    """How protocols differ in trainings per config, and in what searches see."""
    folds = [(protocol.label, str(protocol.num_folds)) for protocol in study.protocols]
    leaks = [(protocol.label, "yes" if protocol.leaks else "no") for protocol in study.protocols]
    yield Disparity(name="trainings_of_a_config", area="protocol", sides=group_by_value(folds))
    yield Disparity(name="search_sees_test_classes", area="protocol", sides=group_by_value(leaks))


def _declared(study: Study, item: Disparity) -> Disparity:
    if item.name not in study.declared_differences:
        return item
    return replace(item, standing="declared", reason=study.declared_differences[item.name])


def _equal(study: Study) -> dict[str, str]:
    """What all losses of a block share by construction."""
    search, stopping = study.search, study.search.early_stopping.kind
    shares = ", or an equal share of a budget of hours" if has_time_limit(study.budget) else ""
    return {
        "block": "backbone, weights, embedding dimension, image size",
        "searches": f"{trials_per_search(study)} trials{shares} by {search.sampler}, early "
        f"stopping {stopping}, one seed",
        **_validation(study),
        "finals": f"{_seeds(study.final.seeds)}, the same folds",
    }


def _equal_settings(study: Study, crossed: Mapping[Block, tuple[str, ...]]) -> dict[str, str]:
    """Training settings that all losses of a block share, of those that any loss uses."""
    settings = [item for block in crossed for item in training_disparities(study, block)]
    unequal = {item.name for item in settings if len(item.sides) > 1}
    values: dict[str, list[str]] = {}
    for item in settings:
        if item.sides and item.name not in unequal:
            values.setdefault(item.name, []).append(item.sides[0].value)
    return {name: _by_block(found) for name, found in values.items()}


def _by_block(values: list[str]) -> str:
    different = list(dict.fromkeys(values))
    return different[0] if len(different) == 1 else f"by block: {', '.join(different)}"


def _validation(study: Study) -> dict[str, str]:
    """What configs are validated on; with several protocols, by protocol."""
    labels: dict[str, list[str]] = {}
    for protocol in study.protocols:
        labels.setdefault(_splits_of(protocol), []).append(protocol.label)
    if len(study.protocols) == 1:
        return {"validation": next(iter(labels))}
    return {f"validation under {join_names(names)}": splits for splits, names in labels.items()}


def _splits_of(protocol: ProtocolSettings) -> str:
    if protocol.leaks:
        return "the test classes: a leak, kept to compare with"
    if protocol.kind == "random_splits":
        return "a fresh split for each config, the same for the same config"
    folds = protocol.num_folds
    return "the same split" if folds == 1 else f"the same {folds} folds"


def _seeds(number: int) -> str:
    return "one fresh seed" if number == 1 else f"{number} fresh seeds"
