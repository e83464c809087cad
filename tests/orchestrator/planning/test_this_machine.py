"""What a plan says of the machine that it is made on."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from podium.orchestrator.planning import this_machine
from podium.orchestrator.planning.this_machine import machine_notes
from podium.orchestrator.results.storage.locations import parse_place
from podium.orchestrator.study.study import ResourceSettings
from tests.orchestrator.small_study import STUDY

FOLDER = Path("results")


def has_room(monkeypatch, free_bytes):
    room = shutil.disk_usage("/")._replace(free=free_bytes)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: room)


@pytest.fixture
def asking(tmp_path, monkeypatch):
    """A study whose trials ask for half a GPU, on a machine with what a program says it has."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    has_room(monkeypatch, 5_000_000_000)
    return replace(STUDY, resources=ResourceSettings(gpus_per_trial=0.5))


def says(tmp_path, script):
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_gpus_that_are_seen_are_named_and_counted(asking, tmp_path):
    says(tmp_path, "echo 'NVIDIA H200'; echo 'NVIDIA H200'; echo 'NVIDIA L4'")
    assert list(machine_notes(asking, FOLDER)) == ["GPUs: 2 x NVIDIA H200, 1 x NVIDIA L4."]


@pytest.mark.parametrize("script", ["exit 9", "sleep 60"])
def test_a_driver_that_gives_none_is_no_gpu(asking, tmp_path, monkeypatch, script):
    says(tmp_path, script)
    monkeypatch.setattr(this_machine, "_SECONDS", 0.5)
    (note,) = machine_notes(asking, FOLDER)
    assert note.startswith("GPUs: none is seen on this machine, and trials ask for 0.5.")


def test_a_study_that_asks_for_none_hears_nothing_of_gpus(asking):
    assert list(machine_notes(replace(asking, resources=ResourceSettings()), FOLDER)) == []


def test_little_room_is_warned_of_where_results_will_be(asking, monkeypatch, tmp_path):
    study = replace(asking, resources=ResourceSettings())
    has_room(monkeypatch, 3_200_000_000)
    (note,) = machine_notes(study, tmp_path / "results" / "small")
    assert note.startswith(f"Warning: 3.2 GB are free at {tmp_path / 'results' / 'small'};")
    assert list(machine_notes(study, parse_place("s3://bucket/results/small"))) == []
