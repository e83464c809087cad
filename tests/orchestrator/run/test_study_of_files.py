"""A study of image files from its file to its rows, with simulated training."""

import json
import shutil

import pytest
from PIL import Image

from podium.errors import PodiumError
from podium.trainables.dataset_interface.load_dataset import _load
from podium.trainables.errors import TrialInputError
from tests.orchestrator.small_study import rows, run_here
from tests.orchestrator.study_files import load

TEXT = """
study: files
datasets: [{name: folder, root: ROOT}]
backbones: [{name: resnet18, weights: WEIGHTS}]
embedding_dims: [8]
image_sizes: [64, 96]
losses: [contrastive, arcface]
protocol: {kind: fixed, val_fraction: 0.5}
search: {trials: 2, order: deterministic, early_stopping: none}
final: {seeds: 1}
training: {epochs: 2, batch_size: 4, samples_per_class: 2}
metrics: {k: [1, 2]}
"""


@pytest.fixture
def place(tmp_path):
    """A folder with data and weights, both of which may be moved."""
    place = tmp_path / "place"
    for number in range(8):
        folder = place / "data" / f"class{number}"
        folder.mkdir(parents=True)
        for index in range(3):
            colour = (30 * number, 80 * index, 100)
            Image.new("RGB", (100, 120), colour).save(folder / f"{index}.png")
    (place / "w.pth").write_bytes(b"weights")
    return place


def study_at(place):
    text = TEXT.replace("ROOT", str(place / "data")).replace("WEIGHTS", str(place / "w.pth"))
    return load(place.parent, text)


@pytest.fixture
def finished(tmp_path, place, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    study = study_at(place)
    assert run_here(study, tmp_path / "results").progress.failed == 0
    return study


def test_images_are_resized_for_every_size_before_trials_start(tmp_path, finished):
    made = {path.name.split("-")[-1] for path in (tmp_path / "cache").rglob("*.rgb")}
    assert made == {"73.rgb", "110.rgb"}  # training was simulated: no trial has made them


def test_a_broken_image_is_reported_before_trials_start(tmp_path, place, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    broken = place / "data" / "class3" / "1.png"
    broken.write_bytes(broken.read_bytes()[:60])
    study = study_at(place)
    with pytest.raises(TrialInputError, match=r"class3/1\.png"):
        run_here(study, tmp_path / "results")
    assert not list((tmp_path / "results").rglob("*.parquet"))


def test_rows_tell_image_size_and_weights(tmp_path, finished):
    trials = rows(tmp_path / "results", finished)
    assert set(trials["image_size"]) == {64, 96}
    dims = {f"folder/resnet18/8/{size}px" for size in (64, 96)}
    assert set(trials["block"]) == dims | {f"folder/resnet18/{size}px" for size in (64, 96)}
    (weights,) = set(trials["weights"])
    assert weights.startswith("sha256:")
    for row in trials.iter_rows(named=True):
        settings = json.loads(row["settings"])
        assert settings["image_size"] == row["image_size"]
        assert settings["training"]["recipe"] == "psomas2020"
        is_baseline = row["stage"] == "baseline"
        assert settings["training"]["epochs"] == (0 if is_baseline else 2)


def test_the_first_trial_of_a_search_is_what_the_recipe_gives_its_loss(tmp_path, finished):
    trials = rows(tmp_path / "results", finished)
    first = trials.filter(stage="search", index=0, loss="arcface", image_size=64).row(
        0, named=True
    )
    assert first["is_default"]
    assert (first["hp.scale"], first["hp.sampler"]) == (64.0, "random")
    other = trials.filter(stage="search", index=0, loss="contrastive").row(0, named=True)
    assert other["hp.sampler"] is None


def test_moved_data_and_weights_change_no_trial(tmp_path, place, finished):
    before = rows(tmp_path / "results", finished)
    moved = tmp_path / "elsewhere"
    shutil.move(place, moved)
    study = study_at(moved)
    run_here(study, tmp_path / "results")
    assert rows(tmp_path / "results", study).equals(before)


def test_other_weights_in_the_file_are_refused_and_are_other_trials(tmp_path, place, finished):
    before = set(rows(tmp_path / "results", finished)["trial_id"])
    (place / "w.pth").write_bytes(b"other weights")
    study = study_at(place)
    with pytest.raises(PodiumError, match="the weights of resnet18 changed since this study"):
        run_here(study, tmp_path / "results")
    run_here(study, tmp_path / "other")
    assert before.isdisjoint(rows(tmp_path / "other", study)["trial_id"])


def test_other_test_images_are_refused(tmp_path, place, finished):
    for file in (place / "data").rglob("0.png"):
        Image.new("RGB", (100, 120), (1, 2, 3)).save(file)
    load_again()
    with pytest.raises(PodiumError, match="the data set folder changed since this study"):
        run_here(study_at(place), tmp_path / "results")


def load_again():
    """A new process would not remember the data set."""
    _load.cache_clear()
