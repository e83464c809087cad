"""Trials of a tenth of a second, and how to compare what they report."""

from dataclasses import replace

import torch

from podium.trainables.batches.image_pipeline import ImageInput
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.settings.trial_settings import (
    BackboneSettings,
    DatasetSettings,
    ProtocolSettings,
    TrialSettings,
)
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial_reports import EpochReport

# How the images of tiny trials reach the network.
ON_THE_CPU = ImageInput(
    training=TrainingSettings(), image_size=None, device=torch.device("cpu"), num_threads=1
)


def tiny_trial(cache_folder, *, epochs=2, **changes):
    """14 training, 6 validation and 20 test classes of 8 images each."""
    settings = TrialSettings(
        dataset=DatasetSettings(name="glyphs", options={"classes": 40, "instances_per_class": 8}),
        protocol=ProtocolSettings(kind="fixed", val_fraction=0.3),
        folds=(0,),
        backbone=BackboneSettings(name="conv_small"),
        embedding_dim=16,
        loss="contrastive",
        hyperparameters={},
        training=TrainingSettings(epochs=epochs, batch_size=32),
        seed=3,
        evaluate_test=True,
        cache_folder=cache_folder,
    )
    return replace(settings, **changes)


def two_folds(cache_folder, **changes):
    protocol = ProtocolSettings(kind="kfold", val_fraction=None, folds=3)
    return tiny_trial(cache_folder, protocol=protocol, folds=(0, 2), **changes)


def masks(settings, loss="log_ratio", sampler="label_neighbours"):
    """The trial on shapes whose labels have distances."""
    return replace(
        settings,
        dataset=replace(settings.dataset, name="glyph_masks"),
        training=replace(settings.training, sampler=sampler),
        loss=loss,
    )


def untimed(reports):
    """The reports without what differs between two runs of one trial: time and memory."""
    return [
        replace(report, seconds=0.0, peak_memory_mb=0.0)
        if isinstance(report, EpochReport)
        else replace(report, seconds=0.0)
        for report in reports
    ]


def assert_continues_after_any_report(settings):
    """Every state that a trial saves leads to its reports; these are returned, untimed."""
    saved = []
    reports = list(run_trial(settings, save=saved.append))
    assert len(saved) == len(reports)
    for num_done, state in enumerate(saved, start=1):
        again = list(run_trial(settings, resume=state))
        assert again[:num_done] == reports[:num_done], "past reports, seconds and all"
        assert untimed(again) == untimed(reports)
    return untimed(reports)
