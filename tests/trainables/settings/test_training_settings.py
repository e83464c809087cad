from dataclasses import asdict, replace

import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.settings.training_settings import (
    LEGAL_VALUES,
    TRAINING_TYPES,
    TrainingSettings,
)

# The keys of ``training`` in stored trials, in tables and in plans.
KEYS = """
recipe mode epochs
batch_size micro_batch_size samples_per_class sampler
optimiser adam_epsilon momentum learning_rate head_learning_rate_factor proxy_learning_rate
weight_decay proxy_weight_decay step_epochs step_factor
schedule linear_warm_up_epochs layer_decay
warm_up_epochs batch_norm lora_rank
clip_value clipped
precision channels_last compile gradient_checkpointing
augmentation transform crop_scale_min evaluation_crop cache loader
pooling head_init layer_norm l2
"""


def test_the_groups_are_flat_outside_and_in_the_order_of_stored_trials():
    assert list(asdict(TrainingSettings())) == KEYS.split()
    assert ["recipe", *TRAINING_TYPES] == KEYS.split()
    assert set(KEYS.split()) - set(LEGAL_VALUES) == {"recipe", "sampler"}


def test_everything_that_is_wrong_with_a_recipe_is_reported_at_once():
    with pytest.raises(
        TrialInputError, match=r"epochs must be .*; training\.weight_decay must be"
    ):
        replace(TrainingSettings(), epochs=-1, weight_decay=2.0).check()


def test_every_field_of_a_recipe_is_checked():
    for name, kind in TRAINING_TYPES.items():
        if name == "sampler":  # checked where it is looked up
            continue
        wrong = 0 if kind is str else "no"
        with pytest.raises(TrialInputError, match=rf"training\.{name} must be "):
            replace(TrainingSettings(), **{name: wrong}).check()
