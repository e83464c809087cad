"""Time of k-means for NMI and F1, with and without faiss, beside faiss's own k-means.

The embeddings lie near a space of few dimensions, where k-means moves images for many iterations,
as it does on those of a trained network; in clouds of full dimension it stands still at once.

    python -m benchmarks.clustering --size cars --threads 2
"""

import argparse
import statistics
from collections.abc import Callable
from unittest.mock import patch

import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.interleaved import interleaved_seconds, median_ratio, print_header
from benchmarks.synthetic_embeddings import SIZES
from trainables.metrics import _faiss
from trainables.metrics.clustering import agreement
from trainables.metrics.clustering_facts import CLUSTERING, ITERATIONS
from trainables.metrics.k_means import k_means

LATENT_DIM = 32
LATENT_NOISE = 1.6
NOISE = 0.5


def embeddings_of_few_dimensions(size: str, dim: int) -> tuple[Tensor, Tensor]:
    num_images, num_classes, _ = SIZES[size]
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(num_images) % num_classes
    centres = torch.randn(num_classes, LATENT_DIM, generator=generator)
    latent = centres[labels]
    latent = latent + LATENT_NOISE * torch.randn(latent.shape, generator=generator)
    lifted = latent @ torch.randn(LATENT_DIM, dim, generator=generator) / LATENT_DIM**0.5
    noise = NOISE * torch.randn(num_images, dim, generator=generator)
    return normalize(lifted + noise, dim=1), labels


def ours(embeddings: Tensor, num_clusters: int, *, has_faiss: bool) -> Callable[[], Tensor]:
    def cluster() -> Tensor:
        with patch.object(_faiss, "can_search", lambda device: has_faiss):
            return k_means(embeddings, num_clusters)

    return cluster


def of_faiss(embeddings: Tensor, num_clusters: int) -> Callable[[], Tensor]:
    import faiss

    def cluster() -> Tensor:
        faiss.omp_set_num_threads(torch.get_num_threads())
        clustering = faiss.Kmeans(
            embeddings.shape[1],
            num_clusters,
            niter=ITERATIONS,
            min_points_per_centroid=1,
        )
        clustering.train(embeddings.numpy())
        return torch.from_numpy(clustering.index.search(embeddings.numpy(), 1)[1][:, 0])

    return cluster


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="cars")
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print_header("benchmarks.clustering", "cpu")

    embeddings, labels = embeddings_of_few_dimensions(arguments.size, arguments.dim)
    num_clusters = len(labels.unique())
    ways = {"ours, torch": ours(embeddings, num_clusters, has_faiss=False)}
    if _faiss.can_search("cpu"):
        ways["ours, faiss"] = ours(embeddings, num_clusters, has_faiss=True)
        ways["faiss.Kmeans"] = of_faiss(embeddings, num_clusters)
    print(f"{arguments.size}: {len(labels)} x {arguments.dim}, {num_clusters} clusters")
    print(CLUSTERING)
    found: dict[str, Tensor] = {}
    kept = {
        name: lambda name=name, way=way: found.__setitem__(name, way())
        for name, way in ways.items()
    }
    timings = interleaved_seconds(kept, rounds=arguments.rounds, device="cpu")
    print(f"\n{'method':14} {'seconds':>9} {'/ first':>8} {'NMI':>7} {'F1':>7}  clusters as first")
    for name, seconds in timings.items():
        value = agreement(labels.numpy(), found[name].numpy())
        ratio = median_ratio(timings, name, "ours, torch")
        is_equal = torch.equal(found[name], found["ours, torch"])
        print(
            f"{name:14} {statistics.median(seconds):9.3f} {ratio:8.2f} {value.nmi:7.4f} "
            f"{value.f1:7.4f}  {is_equal}"
        )


if __name__ == "__main__":
    main()
