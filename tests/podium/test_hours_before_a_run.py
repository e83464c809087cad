"""What a plan says of hours, from the first study on a machine to the next."""

import json

import polars as pl
import pytest

from podium.orchestrator.planning.image_seconds import known_tables, own_table
from podium.orchestrator.results.trial_files.reader import Reader
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
search: {trials: 2, early_stopping: {kind: none}}
final: {seeds: 1}
training: {epochs: 2}
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


def hours_line(capsys, file):
    printed = " ".join(call(capsys, "plan", file).out.split())
    return printed.partition("Time: ")[2].partition(" Verdict:")[0]


def test_a_run_leaves_what_an_image_took(capsys, machine):
    assert call(capsys, "run", machine / "first.yaml", "--local", "--no-report").code == 0
    ((kind, seconds),) = known_tables()["machine"].items()
    assert kind == ("conv_small", 32, "fine_tune", "cpu")
    trials = Reader(machine / "first").trials().collect()
    trained = trials.filter(
        (pl.col("stage") == "search") | (pl.col("train_on") == "part"),
        pl.col("same_as").is_null(),
    )
    # 20 training classes, of which the fixed protocol validates 2; 8 images each.
    images = (18 + 2 / 3) * 8 * trained["epochs_run"].sum()
    spent = trained["seconds"].sum() - trained["test_seconds"].fill_null(0).sum()
    assert seconds == pytest.approx(spent / images, rel=1e-3)
    lines = own_table().read_text()
    assert str(machine) not in lines
    # Nothing was trained: nothing is added.
    own_table().unlink()
    assert call(capsys, "run", machine / "first.yaml", "--local", "--no-report").code == 0
    assert not own_table().exists()
    own_table().write_text(lines)


def test_the_next_study_is_estimated_by_it_and_takes_about_so_long(capsys, machine):
    record = planned(capsys, machine / "other.yaml")
    assert record["hours_sources"] == ["machine"]
    assert hours_line(capsys, machine / "other.yaml").endswith("by earlier runs here")
    assert call(capsys, "run", machine / "other.yaml", "--local", "--no-report").code == 0
    trials = Reader(machine / "other").trials().filter(pl.col("same_as").is_null()).collect()
    real = trials["seconds"].sum() / 3600
    assert real / 4 < record["hours"] < real * 4
    assert planned(capsys, machine / "other.yaml")["hours_sources"] == ["results"]
    assert hours_line(capsys, machine / "other.yaml").endswith("by trials of this study")


def test_a_table_that_cannot_be_written_is_a_note(capsys, machine):
    own_table().unlink()
    own_table().mkdir()
    storage = ("--storage", machine / "third")
    run = call(capsys, "run", machine / "first.yaml", "--local", "--no-report", *storage)
    assert run.code == 0
    assert "note: what images took was not kept for plans" in run.err
