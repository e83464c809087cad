"""Checks how a study trains: settings, batches, images, and whether its losses get their needs."""

from collections.abc import Iterable, Mapping, Sequence

from podium.orchestrator.study.blocks import dataset_of
from podium.orchestrator.study.configs import extreme_configs, space_of, training_of
from podium.orchestrator.study.defaults import has_image_files
from podium.orchestrator.study.loss_facts import facts_of
from podium.orchestrator.study.study import Block, Study
from podium.orchestrator.study.unused_settings import why_unused_training
from podium.orchestrator.study_parser.problems import Problems, label
from podium.orchestrator.study_parser.yaml_tree import Path
from podium.orchestrator.study_validation.trained_losses import (
    TrainedLoss,
    known_datasets,
    trained_losses,
)
from podium.search_spaces.parameters import Value
from podium.trainables.dataset_interface.load_dataset import dataset_facts
from podium.trainables.network.backbone_facts import backbone_facts
from podium.trainables.registry import names
from podium.trainables.settings.frozen_feature_rules import (
    FROZEN_FEATURES,
    input_problem,
    mode_problem,
)
from podium.trainables.settings.training_settings import balanced_samplers
from podium.trainables.settings.trial_settings import DatasetSettings

_SAMPLER = "training.sampler"
_SIZE, _PER_CLASS = "training.batch_size", "training.samples_per_class"


def why_unused_by_all(
    study: Study, items: Sequence[TrainedLoss], name: str, path: Path, problems: Problems
) -> str | None:
    """Why a setting changes nothing for any of ``items``, in words; None if it changes something.

    Also None for settings that are wrong themselves, or depend on wrong data or networks.
    """
    if not items or problems.concern(path, "datasets", "backbones", _SAMPLER):
        return None
    reasons = [
        why_unused_training(
            name,
            item.training,
            dataset=dataset_of(study, item.block),
            backbone=item.block.backbone,
            loss=item.loss,
            configs=configs_of(study, item),
        )
        for item in items
    ]
    text = "; ".join(dict.fromkeys(reason for reason in reasons if reason))
    return None if None in reasons else f"changes nothing: {text}"


def configs_of(study: Study, item: TrainedLoss) -> Iterable[Mapping[str, Value]]:
    """The first config of a loss, and it with one parameter at an end of what is searched."""
    if item.loss is None:
        return (item.values,)
    # Without values: around an impossible learning rate there is no range.
    return extreme_configs(item.values, space_of(study, item.loss))


def check_samplers(study: Study, problems: Problems) -> None:
    """Note samplers that do not exist."""
    known = names("batch_samplers")
    for sampler in dict.fromkeys(it.training.sampler for it in trained_losses(study, problems)):
        if sampler not in known and not problems.concern(_SAMPLER):
            problems.add(_SAMPLER, "unknown sampler", got=sampler, choices=known)


def check_grace(study: Study, problems: Problems) -> None:
    """Note a stopping rule whose first epoch comes after the last one of a training."""
    stopping = study.search.early_stopping
    if stopping.kind in ("folds", "none"):
        return
    items = trained_losses(study, problems)
    epochs = min((item.training.epochs for item in items), default=stopping.grace_epochs)
    if stopping.grace_epochs > epochs:
        rule = f"grace_epochs must be at most training.epochs, which is {epochs}"
        problems.add("search.early_stopping.grace_epochs", rule, got=stopping.grace_epochs)


def check_batches(study: Study, problems: Problems) -> None:
    """Note impossible sizes of balanced batches; other samplers take any size."""
    trainings = [it.training for it in trained_losses(study, problems) if it.training.is_balanced]
    for size, per_class in dict.fromkeys(
        (it.batch_size, it.samples_per_class) for it in trainings
    ):
        if per_class < 2:
            rule = "training.samples_per_class must be at least 2: a positive needs a partner"
            problems.add(_PER_CLASS, rule, got=per_class)
        elif size < 2 * per_class or size % per_class:
            rule = (
                f"training.batch_size must be a multiple of samples_per_class ({per_class}) that "
                "holds at least 2 classes"
            )
            problems.add(_SIZE, rule, got=size)


def check_unused_training(study: Study, problems: Problems) -> None:
    """Note every setting, given or tuned, that changes nothing for any loss in any block."""
    items = trained_losses(study, problems)
    given: dict[Path, tuple[str, object]] = {
        ("training", name): (name, value) for name, value in study.training.overrides.items()
    }
    given |= {("search", "tune", i): (name, name) for i, name in enumerate(study.search.tune)}
    for path, (name, got) in given.items():
        if reason := why_unused_by_all(study, items, name, path, problems):
            problems.add(path, f"{label(path)} {reason}", got=got)


