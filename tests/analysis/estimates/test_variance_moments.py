"""Against the analysis of variance, the estimates of restricted likelihood, and dense matrices."""

import numpy as np
import polars as pl
import pytest

from podium.analysis.estimates.variance_moments import pooled_variance, variance_moments

SPREADS = {"block": 4.0, "block_loss": 0.8, "search": 0.6, "split": 1.0, "split_loss": 0.5}
SEED = 0.7
TERMS = {
    "block": ("block",),
    "block_loss": ("block", "loss"),
    "split": ("block", "split"),
    "search": ("block", "loss", "repeat"),
    "split_loss": ("block", "loss", "split"),
}
# Estimates by restricted maximum likelihood of ``drawn(seed)``, which had an optimiser.
RESTRICTED_LIKELIHOOD = {
    0: (18.06544, 0.38060, 0.23185, 0.51043, 0.24967, 0.45621),
    3: (10.37619, 0.20960, 1.57596, 0.51747, 0.31209, 0.44936),
    5: (9.43074, 0.65992, 0.87717, 0.23715, 0.19233, 0.50076),
}


def drawn(seed, blocks=8, losses=3, repeats=2, splits=2, seeds=2, kept=1.0):
    """Finals of searches that share the splits of their block."""
    rng = np.random.default_rng(seed)
    rows = []
    for b in range(blocks):
        block = SPREADS["block"] * rng.standard_normal()
        split_F = SPREADS["split"] * rng.standard_normal(splits)
        for loss in range(losses):
            own = SPREADS["block_loss"] * rng.standard_normal()
            split_loss_F = SPREADS["split_loss"] * rng.standard_normal(splits)
            for r in range(repeats):
                search = SPREADS["search"] * rng.standard_normal()
                for f in range(splits):
                    for _ in range(seeds):
                        score = 70 + loss + block + own + search + split_F[f] + split_loss_F[f]
                        score += SEED * rng.standard_normal()
                        if rng.random() < kept:
                            rows.append((f"b{b}", f"l{loss}", r, f"s{f}", score))
    columns = ["block", "loss", "repeat", "split", "score"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def found(scores, **options):
    return variance_moments(scores, fixed="loss", terms=TERMS, **options)


def dense_estimates(scores):
    """The same equations with the whole matrices of the design."""
    num = scores.height
    keys = [scores.select(pl.concat_str(c, separator="/")).to_series() for c in TERMS.values()]
    designs = [
        (np.array(key)[:, None] == np.unique(key)).astype(float)
        for key in [*keys, np.arange(num).astype(str)]
    ]
    fixed = (scores["loss"].to_numpy()[:, None] == scores["loss"].unique().to_numpy()).astype(
        float
    )
    centre = np.eye(num) - fixed @ np.linalg.inv(fixed.T @ fixed) @ fixed.T
    forms = [centre @ Z @ np.linalg.inv(Z.T @ Z) @ Z.T @ centre for Z in designs]
    factors = [[np.trace(form @ Z @ Z.T) for Z in designs] for form in forms]
    score = scores["score"].to_numpy()
    return np.linalg.solve(factors, [score @ form @ score for form in forms])


@pytest.mark.parametrize("seed", RESTRICTED_LIKELIHOOD)
def test_a_balanced_design_gives_the_estimates_of_restricted_likelihood(seed):
    expected = dict(zip([*TERMS, "residual"], RESTRICTED_LIKELIHOOD[seed], strict=True))
    assert found(drawn(seed)).variances == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kept", [1.0, 0.7, 0.4])
def test_expectations_are_those_of_the_whole_matrices(kept):
    scores = drawn(2, blocks=12, kept=kept)
    expected = dense_estimates(scores)
    assert expected.min() > 0
    assert list(found(scores).variances.values()) == pytest.approx(expected.tolist())


def test_rows_may_come_in_any_order_and_levels_have_any_names():
    scores = drawn(2, kept=0.8)
    renamed = scores.with_columns(
        pl.col("block").replace_strict({f"b{b}": f"block {9 - b}" for b in range(8)})
    ).sample(fraction=1, shuffle=True, seed=1)
    assert found(renamed).variances == pytest.approx(found(scores).variances)


def test_a_component_that_would_be_negative_is_zero_and_named():
    scores = drawn(0, blocks=6, splits=1, seeds=4)
    # Scores whose repeats are nearer to each other than their seeds allow.
    search, loss = ("block", "loss", "repeat"), ("block", "loss")
    score = pl.col("score")
    alike = scores.with_columns(score - score.mean().over(search) + score.mean().over(loss))
    moments = found(alike)
    assert moments.variances["search"] == 0
    assert moments.negative == {"search"}
    without = {name: columns for name, columns in TERMS.items() if name != "search"}
    others = variance_moments(alike, fixed="loss", terms=without).variances
    assert moments.variances == pytest.approx({**others, "search": 0})


def test_terms_that_are_not_identifiable_are_named_and_not_estimated():
    assert found(drawn(0, repeats=1, splits=1)).merged == {
        "split": "block",
        "search": "block_loss",
        "split_loss": "block_loss",
    }
    assert found(drawn(0, splits=1, seeds=1)).merged["search"] == "residual"
    one_block = found(drawn(0, blocks=1, splits=1))
    assert one_block.merged == {"block": "", "block_loss": "", "split": "", "split_loss": ""}
    assert list(one_block.variances) == ["search", "residual"]


def test_a_known_residual_separates_a_term_with_single_rows():
    scores = drawn(0, blocks=40, splits=1, seeds=1)
    moments = found(scores, residual=(SEED**2, 50))
    assert "search" not in moments.merged
    assert moments.variances["residual"] == SEED**2
    assert moments.num_levels["residual"] == 50
    together = found(scores)
    assert moments.variances["search"] == pytest.approx(
        together.variances["residual"] - SEED**2, rel=1e-6
    )


def test_scores_that_do_not_vary_have_no_variance_and_too_few_none():
    flat = drawn(0, blocks=3).with_columns(pl.lit(71.3).alias("score"))
    assert list(found(flat).variances.values()) == pytest.approx([0.0] * 6, abs=1e-20)
    assert found(flat).negative == frozenset()
    assert found(drawn(0, blocks=1, repeats=1, splits=1, seeds=1)) is None


def test_the_pooled_variance_weighs_cells_by_their_degrees_of_freedom():
    scores = pl.DataFrame({"cell": list("aaabbc"), "score": [1.0, 2.0, 3.0, 5.0, 9.0, 4.0]})
    assert pooled_variance(scores, ["cell"]) == (pytest.approx((2.0 + 8.0) / 3), 3)
    assert pooled_variance(scores.unique("cell"), ["cell"]) is None
