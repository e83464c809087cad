"""The own class's cosine with its angle multiplied. B = batch, C = training classes."""

import math

from torch import Tensor

from podium.trainables.losses._classification import add_to_own, own_class
from podium.trainables.losses._pairs import angles


def multiply_own_angle(
    S_BC: Tensor, labels_B: Tensor, multiplier: int, softness: float | Tensor
) -> Tensor:
    """Cosines, with psi = (-1)^k cos(m angle) - 2 k in place of the own class's.

    k = floor(m angle / pi), so that psi falls from 1 to 1 - 2 m while the angle rises.

    Args:
        S_BC: cosines.
        labels_B: the own classes.
        multiplier: m.
        softness: weight of the plain cosine beside psi: (softness S + psi) / (softness + 1).
    """
    own_B = own_class(S_BC, labels_B)
    # Chebyshev's polynomials are cos(m angle) with a finite gradient everywhere.
    before_B, multiplied_B = own_B.new_ones(own_B.shape), own_B
    for _ in range(multiplier - 1):
        before_B, multiplied_B = multiplied_B, 2.0 * own_B * multiplied_B - before_B
    k_B = (multiplier * angles(own_B.detach()) / math.pi).floor()
    psi_B = (1.0 - 2.0 * (k_B % 2.0)) * multiplied_B - 2.0 * k_B
    return add_to_own(S_BC, labels_B, (psi_B - own_B) / (1.0 + softness))
