import pytest
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

from podium.trainables.recipes import training_for
from podium.trainables.training_loop.frozen_layers import let_rest
from podium.trainables.training_loop.learning_rates import learning_rates
from tests.trainables.tiny_networks import TinyBackbone, settings


# Of backbone and embedding layer, at epochs 1, 5, 6 and 11.
@pytest.mark.parametrize(
    ("dataset", "backbone", "rates"),
    [
        ("cub200", "resnet50", (1e-4, 1e-4, 1e-5, 1e-6)),
        ("cub200", "bn_inception", (1e-4, 1e-4, 1e-4, 1e-5)),
        ("cub200", "googlenet", (1e-4, 1e-4, 1e-4, 1e-5)),
        ("cars196", "resnet50", (1e-4, 1e-4, 1e-4, 1e-5)),
        ("cars196", "bn_inception", (1e-4, 1e-4, 1e-4, 1e-4)),
        ("cars196", "googlenet", (1e-4, 1e-4, 1e-4, 1e-4)),
        ("sop", "resnet50", (6e-4, 6e-4, 6e-4, 1.5e-4)),
        ("sop", "bn_inception", (6e-4, 6e-4, 6e-4, 6e-4)),
        ("sop", "googlenet", (6e-4, 6e-4, 6e-4, 6e-4)),
    ],
)
def test_the_thesis_trains_the_whole_network_from_the_first_epoch_at_the_rates_of_table_3(
    dataset, backbone, rates
):
    training = training_for("psomas2020", dataset=dataset, backbone=backbone)
    for epoch, rate in zip((1, 5, 6, 11), rates, strict=True):
        assert rates_of_what_trains(training, epoch) == pytest.approx(
            {"backbone": rate, "embedding": rate, "loss": 100 * rate}
        )


def test_the_code_of_the_thesis_first_trains_its_resnet50_on_cub_after_a_step_down():
    training = training_for("psomas2020_code", dataset="cub200", backbone="resnet50")
    found = [rates_of_what_trains(training, epoch)["backbone"] for epoch in (1, 5, 6, 11)]
    assert found == pytest.approx([0.0, 0.0, 5e-5, 2.5e-5])


def rates_of_what_trains(training, epoch):
    """Learning rates of an epoch, 0 for a backbone that rests in it."""
    backbone = TinyBackbone()
    let_rest(backbone, training, epoch)
    trains = any(weight.requires_grad for weight in backbone.parameters())
    rates = learning_rates(training, epoch)
    return rates if trains else {**rates, "backbone": 0.0}


def test_without_steps_the_learning_rates_stay_exactly_as_they_are():
    training = settings(learning_rate=0.3, proxy_learning_rate=0.7, step_epochs=0)
    for epoch in (1, 2, 1000):
        assert learning_rates(training, epoch) == {"backbone": 0.3, "embedding": 0.3, "loss": 0.7}


@pytest.mark.parametrize("rising", [0, 1, 3])
def test_a_cosine_after_an_even_rise_is_that_of_torch(rising):
    training = settings(
        epochs=9, learning_rate=0.5, schedule="cosine", linear_warm_up_epochs=rising
    )
    optimiser = torch.optim.SGD([torch.zeros(1)], lr=0.5)
    cosine = CosineAnnealingLR(optimiser, T_max=9 - rising)
    schedule = cosine
    if rising:
        rise = LinearLR(optimiser, start_factor=1 / (rising + 1), total_iters=rising)
        schedule = SequentialLR(optimiser, [rise, cosine], milestones=[rising])
    for epoch in range(1, 10):
        found = learning_rates(training, epoch)
        (expected,) = schedule.get_last_lr()
        assert found["backbone"] == found["embedding"] == pytest.approx(expected)
        assert found["loss"] == pytest.approx(expected * training.proxy_learning_rate / 0.5)
        optimiser.step()
        schedule.step()


def test_steps_come_after_an_even_rise():
    training = settings(learning_rate=0.8, linear_warm_up_epochs=3, step_epochs=4)
    found = [learning_rates(training, epoch)["backbone"] for epoch in range(1, 6)]
    assert found == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.08])
