"""The studies of published tables, on letters, run through Ray from their files to reports."""

import pytest

from orchestrator.results.trial_files.reader import Reader
from tests.orchestrator.ray_cluster import RayCluster
from tests.podium.calling import podium
from tests.podium.test_protocol_studies import ONE_DATASET, STUDIES

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]

# As small as each still is what it is: every loss or config, protocol and stage takes part.
SMALL = ("training.epochs=1", "final.seeds=1", "metrics.k=[1]", "search.repeats=1")
SMALLER = {
    "thesis-tables-glyphs": ("embedding_dims=[16]",),
    "thesis-own-loss-glyphs": (),
    "gradml-data-sets-glyphs": (),
    "gradml-grid-glyphs": ("search.splits=same", "final.train_on=[all]"),
    "gradml-powers-glyphs": ("search.splits=same", "final.train_on=[all]"),
    "gradml-learning-rate-glyphs": ("search.trials=3", "final.train_on=[all]"),
}


@pytest.fixture(scope="module")
def cluster():
    """One Ray for all of them, with one worker slot: each run starts the workers of its own."""
    with RayCluster(nodes=1, cpus=1) as started:
        yield started


@pytest.mark.parametrize("name", SMALLER)
def test_a_study_on_letters_runs_on_ray_to_its_report(cluster, monkeypatch, tmp_path, name):
    for variable, value in cluster.environment.items():
        monkeypatch.setenv(variable, value)
    settings = [f"--set={text}" for text in (ONE_DATASET, *SMALL, *SMALLER[name])]
    where = ("--address", cluster.address, "--storage", tmp_path)
    ran = podium("run", STUDIES / f"{name}.yaml", *where, *settings, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    folder = tmp_path / name
    assert set(Reader(folder).trials().collect()["state"]) == {"COMPLETE"}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "test_tuned (leaks)" in page
