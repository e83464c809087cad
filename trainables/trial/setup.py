"""Everything of a trial that is settled before training: settings checked, names looked up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from podium.trainables.dataset_interface.batch_sampler import Sampler
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import DataError, TrialInputError
from podium.trainables.hashing import digest
from podium.trainables.loss_composition.loss_base import Criterion
from podium.trainables.loss_composition.make_criterion import hyperparameter_names, make_criterion
from podium.trainables.network.backbone_facts import backbone_facts, fine_tuning_problem
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.initial_weights import weights_fingerprint
from podium.trainables.network.make_backbone import make_backbone
from podium.trainables.registry import load
from podium.trainables.settings.frozen_feature_rules import input_problem, mode_problem
from podium.trainables.settings.hyperparameters import loss_arguments, resolved_training
from podium.trainables.settings.loss_expression import prefix_lengths
from podium.trainables.settings.training_settings import HyperparameterValue, TrainingSettings
from podium.trainables.settings.trial_settings import (
    BASELINES,
    FEATURES,
    TestScores,
    TrialSettings,
)
from podium.trainables.tasks import loss_problem, sampler_problem


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSetup:
    """A trial whose settings hold.

    Attributes:
        settings: as given.
        training: the recipe, with the hyperparameters that override it.
        dataset: loaded.
        loss_arguments: the hyperparameters that are the loss's own.
    """

    settings: TrialSettings
    training: TrainingSettings
    dataset: Dataset
    loss_arguments: Mapping[str, HyperparameterValue]

    @property
    def identity(self) -> str:
        """Hash of everything that changes what the trial reports: no threads, no folders.

        The data set and the backbone's weights are in it by their content, wherever their files
        are.

        Raises:
            TrialInputError: the weights are not there.
        """
        values = self.settings.to_dict()
        values["backbone"]["weights"] = weights_fingerprint(self.settings.backbone)
        del values["dataset"], values["num_threads"], values["cache_folder"]
        del values["protocol"]["name"]
        return digest([values, self.dataset.fingerprint])

    @property
    def last_epoch(self) -> int:
        """The last that is trained; 0 where nothing is."""
        stop = self.settings.stop_epoch
        return self.training.epochs if stop is None else stop

    def make_embedder(self) -> Embedder:
        """A fresh network; what of it does not come from a file is drawn from torch's generator.

        Raises:
            TrialInputError: there is no such backbone, or its weights are not there.
        """
        vectors = self.dataset.vectors
        num_inputs = None if vectors is None else vectors.num_features
        backbone = make_backbone(self.settings.backbone, num_inputs, self.settings.image_size)
        return Embedder(backbone, self.settings.embedding_dim, self.training)

    def make_loss(self) -> Criterion:
        """The loss at its hyperparameters, not yet prepared for a number of classes.

        Raises:
            TrialInputError: a hyperparameter is out of its legal range.
        """
        return make_criterion(self.settings.loss, self.loss_arguments)


def set_up(settings: TrialSettings) -> TrialSetup:
    """Check the settings and look up what they name.

    Raises:
        DataError: the data set cannot be used.
        TrialInputError: a name is unknown or a value out of range.
    """
    _check(settings)
    training = resolved_training(settings.training, settings.hyperparameters)
    is_trained = _is_trained(settings.loss, training.epochs)
    _check_stop(settings.stop_epoch, training.epochs)
    names = hyperparameter_names(settings.loss) if is_trained else ()
    setup = TrialSetup(
        settings=settings,
        training=training,
        dataset=_dataset(settings),
        loss_arguments=loss_arguments(settings.loss, names, settings.hyperparameters),
    )
    _check_input(setup)
    sampler = load("batch_samplers", training.sampler)
    if is_trained:
        prefix_lengths(settings.loss, setup.loss_arguments, settings.embedding_dim or 0)
        _check_task(setup, setup.make_loss(), sampler)
    return setup


def _dataset(settings: TrialSettings) -> Dataset:
    try:
        return load_dataset(settings.dataset, settings.cache_folder)
    except TrialInputError as error:
        raise DataError(str(error)) from error


def _check_input(setup: TrialSetup) -> None:
    settings, vectors = setup.settings, setup.dataset.vectors
    facts = backbone_facts(settings.backbone.name)
    num_features = None if vectors is None else vectors.num_features
    problem = input_problem(
        dataset=settings.dataset.label,
        num_features=num_features,
        backbone=settings.backbone.name,
        takes_features=facts is not None and facts.takes_features,
        mode=setup.training.mode,
        image_size=settings.image_size,
    )
    problem = problem or fine_tuning_problem(settings.backbone.name, setup.training)
    if problem is not None:
        raise TrialInputError(problem)


def _check_task(setup: TrialSetup, loss: Criterion, sampler: type[Sampler]) -> None:
    settings, task = setup.settings, setup.dataset.task
    has_vectors = setup.dataset.vectors is not None
    problems = (
        mode_problem(setup.training.mode, settings.loss, loss.needs, has_vectors=has_vectors),
        loss_problem(settings.loss, loss.needs, settings.dataset.label, task),
        sampler_problem(setup.training.sampler, sampler.needs, settings.dataset.label, task),
    )
    for problem in problems:
        if problem is not None:
            raise TrialInputError(problem)


def _check(settings: TrialSettings) -> None:
    dim, is_headless = settings.embedding_dim, settings.loss == FEATURES
    dim_rule = f"null of the loss {FEATURES}" if is_headless else "at least 1"
    has_dim = dim is None if is_headless else dim is not None and dim >= 1
    problems = [
        f"{name} must be {rule}; got {value!r}"
        for name, rule, value, holds in (
            ("embedding_dim", dim_rule, dim, has_dim),
            ("num_threads", "at least 1", settings.num_threads, settings.num_threads >= 1),
            ("ks", "one or more K >= 1", settings.ks, settings.ks and min(settings.ks) >= 1),
            (
                "folds",
                "different, at least one",
                settings.folds,
                len(set(settings.folds)) == len(settings.folds) > 0,
            ),
            (
                "test_scores",
                f"one of {', '.join(get_args(TestScores))}",
                settings.test_scores,
                settings.test_scores in get_args(TestScores),
            ),
        )
        if not holds
    ]
    if problems:
        raise TrialInputError("; ".join(problems))


def _check_stop(stop_epoch: int | None, epochs: int) -> None:
    if stop_epoch is None or 1 <= stop_epoch <= epochs:
        return
    rule = (
        f"in 1..{epochs}, the epochs that are planned"
        if epochs
        else ("null where nothing is trained")
    )
    raise TrialInputError(f"stop_epoch must be {rule}; got {stop_epoch}")


def _is_trained(loss: str, epochs: int) -> bool:
    if loss not in BASELINES:
        return True
    if epochs != 0:
        raise TrialInputError(f"loss {loss!r} is not trained: epochs must be 0; got {epochs}")
    return False
