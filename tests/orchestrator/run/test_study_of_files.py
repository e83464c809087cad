"""A study of image files from its file to its rows, with simulated training."""

import json
import shutil

import pytest
from PIL import Image

from podium.errors import PodiumError
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


def write_place(place):
    """A folder with data and weights, both of which may be moved."""
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


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of the place, its cache and the results of a study that nothing changes."""
    folder = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        study = study_at(write_place(folder / "place"))
        assert run_here(study, folder / "results").progress.failed == 0
    return folder


@pytest.fixture
def moved(finished, tmp_path, monkeypatch):
    """A copy of all that, whose data and weights lie elsewhere than they did."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return shutil.copytree(finished, tmp_path / "moved")


@pytest.fixture(scope="module")
def trials(finished):
    return rows(finished / "results", study_at(finished / "place"))


def test_images_are_resized_for_every_size_before_trials_start(finished):
    made = {path.name.split("-")[-1] for path in (finished / "cache").rglob("*.rgb")}
    assert made == {"73.rgb", "110.rgb"}  # training was simulated: no trial has made them


def test_a_broken_image_is_reported_before_trials_start(moved):
    broken = moved / "place" / "data" / "class3" / "1.png"
    broken.write_bytes(broken.read_bytes()[:60])
    with pytest.raises(TrialInputError, match=r"class3/1\.png"):
        run_here(study_at(moved / "place"), moved / "new")
    assert not list((moved / "new").rglob("*.parquet"))


def test_rows_tell_image_size_and_weights(trials):
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


def test_the_first_trial_of_a_search_is_what_the_recipe_gives_its_loss(trials):
    first = trials.filter(stage="search", index=0, loss="arcface", image_size=64).row(
        0, named=True
    )
    assert first["is_default"]
    assert (first["hp.scale"], first["hp.sampler"]) == (64.0, "random")
    other = trials.filter(stage="search", index=0, loss="contrastive").row(0, named=True)
    assert other["hp.sampler"] is None


def test_moved_data_and_weights_change_no_trial(moved, trials):
    study = study_at(moved / "place")
    run_here(study, moved / "results")
    assert rows(moved / "results", study).equals(trials)


def test_other_weights_in_the_file_are_refused_and_are_other_trials(moved, trials):
    (moved / "place" / "w.pth").write_bytes(b"other weights")
    study = study_at(moved / "place")
    with pytest.raises(PodiumError, match="the weights of resnet18 changed since this study"):
        run_here(study, moved / "results")
    run_here(study, moved / "other")
    assert set(trials["trial_id"]).isdisjoint(rows(moved / "other", study)["trial_id"])
