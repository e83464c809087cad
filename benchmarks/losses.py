"""Time of forward + backward of each loss against its twin in pytorch-metric-learning.

Batches of five images a class, as in training. Needs torch only; the twin's columns are skipped
where pytorch-metric-learning is not installed.

    python -m benchmarks.losses --device cuda
"""

import argparse
import importlib.util
import math
import statistics
from collections.abc import Callable

import torch
from torch import Tensor

from benchmarks.interleaved import interleaved_seconds, median_ratio, print_header
from benchmarks.twins import twin_module, twin_names
from podium.trainables.loss_composition.batch import Batch
from podium.trainables.loss_composition.loss_base import Loss
from podium.trainables.registry import load, names

BATCH_SIZES = (100, 180)
NUM_CLASSES = (100, 11318)
SAMPLES_PER_CLASS = 5
MOST_REPEATS = 50

# Their similarities of proxies to proxies take seconds, or more memory than there is.
QUADRATIC_IN_CLASSES = frozenset({"proxy_gml", "thesis_loss_1", "thesis_loss_2"})


def step(
    function: Callable[[Tensor, Tensor], Tensor], x_BD: Tensor, labels_B: Tensor, loss: Loss
) -> Callable[[], None]:
    inputs = [x_BD, *loss.parameters()]

    def forward_and_backward() -> None:
        torch.autograd.grad(function(x_BD, labels_B), inputs)

    return forward_and_backward


def compare(name: str, batch_size: int, num_classes: int, arguments: argparse.Namespace) -> str:
    generator = torch.Generator().manual_seed(0)
    x_BD = torch.randn(batch_size, arguments.dim, generator=generator).to(arguments.device)
    x_BD.requires_grad_()
    chosen = torch.randperm(num_classes, generator=generator)[: batch_size // SAMPLES_PER_CLASS]
    labels_B = chosen.repeat_interleave(SAMPLES_PER_CLASS).to(arguments.device)
    loss = load("losses", name)()
    loss.prepare(num_classes, arguments.dim, generator)
    loss.to(arguments.device)

    more = beside_embeddings(loss, x_BD, generator)

    def ours(x_BD: Tensor, labels_B: Tensor) -> Tensor:
        return loss(Batch.of(x_BD, labels_B, **more)).value

    ways = {"ours": step(ours, x_BD, labels_B, loss)}
    if has_twins() and name in twin_names() and num_classes <= max_classes(name):
        twin = twin_module(name).twin(loss, num_classes, arguments.dim)
        ways["twin"] = step(twin, x_BD, labels_B, loss)
    slowest = max(seconds_of(way, arguments.device) for way in ways.values())
    timings = interleaved_seconds(
        ways,
        rounds=arguments.rounds,
        device=arguments.device,
        repeats=max(1, min(MOST_REPEATS, round(arguments.turn_seconds / slowest))),
    )
    row = f"{name:21} {batch_size:5} {num_classes:8}"
    row += f" {1e3 * statistics.median(timings['ours']):9.3f}"
    if "twin" in timings:
        row += f" {1e3 * statistics.median(timings['twin']):9.3f}"
        row += f" {median_ratio(timings, 'twin', 'ours'):10.2f}"
    return row


def seconds_of(way: Callable[[], None], device: str) -> float:
    """Of the second call; the first one loads what it needs."""
    (seconds,) = interleaved_seconds({"it": way}, rounds=1, device=device)["it"]
    return seconds


def beside_embeddings(loss: Loss, x_BD: Tensor, generator: torch.Generator) -> dict[str, Tensor]:
    """What the loss needs of a batch beside embeddings and labels."""
    noise_BVD = torch.randn(len(x_BD), 4, x_BD.shape[1], generator=generator)
    uniform_BB = torch.rand(len(x_BD), len(x_BD), generator=generator)
    made = {}
    if loss.is_random:
        made["uniform_BB"] = uniform_BB.to(x_BD)
    if "label_distances" in loss.needs:
        made["label_distances_BB"] = (uniform_BB[0, :, None] - uniform_BB[0]).abs().to(x_BD)
    if "class_text" in loss.needs:
        made["class_text_BT"] = noise_BVD[:, 0].to(x_BD)
    if "several_views" in loss.needs:
        made["views_BVD"] = x_BD[:, None] + noise_BVD.to(x_BD)
    return made


def max_classes(name: str) -> float:
    """Up to which number of classes the twin fits into memory."""
    return getattr(twin_module(name), "MAX_CLASSES", math.inf)


def has_twins() -> bool:
    return importlib.util.find_spec("pytorch_metric_learning") is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--turn-seconds", type=float, default=0.1, help="steps timed together")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", nargs="+", choices=names("losses"), metavar="LOSS")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print_header("benchmarks.losses", arguments.device)
    if not has_twins():
        print("skipped: pytorch-metric-learning is not installed, so there are no twins\n")
    print(
        f"{'loss':21} {'batch':>5} {'classes':>8} {'ours ms':>9} {'twin ms':>9} {'twin/ours':>10}"
    )
    for name in arguments.only or names("losses"):
        has_proxies = "proxies" in load("losses", name).needs
        is_lean = has_proxies and name not in QUADRATIC_IN_CLASSES
        for batch_size in BATCH_SIZES:
            for num_classes in NUM_CLASSES if is_lean else NUM_CLASSES[:1]:
                print(compare(name, batch_size, num_classes, arguments), flush=True)


if __name__ == "__main__":
    main()
