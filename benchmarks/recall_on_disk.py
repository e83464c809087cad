"""Exact Recall@K in a gallery that lies in files, beside one float32 product of the same size.

    python -m benchmarks.recall_on_disk --queries 20000 --gallery 2000000 --dim 128 --threads 2

Embeddings are written to a folder that is removed at the end: 20 rows of a class around a centre,
in no order. The product is of blocks of the same files, numbers thrown away; one half of it is
timed before the search and one after. Both are computed on a GPU, if there is one. Memory is what
the process holds beside pages of files, at its peak. ``--share`` multiplies this part of the
gallery alone and scales: for sizes whose product takes too long. ``--reference`` compares ranks
of so many queries with plain float64.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.interleaved import print_header
from trainables.device import trial_device
from trainables.metrics.first_positive_rank import FirstPositiveRanks
from trainables.metrics.recall_at_k import recall_scores
from trainables.saved_models.embedding_rows import EmbeddingRows, open_rows
from trainables.saved_models.gallery_search import OwnSearcher, ranks_in_gallery

ROWS_OF_A_CLASS = 20
KS = (1, 10, 100, 1000)
WRITTEN_ROWS = 2**16
BLOCK_ROWS, BLOCK_COLUMNS = {"cpu": 1024, "cuda": 16384}, 8192
EVERY_S = 0.02


def write_rows(folder: Path, name: str, count: int, centres_CD: Tensor, noise: float) -> Path:
    """Embeddings and their classes as two .npy files, written part by part."""
    seed = {"queries": 1, "gallery": 2}[name]
    generator = torch.Generator().manual_seed(seed)
    labels_N = torch.randint(len(centres_CD), (count,), generator=generator)
    np.save(folder / f"{name}_labels.npy", labels_N.numpy())
    file = folder / f"{name}.npy"
    shape = (count, centres_CD.shape[1])
    written = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=shape)
    for rows in torch.arange(count).split(WRITTEN_ROWS):
        noise_RD = torch.randn(len(rows), shape[1], generator=generator)
        rows_RD = normalize(centres_CD[labels_N[rows]] + noise * noise_RD, dim=1)
        written[rows[0] : rows[-1] + 1] = rows_RD.numpy()
    written.flush()
    return file


def opened(file: Path) -> EmbeddingRows:
    return open_rows(file, file.with_name(f"{file.stem}_labels.npy"))


def multiply(queries_QD: Tensor, gallery: EmbeddingRows) -> None:
    """All pairs of queries and rows, in blocks."""
    device = queries_QD.device
    block_rows = BLOCK_ROWS[device.type]
    buffer = torch.empty(block_rows * BLOCK_COLUMNS, device=device)
    for part in gallery.parts(BLOCK_COLUMNS * 8):
        embeddings_ND, _ = part.read()
        for columns_CD in embeddings_ND.to(device).split(BLOCK_COLUMNS):
            for rows_RD in queries_QD.split(block_rows):
                shape = (len(rows_RD), len(columns_CD))
                found = buffer[: shape[0] * shape[1]].view(shape)
                torch.mm(rows_RD, columns_CD.T, out=found)
    assert buffer[0].isfinite()  # waits for a GPU


def seconds(way: Callable[[], object]) -> tuple[float, float]:
    """Of the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    way()
    return time.perf_counter() - clock, time.process_time() - processor


@contextmanager
def peak_anonymous_mb() -> Iterator[list[float]]:
    """MB beside pages of files, at the peak and beyond what there was before; Linux only."""
    found, ended, before = [0.0], threading.Event(), anonymous_mb()

    def watch() -> None:
        while not ended.wait(EVERY_S):
            found[0] = max(found[0], anonymous_mb() - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        ended.set()
        watcher.join()


def anonymous_mb() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 2**10


def num_differing(
    ranks: FirstPositiveRanks, queries: EmbeddingRows, gallery: EmbeddingRows, count: int
) -> int:
    """Ranks of the first queries that differ from plain float64 in blocks."""
    indices_Q = ranks.indices_Q[:count]
    embeddings_QD, labels_Q = (rows[indices_Q] for rows in queries.read())
    unit_QD = normalize(embeddings_QD.double(), dim=1)
    best_Q1 = torch.full((len(unit_QD), 1), -torch.inf, dtype=torch.float64)
    above_Q = torch.zeros(len(unit_QD), dtype=torch.int64)
    for is_counted in (False, True):
        for part in gallery.parts(BLOCK_COLUMNS):
            embeddings_CD, labels_C = part.read()
            cosines = unit_QD @ normalize(embeddings_CD.double(), dim=1).T
            is_same = labels_Q[:, None] == labels_C
            if is_counted:
                above_Q += ((cosines >= best_Q1) & ~is_same).sum(1)
            else:
                best = cosines.masked_fill(~is_same, -torch.inf).amax(1, keepdim=True)
                best_Q1 = torch.maximum(best_Q1, best)
    return int((ranks.ranks_Q[:count] != 1 + above_Q).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--gallery", type=int, default=2_000_000)
    parser.add_argument("--dim", type=int, default=128)
    parser.add_argument("--noise", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--reference", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print_header("benchmarks.recall_on_disk", trial_device().type)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        measure(Path(folder), arguments)


def measure(folder: Path, arguments: argparse.Namespace) -> None:
    num_classes = max(2, arguments.gallery // ROWS_OF_A_CLASS)
    generator = torch.Generator().manual_seed(0)
    centres_CD = torch.randn(num_classes, arguments.dim, generator=generator)
    queries, gallery = (
        opened(write_rows(folder, name, count, centres_CD, arguments.noise))
        for name, count in (("queries", arguments.queries), ("gallery", arguments.gallery))
    )
    del centres_CD
    embeddings_QD = queries.read()[0].to(trial_device())
    multiplied = int(arguments.share * len(gallery)) // 2
    halves = list(next(gallery.parts(2 * multiplied)).parts(multiplied))
    found: list[FirstPositiveRanks] = []
    first = seconds(lambda: multiply(embeddings_QD, halves[0]))
    with peak_anonymous_mb() as peak_mb:
        ours = seconds(
            lambda: found.append(ranks_in_gallery(queries, [gallery], OwnSearcher(queries)))
        )
    second = seconds(lambda: multiply(embeddings_QD, halves[1]))
    product = [sum(of_both) / arguments.share for of_both in zip(first, second, strict=True)]
    recalls = ", ".join(f"R@{s.k} {s.value:.3f}" for s in recall_scores(found[0], KS, role="test"))
    print(f"{len(queries):,} queries, gallery of {len(gallery):,} x {gallery.dim}: {recalls}")
    print(f"{found[0].num_doubtful:,} pairs within float32 rounding of a best positive")
    print(f"peak memory beside pages of files: {peak_mb[0]:.0f} MB")
    print(f"{'':28} {'of the clock':>13} {'of the processor':>17}")
    print(f"{'one float32 product, s':28} {product[0]:13.1f} {product[1]:17.1f}")
    print(f"{'exact Recall@K, every K, s':28} {ours[0]:13.1f} {ours[1]:17.1f}")
    ratios = [own / other for own, other in zip(ours, product, strict=True)]
    print(f"{'ratio':28} {ratios[0]:13.2f} {ratios[1]:17.2f}")
    if arguments.reference:
        differing = num_differing(found[0], queries, gallery, arguments.reference)
        print(f"{differing} of {arguments.reference} ranks differ from plain float64")


if __name__ == "__main__":
    main()
