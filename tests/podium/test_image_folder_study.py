"""``podium init --data``: a look at a folder of images, and a study of it that works."""

import numpy as np
import pytest
import torch
from PIL import Image

import podium
from podium.image_folder_study import folder_study_texts
from podium.orchestrator.study_validation.load_study import load_study
from podium.trainables.network import initial_weights
from tests.podium.calling import call
from tests.trainables.backbone_names import made
from tests.trainables.dataset_readers.miniatures import KINDS, make_tree


def write_images(root, classes, each):
    for number in range(classes):
        folder = root / f"class-{number:03}"
        folder.mkdir(parents=True)
        for index in range(each):
            Image.fromarray(np.full((40, 50, 3), index, np.uint8)).save(folder / f"{index}.png")
    return root


def first_text(root, backbone="conv_small"):
    return next(folder_study_texts(root, "s", backbone))


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
    (tmp_path / "s.yaml").write_text(first_text(root))
    study = load_study(tmp_path / "s.yaml")  # which refuses splits that do not fit
    assert study.protocols[0].kind == protocol
    stopping = study.search.early_stopping.kind
    assert (stopping == "folds") == (protocol == "kfold"), (
        "as docs/reference/study-file.md advises"
    )
    chosen = study.training.overrides
    assert (chosen["batch_size"], chosen["samples_per_class"]) == batch


@pytest.mark.parametrize("backbone", [made("efficientnet_lite0"), "conv_small"])
def test_a_study_of_a_machine_without_a_gpu_ends_within_the_hour_and_runs(
    capsys, tmp_path, monkeypatch, backbone
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    if backbone == "conv_small":
        monkeypatch.setattr(initial_weights, "find_spec", lambda name: None)
    write_images(tmp_path / "images", 150, 2)
    called = call(capsys, "init", "mine.yaml", "--data", "images/../images")
    assert called.code == 0
    told = "The network is conv_small, which knows no pictures yet: backbone efficientnet_lite0"
    assert called.err.startswith(told) == (backbone == "conv_small")
    text = (tmp_path / "mine.yaml").read_text()
    assert f"root: '{tmp_path}/images'" in text
    assert f"backbones: [{backbone}]" in text
    assert 0 < podium.load("mine.yaml").plan().record["hours"] <= 1
    quick = (
        "search.trials=1",
        "final.seeds=1",
        "training.epochs=1",
        "losses=[contrastive,proxy_anchor]",
    )
    assert podium.load("mine.yaml", overrides=quick).run(local=True)


def test_with_a_gpu_the_study_fine_tunes_a_large_network(tmp_path):
    text = first_text(write_images(tmp_path / "images", 12, 3), "resnet50")
    (tmp_path / "s.yaml").write_text(text)
    study = load_study(tmp_path / "s.yaml")
    assert [it.name for it in study.backbones] == ["resnet50"]
    assert study.resources.gpus_per_trial == 1


@pytest.mark.parametrize("kind", sorted({*KINDS} - {"folder"}))
def test_a_published_data_set_is_known_by_its_layout(tmp_path, kind):
    (tmp_path / "s.yaml").write_text(first_text(make_tree(kind, tmp_path / "images")))
    (dataset,) = load_study(tmp_path / "s.yaml").datasets
    assert dataset.name == kind.removesuffix("_devkit")
    assert dataset.options["allow_partial"] is True, "it is a part of what was published"


def test_images_that_are_seen_through_are_laid_on_white(tmp_path):
    root = write_images(tmp_path / "images", 12, 3)
    Image.new("RGBA", (40, 50), (9, 9, 9, 9)).save(root / "class-000" / "0.png")
    text = first_text(root)
    assert "# 1 image has transparent pixels, which are laid on white." in text
    assert "transparency: white}]" in text


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
