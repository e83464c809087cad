import pytest

from podium.orchestrator.study.loss_facts import TRAINING_PARAMETERS, space_around
from podium.search_spaces.training_parameters import TRAINING_SPACES


@pytest.mark.parametrize("name", TRAINING_SPACES)
def test_what_is_tried_is_legal_and_holds_the_default(name):
    parameter, tried = TRAINING_PARAMETERS[name], TRAINING_SPACES[name]
    assert tried.low <= parameter.default <= tried.high
    assert [parameter.problem_with(end) for end in tried.ends()] == [None, None]


@pytest.mark.parametrize("name", TRAINING_SPACES)
def test_around_the_default_lies_the_standard_space(name):
    assert space_around(name, TRAINING_PARAMETERS[name].default) == TRAINING_SPACES[name]


@pytest.mark.parametrize("name", ["learning_rate", "proxy_learning_rate"])
def test_rates_are_tried_from_a_tenth_to_thirty_times_the_recipes(name):
    tried = space_around(name, 2e-5)
    assert tried.ends() == pytest.approx((2e-6, 6e-4))
    assert tried.log


def test_no_rate_beyond_the_legal_ones_is_tried():
    assert space_around("learning_rate", 0.5).ends() == pytest.approx((0.05, 1.0))


def test_around_no_rate_at_all_lies_the_standard_space():
    assert space_around("proxy_learning_rate", 0.0) == TRAINING_SPACES["proxy_learning_rate"]
