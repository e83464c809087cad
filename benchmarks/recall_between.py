"""Exact Recall@K of queries against a gallery that fills a GPU, beside one bf16 product of all.

    python -m benchmarks.recall_between --queries 100000 --gallery 1000000 4000000 --device cuda

Embeddings are made where they are searched: 20 rows of a class around a centre, noise as in the
SOP-sized benchmark. The product is the least that any search of all pairs costs: bf16 in blocks,
numbers thrown away.
"""

import argparse
import statistics
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.interleaved import interleaved_seconds, median_ratio, print_header
from benchmarks.synthetic_embeddings import with_peak_memory
from trainables.metrics.first_positive_rank import (
    FirstPositiveRanks,
    first_positive_ranks,
)
from trainables.metrics.recall_at_k import recall_scores

ROWS_OF_A_CLASS = 20
NOISE = 2.2
BLOCK = 16384
OURS = "exact Recall@K"


def rows(count: int, centres_CD: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """Embeddings of length 1 and their classes, in no order."""
    device = centres_CD.device
    generator = torch.Generator(device).manual_seed(seed)
    labels_N = torch.randint(len(centres_CD), (count,), generator=generator, device=device)
    embeddings_ND = torch.empty(count, centres_CD.shape[1], device=device)
    for part, labels in zip(
        embeddings_ND.split(BLOCK * 16), labels_N.split(BLOCK * 16), strict=True
    ):
        noise = torch.randn(part.shape, generator=generator, device=device)
        part.copy_(normalize(centres_CD[labels] + NOISE * noise, dim=1))
    return embeddings_ND, labels_N


def product(queries_QD: Tensor, gallery_ND: Tensor, dtype: torch.dtype) -> Callable[[], None]:
    """All pairs in blocks of rows and columns, as large as ours are on a GPU."""
    buffer = torch.empty(BLOCK * BLOCK, dtype=dtype, device=queries_QD.device)
    queries = [part.to(dtype) for part in queries_QD.split(BLOCK)]

    def multiply() -> None:
        for columns in gallery_ND.split(BLOCK):
            short = columns.to(dtype)
            for part in queries:
                found = buffer[: len(part) * len(short)].view(len(part), len(short))
                torch.mm(part, short.T, out=found)

    return multiply


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--gallery", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    print_header("benchmarks.recall_between", arguments.device)
    names = ("gallery", "Recall@1", "seconds", "/ bf16", "float32/bf16", "MB beside", "doubtful")
    print(" ".join(f"{column:>14}" for column in names))
    for size in arguments.gallery:
        print(" ".join(f"{value:>14}" for value in row(size, arguments)), flush=True)


def row(size: int, arguments: argparse.Namespace) -> tuple[str, ...]:
    device = arguments.device
    generator = torch.Generator(device).manual_seed(0)
    num_classes = max(2, size // ROWS_OF_A_CLASS)
    centres = torch.randn(num_classes, arguments.dim, generator=generator, device=device)
    queries = rows(arguments.queries, centres, 1)
    gallery = rows(size, centres, 2)
    del centres
    embeddings, labels = (torch.cat(parts) for parts in zip(queries, gallery, strict=True))
    is_gallery = torch.arange(len(labels)) >= len(queries[0])

    def search() -> FirstPositiveRanks:
        return first_positive_ranks(embeddings, labels, is_gallery)

    ranks, extra_mb = with_peak_memory(search, device)
    (recall,) = recall_scores(ranks, (1,), role="test")
    bf16 = "bf16 product"
    ways: dict[str, Callable[[], object]] = {
        bf16: product(queries[0], gallery[0], torch.bfloat16),
        "float32 product": product(queries[0], gallery[0], torch.float32),
        OURS: search,
    }
    timings = interleaved_seconds(ways, rounds=arguments.rounds, device=device)
    return (
        f"{size:,}",
        f"{recall.value:.3f}",
        f"{statistics.median(timings[OURS]):.2f}",
        f"{median_ratio(timings, OURS, bf16):.1f}",
        f"{median_ratio(timings, 'float32 product', bf16):.1f}",
        f"{extra_mb:.0f}",
        f"{ranks.num_doubtful:,}",
    )


if __name__ == "__main__":
    main()
