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

# Data set -> the networks it is trained with. GoogLeNet and BN-Inception want 64 pixels or so.
NETWORKS = {
    "cub200": ["resnet18", "googlenet"],
    "cars196": ["resnet18"],
    "sop": ["bn_inception"],
    "in_shop": ["bn_inception"],
    "folder": ["resnet18"],
}

STUDY = """
study: {name}
datasets: [{{name: {name}, root: "{root}", allow_partial: true}}]
backbones: [{backbones}]
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


def save_weights(name, path):
    """What a network starts from: statistics that fit its weights, as after a training."""
    torch.manual_seed(0)
    backbone = load("backbones", name)()
    for module in backbone.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = None  # the mean over all batches
    with torch.no_grad():
        backbone.train()(torch.randint(256, (32, 3, 64, 64), dtype=torch.uint8))
    torch.save(backbone.network.state_dict(), path)


@pytest.fixture(scope="module", params=["cub200", "in_shop", *soak("cars196", "sop", "folder")])
def finished_study(request, tmp_path_factory):
    name = request.param
    folder = tmp_path_factory.mktemp(name)
    root = make_tree(name, folder / "data", classes=6, images_per_class=4, size=80)
    for network in NETWORKS[name]:
        save_weights(network, folder / f"{network}.pth")
    backbones = ", ".join(f"{{name: {one}, weights: {one}.pth}}" for one in NETWORKS[name])
    study = folder / "study.yaml"
    study.write_text(STUDY.format(name=name, root=root, backbones=backbones))
    done = podium("run", study, "--local", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return name, folder


def test_two_trials_of_each_search_end_in_parquet(finished_study):
    name, folder = finished_study
    trials = pl.read_parquet(f"{folder}/podium-results/{name}/**/*.parquet")
    searched = trials.filter(pl.col("stage") == "search")
    assert searched.group_by("search").len()["len"].to_list() == [2] * len(NETWORKS[name])
    assert set(trials["state"]) == {"COMPLETE"}
    assert set(trials["backbone"]) == set(NETWORKS[name])
    assert set(trials["image_size"]) == {64}


def test_queries_search_the_gallery_and_nothing_else(finished_study):
    name, folder = finished_study
    trials = pl.read_parquet(f"{folder}/podium-results/{name}/**/*.parquet")
    finals = trials.filter(pl.col("stage") == "final").select(pl.col("test_scores").explode())
    scores = finals.unnest("test_scores").filter(pl.col("metric") == "recall")
    assert scores["value"].is_between(0, 1).all()
    sides = set(scores.select("queries", "gallery").rows())
    assert sides == ({(12, 12)} if name == "in_shop" else {(24, 24)})


def test_every_choice_of_the_recipe_is_in_the_results(finished_study):
    name, folder = finished_study
    trials = pl.read_parquet(f"{folder}/podium-results/{name}/**/*.parquet")
    settings = [json.loads(text) for text in trials["settings"]]
    files = {str(folder / f"{network}.pth") for network in NETWORKS[name]}
    assert {one["backbone"]["weights"] for one in settings} == files
    training = settings[0]["training"]
    assert (training["recipe"], training["augmentation"]) == ("psomas2020", "random_resized_crop")
    assert (training["pooling"], training["optimiser"]) == ("average+max", "adamw")


def test_the_report_shows_retrieved_images(finished_study):
    name, folder = finished_study
    html = (folder / "podium-results" / name / "report.html").read_text()
    assert "UklGR" in html  # WebP in base64
    assert name in html
