"""A study has one task, and its losses and batches are for it."""

import numpy as np
import pytest

from podium.orchestrator.study.defaults import task_of
from tests.orchestrator.study_files import assert_matches, cases, load, problems_of

CONTINUOUS = "study: x\nlosses: [log_ratio]\ndatasets: [glyph_masks]\n"
CLASSES = "study: x\nlosses: [contrastive]\ndatasets: [glyphs]\n"


@pytest.mark.parametrize(("text", "task"), [(CONTINUOUS, "continuous"), (CLASSES, "classes")])
def test_the_task_is_that_of_the_data_sets(tmp_path, text, task):
    assert task_of(load(tmp_path, text)) == task


# Losses, data sets, training, and what is wrong with them.
MIXED = """
[log_ratio, triplet] -> [glyphs, glyph_masks] -> {} -> 3: the data sets .* must have one task .*
[contrastive, log_ratio] -> [glyphs] -> {} -> 2: log_ratio compares label distances, and .*
[log_ratio, contrastive] -> [glyph_masks] -> {} -> 2: contrastive learns classes, .* use a loss .*
[nt_xent+nt_xent_poincare] -> [glyphs] -> {} -> 2: .* by several distances .*
[log_ratio+nt_xent_poincare] -> [glyph_masks] -> {} -> 2: .* by which only classes are retrieved
[softmax] -> [glyphs] -> {sampler: label_neighbours} -> 4: .* compares label distances, and .* only
[log_ratio] -> [glyph_masks] -> {sampler: label_neighbours, batch_size: 6} -> 4: .* at least 7 .*
"""


@pytest.mark.parametrize(("losses", "datasets", "training", "message"), cases(MIXED))
def test_data_sets_losses_and_batches_have_one_task(tmp_path, losses, datasets, training, message):
    text = f"study: x\nlosses: {losses}\ndatasets: {datasets}\ntraining: {training}\n"
    assert_matches(problems_of(tmp_path, text), [f"s.yaml:{message}"])


def test_a_sum_may_hold_a_loss_on_classes_and_one_on_label_distances(tmp_path):
    text = CONTINUOUS.replace("[log_ratio]", "[log_ratio+contrastive]")
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
