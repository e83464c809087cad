"""What a report says of backbones and losses that are crossed, also of planted effects."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.report.backbone_or_loss import backbone_or_loss, choice_shares
from podium.analysis.study_results.study_results import read_results
from tests.analysis.page_text import page_of, rows_of, section_of, text_of
from tests.analysis.synthetic_study import write_store
from tests.analysis.synthetic_trials import Truth


def as_backbones(row):
    """What were two data sets are two backbones on one."""
    return {**row, "dataset": "glyphs", "backbone": f"on {row['dataset']}"}


def test_a_study_of_two_backbones_says_how_much_each_choice_moves(tmp_path):
    truth = Truth(seeds=4)
    folder = write_store(tmp_path / truth.study_file.name, truth, change=as_backbones)
    page = page_of(read_results(folder), backbone_or_loss)
    said = text_of(section_of(page, "backbone-or-loss"))
    assert "the backbone is" in said
    shares = [float(row[2]) for row in rows_of(page, "backbone-or-loss-table")]
    assert abs(sum(shares) - 100) < 0.3


def test_a_study_of_one_backbone_has_no_such_section(tmp_path):
    truth = Truth()
    results = read_results(write_store(tmp_path / truth.study_file.name, truth))
    assert backbone_or_loss(results, {}) is None


def planted(backbone=8.0, loss=2.0, both=1.0, seed=0.5, *, backbones=40, losses=40, datasets=2):
    """Scores of two seeds, of a data set's own level and of effects with these deviations."""
    draw = np.random.default_rng(0)
    of_backbone, of_loss = draw.normal(0, backbone, backbones), draw.normal(0, loss, losses)
    of_both = draw.normal(0, both, (backbones, losses))
    return pl.DataFrame(
        [
            {
                "place": f"data{d} 64",
                "dataset": f"data{d}",
                "backbone": f"b{b}",
                "loss": f"l{c}",
                "score": 50 * d + of_backbone[b] + of_loss[c] + of_both[b, c] + noise,
            }
            for d in range(datasets)
            for b in range(backbones)
            for c in range(losses)
            for noise in draw.normal(0, seed, 2)
        ]
    )


def test_planted_components_are_found():
    found = choice_shares(planted())
    spreads = dict(found.select("source", "spread").iter_rows())
    assert spreads["backbone"] == pytest.approx(8.0, rel=0.25)
    assert spreads["loss"] == pytest.approx(2.0, rel=0.25)
    assert spreads["both"] == pytest.approx(1.0, rel=0.1)
    assert spreads["residual"] == pytest.approx(0.5, rel=0.1)
    assert found["share"].sum() == pytest.approx(1.0)
    _, _, share, low, high = found.row(by_predicate=pl.col("source") == "backbone")
    assert low <= share <= high


def test_shares_are_those_of_a_two_way_analysis_of_variance():
    scores = planted(backbones=3, losses=4, datasets=1)
    y = scores["score"].to_numpy().reshape(3, 4, 2)
    b, c, n = y.shape
    mean = y.mean()
    ms_b = c * n * ((y.mean((1, 2)) - mean) ** 2).sum() / (b - 1)
    ms_c = b * n * ((y.mean((0, 2)) - mean) ** 2).sum() / (c - 1)
    cells = y.mean(2)
    inter = cells - y.mean((1, 2))[:, None] - y.mean((0, 2))[None] + mean
    ms_bc = n * (inter**2).sum() / ((b - 1) * (c - 1))
    ms_e = ((y - cells[..., None]) ** 2).sum() / (b * c * (n - 1))
    expected = [(ms_b - ms_bc) / (c * n), (ms_c - ms_bc) / (b * n), (ms_bc - ms_e) / n, ms_e]
    found = choice_shares(scores)
    assert found["source"].to_list() == ["backbone", "loss", "both", "residual"]
    assert found["spread"].to_list() == pytest.approx(np.sqrt(expected))


@pytest.mark.parametrize("design", [{"backbones": 1}, {"losses": 1}])
def test_one_backbone_or_one_loss_has_no_shares(design):
    assert choice_shares(planted(**{"backbones": 3, "losses": 3, **design})) is None
