import pytest
import torch

from podium.trainables.loss_composition.batch import Batch
from podium.trainables.losses.smooth_ap import SmoothAp
from tests.trainables.losses.loss_cases import BATCHES


def one_minus_average_precision(batch):
    """The mean over anchors that have positives, ranks counted by sorting."""
    losses = []
    for i, similarities in enumerate(batch.normalised_BD @ batch.normalised_BD.T):
        order = [j for j in similarities.argsort(descending=True).tolist() if j != i]
        is_positive = [bool(batch.labels_B[j] == batch.labels_B[i]) for j in order]
        precisions = [
            sum(is_positive[: rank + 1]) / (rank + 1)
            for rank, positive in enumerate(is_positive)
            if positive
        ]
        if precisions:
            losses.append(1.0 - sum(precisions) / len(precisions))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("batch_name", ["balanced", "unbalanced", "singletons beside pairs"])
def test_at_a_low_temperature_it_is_the_average_precision(batch_name):
    x, labels, _ = BATCHES[batch_name]
    batch = Batch.of(x.double(), labels)
    value = SmoothAp(temperature=1e-4)(batch).value
    assert value.item() == pytest.approx(one_minus_average_precision(batch), abs=1e-3)


def test_one_tensor_of_b_cubed_waits_for_the_gradient():
    x, labels, _ = BATCHES["balanced"]
    x = x.clone().requires_grad_()
    kept = set()

    def keep(tensor):
        if tensor.numel() >= len(x) ** 3:
            kept.add(tensor.data_ptr())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        SmoothAp()(Batch.of(x, labels))
    assert len(kept) == 1
