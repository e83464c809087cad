"""What is said of a loss without torch equals what it declares and does."""

import math
import re
from dataclasses import fields

import pytest

from podium.orchestrator.study.loss_facts import TRAINING_PARAMETERS, facts_of
from podium.search_spaces.conditions import CONDITIONS, PROXIES_IF
from podium.search_spaces.families import FAMILIES
from podium.search_spaces.named_spaces import NAMED_SPACES
from podium.search_spaces.parameters import Choice
from podium.search_spaces.training_parameters import PUBLISHED_TRAINING
from podium.trainables.registry import load, names
from podium.trainables.settings.legal_ranges import Flag, OneOf, Whole
from podium.trainables.settings.training_settings import TrainingSettings
from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run

LOSSES = names("losses")
PARAMETERS = [
    pytest.param(loss, name, id=f"{loss}-{name}")
    for loss in LOSSES
    for name in facts_of(loss).parameters
]
SPACES = [
    pytest.param(loss, space, id=f"{loss}-{space}")
    for loss in LOSSES
    for space in facts_of(loss).spaces
]


TABLES = [*NAMED_SPACES.values(), *FAMILIES.values(), CONDITIONS, PROXIES_IF, PUBLISHED_TRAINING]


@pytest.mark.parametrize("table", TABLES)
def test_rows_of_a_table_are_losses_in_the_order_of_their_names(table):
    assert set(table) <= set(LOSSES)
    assert list(table) == sorted(table)


@pytest.mark.parametrize("loss", LOSSES)
def test_what_is_read_without_torch_is_what_the_loss_declares(loss):
    made = load("losses", loss)
    assert facts_of(loss).parameters == made.declared
    assert made().hyperparameters == facts_of(loss).defaults


@pytest.mark.parametrize("loss", LOSSES)
def test_needs_are_those_of_the_loss_and_no_name_hides_a_setting_of_training(loss):
    assert facts_of(loss).needs == load("losses", loss).needs
    settings = {field.name for field in fields(TrainingSettings)}
    assert not set(facts_of(loss).parameters) & settings


def edges(legal):
    """Values just inside and just outside what is legal."""
    match legal:
        case OneOf(values):
            return values, ("no such name", 1)
        case Flag():
            return (True, False), (1, "true")
        case Whole(low, high):
            return (low, high), (low - 1, high + 1, 2.5, True)
    low, high = legal.low, legal.high
    outside = (math.nextafter(low, -math.inf), math.nextafter(high, math.inf))
    return (low, high), (*outside, math.nan, math.inf, True, "0.5")


@pytest.mark.parametrize(("loss", "name"), PARAMETERS)
def test_the_legal_range_is_what_the_constructor_accepts(loss, name):
    make = load("losses", loss)
    fact = facts_of(loss).parameters[name]
    inside, outside = edges(fact.legal)
    for value in inside:
        assert fact.problem_with(value) is None
        make(**{name: value})
    for value in outside:
        problem = fact.problem_with(value)
        with pytest.raises(ValueError, match=re.escape(f"{name} {problem}")):
            make(**{name: value})


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_has_a_joint_space_that_holds_its_defaults(loss):
    for name, tried in facts_of(loss).spaces["joint"].parameters.items():
        if name in TRAINING_PARAMETERS:
            continue
        default = facts_of(loss).defaults[name]
        if isinstance(tried, Choice):
            assert default in tried.values
        else:
            assert tried.low <= default <= tried.high


@pytest.mark.parametrize("loss", LOSSES)
def test_conditions_and_published_training_speak_of_what_exists(loss):
    facts = facts_of(loss)
    assert set(facts.conditions) <= set(facts_of(loss).legal_parameters)
    for condition in facts.conditions.values():
        parameter = facts.parameters[condition.parameter]
        assert all(parameter.problem_with(value) is None for value in condition.values)
    for name, published in facts.published_training.items():
        assert TRAINING_PARAMETERS[name].problem_with(published.value) is None
        assert published.source


@pytest.mark.parametrize("loss", [*LOSSES, "memory:contrastive", "softmax>contrastive+softmax"])
def test_every_default_says_where_it_comes_from(loss):
    sources = {name: item.source for name, item in facts_of(loss).parameters.items()}
    assert all(sources.values()), sources


@pytest.mark.parametrize(("loss", "space"), SPACES)
def test_every_space_lies_in_the_legal_ranges_and_states_its_source(loss, space):
    ranges = facts_of(loss).spaces[space]
    for name, tried in ranges.parameters.items():
        known = facts_of(loss).legal_parameters[name]
        assert not any(known.problem_with(end) for end in tried.ends())
        assert tried.source
        assert tried.unit == known.unit


@pytest.mark.parametrize(("loss", "space"), SPACES)
def test_both_ends_of_every_range_give_a_finite_value_and_gradient(loss, space):
    x, labels, num_classes = BATCHES["balanced"]
    for name, tried in facts_of(loss).spaces[space].parameters.items():
        for end in tried.ends() if name in facts_of(loss).parameters else ():
            made = prepared_loss(
                loss, num_classes=num_classes, **{**facts_of(loss).defaults, name: end}
            )
            value, gradients, _ = run(made, x, labels)
            assert value.isfinite()
            assert all(gradient.isfinite().all() for gradient in gradients.values())
