"""The log file of a trial: what it printed, warned and logged, and a line for each epoch.

It is bounded: of a long text the beginning and the end are kept. All attempts at a trial share one
file. No result depends on it, so a log that cannot be written is no failure.
"""

import contextlib
import io
import platform
import re
import time
from datetime import UTC, datetime

from podium.errors import CorruptFileError, StoreError
from podium.orchestrator.results.records.metric_columns import short_label
from podium.orchestrator.results.storage.files import put, read_bytes, remove
from podium.orchestrator.results.storage.locations import RemotePath
from podium.orchestrator.trials.bounded_text import BoundedText
from podium.orchestrator.trials.specification import TrialJob
from podium.orchestrator.trials.worker_messages import Ended
from podium.trainables.trial_reports import EpochReport, Report, Score

_KEPT_CHARACTERS = 32 * 1024  # of the beginning of a file, and as many of its end
_ROW_CHARACTERS = 8_000  # of the end of what was printed, for the trial's row
_EPOCH_LINE = re.compile(
    r"^\[\d\d:\d\d:\d\d\] fold (?P<fold>\d+) epoch (?P<epoch>\d+): "
    r"(?:.*, )?val \S+ (?P<score>-?\d[\d.e+-]*), ",
    re.MULTILINE,
)
_WRITE_SECONDS = 2.0  # between two writes while a trial runs
_REST = 100  # times as long as writing took: 1 % of the time of a trial at most


class TrialLog(io.TextIOBase):
    """What one attempt at a trial says; a stream, for whatever the trial prints.

    Attempts after the first continue the file.
    """

    def __init__(self, job: TrialJob) -> None:
        self._job = job
        self._place = job.paths.trial_log(job.trial_id)
        self._is_remote = isinstance(job.paths.folder, RemotePath)
        self._write_at = time.monotonic() + _WRITE_SECONDS
        self._is_begun = False
        self._printed = BoundedText(_KEPT_CHARACTERS)
        self._whole = BoundedText(_KEPT_CHARACTERS)
        if job.attempt > 1:
            self._whole.write(self._earlier_attempts())
        self._note(f"attempt {job.attempt} on {platform.node()}, {datetime.now(UTC):%Y-%m-%d} UTC")

    def write(self, text: str) -> int:
        """Take in what the trial printed."""
        self._printed.write(text)
        self._whole.write(text)
        return len(text)

    def printed(self) -> str | None:
        """The end of what was printed, secrets removed; None if nothing was."""
        return self._printed.end()[-_ROW_CHARACTERS:] or None

    def note(self, message: Report | Ended) -> None:
        """Take in what the trial reported, or how it ended.

        While the trial runs the file is written now and then, as a worker that is killed writes
        no more, and for who watches; on remote storage, where each time is a request, at the end
        alone.
        """
        self._note(_line(message))
        if time.monotonic() >= self._write_at and not self._is_remote:
            self._write_file()

    def end(self, ended: Ended | None) -> None:
        """Write the file, if the study keeps it, or the trial failed or was begun before.

        Otherwise what was written of it while the trial ran is deleted. None: it was stopped from
        outside.
        """
        self._note("stopped" if ended is None else _line(ended))
        has_failed = ended is not None and ended.state == "FAILED"
        if self._job.keeps_log or has_failed or self._job.attempt > 1:
            self._write_file()
        elif self._is_begun:
            with contextlib.suppress(StoreError, CorruptFileError):
                remove(self._place)

    def _note(self, line: str) -> None:
        self._whole.write(f"[{datetime.now(UTC):%H:%M:%S}] {line}\n")

    def _earlier_attempts(self) -> str:
        with contextlib.suppress(StoreError, CorruptFileError):
            return (read_bytes(self._place) or b"").decode(errors="replace")
        return ""

    def _write_file(self) -> None:
        began = time.monotonic()
        self._is_begun = True
        with contextlib.suppress(StoreError, CorruptFileError):
            put(self._place, self._whole.text().encode(errors="backslashreplace"))
        ended = time.monotonic()
        self._write_at = ended + max(_WRITE_SECONDS, _REST * (ended - began))


def _line(message: Report | Ended) -> str:
    """What was reported, in a line; of a failure also the traceback."""
    if isinstance(message, Ended):
        if message.state != "FAILED":
            return message.state.lower()
        return f"failed: {message.cause}: {message.message}\n{message.traceback or ''}".rstrip()
    # The first score of each role: the training loss, and the first metric at the first K.
    shown = list({score.role: score for score in reversed(message.scores)}.values())[::-1]
    words = [_score_words(score) for score in shown]
    if isinstance(message, EpochReport):
        words.append(f"{message.peak_memory_mb:.0f} MB")
    what = "epoch" if isinstance(message, EpochReport) else "test of epoch"
    which = f"fold {message.fold} {what} {message.epoch}"
    return f"{which}: {', '.join([*words, f'{message.seconds:.2f} s'])}"


def _score_words(score: Score) -> str:
    name = score.metric if score.role == "train" else short_label(score.metric, score.k or 0)
    return f"{score.role} {name} {score.value:.4g}"


def epoch_scores(log: str) -> dict[tuple[int, int], float]:
    """Fold and epoch -> validation score, of the epochs that the text of a log file tells.

    Scores have the four digits that are written there. Of an epoch that several attempts trained
    it is the last.
    """
    return {
        (int(found["fold"]), int(found["epoch"])): float(found["score"])
        for found in _EPOCH_LINE.finditer(log)
    }
