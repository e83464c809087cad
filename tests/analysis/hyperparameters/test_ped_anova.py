"""Our PED-ANOVA is optuna's, for any number of weighted replicates at once."""

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.importance import PedAnovaImportanceEvaluator

from podium.analysis.hyperparameters.ped_anova import best_mask, variance_shares
from podium.analysis.hyperparameters.searched_ranges import SearchedRange

CASES = {
    "real": (SearchedRange(low=0.0, high=1.0), FloatDistribution(0, 1)),
    "rate": (SearchedRange(low=1e-4, high=0.1, log=True), FloatDistribution(1e-4, 0.1, log=True)),
    "int": (SearchedRange(low=1, high=9, step=1, is_whole=True), IntDistribution(1, 9)),
    "size": (
        SearchedRange(low=1, high=60, log=True, is_whole=True),
        IntDistribution(1, 60, log=True),
    ),
    "step": (SearchedRange(low=0, high=1, step=0.25), FloatDistribution(0, 1, step=0.25)),
    "kind": (SearchedRange(low=0, high=2, values=("x", "y", "z")), CategoricalDistribution("xyz")),
    "of_x": (SearchedRange(low=0, high=5), FloatDistribution(0, 5)),  # exists where kind is x
}


def drawn_config(generator):
    config = {}
    for name, (searched, _) in CASES.items():
        position = generator.random()
        if searched.is_choice:
            config[name] = str(generator.choice(searched.values, p=(0.7, 0.2, 0.1)))
        elif searched.step == 0.25:
            config[name] = float(round(4 * position) / 4)
        else:
            value = searched.value_at(position)
            config[name] = round(value) if searched.is_whole else value
    if config["kind"] != "x":
        del config["of_x"]
    return config


def optunas(configs, scores, times, quantile):
    distributions = {name: distribution for name, (_, distribution) in CASES.items()}
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(direction="maximize")
    study.add_trials(
        optuna.trial.create_trial(
            params=config,
            distributions={name: distributions[name] for name in config},
            value=score,
        )
        for config, score, count in zip(configs, scores, times, strict=True)
        for _ in range(int(count))
    )
    return PedAnovaImportanceEvaluator(target_quantile=quantile).evaluate(study)


@pytest.mark.filterwarnings("ignore:Some regimes")
def test_it_equals_optunas_with_ties_categories_conditions_and_copies():
    for seed in range(8):
        generator = np.random.default_rng(seed)
        num = int(generator.integers(15, 70))
        quantile = max(0.1, 5 / num)
        configs = [drawn_config(generator) for _ in range(num)]
        scores = np.round([config["real"] + generator.normal() for config in configs], 1)
        drawn = generator.multinomial(num, np.full(num, 1 / num))
        weights = np.stack([np.ones(num), drawn]).astype(float)
        best = best_mask(scores, weights, quantile)
        share = (weights * best).sum(axis=1) / num
        for replicate in range(2):
            expected = optunas(configs, scores, weights[replicate], quantile)
            for name, (searched, _) in CASES.items():
                column = [config.get(name) for config in configs]
                found = variance_shares(
                    searched.cells(searched.positions(column)),
                    searched.num_steps,
                    is_choice=searched.is_choice,
                    weights_RN=weights,
                    best_RN=best,
                )
                in_optunas_unit = found * share * (1 - share)
                assert in_optunas_unit[replicate] == pytest.approx(
                    expected.get(name, 0), rel=1e-9, abs=1e-12
                )


def test_the_best_are_those_of_the_weighted_quantile_with_all_ties():
    scores = np.array([3.0, 1.0, 2.0, 2.0, 0.0])
    weights = np.array([[1, 1, 1, 1, 1], [0, 2, 0, 0, 3]], dtype=float)
    assert best_mask(scores, weights, 0.4).tolist() == [
        [True, False, True, True, False],
        [True, True, True, True, False],
    ]


def test_where_all_are_best_nothing_is_explained():
    weights = np.ones((1, 10))
    best = best_mask(np.ones(10), weights, 0.1)
    cells = np.arange(10)
    assert best.all()
    shares = variance_shares(cells, 10, is_choice=False, weights_RN=weights, best_RN=best)
    assert shares.tolist() == [0]


def test_a_hyperparameter_that_decides_alone_explains_most():
    cells = np.arange(400) % 50
    weights = np.ones((1, 400))
    best = best_mask((cells >= 45).astype(float), weights, 0.1)
    (share,) = variance_shares(cells, 50, is_choice=False, weights_RN=weights, best_RN=best)
    assert 0.7 < share < 1.1
