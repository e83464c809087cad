"""Pushing classes apart by similarities between classes. C = training classes."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def push_classes(similarities_CC: Tensor, alpha: float | Tensor, margin: float | Tensor) -> Tensor:
    """Mean over classes c of log(1 + sum_{v != c} exp(alpha (similarity_cv + margin)))."""
    num_classes = len(similarities_CC)
    classes_C = torch.arange(num_classes, device=similarities_CC.device)
    self_CC = classes_C[:, None] == classes_C
    exponents_CC = (alpha * (similarities_CC + margin)).masked_fill(self_CC, 0.0)
    # With exp(0) on the diagonal as the 1 of the sum, this is the cross-entropy of classifying
    # every class as itself.
    return cross_entropy(exponents_CC, classes_C)
