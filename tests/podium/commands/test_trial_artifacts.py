"""export and embed on a study that was really trained."""

import csv
import os
from collections import Counter
from dataclasses import replace
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from podium.arguments.trial_argument import InStudies, stored_trial
from podium.errors import PodiumError
from podium.kept_files.embeddings_file import read_embeddings
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.study.study import StudyLoss
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.saved_models.model_file import read_model
from podium.trainables.settings.trial_settings import DatasetSettings
from tests.orchestrator.small_study import run_here, with_search
from tests.podium.calling import call
from tests.podium.kept_studies import DATASET, files_of, trial_of


def test_export_copies_the_weights_and_says_what_they_are(capsys, storage, here, tmp_path):
    trial_id = trial_of(storage)
    file = tmp_path / "w.safetensors"
    called = call(capsys, "trial", "export", trial_id[:9], "--output", file, *here)
    assert called.code == 0
    source, _ = files_of(storage, trial_id)
    assert file.read_bytes() == source.read_bytes()
    model = read_model(file)
    assert model.origin["trial_id"] == trial_id
    (recall,) = [s["value"] for s in model.scores if (s["metric"], s["k"]) == ("recall", 1)]
    assert f"conv_small with 8 dimensions, contrastive on glyphs-greek, epoch {model.epoch}, " in (
        called.out
    )
    assert f"test Recall@1 {recall:.4f}" in called.out


def test_export_overwrites_nothing(capsys, storage, here, tmp_path):
    file = tmp_path / "w.safetensors"
    file.write_text("mine")
    called = call(capsys, "trial", "export", trial_of(storage), "--output", file, *here)
    assert called.code == 2
    assert "exists already" in called.err
    assert file.read_text() == "mine"
    nowhere = tmp_path / "none" / "w"
    called = call(capsys, "trial", "export", trial_of(storage), "--output", nowhere, *here)
    assert (called.code, "folder that exists" in called.err) == (2, True)


def test_a_trial_is_named_by_its_beginning_if_only_one_starts_so(storage):
    ids = Reader(storage / "tiny").trials().collect()["trial_id"].to_list()
    assert stored_trial(ids[0][:12], [storage / "tiny"]).trial_id == ids[0]
    with pytest.raises(PodiumError, match=f"no trial '{ids[0]}0'"):
        stored_trial(ids[0] + "0", [storage / "tiny"])
    with pytest.raises(PodiumError, match="no trial ''"):
        stored_trial("", [storage / "tiny"])


def test_a_beginning_that_several_trials_share_is_reported(tmp_path):
    study = replace(
        with_search(trials=14), embedding_dims=(8,), losses=(StudyLoss("contrastive"),)
    )
    run_here(study, tmp_path)
    folder = tmp_path / study.name
    ids = sorted(Reader(folder).trials().collect()["trial_id"])
    assert len(ids) > 16  # so that two start with the same of 16 digits
    digit, many = max(Counter(name[0] for name in ids).items(), key=itemgetter(1))
    first = next(name for name in ids if name[0] == digit)
    with pytest.raises(PodiumError, match=f"ids of {many} trials start with '{digit}': {first}, "):
        stored_trial(digit, [folder])


def test_a_trial_of_several_studies_is_found_where_it_left_something(capsys, storage, tmp_path):
    trial_id = trial_of(storage)
    assert len(stored_trial(trial_id, InStudies(storage=storage).folders()).folders) == 3
    file = tmp_path / "w.safetensors"
    everywhere = ("--storage", storage)
    assert call(capsys, "trial", "export", trial_id, "--output", file, *everywhere).code == 0


