from dataclasses import fields, replace

import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.settings.hyperparameters import loss_arguments, resolved_training
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import BackboneSettings
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from tests.trainables.tiny_trials import tiny_trial


def test_names_of_the_recipe_override_it_and_the_rest_goes_to_the_loss():
    given = {"learning_rate": 3e-3, "margin": 0.2, "epochs": 5}
    training = resolved_training(TrainingSettings(), given)
    assert training == replace(TrainingSettings(), learning_rate=3e-3, epochs=5)
    assert loss_arguments("contrastive", ["margin"], given) == {"margin": 0.2}


@pytest.mark.parametrize("name", ["margn", "recipe", "self"])
def test_an_unknown_hyperparameter_is_answered_with_the_choices(name):
    of_training = {field.name for field in fields(TrainingSettings)} - {"recipe"}
    choices = ", ".join(sorted({"margin", *of_training}))
    with pytest.raises(
        TrialInputError, match=f"unknown hyperparameter of contrastive '{name}'.*known: "
    ) as refused:
        loss_arguments("contrastive", ["margin"], {name: 0.1})
    assert str(refused.value).endswith(f"known: {choices}")


@pytest.mark.parametrize(
    ("name", "value", "reason", "used_with"),
    [
        ("samples_per_class", 2, "the sampler is random", {"sampler": "balanced"}),
        ("clipped", "loss", "clip_value is 0, so no gradient is clipped", {"clip_value": 1.0}),
        ("adam_epsilon", 0.1, "the optimiser is rmsprop", {"optimiser": "adam"}),
    ],
)
def test_a_hyperparameter_that_changes_nothing_beside_the_others_is_refused(
    name, value, reason, used_with
):
    training = replace(TrainingSettings(), sampler="random", optimiser="rmsprop")
    with pytest.raises(TrialInputError, match=f"training.{name} changes nothing: {reason}$"):
        resolved_training(training, {name: value})
    assert getattr(resolved_training(training, {name: value, **used_with}), name) == value
    # What the recipe itself brings along may be idle.
    resolved_training(replace(training, **{name: value}), {})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backbone": BackboneSettings(name="conv_big")}, "unknown backbone 'conv_big'"),
        ({"hyperparameters": {"sampler": "balance"}}, "unknown sampler 'balance'"),
        ({"hyperparameters": {"margin": 1.5}}, r"loss contrastive: margin must be in \[-1, 1\]"),
        ({"ks": ()}, "ks must be one or more K"),
        ({"folds": (1,)}, "fold must be in 0..0"),
        ({"loss": "untrained"}, "loss 'untrained' is not trained: epochs must be 0; got 2"),
        ({"loss": "features"}, "embedding_dim must be null of the loss features; got 16"),
        ({"embedding_dim": None}, "embedding_dim must be at least 1; got None"),
        (
            {"loss": "untrained", "hyperparameters": {"epochs": 0, "margin": 0.1}},
            "unknown hyperparameter of untrained 'margin'",
        ),
        ({"test_scores": "everything"}, "must be one of all, metrics, recall; got 'everything'"),
        ({"stop_epoch": 3}, r"stop_epoch must be in 1\.\.2, .* planned; got 3$"),
        (
            {"loss": "untrained", "epochs": 0, "stop_epoch": 1},
            "stop_epoch must be null where nothing is trained",
        ),
    ],
)
def test_settings_no_trial_can_use_are_refused_before_anything_is_trained(
    cache_folder, changes, message
):
    with pytest.raises(TrialInputError, match=message):
        next(run_trial(tiny_trial(cache_folder, **changes)))


def test_hyperparameters_reach_the_loss_and_the_recipe(cache_folder):
    given = {"margin": 0.25, "batch_size": 16}
    setup = set_up(tiny_trial(cache_folder, hyperparameters=given))
    assert setup.make_loss().hyperparameters == {"margin": 0.25}
    assert setup.training.batch_size == 16
