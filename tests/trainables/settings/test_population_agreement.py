"""Which trials may be members of one population."""

from dataclasses import replace

import pytest

from podium.trainables.registry import load
from podium.trainables.settings.population_agreement import (
    agreement,
    real_names,
    why_alone,
)
from podium.trainables.settings.trial_settings import BackboneSettings, ProtocolSettings
from tests.trainables.trial.test_frozen_features import frozen_trial

CHOOSES = "chooses by each network's own embeddings"


def member(tmp_path, **changes):
    return frozen_trial(
        tmp_path, **{"loss": "multi_similarity", "evaluate_test": False, **changes}
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"mode": "fine_tune"}, "its backbone is trained"),
        ({"mode": "fine_tune", "backbone": BackboneSettings(name="identity")}, None),
        ({"evaluate_test": True}, "it reads the test classes"),
        ({"loss": "untrained", "training": {"epochs": 0}}, "nothing is trained"),
        ({"protocol": ProtocolSettings(kind="refit")}, "nothing is validated"),
        ({"loss": "chopra"}, "it cannot be mapped over its hyperparameters"),
        ({"loss": "contrastive+softmax"}, "it is not one of podium's losses by itself"),
        ({"loss": "memory:contrastive"}, "it is not one of podium's losses by itself"),
        ({"loss": "matryoshka:contrastive"}, "it is not one of podium's losses by itself"),
        ({"training": {"sampler": "hard_neighbours"}}, f"the sampler hard_neighbours {CHOOSES}"),
        ({"training": {"precision": "bf16"}}, "its network is not in float32"),
    ],
)
def test_a_trial_that_runs_alone_says_why(changes, reason, tmp_path):
    assert why_alone(member(tmp_path, **changes)) == reason


@pytest.mark.parametrize(
    "config",
    [
        {"learning_rate": 0.5},
        {"beta": 3.0, "epsilon": 0.2, "margin": 0.1},
        {"alpha": 2},  # a whole number of a real hyperparameter
    ],
)
def test_members_may_differ_in_real_numbers(config, tmp_path):
    first = member(tmp_path)
    assert agreement(replace(first, hyperparameters=config)) == agreement(first)


@pytest.mark.parametrize(
    "changes",
    [
        {"loss": "contrastive"},
        {"embedding_dim": 8},
        {"hyperparameters": {"batch_size": 16}},
        {"training": {"epochs": 3}},
        {"training": {"optimiser": "sgd"}},
    ],
)
def test_members_agree_in_everything_else(changes, tmp_path):
    assert agreement(member(tmp_path, **changes)) != agreement(member(tmp_path))


def test_members_agree_in_choices_of_their_loss_however_these_are_written(tmp_path):
    first = member(tmp_path, loss="triplet")
    named = replace(
        first, hyperparameters={"miner": load("losses", "triplet").declared["miner"].default}
    )
    other = replace(first, hyperparameters={"miner": "semihard_band"})
    assert len({agreement(first), agreement(named), agreement(other)}) == 2


def test_real_names_are_those_that_members_may_differ_in():
    assert real_names("multi_similarity") == ("alpha", "beta", "margin", "epsilon")
    assert "miner" not in real_names("triplet")
