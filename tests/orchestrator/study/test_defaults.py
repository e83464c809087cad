"""Defaults that follow from networks and data sets."""

import pytest

from podium.orchestrator.study.defaults import are_heads, metric_of
from podium.orchestrator.study.study import StudyTraining
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings


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


def test_searches_maximise_the_metric_of_their_data():
    assert metric_of([DatasetSettings(name="glyphs")]) == "recall"
    assert metric_of([DatasetSettings(name="glyph_masks")]) == "ndcg"
