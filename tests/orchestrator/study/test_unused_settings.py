"""Each setting of training either changes what is learned, or is said to change nothing.

On letters whose network is trained `tests/trainables/training_loop/test_trainer.py` holds the
same.
"""

import warnings
from dataclasses import fields, replace
from functools import cache

import pytest
import torch
import yaml

from podium.orchestrator.study.unused_settings import unused_by
from podium.trainables.reproducibility import reproducible
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from podium.trainables.trial.fold_run import FoldRun
from podium.trainables.trial.setup import set_up
from tests.trainables.feature_folder import write_feature_folder
from tests.trainables.tiny_trials import tiny_trial

LOSS = "proxy_anchor"
# Another value of each setting, and what it takes to matter.
OTHER = yaml.safe_load("""
{epochs: 2, batch_size: 16, micro_batch_size: 5, samples_per_class: 8, sampler: random,
optimiser: sgd, adam_epsilon: 1.0e-3, momentum: 0.5, learning_rate: 2.0e-3,
head_learning_rate_factor: 2.0, proxy_learning_rate: 2.0e-2, weight_decay: 0.3,
proxy_weight_decay: 0.3, step_epochs: 2, step_factor: 0.5, warm_up_epochs: 1,
batch_norm: frozen_statistics, clip_value: 1.0e-6, clipped: network, precision: bf16,
channels_last: false, augmentation: none, crop_scale_min: 0.5, evaluation_crop: 0.6, cache: none,
loader: device, pooling: max, head_init: kaiming, layer_norm: true, l2: true,
schedule: cosine, linear_warm_up_epochs: 1, transform: "torch:bitwise_not"}
""")
BESIDE = {
    "momentum": {"optimiser": "sgd"},
    "step_factor": {"step_epochs": 1},
    "clipped": {"clip_value": 1e-6},
}
BASE = TrainingSettings(epochs=3, batch_size=32)


def test_there_is_another_value_for_every_setting():
    # Names, all else, what changes no number, and what only networks of timm can.
    elsewhere = {"recipe", "mode", "compile", "layer_decay", "lora_rank", "gradient_checkpointing"}
    names = {field.name for field in fields(TrainingSettings)}
    assert set(OTHER) == names - elsewhere


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """Everything that is trained, by the place and the training; each is trained once."""
    folder = tmp_path_factory.mktemp("used")
    vectors = DatasetSettings(
        name="features", options={"root": str(write_feature_folder(folder / "vectors"))}
    )
    places = {
        "letters": {},
        "mlp": {"dataset": vectors, "backbone": BackboneSettings(name="mlp")},
        "identity": {"dataset": vectors, "backbone": BackboneSettings(name="identity")},
    }

    @cache
    def train(place, training):
        settings = tiny_trial(str(folder), loss=LOSS, training=training, **places[place])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run = FoldRun(set_up(settings), 0, torch.device("cpu"))
        with reproducible(1, num_threads=1):
            for epoch in range(1, training.epochs + 1):
                run.train(epoch)
        state = run.state_dict()
        values = {**state["embedder"], **state["trainer"]["criterion"]}
        return settings, values, [str(warning.message) for warning in caught]

    return train


@pytest.mark.parametrize("name", OTHER)
@pytest.mark.parametrize(
    ("place", "mode"),
    [("letters", "frozen_features"), ("mlp", "fine_tune"), ("identity", "fine_tune")],
)
def test_a_setting_changes_what_is_learned_or_is_said_not_to(learned, place, mode, name):
    base = replace(BASE, mode=mode, **BESIDE.get(name, {}))
    other = replace(base, **{name: OTHER[name]})
    settings, usual, _ = learned(place, base)
    _, changed, messages = learned(place, other)
    unused = unused_by(
        LOSS,
        other,
        [settings.hyperparameters],
        dataset=settings.dataset,
        backbone=settings.backbone.name,
    )
    assert set(usual) == set(changed)
    if name not in unused and not any("changes nothing" in text for text in messages):
        assert any(not torch.equal(usual[key], changed[key]) for key in usual)
    else:  # up to rounding: micro-batches add up gradients in another order
        for key, value in usual.items():
            torch.testing.assert_close(changed[key], value, rtol=1e-3, atol=1e-4)
