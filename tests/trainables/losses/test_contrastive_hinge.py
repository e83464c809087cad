import pytest
import torch

from tests.trainables.losses.loss_cases import BATCHES, prepared_loss, run


@pytest.mark.parametrize("margin", [0.4, 1.0, 2.5])
@pytest.mark.parametrize("batch_name", ["balanced", "clustered", "unbalanced"])
def test_it_is_twice_the_contrastive_loss_on_cosines_at_one_minus_half_the_margin(
    margin, batch_name
):
    x, labels, num_classes = BATCHES[batch_name]
    ours, on_cosines = (
        run(prepared_loss(name, num_classes=num_classes, margin=value), x.double(), labels)
        for name, value in (("contrastive_hinge", margin), ("contrastive", 1.0 - margin / 2.0))
    )
    torch.testing.assert_close(ours[0], 2.0 * on_cosines[0] + 2.0)
    torch.testing.assert_close(ours[1]["embeddings"], 2.0 * on_cosines[1]["embeddings"])
    torch.testing.assert_close(ours[2], on_cosines[2])
