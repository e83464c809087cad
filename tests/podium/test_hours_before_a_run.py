"""What a plan says of hours, from the first study on a machine to the next."""

import json

import polars as pl
import pytest

from orchestrator.planning.cost_tables import own_costs, own_table
from orchestrator.results.trial_files.reader import Reader
from tests.podium.calling import call

FIRST = """
study: first
datasets: [{name: glyphs, script: latin, classes: 40, instances_per_class: 8}]
losses: [contrastive, proxy_anchor]
embedding_dims: [8]
search: {trials: 3, early_stopping: {kind: none}}
final: {seeds: 1}
training: {epochs: 2}
"""
OTHER = """
study: other
datasets: [{name: glyphs, script: greek, classes: 60, instances_per_class: 12}]
losses: [contrastive, multi_similarity]
embedding_dims: [8]
search: {trials: 4, early_stopping: {kind: none}}
final: {seeds: 2}
training: {epochs: 3}
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A machine on which one study ran to its end."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("machine")
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        for text in (FIRST, OTHER):
            (folder / f"{text.split()[1]}.yaml").write_text(f"{text}storage: {folder}\n")
        yield folder


def planned(capsys, file, *arguments):
    return json.loads(call(capsys, "plan", file, "--json", *arguments).out)


def test_before_any_run_hours_are_by_shipped_figures_and_marked_so(capsys, machine):
    record = planned(capsys, machine / "first.yaml")
    low, high = record["hours_interval"]
    assert record["hours_sources"] == ["shipped"]
    assert 0 < low < record["hours"] < high
    text = " ".join(call(capsys, "plan", machine / "first.yaml", "--full").out.split())
    assert "by figures that podium ships, measured on other machines: yours will differ" in text
    assert "ms an image of conv_small at 32 px, on 1 CPU (one thread of an EPYC)" in text
    assert "not known" not in text


def test_a_run_leaves_a_line_for_each_of_its_conditions(capsys, machine):
    assert call(capsys, "run", machine / "first.yaml", "--local", "--no-report").code == 0
    (cost,) = own_costs()
    assert (cost.conditions.backbone, cost.conditions.side, cost.conditions.device) == (
        *("conv_small", 32),
        "cpu",
    )
    trials = Reader(machine / "first").trials().collect()
    searched = trials.filter(stage="search", state="COMPLETE")
    # 20 training classes, of which the fixed protocol validates 2; 8 images each.
    images = (18 + 2 / 3) * 8
    of_image = searched["seconds"] / searched["epochs_run"] / images
    assert cost.median == pytest.approx(of_image.median(), rel=1e-3)
    assert cost.low <= cost.median <= cost.high
    assert cost.trials == searched.height == 6
    finals = trials.filter(pl.col("same_as").is_null(), stage="final")
    assert cost.tested == pytest.approx(finals["test_seconds"].median() / 160, rel=1e-3)
    lines = own_table().read_text()
    assert str(machine) not in lines
    # Nothing was trained: nothing is added.
    assert call(capsys, "run", machine / "first.yaml", "--local", "--no-report").code == 0
    assert own_table().read_text() == lines


def test_the_next_study_is_estimated_by_it_and_takes_about_so_long(capsys, machine):
    record = planned(capsys, machine / "other.yaml")
    assert record["hours_sources"] == ["machine"]
    text = " ".join(call(capsys, "plan", machine / "other.yaml", "--full").out.split())
    assert "by earlier runs from this machine" in text
    assert call(capsys, "run", machine / "other.yaml", "--local", "--no-report").code == 0
    trials = Reader(machine / "other").trials().filter(pl.col("same_as").is_null()).collect()
    real = trials["seconds"].sum() / 3600
    assert real / 4 < record["hours"] < real * 4
    assert len(own_costs()) == 2
    own = planned(capsys, machine / "other.yaml")
    assert own["hours_sources"] == ["results"]


def test_a_probe_counts_before_earlier_runs(capsys, machine):
    arguments = ("--probe", "--storage", machine / "elsewhere")
    record = planned(capsys, machine / "other.yaml", *arguments)
    assert record["hours_sources"] == ["probe"]
    assert (
        record["probe"]["image_cost"]["median"]
        == record["hours_of_blocks"][0]["seconds_per_image"]
    )
    text = " ".join(call(capsys, "plan", machine / "other.yaml", "--full", *arguments).out.split())
    assert "by the epoch that was trained just now" in text


def test_a_damaged_table_is_a_note_and_neither_plan_nor_run_fails(capsys, machine):
    own_table().write_text("nonsense\n1\n")
    plan = call(capsys, "plan", machine / "first.yaml", "--full", "--storage", machine / "new")
    assert plan.code == 0
    assert "note: " in plan.err
    assert "delete it" in plan.err
    assert "by figures that podium ships" in " ".join(plan.out.split())
    storage = ("--storage", machine / "new")
    run = call(capsys, "run", machine / "first.yaml", "--local", "--no-report", *storage)
    assert run.code == 0
    assert len(own_costs()) == 1


def test_a_table_that_cannot_be_written_is_a_note(capsys, machine, monkeypatch):
    (machine / "file").write_text("")
    own_table().unlink()
    own_table().mkdir()
    storage = ("--storage", machine / "third")
    run = call(capsys, "run", machine / "first.yaml", "--local", "--no-report", *storage)
    assert run.code == 0
    assert "note: what images cost was not kept for plans" in run.err
