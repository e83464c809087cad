"""How each block of a study is trained, and what is missing on this machine."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

from podium.orchestrator.results.storage.locations import has_scheme
from podium.orchestrator.study.blocks import blocks, dataset_of, protocol_of
from podium.orchestrator.study.configs import (
    default_config,
    loss_training,
    recipe_values,
    space_of,
    training_of,
)
from podium.orchestrator.study.defaults import is_missing
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Search, Study
from podium.trainables.dataset_interface.load_dataset import dataset_facts, has_own_size
from podium.trainables.errors import TrialInputError
from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.network.initial_weights import not_downloaded
from podium.trainables.network.pretraining import pretraining_note
from podium.trainables.network.timm_facts import timm_facts
from podium.trainables.settings.population_agreement import why_alone
from podium.trainables.settings.training_settings import HyperparameterValue, TrainingSettings
from podium.trainables.settings.trial_settings import (
    RANDOM_WEIGHTS,
    BackboneSettings,
    DatasetSettings,
    TrialSettings,
)

_SLOW = 10  # times slower than the network
_FEW_BATCHES = 30  # of which BatchNorm may not learn what to normalise by


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """How one block is trained.

    Attributes:
        weights: name or file of the weights that its backbone starts from.
        training: training settings of the recipe and the study for this data set and backbone.
        of_losses: loss -> hyperparameters that the recipe sets to another value than published.
        defaults: loss -> the first config of its search.
    """

    block: Block
    weights: str
    training: TrainingSettings
    of_losses: Mapping[str, Mapping[str, HyperparameterValue]]
    defaults: Mapping[str, Mapping[str, HyperparameterValue]]


def block_plan(study: Study, block: Block) -> BlockPlan:
    """The training of one block, from recipe and study."""
    of_losses = {loss: _own_values(study, block, loss) for loss in study.loss_names}
    return BlockPlan(
        block=block,
        weights=next(item.weights for item in study.backbones if item.name == block.backbone),
        training=training_of(study, block),
        of_losses={loss: values for loss, values in of_losses.items() if values},
        defaults={loss: default_config(study, block, loss) for loss in study.loss_names},
    )


def _own_values(study: Study, block: Block, loss: str) -> dict[str, HyperparameterValue]:
    published = facts_of(loss).defaults
    given = recipe_values(study, block, loss)
    return {name: value for name, value in given.items() if value != published.get(name)}


def plan_warnings(study: Study) -> Iterator[str]:
    """What makes results of a study worse than they need be."""
    return chain(few_batches(study), slow_proxies(study), short_searches(study))


def few_batches(study: Study) -> Iterator[str]:
    """A warning for each network from scratch that follows few batches, of its first block so."""
    from_scratch = {it.name for it in study.backbones if it.weights == RANDOM_WEIGHTS}
    for block in blocks(study):
        name, training = block.backbone, training_of(study, block)
        of_images = (facts := backbone_facts(name)) is not None and not facts.takes_features
        if name not in from_scratch or training.batch_norm != "train" or not of_images:
            continue
        with suppress(TrialInputError):  # data that are not here yet
            num_images = dataset_facts(dataset_of(study, block)).num_train_images
            batches = training.epochs * math.ceil(num_images / training.batch_size)
            if batches < _FEW_BATCHES:
                from_scratch.remove(name)
                yield (
                    f"Warning: {name} begins at random and follows few batches ({batches}). With"
                    " BatchNorm all its embeddings may coincide (collapsed): train for more"
                    " epochs, with smaller batches, or start from weights."
                )


def slow_proxies(study: Study) -> Iterator[str]:
    """A warning for each loss whose proxies begin at random, as the network, and hardly move."""
    from_scratch = {it.name for it in study.backbones if it.weights == RANDOM_WEIGHTS}
    warned: set[str] = set()
    for block, loss in product(blocks(study), study.loss_names):
        training, searched = loss_training(study, block, loss), space_of(study, loss).parameters
        rate, of_network = training.proxy_learning_rate, training.learning_rate
        is_slow = "proxies" in facts_of(loss).needs and _SLOW * rate <= of_network
        is_searched = "proxy_learning_rate" in searched and study.search.trials > 1
        if loss in warned or block.backbone not in from_scratch or is_searched or not is_slow:
            continue
        warned.add(loss)
        yield (
            f"Warning: proxies of {loss} follow at a fixed rate of {rate:g}, and {block.backbone},"
            f" which begins at random as they do, at {of_network:g}: they hardly move. Set or tune"
            " proxy_learning_rate."
        )


def short_searches(study: Study) -> Iterator[str]:
    """A warning where searches choose by fewer epochs than finals are trained for."""
    pairs = product(blocks(study), study.loss_names)
    epochs = sorted({loss_training(study, block, loss).epochs for block, loss in pairs})
    searched = study.search.epochs
    if searched is not None and epochs[-1] > searched:
        yield (
            f"Warning: trials of searches end after epoch {searched}, and finals after epoch"
            f" {' or '.join(map(str, epochs))}: configs that learn slowly are judged by their"
            " beginnings, and so are losses that need them."
        )


def network_notes(study: Study) -> Iterator[str]:
    """What is known of networks of timm, and of weights, before a trial."""
    for backbone in study.backbones:
        note = pretraining_note(backbone, (it.name for it in study.datasets))
        if facts := timm_facts(backbone.name):
            yield (
                f"{backbone.name}: {facts.million_parameters:g} million parameters,"
                f" {facts.giga_multiply_adds:g} billion multiply-adds and"
                f" {facts.activation_mb:,.0f} MB kept for training an image at its own"
                f" {facts.side} px; {note}."
            )
        elif backbone.weights != RANDOM_WEIGHTS:
            yield f"{backbone.name}: {note}."


def why_search_alone(study: Study, search: Search) -> str | None:
    """Why trials of a search cannot be trained together, as a clause; None if they can.

    That some can does not say that all go into one population: those that differ in other than
    real numbers are in different ones. How many there may be is not asked.
    """
    block = search.block
    (backbone,) = [of for of in study.backbones if of.name == block.backbone]
    settings = TrialSettings(
        dataset=dataset_of(study, block),
        protocol=protocol_of(study, search),
        folds=(0,),
        backbone=backbone,
        embedding_dim=block.embedding_dim,
        loss=search.loss,
        hyperparameters={},
        training=training_of(study, block),
        seed=study.seed,
        evaluate_test=study.tests_searches,
    )
    return why_alone(settings)


def missing(study: Study) -> tuple[str, ...]:
    """What is not on this machine and needed before the run, in sentences."""
    found = (
        *map(_missing_data, study.datasets),
        *map(_missing_weights, study.backbones),
        _missing_results(study),
    )
    return tuple(sentence for sentence in found if sentence is not None)


def _missing_data(dataset: DatasetSettings) -> str | None:
    root = dataset.options.get("root")
    if root is None:
        if has_own_size(dataset):
            return None
        return f"data: {dataset.label} has no root, the folder it is in; needed before the run"
    if Path(str(root)).is_dir():
        return None
    return f"data: {dataset.label} not found at {root}; needed before the run"


def _missing_weights(backbone: BackboneSettings) -> str | None:
    if folder := not_downloaded(backbone):
        return (
            f"weights: no file of {backbone.name} in {folder}; the run downloads"
            f" {backbone.weights}, or say which file it starts from"
        )
    if not is_missing(backbone):
        return None
    return f"weights: {backbone.name} not found at {backbone.weights}; needed before the run"


def _missing_results(study: Study) -> str | None:
    warm_start = study.search.warm_start
    if warm_start is None or study.warm_starts or has_scheme(warm_start.folder):
        return None  # a plan asks no remote store
    if Path(warm_start.folder).is_dir():
        return None
    return f"earlier results: not found at {warm_start.folder}; needed before the run"
