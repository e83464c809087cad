"""Prepare the next batches in threads while the present one is used."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Job", "prefetched"]

Result = TypeVar("Result")

# Enough that no thread waits while a batch is used; each holds its memory.
_LOOK_AHEAD = 3


@dataclass(frozen=True, slots=True)
class Job(Generic[Result]):
    """Something that is made in parts.

    Attributes:
        result: complete as soon as all parts have been called.
        parts: independent of each other.
    """

    result: Result
    parts: Sequence[Callable[[], None]]


def prefetched(jobs: Iterable[Job[Result]], num_threads: int) -> Generator[Result, None, None]:
    """The results in the order of the jobs; up to three more are under way.

    However the iteration ends - at its end, closed early, by an error or by Ctrl-C - parts that
    have not begun are dropped, and no thread outlives it.

    Args:
        jobs: taken from the thread that iterates, up to three ahead.
        num_threads: that call parts.

    Raises:
        Exception: what a part of the next job raised, in its turn.
    """
    waiting: deque[tuple[Result, list[Future[None]]]] = deque()
    pool = ThreadPoolExecutor(num_threads, thread_name_prefix="images")
    try:
        for job in jobs:
            waiting.append((job.result, [pool.submit(part) for part in job.parts]))
            if len(waiting) > _LOOK_AHEAD:
                yield _completed(*waiting.popleft())
        while waiting:
            yield _completed(*waiting.popleft())
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _completed(result: Result, parts: Sequence[Future[None]]) -> Result:
    for part in parts:
        part.result()
    return result
