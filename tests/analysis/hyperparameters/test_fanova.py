"""Trees and their variances, against brute force, scikit-learn's trees and optuna's fANOVA."""

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution
from optuna.importance import FanovaImportanceEvaluator
from sklearn.tree import DecisionTreeRegressor

from analysis.hyperparameters.fanova import _grown, _tree_shares, fanova_shares


def test_the_shares_of_a_tree_are_those_of_a_sum_over_all_its_cells():
    for seed in range(10):
        generator = np.random.default_rng(seed)
        positions = generator.random((10, 3))
        scores = (
            positions[:, 0] + 2 * positions[:, 1] * positions[:, 2] + generator.normal(size=10)
        )
        values, boxes = (found[0] for found in _grown(positions[None], scores[None]))
        edges = [np.unique(boxes[:, column]) for column in range(3)]
        middles = [(one[:-1] + one[1:]) / 2 for one in edges]
        grid = np.stack(np.meshgrid(*middles, indexing="ij"), axis=-1)
        inside = (grid[..., None, :] > boxes[:, :, 0]) & (grid[..., None, :] < boxes[:, :, 1])
        leaf = inside.all(axis=-1)
        assert (leaf.sum(axis=-1) == 1).all()
        score = (leaf * values).sum(axis=-1)
        weights = np.prod(np.meshgrid(*map(np.diff, edges), indexing="ij"), axis=0)
        mean = (score * weights).sum()
        variance = ((score - mean) ** 2 * weights).sum()
        (found,) = _tree_shares(positions[None], scores[None])
        for column, widths in enumerate(map(np.diff, edges)):
            others = tuple(axis for axis in range(3) if axis != column)
            marginal = (score * weights).sum(axis=others) / widths
            expected = ((marginal - mean) ** 2 * widths).sum() / variance
            assert found[column] == pytest.approx(expected)


def test_a_tree_fits_its_configs_and_its_first_split_is_scikit_learns():
    for seed in range(10):
        generator = np.random.default_rng(seed)
        positions = generator.random((30, 3))
        scores = 3 * positions[:, seed % 3] + generator.normal(size=30)
        values, boxes = (found[0] for found in _grown(positions[None], scores[None]))
        inside = (positions[:, None] >= boxes[:, :, 0]) & (positions[:, None] <= boxes[:, :, 1])
        assert inside.all(axis=2).sum(axis=1).tolist() == [1] * 30
        assert inside.all(axis=2) @ values == pytest.approx(scores)
        stump = DecisionTreeRegressor(max_depth=1).fit(positions, scores).tree_
        ends = boxes[:, stump.feature[0]]
        assert np.isclose(ends, stump.threshold[0], atol=1e-6).any()


def test_a_forest_comes_near_to_optunas():
    generator = np.random.default_rng(0)
    positions = generator.random((80, 3))
    kinds = generator.integers(3, size=80)
    scores = 2 * positions[:, 0] + positions[:, 1] ** 2 + 0.7 * (kinds == 1)
    scores = scores + 0.2 * generator.normal(size=80)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize")
    distributions = {
        **{name: FloatDistribution(0, 1) for name in "abc"},
        "kind": CategoricalDistribution("xyz"),
    }
    for row, kind, score in zip(positions, kinds, scores, strict=True):
        params = {**dict(zip("abc", row.tolist(), strict=True)), "kind": "xyz"[kind]}
        study.add_trial(
            optuna.trial.create_trial(params=params, distributions=distributions, value=score)
        )
    expected = FanovaImportanceEvaluator(n_trees=24, seed=0).evaluate(study)
    (found,) = fanova_shares(
        np.c_[positions, kinds],
        [0, 0, 0, 3],
        rows_RN=np.arange(80)[None],
        scores_RN=scores[None],
        generator=np.random.default_rng(0),
        trees=64,
    )
    assert found == pytest.approx([expected[name] for name in ("a", "b", "c", "kind")], abs=0.08)


def test_an_additive_score_is_parted_as_its_variance_is():
    generator = np.random.default_rng(1)
    positions = generator.random((600, 2))
    scores = 3 * positions[:, 0] + positions[:, 1]
    (found,) = fanova_shares(
        positions,
        [0, 0],
        rows_RN=np.arange(600)[None],
        scores_RN=scores[None],
        generator=generator,
    )
    assert found == pytest.approx([0.9, 0.1], abs=0.03)


def test_equal_scores_explain_nothing():
    found = fanova_shares(
        np.random.default_rng(0).random((10, 2)),
        [0, 0],
        rows_RN=np.arange(10)[None],
        scores_RN=np.ones((1, 10)),
        generator=np.random.default_rng(0),
    )
    assert found.tolist() == [[0, 0]]
