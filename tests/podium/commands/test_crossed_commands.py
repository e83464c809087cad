"""Commands on a study of several protocols that was really trained: copies, refits, leaks."""

import csv
import io
import json

import polars as pl
import pytest

from podium.arguments.trial_argument import stored_trial
from podium.orchestrator.executors.in_process import InProcessExecutor
from podium.orchestrator.results.trial_files.reader import Reader
from podium.terminal.live_progress import progress_table
from tests.orchestrator.small_study import run_here
from tests.orchestrator.study_files import load
from tests.podium.calling import call
from tests.podium.commands.test_trial_artifacts import photographs

STUDY = """
study: crossed
datasets: [{name: glyphs, script: greek, classes: 24, instances_per_class: 6}]
embedding_dims: [8]
losses: [contrastive]
protocol: [{name: untrained, kind: fixed, val_fraction: 0.4}, {kind: test_tuned}]
search: {trials: 1, early_stopping: none, repeats: 2}
final: {seeds: 1, protocol: {kind: fixed, val_fraction: 0.3}, train_on: [part, all]}
training: {epochs: 2, batch_size: 16}
quarantine: record
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    storage = tmp_path_factory.mktemp("storage")
    end = run_here(load(storage, STUDY), storage, InProcessExecutor())
    assert end.progress.failed == 0
    return storage, end.progress


@pytest.fixture(scope="module")
def crossed_folder(ended):
    return ended[0] / "crossed"


@pytest.fixture(scope="module")
def copy(crossed_folder):
    copies = Reader(crossed_folder).trials().filter(pl.col("same_as").is_not_null()).collect()
    return copies.sort("index").row(0, named=True)


def the_trial(folder, **place):
    return Reader(folder).trials().filter(**place).collect().row(0, named=True)["trial_id"]


def test_a_copy_embeds_and_is_evaluated_as_its_original(capsys, crossed_folder, copy, tmp_path):
    photographs(tmp_path, 3)
    printed = {"embed": set(), "evaluate": set()}
    for trial_id in (copy["trial_id"], copy["same_as"]):
        output = tmp_path / f"{trial_id}.csv"
        words = ("trial", "embed", trial_id, tmp_path, "--output", output)
        called = call(capsys, *words, "--study", crossed_folder)
        assert called.code == 0, called.err
        printed["embed"].add(output.read_text())
        called = call(capsys, "trial", "evaluate", trial_id, "--study", crossed_folder, "--json")
        assert called.code == 0, called.err
        printed["evaluate"].add(called.out)
    assert {name: len(texts) for name, texts in printed.items()} == {"embed": 1, "evaluate": 1}


def test_a_refit_runs_again_to_the_same_losses(capsys, crossed_folder):
    trial_id = the_trial(crossed_folder, stage="final", train_on="all")
    called = call(capsys, "trial", "rerun", trial_id, "--study", crossed_folder)
    assert called.code == 0, called.out
    epochs = stored_trial(trial_id, [crossed_folder]).row["epochs_run"]
    lines = called.out.splitlines()
    assert [line.split()[:3] for line in lines[:-1]] == [
        ["fold", "0", "epoch"] for _ in range(epochs)
    ]
    assert lines[-1].endswith(" stored scores of training are equal")
    assert "same: all 0" not in called.out


def test_a_rerun_says_that_it_validates_on_test_classes(capsys, crossed_folder):
    for protocol, is_told in (("untrained", False), ("test_tuned", True)):
        trial_id = the_trial(crossed_folder, stage="search", protocol=protocol)
        called = call(capsys, "trial", "rerun", trial_id, "--study", crossed_folder)
        assert called.code == 0, called.out
        assert ("are of test classes" in called.out) == is_told


def test_trials_are_listed_with_what_is_crossed(capsys, crossed_folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    header, *lines = call(capsys, "trials", crossed_folder).out.splitlines()
    names = ["loss", "test", "objective", "searched", "setting", "winner", "stage", "protocol"]
    assert header.split()[:8] == names
    count = Reader(crossed_folder).trials().collect().height
    assert lines[count].startswith("Not shown for lack of room: ")
    rows = json.loads(call(capsys, "trials", crossed_folder, "--json").out)
    assert {row["protocol"] for row in rows} == {"untrained", "test_tuned"}
    assert {row["train_on"] for row in rows} == {None, "part", "all"}
    text = call(capsys, "trials", crossed_folder, "--csv").out
    assert [row["trial_id"] for row in csv.DictReader(io.StringIO(text))] == [
        row["trial_id"] for row in rows
    ]


def test_no_two_searches_are_watched_under_one_name(ended):
    _, progress = ended
    assert [search.name for search in progress.searches] == [
        f"contrastive {protocol} #{repeat}"
        for protocol in ("untrained", "test_tuned")
        for repeat in (0, 1)
    ]
    *table, total = progress_table(progress, max_rows=2, width=80)
    assert len(table) == 1 + 2
    assert total.plain.startswith("14 of 14 trials done (+2 more searches")
