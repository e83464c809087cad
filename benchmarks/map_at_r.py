"""Time of R-precision and MAP@R against pytorch-metric-learning, with and without faiss.

python -m benchmarks.map_at_r --size cars --threads 2
"""

import argparse
import statistics
from collections.abc import Callable
from unittest.mock import patch

import torch
from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
from pytorch_metric_learning.utils.inference import CustomKNN, FaissKNN
from torch import Tensor

from benchmarks.interleaved import interleaved_seconds, median_ratio, print_header
from benchmarks.synthetic_embeddings import (
    GEMM_ROWS,
    SIZES,
    clustered_embeddings,
    full_product,
    with_peak_memory,
)
from trainables.metrics import _faiss
from trainables.metrics.precision_at_r import precision_at_r, precision_at_r_scores


def ours(embeddings: Tensor, labels: Tensor, *, has_faiss: bool) -> Callable[[], dict[str, float]]:
    def compute() -> dict[str, float]:
        with patch.object(_faiss, "can_search", lambda device: has_faiss):
            found = precision_at_r(embeddings, labels)
        return {score.metric: score.value for score in precision_at_r_scores(found, role="test")}

    return compute


def theirs(
    embeddings: Tensor, labels: Tensor, search: CustomKNN | FaissKNN
) -> Callable[[], dict[str, float]]:
    calculator = AccuracyCalculator(
        include=("r_precision", "mean_average_precision_at_r"),
        k="max_bin_count",
        device=embeddings.device,
        knn_func=search,
    )
    return lambda: calculator.get_accuracy(embeddings, labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="cars")
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print_header("benchmarks.map_at_r", "cpu")

    embeddings, labels = clustered_embeddings(arguments.size, arguments.dim, "cpu")
    ways = {
        "product of all pairs": full_product(embeddings),
        "ours, torch": ours(embeddings, labels, has_faiss=False),
        "pytorch-metric-learning, torch": theirs(
            embeddings, labels, CustomKNN(CosineSimilarity(), batch_size=GEMM_ROWS)
        ),
    }
    values, extra_mb = with_peak_memory(ways["ours, torch"], "cpu")
    is_equal = True
    if _faiss.can_search("cpu"):
        ways["ours, faiss"] = ours(embeddings, labels, has_faiss=True)
        ways["pytorch-metric-learning, faiss"] = theirs(embeddings, labels, FaissKNN())
        is_equal = ways["ours, torch"]() == ways["ours, faiss"]()
    print(f"{arguments.size}: {len(labels)} x {arguments.dim}, {values}")
    print(f"peak memory of torch beside the embeddings: {extra_mb:.0f} MB")
    print(f"with and without faiss equal to the last bit: {is_equal}\n")
    timings = interleaved_seconds(ways, rounds=arguments.rounds, device="cpu")
    print(f"{'method':32} {'seconds':>9} {'/ product':>10} {'ours / it':>10}")
    for name, seconds in timings.items():
        by_product = median_ratio(timings, name, "product of all pairs")
        by_ours = (
            median_ratio(timings, f"ours, {name.rsplit()[-1]}", name) if "," in name else None
        )
        last = "" if by_ours is None else f"{by_ours:10.2f}"
        print(f"{name:32} {statistics.median(seconds):9.4f} {by_product:10.2f} {last}")


if __name__ == "__main__":
    main()
