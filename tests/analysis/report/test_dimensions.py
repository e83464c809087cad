"""What a page shows of a study with a loss over prefixes, which is run here."""

import pytest

from podium.analysis.report.dimensions import dimensions
from podium.analysis.study_results.study_results import read_results
from podium.orchestrator.results.storage.locations import parse_place
from tests.analysis.page_text import page_of, rows_of
from tests.podium.calling import podium

STUDY = """
study: prefixes
datasets: [{name: glyphs, script: greek, classes: 24, instances_per_class: 6}]
embedding_dims: [8, 16]
losses: [contrastive, {loss: matryoshka:contrastive, values: {smallest_prefix: 4}}]
protocol: {kind: fixed, val_fraction: 0.4}
search: {trials: 1}
final: {seeds: 2}
training: {epochs: 1, batch_size: 16}
keep: {models: false, embeddings: false}
"""


def test_one_training_gives_recall_at_every_prefix(tmp_path):
    (tmp_path / "s.yaml").write_text(STUDY)
    end = podium("run", tmp_path / "s.yaml", "--local", "--storage", tmp_path, cwd=tmp_path)
    assert end.returncode == 0, end.stderr
    results = read_results(parse_place(tmp_path / "prefixes"))
    rows = rows_of(page_of(results, dimensions), "dimensions-table")
    shown = {tuple(row[1:3]): row[3:] for row in rows}
    is_shown = {key: [cell != "–" for cell in cells] for key, cells in shown.items()}
    assert is_shown == {
        ("contrastive", "each"): [True, True, False],
        ("matryoshka:contrastive", "8"): [False, True, True],
        ("matryoshka:contrastive", "16"): [True, True, True],
    }
    whole = results.cells.filter(loss="matryoshka:contrastive", embedding_dim=16, k=1)
    assert float(shown["matryoshka:contrastive", "16"][0]) == pytest.approx(
        100 * whole["score"][0], abs=0.005
    )
