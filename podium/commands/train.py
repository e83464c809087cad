"""``podium train``: one configuration by hand."""

from dataclasses import fields
from typing import Annotated

import typer
import yaml

from orchestrator.results.errors import PodiumError
from podium.training_line import run_and_print
from trainables.recipes import RECIPES
from trainables.settings import (
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
    values = dict(_assignment(text) for text in overrides or ())
    options = {
        name.removeprefix(_DATASET_PREFIX): value
        for name, value in values.items()
        if name.startswith(_DATASET_PREFIX)
    }
    settings = TrialSettings(
        dataset=DatasetSettings(name=dataset, options=options),
        protocol=ProtocolSettings(kind="fixed", val_fraction=val_fraction),
        folds=(0,),
        backbone=backbone,
        embedding_dim=embedding_dim,
        loss=loss,
        hyperparameters={
            name: value for name, value in values.items() if not name.startswith(_DATASET_PREFIX)
        },
        training=RECIPES[recipe],
        seed=seed,
        evaluate_test=test,
    )
    for _ in run_and_print(settings):
        pass


def _assignment(text: str) -> tuple[str, HyperparameterValue]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise PodiumError(f"--set takes KEY=VALUE; got {text!r}")
    parsed = yaml.safe_load(value)
    if not isinstance(parsed, bool | int | float | str):
        raise PodiumError(f"--set {name} takes a number, a word, true or false; got {value!r}")
    return name, _as_field_type(name, parsed)


def _as_field_type(name: str, value: HyperparameterValue) -> HyperparameterValue:
    """YAML reads 1e-3 as text; a training parameter that is a float gets a float."""
    kinds = {field.name: field.type for field in fields(TrainingSettings)}
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return float(value) if kinds.get(name) is float else value
