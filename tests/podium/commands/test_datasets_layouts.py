import numpy as np

from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.podium.calling import call

SMALL = {"classes": 8, "instances_per_class": 2, "size": 16}


def saved(path, array):
    np.save(path, array)
    return path


def test_it_writes_what_a_data_set_reads(capsys, tmp_path):
    layouts = np.random.default_rng(0).integers(0, 3, (16, 4, 4), dtype=np.uint8)
    output = tmp_path / "distances.npy"
    called = call(
        capsys, "datasets", "layouts", saved(tmp_path / "layouts.npy", layouts), "--output", output
    )
    assert called.code == 0
    assert f"Wrote the distances of 16 layouts to {output}, from 0 to 0." in called.out
    options = {**SMALL, "label_distances": str(output)}
    dataset = load_dataset(DatasetSettings(name="glyphs", options=options), str(tmp_path))
    every = np.arange(16)
    assert dataset.task == "continuous"
    np.testing.assert_array_equal(
        dataset.label_distances.between(every, every), np.load(output).astype(float)
    )


def test_what_are_no_layouts_is_one_error_and_leaves_no_file(capsys, tmp_path):
    text = tmp_path / "text.npy"
    text.write_text("no array")
    vectors = saved(tmp_path / "vectors.npy", np.zeros((3, 4)))
    output = tmp_path / "distances.npy"
    for file, message in (
        (text, "layouts must be a .npy file"),
        (tmp_path / "missing.npy", "layouts must be a .npy file"),
        (vectors, "layouts must have the shape (images, height, width)"),
    ):
        called = call(capsys, "datasets", "layouts", file, "--output", output)
        assert called.code == 2
        assert message in called.err
        assert not output.exists()
