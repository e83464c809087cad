import io
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from podium.trainables.file_caches.build_progress import Progress, in_threads

# A shell lets what it starts in the background ignore interrupts, and children inherit that.
INTERRUPTED = """
import signal, time
from podium.trainables.file_caches.build_progress import in_threads
signal.signal(signal.SIGINT, signal.default_int_handler)
print("started", flush=True)
list(in_threads(lambda item: time.sleep(0.02), range(100_000), what="sleeping", num_threads=2))
"""


def test_results_come_in_the_order_of_the_items():
    def late_when_early(item):
        time.sleep(0.0001 * (20 - item % 20))
        return item * item

    expected = [item * item for item in range(2000)]
    found = in_threads(late_when_early, range(2000), what="squaring", num_threads=7)
    assert list(found) == expected
    assert list(in_threads(late_when_early, [], what="nothing")) == []


def test_several_are_done_at_the_same_time():
    meeting = threading.Barrier(3, timeout=20)
    met = in_threads(
        lambda item: item % 8 or meeting.wait(), range(24), what="meeting", num_threads=3
    )
    assert len(list(met)) == 24


def test_what_nobody_takes_is_not_made_far_ahead():
    called = []
    found = in_threads(called.append, range(10_000), what="waiting", num_threads=2)
    next(found)
    time.sleep(0.2)
    assert len(called) <= 65 * 8
    found.close()


def test_the_first_error_is_passed_on_and_what_waits_is_dropped():
    called = []

    def fail(item):
        called.append(item)
        raise KeyError(item)

    with pytest.raises(KeyError, match="0"):
        list(in_threads(fail, range(10_000), what="failing", num_threads=1))
    assert len(called) < 10_000


def test_an_interrupt_ends_it_soon():
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout.readline() == b"started\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert err.rstrip().endswith(b"KeyboardInterrupt")


def test_in_a_file_each_line_stands_for_itself():
    stream = io.StringIO()
    progress = Progress("resizing 8 images", 8, stream=stream, every_s=0)
    progress.advance(2)
    progress.advance(6)
    progress.end()
    first, last = stream.getvalue().splitlines()
    assert first.startswith("podium: resizing 8 images: 2 of 8 (25 %), 0:0")
    assert last == "podium: resizing 8 images: 8 of 8 (100 %), 0:00 left"


def test_the_time_left_is_that_of_the_rest_at_the_speed_so_far():
    stream = io.StringIO()
    started = time.monotonic()
    progress = Progress("waiting", 101, stream=stream, every_s=0)
    time.sleep(0.6)
    progress.advance(1)
    (left,) = re.findall(r"\(0 %\), (\d+):(\d\d) left\n$", stream.getvalue())
    assert 60 <= 60 * int(left[0]) + int(left[1]) <= 100 * (time.monotonic() - started)


def test_quick_work_says_nothing():
    stream = io.StringIO()
    progress = Progress("quick", 2, stream=stream)
    progress.advance(2)
    progress.end()
    assert stream.getvalue() == ""


def test_on_a_terminal_one_line_is_written_over_and_taken_off():
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal:
        progress = Progress("resizing", 2000, stream=terminal, every_s=0)
        progress.advance(1)
        progress.advance(999)
        progress.end()
        written = ""
        while not written.endswith("\r\x1b[K"):
            written += os.read(ours, 4096).decode()
    os.close(ours)
    assert written.count("\r") == 3
    assert "\n" not in written
    assert "resizing: 1,000 of 2,000 (50 %)" in written
