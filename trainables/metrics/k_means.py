"""k-means of embeddings: the same clusters on every machine, from one seed.

The algorithm is ours rather than faiss's, whose presence and version would change the scores. All
is compared as if in float64, and what then agrees to 1e-12 is a tie; faiss or torch only screens
the centres in float32. A cluster whose images did not change keeps its centre, and an image whose
own centre stayed is compared with the centres that moved only.

N = images, P = some of them, C = clusters, M = some of the centres, K = the nearest one or two of
them, D = embedding dimension, or one more.
"""

import torch
from torch import Tensor

from podium.trainables.metrics._cosines import float32_slack, full_precision, slices
from podium.trainables.metrics._screening import largest_products
from podium.trainables.metrics.clustering_facts import ITERATIONS, SEED

_CHUNK_IMAGES = 8192
_EXACT_IMAGES = 1024
_TIE_DECIMALS = 12


def k_means(points_ND: Tensor, num_clusters: int) -> Tensor:
    """Lloyd's algorithm from ``num_clusters`` images drawn without replacement.

    It ends after 20 iterations, or when no image moves and no cluster is empty. An image as near
    to several centres goes to the first of them. A cluster that lost all its images goes on
    from the image farthest from its own centre, the next such cluster from the next farthest.

    Args:
        points_ND: finite, on any device; clustered by Euclidean distance as they are.
        num_clusters: number of clusters, at most N.

    Returns:
        int64 (N,): the cluster of each image, on the device of the points.
    """
    start_C = torch.randperm(len(points_ND), generator=torch.Generator().manual_seed(SEED))
    with full_precision():
        return _Clustering(points_ND, start_C[:num_clusters].to(points_ND.device)).run()


