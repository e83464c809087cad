"""``podium trial train``: one configuration by hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from podium.api.compare import try_own_loss
from podium.arguments.key_value_argument import assignment
from podium.errors import PodiumError
from podium.orchestrator.study.defaults import default_image_size, default_recipe, default_weights
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.unused_settings import start_epoch_problem, unused_by
from podium.terminal.training_progress import run_and_print
from podium.trainables.own_files import read_files, read_named
from podium.trainables.recipes import loss_values, training_for
from podium.trainables.settings.legal_ranges import MAX_DIM, MAX_IMAGE_SIZE, MAX_SEED
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import TRAINING_TYPES, HyperparameterValue
from podium.trainables.settings.trial_settings import (
    BASELINES,
    FEATURES,
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)

_DATASET_PREFIX = "dataset."


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialByHand:
    """One configuration, as given."""

    loss: Annotated[str, typer.Option(help="Name of the loss; see `podium losses`.")]
    dataset: Annotated[str, typer.Option(help="Name of the data set.")] = "glyphs"
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A hyperparameter of the loss or of training, or dataset.OPTION. Repeatable.",
        ),
    ] = None
    backbone: Annotated[str, typer.Option(help="Name of the backbone.")] = "conv_small"
    weights: Annotated[
        str | None,
        typer.Option(help="imagenet, random, a published name or a file; default: as studies."),
    ] = None
    embedding_dim: Annotated[
        int, typer.Option(help="Length of an embedding.", min=1, max=MAX_DIM)
    ] = 32
    image_size: Annotated[
        int | None,
        typer.Option(
            help="Of image files, in pixels; default: the recipe's.", min=1, max=MAX_IMAGE_SIZE
        ),
    ] = None
    recipe: Annotated[
        str | None,
        typer.Option(help="Training recipe; default: fast, or psomas2020 for image files."),
    ] = None
    val_fraction: Annotated[
        float, typer.Option(help="Part of the training classes kept for validation.")
    ] = 0.25
    seed: Annotated[int, typer.Option(help="Seed of the trial.", min=0, max=MAX_SEED)] = 0
    test: Annotated[bool, typer.Option("--test", help="Evaluate the test classes.")] = False

    def settings(self) -> TrialSettings:
        """Settings of the trial, with what recipe and data set say where nothing was given.

        Raises:
            PodiumError: a hyperparameter is unknown, illegal, or would be ignored.
        """
        options: dict[str, HyperparameterValue] = {}
        own: dict[str, HyperparameterValue] = {}
        for name, value in map(assignment, self.overrides or ()):
            if name.startswith(_DATASET_PREFIX):
                options[name.removeprefix(_DATASET_PREFIX)] = value
            else:
                own[name] = _as_field_type(name, value)
        if transform := own.get("transform"):
            own["transform"] = read_named(str(transform), Path.cwd())
        data, loss = DatasetSettings(name=self.dataset, options=options), self.loss
        recipe = self.recipe or default_recipe([data])
        of_loss = {} if loss in BASELINES else loss_values(recipe, loss, dataset=self.dataset)
        settings = TrialSettings(
            dataset=data,
            protocol=ProtocolSettings(kind="fixed", val_fraction=self.val_fraction),
            folds=(0,),
            backbone=BackboneSettings(
                name=self.backbone, weights=self.weights or default_weights(self.backbone)
            ),
            embedding_dim=None if loss == FEATURES else self.embedding_dim,
            loss=str(parse_loss(loss)),
            hyperparameters={**of_loss, **own},
            training=training_for(recipe, dataset=self.dataset, backbone=self.backbone),
            seed=self.seed,
            image_size=self.image_size or default_image_size(recipe, [data]),
            evaluate_test=self.test,
        )
        _check_used(settings, own)
        return settings


def command(given: TrialByHand) -> None:
    """Train one configuration by hand and print its scores. Nothing is stored."""
    read_files(given.loss, Path.cwd())
    settings = given.settings()
    try_own_loss(settings.loss, settings.hyperparameters)
    for _ in run_and_print(settings):
        pass


def _check_used(settings: TrialSettings, given: Mapping[str, HyperparameterValue]) -> None:
    """Refuse given hyperparameters that the trial would ignore.

    Raises:
        PodiumError: names the first of them, and why.
    """
    loss = settings.loss
    if loss in BASELINES:
        return
    training = settings.training.with_values(settings.hyperparameters)
    config = {**facts_of(loss).defaults, **settings.hyperparameters}
    unused = unused_by(
        loss, training, [config], dataset=settings.dataset, backbone=settings.backbone.name
    )
    for name in given:
        if name in unused:
            raise PodiumError(f"--set {name} changes nothing: {unused[name]}")
    for name in config:
        if rule := start_epoch_problem(name, config[name], training.epochs):
            raise PodiumError(f"{rule}; got {config[name]!r}")


def _as_field_type(name: str, value: HyperparameterValue) -> HyperparameterValue:
    """A training parameter that is a float gets a float, even if it is written ``1``."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and TRAINING_TYPES.get(name) is float else value
