"""How a plan's blocks are trained: a table of blocks, sentences on recipe and settings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from podium.orchestrator.planning.block_plan import BlockPlan
from podium.orchestrator.planning.study_plan import StudyPlan
from podium.orchestrator.study.defaults import recipe_note
from podium.trainables.registry import literals
from podium.trainables.settings.training_settings import UNSET, TrainingSettings
from podium.trainables.settings.trial_settings import RANDOM_WEIGHTS

# Shown of every training; other settings only where blocks differ in them.
_ALWAYS = ("batch_size", "epochs", "learning_rate", "step_epochs")
_SHORT = {"batch_size": "batch", "learning_rate": "lr", "step_epochs": "step"}


def block_rows(planned: StudyPlan) -> list[dict[str, object]]:
    """One row for the blocks of a data set and backbone at one image size.

    Image size, weights and settings of training have a column where blocks differ in them.
    """
    varying = [name for name in _ALWAYS if name in _varying(planned.trainings)]
    has_size = any(item.block.image_size is not None for item in planned.trainings)
    has_weights = any(item.weights != RANDOM_WEIGHTS for item in planned.trainings)
    rows: dict[tuple[object, ...], dict[str, object]] = {}
    for item in planned.trainings:
        block = item.block
        row: dict[str, object] = {"data set": block.dataset, "backbone": block.backbone}
        if has_weights:
            row["weights"] = "a file" if "/" in item.weights else item.weights  # paths are long
        if has_size:
            row["px"] = block.image_size
        row |= {_SHORT.get(name, name): getattr(item.training, name) for name in varying}
        row["embedding dims"] = ""
        found = rows.setdefault(tuple(row.values()), row)
        dims = f"{found['embedding dims']}, {block.embedding_dim}".removeprefix(", ")
        found["embedding dims"] = dims
    return list(rows.values())


def training_note(planned: StudyPlan) -> str:
    """The recipe, and settings that are the same in all blocks."""
    first = planned.trainings[0].training
    varying = _varying(planned.trainings)
    chosen = [name for name, unset in UNSET.items() if getattr(first, name) != unset]
    hidden = {*varying, "step_epochs"} if first.schedule == "cosine" else varying
    shown = [name for name in (*_ALWAYS, *chosen) if name not in hidden]
    shared = [f"{name} {_text(getattr(first, name))}" for name in shown]
    others = [name for name in varying if name not in _ALWAYS]
    parts = [recipe_note(planned.study.training.recipe, planned.study.datasets)]
    parts += [f"in all settings {', '.join(shared)}"] if shared else []
    parts += [f"settings also differ in {', '.join(others)}"] if others else []
    return f"Training: {'; '.join(parts)}."


def training_details(planned: StudyPlan) -> Iterator[str]:
    """What the recipe sets for single losses, and what samplers cost."""
    if special := _special(planned.trainings):
        yield f"The recipe gives values of their own to {special}."
    if embedding := _samplers_with_embeddings(planned.trainings):
        yield (
            f"The sampler {', '.join(embedding)} embeds all training images before each epoch: "
            "one more forward pass over them."
        )


def _samplers_with_embeddings(trainings: Sequence[BlockPlan]) -> list[str]:
    samplers = {item.training.sampler for item in trainings}
    given = (values for item in trainings for values in item.of_losses.values())
    samplers |= {str(values["sampler"]) for values in given if "sampler" in values}
    package = "batch_samplers"
    return sorted(name for name in samplers if literals(package, name).get("needs_embeddings"))


def _varying(trainings: Sequence[BlockPlan]) -> list[str]:
    """Settings in which blocks differ, in their order."""
    names = [field.name for field in fields(TrainingSettings)]
    return [name for name in names if len({getattr(it.training, name) for it in trainings}) > 1]


def _special(trainings: Sequence[BlockPlan]) -> str:
    """``triplet (margin 0.1), fast_ap (bins 20)``; "by data set" where that is not the same."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for item in trainings:
        for loss, values in item.of_losses.items():
            found.setdefault(loss, []).append(values)
    texts = []
    for loss, given in found.items():
        is_same = all(values == given[0] for values in given)
        shown = ", ".join(f"{name} {_text(value)}" for name, value in given[0].items())
        texts.append(f"{loss} ({shown if is_same else 'by data set'})")
    return ", ".join(texts)


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def block_records(planned: StudyPlan) -> list[dict[str, object]]:
    """Every block with its training, weights and defaults, as plain values for JSON."""
    return [
        {
            "block": item.block.label,
            **asdict(item.block),
            "weights": item.weights,
            "training": asdict(item.training),
            "of_losses": {loss: dict(values) for loss, values in item.of_losses.items()},
            "defaults": {loss: dict(values) for loss, values in item.defaults.items()},
        }
        for item in planned.trainings
    ]
