"""Images per second into a training loop, by what they come from.

The loop only looks at one pixel of each batch, so that nothing but loading is timed. Images are
synthetic JPEGs of 500 x 375 pixels, cut at random to 224 and flipped:

- PIL: `torch.utils.data.DataLoader` with worker processes; Pillow decodes, torchvision's
  RandomResizedCrop, flip and PILToTensor: how the field does it, but for its floating-point
  normalisation, which ours leaves to the network.
- files: `HostBatches` that decodes the same files in threads.
- cache: `HostBatches` from the memory-mapped cache, shorter side 256.
- device: `DeviceBatches`, all images of the cache where the network is; torch has as many threads
  as there are workers.

    python -m benchmarks.image_loading --workers 1 2 --rounds 5
"""

import argparse
import os
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

from benchmarks.interleaved import interleaved_seconds, median_ratio, print_header
from trainables.batches.cpu_batches import HostBatches
from trainables.batches.device_batches import DeviceBatches
from trainables.file_caches.image_files import ImageFiles
from trainables.file_caches.resized_images import resized

SIDE = 224
SHORTER_SIDE = 256
HEIGHT, WIDTH = 375, 500


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


class DecodedAgain(Dataset[Tensor]):
    """What a DataLoader of the field reads from."""

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths
        self._transform = transforms.Compose(
            [
                transforms.RandomResizedCrop(SIDE),
                transforms.RandomHorizontalFlip(),
                transforms.PILToTensor(),
            ]
        )

    def __getitem__(self, index: int) -> Tensor:
        with Image.open(self._paths[index]) as image:
            images: Tensor = self._transform(image.convert("RGB"))
        return images


def loader(paths: list[Path], arguments: argparse.Namespace, workers: int) -> Iterable[Tensor]:
    """Worker processes live on from epoch to epoch, and the machine's start is not timed."""
    return DataLoader(
        DecodedAgain(paths),
        batch_sampler=[batch.tolist() for batch in batches_of(len(paths), arguments.batch_size)],
        num_workers=workers,
        persistent_workers=True,
        pin_memory=arguments.device == "cuda",
    )


def batches_of(count: int, batch_size: int) -> list[np.ndarray]:
    order = np.random.default_rng(0).permutation(count)
    return [order[first : first + batch_size] for first in range(0, count, batch_size)]


def consume(batches: Iterable[Tensor], device: str) -> None:
    for images_BCHW in batches:
        images_BCHW.to(device)[:, 0, 0, 0].sum().item()


def ways(
    paths: list[Path], folder: Path, arguments: argparse.Namespace, workers: int
) -> dict[str, Callable[[], None]]:
    files = ImageFiles.hashed(paths, folder)
    cache = resized(files, SHORTER_SIDE, folder)
    device = torch.device(arguments.device)
    everything = np.arange(len(paths))

    def host(pixels: ImageFiles | object) -> HostBatches:
        return HostBatches(
            pixels,
            everything,
            image_size=SIDE,
            shorter_side=SHORTER_SIDE,
            crop_scale_min=0.08,
            device=device,
            num_threads=workers,
        )

    on_device = DeviceBatches(
        cache, everything, image_size=SIDE, crop_scale_min=0.08, device=device
    )
    field = loader(paths, arguments, workers)
    batches = batches_of(len(paths), arguments.batch_size)

    def ours(loaded: HostBatches | DeviceBatches) -> Iterator[Tensor]:
        return loaded.training(batches, 0, 1)

    from_files, from_cache = host(files), host(cache)
    return {
        "PIL": lambda: consume(field, arguments.device),
        "files": lambda: consume(ours(from_files), arguments.device),
        "cache": lambda: consume(ours(from_cache), arguments.device),
        "device": lambda: consume(ours(on_device), arguments.device),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    arguments = parser.parse_args()
    print_header("benchmarks.image_loading", arguments.device)
    print(f"{'workers':>7} {'from':8} {'images/s':>9} {'of PIL':>7}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        paths = write_photographs(folder, arguments.images)
        for workers in arguments.workers:
            torch.set_num_threads(workers)
            timings = interleaved_seconds(
                ways(paths, folder, arguments, workers),
                rounds=arguments.rounds,
                device=arguments.device,
            )
            for name, seconds in timings.items():
                speed = len(paths) / statistics.median(seconds)
                ratio = median_ratio(timings, "PIL", name)
                print(f"{workers:7} {name:8} {speed:9.0f} {ratio:7.2f}", flush=True)


if __name__ == "__main__":
    main()
