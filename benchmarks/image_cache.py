"""How fast images are hashed, decoded and resized into the cache of a node.

    python -m benchmarks.image_cache [--images 1000] [--threads 1 2 4] [--side 256] [--rounds 3]

Images are JPEGs of 500 x 375 pixels, about what the published sets have. ``stat`` is a later
start, when nothing has changed. Files were just written, so that none is read from a disk.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from trainables.file_caches.image_files import ImageFiles
from trainables.file_caches.resized_images import resized

_HEIGHT, _WIDTH = 375, 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=int, default=1000)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        paths = _write(root / "images", options.images)
        print(f"{len(paths)} images, {_kilobytes(paths):.0f} kB each, {os.cpu_count()} cores")
        print(f"{'images a second, median':32}{'':>10}")
        seconds: dict[str, list[float]] = {}
        for number in range(options.rounds):
            cache = root / f"cache{number}"
            _time(seconds, "hash", partial(ImageFiles.hashed, paths, cache))
            _time(seconds, "stat", partial(ImageFiles.hashed, paths, cache))
            files = ImageFiles.hashed(paths, cache)
            for count in options.threads:
                folder = root / f"resized{number}-{count}"
                make = partial(resized, files, options.side, folder, num_threads=count)
                _time(seconds, f"resize and write, {count} thread(s)", make)
        for way, found in seconds.items():
            print(f"{way:32}{len(paths) / statistics.median(found):>10,.0f}")
        made = resized(files, options.side, folder)
        print(f"{made.path.stat().st_size / len(paths):,.0f} bytes an image in the cache")


def _write(folder: Path, count: int) -> list[Path]:
    """Smooth shapes with noise, so that a JPEG has the bytes of a photograph; an hour old."""
    folder.mkdir()
    generator = np.random.default_rng(0)
    paths = [folder / f"{number:05d}.jpg" for number in range(count)]
    for path in paths:
        shapes = Image.fromarray(generator.integers(0, 256, (18, 24, 3), dtype=np.uint8))
        smooth = np.asarray(shapes.resize((_WIDTH, _HEIGHT), Image.Resampling.BICUBIC))
        noisy = smooth + generator.normal(0, 9, smooth.shape)
        Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(path, quality=90)
        os.utime(path, (time.time() - 3600,) * 2)
    return paths


def _kilobytes(paths: list[Path]) -> float:
    return sum(path.stat().st_size for path in paths) / len(paths) / 1e3


def _time(seconds: dict[str, list[float]], way: str, call: Callable[[], object]) -> None:
    started = time.perf_counter()
    call()
    seconds.setdefault(way, []).append(time.perf_counter() - started)


if __name__ == "__main__":
    sys.exit(main())
