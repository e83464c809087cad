"""``podium train``: one configuration by hand."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated

import typer

from orchestrator.loss_facts import facts_of
from orchestrator.results.errors import PodiumError
from orchestrator.unheeded import why_unheeded
from podium.assignments import assignment
from podium.training_line import run_and_print
from trainables.recipes import RECIPES, training_for
from trainables.settings import (
    UNTRAINED,
    BackboneSettings,
    DatasetSettings,
    HyperparameterValue,
    ProtocolSettings,
    TrainingSettings,
    TrialSettings,
)

__all__ = ["command"]

_DATASET_PREFIX = "dataset."


def command(
    loss: Annotated[str, typer.Option(help="Name of the loss; see `podium losses`.")],
    dataset: Annotated[str, typer.Option(help="Name of the data set.")] = "glyphs",
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A hyperparameter of the loss or of training, or dataset.OPTION. Repeatable.",
        ),
    ] = None,
    backbone: Annotated[str, typer.Option(help="Name of the backbone.")] = "conv_small",
    embedding_dim: Annotated[int, typer.Option(help="Length of an embedding.", min=1)] = 32,
    recipe: Annotated[str, typer.Option(help="Training recipe.")] = "fast",
    val_fraction: Annotated[
        float, typer.Option(help="Part of the training classes kept for validation.")
    ] = 0.25,
    seed: Annotated[int, typer.Option(help="Seed of the trial.", min=0)] = 0,
    test: Annotated[bool, typer.Option("--test", help="Evaluate the test classes.")] = False,
) -> None:
    """Train one configuration by hand and print its scores. Nothing is stored."""
    if recipe not in RECIPES:
        raise PodiumError(f"unknown recipe {recipe!r}; known: {', '.join(sorted(RECIPES))}")
    values = {
        name: _as_field_type(name, value) for name, value in map(assignment, overrides or ())
    }
    options = {
        name.removeprefix(_DATASET_PREFIX): value
        for name, value in values.items()
        if name.startswith(_DATASET_PREFIX)
    }
    own = {name: value for name, value in values.items() if not name.startswith(_DATASET_PREFIX)}
    _check_heeded(loss, own)
    settings = TrialSettings(
        dataset=DatasetSettings(name=dataset, options=options),
        protocol=ProtocolSettings(kind="fixed", val_fraction=val_fraction),
        folds=(0,),
        backbone=BackboneSettings(name=backbone),
        embedding_dim=embedding_dim,
        loss=loss,
        hyperparameters=own,
        training=training_for(recipe, dataset=dataset, backbone=backbone),
        seed=seed,
        evaluate_test=test,
    )
    for _ in run_and_print(settings):
        pass


def _check_heeded(loss: str, given: Mapping[str, HyperparameterValue]) -> None:
    if loss == UNTRAINED:
        return
    config = {**facts_of(loss).defaults, **given}
    for name in given:
        if reason := why_unheeded(loss, name, [config]):
            raise PodiumError(f"--set {name} {reason}")


def _as_field_type(name: str, value: HyperparameterValue) -> HyperparameterValue:
    """A training parameter that is a float gets a float, even if it is written ``1``."""
    kinds = {field.name: field.type for field in fields(TrainingSettings)}
    is_number = not isinstance(value, str)
    return float(value) if is_number and kinds.get(name) is float else value
