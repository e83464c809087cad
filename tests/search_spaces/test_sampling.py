import optuna

from search_spaces.params import Choice, Int, Real, Space
from search_spaces.sampling import suggest

SPACE = Space(
    {
        "scale": Real(0.1, 100.0, log=True),
        "margin": Real(0.0, 1.0, step=0.25),
        "centres": Int(1, 10),
        "bins": Int(5, 65, step=10),
        "miner": Choice(("none", "hard")),
    }
)


def test_points_drawn_by_optuna_lie_in_the_space():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    points = [suggest(SPACE, study.ask()) for _ in range(200)]
    assert all(list(point) == list(SPACE.parameters) for point in points)
    assert all(0.1 <= point["scale"] <= 100.0 for point in points)
    # Of 200 even draws from three decades about 67 fall into each; 30 is 5.6 deviations below.
    assert sum(point["scale"] < 1.0 for point in points) > 30
    assert {point["margin"] for point in points} == {0.0, 0.25, 0.5, 0.75, 1.0}
    assert {point["centres"] for point in points} == set(range(1, 11))
    assert {point["bins"] for point in points} == set(range(5, 66, 10))
    assert {point["miner"] for point in points} == {"none", "hard"}


def test_a_fixed_trial_gives_back_its_own_values():
    point = {"scale": 2.0, "margin": 0.5, "centres": 3, "bins": 15, "miner": "hard"}
    assert suggest(SPACE, optuna.trial.FixedTrial(point)) == point
