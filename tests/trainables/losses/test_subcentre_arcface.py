"""The centres of sub-centre ArcFace: the nearest counts, alone it is ArcFace."""

import torch

from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run

X, LABELS, NUM_CLASSES = BATCHES["clustered"]


def some_centres(num_centres):
    loss = prepared_loss("subcentre_arcface", num_classes=NUM_CLASSES, centres=num_centres)
    return loss.proxies.data


def test_a_centre_opposite_to_another_that_is_nearer_to_all_changes_nothing():
    x = torch.ones(len(X), X.shape[1]).double() + 0.1 * torch.nn.functional.normalize(X).double()
    near = torch.ones(NUM_CLASSES, X.shape[1]).double() + 0.1 * some_centres(1)[0]
    values = []
    for proxies in (near[None], torch.stack([-near, near])):
        loss = prepared_loss(
            "subcentre_arcface", num_classes=NUM_CLASSES, centres=len(proxies), dtype=torch.float64
        )
        loss.proxies.data = proxies
        value, gradients, _ = run(loss, x, LABELS)
        values.append(value)
    torch.testing.assert_close(values[0], values[1])
    assert (gradients["proxies"][0] == 0.0).all()
