"""Checks the training settings of a study: each alone, and all together."""

from collections.abc import Iterable, Mapping, Sequence

from podium.orchestrator.study.blocks import dataset_of
from podium.orchestrator.study.configs import extreme_configs, space_of
from podium.orchestrator.study.study import Study
from podium.orchestrator.study.unused_settings import why_unused_training
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.trained_losses import TrainedLoss, trained_losses
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.search_spaces.parameters import Value
from podium.trainables.registry import names
from podium.trainables.settings.training_settings import LEGAL_VALUES

_SAMPLER = "training.sampler"


def check_training_section(study: Study, problems: Problems) -> None:
    """Note settings out of range, impossible batches, and settings that no trial uses."""
    _check_ranges(study, problems)
    items = trained_losses(study, problems)
    _check_grace(study, items, problems)
    _check_samplers(items, problems)
    _check_batches(items, problems)
    _check_unused_training(study, items, problems)


def why_unused_by_all(
    study: Study, items: Sequence[TrainedLoss], name: str, path: Path, problems: Problems
) -> str | None:
    """Why a setting changes nothing for any of ``items``, in words; None if it changes something.

    Also None for settings that are wrong themselves, or depend on wrong data or networks.
    """
    if not items or problems.concern(path, "datasets", "backbones", "training.sampler"):
        return None
    reasons = [_why(study, item, name) for item in items]
    text = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
    return None if None in reasons else f"changes nothing: {text}"


def configs_of(study: Study, item: TrainedLoss) -> Iterable[Mapping[str, Value]]:
    """The first config of a loss, and it with one parameter at an end of what is searched."""
    if item.loss is None:
        return (item.values,)
    # Without values: around an impossible learning rate there is no range.
    return extreme_configs(item.values, space_of(study, item.loss))


def _check_ranges(study: Study, problems: Problems) -> None:
    for name, value in study.training.overrides.items():
        if name in LEGAL_VALUES and (problem := LEGAL_VALUES[name].problem_with(value)):
            problems.add(("training", name), f"training.{name} {problem}")


def _check_grace(study: Study, items: tuple[TrainedLoss, ...], problems: Problems) -> None:
    stopping = study.search.early_stopping
    if stopping.kind in ("folds", "none") or problems.concern(
        "search.early_stopping", "training.epochs", "training.recipe"
    ):
        return
    epochs = min((item.training.epochs for item in items), default=stopping.grace_epochs)
    if stopping.grace_epochs > epochs:
        rule = f"grace_epochs must be at most training.epochs, which is {epochs}"
        problems.add("search.early_stopping.grace_epochs", rule, got=stopping.grace_epochs)


def _check_samplers(items: tuple[TrainedLoss, ...], problems: Problems) -> None:
    known = names("batch_samplers")
    for sampler in dict.fromkeys(item.training.sampler for item in items):
        if sampler not in known and not problems.concern(_SAMPLER):
            problems.add(_SAMPLER, "unknown sampler", got=sampler, choices=known)


def _check_batches(items: tuple[TrainedLoss, ...], problems: Problems) -> None:
    """Note impossible sizes of balanced batches; other samplers take any size."""
    size_path, per_class_path = "training.batch_size", "training.samples_per_class"
    if problems.concern(size_path, per_class_path, _SAMPLER):
        return
    batches = dict.fromkeys(
        (item.training.batch_size, item.training.samples_per_class)
        for item in items
        if item.training.is_balanced
    )
    for size, per_class in batches:
        if per_class < 2:
            rule = "training.samples_per_class must be at least 2: a positive needs a partner"
            problems.add(per_class_path, rule, got=per_class)
        elif size < 2 * per_class or size % per_class:
            rule = (
                f"training.batch_size must be a multiple of samples_per_class ({per_class}) that "
                "holds at least 2 classes"
            )
            problems.add(size_path, rule, got=size)


def _check_unused_training(
    study: Study, items: tuple[TrainedLoss, ...], problems: Problems
) -> None:
    """Note every setting, given or tuned, that changes nothing for any loss in any block."""
    given = study.training.overrides
    stated: dict[Path, tuple[str, object]] = {
        ("training", name): (name, value) for name, value in given.items()
    }
    stated |= {("search", "tune", i): (name, name) for i, name in enumerate(study.search.tune)}
    for path, (name, got) in stated.items():
        if reason := why_unused_by_all(study, items, name, path, problems):
            problems.add(path, f"{label(path)} {reason}", got=got)


def _why(study: Study, item: TrainedLoss, name: str) -> str | None:
    return why_unused_training(
        name,
        item.training,
        dataset=dataset_of(study, item.block),
        backbone=item.block.backbone,
        loss=item.loss,
        configs=configs_of(study, item),
    )
