"""Results read from Python say what the commands say, in numbers, text and notebooks."""

import csv
import json

import polars as pl
import pytest
import torch

import podium
from tests.podium.calling import output_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    study = podium.load(
        study="read",
        storage=str(tmp_path_factory.mktemp("storage")),
        datasets=[
            {"name": "glyphs", "script": "greek", "classes": 40, "instances_per_class": 6},
            {"name": "glyphs", "script": "latin", "classes": 40, "instances_per_class": 6},
        ],
        backbones=["conv_small"],
        embedding_dims=[8],
        losses=["contrastive", "proxy_anchor"],
        protocol={"kind": "fixed", "val_fraction": 0.4},
        search={"trials": 3, "early_stopping": "none"},
        final={"seeds": 2},
        training={"epochs": 2},
    )
    study.run(local=True, progress=False)
    return study.folder


@pytest.fixture(scope="module")
def results(folder):
    return podium.results(folder)


ANSWERS = {
    "tournament": lambda results: results.tournament(),
    "tournament --where k=2": lambda results: results.tournament(where={"k": 2}),
    "importance": lambda results: results.importance(),
    "protocols": lambda results: results.protocols(),
    "status": lambda results: results.status(),
}


@pytest.mark.parametrize("command", ANSWERS)
def test_answers_are_those_of_the_commands(results, folder, capsys, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    name, *options = command.split()
    answer = ANSWERS[command](results)
    assert output_of(capsys, name, folder, *options) == f"{answer}\n"
    printed = json.loads(output_of(capsys, name, folder, *options, "--json"))
    numbers = json.loads(json.dumps(answer.to_dict()).replace("NaN", "null"))
    assert printed == numbers
    header, *rows = csv.reader(output_of(capsys, name, folder, *options, "--csv").splitlines())
    assert header == answer.frame.columns
    assert len(rows) == len(answer.frame)


def test_frames_are_those_of_the_store(results, folder, capsys):
    listed = json.loads(output_of(capsys, "trials", folder, "--json"))
    columns = ["trial_id", "loss", "objective", "test_recall_at_1"]
    assert results.trials.select(columns).to_dicts() == [
        {name: row[name] for name in columns} for row in listed
    ]
    assert results.select_trials().to_dicts() == listed
    by_role = results.scores.group_by("role").agg(pl.len()).collect()
    assert set(by_role["role"]) >= {"train", "val", "test"}


def test_the_best_config_is_that_of_the_finals(results):
    trials = results.trials
    for config in results.best("contrastive"):
        finals = trials.filter(pl.col("trial_id").is_in(config.final_trial_ids))
        assert set(finals["stage"]) == {"final"}
        assert config.test == pytest.approx(finals["test_recall_at_1"].mean())
        searched = trials.filter(pl.col("trial_id") == config.trial_id)
        assert config.validation == searched["objective"].item()
        assert searched["config_hash"].item() == finals["config_hash"].unique().item()
        for name, value in config.hyperparameters.items():
            assert finals[f"hp.{name}"].unique().item() == value


def test_a_loss_that_the_study_lacks_is_refused_with_those_it_has(results):
    with pytest.raises(podium.PodiumError, match="loss must be one of contrastive, proxy_anchor"):
        results.best("margin")


def test_a_network_is_loaded_ready_to_embed(results):
    config = results.best("proxy_anchor")[0]
    network = results.model(config.final_trial_ids[0])
    assert not network.training
    device = next(network.parameters()).device
    images = torch.zeros(2, 1, 32, 32, dtype=torch.uint8, device=device)
    with torch.no_grad():
        assert network(images).shape == (2, 8)


def test_the_report_is_that_of_the_command(results, tmp_path, capsys, folder):
    page = results.report(tmp_path / "page.html", json=tmp_path / "page.json")
    assert page == tmp_path / "page.html"
    output_of(capsys, "report", folder, "--output", tmp_path / "other.html")
    assert page.read_bytes() == (tmp_path / "other.html").read_bytes()
    assert json.loads((tmp_path / "page.json").read_text())["tournament"]
    with pytest.raises(podium.PodiumError, match=r"page[.]txt"):
        results.report(tmp_path / "page.txt")
