import warnings

import numpy as np
import pytest

from analysis.estimates import reml_design
from analysis.estimates.reml import fit_reml

# Rows of a crossed study: block, loss, repeat of the search, seed, score.
SPREADS = {"block": 5.0, "block_loss": 1.0, "search": 0.7, "residual": 0.5}


def drawn(blocks, losses, repeats, seeds, spreads, rng):
    rows = []
    for b in range(blocks):
        of_block = spreads["block"] * rng.standard_normal()
        for loss in range(losses):
            of_loss = spreads["block_loss"] * rng.standard_normal()
            for r in range(repeats):
                of_search = spreads["search"] * rng.standard_normal()
                for s in range(seeds):
                    noise = spreads["residual"] * rng.standard_normal()
                    rows.append(
                        (b, loss, r, s, 70 + loss + of_block + of_loss + of_search + noise)
                    )
    return rows


def fitted(rows, **options):
    block, loss, repeat, _, score = zip(*rows, strict=True)
    pairs = list(zip(loss, repeat, strict=True))
    terms = {"block": block, "block_loss": loss, "search": pairs}
    return fit_reml(score, fixed_N=loss, clusters_N=block, terms=terms, **options)


def variances(fit):
    return {name: component.variance for name, component in fit.components.items()}


def dense_deviance(rows, components):
    """Minus twice the restricted log likelihood from the whole covariance, up to a constant."""
    block, loss, repeat, _, score = (np.array(column) for column in zip(*rows, strict=True))
    same_block = block[:, None] == block
    same_loss = same_block & (loss[:, None] == loss)
    same_search = same_loss & (repeat[:, None] == repeat)
    matrices = (same_block, same_loss, same_search, np.eye(len(rows)))
    covariance = sum(v * matrix for v, matrix in zip(components, matrices, strict=True))
    fixed = (loss[:, None] == np.unique(loss)).astype(float)
    inverse = np.linalg.inv(covariance)
    information = fixed.T @ inverse @ fixed
    projected = inverse - inverse @ fixed @ np.linalg.solve(information, fixed.T @ inverse)
    logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
    return logs + score @ projected @ score


def test_a_balanced_design_gives_the_estimates_of_the_analysis_of_variance():
    blocks, losses, repeats, seeds = 8, 4, 3, 3
    rows = drawn(blocks, losses, repeats, seeds, SPREADS, np.random.default_rng(1))
    score = np.array([row[-1] for row in rows]).reshape(blocks, losses, repeats, seeds)
    of_search = score.mean(axis=3)
    of_loss = of_search.mean(axis=2)
    of_block = of_loss.mean(axis=1)
    crossed = of_loss - of_loss.mean(axis=0) - of_block[:, None] + of_loss.mean()
    residual = score.var(axis=3, ddof=1).mean()
    search = of_search.var(axis=2, ddof=1).mean() - residual / seeds
    pairs = (crossed**2).sum() / ((blocks - 1) * (losses - 1))
    block_loss = pairs - (search + residual / seeds) / repeats
    block = of_block.var(ddof=1) - pairs / losses

    assert variances(fitted(rows)) == pytest.approx(
        {"block": block, "block_loss": block_loss, "search": search, "residual": residual},
        rel=1e-3,
    )


def test_an_unbalanced_design_gives_the_estimates_of_statsmodels():
    pandas = pytest.importorskip("pandas")
    from statsmodels.formula.api import mixedlm

    rng = np.random.default_rng(0)
    rows = drawn(10, 4, 3, 3, SPREADS, rng)
    rows = [row for row in rows if rng.random() < 0.7]
    frame = pandas.DataFrame(rows, columns=["b", "l", "r", "s", "y"])
    frame["bl"] = frame.b.astype(str) + "_" + frame.l.astype(str)
    frame["blr"] = frame.bl + "_" + frame.r.astype(str)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = mixedlm(
            "y ~ C(l)",
            frame,
            groups="b",
            re_formula="1",
            vc_formula={"bl": "0 + C(bl)", "blr": "0 + C(blr)"},
        ).fit(reml=True)

    assert list(variances(fitted(rows)).values()) == pytest.approx(
        [theirs.cov_re.iloc[0, 0], *theirs.vcomp, theirs.scale], rel=5e-3
    )


