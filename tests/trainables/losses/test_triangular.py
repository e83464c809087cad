import pytest
import torch

from podium.trainables.loss_composition.batch import Batch, References
from podium.trainables.losses.triangular import Triangular
from tests.trainables.losses.loss_cases import embeddings


@pytest.mark.parametrize("length", [0.5, 1.0, 3.0])
def test_at_equal_lengths_it_depends_on_the_half_angle(length):
    angle = torch.tensor(0.7, dtype=torch.float64)
    x = length * torch.stack(
        [torch.tensor([1.0, 0.0]).double(), torch.stack([angle.cos(), angle.sin()])]
    )
    positive = Triangular()(Batch.of(x, torch.tensor([0, 0]))).value
    negative = Triangular()(Batch.of(x, torch.tensor([0, 1]))).value
    torch.testing.assert_close(positive, length**2 + 1.0 - 2.0 * length * torch.cos(angle / 2.0))
    torch.testing.assert_close(negative, length**2 + 1.0 - 2.0 * length * torch.sin(angle / 2.0))


def test_references_take_part_at_their_own_length():
    x, labels = embeddings(6, dtype=torch.float64), torch.tensor([0, 0, 1, 1, 2, 2])
    y = 3.0 * embeddings(2, dtype=torch.float64, seed=9)
    references = References(y, torch.nn.functional.normalize(y), torch.tensor([0, 1]))
    output = Triangular()(Batch.of(x, labels, references=references))
    costs = {True: [], False: []}
    for a, label in zip(x, labels, strict=True):
        for b, other in zip(y, references.labels_R, strict=True):
            third = (a + b if label == other else a - b).norm()
            costs[bool(label == other)].append(0.5 * (a @ a + b @ b) - third + 1.0)
    torch.testing.assert_close(output.value, sum(sum(side) / len(side) for side in costs.values()))
