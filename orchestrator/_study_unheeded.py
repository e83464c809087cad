"""Refuses settings of training that a study states and none of its trials would heed."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from orchestrator._problems import Path, Problems
from orchestrator._study_trained import Trained
from orchestrator._study_training import has_files
from orchestrator.blocks import dataset_of
from orchestrator.study import Study
from orchestrator.unheeded import OF_PROXIES, why_without_proxies
from trainables.backbone_facts import backbone_facts
from trainables.datasets.loading import dataset_facts
from trainables.feature_rules import unheeded_training
from trainables.settings import TrainingSettings

__all__ = ["check_unheeded_training"]

_OF_FILES = ("cache", "loader", "evaluation_crop")

# Setting -> why a training does not heed it, None if it does.
_CONDITIONS: Mapping[str, Callable[[TrainingSettings], str | None]] = MappingProxyType(
    {
        "crop_scale_min": lambda training: _unless(
            training.augmentation == "random_resized_crop",
            f"augmentation {training.augmentation} takes no random crops",
        ),
        "step_factor": lambda training: _unless(
            training.step_epochs > 0, "step_epochs is 0, so that learning rates stay"
        ),
        "adam_epsilon": lambda training: _unless(
            training.optimiser in ("adamw", "adam"), f"the optimiser is {training.optimiser}"
        ),
        "momentum": lambda training: _unless(
            training.optimiser in ("rmsprop", "sgd"), f"the optimiser is {training.optimiser}"
        ),
        "samples_per_class": lambda training: _unless(
            training.sampler == "balanced", f"the sampler is {training.sampler}"
        ),
        "clipped": lambda training: _unless(
            training.clip_value > 0, "clip_value is 0, so that no gradient is clipped"
        ),
        "micro_batch_size": lambda training: _unless(
            training.micro_batch_size < training.batch_size,
            f"a batch has {training.batch_size} images",
        ),
    }
)


def check_unheeded_training(study: Study, items: tuple[Trained, ...], problems: Problems) -> None:
    """Note every setting that changes nothing, for any loss in any block."""
    if not items or problems.concern(("datasets",), ("backbones",)):
        return
    for name in study.training.overrides:
        path: Path = ("training", name)
        if problems.concern(path):
            continue
        reasons = [_why(study, item, name) for item in items]
        if None not in reasons:
            said = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
            problems.add(path, f"training.{name} changes nothing: {said}")


def _why(study: Study, item: Trained, name: str) -> str | None:
    """Why a loss in a block does not heed a setting; None if it does."""
    dataset = dataset_of(study, item.block)
    has_vectors = dataset_facts(dataset).num_features is not None
    if reason := unheeded_training(item.training.mode, has_vectors=has_vectors).get(name):
        return reason
    if name in _OF_FILES and not has_files(dataset):
        return f"the images of {dataset.label} have a size of their own"
    facts = backbone_facts(item.block.backbone)
    if name == "pooling" and facts is not None and not facts.has_map:
        return f"{item.block.backbone} has no map of features to pool"
    if name in OF_PROXIES and item.loss is not None:
        return why_without_proxies(item.loss)
    condition = _CONDITIONS.get(name)
    return None if condition is None else condition(item.training)


def _unless(holds: bool, reason: str) -> str | None:
    return None if holds else reason
