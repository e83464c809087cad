"""What the choice of the backbone moves, and what that of the loss, from planted effects."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.study_results.backbone_or_loss import choice_shares


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
    assert found.spreads["backbone"] == pytest.approx(8.0, rel=0.25)
    assert found.spreads["loss"] == pytest.approx(2.0, rel=0.25)
    assert found.spreads["both"] == pytest.approx(1.0, rel=0.1)
    assert found.spreads["residual"] == pytest.approx(0.5, rel=0.1)
    assert sum(found.shares.values()) == pytest.approx(1.0)
    low, high = found.ranges["backbone"]
    assert low <= found.shares["backbone"] <= high


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
    spreads = [found.spreads[name] for name in ("backbone", "loss", "both", "residual")]
    assert spreads == pytest.approx(np.sqrt(expected))


@pytest.mark.parametrize("design", [{"backbones": 1}, {"losses": 1}])
def test_one_backbone_or_one_loss_has_no_shares(design):
    assert choice_shares(planted(**{"backbones": 3, "losses": 3, **design})) is None
