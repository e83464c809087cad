from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from podium.trainables.backbones.conv_small import ConvSmall
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.image_files import images_below
from podium.trainables.saved_models.model_file import Transform
from podium.trainables.saved_models.trained_model import TrainedModel, load_model
from podium.trainables.settings.trial_settings import DatasetSettings, ProtocolSettings
from podium.trainables.trial.run_trial import run_trial
from tests.trainables.tiny_trials import tiny_trial


@pytest.fixture(scope="module")
def kept(cache_folder):
    settings, kept = tiny_trial(cache_folder, epochs=1), []
    list(run_trial(settings, keep=kept.append))
    return settings, kept[0]


@pytest.fixture(scope="module")
def model_file(kept, tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "model.safetensors"
    file.write_bytes(kept[1].model.to_bytes())
    return file


def test_a_backbone_starts_from_a_model_file(kept, model_file):
    backbone = ConvSmall(str(model_file)).state_dict()
    weights = kept[1].model.weights
    assert backbone.keys() == {
        name.removeprefix("backbone.") for name in weights if name.startswith("backbone.")
    }
    assert all(torch.equal(backbone[name], weights[f"backbone.{name}"]) for name in backbone)


def of_photographs(kept):
    """A network as if it had been trained on crops of 32 from a shorter side of 40."""
    transform = Transform(channels=3, height=32, width=32, evaluation_crop=0.8)
    return TrainedModel(replace(kept[1].model, transform=transform))


def photograph(folder, name, *, size=(61, 47), mode="RGB"):
    drawn = np.random.default_rng(len(name)).integers(0, 256, (size[1], size[0], 3), np.uint8)
    file = folder / name
    Image.fromarray(drawn).convert(mode).save(file)
    return file


def test_files_of_the_test_images_give_the_test_embeddings_bit_for_bit(kept, model_file, tmp_path):
    settings, artifacts = kept
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    for place, index in enumerate(artifacts.embeddings.indices_N.tolist()):
        Image.fromarray(dataset.pixels.image(index)).save(tmp_path / f"{place:04d}.png")
    found_ND = load_model(model_file).embed_files(images_below(tmp_path))
    assert found_ND.dtype == np.float32
    assert np.array_equal(found_ND, artifacts.embeddings.embeddings_ND)


def untrained_on_photographs(folder, **training):
    """12 classes of two photographs, resized in a cache folder of their own."""
    for place, size in enumerate([(50, 41), (64, 64), (37, 80)] * 8):
        of_class = folder / "photographs" / f"class {place // 2:02d}"
        of_class.mkdir(parents=True, exist_ok=True)
        photograph(of_class, f"n{'n' * place}.jpg", size=size)
    settings = tiny_trial(str(folder / "cache"), loss="untrained", epochs=0, image_size=32)
    return replace(
        settings,
        dataset=DatasetSettings(name="folder", options={"root": str(folder / "photographs")}),
        protocol=ProtocolSettings(val_fraction=0.4),
        training=replace(settings.training, augmentation="random_resized_crop", **training),
    )


@pytest.mark.parametrize("cache", ["resized", "none"])
def test_files_of_the_test_images_of_photographs_give_the_test_embeddings_bit_for_bit(
    tmp_path, cache
):
    settings = untrained_on_photographs(tmp_path, cache=cache, evaluation_crop=0.8)
    kept = []
    list(run_trial(settings, keep=kept.append))
    model, embeddings = kept[0].model, kept[0].embeddings
    assert model.transform == Transform(channels=3, height=32, width=32, evaluation_crop=0.8)
    assert embeddings.image_names[0] == f"class 06/n{'n' * 12}.jpg"
    files = [tmp_path / "photographs" / name for name in embeddings.image_names]
    found_ND = TrainedModel(model).embed_files(files)
    assert np.array_equal(found_ND, embeddings.embeddings_ND)


def test_one_by_one_or_together_gives_the_same_embeddings(kept, tmp_path):
    model = of_photographs(kept)
    files = [photograph(tmp_path, f"{'x' * count}.png") for count in range(1, 8)]
    together_ND = model.embed_files(files)
    alone_ND = np.concatenate([model.embed_files([str(file)]) for file in files])
    np.testing.assert_allclose(together_ND, alone_ND, rtol=1e-4, atol=1e-5)
    assert len(np.unique(together_ND, axis=0)) == len(files)


def test_no_images_give_no_embeddings(model_file):
    assert load_model(model_file).embed_files([]).shape == (0, 16)


def test_an_image_of_another_size_is_reported_where_none_is_resized(model_file, tmp_path):
    file = photograph(tmp_path, "large.png", size=(64, 32))
    model = load_model(model_file)
    with pytest.raises(TrialInputError, match=r"large\.png is 64 x 32; .* images of 32 x 32"):
        model.embed_files([file])


def test_broken_and_missing_images_are_reported(kept, tmp_path):
    whole = photograph(tmp_path, "whole.png")
    cut = tmp_path / "cut.png"
    cut.write_bytes(whole.read_bytes()[:200])
    model = of_photographs(kept)
    with pytest.raises(TrialInputError, match=r"none\.png cannot be read: No such file"):
        model.embed_files([whole, tmp_path / "none.png"])
    with pytest.raises(TrialInputError, match=r"cut\.png cannot be decoded"):
        model.embed_files([whole, cut])


def test_a_network_for_vectors_takes_no_images(kept, tmp_path):
    model = TrainedModel(replace(kept[1].model, transform=None))
    with pytest.raises(TrialInputError, match="takes vectors of None features, not images"):
        model.embed_files([photograph(tmp_path, "a.png")])


def test_a_module_that_a_file_names_is_imported_only_on_trust(kept, tmp_path, monkeypatch):
    (tmp_path / "named_by_a_file.py").write_text(
        f"import pathlib; pathlib.Path({str(tmp_path)!r}, 'ran').touch()\n"
        "from podium.trainables.backbones.conv_small import ConvSmall\n"
        "class Stranger(ConvSmall): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    settings = kept[1].model.settings
    backbone = replace(settings.backbone, name="named_by_a_file:Stranger")
    model = replace(kept[1].model, settings=replace(settings, backbone=backbone))
    file = tmp_path / "stranger.safetensors"
    file.write_bytes(model.to_bytes())
    with pytest.raises(TrialInputError, match=r"import path named_by_a_file:Stranger: .*--trust"):
        load_model(file)
    assert not (tmp_path / "ran").exists()
    trusted = load_model(file, trust_code=True)
    assert (tmp_path / "ran").exists()
    image = photograph(tmp_path, "a.png", size=(32, 32))
    expected_ND = TrainedModel(kept[1].model).embed_files([image])
    assert np.array_equal(trusted.embed_files([image]), expected_ND)


@pytest.mark.parametrize("embedding_dim", [17, 10**12, -1, "16"])
def test_a_file_that_does_not_fit_itself_makes_no_network(kept, tmp_path, embedding_dim):
    model = kept[1].model
    file = tmp_path / "model.safetensors"
    settings = replace(model.settings, embedding_dim=embedding_dim)
    file.write_bytes(replace(model, settings=settings).to_bytes())
    with pytest.raises(TrialInputError, match=r"its embedding layer has the shape \(16, 1024\)"):
        load_model(file)


def test_test_images_are_resized_in_the_cache_folder_of_the_trial(tmp_path):
    settings, cache, kept = untrained_on_photographs(tmp_path), tmp_path / "cache", []
    list(run_trial(settings, keep=kept.append))
    before = sorted(cache.rglob("*"))
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    again_ND, _ = TrainedModel(kept[0].model).embed_test(dataset, settings.cache_folder)
    assert np.array_equal(again_ND.numpy(), kept[0].embeddings.embeddings_ND)
    assert sorted(cache.rglob("*")) == before
