import pytest

from tests.trainables.tiny_networks import settings
from trainables.recipes import training_for
from trainables.training_loop.learning_rates import learning_rates


@pytest.mark.parametrize(
    ("dataset", "backbone", "first_epochs", "rates"),
    [
        ("cub200", "resnet50", (1, 6, 11, 16), (1e-4, 1e-5, 1e-6, 1e-7)),
        ("cub200", "bn_inception", (1, 11, 21, 31), (1e-4, 1e-5, 1e-6, 1e-7)),
        ("cars196", "resnet50", (1, 11, 21, 31), (1e-4, 1e-5, 1e-6, 1e-7)),
        ("cars196", "googlenet", (1, 21, 41, 61), (1e-4, 1e-5, 1e-6, 1e-7)),
        ("sop", "resnet50", (1, 11, 21, 31), (6e-4, 1.5e-4, 3.75e-5, 9.375e-6)),
        ("sop", "bn_inception", (1, 21, 41, 61), (6e-4, 1.5e-4, 3.75e-5, 9.375e-6)),
    ],
)
def test_the_thesis_steps_down_after_these_epochs(dataset, backbone, first_epochs, rates):
    training = training_for("thesis", dataset=dataset, backbone=backbone)
    found = {epoch: learning_rates(training, epoch)["backbone"] for epoch in range(1, 101)}
    for first, rate in zip(first_epochs, rates, strict=True):
        assert found[first] == pytest.approx(rate, rel=1e-12)
        if first > 1:
            assert found[first - 1] > 2 * found[first]
    assert len({round(rate, 20) for epoch, rate in found.items() if epoch < first_epochs[3]}) == 3


def test_without_steps_the_learning_rates_stay_exactly_as_they_are():
    training = settings(learning_rate=0.3, proxy_learning_rate=0.7, step_epochs=0)
    for epoch in (1, 2, 1000):
        assert learning_rates(training, epoch) == {"backbone": 0.3, "embedding": 0.3, "loss": 0.7}


def test_the_embedding_layer_is_that_much_faster_than_the_backbone_in_every_epoch():
    training = settings(learning_rate=0.1, head_learning_rate_factor=5.0, step_epochs=2)
    for epoch in range(1, 9):
        rates = learning_rates(training, epoch)
        assert rates["embedding"] == pytest.approx(5 * rates["backbone"])
