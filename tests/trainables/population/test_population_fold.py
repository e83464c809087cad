"""Members of a population against the same trials alone."""

from dataclasses import replace

import pytest
import torch

from podium.trainables.errors import Collapsed, Diverged
from podium.trainables.population.population_fold import PopulationFold
from podium.trainables.population.stacked_step import BIAS, WEIGHT
from podium.trainables.registry import load, names
from podium.trainables.settings.population_agreement import why_alone
from podium.trainables.trial.run_trial import run_trial
from podium.trainables.trial.setup import set_up
from tests.soak import soak
from tests.trainables.trial.test_frozen_features import frozen_trial

CPU = torch.device("cpu")
RATES = (1e-3, 2e-2)


NOT_HERE = {"label_distances", "several_views", "class_text"}  # glyphs have classes alone


def mapped_losses():
    classes = {loss: load("losses", loss) for loss in names("losses")}
    return [
        loss
        for loss, found in classes.items()
        if found.is_vmappable and not found.needs & NOT_HERE
    ]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


def trials(cache, loss, *configs, **training):
    base = frozen_trial(cache, loss=loss, evaluate_test=False, training={"epochs": 2, **training})
    return [replace(base, hyperparameters=config) for config in configs]


def together(members):
    setups = [set_up(member) for member in members]
    fold = PopulationFold(setups, 0, CPU)
    epochs = range(1, setups[0].last_epoch + 1)
    return list(zip(*(fold.run_epoch(epoch) for epoch in epochs), strict=True))


def assert_equal_to_trials_alone(members):
    """All hits; values of the loss up to the rounding of one float32 sum."""
    for member, reports in zip(members, together(members), strict=True):
        for alone, report in zip(run_trial(member), reports, strict=True):
            assert (report.fold, report.epoch) == (alone.fold, alone.epoch)
            for one, other in zip(alone.scores, report.scores, strict=True):
                assert (one.role, one.metric, one.k) == (other.role, other.metric, other.k)
                if one.role == "train":
                    assert other.value == pytest.approx(one.value, rel=1e-5, abs=1e-7)
                else:
                    assert other.value == pytest.approx(one.value, rel=1e-4)
                    assert one.hits == other.hits
                    assert (one.queries, one.gallery) == (other.queries, other.gallery)
            assert [hits.class_ids for hits in alone.class_hits] == [
                hits.class_ids for hits in report.class_hits
            ]


@pytest.mark.parametrize("epochs", [1, *soak(8)])
@pytest.mark.parametrize("loss", mapped_losses())
def test_a_member_of_every_loss_reports_what_it_reports_alone(loss, epochs, cache):
    configs = ({"learning_rate": rate} for rate in RATES)
    members = trials(cache, loss, *configs, epochs=epochs, batch_size=16)
    assert why_alone(members[0]) is None
    assert_equal_to_trials_alone(members)


@pytest.mark.parametrize("optimiser", ["rmsprop", *soak("adamw", "adam", "sgd")])
def test_every_optimiser_moves_members_as_it_moves_them_alone(optimiser, cache):
    configs = [
        {"learning_rate": 1e-3, "weight_decay": 0.0, "proxy_learning_rate": 1e-2},
        {"learning_rate": 5e-3, "weight_decay": 1e-2, "proxy_learning_rate": 1e-3},
    ]
    assert_equal_to_trials_alone(
        trials(
            cache,
            "proxy_anchor",
            *configs,
            optimiser=optimiser,
            proxy_weight_decay=1e-3,
            step_epochs=1,
            step_factor=0.5,
        )
    )


@pytest.mark.parametrize("clipped", ["all", "network", "loss"])
def test_members_clip_by_bounds_of_their_own(clipped, cache):
    configs = [{"clip_value": bound} for bound in (0.0, 1e-3, 0.1)]
    assert_equal_to_trials_alone(trials(cache, "proxy_anchor", *configs, clipped=clipped))


def test_members_of_a_random_miner_draw_the_same_tuples_as_alone(cache):
    configs = [{"miner": "distance_weighted", "margin": margin} for margin in (0.1, 0.3)]
    assert_equal_to_trials_alone(trials(cache, "triplet", *configs))


def test_real_hyperparameters_of_a_loss_reach_its_parameters_at_the_start(cache):
    configs = [{"initial_scale": scale} for scale in (1.0, 20.0)]
    assert_equal_to_trials_alone(trials(cache, "probability_driven", *configs))


def test_a_member_that_diverges_says_what_it_says_alone_and_disturbs_no_other(cache):
    # Decay by a large rate: weights grow ten thousand times at every step.
    configs = [{"head_learning_rate_factor": factor} for factor in (1.0, 1e4)]
    fast = {"optimiser": "sgd", "learning_rate": 1.0, "weight_decay": 1.0}
    members = trials(cache, "contrastive", *configs, epochs=6, **fast)
    sound, diverged = together(members)
    with pytest.raises(Diverged) as caught:
        list(run_trial(members[1]))
    failure = next(report for report in diverged if isinstance(report, Exception))
    assert str(failure) == str(caught.value)
    assert [report.scores for report in sound] == [
        report.scores for report in together(members[:1])[0]
    ]


def test_a_member_that_collapses_is_known_by_its_validation(cache):
    members = trials(cache, "contrastive", *({"learning_rate": rate} for rate in (1e-3, 1e-12)))
    fold = PopulationFold([set_up(member) for member in members], 0, CPU)
    fold._layer[WEIGHT].value[1] = 0.0
    fold._layer[BIAS].value[1] = 1.0
    sound, collapsed = fold.run_epoch(1)
    assert sound.recall(1) > 0.0
    assert isinstance(collapsed, Collapsed)
    assert str(collapsed) == "all 48 val embeddings coincide (fold 0, epoch 1)"


def test_members_that_are_left_go_on_as_if_all_were_there(cache):
    members = trials(cache, "multi_similarity", *({"beta": beta} for beta in (10.0, 40.0, 60.0)))
    setups = [set_up(member) for member in members]
    fold = PopulationFold(setups, 0, CPU)
    fold.run_epoch(1)
    fold.keep([2, 0])
    assert len(fold) == 2
    third, first = fold.run_epoch(2)
    alone = [reports[1] for reports in together(members)]
    for report, other in ((third, alone[2]), (first, alone[0])):
        for score, wanted in zip(report.scores, other.scores, strict=True):
            assert score.value == pytest.approx(wanted.value, rel=1e-5)
