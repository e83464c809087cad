import torch

from trainables.loss_composition.batch import Batch
from trainables.losses.circle import Circle


def test_hand_computed_for_one_positive_and_one_negative():
    x = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
    output = Circle(gamma=2.0, margin=0.25)(Batch.of(x, torch.tensor([0, 0, 1])))
    # Cosine to the positive 0.6; to the negative 0 and 0.8. The third image has no positive.
    pull = -2.0 * 0.65 * (0.6 - 0.75)
    pushes = torch.tensor([2.0 * 0.25 * (0.0 - 0.25), 2.0 * 1.05 * (0.8 - 0.25)])
    expected = torch.log(1.0 + torch.exp(pull + pushes.double())).sum() / 3
    torch.testing.assert_close(output.value, expected, rtol=1e-6, atol=0.0)
    torch.testing.assert_close(output.active_fraction, torch.tensor(2 / 3).double())


def test_the_weights_pass_no_gradient_on():
    x = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]], dtype=torch.float64)
    cosine = torch.tensor([[1.0, 0.6, 0.0], [0.6, 1.0, 0.8], [0.0, 0.8, 1.0]]).double()
    x.requires_grad_()
    labels = torch.tensor([0, 0, 1])
    gamma, margin = 2.0, 0.25
    gradient = torch.autograd.grad(
        Circle(gamma=gamma, margin=margin)(Batch.of(x, labels)).value, x
    )
    slopes = torch.zeros(3, 3, dtype=torch.float64)
    for a, p, n in ((0, 1, 2), (1, 0, 2)):
        pull, push = 1.0 + margin - cosine[a, p], cosine[a, n] + margin
        exponent = gamma * (push * (cosine[a, n] - margin) - pull * (cosine[a, p] - 1.0 + margin))
        slopes[a, n] = torch.sigmoid(exponent) * gamma * push / 3
        slopes[a, p] = -torch.sigmoid(exponent) * gamma * pull / 3
    unit = torch.nn.functional.normalize(x, dim=1)
    expected = torch.autograd.grad((slopes * (unit @ unit.T)).sum(), x)
    torch.testing.assert_close(gradient, expected)