def test_no_other_components_are_more_likely_by_the_whole_covariance():
    rng = np.random.default_rng(3)
    rows = [row for row in drawn(6, 3, 2, 3, SPREADS, rng) if rng.random() < 0.8]
    found = np.array(list(variances(fitted(rows)).values()))
    least = dense_deviance(rows, found)
    for _ in range(60):
        other = np.maximum(found * np.exp(0.3 * rng.standard_normal(4)), 1e-6)
        assert dense_deviance(rows, other) >= least - 1e-4


def test_interval_ends_are_where_the_profile_of_the_whole_covariance_is_3_84_above():
    from scipy.optimize import minimize

    rng = np.random.default_rng(5)
    rows = [row for row in drawn(5, 3, 2, 3, SPREADS, rng) if rng.random() < 0.9]
    fit = fitted(rows)
    best = np.array(list(variances(fit).values()))
    least = dense_deviance(rows, best)
    component = fit.components["residual"]
    for end in (component.low, component.high):
        others = minimize(
            lambda logs, end=end: dense_deviance(rows, [*np.exp(logs), end]),
            np.log(np.maximum(best[:3], 0.05)),
            method="Nelder-Mead",
            options={"fatol": 1e-6, "maxiter": 2000},
        )
        assert others.fun - least == pytest.approx(3.841, abs=0.05)


