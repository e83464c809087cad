"""Time of Recall@K (every K) against one float32 matrix product of all pairs of embeddings.

Half a product is the least a method without an index can do, since cosines are symmetric. Needs
torch only; the row of pytorch-metric-learning is skipped where it is not installed. It gives the
hit rate at K = 1 alone.

    python -m benchmarks.recall_at_k --size cub
"""

import argparse
import importlib.util
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.interleaved import interleaved_seconds, median_ratio, print_header
from trainables.metrics.first_positive_rank import first_positive_ranks
from trainables.metrics.recall_at_k import recall_scores

# Images, classes and noise of the test halves: the noise makes Recall@1 about 0.6 to 0.7.
SIZES = {
    "small": (2000, 50, 3.3),
    "cub": (5924, 100, 3.5),
    "cars": (8131, 98, 3.6),
    "sop": (60502, 11316, 2.2),
}
Result = TypeVar("Result")
KS = (1, 2, 4, 8)
GEMM_ROWS = 1024


def clustered_embeddings(size: str, dim: int, device: str) -> tuple[Tensor, Tensor]:
    num_images, num_classes, noise = SIZES[size]
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(num_images) % num_classes
    centres = torch.randn(num_classes, dim, generator=generator)
    noise_vectors = torch.randn(num_images, dim, generator=generator)
    embeddings = normalize(centres[labels] + noise * noise_vectors, dim=1)
    return embeddings.to(device), labels.to(device)


def full_product(embeddings: Tensor) -> Callable[[], None]:
    buffer = torch.empty(min(GEMM_ROWS, len(embeddings)), len(embeddings)).to(embeddings)

    def multiply() -> None:
        for rows in embeddings.split(GEMM_ROWS):
            torch.mm(rows, embeddings.T, out=buffer[: len(rows)])

    return multiply


def pytorch_metric_learning(embeddings: Tensor, labels: Tensor) -> Callable[[], object]:
    from pytorch_metric_learning.distances import CosineSimilarity
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
    from pytorch_metric_learning.utils.inference import CustomKNN

    calculator = AccuracyCalculator(
        include=("precision_at_1",),
        k=max(KS),
        device=embeddings.device,
        knn_func=CustomKNN(CosineSimilarity(), batch_size=GEMM_ROWS),
    )
    return lambda: calculator.get_accuracy(embeddings, labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print_header("benchmarks.recall_at_k", arguments.device)

    embeddings, labels = clustered_embeddings(arguments.size, arguments.dim, arguments.device)
    first_positive_ranks(embeddings[:100], labels[:100])  # loads the libraries
    ranks, extra_mb = with_peak_memory(
        lambda: first_positive_ranks(embeddings, labels), arguments.device
    )
    recalls = ", ".join(f"R@{s.k} {s.value:.3f}" for s in recall_scores(ranks, KS, role="test"))
    print(f"{arguments.size}: {len(labels)} x {arguments.dim}, {recalls}")
    print(f"peak memory beside the embeddings: {extra_mb:.0f} MB\n")

    ways = {
        "product of all pairs": full_product(embeddings),
        "first positive rank, every K": lambda: first_positive_ranks(embeddings, labels),
    }
    if importlib.util.find_spec("pytorch_metric_learning"):
        ways["pytorch-metric-learning, K = 1"] = pytorch_metric_learning(embeddings, labels)
    else:
        print("skipped: pytorch-metric-learning is not installed\n")
    timings = interleaved_seconds(ways, rounds=arguments.rounds, device=arguments.device)
    reference = next(iter(ways))
    print(f"{'method':32} {'seconds':>9} {'ratio':>6}")
    for name, seconds in timings.items():
        ratio = median_ratio(timings, name, reference)
        print(f"{name:32} {statistics.median(seconds):9.4f} {ratio:6.2f}")


def with_peak_memory(way: Callable[[], Result], device: str) -> tuple[Result, float]:
    """What ``way`` returns, and the MB it took at its peak (on the CPU: Linux only)."""
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        result = way()
        return result, (torch.cuda.max_memory_allocated() - before) / 2**20
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = _status_kb("VmRSS")
    result = way()
    return result, (_status_kb("VmHWM") - before) / 2**10


def _status_kb(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


if __name__ == "__main__":
    main()
