from tests.trainables.losses.loss_cases import prepared_loss

NAME = "probability_driven"


def test_training_starts_from_the_initial_numbers():
    default = prepared_loss(NAME, num_classes=6)
    assert dict(default.named_parameters()) == {"scale": 10.0, "offset": -5.0}
    loss = prepared_loss(NAME, num_classes=6, initial_scale=3.0, initial_offset=-2.0)
    assert dict(loss.named_parameters()) == {"scale": 3.0, "offset": -2.0}
