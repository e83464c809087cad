"""Studies of heads alone, from file to report, with real training in this process."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
import torchvision
from PIL import Image

from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.records.runs import read_runs
from podium.orchestrator.results.records.store_paths import StudyPaths
from podium.orchestrator.results.trial_files.reader import Reader
from podium.orchestrator.worker.worker import train
from podium.trainables.backbones.conv_small import ConvSmall
from podium.trainables.dataset_interface.load_dataset import load_dataset
from podium.trainables.errors import TrialInputError
from podium.trainables.reproducibility import derive_seed, reproducible
from podium.trainables.settings.trial_settings import TrialSettings
from tests.analysis.page_text import study_page
from tests.orchestrator.small_study import run_here
from tests.orchestrator.study_files import load, problems_of
from tests.trainables.feature_folder import write_feature_folder
from tests.trainables.small_photographs import photograph

RUN = """\
embedding_dims: [8]
losses: [contrastive, proxy_anchor]
protocol: {val_fraction: 0.34}
search: {trials: 1, early_stopping: none}
final: {seeds: 2}
"""
VECTORS = """\
study: vectors
datasets: [{{name: features, root: {root}}}]
backbones: [identity, mlp]
training: {{epochs: 2, batch_size: 16}}
"""
LETTERS = """\
study: letters
datasets: [{name: glyphs, classes: 24, instances_per_class: 4}]
backbones: [conv_small]
training: {mode: frozen_features, epochs: 2, batch_size: 16}
"""
FOLDER = """\
study: photographs
datasets: [{{name: folder, root: {root}}}]
backbones: [{{name: resnet18, weights: random}}]
image_sizes: [64]
training: {{mode: frozen_features, epochs: 2, batch_size: 8, samples_per_class: 2}}
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "podium"


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    return write_feature_folder(tmp_path_factory.mktemp("vectors"))


def photographs(root):
    for number in range(12):
        folder = root / f"class {number:02}"
        folder.mkdir(parents=True)
        for place in range(4):
            file = folder / f"{place}.jpg"
            Image.fromarray(photograph(70 + number, 90, 4 * number + place)).save(file)
    return root


def trained(study, storage):
    end = run_here(study, storage, InProcessExecutor(train))
    assert not end.interrupted
    trials = Reader(storage / study.name).trials().collect()
    assert set(trials["state"]) == {"COMPLETE"}
    assert set(trials["stage"]) == {"search", "final", "baseline"}
    return trials


def test_a_study_of_vectors_ends_in_a_report_without_pictures(vectors, tmp_path):
    study = load(tmp_path, VECTORS.format(root=vectors) + RUN, "final.seeds=1")
    trials = trained(study, tmp_path)
    assert set(trials["backbone"]) == {"identity", "mlp"}
    assert Reader(tmp_path / "vectors").test_retrievals().collect().is_empty()
    page = study_page(tmp_path / "vectors")
    assert "proxy_anchor" in page
    assert "data:image/png" not in page


def test_a_study_of_frozen_features_computes_them_once_for_each_network(cache, tmp_path):
    trained(load(tmp_path, LETTERS + RUN), tmp_path)
    files = list((cache / "features").glob("glyphs-*.npy"))
    # One network is drawn for the search, one for each of two seeds of the finals, which alone
    # are tested; the baseline shares theirs.
    assert sorted(len(np.load(file)) for file in files) == [48] * 5
    assert "data:image/webp" in study_page(tmp_path / "letters")


@pytest.mark.parametrize("data", ["vectors", "letters"])
def test_the_features_of_a_network_are_one_row_with_the_scores_of_plain_torch(
    data, vectors, tmp_path
):
    """Of two dimensions and two seeds; the oracle compares every image with every other."""
    text = VECTORS.format(root=vectors).replace(", mlp", "") if data == "vectors" else LETTERS
    if data == "letters":
        text = text.replace("mode: frozen_features, ", "")
    study = load(tmp_path, text + RUN, "embedding_dims=[8,16]", "losses=[contrastive]")
    (row,) = trained(study, tmp_path).filter(loss="features").to_dicts()
    assert (row["stage"], row["embedding_dim"]) == ("baseline", None)
    settings = TrialSettings.from_dict(json.loads(row["settings"]))
    dataset = load_dataset(settings.dataset, settings.cache_folder)
    tested = np.flatnonzero(np.isin(dataset.labels, dataset.test_classes))
    if data == "vectors":
        features = torch.from_numpy(dataset.vectors.rows(tested))
    else:
        seed = derive_seed(derive_seed(row["seed"], 0), "network")
        with reproducible(seed, 1), torch.no_grad():
            images = np.stack([dataset.pixels.image(index) for index in tested])
            features = ConvSmall().eval()(torch.from_numpy(images)[:, None])
    unit = torch.nn.functional.normalize(features.double(), dim=1)
    hits = 0
    for query, label in enumerate(dataset.labels[tested]):
        others = [other for other in range(len(unit)) if other != query]
        nearest = max(others, key=lambda other: float(unit[query] @ unit[other]))
        hits += dataset.labels[tested[nearest]] == label
    assert row["test_recall_at_1"] == hits / len(tested)


def test_a_resnet_gives_features_of_photographs(cache, tmp_path):
    root = photographs(tmp_path / "images")
    text = FOLDER.format(root=root) + RUN
    trained(load(tmp_path, text, "final.seeds=1", "losses=[contrastive]"), tmp_path)
    files = list((cache / "features").glob("folder-resnet18-*.npy"))
    assert {np.load(file).shape for file in files} == {(24, 512)}


def test_published_weights_that_cannot_be_had_are_refused_before_anything_is_written(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    folder = tmp_path / "torch" / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    (folder / "resnet18-f37072fd.pth").write_text("an error page")
    text = FOLDER.format(root=photographs(tmp_path / "images")).replace("random", "imagenet")
    study = load(tmp_path, text + RUN)
    with pytest.raises(TrialInputError, match=r"resnet18-f37072fd\.pth cannot be read .*delete"):
        run_here(study, tmp_path)
    assert not (tmp_path / study.name).exists()
    torch.save(torchvision.models.resnet18().state_dict(), folder / "resnet18-f37072fd.pth")
    run_here(study, tmp_path)
    (folder / "resnet18-f37072fd.pth").unlink()  # nothing is left to train that needs it
    run_here(study, tmp_path)
    (folder / "resnet18-f37072fd.pth").write_text("an error page")
    grown = replace(study, final=replace(study.final, seeds=study.final.seeds + 1))
    with pytest.raises(TrialInputError, match=r"resnet18-f37072fd\.pth cannot be read"):
        run_here(grown, tmp_path)
    assert "error" not in [run.end for run in read_runs(StudyPaths(tmp_path / study.name))]


def test_what_does_not_go_together_is_reported_before_anything_is_trained(vectors, tmp_path):
    text = VECTORS.format(root=vectors) + RUN
    (problem,) = problems_of(tmp_path, text.replace("identity, mlp", "conv_small"))
    assert "conv_small takes images, but features has vectors of 24 features" in problem
    problems = problems_of(tmp_path, text.replace("epochs: 2", "mode: frozen_features"))
    assert all("mode frozen_features is for images" in problem for problem in problems)
    text = "study: x\nlosses: [contrastive, statistical]\ntraining: {mode: frozen_features}\n"
    (problem,) = problems_of(tmp_path, text)
    assert ":2: statistical compares several augmented views of an image" in problem