class _Clustering:
    """Points, centres, and the cluster of each point."""

    def __init__(self, points_ND: Tensor, start_C: Tensor) -> None:
        self._points_ND = points_ND
        self._centres_CD = points_ND[start_C].double()
        self._clusters_N = start_C.new_zeros(len(points_ND))
        # Of each point to its own centre, in float32: p c - |c|^2 / 2, larger if nearer, since
        # |p - c|^2 = |p|^2 - 2 (p c - |c|^2 / 2).
        self._nearness_N = points_ND.new_zeros(len(points_ND), dtype=torch.float32)
        longest = float(points_ND.double().norm(dim=1).max())
        # Both sides of a comparison may be off, and no centre is longer than the longest point.
        self._slack = 2.0 * float32_slack(points_ND.shape[1] + 1) * longest**2

    def run(self) -> Tensor:
        has_changed_C = torch.ones_like(self._centres_CD[:, 0], dtype=torch.bool)
        self._assign(has_changed_C)
        for _ in range(ITERATIONS):
            has_moved_C = self._move_centres(has_changed_C)
            before_N = self._clusters_N.clone()
            self._assign(has_moved_C)
            is_other_N = self._clusters_N != before_N
            # An empty cluster may still reach an image though none moved this time.
            if not is_other_N.any() and int(self._sizes().min()) > 0:
                break
            has_changed_C = torch.zeros_like(has_changed_C)
            has_changed_C[before_N[is_other_N]] = True
            has_changed_C[self._clusters_N[is_other_N]] = True
        return self._clusters_N

    def _assign(self, has_moved_C: Tensor) -> None:
        """Bring each point to its nearest centre, knowing which centres moved since last time."""
        half_squares_C1 = self._centres_CD.square().sum(1, keepdim=True) / 2
        extended_CD = torch.cat([self._centres_CD, -half_squares_C1], dim=1).float()
        moved_M = has_moved_C.nonzero().squeeze(1)
        every_C = torch.arange(len(has_moved_C), device=moved_M.device)
        stays_N = ~has_moved_C[self._clusters_N]
        for chunk in slices(0, len(stays_N), _CHUNK_IMAGES):
            for has_stayed in (True, False):
                points_P = (stays_N[chunk] == has_stayed).nonzero().squeeze(1) + chunk.start
                among_M = moved_M if has_stayed else every_C
                if len(points_P) and len(among_M):
                    self._assign_some(points_P, among_M, extended_CD, has_stayed=has_stayed)

    def _assign_some(
        self, points_P: Tensor, among_M: Tensor, extended_CD: Tensor, *, has_stayed: bool
    ) -> None:
        """Bring points to the nearest of some centres, or of those and their own if it stayed."""
        points_PD = self._points_ND[points_P].float()
        extended_PD = torch.cat([points_PD, torch.ones_like(points_PD[:, :1])], dim=1)
        num_listed = min(2, len(among_M))
        found_PK, places_PK = largest_products(extended_PD, extended_CD[among_M], num_listed)
        own_P1 = self._nearness_N[points_P, None] if has_stayed else found_PK[:, :0]
        sorted_PK = torch.cat([found_PK, own_P1], dim=1).sort(descending=True).values
        is_clear_P = torch.ones_like(points_P, dtype=torch.bool)
        if sorted_PK.shape[1] > 1:
            is_clear_P = sorted_PK[:, 0] - sorted_PK[:, 1] > self._slack
        is_new_P = is_clear_P & (found_PK[:, 0] == sorted_PK[:, 0])
        self._clusters_N[points_P[is_new_P]] = among_M[places_PK[is_new_P, 0]]
        self._nearness_N[points_P[is_new_P]] = found_PK[is_new_P, 0]
        self._assign_exactly(points_P[~is_clear_P])

    def _assign_exactly(self, points_P: Tensor) -> None:
        half_squares_C = self._centres_CD.square().sum(1) / 2
        for chunk_P in torch.split(points_P, _EXACT_IMAGES):
            points_PD = self._points_ND[chunk_P].double()
            nearness_PC = torch.addmm(-half_squares_C, points_PD, self._centres_CD.T)
            nearness_PC.round_(decimals=_TIE_DECIMALS)
            # Unlike max, argmax promises the first of equal values.
            clusters_P = nearness_PC.argmax(1)
            self._clusters_N[chunk_P] = clusters_P
            nearest_P = nearness_PC.gather(1, clusters_P[:, None]).squeeze(1)
            self._nearness_N[chunk_P] = nearest_P.float()

    def _move_centres(self, has_changed_C: Tensor) -> Tensor:
        """Give changed clusters their mean, empty ones a far image; say which centres moved."""
        sizes_C = self._sizes()
        is_empty_C = sizes_C == 0
        empty = is_empty_C.nonzero().squeeze(1)
        farthest = self._farthest(len(empty))
        sums_CD = torch.zeros_like(self._centres_CD)
        members = has_changed_C[self._clusters_N].nonzero().squeeze(1)
        for chunk in torch.split(members, _EXACT_IMAGES):
            sums_CD.index_add_(0, self._clusters_N[chunk], self._points_ND[chunk].double())
        means_CD = sums_CD / sizes_C[:, None].clamp(min=1)
        self._centres_CD = torch.where(has_changed_C[:, None], means_CD, self._centres_CD)
        self._centres_CD[empty] = self._points_ND[farthest].double()
        return has_changed_C | is_empty_C

    def _farthest(self, num: int) -> Tensor:
        """The points farthest from their own centres, the farthest first."""
        if num == 0:
            return self._clusters_N[:0]
        squared_N = torch.empty_like(self._nearness_N, dtype=torch.float64)
        for chunk in slices(0, len(squared_N), _EXACT_IMAGES):
            points_PD = self._points_ND[chunk].double()
            centres_PD = self._centres_CD[self._clusters_N[chunk]]
            squared_N[chunk] = (points_PD - centres_PD).square().sum(1)
        squared_N.round_(decimals=_TIE_DECIMALS)
        return squared_N.argsort(descending=True, stable=True)[:num]

    def _sizes(self) -> Tensor:
        return torch.bincount(self._clusters_N, minlength=len(self._centres_CD))