def nested(seed):
    """18 clusters of 3 configs, two of which were run twice; runs hardly differ."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"{cluster}-{loss}", loss, config, level + of_config + rng.normal(0, 0.5))
        for cluster in range(6)
        for loss in range(3)
        for level in (rng.normal(0, 5),)
        for config in range(3)
        for of_config in (rng.normal(0, 3),)
        for _ in range(2 if config < 2 else 1)
    ]
    return [list(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("seed", range(10))
def test_intervals_are_found_where_a_component_is_far_larger_than_the_residual(seed):
    clusters, losses, configs, scores = nested(seed)
    fit = fit_reml(
        np.array(scores),
        fixed_N=losses,
        clusters_N=clusters,
        terms={"block": ["" for _ in scores], "config": configs},
    )
    for component in fit.components.values():
        assert component.low < component.variance < component.high


def test_rows_may_come_in_any_order_and_levels_have_any_names():
    rows = drawn(5, 3, 2, 2, SPREADS, np.random.default_rng(2))
    order = np.random.default_rng(7).permutation(len(rows))
    found = fitted(rows)
    assert fitted([rows[i] for i in order]) == found
    renamed = [(f"block {9 - b}", f"loss {loss}", r, s, y) for b, loss, r, s, y in rows]
    assert variances(fitted(renamed)) == pytest.approx(variances(found), rel=1e-4, abs=1e-6)


def test_a_component_that_would_be_negative_is_zero_and_says_so():
    rng = np.random.default_rng(0)
    rows = drawn(6, 3, 2, 4, SPREADS, rng)
    # Scores whose repeats are nearer to each other than their seeds allow.
    score = np.array([row[-1] for row in rows]).reshape(6, 3, 2, 4)
    score -= score.mean(axis=3, keepdims=True) - score.mean(axis=(2, 3), keepdims=True)
    fit = fitted([(*row[:4], y) for row, y in zip(rows, score.ravel(), strict=True)])
    assert fit.components["search"].variance == 0
    assert fit.components["search"].is_truncated
    assert fit.components["search"].low == 0
    assert fit.components["search"].high > 0
    assert not fit.components["block"].is_truncated


def test_terms_that_are_not_identifiable_are_named_and_not_estimated():
    one_repeat = fitted(drawn(4, 3, 1, 2, SPREADS, np.random.default_rng(0)))
    assert one_repeat.merged == {"search": "block_loss"}
    one_seed = fitted(drawn(4, 3, 2, 1, SPREADS, np.random.default_rng(0)))
    assert one_seed.merged == {"search": "residual"}
    one_block = fitted(drawn(1, 3, 2, 2, SPREADS, np.random.default_rng(0)))
    assert one_block.merged == {"block": "", "block_loss": ""}
    assert list(one_block.components) == ["search", "residual"]


def test_scores_that_do_not_vary_have_no_components_and_no_intervals():
    rows = [(*row[:4], 71.3) for row in drawn(3, 2, 2, 2, SPREADS, np.random.default_rng(0))]
    fit = fitted(rows)
    assert set(variances(fit).values()) == {0.0}
    assert all(c.low is None and c.high is None for c in fit.components.values())
    assert not any(c.is_truncated for c in fit.components.values())


def test_fewer_rows_than_effects_have_no_fit_and_scores_that_are_missing_are_refused():
    assert fitted([(0, 0, 0, 0, 70.0), (0, 1, 0, 0, 71.0)]) is None
    with pytest.raises(ValueError, match="finite"):
        fitted([(0, 0, 0, 0, float("nan")), (0, 0, 0, 1, 71.0)])
    with pytest.raises(ValueError, match="rows"):
        fit_reml([1.0, 2.0], fixed_N=[0], clusters_N=[0, 0], terms={})


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(11)
    spreads = {"block": 3.0, "block_loss": 0.8, "search": 0.6, "residual": 0.5}
    held = dict.fromkeys(spreads, 0)
    num = 20  # of 300 studies: 94 to 96 of 100
    for _ in range(num):
        fit = fitted(drawn(8, 3, 2, 3, spreads, rng))
        for name, spread in spreads.items():
            component = fit.components[name]
            held[name] += component.low <= spread**2 <= component.high
    assert min(held.values()) >= 17, held


def searched(configs, rng):
    """Scores of configs of each block on two splits, some of them trained again or on one."""
    rows = []
    for block in range(3):
        of_block = 2 * rng.standard_normal()
        of_split = rng.standard_normal(2)
        for config in range(configs):
            of_config = 0.8 * rng.standard_normal()
            for split in range(1 if config % 5 == 1 else 2):
                for _ in range(3 if config % 7 == 2 else 1):
                    noise = 0.5 * rng.standard_normal()
                    score = 60 + of_block + of_split[split] + of_config + noise
                    rows.append((block, config, split, score))
    return rows


@pytest.mark.parametrize("with_splits", [True, False])
def test_exchangeable_cells_of_large_clusters_lose_nothing(monkeypatch, with_splits):
    rows = searched(40, np.random.default_rng(11))
    block, config, split, score = zip(*rows, strict=True)
    terms = {"block": [""] * len(rows), "config": config}
    terms |= {"split": split} if with_splits else {}

    def fit(many_cells):
        monkeypatch.setattr(reml_design, "MANY_CELLS", many_cells)
        fixed = [0] * len(rows)
        return fit_reml(score, fixed_N=fixed, clusters_N=block, terms=terms)

    def largest(many_cells):
        monkeypatch.setattr(reml_design, "MANY_CELLS", many_cells)
        columns = np.array(score), [0] * len(rows), block, terms
        design = reml_design.design_of(*columns)
        return max(len(pattern.means_CM) for pattern in design.patterns)

    whole, together = fit(1000), fit(0)
    assert largest(0) < largest(1000) / 4
    assert whole.components.keys() == together.components.keys()
    for name, component in whole.components.items():
        other = together.components[name]
        assert other.num_levels == component.num_levels
        for end in ("variance", "low", "high"):
            assert getattr(other, end) == pytest.approx(getattr(component, end), rel=2e-3), name
