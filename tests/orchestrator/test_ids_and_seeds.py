from dataclasses import replace

import pytest

from podium.orchestrator.ids_and_seeds import config_hash, seed_for, trial_id
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)

TRIAL = TrialSettings(
    dataset=DatasetSettings(name="glyphs", options={"script": "latin"}),
    protocol=ProtocolSettings(),
    folds=(0,),
    backbone=BackboneSettings(name="conv_small"),
    embedding_dim=16,
    loss="contrastive",
    hyperparameters={"margin": 0.5, "learning_rate": 0.01},
    training=TrainingSettings(
        recipe="fast",
        epochs=8,
        batch_size=32,
        samples_per_class=4,
        sampler="balanced",
        learning_rate=1e-3,
        proxy_learning_rate=1e-2,
        weight_decay=1e-4,
    ),
    seed=7,
)


def the_id(settings, dataset="d", splits=("s",), weights="random"):
    return trial_id(settings, dataset=dataset, splits=splits, weights=weights)


def test_the_id_is_the_same_in_every_process():
    assert the_id(TRIAL) == "48284c0ebd397371"


def test_the_id_survives_transport():
    assert the_id(TrialSettings.from_dict(TRIAL.to_dict())) == the_id(TRIAL)


@pytest.mark.parametrize(
    "change",
    [
        {"backbone": BackboneSettings(name="other")},
        {"embedding_dim": 32},
        {"image_size": 224},
        {"loss": "proxy_anchor"},
        {"hyperparameters": {"margin": 0.5000001, "learning_rate": 0.01}},
        {"training": replace(TRIAL.training, epochs=9)},
        {"training": replace(TRIAL.training, schedule="cosine")},
        {"training": replace(TRIAL.training, lora_rank=4)},
        {"training": replace(TRIAL.training, gradient_checkpointing=True)},
        {"seed": 8},
        {"folds": (1,)},
        {"ks": (2, 1)},
        {"stop_epoch": 7},
    ],
)
def test_whatever_changes_the_numbers_changes_the_id(change):
    assert the_id(replace(TRIAL, **change)) != the_id(TRIAL)


def test_own_code_changes_the_id_and_its_absence_is_as_before_there_was_such_a_setting():
    own = replace(TRIAL, code={"own:Loss": "1" * 64})
    other = replace(TRIAL, code={"own:Loss": "2" * 64})
    assert len({the_id(TRIAL), the_id(own), the_id(other)}) == 3
    assert the_id(TrialSettings.from_dict(own.to_dict())) == the_id(own)
    assert "code" not in TRIAL.to_dict()


def test_other_classes_splits_and_weights_change_the_id():
    others = (the_id(TRIAL, dataset="e"), the_id(TRIAL, splits=("t",)), the_id(TRIAL, weights="w"))
    assert len({the_id(TRIAL), *others}) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"num_threads": 4},
        {"cache_folder": "/elsewhere"},
        {"evaluate_test": True},
        {"test_scores": "recall"},
        {"protocol": ProtocolSettings(name="what tables call it")},
        {"stop_epoch": 8},  # the last of the epochs that are planned
        {"training": replace(TRIAL.training, recipe="same values, other name")},
        {"training": replace(TRIAL.training, learning_rate=0.5)},  # overridden by the config
        {"dataset": DatasetSettings(name="glyphs", options={"root": "/other/disk"})},
        {"backbone": BackboneSettings(name="conv_small", weights="/other/disk/w.pth")},
    ],
)
def test_whatever_changes_no_number_leaves_the_id(change):
    assert the_id(replace(TRIAL, **change)) == the_id(TRIAL)


def test_a_hyperparameter_says_which_epoch_is_the_last():
    config = {**TRIAL.hyperparameters, "epochs": 3}
    planned = replace(TRIAL, hyperparameters=config)
    assert the_id(replace(planned, stop_epoch=3)) == the_id(planned)
    assert the_id(replace(planned, stop_epoch=2)) != the_id(planned)


def test_the_order_of_hyperparameters_does_not_matter():
    assert config_hash({"a": 1, "b": 2.0}) == config_hash({"b": 2.0, "a": 1})


def test_a_hash_of_nan_is_refused():
    with pytest.raises(ValueError, match="not JSON compliant"):
        config_hash({"a": float("nan")})


def test_seeds_differ_between_stages_and_indices_and_fit_31_bits():
    seeds = {
        seed_for(study, stage, index)
        for study in range(5)
        for stage in ("search", "final")
        for index in range(20)
    }
    assert len(seeds) == 5 * 2 * 20
    assert all(0 <= seed < 2**31 for seed in seeds)
