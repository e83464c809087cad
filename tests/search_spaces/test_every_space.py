"""What is said of a loss without torch equals what its constructor says and does."""

import inspect
import math
import re
from dataclasses import fields

import pytest

from search_spaces.catalogue import defaults, legal_parameters, loss_facts, loss_names
from search_spaces.parameters import Choice
from search_spaces.training_parameters import TRAINING_PARAMETERS
from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run
from trainables.registry import load
from trainables.settings.trial_settings import TrainingSettings

LOSSES = loss_names()
PARAMETERS = [
    pytest.param(loss, name, id=f"{loss}-{name}")
    for loss in LOSSES
    for name in loss_facts(loss).parameters
]
SPACES = [
    pytest.param(loss, space, id=f"{loss}-{space}")
    for loss in LOSSES
    for space in loss_facts(loss).spaces
]


@pytest.mark.parametrize("loss", LOSSES)
def test_names_and_defaults_are_those_of_the_constructor(loss):
    _, *arguments = inspect.signature(load("losses", loss).__init__).parameters.values()
    assert all(argument.kind is argument.KEYWORD_ONLY for argument in arguments)
    declared = {name: fact.default for name, fact in loss_facts(loss).parameters.items()}
    assert {argument.name: argument.default for argument in arguments} == declared


@pytest.mark.parametrize("loss", LOSSES)
def test_needs_are_those_of_the_loss_and_no_name_hides_a_setting_of_training(loss):
    assert loss_facts(loss).needs == load("losses", loss).needs
    settings = {field.name for field in fields(TrainingSettings)}
    assert not set(loss_facts(loss).parameters) & settings


def edges(fact):
    """Values just inside and just outside what is legal."""
    if fact.kind == "choice":
        return fact.choices, ("no such name", 1)
    if fact.kind == "bool":
        return (True, False), (1, "true")
    ends = (fact.low, fact.high)
    if fact.kind == "int":
        return [int(end) for end in ends], (int(ends[0]) - 1, int(ends[1]) + 1, 2.5, True)
    outside = (math.nextafter(fact.low, -math.inf), math.nextafter(fact.high, math.inf))
    return ends, (*outside, math.nan, math.inf, True, "0.5")


@pytest.mark.parametrize(("loss", "name"), PARAMETERS)
def test_the_legal_range_is_what_the_constructor_accepts(loss, name):
    validate = load("losses", loss).validate
    others = defaults(loss)
    fact = loss_facts(loss).parameters[name]
    inside, outside = edges(fact)
    for value in inside:
        assert fact.problem_with(value) is None
        validate(**{**others, name: value})
    for value in outside:
        problem = fact.problem_with(value)
        with pytest.raises(ValueError, match=re.escape(f"{name} {problem}")):
            validate(**{**others, name: value})


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_has_a_joint_space_that_holds_its_defaults(loss):
    for name, tried in loss_facts(loss).spaces["joint"].parameters.items():
        if name in TRAINING_PARAMETERS:
            continue
        default = defaults(loss)[name]
        if isinstance(tried, Choice):
            assert default in tried.values
        else:
            assert tried.low <= default <= tried.high


@pytest.mark.parametrize("loss", LOSSES)
def test_conditions_and_published_training_speak_of_what_exists(loss):
    facts = loss_facts(loss)
    assert set(facts.conditions) <= set(legal_parameters(loss))
    for condition in facts.conditions.values():
        parameter = facts.parameters[condition.parameter]
        assert all(parameter.problem_with(value) is None for value in condition.values)
    for name, value in facts.published_training.items():
        assert TRAINING_PARAMETERS[name].problem_with(value) is None


@pytest.mark.parametrize(("loss", "space"), SPACES)
def test_every_space_lies_in_the_legal_ranges_and_states_its_source(loss, space):
    ranges = loss_facts(loss).spaces[space]
    assert ranges.problems(legal_parameters(loss)) == ()
    for name, tried in ranges.parameters.items():
        assert tried.source
        assert tried.unit == legal_parameters(loss)[name].unit


@pytest.mark.parametrize(("loss", "space"), SPACES)
def test_both_ends_of_every_range_give_a_finite_value_and_gradient(loss, space):
    x, labels, num_classes = BATCHES["balanced"]
    for name, tried in loss_facts(loss).spaces[space].parameters.items():
        for end in tried.ends() if name in loss_facts(loss).parameters else ():
            made = prepared_loss(loss, num_classes=num_classes, **{**defaults(loss), name: end})
            value, gradients, _ = run(made, x, labels)
            assert value.isfinite()
            assert all(gradient.isfinite().all() for gradient in gradients.values())
