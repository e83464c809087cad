"""Long work on many files in threads, with a line of progress on standard error."""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TextIO, TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_TERMINAL_EVERY_S = 0.2
_LOG_EVERY_S = 30.0
_CHUNK = 8  # items of one task: few enough to stop soon, enough to make tasks cheap
_CHUNKS_AHEAD = 64


class Progress:
    """One line that is overwritten on a terminal, and a new one every 30 seconds elsewhere.

    Work that ends before the first line is due prints nothing.
    """

    def __init__(
        self, what: str, total: int, *, stream: TextIO | None = None, every_s: float | None = None
    ) -> None:
        self._what = what
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        default = _TERMINAL_EVERY_S if self._is_terminal else _LOG_EVERY_S
        self._every_s = default if every_s is None else every_s
        self._done = 0
        self._started = self._printed = time.monotonic()

    def advance(self, count: int) -> None:
        """Count ``count`` more items as done."""
        self._done += count
        now = time.monotonic()
        if now - self._printed < self._every_s:
            return
        self._printed = now
        left_s = (now - self._started) / self._done * (self._total - self._done)
        line = (
            f"podium: {self._what}: {self._done:,} of {self._total:,} "
            f"({100 * self._done // self._total} %),"
            f" {int(left_s) // 60}:{int(left_s) % 60:02d} left"
        )
        self._stream.write(f"\r{line}\x1b[K" if self._is_terminal else f"{line}\n")
        self._stream.flush()

    def end(self) -> None:
        """Clear the line on a terminal."""
        if self._is_terminal and self._printed > self._started:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def in_threads(
    function: Callable[[_Item], _Result],
    items: Sequence[_Item],
    *,
    what: str,
    num_threads: int | None = None,
) -> Iterator[_Result]:
    """``function`` of each item, in order; several at a time, for work that waits or decodes.

    Not more than 512 results wait until they are taken. The first error, or an interrupt, drops
    what is waiting and is passed on once what is running has ended. Unless their number is given
    there are a few more threads than cores. The line of progress says ``what`` is done.
    """
    progress = Progress(what, len(items))
    pool = ThreadPoolExecutor(num_threads)

    def of_chunk(first: int) -> list[_Result]:
        return [function(item) for item in items[first : first + _CHUNK]]

    firsts = iter(range(0, len(items), _CHUNK))
    running = deque(pool.submit(of_chunk, first) for first in islice(firsts, _CHUNKS_AHEAD))
    try:
        while running:
            found = running.popleft().result()
            running.extend(pool.submit(of_chunk, first) for first in islice(firsts, 1))
            yield from found
            progress.advance(len(found))
    finally:
        pool.shutdown(cancel_futures=True)
        progress.end()
