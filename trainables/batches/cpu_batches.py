"""Batches of RGB images that threads of the CPU crop and resize ahead of the network.

`prefetched` runs any jobs in threads, in order; `HostBatches` makes batches by it. V = views,
B = images of a batch, S = side of the network's input.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from podium.trainables.batches.augmentation import centre_crop, resized_crop
from podium.trainables.batches.image_batches import ImageBatches, evaluation_chunk
from podium.trainables.batches.random_crops import Crop, Draws, are_flipped, draw_crops
from podium.trainables.file_caches.decoded_pixels import Pixels

Result = TypeVar("Result")

# Enough that no thread waits while a batch is used; each holds its memory.
_LOOK_AHEAD = 3


# A result, complete as soon as all parts have been called, and the parts, in any order.
Job = tuple[Result, Sequence[Callable[[], object]]]


def prefetched(jobs: Iterable[Job[Result]], num_threads: int) -> Generator[Result, None, None]:
    """The results in the order of the jobs; up to three more are under way.

    However the iteration ends - at its end, closed early, by an error or by Ctrl-C - parts that
    have not begun are dropped, and no thread outlives it.

    Args:
        jobs: jobs, taken by the thread that iterates, up to three ahead.
        num_threads: number of threads that call parts.

    Raises:
        Exception: the exception of a part of a job, when the job is due.
    """
    waiting: deque[tuple[Result, list[Future[object]]]] = deque()
    pool = ThreadPoolExecutor(num_threads, thread_name_prefix="images")
    try:
        for result, parts in jobs:
            waiting.append((result, [pool.submit(part) for part in parts]))
            if len(waiting) > _LOOK_AHEAD:
                yield _completed(*waiting.popleft())
        while waiting:
            yield _completed(*waiting.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _completed(result: Result, parts: Sequence[Future[object]]) -> Result:
    for part in parts:
        part.result()
    return result


# Images a thread holds decoded at a time: boxes are computed for all of them at once.
_IMAGES_AT_A_TIME = 8

# Fills a part of a batch with images of these positions.
_Cut = Callable[[npt.NDArray[np.uint8], npt.NDArray[np.int64], slice], None]


@dataclass(frozen=True, eq=False)
class HostBatches(ImageBatches):
    """Batches of RGB images of any size, which are read when a batch needs them.

    Batches are made in page-locked memory and copied without waiting where the network is on
    CUDA. They do not depend on the number of threads.

    Attributes:
        pixels: RGB images, from files or from the cache.
        indices_N: positions of the role's images among ``pixels``.
        image_size: S, in pixels.
        shorter_side: shorter side of images resized for evaluation, at least ``image_size``.
        crop: boxes of training images, drawn at random; None: they look as they do in evaluation.
        device: device of the network.
        num_threads: number of threads that prepare images, at least 1.
    """

    pixels: Pixels
    indices_N: npt.NDArray[np.int64]
    _: KW_ONLY
    image_size: int
    shorter_side: int
    crop: Crop | None
    device: torch.device
    num_threads: int

    def training(
        self, batches: Iterable[npt.NDArray[np.int64]], seed: int, num_views: int
    ) -> Iterator[Tensor]:
        """See `ImageBatches.training`."""
        generator = np.random.default_rng(seed)
        indices = (np.tile(self.indices_N[positions], num_views) for positions in batches)
        if self.crop is None:
            return self._made(self._job(self._cut_centres, indices_B) for indices_B in indices)
        return self._made(
            self._job(
                partial(self._cut_at_random, draw_crops(len(indices_B), generator)), indices_B
            )
            for indices_B in indices
        )

    def evaluation(self) -> Iterator[Tensor]:
        """See `ImageBatches.evaluation`."""
        chunk = evaluation_chunk(self.image_size)
        firsts = range(0, len(self.indices_N), chunk)
        return self._made(
            self._job(self._cut_centres, self.indices_N[first : first + chunk]) for first in firsts
        )

    def _made(self, jobs: Iterable[Job[Tensor]]) -> Iterator[Tensor]:
        with closing(prefetched(jobs, self.num_threads)) as made:
            for images_B3SS in made:
                yield images_B3SS.to(self.device, non_blocking=True)

    def _job(self, cut: _Cut, indices_B: npt.NDArray[np.int64]) -> Job[Tensor]:
        """One part for each thread, so that the first batch is there soon too."""
        images_B3SS = torch.empty(
            (len(indices_B), 3, self.image_size, self.image_size),
            dtype=torch.uint8,
            pin_memory=self.device.type == "cuda",
        )
        size = -(-len(indices_B) // self.num_threads)
        chosen = [slice(first, first + size) for first in range(0, len(indices_B), size)]
        results_B3SS = images_B3SS.numpy()
        return images_B3SS, [partial(cut, results_B3SS, indices_B, part) for part in chosen]

    def _cut_at_random(
        self,
        draws_BA: Draws,
        images_B3SS: npt.NDArray[np.uint8],
        indices_B: npt.NDArray[np.int64],
        part: slice,
    ) -> None:
        assert self.crop is not None
        for first in range(len(indices_B))[part][::_IMAGES_AT_A_TIME]:
            now = slice(first, min(first + _IMAGES_AT_A_TIME, part.stop))
            images = [self.pixels.image(index) for index in indices_B[now].tolist()]
            sizes = np.array([image.shape[:2] for image in images])
            boxes = self.crop(draws_BA[now], sizes)
            for result_3SS, image, box, is_flipped in zip(
                images_B3SS[now], images, boxes, are_flipped(draws_BA[now]), strict=True
            ):
                result_3SS[...] = resized_crop(image, box, self.image_size, is_flipped=is_flipped)

    def _cut_centres(
        self, images_B3SS: npt.NDArray[np.uint8], indices_B: npt.NDArray[np.int64], part: slice
    ) -> None:
        for result_3SS, index in zip(images_B3SS[part], indices_B[part].tolist(), strict=True):
            image = self.pixels.image(index)
            result_3SS[...] = centre_crop(image, self.shorter_side, self.image_size)
