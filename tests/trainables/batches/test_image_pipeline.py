import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import CenterCrop, Compose, Resize

from podium.trainables.batches.cpu_batches import HostBatches
from podium.trainables.batches.device_batches import DeviceBatches
from podium.trainables.batches.image_pipeline import ImageInput
from podium.trainables.dataset_interface.dataset import Dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.file_caches.decoded_pixels import ArrayPixels
from podium.trainables.file_caches.feature_vectors import FeatureVectors
from podium.trainables.file_caches.image_files import ImageFiles
from podium.trainables.settings.training_settings import TrainingSettings
from tests.trainables.small_photographs import photograph

SIZES = [(60, 80), (75, 60), (30, 44)]
ROLE = np.array([2, 0])


class Small(Dataset):
    name = "small"

    def __init__(self, pixels):
        super().__init__(
            class_names=["a"], test_class_names=set(), labels=np.zeros(3, int), pixels=pixels
        )

    @classmethod
    def facts(cls, options):
        raise NotImplementedError

    @classmethod
    def load(cls, options, cache_folder):
        raise NotImplementedError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    paths = [folder / f"{number}.png" for number in range(len(SIZES))]
    for seed, (path, size) in enumerate(zip(paths, SIZES, strict=True)):
        Image.fromarray(photograph(*size, seed)).save(path)
    return Small(ImageFiles(paths, folder / "cache"))


@pytest.fixture(scope="module")
def arrays():
    images_NHW = np.random.default_rng(0).integers(1, 256, (3, 8, 8), dtype=np.uint8)
    return Small(ArrayPixels(images_NHW))


def image_input(tmp_path, *, image_size=32, **training):
    return ImageInput(
        training=TrainingSettings(
            **{"augmentation": "random_resized_crop", "evaluation_crop": 0.8, **training}
        ),
        image_size=image_size,
        device=torch.device("cpu"),
        num_threads=2,
        cache_folder=str(tmp_path),
    )


@pytest.mark.parametrize(
    ("training", "kind", "is_cached"),
    [
        ({}, HostBatches, True),
        ({"cache": "none"}, HostBatches, False),
        ({"loader": "device"}, DeviceBatches, True),
    ],
)
def test_files_are_evaluated_as_torchvision_does_whatever_the_loader_and_the_cache(
    files, tmp_path, training, kind, is_cached
):
    batches = image_input(tmp_path, **training).batches(files, ROLE)
    assert isinstance(batches, kind)
    (images,) = batches.evaluation()
    steps = Compose([Resize(40), CenterCrop(32)])
    for image, index in zip(images, ROLE, strict=True):
        expected = np.asarray(steps(Image.fromarray(photograph(*SIZES[index], index))))
        assert np.array_equal(image.permute(1, 2, 0).numpy(), expected)
    assert bool(list(tmp_path.rglob("*-40.rgb"))) == is_cached


def test_the_smallest_crop_is_that_of_the_recipe(files, tmp_path):
    whole = image_input(tmp_path, crop_scale_min=1.0, cache="none").batches(files, ROLE)
    parts = image_input(tmp_path, crop_scale_min=0.01, cache="none").batches(files, ROLE)
    # Small parts, enlarged, are smoother from pixel to pixel.
    roughness = [
        torch.cat(list(batches.training([np.array([0, 1] * 8)], 0, 1))).float().diff().abs().mean()
        for batches in (whole, parts)
    ]
    assert roughness[0] > 1.3 * roughness[1]


@pytest.mark.parametrize("loader", ["host", "device"])
def test_without_augmentation_training_images_are_those_of_evaluation(files, tmp_path, loader):
    batches = image_input(tmp_path, augmentation="none", loader=loader).batches(files, ROLE)
    (trained,) = batches.training([np.array([0, 1])], 0, 1)
    (evaluated,) = batches.evaluation()
    assert torch.equal(trained, evaluated)


@pytest.mark.parametrize("augmentation", ["shift", "none"])
def test_arrays_are_shifted_or_left_as_they_are(arrays, tmp_path, augmentation):
    batches = image_input(tmp_path, image_size=None, augmentation=augmentation).batches(
        arrays, ROLE
    )
    (evaluated,) = batches.evaluation()
    assert np.array_equal(evaluated[:, 0].numpy(), arrays.pixels.images_NHW[ROLE])
    (trained,) = batches.training([np.array([0, 1] * 9)], 0, 1)
    assert torch.equal(trained, evaluated.repeat(9, 1, 1, 1)) == (augmentation == "none")


def test_vectors_are_passed_on(tmp_path):
    values_NF = np.arange(6, dtype=np.float32).reshape(3, 2)
    dataset = Small(FeatureVectors(values_NF))
    (vectors,) = image_input(tmp_path, image_size=None).batches(dataset, ROLE).evaluation()
    assert np.array_equal(vectors.numpy(), values_NF[ROLE])


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("files", {"image_size": None}, "small needs an image_size"),
        (
            "files",
            {"augmentation": "shift"},
            "must be 'random_resized_crop', 'random_crop' or 'none' for small; got 'shift'",
        ),
        ("files", {"loader": "device", "cache": "none"}, "the loader must be 'host'"),
        ("arrays", {"image_size": 8}, "image_size must be null for small, .* got 8"),
        (
            "arrays",
            {"image_size": None, "augmentation": "random_resized_crop"},
            "must be 'shift' or 'none' for small; got 'random_resized_crop'",
        ),
    ],
)
def test_choices_that_do_not_go_with_the_images_are_refused(
    request, tmp_path, kind, changes, message
):
    dataset = request.getfixturevalue(kind)
    with pytest.raises(TrialInputError, match=message):
        image_input(tmp_path, **changes).batches(dataset, ROLE)
    assert list(tmp_path.iterdir()) == []
