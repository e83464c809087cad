"""Trials that are logged by other tools while they run."""

import os
import subprocess
from importlib.util import find_spec

import polars as pl
import pytest

from podium.live.trial_logs import write_stored
from podium.orchestrator.results.trial_files.reader import Reader
from tests.podium.calling import podium
from tests.podium.commands.test_export import plugin_contents, runs_of, scalars_of
from tests.podium.real_runs import TINY_STUDY, command

KFOLD = TINY_STUDY.replace("trials: 6", "trials: 2").replace("{epochs: 1}", "{epochs: 2}")
KFOLD += "protocol: {kind: kfold, folds: 2}\n"


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.yaml").write_text(KFOLD)
    return tmp_path


def results_of(folder):
    return next((folder / "podium-results").iterdir())


def test_a_live_log_of_tensorboard_equals_the_one_of_the_stored_trials(study):
    (study / "study.yaml").write_text(f"{KFOLD}log: [tensorboard]\n")
    done = podium("run", "study.yaml", "--local", cwd=study)
    assert done.returncode == 0, done.stderr
    write_stored(Reader(results_of(study)), study / "stored")
    live, stored = runs_of(next((study / "runs").iterdir())), runs_of(study / "stored")
    assert live.keys() == stored.keys()
    for name, events in live.items():
        assert scalars_of(events) == scalars_of(stored[name])
        assert plugin_contents(events) == plugin_contents(stored[name])
    tags = {tag for events in live.values() for tag, _ in scalars_of(events)}
    assert {"train/loss/fold_1", "val/recall_at_1/fold_0", "objective"} <= tags


def test_a_tool_that_fails_costs_a_warning_and_no_trial(study):
    (study / "runs").write_text("a file where TensorBoard's folder would be")
    done = podium("run", "study.yaml", "--local", "--log", "tensorboard", cwd=study)
    assert done.returncode == 0, done.stderr
    assert "tensorboard failed and got no more: " in done.stdout + done.stderr
    states = Reader(results_of(study)).trials().select("state").collect()["state"]
    assert len(states)
    assert set(states) == {"COMPLETE"}


@pytest.mark.skipif(find_spec("wandb") is not None, reason="it is here")
def test_a_tool_that_is_not_installed_is_named_before_anything_runs(study):
    done = podium("run", "study.yaml", "--local", "--log", "wandb", cwd=study)
    assert done.returncode == 2
    assert done.stderr == "podium: the log wandb needs a package: pip install wandb\n"
    assert not (study / "podium-results").exists()


def run_with(study, tool, **environment):
    """In a process of its own: such tools start others, and read their settings once."""
    words = command("run", "study.yaml", "--local", "--log", tool)
    environment = {**os.environ, **environment, "HOME": str(study)}
    return subprocess.run(
        words, cwd=study, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(find_spec("wandb") is None, reason="wandb is not installed")
def test_weights_and_biases_gets_a_run_a_trial_without_a_network(study):
    done = run_with(study, "wandb", WANDB_MODE="offline", WANDB_DIR=str(study))
    assert done.returncode == 0, done.stderr
    assert "failed" not in done.stdout
    trials = Reader(results_of(study)).trials().filter(pl.col("same_as").is_null()).collect()
    found = {path.stem.removeprefix("run-") for path in study.glob("wandb/offline-*/*.wandb")}
    assert found == set(trials["trial_id"])


@pytest.mark.skipif(find_spec("wandb") is None, reason="wandb is not installed")
def test_weights_and_biases_without_a_user_is_refused_before_anything_runs(study):
    done = run_with(study, "wandb", WANDB_MODE="online", WANDB_API_KEY="")
    assert done.returncode == 2
    assert "--log wandb needs `wandb login`, or WANDB_MODE=offline" in done.stderr


@pytest.mark.skipif(find_spec("mlflow") is None, reason="mlflow is not installed")
def test_mlflow_gets_a_run_a_trial_with_its_scores_by_epoch(study):
    uri = f"file:{study}/mlruns"
    done = run_with(study, "mlflow", MLFLOW_TRACKING_URI=uri, MLFLOW_ALLOW_FILE_STORE="true")
    assert done.returncode == 0, done.stderr
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
    from mlflow import MlflowClient

    client = MlflowClient(uri)
    (experiment,) = [it for it in client.search_experiments() if it.name != "Default"]
    rows = Reader(results_of(study)).trials().filter(pl.col("same_as").is_null()).collect()
    runs = {
        run.data.tags["podium_trial"]: run
        for run in client.search_runs([experiment.experiment_id])
    }
    assert runs.keys() == set(rows["trial_id"])
    for row in rows.iter_rows(named=True):
        run = runs[row["trial_id"]]
        assert run.info.status == "FINISHED"
        assert run.data.metrics.get("objective") == pytest.approx(row["objective"])
        assert run.data.params["loss"] == row["loss"]
        if row["stage"] == "search":
            history = client.get_metric_history(run.info.run_id, "val/recall_at_1/fold_1")
            assert [metric.step for metric in history] == [1, 2]
