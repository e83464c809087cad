"""Lists of the rows with the largest inner products in float32, by faiss or by torch.

A product may be off by float32 rounding, so the end of a list and the order of nearly equal rows
are those of the library at hand. A score is taken only from what this cannot change; the rest is
computed in float64.

Q = queries, N = gallery, K = listed rows, G = groups of columns, S = columns of a group,
D = dimension.
"""

import math

import torch
from torch import Tensor

from podium.trainables.metrics import _faiss
from podium.trainables.metrics._cosines import float32_slack, slices

# Queries of which the products with all rows are in memory at a time: so many, or with large
# galleries fewer, but not too few for a fast matrix product.
_MAX_QUERIES = 1024
_MIN_QUERIES = 256
_PRODUCTS = 2**23

# Fewer columns in a group are searched together.
_MIN_GROUP = 3

# Queries whose list is checked against float64, on a GPU.
_CHECKED_QUERIES = 16


def largest_products(queries_QD: Tensor, gallery_ND: Tensor, num: int) -> tuple[Tensor, Tensor]:
    """The ``num`` rows of the gallery with the largest inner product, the largest first.

    Args:
        queries_QD: float32.
        gallery_ND: float32.
        num: 1 to N.

    Returns:
        (products_QK float32, indices_QK int64).
    """
    device = queries_QD.device.type
    if len(queries_QD) and _faiss.can_search(device):
        found = _faiss.largest_products(queries_QD, gallery_ND, num)
        if device == "cpu" or _is_float32(queries_QD, gallery_ND, *found):
            return found
    products = queries_QD.new_empty(len(queries_QD), num)
    indices = torch.empty_like(products, dtype=torch.int64)
    size = min(max(_PRODUCTS // len(gallery_ND), _MIN_QUERIES), _MAX_QUERIES, len(queries_QD))
    buffer = queries_QD.new_empty(size, len(gallery_ND))
    for rows in slices(0, len(queries_QD), max(size, 1)):
        S_QN = buffer[: rows.stop - rows.start]
        torch.mm(queries_QD[rows], gallery_ND.T, out=S_QN)
        products[rows], indices[rows] = _largest(S_QN, num)
    return products, indices


def _largest(S_QN: Tensor, num: int) -> tuple[Tensor, Tensor]:
    """As topk, several times faster on a CPU.

    The ``num`` largest values lie in the ``num`` groups of columns with the largest maxima.
    """
    num_columns = S_QN.shape[1]
    group = math.isqrt(num_columns // num)
    if group < _MIN_GROUP or S_QN.device.type != "cpu":
        top = S_QN.topk(num, dim=1)
        return top.values, top.indices
    num_groups = num_columns // group
    # Column g of group s is s * G + g: maxima are taken over whole rows of numbers.
    grouped_QSG = S_QN[:, : group * num_groups].view(-1, group, num_groups)
    groups_QK = grouped_QSG.amax(1).topk(num, dim=1, sorted=False).indices
    chosen_QSK = groups_QK[:, None, :].expand(-1, group, -1)
    offsets_S1 = num_groups * torch.arange(group)[:, None]
    rest = torch.arange(group * num_groups, num_columns).expand(len(S_QN), -1)
    columns = torch.cat([(chosen_QSK + offsets_S1).flatten(1), rest], dim=1)
    products = torch.cat(
        [grouped_QSG.gather(2, chosen_QSK).flatten(1), S_QN[:, group * num_groups :]], dim=1
    )
    top = products.topk(num, dim=1)
    return top.values, columns.gather(1, top.indices)


def _is_float32(
    queries_QD: Tensor, gallery_ND: Tensor, products_QK: Tensor, indices_QK: Tensor
) -> bool:
    """Whether listed products are as near to the exact ones as float32 is, TF32 is not."""
    queries_QD = queries_QD[:_CHECKED_QUERIES].double()
    listed_QKD = gallery_ND[indices_QK[:_CHECKED_QUERIES]].double()
    exact_QK = (queries_QD[:, None] * listed_QKD).sum(2)
    lengths_QK = queries_QD.norm(dim=1)[:, None] * listed_QKD.norm(dim=2)
    errors_QK = (products_QK[:_CHECKED_QUERIES] - exact_QK).abs()
    return bool((errors_QK <= float32_slack(queries_QD.shape[1]) * lengths_QK).all())
