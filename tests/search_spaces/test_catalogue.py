import re
from dataclasses import fields

import pytest

from search_spaces.catalogue import (
    defaults,
    legal_parameters,
    loss_facts,
    loss_names,
)
from search_spaces.parameters import Real
from search_spaces.training_parameters import TRAINING_PARAMETERS, TRAINING_SPACES
from trainables.settings.trial_settings import TrainingSettings


def test_losses_are_found_by_their_file_names():
    assert {"contrastive", "multi_similarity", "proxy_anchor"} <= set(loss_names())
    assert list(loss_names()) == sorted(loss_names())


def test_an_unknown_loss_is_answered_with_the_nearest_names():
    message = (
        r"unknown loss 'proxy_ancor' \(did you mean 'proxy_anchor'.*\?\); known: .*contrastive"
    )
    with pytest.raises(ValueError, match=message):
        loss_facts("proxy_ancor")


def test_a_joined_space_holds_the_loss_and_the_tuned_training_parameters():
    space = loss_facts("contrastive").joined_space("joint", ["learning_rate"])
    assert space.parameters == {
        "margin": Real(0.0, 1.0, unit="cosine", source="own"),
        "learning_rate": TRAINING_SPACES["learning_rate"],
    }


def test_the_proxy_learning_rate_joins_only_losses_with_proxies():
    tune = ["learning_rate", "proxy_learning_rate"]
    assert list(loss_facts("contrastive").joined_space("joint", tune).parameters) == [
        "margin",
        "learning_rate",
    ]
    assert list(loss_facts("proxy_anchor").joined_space("joint", tune).parameters) == [
        "alpha",
        "margin",
        "learning_rate",
        "proxy_learning_rate",
    ]


def test_an_unknown_space_or_training_parameter_is_answered_with_what_exists():
    message = "unknown space of contrastive 'thesis'; known: joint"
    with pytest.raises(ValueError, match=re.escape(message)):
        loss_facts("contrastive").joined_space("thesis", [])
    message = "unknown training parameter to tune 'learning_rates' (did you mean 'learning_rate'"
    with pytest.raises(ValueError, match=re.escape(message)):
        loss_facts("contrastive").joined_space("joint", ["learning_rates"])


def test_defaults_are_the_published_values():
    assert defaults("contrastive") == {"margin": 0.5}
    assert defaults("multi_similarity") == {
        "alpha": 2.0,
        "beta": 50.0,
        "margin": 0.5,
        "epsilon": 0.1,
    }
    assert defaults("proxy_anchor") == {"alpha": 32.0, "margin": 0.1}


def test_training_parameters_are_fields_of_the_training_settings_with_their_defaults():
    settings = {field.name: field.default for field in fields(TrainingSettings)}
    assert set(TRAINING_SPACES) == set(TRAINING_PARAMETERS)
    for name, parameter in TRAINING_PARAMETERS.items():
        assert parameter.default == settings[name]
        tried = TRAINING_SPACES[name]
        assert tried.low <= parameter.default <= tried.high
        assert [parameter.problem_with(end) for end in tried.ends()] == [None, None]


def test_a_config_may_set_the_loss_and_the_training_parameters():
    assert set(legal_parameters("contrastive")) == {"margin", *TRAINING_PARAMETERS}
