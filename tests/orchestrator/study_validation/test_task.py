"""A study has one task, and its losses and batches are for it."""

from pathlib import Path

import numpy as np
import pytest

from orchestrator.study_validation.load_study import load_study
from orchestrator.study_validation.task import task_of
from tests.orchestrator.study_files import assert_matches, load, problems_of

CONTINUOUS = "study: x\nlosses: [log_ratio]\ndatasets: [glyph_masks]\n"
CLASSES = "study: x\nlosses: [contrastive]\ndatasets: [glyphs]\n"


@pytest.mark.parametrize(("text", "task"), [(CONTINUOUS, "continuous"), (CLASSES, "classes")])
def test_the_task_is_that_of_the_data_sets(tmp_path, text, task):
    assert task_of(load(tmp_path, text)) == task


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "study: x\nlosses: [log_ratio, contrastive]\ndatasets: [glyphs, glyph_masks]\n",
            "3: the data sets of a study must have one task to be ranked together: glyphs is "
            "scored by recall (classes); glyph_masks is scored by ndcg (continuous)",
        ),
        (
            CLASSES.replace("contrastive", "contrastive, log_ratio"),
            "2: log_ratio compares label distances, and the data set glyphs has classes only: "
            "give it a file of label_distances, or use glyph_masks",
        ),
        (
            CONTINUOUS.replace("log_ratio", "log_ratio, contrastive"),
            "2: contrastive learns classes, and the data set glyph_masks is retrieved by label "
            "distance: use a loss that needs label_distances, such as log_ratio",
        ),
        (
            CLASSES.replace("contrastive", "softmax") + "training: {sampler: label_neighbours}\n",
            "4: sampler label_neighbours compares label distances, and the data set glyphs has "
            "classes only",
        ),
        (
            CONTINUOUS + "training: {sampler: label_neighbours, batch_size: 6}\n",
            "4: training.batch_size must be at least 7 for label_neighbours; got 6",
        ),
    ],
)
def test_data_sets_losses_and_batches_have_one_task(tmp_path, text, message):
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:{message}"])


def test_a_sum_may_hold_a_loss_on_classes_and_one_on_label_distances(tmp_path):
    text = CONTINUOUS.replace("[log_ratio]", "[{sum: {log_ratio: 1, contrastive: 0.1}}]")
    assert load(tmp_path, text).loss_names == ("log_ratio+contrastive",)


def test_a_file_of_label_distances_makes_the_study_continuous(tmp_path):
    np.save(tmp_path / "poses.npy", np.arange(24 * 4))
    options = f"classes: 24, instances_per_class: 4, label_distances: {tmp_path}/poses.npy"
    text = CONTINUOUS.replace("glyph_masks", f"{{name: glyphs, {options}}}")
    text += "protocol: {val_fraction: 0.25}\n"
    assert task_of(load(tmp_path, text)) == "continuous"
    np.save(tmp_path / "poses.npy", np.arange(7))
    (message,) = problems_of(tmp_path, text)
    assert "must have one row for each of the 96 images" in message


def test_the_study_of_glyph_masks_loads():
    study = load_study(Path(__file__).parents[3] / "studies" / "glyph-masks.yaml", ())
    assert task_of(study) == "continuous"
