"""Which trials can be members of one population: what each must be, and in what they agree.

No torch: plans ask this of every search.
"""

from collections.abc import Mapping
from dataclasses import replace

from podium.trainables.hashing import digest
from podium.trainables.registry import literals
from podium.trainables.settings.frozen_feature_rules import FROZEN_FEATURES
from podium.trainables.settings.hyperparameters import resolved_training
from podium.trainables.settings.legal_ranges import DECLARATIONS, Interval, Parameter
from podium.trainables.settings.loss_expression import parse_loss
from podium.trainables.settings.training_settings import HyperparameterValue
from podium.trainables.settings.trial_settings import BASELINES, TrialSettings

REAL_SETTINGS = (
    "learning_rate",
    "head_learning_rate_factor",
    "proxy_learning_rate",
    "weight_decay",
    "proxy_weight_decay",
    "adam_epsilon",
    "momentum",
    "clip_value",
    "step_factor",
)
"""Settings of the recipe that may differ from member to member."""

_IDENTITY = "identity"  # the backbone that leaves features as they are


def is_head(mode: object, backbone: str) -> bool:
    """Whether a trial of this mode trains an embedding layer alone, on features that never change.

    None is the default mode.
    """
    return mode == FROZEN_FEATURES or backbone == _IDENTITY


def why_alone(settings: TrialSettings) -> str | None:
    """Why a trial cannot be a member of any population, as a clause; None if it can.

    Raises:
        TrialInputError: a name is unknown, or a value of the recipe out of range.
    """
    training = resolved_training(settings.training, settings.hyperparameters)
    reasons = {
        "its backbone is trained": not is_head(training.mode, settings.backbone.name),
        "nothing is trained": settings.loss in BASELINES or training.epochs == 0,
        "it reads the test classes": settings.evaluate_test,
        "nothing is validated": not settings.protocol.is_validated,
        "its task is continuous": "label_distances" in settings.dataset.options,
        "its batches go through the network in parts": training.micro_batch_size > 0,
        "its network is compiled": training.compile,
        "its network is not in float32": training.precision != "float32",
    }
    if found := [reason for reason, is_so in reasons.items() if is_so]:
        return found[0]
    parsed = parse_loss(settings.loss)
    (term, *_) = parsed.terms
    if not parsed.is_single or term.is_external or str(term) != term.name:
        return "it is not one of podium's losses by itself"
    if not literals("losses", term.name).get("is_vmappable", True):
        return "it cannot be mapped over its hyperparameters"
    if literals("batch_samplers", training.sampler).get("needs_embeddings", False):
        return f"the sampler {training.sampler} chooses by each network's own embeddings"
    return None


def agreement(settings: TrialSettings) -> str:
    """A hash that trials share which may be members of one population.

    In it is all but the real-valued hyperparameters of the loss and `REAL_SETTINGS`. Learning
    rates of 0 are no exception: they are numbers like any other.
    """
    training = resolved_training(settings.training, settings.hyperparameters)
    given = settings.hyperparameters
    chosen: dict[str, HyperparameterValue] = {
        name: parameter.typed(given.get(name, parameter.default))
        for name, parameter in _declared(settings.loss).items()
        if not isinstance(parameter.legal, Interval)
    }
    recipe = training.with_values(dict.fromkeys(REAL_SETTINGS, 0.5))
    return digest(replace(settings, hyperparameters=chosen, training=recipe).to_dict())


def real_names(loss: str) -> tuple[str, ...]:
    """The hyperparameters of a single loss of podium that members may differ in."""
    return tuple(
        name
        for name, parameter in _declared(loss).items()
        if isinstance(parameter.legal, Interval)
    )


def _declared(loss: str) -> Mapping[str, Parameter]:
    stated = literals("losses", loss, calls=DECLARATIONS)
    declared: Mapping[str, Parameter] = stated.get("declared", {})
    return declared