def check_balance(study: Study, problems: Problems) -> None:
    """Note losses that compare images of a class where batches are drawn without regard to it."""
    trainings = {item.loss: item.training for item in trained_losses(study, problems)}
    for loss in study.loss_names:
        training = trainings.get(loss)
        if training and not training.is_balanced and "balanced" in facts_of(loss).needs:
            rule = (
                f"training.sampler must be {' or '.join(balanced_samplers())}: {loss} compares "
                "images of a class, and with many classes a random batch has hardly any (1.3 % of "
                "the anchors of a batch of 180 on Stanford Online Products)"
            )
            problems.add(_SAMPLER, rule, got=training.sampler)


def check_class_text(study: Study, problems: Problems) -> None:
    """Note data sets without the vectors of class names that a loss reads."""
    needing = [loss for loss in study.loss_names if "class_text" in facts_of(loss).needs]
    for index, dataset in enumerate(study.datasets if needing else ()):
        if "class_text" not in dataset.options and not problems.concern(("datasets", index)):
            rule = (
                f"{needing[0]} needs a vector for the name of each class: give {dataset.label} "
                "the option class_text, a file that `podium datasets text` makes"
            )
            problems.add(("datasets", index), rule)


def check_mode(study: Study, problems: Problems) -> None:
    """Note losses that need images where the study trains on feature vectors."""
    for item in trained_losses(study, problems):
        assert item.loss is not None
        facts = dataset_facts(dataset_of(study, item.block))
        problem = mode_problem(
            item.training.mode,
            item.loss,
            facts_of(item.loss).needs,
            has_vectors=facts.num_features is not None,
        )
        key_path = ("losses", study.loss_names.index(item.loss))
        if problem and not problems.concern(key_path):
            problems.add(key_path, problem)


def check_images(study: Study, problems: Problems) -> None:
    """Note every data set that cannot be trained on with the study's networks and sizes."""
    for _, dataset, facts in known_datasets(study, problems):
        for index, backbone in enumerate(study.backbones):
            block = Block(
                dataset=dataset.label,
                backbone=backbone.name,
                embedding_dim=study.embedding_dims[0],
            )
            training = training_of(study, block)
            network = backbone_facts(backbone.name)  # None: known when the trial starts
            problem = (
                None
                if network is None
                else input_problem(
                    dataset=dataset.label,
                    num_features=facts.num_features,
                    backbone=backbone.name,
                    takes_features=network.takes_features,
                    mode=training.mode,
                    image_size=None,
                )
            )
            if problem is not None:
                problems.add(("backbones", index), problem)
            if facts.num_features is None and training.mode != FROZEN_FEATURES:
                _check_augmentation(study, dataset, training.augmentation, problems)


def check_sizes(study: Study, problems: Problems) -> None:
    """Note sizes that are missing, that no data set needs, or that a network does not take."""
    path: Path = ("image_sizes",)
    files = [dataset.label for dataset in study.datasets if has_image_files(dataset)]
    others = [dataset.label for dataset in study.datasets if not has_image_files(dataset)]
    if study.image_sizes and others and (len(study.image_sizes) > 1 or not files):
        rule = (
            f"image_sizes are for data sets of image files; images of {', '.join(others)} have "
            "a size of their own"
        )
        problems.add(path, rule, got=list(study.image_sizes))
    if files and not study.image_sizes:
        rule = (
            f"image_sizes must be given: {files[0]} has image files, and the recipe "
            f"{study.training.recipe} has no default size"
        )
        problems.add(path, rule)
    for backbone in study.backbones:
        network = backbone_facts(backbone.name)
        for index, size in enumerate(study.image_sizes):
            if network and (problem := network.size_problem(backbone.name, size)):
                problems.add((*path, index), problem)


def _check_augmentation(
    study: Study, dataset: DatasetSettings, kind: str, problems: Problems
) -> None:
    is_given = "augmentation" in study.training.overrides
    key_path: Path = ("training", "augmentation" if is_given else "recipe")
    got = kind if is_given else study.training.recipe
    if problems.concern("training"):  # which it is of a network that was seen before, too
        return
    if kind == "shift" and has_image_files(dataset):
        rule = (
            f"augmentation shift moves images of one size by a pixel, and {dataset.label} has "
            "files of many sizes: choose a recipe for them, such as psomas2020, or set "
            "training.augmentation"
        )
        problems.add(key_path, rule, got=got)
    elif kind == "random_resized_crop" and not has_image_files(dataset):
        rule = (
            f"augmentation random_resized_crop is for image files, and those of {dataset.label} "
            "have a size of their own: set training.augmentation to shift or none"
        )
        problems.add(key_path, rule, got=got)
