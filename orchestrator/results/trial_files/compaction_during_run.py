"""Compacts the trials that a run commits, and what their searches leave, while it goes on."""

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

import pyarrow as pa

from orchestrator.results.records.asks import Ask
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.storage.locations import Place
from orchestrator.results.trial_files.compaction import compact_loose
from orchestrator.results.trial_files.compaction_manifest import (
    TRIALS_PER_SEGMENT,
    take_inventory,
)
from orchestrator.results.trial_files.gathered_records import SearchRecords, gather_searches

_LEAST_GATHERED = 8  # trials of a search that is not over
_KEPT_BYTES = 2**26  # of rows in memory, which need not be read again


class CompactionDuringRun:
    """Gathers loose trials as soon as they fill a segment, in a thread, so that no trial waits.

    Asks and attempts are gathered with them, of searches that are over by then, or of which as
    many are in files of their own as are gathered: so each is written anew only log times.

    Use as a context manager around the time in which trials are committed; whoever enters it holds
    the study's lock. Its end waits for a compaction that is under way; if an exception ended the
    block, that is left as it is, for the next run to finish.

    Args:
        paths: paths of the results folder, without what a killed compaction leaves.
        check_ownership: raises if another process owns the study by now; called in the thread.
    """

    def __init__(self, paths: StudyPaths, check_ownership: Callable[[], object]) -> None:
        self._paths = paths
        self._check_ownership = check_ownership
        self._loose: dict[str, Place] = {}
        self._rows: dict[str, pa.Table] = {}
        self._kept_bytes = 0
        self._pending: dict[str, list[str]] = {}  # search -> trials whose attempts have files
        self._num_gathered: Counter[str] = Counter()  # trials of a search
        self._due: dict[str, SearchRecords] = {}
        self._thread: threading.Thread | None = None
        self._abandoned = threading.Event()
        self._error: Exception | None = None
        self._knows_earlier = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._abandoned.set()
        if self._thread is not None:
            self._thread.join()
        if error is None:
            self.raise_if_failed()

    def committed(self, search: str, trial_id: str, row: pa.Table | None) -> None:
        """A trial has a row: where it fills a segment with others, they are compacted.

        Args:
            search: id of the trial's search.
            trial_id: its id.
            row: its row, if this process has just written it.
        """
        self._loose[trial_id] = self._paths.trial(search, trial_id)
        num_bytes = row.get_total_buffer_size() if row is not None else 0
        if row is not None and self._kept_bytes + num_bytes <= _KEPT_BYTES:
            self._rows[trial_id] = row
            self._kept_bytes += num_bytes
        is_busy = self._thread is not None and self._thread.is_alive()
        if len(self._loose) < TRIALS_PER_SEGMENT or is_busy or self._error is not None:
            return
        due = self._loose, self._rows, self._due
        self._loose, self._rows, self._due, self._kept_bytes = {}, {}, {}, 0
        self._thread = threading.Thread(
            target=self._compact, args=due, name="compaction", daemon=True
        )
        self._thread.start()

    def search_advanced(
        self, search: str, asks: Sequence[Ask], trial_id: str, is_over: bool
    ) -> None:
        """Another trial of a search has a row.

        Args:
            search: id of the search.
            asks: its asks so far, by index.
            trial_id: id of the trial.
            is_over: whether every trial of the search has a row.
        """
        pending = self._pending.setdefault(search, [])
        pending.append(trial_id)
        if not is_over and len(pending) < max(_LEAST_GATHERED, self._num_gathered[search]):
            return
        earlier = self._due[search].trial_ids if search in self._due else ()
        self._due[search] = SearchRecords(asks, (*earlier, *self._pending.pop(search)))
        self._num_gathered[search] += len(pending)

    def raise_if_failed(self) -> None:
        """Raise the error that ended a compaction: it must end the run too."""
        if self._error is not None:
            raise self._error

    def _compact(
        self,
        gathered: dict[str, Place],
        rows: Mapping[str, pa.Table],
        searches: Mapping[str, SearchRecords],
    ) -> None:
        try:
            if not self._knows_earlier:  # listed once, and only where trials fill a segment
                gathered |= take_inventory(self._paths).loose
                self._knows_earlier = True
            compact_loose(self._paths, gathered, self._check, rows)
            gather_searches(self._paths, searches, self._check)
        except _Abandoned:
            pass
        except Exception as error:  # of any kind: it ends the run, in the run's own thread
            self._error = error

    def _check(self) -> None:
        if self._abandoned.is_set():
            raise _Abandoned
        self._check_ownership()


class _Abandoned(Exception):
    """The run ended by an error: the next one finishes the compaction."""
