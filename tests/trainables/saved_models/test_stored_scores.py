"""What is computed of stored embeddings is what the trial reported."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from podium.kept_files.embeddings_file import read_embeddings
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.saved_models.stored_scores import known_metrics, stored_scores
from podium.trainables.settings.trial_settings import DatasetSettings, ProtocolSettings
from podium.trainables.trial.run_trial import run_trial
from tests.trainables.tiny_trials import masks, tiny_trial


def left_by(settings, folder):
    """The scores of the test, and the embeddings as they are read again."""
    kept = []
    *_, report = run_trial(settings, keep=kept.append)
    file = folder / "e.safetensors"
    file.write_bytes(kept[0].embeddings.to_bytes())
    return report.scores, read_embeddings(file)


def no_dataset():
    raise AssertionError("the data set is not needed")


def again(file, reported, dataset=no_dataset):
    names = tuple(dict.fromkeys(score.metric for score in reported))
    ks = tuple(dict.fromkeys(score.k for score in reported if score.k is not None))
    return stored_scores(file, names, ks, dataset=dataset)


@pytest.mark.parametrize(
    ("loss", "geometry"),
    [
        ("contrastive", "cosine"),
        ("nt_xent_euclidean", "euclidean"),
        ("nt_xent_poincare", "poincare"),
    ],
)
def test_metrics_of_classes_come_out_the_same_without_the_data_set(
    cache_folder, tmp_path, loss, geometry
):
    reported, file = left_by(tiny_trial(cache_folder, loss=loss, epochs=1), tmp_path)
    assert file.geometry == geometry
    by_cosine = again(replace(file, geometry="cosine"), reported)
    assert (by_cosine == reported) == (geometry == "cosine")
    assert len(reported) > 4
    assert again(file, reported) == reported
    assert known_metrics(file)[0] == "recall"


@pytest.mark.parametrize("loss", ["log_ratio", "dense_triplet"])
def test_metrics_of_label_distances_come_out_the_same(cache_folder, tmp_path, loss):
    settings = masks(tiny_trial(cache_folder, epochs=1), loss)
    reported, file = left_by(settings, tmp_path)
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    assert again(file, reported, lambda: dataset) == reported
    assert known_metrics(file) == ("ndcg", "mean_label_distance")
    with pytest.raises(TrialInputError, match="unknown metric 'recall'; known: mean_label_distan"):
        stored_scores(file, ["recall"], [1], dataset=no_dataset)


def test_label_distances_of_other_images_are_refused(cache_folder, tmp_path):
    settings = tiny_trial(cache_folder, loss="untrained", epochs=0)
    of_masks = replace(settings.dataset, name="glyph_masks")
    _, file = left_by(replace(settings, dataset=of_masks), tmp_path)
    letters = load_dataset(settings.dataset, settings.cache_folder)
    with pytest.raises(TrialInputError, match="their label distances are not those of the trial"):
        stored_scores(file, ["ndcg"], [1], dataset=lambda: letters)


def test_a_gallery_that_never_asks_is_kept_apart(tmp_path):
    root = tmp_path / "shop"
    for role, classes in (("train", range(6)), ("query", range(6, 9)), ("gallery", range(6, 9))):
        for place in classes:
            folder = root / role / f"class {place}"
            folder.mkdir(parents=True)
            for number in range(2):
                seed = 100 * place + 10 * len(role) + number
                drawn = np.random.default_rng(seed).integers(0, 256, (40, 40, 3), np.uint8)
                Image.fromarray(drawn).save(folder / f"{role} {number}.png")
    settings = tiny_trial(str(tmp_path / "cache"), loss="untrained", epochs=0, image_size=32)
    settings = replace(
        settings,
        dataset=DatasetSettings(name="folder", options={"root": str(root)}),
        protocol=ProtocolSettings(val_fraction=0.4),
        training=replace(settings.training, augmentation="random_resized_crop"),
    )
    reported, file = left_by(settings, tmp_path)
    assert file.is_gallery_N.sum() == 6
    from_gallery = [name.startswith("gallery/") for name in file.image_names]
    assert file.is_gallery_N.tolist() == from_gallery
    assert reported[0].queries == 6
    assert again(file, reported) == reported


def test_strict_counts_queries_that_have_nothing_to_find(cache_folder, tmp_path):
    _, file = left_by(tiny_trial(cache_folder, loss="untrained", epochs=0), tmp_path)
    labels_N = file.labels_N.copy()
    labels_N[:40] = np.arange(40) + 1000  # in classes of their own
    alone = replace(file, labels_N=labels_N)
    (lenient,) = stored_scores(alone, ["recall"], [1], dataset=no_dataset)
    (strict,) = stored_scores(alone, ["recall"], [1], strict=True, dataset=no_dataset)
    assert (lenient.queries, strict.queries) == (120, 160)
    assert strict.hits == lenient.hits


@pytest.mark.parametrize("ks", [[0], [1, -1]])
def test_a_k_below_1_is_refused(cache_folder, tmp_path, ks):
    _, file = left_by(tiny_trial(cache_folder, loss="untrained", epochs=0), tmp_path)
    with pytest.raises(TrialInputError, match="every K must be at least 1"):
        stored_scores(file, ["recall"], ks, dataset=no_dataset)
