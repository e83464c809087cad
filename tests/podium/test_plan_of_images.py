"""Studies of image files on the command line, where neither data nor weights are there."""

import json
from pathlib import Path

import pytest

from podium.orchestrator.results.storage.checksummed_text import (
    read_checksummed,
    write_checksummed,
)
from tests.podium.calling import call

STUDIES = Path(__file__).parents[2] / "studies"

STUDY = """
study: birds
datasets: [{name: cub200, root: ROOT}]
backbones: [resnet50, {name: bn_inception, weights: WEIGHTS}]
embedding_dims: [64, 512]
losses: [contrastive, proxy_anchor]
"""


@pytest.fixture
def birds_file(tmp_path):
    file = tmp_path / "birds.yaml"
    text = STUDY.replace("ROOT", str(tmp_path / "cub"))
    file.write_text(text.replace("WEIGHTS", str(tmp_path / "bn.pth")))
    return file


@pytest.mark.parametrize(
    ("name", "num_blocks", "num_trials"),
    [
        # Per block: ten losses of 50 search trials and 2 finalists in 10 folds, and 10 untrained
        # networks; and features for each backbone.
        ("thesis-cub", 12, 12 * (10 * (50 + 20) + 10) + 3),
        ("thesis-sop", 4, 4 * (10 * (50 + 20) + 10) + 1),
        # Per block: ten losses, each the one trial of its search and one final, and one network.
        ("thesis-tables-cub", 12, 12 * (10 * (1 + 1) + 1) + 3),
    ],
)
def test_the_grid_of_the_thesis_is_planned_whole(capsys, tmp_path, name, num_blocks, num_trials):
    file = STUDIES / f"{name}.yaml"
    record = json.loads(call(capsys, "plan", file, "--storage", tmp_path, "--json").out)
    assert len(record["blocks"]) == num_blocks
    assert len(record["losses"]) == 10
    assert record["trials"] == num_trials
    dims = {item["embedding_dim"] for item in record["trainings"]}
    assert dims == {64, 128, 512, 1024}


def test_the_thesis_studies_train_as_its_tables_say(capsys, tmp_path):
    """Table 3: learning rate, step, factor, batch size; table 4: defaults of three losses."""
    expected = {
        "thesis-cub": {
            "resnet50": (1e-4, 5, 0.1, 100),
            "bn_inception": (1e-4, 10, 0.1, 180),
            "googlenet": (1e-4, 10, 0.1, 180),
        },
        "thesis-cars": {
            "resnet50": (1e-4, 10, 0.1, 100),
            "bn_inception": (1e-4, 20, 0.1, 180),
            "googlenet": (1e-4, 20, 0.1, 180),
        },
        "thesis-sop": {"bn_inception": (6e-4, 20, 0.25, 180)},
    }
    for name, by_backbone in expected.items():
        file = STUDIES / f"{name}.yaml"
        record = json.loads(call(capsys, "plan", file, "--storage", tmp_path, "--json").out)
        found = {}
        for item in record["trainings"]:
            training = item["training"]
            names = ("learning_rate", "step_epochs", "step_factor", "batch_size")
            found[item["backbone"]] = tuple(training[name] for name in names)
            assert training["epochs"] == 100
            defaults = item["defaults"]
            assert (defaults["contrastive"]["margin"], defaults["n_pair"]["norm_weight"]) == (
                0.5,
                0.02,
            )
            assert defaults["arcface"]["proxy_learning_rate"] == 1e-4
        assert found == by_backbone


def test_a_plan_tells_blocks_training_and_what_is_missing(capsys, birds_file, tmp_path):
    planned = call(capsys, "plan", birds_file, "--full")
    assert planned.code == 0
    shown = planned.out.replace(str(tmp_path), "FOLDER")  # which is as long as it is
    assert max(map(len, shown.splitlines()[:20])) <= 80
    printed = " ".join(planned.out.split())
    assert "data set backbone weights px batch step embedding dims" in printed
    assert "cub200 resnet50 imagenet 224 100 5 64, 512" in printed
    assert "cub200 bn_inception a file 224 180 10 64, 512" in printed
    assert (
        "Training: image files switch on the recipe psomas2020, unless training.recipe names "
        "another (docs/reference/recipes.md); in all settings epochs 100, learning_rate 0.0001."
    ) in printed
    assert printed.index("image files switch on") < printed.index("data set backbone weights")
    assert "The recipe gives values of their own to proxy_anchor (sampler random)." in printed
    assert f"data: cub200 not found at {tmp_path}/cub; needed before the run" in printed
    assert f"weights: bn_inception not found at {tmp_path}/bn.pth;" in printed


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ((), ["podium: weights of bn_inception: there is no file FOLDER/bn.pth\n"]),
        (("--set", "backbones=[conv_small]"), ["FOLDER/cub", "Expected:"]),
    ],
)
def test_a_run_without_weights_or_data_ends_before_any_trial(
    capsys, birds_file, tmp_path, more, told
):
    storage = tmp_path / "results"
    run = call(capsys, "run", birds_file, "--local", "--storage", storage, *more)
    assert run.code == 2
    said = run.err.replace(str(tmp_path), "FOLDER")
    assert all(part in said for part in told)
    assert more or [said] == told
    assert not list(storage.rglob("*.json"))


def test_results_of_an_older_podium_are_reported_and_left_alone(capsys, tmp_path):
    file = tmp_path / "old.yaml"
    file.write_text("study: old\nlosses: [contrastive]\n")
    folder = tmp_path / "results" / "old"
    folder.mkdir(parents=True)
    store = {"study": "old", "schema_version": 1, "ks": [1], "hyperparameters": {}}
    write_checksummed(folder / "store.json", store)
    (folder / "study.json").write_text("{}")
    for command in (("run", file, "--local", "--storage", tmp_path / "results"), ("plan", folder)):
        printed = call(capsys, *command)
        assert printed.code == 2
        assert "version 1 of the results schema; this podium reads version 5" in printed.err
    assert read_checksummed(folder / "store.json") == store
