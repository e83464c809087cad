"""Trials on vectors that were computed before."""

from dataclasses import replace

import pytest

from podium.trainables.errors import TrialInputError
from podium.trainables.settings.trial_settings import BackboneSettings, DatasetSettings
from podium.trainables.trial.run_trial import run_trial
from tests.trainables.feature_folder import NUM_FEATURES, write_feature_folder
from tests.trainables.tiny_trials import (
    assert_continues_after_any_report,
    tiny_trial,
    two_folds,
)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_feature_folder(tmp_path_factory.mktemp("vectors"))


def trial(root, backbone="mlp", of=tiny_trial, **changes):
    training = changes.pop("training", {})
    settings = of(
        None,
        dataset=DatasetSettings(name="features", options={"root": str(root)}),
        backbone=BackboneSettings(name=backbone),
        **changes,
    )
    return replace(settings, training=replace(settings.training, **training))


@pytest.mark.parametrize("backbone", ["identity", "mlp"])
def test_a_network_on_vectors_learns_what_tells_classes_apart(root, backbone):
    changes = {"loss": "multi_similarity", "evaluate_test": True}
    _, before = run_trial(trial(root, backbone, epochs=0, **{**changes, "loss": "untrained"}))
    training = {"learning_rate": 0.01 if backbone == "identity" else 0.001}
    *_, after = run_trial(trial(root, backbone, epochs=12, training=training, **changes))
    # 160 queries: one standard error is at most 4 points.
    assert after.scores[0].value > before.scores[0].value + 0.12


def test_there_is_nothing_to_look_at(root):
    *_, test = run_trial(trial(root))
    assert test.retrievals == ()
    assert len(test.scores) > 4


def test_only_queries_ask(tmp_path):
    folder = write_feature_folder(tmp_path / "vectors", with_gallery=True)
    *_, test = run_trial(trial(folder))
    assert (test.scores[0].queries, test.scores[0].gallery) == (80, 80)


def test_an_interrupted_trial_continues_as_if_undisturbed(root):
    assert_continues_after_any_report(trial(root, of=two_folds, loss="proxy_anchor"))


def test_bf16_changes_the_backbone_and_not_the_vectors(root):
    whole, short = (
        [report.recall(1) for report in run_trial(replace(settings, evaluate_test=False))]
        for settings in (trial(root), trial(root, training={"precision": "bf16"}))
    )
    assert short == pytest.approx(whole, abs=0.1)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"backbone": "conv_small"},
            f"conv_small takes images, but features has vectors of {NUM_FEATURES} features$",
        ),
        ({"backbone": "package.module:Net"}, "package.module:Net takes images, but features has"),
        (
            {"training": {"mode": "frozen_features"}},
            "mode frozen_features is for images, but features has vectors of 24 features already$",
        ),
        ({"image_size": 64}, "image_size must be null, .* of 24 features; got 64$"),
        ({"loss": "statistical"}, "statistical compares several augmented views of an image"),
    ],
)
def test_what_needs_images_is_refused(root, changes, told):
    with pytest.raises(TrialInputError, match=told):
        next(run_trial(trial(root, **changes)))


@pytest.mark.parametrize("backbone", ["identity", "mlp"])
def test_what_takes_vectors_is_refused_for_images(cache_folder, backbone):
    settings = tiny_trial(cache_folder, backbone=BackboneSettings(name=backbone))
    with pytest.raises(TrialInputError, match=f"{backbone} takes vectors, but .* has images"):
        next(run_trial(settings))
