"""Whether loading keeps a GPU busy: training from the cache against the same steps on tensors.

Each step is a trial's own - network under bf16, loss, gradients, optimiser - on batches from

- tensors: one batch that already lies on the GPU;
- host: `HostBatches`, threads that crop and resize the memory-mapped cache;
- device: `DeviceBatches`, all images on the GPU;
- plain: the batch of "tensors" in torch's usual loop: a linear classifier in place of the loss,
  no determinism, cuDNN free to choose the fastest of its ways.

The goal is 90 % of the images per second on tensors, for one trial and for three that share the
GPU. Images are synthetic, weights random: neither changes what a step costs.

    python -m benchmarks.gpu_throughput --trials 1 3
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor, nn

from benchmarks.interleaved import print_header
from podium.trainables.batches.cpu_batches import HostBatches
from podium.trainables.batches.device_batches import DeviceBatches
from podium.trainables.batches.image_batches import ImageBatches
from podium.trainables.batches.labelled_images import LabelledImages
from podium.trainables.batches.random_crops import crop_boxes
from podium.trainables.file_caches.image_files import ImageFiles
from podium.trainables.file_caches.resized_images import resized
from podium.trainables.loss_composition.make_criterion import make_criterion
from podium.trainables.network.embedder import Embedder
from podium.trainables.network.network import Network
from podium.trainables.registry import load
from podium.trainables.reproducibility import reproducible
from podium.trainables.settings.training_settings import TrainingSettings
from podium.trainables.training_loop.trainer import Trainer

WAYS = ("tensors", "host", "device", "plain")
IMAGES_OF_A_CLASS = 10
GOAL = 0.9
HEIGHT, WIDTH = 375, 500

together: Barrier  # of all trials; set in each process as it starts


def write_photographs(folder: Path, count: int) -> list[Path]:
    """JPEGs of the size and weight (about 60 kB) of photographs on the web."""
    paths = [folder / f"{number:05}.jpg" for number in range(count)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(write_photograph, paths, range(count)))
    return paths


def write_photograph(path: Path, seed: int) -> None:
    generator = np.random.default_rng(seed)
    image = np.zeros((HEIGHT, WIDTH, 3))
    for cells, strength in ((4, 1.0), (16, 0.5), (64, 0.25), (180, 0.15)):
        noise = generator.integers(0, 256, (cells * 3 // 4, cells, 3), dtype=np.uint8)
        smooth = Image.fromarray(noise).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
        image += strength * (np.asarray(smooth) - 127.5)
    grey_levels = np.clip(image + 127.5, 0, 255).astype(np.uint8)
    Image.fromarray(grey_levels).save(path, quality=90)


class TensorBatches(ImageBatches):
    """The same images again and again, already where the network is."""

    def __init__(self, image_size: int, device: torch.device) -> None:
        self._image_size = image_size
        self._device = device

    def training(
        self, batches: Iterable[npt.NDArray[np.int64]], seed: int, num_views: int
    ) -> Iterator[Tensor]:
        generator = torch.Generator().manual_seed(seed)
        images_BCHW: Tensor | None = None
        for positions in batches:
            shape = (num_views * len(positions), 3, self._image_size, self._image_size)
            if images_BCHW is None or images_BCHW.shape != shape:
                levels_BCHW = torch.randint(256, shape, dtype=torch.uint8, generator=generator)
                images_BCHW = levels_BCHW.to(self._device)
            yield images_BCHW

    def evaluation(self) -> Iterator[Tensor]:
        raise NotImplementedError("only training is timed")


def image_batches(
    way: str, paths: list[Path], folder: Path, arguments: argparse.Namespace
) -> ImageBatches:
    device, side = torch.device(arguments.device), arguments.image_size
    if way == "tensors":
        return TensorBatches(side, device)
    everything = np.arange(len(paths))
    shorter_side = round(side / 0.875)
    crop = partial(crop_boxes, scale_min=0.08)
    cache = resized(ImageFiles(paths, folder), shorter_side, folder)
    if way == "device":
        return DeviceBatches(
            cache,
            everything,
            image_size=side,
            crop=crop,
            device=device,
        )
    return HostBatches(
        cache,
        everything,
        image_size=side,
        shorter_side=shorter_side,
        crop=crop,
        device=device,
        num_threads=arguments.threads,
    )


def trainer(batches: ImageBatches, arguments: argparse.Namespace) -> Trainer:
    training = TrainingSettings(
        batch_size=arguments.batch_size,
        samples_per_class=5,
        precision="bf16",
        augmentation="random_resized_crop",
        learning_rate=1e-5,
    )
    device = torch.device(arguments.device)
    backbone = load("backbones", arguments.backbone)("random")
    network = Network(Embedder(backbone, 512, training).to(device), training, device)
    positions_N = torch.arange(arguments.images)
    images = LabelledImages(
        batches=batches,
        labels_N=(positions_N // IMAGES_OF_A_CLASS).to(device),
        indices_N=positions_N,
    )
    return Trainer(network, make_criterion("proxy_anchor", {}), images, training, 0)


class PlainLoop:
    """What a script of a few lines does, for the speed of light of this network and optimiser."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._device = device = torch.device(arguments.device)
        self._steps = arguments.images // arguments.batch_size
        backbone = load("backbones", arguments.backbone)("random")
        embedder = Embedder(backbone, 512, TrainingSettings(augmentation="none"))
        classifier = nn.Linear(512, arguments.images // IMAGES_OF_A_CLASS)
        self._network = nn.Sequential(embedder, classifier).to(device)
        self._network.to(memory_format=torch.channels_last)
        self._optimiser = torch.optim.AdamW(self._network.parameters(), lr=1e-5, fused=True)
        batches = TensorBatches(arguments.image_size, device)
        batch = np.arange(arguments.batch_size)
        (images_BCHW,) = batches.training([batch], 0, 1)
        self._images_BCHW = images_BCHW.contiguous(memory_format=torch.channels_last)
        self._labels_B = torch.from_numpy(batch // IMAGES_OF_A_CLASS).to(device)

    def train(self, fold: int, epoch: int) -> None:
        torch.use_deterministic_algorithms(False)
        torch.backends.cudnn.benchmark = True
        for _ in range(self._steps):
            self._optimiser.zero_grad(set_to_none=True)
            with torch.autocast(self._device.type, dtype=torch.bfloat16):
                logits_BC = self._network(self._images_BCHW)
            loss = nn.functional.cross_entropy(logits_BC.float(), self._labels_B)
            loss.backward()
            self._optimiser.step()
        assert loss.isfinite()  # waits for the GPU
        torch.use_deterministic_algorithms(True)
        torch.backends.cudnn.benchmark = False


def share(barrier: Barrier) -> None:
    """Give a process what only its start can hand over."""
    global together
    together = barrier


def run_trial(
    paths: list[Path], folder: Path, arguments: argparse.Namespace
) -> dict[str, list[float]]:
    """Seconds of one epoch of each way in each round, while the other trials do the same."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    try:
        with reproducible(0, arguments.threads):
            trainers: dict[str, Trainer | PlainLoop] = {
                way: PlainLoop(arguments)
                if way == "plain"
                else trainer(image_batches(way, paths, folder, arguments), arguments)
                for way in WAYS
            }
            for epoch in range(1, arguments.rounds + 2):
                for way, trained in trainers.items():
                    together.wait()
                    started = time.perf_counter()
                    trained.train(0, epoch)  # reads its losses, so waits for the GPU
                    seconds[way].append(time.perf_counter() - started)
    except BaseException:
        together.abort()  # or the others would wait for this one
        raise
    return {way: taken[1:] for way, taken in seconds.items()}


def measure(
    num_trials: int, paths: list[Path], folder: Path, arguments: argparse.Namespace
) -> dict[str, list[float]]:
    """Images per second of all trials together, for each way and round."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(num_trials, spawn, share, (spawn.Barrier(num_trials),)) as pool:
        trials = [pool.submit(run_trial, paths, folder, arguments) for _ in range(num_trials)]
        seconds = [trial.result() for trial in trials]
    images = num_trials * (arguments.images // arguments.batch_size) * arguments.batch_size
    return {
        way: [images / max(turn) for turn in zip(*(trial[way] for trial in seconds), strict=True)]
        for way in WAYS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, nargs="+", default=[1, 3], help="at the same time")
    parser.add_argument("--backbone", default="resnet50")
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--threads", type=int, default=4, help="of each trial")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("skipped: no GPU at hand")
        return
    print_header("benchmarks.gpu_throughput", arguments.device)
    print(f"{'trials':>6} {'from':8} {'images/s':>9} {'of tensors':>11}  goal {GOAL}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths = write_photographs(folder, arguments.images)
        for num_trials in arguments.trials:
            speeds = measure(num_trials, paths, folder, arguments)
            for way in WAYS:
                pairs = zip(speeds[way], speeds["tensors"], strict=True)
                ratio = statistics.median(ours / most for ours, most in pairs)
                median = statistics.median(speeds[way])
                print(f"{num_trials:6} {way:8} {median:9.0f} {ratio:11.2f}", flush=True)


if __name__ == "__main__":
    main()
