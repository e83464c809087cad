"""Whatever test classes look like, nothing that is trained, validated or chosen depends on it."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from podium.trainables.errors import Collapsed, Diverged
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
)
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial_reports import EpochReport, TestReport
from tests.trainables.feature_folder import write_feature_folder
from tests.trainables.small_photographs import photograph
from tests.trainables.tiny_trials import (
    assert_continues_after_any_report,
    tiny_trial,
    two_folds,
    untimed,
)

CLASSES, IMAGES = 40, 8
SEED = 7


def shuffled(vectors_NF):
    return np.random.default_rng(SEED).permutation(vectors_NF)


def of_noise(vectors_NF):
    random = np.random.default_rng(SEED)
    return random.standard_normal(vectors_NF.shape).astype(np.float32)


def all_the_same(vectors_NF):
    return np.ones_like(vectors_NF)


def too_large(vectors_NF):
    """Finite as they are, and no longer behind the network's first layer."""
    return np.sign(vectors_NF) * np.float32(3e38)


def folder_of_vectors(folder, poison=None):
    """The second half of the classes is tested; ``poison`` makes other vectors of theirs."""
    write_feature_folder(folder, classes=CLASSES, images_of_each=IMAGES)
    if poison is not None:
        vectors_NF = np.load(folder / "features.npy")
        half = len(vectors_NF) // 2
        vectors_NF[half:] = poison(vectors_NF[half:])
        np.save(folder / "features.npy", vectors_NF)
    return folder


def on_vectors(folder, of=tiny_trial, **changes):
    settings = of(
        None,
        dataset=DatasetSettings(name="features", options={"root": str(folder)}),
        backbone=BackboneSettings(name="mlp"),
        test_scores="recall",
        epochs=4,
        **changes,
    )
    return replace(settings, training=replace(settings.training, learning_rate=0.01))


def told(settings):
    """What the trial says of training and validation, and the epochs that it tested."""
    reports = untimed(run_trial(settings))
    epochs = [report for report in reports if isinstance(report, EpochReport)]
    tests = [report for report in reports if isinstance(report, TestReport)]
    return epochs, [(test.fold, test.epoch) for test in tests], [test.scores for test in tests]


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return folder_of_vectors(tmp_path_factory.mktemp("clean"))


@pytest.mark.parametrize(
    ("poison", "loss"), [(shuffled, "contrastive"), (of_noise, "proxy_anchor")]
)
def test_poisoned_test_vectors_change_nothing_but_test_scores(clean, tmp_path, poison, loss):
    epochs, chosen, scores = told(on_vectors(clean, two_folds, loss=loss))
    poisoned = folder_of_vectors(tmp_path, poison)
    same, chosen_again, other_scores = told(on_vectors(poisoned, two_folds, loss=loss))
    assert same == epochs
    assert chosen_again == chosen
    assert all(a[0].value != b[0].value for a, b in zip(scores, other_scores, strict=True))


@pytest.mark.parametrize(("poison", "scored"), [(all_the_same, "recall"), (too_large, "metrics")])
def test_a_network_that_cannot_be_tested_has_no_test_scores_and_fails_nothing(
    clean, tmp_path, poison, scored, caplog
):
    epochs, chosen, _ = told(replace(on_vectors(clean, two_folds), test_scores=scored))
    poisoned = on_vectors(folder_of_vectors(tmp_path, poison), two_folds)
    poisoned = replace(poisoned, test_scores=scored)
    with caplog.at_level(logging.WARNING):
        same, chosen_again, scores = told(poisoned)
    assert (same, chosen_again) == (epochs, chosen)
    assert scores == [()] * len(chosen)
    assert "no test scores: " in caplog.text
    with pytest.raises((Collapsed, Diverged), match="test embeddings"):
        list(run_trial(replace(poisoned, test_scores="all")))


def test_all_metrics_in_quarantine_change_nothing_else_and_come_without_images(clean):
    recall, metrics = on_vectors(clean), replace(on_vectors(clean), test_scores="metrics")
    *same, _ = told(recall)
    epochs, chosen, (scores,) = told(metrics)
    spread = {"intra_class_variance", "inter_class_variance", "effective_rank"}
    without_spread = [
        replace(epoch, scores=tuple(it for it in epoch.scores if it.metric not in spread))
        for epoch in epochs
    ]
    assert [without_spread, chosen] == same
    without_k = {"r_precision", "map_at_r", "nmi", "f1", *spread}
    assert {score.metric for score in scores} == {"recall", *without_k}
    *_, test = run_trial(metrics)
    assert test.retrievals == ()


def test_tuning_on_test_does_depend_on_test_vectors(clean, tmp_path):
    """The control: it would be noticed if validation read test classes."""
    protocol = ProtocolSettings(kind="test_tuned", val_fraction=None)
    epochs, _, _ = told(on_vectors(clean, protocol=protocol))
    poisoned = folder_of_vectors(tmp_path, shuffled)
    others, _, _ = told(on_vectors(poisoned, protocol=protocol))
    assert [report.recall(1) for report in epochs] != [report.recall(1) for report in others]


def folder_of_images(folder, poisoned):
    """16 classes; of those that are tested, others have other images if ``poisoned``."""
    for side, numbers in (("train", range(10)), ("test", range(10, 16))):
        for number in numbers:
            of_class = folder / side / f"class {number:02}"
            of_class.mkdir(parents=True)
            for place in range(6):
                seed = 100 * number + place + (10_000 if poisoned and side == "test" else 0)
                Image.fromarray(photograph(40, 48, seed)).save(of_class / f"{place}.png")
    return folder


@pytest.mark.parametrize("mode", ["fine_tune", "frozen_features"])
def test_poisoned_test_images_change_nothing_but_test_scores(tmp_path, mode):
    found = []
    for name, poisoned in (("clean", False), ("poisoned", True)):
        settings = tiny_trial(
            str(tmp_path / f"cache of {name}"),
            dataset=DatasetSettings(
                name="folder",
                options={"root": str(folder_of_images(tmp_path / name, poisoned))},
            ),
            protocol=ProtocolSettings(kind="kfold", val_fraction=None, folds=2),
            folds=(0, 1),
            image_size=32,
            test_scores="recall",
        )
        training = replace(
            settings.training, mode=mode, augmentation="none", batch_size=16, epochs=3
        )
        found.append(told(replace(settings, training=training)))
    (epochs, chosen, scores), (same, chosen_again, other_scores) = found
    assert (same, chosen_again) == (epochs, chosen)
    assert scores != other_scores


def test_a_trial_resumed_in_quarantine_continues_as_if_undisturbed(tmp_path):
    settings = on_vectors(folder_of_vectors(tmp_path, all_the_same), two_folds)
    settings = replace(settings, training=replace(settings.training, epochs=2))
    assert len(assert_continues_after_any_report(settings)) == 6
