import itertools

import torch

from tests.trainables.losses.loss_cases import embeddings
from trainables.loss_composition.batch import Batch
from trainables.losses.tuple_pairwise import TuplePairwise

LABELS = [0, 1, 0, 2, 1, 2, 2, 3]


def cost_of_tuple(reference, positive, negatives, norm_weight):
    cost = (1.0 - reference @ positive) ** 2
    cost = cost + sum((reference @ negative) ** 2 for negative in negatives)
    members = (reference, positive, *negatives)
    return cost + norm_weight * sum((1.0 - output.norm()) ** 2 for output in members)


def test_it_is_the_mean_over_all_tuples_of_each_reference():
    x = embeddings(len(LABELS), dtype=torch.float64)
    by_class = {c: [x[i] for i, label in enumerate(LABELS) if label == c] for c in set(LABELS)}
    of_references = []
    for i, own in enumerate(LABELS):
        positives = [x[j] for j, label in enumerate(LABELS) if label == own and j != i]
        others = [by_class[c] for c in by_class if c != own]
        costs = [
            cost_of_tuple(x[i], positive, negatives, 0.3)
            for positive in positives
            for negatives in itertools.product(*others)
        ]
        if costs:
            of_references.append(sum(costs) / len(costs))
    assert len(of_references) == len(LABELS) - 1  # class 3 has one sample
    output = TuplePairwise(norm_weight=0.3)(Batch.of(x, torch.tensor(LABELS)))
    torch.testing.assert_close(output.value, sum(of_references) / len(of_references))


def test_classes_on_orthogonal_unit_vectors_are_perfect():
    x, labels = torch.eye(6).repeat_interleave(3, dim=0), torch.arange(6).repeat_interleave(3)
    assert TuplePairwise()(Batch.of(x, labels)).value == 0.0
    # Twice as long, (1 - 4)^2 for the positive and 1 for each of its 7 lengths.
    assert TuplePairwise()(Batch.of(2.0 * x, labels)).value == 9.0 + 7.0
    assert TuplePairwise(norm_weight=0.0)(Batch.of(2.0 * x, labels)).value == 9.0
