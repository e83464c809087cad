"""Turns: of those who run parts of a study, one at a time starts, ends or compacts.

Meanwhile it may write what all of them share: the snapshot, numbers of runs, the manifest.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from orchestrator.results.locks.held_lock import HeldLock
from orchestrator.results.locks.study_lock import file_in_parts
from orchestrator.results.records.store_paths import StudyPaths
from podium.errors import LockHeldError

_PAUSE_SECONDS = 0.2


@contextmanager
def turn(
    paths: StudyPaths, say: Callable[[str], object], *, watch_seconds: float = 60.0
) -> Iterator[None]:
    """Wait until no other part starts, ends or compacts, and keep others from it in the block.

    Args:
        paths: paths of the results folder.
        say: gets messages, such as that this waits.
        watch_seconds: see `HeldLock`.

    Raises:
        StoreError: the lock of turns cannot be written.
    """
    with ExitStack() as held:
        is_waiting = False
        while True:
            lock = HeldLock(
                paths.folder,
                file_in_parts(paths, "turn"),
                "starting, ending or compacting a part of this study",
                _ignore if is_waiting else say,
                watch_seconds=watch_seconds,
            )
            try:
                held.enter_context(lock)
            except LockHeldError as error:
                if not is_waiting:
                    say(f"Waiting for another part: {error}")
                is_waiting = True
                time.sleep(_PAUSE_SECONDS)
            else:
                break
        yield


def _ignore(line: str) -> None:
    """What a lock says each time it is tried."""