@pytest.mark.parametrize(
    ("stage", "study", "told"),
    [
        ("search", "tiny", "is of the stage search; only final trials leave weights"),
        ("baseline", "tiny", "is of the stage baseline; only final trials leave weights"),
        ("final", "nothing", "they were deleted, or switched off by the study's `keep`"),
    ],
)
def test_weights_that_no_trial_left_are_reported(capsys, storage, tmp_path, stage, study, told):
    trial_id = trial_of(storage, stage, study)
    words = ("--output", tmp_path / "x", "--study", storage / study)
    called = call(capsys, "trial", "export", trial_id, *words)
    assert called.code == 2
    assert told in called.err


def photographs(folder, count, size=(32, 32)):
    for place in range(count):
        drawn = np.random.default_rng(place).integers(0, 256, (size[1], size[0]), np.uint8)
        Image.fromarray(drawn).save(folder / f"{place}.png")


def test_embedding_the_test_images_again_gives_the_stored_embeddings(
    capsys, storage, here, tmp_path
):
    trial_id = trial_of(storage)
    stored = read_embeddings(files_of(storage, trial_id)[1])
    dataset = load_dataset(DatasetSettings(name="glyphs", options=DATASET), None)
    for place, index in enumerate(stored.indices_N.tolist()):
        folder = tmp_path / f"{place // 10:02d}"
        folder.mkdir(exist_ok=True)
        Image.fromarray(dataset.pixels.image(index)).save(folder / f"{place:03d}.png")
    (tmp_path / "notes.txt").write_text("no image")
    output = tmp_path / "e.npz"
    called = call(capsys, "trial", "embed", trial_id, tmp_path, "--output", output, *here)
    assert (called.code, called.err) == (0, "")
    assert f"Wrote {len(stored.labels_N)} embeddings of 8 dimensions" in called.out
    with np.load(output, allow_pickle=False) as found:
        assert np.array_equal(found["embeddings"], stored.embeddings_ND)
        assert found["paths"][10] == "01/010.png"


def test_csv_holds_the_same_bits(capsys, storage, here, tmp_path):
    photographs(tmp_path, 3)
    trial_id = trial_of(storage)
    for name in ("e.npz", "e.csv"):
        arguments = ("trial", "embed", trial_id, tmp_path, "--output", tmp_path / name, *here)
        assert call(capsys, *arguments).code == 0
    with (tmp_path / "e.csv").open() as file:
        header, *rows = csv.reader(file)
    assert header == ["path", *map(str, range(1, 9))]
    with np.load(tmp_path / "e.npz") as found:
        assert [row[0] for row in rows] == found["paths"].tolist()
        numbers = np.array([row[1:] for row in rows], dtype=np.float32)
        assert np.array_equal(numbers, found["embeddings"])


def test_names_that_are_no_text_come_back_as_they_are(capsys, storage, here, tmp_path):
    photographs(tmp_path, 1)
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff,\n.png"))
    (tmp_path / "0.png").rename(odd)
    output = tmp_path / "e.csv"
    words = ("trial", "embed", trial_of(storage), tmp_path, "--output", output)
    assert call(capsys, *words, *here).code == 0
    with output.open(errors="surrogateescape", newline="") as file:
        assert [row[0] for row in csv.reader(file)] == ["path", odd.name]


def test_a_file_with_code_of_another_author_is_embedded_only_on_trust(
    capsys, storage, here, tmp_path, monkeypatch
):
    (tmp_path / "from_elsewhere.py").write_text(
        "from podium.trainables.backbones.conv_small import ConvSmall as Network\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    model = read_model(files_of(storage, trial_of(storage))[0])
    backbone = replace(model.settings.backbone, name="from_elsewhere:Network")
    file = tmp_path / "w.safetensors"
    file.write_bytes(
        replace(model, settings=replace(model.settings, backbone=backbone)).to_bytes()
    )
    photographs(tmp_path, 1)
    arguments = ("trial", "embed", file, tmp_path, "--output", tmp_path / "e.npz")
    called = call(capsys, *arguments)
    assert called.code == 2
    assert "names its backbone by the import path from_elsewhere:Network" in called.err
    assert call(capsys, *arguments, "--trust-code").code == 0
