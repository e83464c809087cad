"""``podium init --data``: a look at a folder of images, and a study of it that works."""

import numpy as np
import pytest
from PIL import Image

from orchestrator.study_validation.load_study import load_study
from podium.errors import PodiumError
from podium.image_folder_study import folder_study_text
from tests.podium.calling import call


def write_images(root, classes, each):
    for number in range(classes):
        folder = root / f"class-{number:03}"
        folder.mkdir(parents=True)
        for index in range(each):
            Image.fromarray(np.full((40, 50, 3), index, np.uint8)).save(folder / f"{index}.png")
    return root


@pytest.mark.parametrize(
    ("classes", "each", "protocol", "batch"),
    [
        (8, 2, "kfold", (4, 2)),
        (9, 3, "kfold", (6, 3)),
        (30, 5, "kfold", (48, 4)),
        (80, 4, "fixed", (64, 4)),
    ],
)
def test_splits_and_batches_fit_the_classes(tmp_path, classes, each, protocol, batch):
    root = write_images(tmp_path / "it's mine", classes, each)
    (tmp_path / "s.yaml").write_text(folder_study_text(root, "s"))
    study = load_study(tmp_path / "s.yaml")  # which refuses splits that do not fit
    assert study.protocols[0].kind == protocol
    chosen = study.training.overrides
    assert (chosen["batch_size"], chosen["samples_per_class"]) == batch


def test_the_study_of_a_folder_can_be_planned_at_once(capsys, tmp_path):
    root, file = write_images(tmp_path / "images", 12, 3), tmp_path / "mine.yaml"
    assert call(capsys, "init", file, "--data", root).code == 0
    planned = call(capsys, "plan", file)
    assert planned.code == 0
    assert "Study mine: 1 block x 3 losses" in planned.out
    assert "image files switch on the recipe psomas2020" in " ".join(planned.out.split())


@pytest.mark.parametrize(
    ("classes", "each", "told"),
    [
        (0, 0, "folder"),
        (5, 2, "2 classes to train and validate on and 3 to test on are too few"),
        (8, 1, "each class of train has a single image"),
    ],
)
def test_a_folder_of_which_no_study_can_be_made_is_refused(capsys, tmp_path, classes, each, told):
    root = tmp_path / "images"
    root.mkdir()
    write_images(root, classes, each)
    refused = call(capsys, "init", tmp_path / "mine.yaml", "--data", root)
    assert refused.code == 2
    assert told in refused.err
    assert not (tmp_path / "mine.yaml").exists()


def test_an_image_that_cannot_be_read_is_named(tmp_path):
    root = write_images(tmp_path / "images", 8, 3)
    (root / "class-003" / "1.png").write_bytes(b"no image")
    with pytest.raises(PodiumError, match=r"1 of 24 images cannot be read, such as .*1\.png"):
        folder_study_text(root, "s")
