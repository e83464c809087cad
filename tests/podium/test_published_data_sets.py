"""Studies on data sets as they lie on disk, with the networks of the field.

The trees are small and the images tiny; formats, readers, cache, networks and store are real.
Weights come from files, as they do where there is no internet.
"""

import json

import polars as pl
import pytest
import torch

from podium.trainables.registry import load
from tests.podium.calling import podium
from tests.soak import soak
from tests.trainables.dataset_readers.miniatures import make_tree

STUDY = """
study: {name}
datasets: [{{name: {name}, root: "{root}", allow_partial: true}}]
backbones: [{{name: resnet18, weights: resnet18.pth}}]
image_sizes: [64]
embedding_dims: [16]
losses: [multi_similarity]
protocol: {{kind: fixed, val_fraction: 0.4}}
search: {{trials: 2, sampler: random, early_stopping: none, tune: []}}
final: {{seeds: 1}}
training: {{recipe: psomas2020, epochs: 1, warm_up_epochs: 0, batch_size: 8, samples_per_class: 2}}
metrics: {{k: [1, 2]}}
keep: {{models: false}}
resources: {{cpus_per_trial: 1}}
"""


def save_weights(path):
    """What a network starts from: statistics that fit its weights, as after a training."""
    torch.manual_seed(0)
    backbone = load("backbones", "resnet18")()
    for module in backbone.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None  # the mean over all batches
    with torch.no_grad():
        backbone.train()(torch.randint(256, (32, 3, 64, 64), dtype=torch.uint8))
    torch.save(backbone.network.state_dict(), path)


@pytest.fixture(scope="module", params=["in_shop", *soak("cub200", "cars196", "sop", "folder")])
def finished_study(request, tmp_path_factory):
    name = request.param
    folder = tmp_path_factory.mktemp(name)
    root = make_tree(name, folder / "data", classes=6, images_per_class=4, size=80)
    save_weights(folder / "resnet18.pth")
    study = folder / "study.yaml"
    study.write_text(STUDY.format(name=name, root=root))
    done = podium("run", study, "--local", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return name, folder


def test_queries_search_the_gallery_and_nothing_else(finished_study):
    name, folder = finished_study
    trials = pl.read_parquet(f"{folder}/podium-results/{name}/**/*.parquet")
    assert set(trials["state"]) == {"COMPLETE"}
    assert set(trials["image_size"]) == {64}
    finals = trials.filter(pl.col("stage") == "final").select(pl.col("test_scores").explode())
    scores = finals.unnest("test_scores").filter(pl.col("metric") == "recall")
    assert scores["value"].is_between(0, 1).all()
    sides = set(scores.select("queries", "gallery").rows())
    assert sides == ({(12, 12)} if name == "in_shop" else {(24, 24)})


def test_every_choice_of_the_recipe_is_in_the_results(finished_study):
    name, folder = finished_study
    trials = pl.read_parquet(f"{folder}/podium-results/{name}/**/*.parquet")
    settings = [json.loads(text) for text in trials["settings"]]
    assert {one["backbone"]["weights"] for one in settings} == {str(folder / "resnet18.pth")}
    training = settings[0]["training"]
    assert (training["recipe"], training["augmentation"]) == ("psomas2020", "random_resized_crop")
    assert (training["pooling"], training["optimiser"]) == ("average+max", "adamw")


def test_the_report_shows_retrieved_images(finished_study):
    name, folder = finished_study
    html = (folder / "podium-results" / name / "report.html").read_text()
    assert "UklGR" in html  # WebP in base64
    assert name in html
