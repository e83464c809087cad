"""The bytes of a study before it runs are those of its results folder after it."""

from dataclasses import replace

import pytest

from analysis.study_results.study_results import read_results
from orchestrator.executors.in_process import InProcessExecutor
from orchestrator.planning.study_plan import plan
from orchestrator.study.study import KeepSettings
from orchestrator.study_validation.load_study import load_study
from podium.api.report import write_study_report
from tests.orchestrator.small_study import run_here

STUDY = {
    "study": "tiny",
    "datasets": [{"name": "glyphs", "script": "greek", "classes": 40, "instances_per_class": 8}],
    "embedding_dims": [16],
    "losses": ["contrastive", "proxy_anchor"],
    "protocol": {"kind": "fixed", "val_fraction": 0.4},
    "search": {"trials": 3, "early_stopping": "none"},
    "final": {"seeds": 3},
    "training": {"epochs": 1, "batch_size": 16},
}


def total(folder, pattern="*"):
    return sum(file.stat().st_size for file in folder.rglob(pattern) if file.is_file())


def test_the_estimate_is_within_a_factor_of_two(tmp_path):
    study = load_study(STUDY)
    estimated = plan(study).disk
    assert run_here(study, tmp_path, InProcessExecutor()).progress.failed == 0
    folder = tmp_path / study.name
    write_study_report(read_results(folder))
    found = {
        "models": (estimated.models, total(folder / "models")),
        "embeddings": (estimated.embeddings, total(folder / "embeddings")),
        "results": (estimated.results, total(folder)),
    }
    ratios = {name: bytes_ / actual for name, (bytes_, actual) in found.items()}
    assert {name: ratio for name, ratio in ratios.items() if not 0.5 < ratio < 2} == {}


@pytest.mark.parametrize(("kept", "is_counted"), [(True, True), (False, False)])
def test_what_is_not_kept_is_not_counted(kept, is_counted):
    study = replace(load_study(STUDY), keep=KeepSettings(models=kept, embeddings=kept))
    disk = plan(study).disk
    assert (disk.models > 0, disk.embeddings > 0) == (is_counted, is_counted)
    assert disk.caches == 40 * 8 * 32**2


def test_weights_of_other_libraries_are_said_to_be_left_out():
    study = load_study(STUDY)
    other = replace(study.backbones[0], name="timm:resnet50.a1_in1k")
    disk = plan(replace(study, backbones=(other,))).disk
    assert disk.uncounted == ("timm:resnet50.a1_in1k",)
