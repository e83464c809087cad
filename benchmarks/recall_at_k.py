"""Time of Recall@K (every K) against one float32 matrix product of all pairs of embeddings.

Half a product is the least a method without an index can do, since cosines are symmetric. The
rows of pytorch-metric-learning, which gives the hit rate at K = 1 alone, are skipped where it, or
faiss, is not installed. ``--reference`` compares every rank with plain float64 and counts;
``--processor`` counts seconds of the processor; ``--float32`` is as on processors that do not
multiply bfloat16.

    python -m benchmarks.recall_at_k --size cub --threads 2 --reference
"""

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.interleaved import interleaved_seconds, median_ratio, print_header
from benchmarks.synthetic_embeddings import (
    GEMM_ROWS,
    SIZES,
    clustered_embeddings,
    full_product,
    with_peak_memory,
)
from podium.trainables.metrics import _negatives
from podium.trainables.metrics.first_positive_rank import FirstPositiveRanks, first_positive_ranks
from podium.trainables.metrics.recall_at_k import recall_scores

KS = (1, 2, 4, 8, 10, 100, 1000)
OURS = "first positive rank, every K"


def pytorch_metric_learning(embeddings: Tensor, labels: Tensor) -> dict[str, Callable[[], object]]:
    from pytorch_metric_learning.distances import CosineSimilarity
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
    from pytorch_metric_learning.utils.inference import CustomKNN, FaissKNN

    searches = {"torch": CustomKNN(CosineSimilarity(), batch_size=GEMM_ROWS)}
    if importlib.util.find_spec("faiss"):
        searches["faiss"] = FaissKNN()
    calculators = {
        name: AccuracyCalculator(
            include=("precision_at_1",), k=8, device=embeddings.device, knn_func=search
        )
        for name, search in searches.items()
    }
    return {
        f"pytorch-metric-learning, {name}": lambda it=calculator: it.get_accuracy(
            embeddings, labels
        )
        for name, calculator in calculators.items()
    }


def compare_with_reference(embeddings: Tensor, labels: Tensor, found: FirstPositiveRanks) -> None:
    """Ranks by float64 products of all pairs, in blocks; counts those that differ."""
    unit = normalize(embeddings.double(), dim=1)
    differing = 0
    ranks = torch.zeros(len(labels), dtype=torch.int64, device=labels.device)
    ranks[found.indices_Q.to(labels.device)] = found.ranks_Q.to(labels.device)
    for rows in torch.arange(len(labels), device=labels.device).split(GEMM_ROWS):
        cosines = unit[rows] @ unit.T
        same = labels[rows, None] == labels
        mine = same.clone()
        mine[torch.arange(len(rows)), rows] = False
        best = cosines.masked_fill(~mine, -2.0).amax(1, keepdim=True)
        expected = 1 + ((cosines >= best) & ~same).sum(1)
        differing += int(((ranks[rows] != expected) & mine.any(1)).sum())
    print(
        f"{differing} of {len(found.ranks_Q)} ranks differ from plain float64; "
        f"{found.num_doubtful} pairs are within float32 rounding and were compared in float64\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.float32:
        _negatives.multiplies_bfloat16 = lambda _: False
    print_header("benchmarks.recall_at_k", arguments.device)

    embeddings, labels = clustered_embeddings(arguments.size, arguments.dim, arguments.device)
    first_positive_ranks(embeddings[:100], labels[:100])  # loads the libraries
    ranks, extra_mb = with_peak_memory(
        lambda: first_positive_ranks(embeddings, labels), arguments.device
    )
    recalls = ", ".join(f"R@{s.k} {s.value:.3f}" for s in recall_scores(ranks, KS, role="test"))
    print(f"{arguments.size}: {len(labels)} x {arguments.dim}, {recalls}")
    print(f"peak memory beside the embeddings: {extra_mb:.0f} MB")
    if arguments.reference:
        compare_with_reference(embeddings, labels, ranks)

    ways = {
        "product of all pairs": full_product(embeddings),
        OURS: lambda: first_positive_ranks(embeddings, labels),
    }
    if importlib.util.find_spec("pytorch_metric_learning"):
        ways |= pytorch_metric_learning(embeddings, labels)
    else:
        print("skipped: pytorch-metric-learning is not installed\n")
    clock = time.process_time if arguments.processor else time.perf_counter
    timings = interleaved_seconds(
        ways, rounds=arguments.rounds, device=arguments.device, clock=clock
    )
    reference = next(iter(ways))
    print(f"{'method':32} {'seconds':>9} {'/ product':>10} {'/ ours':>8}")
    for name, seconds in timings.items():
        by_product, by_ours = (median_ratio(timings, name, other) for other in (reference, OURS))
        print(f"{name:32} {statistics.median(seconds):9.4f} {by_product:10.2f} {by_ours:8.2f}")


if __name__ == "__main__":
    main()
