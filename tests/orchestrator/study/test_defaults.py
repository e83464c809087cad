"""Which studies train heads alone."""

import pytest

from podium.orchestrator.study.defaults import are_heads
from podium.orchestrator.study.study import StudyTraining
from podium.trainables.settings.trial_settings import BackboneSettings


@pytest.mark.parametrize(
    ("mode", "backbones", "expected"),
    [
        ({}, ["conv_small"], False),
        ({"mode": "fine_tune"}, ["conv_small"], False),
        ({"mode": "frozen_features"}, ["conv_small", "resnet50"], True),
        ({}, ["identity"], True),
        ({}, ["identity", "mlp"], False),
    ],
)
def test_heads_are_trained_alone_on_frozen_features_and_on_vectors_as_they_are(
    mode, backbones, expected
):
    networks = [BackboneSettings(name=name) for name in backbones]
    assert are_heads(StudyTraining(overrides=mode), networks) is expected
