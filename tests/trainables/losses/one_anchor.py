"""A batch of one anchor among references at chosen cosines, for values worked out by hand."""

import torch

from podium.trainables.loss_composition.batch import Batch, References


def one_anchor(*, positives, negatives):
    """The anchor's class is 0, that of negatives 1."""
    cosines = torch.tensor([*positives, *negatives], dtype=torch.float64)
    embeddings = torch.stack([cosines, (1.0 - cosines**2).sqrt()], dim=1)
    labels = [0] * len(positives) + [1] * len(negatives)
    references = References(embeddings, embeddings, torch.tensor(labels))
    anchor = torch.tensor([[1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    return anchor, Batch.of(anchor, torch.tensor([0]), references=references)
