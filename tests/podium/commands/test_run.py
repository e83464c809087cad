"""The commands around a run, as a user gives them: real training, in one process."""

import json
import os
import shutil
import signal
import time

import polars as pl
import pytest

from tests.orchestrator.study_files import cases
from tests.podium.calling import call, podium
from tests.podium.warm_process import Started

STUDY = """
study: tiny
datasets: [{name: glyphs, script: greek, classes: 40, instances_per_class: 6}]
backbones: [conv_small]
embedding_dims: [8]
losses: [contrastive, proxy_anchor]
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 3, early_stopping: none}
final: {seeds: 2}
training: {epochs: 2}
"""


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    (folder / "tiny.yaml").write_text(STUDY)
    done = podium("run", "tiny.yaml", "--local", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_run_ends_with_who_leads_before_the_path_of_the_report(finished_run):
    folder, done = finished_run
    table, verdict, *notices, report = done.stdout.split("\n\n")
    gains = ("Tuning ", "It is uncertain whether tuning beat", "No other config beat the default")
    *gained, notice = notices
    assert 1 <= len(gained) <= 4
    assert all(text.startswith(gains) for text in gained)
    assert notice.startswith("No tuned loss beats the better baseline")
    page = folder / report.removeprefix("Report: ").strip()
    assert page.read_text().startswith("<!doctype html>")
    header, *leaders = table.splitlines()
    assert header.split() == ["loss", "rank", "average", "rank", "mean", "Recall@1,", "%"]
    assert {line.split()[0] for line in leaders} == {"contrastive", "proxy_anchor"}
    assert verdict.split(maxsplit=1)[0] in {"contrastive", "proxy_anchor"}
    assert "is not tested: it takes 6 data sets" in " ".join(verdict.split())
    assert "best validation" not in done.stderr


def test_a_results_folder_continues_without_its_study_file(finished_run, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(finished_run[0] / "podium-results" / "tiny", moved)
    before = pl.read_parquet(f"{moved}/**/*.parquet")
    done = podium("run", "moved", "--local", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "All trials of this study are already done." in done.stderr
    assert "Report: moved/report.html" in done.stdout
    assert pl.read_parquet(f"{moved}/**/*.parquet").equals(before)


@pytest.mark.parametrize("options", [("--set", "search.trials=4"), ("--storage", "other")])
def test_a_results_folder_is_not_changed_on_the_way(finished_run, capsys, options):
    results = finished_run[0] / "podium-results" / "tiny"
    refused = call(capsys, "run", results, "--local", *options)
    assert refused.code == 2
    rule = "storage and overrides (--set) go with a study file; {} is a results folder"
    assert rule.format(results) in refused.err


def test_a_folder_without_results_is_refused_and_stays_as_it_is(tmp_path, capsys):
    refused = call(capsys, "run", tmp_path, "--local")
    assert refused.code == 2
    assert f"{tmp_path} is not a results folder of podium: it has no store.json" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_run_says_what_the_losses_do_not_share_and_writes_it_down(finished_run):
    folder, done = finished_run
    printed = "Not equal between the losses: searched hyperparameters (2 to 3). See Fairness in"
    assert printed in done.stderr.splitlines()
    (file,) = folder.glob("podium-results/*/provenance.json")
    written = json.loads(file.read_text())["fairness"]
    assert written["disparities"][0]["name"] == "searched_hyperparameters"
    assert written["settings"]["epochs"] == "2"


def test_a_final_trial_run_again_does_not_touch_the_test_classes_again(finished_run, capsys):
    results = finished_run[0] / "podium-results" / "tiny"
    listed = json.loads(call(capsys, "trials", results, "--json").out)
    final = next(row for row in listed if row["stage"] == "final")
    again = call(capsys, "trial", "rerun", final["trial_id"], "--study", results)
    assert "same: all 14 stored validation scores are equal" in again.out
    assert "test" not in again.out


def test_a_study_changed_in_its_numbers_is_refused(finished_run, capsys, monkeypatch):
    monkeypatch.chdir(finished_run[0])
    refused = call(capsys, "run", "tiny.yaml", "--local", "--set", "training.epochs=3")
    assert refused.code == 2
    assert "training.epochs: 2 -> 3" in refused.err


def test_results_of_another_study_are_refused(finished_run, tmp_path, capsys):
    (tmp_path / "other.yaml").write_text(STUDY.replace("study: tiny", "study: other"))
    (tmp_path / "other").symlink_to(finished_run[0] / "podium-results" / "tiny")
    refused = call(capsys, "run", tmp_path / "other.yaml", "--local", "--storage", tmp_path)
    assert refused.code == 2
    assert "tiny" in refused.err
    assert "other" in refused.err


def test_a_stopped_run_exits_3_and_says_how_to_continue(finished_run, tmp_path):
    """By the same command, or by the results folder alone; either to what one run gives."""
    (tmp_path / "tiny.yaml").write_text(STUDY)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        returncode, errors = stopped_after_a_trial(tmp_path, number)
        assert returncode == 3, errors
        assert "a run continues where it stopped." in errors
    assert "Continuing: " in errors
    (tmp_path / "tiny.yaml").unlink()
    results = "podium-results/tiny"
    quiet = podium("run", results, "--local", "-q", cwd=tmp_path)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    assert "Report: " in quiet.stdout
    *_, log = sorted(tmp_path.glob(f"{results}/logs/run-*.log"))
    assert "Running 1 trial at a time" in log.read_text()
    columns = ["trial_id", "objective", "test_recall_at_1"]
    found, whole = (
        pl.read_parquet(f"{folder}/{results}/**/*.parquet").select(columns).sort("trial_id")
        for folder in (tmp_path, finished_run[0])
    )
    assert found.equals(whole)


def stopped_after_a_trial(folder, number):
    """Exit code and messages of a run that gets a signal once it has done one more trial."""
    before = num_trials(folder)
    running = Started("run", "tiny.yaml", "--local", cwd=folder)
    deadline = time.monotonic() + 60
    while num_trials(folder) == before and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(running.pid, number)
    ended = running.end()
    return ended.returncode, ended.stderr


def num_trials(folder):
    return len(list(folder.glob("podium-results/*/trials/*/*.parquet")))


def test_train_prints_a_line_an_epoch(capsys):
    options = ("--set", "dataset.script=greek", "--set", "dataset.classes=40", "--set", "epochs=2")
    trained = call(capsys, "trial", "train", "--loss", "contrastive", *options, "--test")
    assert trained.code == 0, trained.err
    assert trained.out.count("val R@1") == 2
    assert trained.out.count("test R@1") == 1


NOT_TRAINED = """
memory:nca --set epochs=1 -> memory_start_epoch must be at most 1, since training.epochs is 1
triplet --recipe thesiss -> unknown recipe 'thesiss'
triplet --backbone resnet18 --weights w.pth -> weights of resnet18: there is no file w.pth
triplet --dataset cub200 -> cub200: root must be given
triplet --dataset cub200 --set dataset.root=birds -> cub200: there is no folder birds
triplet --image-size 64 -> image_size must be null for glyphs
contrastiv -> unknown loss 'contrastiv' (did you mean 'contrastive'
contrastive --set proxy_learning_rate=0.1 -> --set proxy_learning_rate changes nothing
soft_triple --set centres=1 --set tau=0.3 -> --set tau changes nothing: it exists only if cent
contrastive --set step_factor=0.3 -> --set step_factor changes nothing: step_epochs is 0
"""


@pytest.mark.parametrize(("options", "problem"), cases(NOT_TRAINED))
def test_train_tells_what_is_wrong_before_it_trains(
    capsys, tmp_path, monkeypatch, options, problem
):
    monkeypatch.chdir(tmp_path)
    refused = call(capsys, "trial", "train", "--loss", *options.split())
    assert refused.code == 2
    assert refused.err.startswith(f"podium: {problem}")
