"""What an open live page costs the process that serves it, while a study runs.

    python -m benchmarks.live_page [--searches 20 280] [--seconds 30]

A made-up study of 50 trials a search is there; a trial ends each second, eight run, and the run
writes its account every five. `podium watch --web` serves one page. Printed are the seconds until
the page has its first record, the bytes of that and of each later message, the seconds from a
trial's commit until the page has it, and the processor time of the server as a part of one core,
while trials end and once none does.
"""

import argparse
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import psutil

from benchmarks.synthetic_columns import trial_table
from benchmarks.synthetic_rows import HYPERPARAMETERS, KS, Size, search_rows, searches_of
from benchmarks.synthetic_store import write_synthetic_store
from orchestrator.results.locks.study_lock import StudyLock
from orchestrator.results.records.runs import Run, StartedTrial, write_run, write_run_count
from orchestrator.results.records.store_paths import StudyPaths
from orchestrator.results.records.trial_schema import trial_schema
from orchestrator.results.storage.files import put
from orchestrator.results.trial_files.compaction_manifest import read_manifest
from orchestrator.results.trial_files.parquet_file import encode

_LOSSES = Size().losses
_RUNNING = 8
_SETTLED_SECONDS = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--searches", type=int, nargs="+", default=[20, 280])
    parser.add_argument("--seconds", type=float, default=30.0)
    options = parser.parse_args()
    for searches in options.searches:
        dims = tuple(range(8, 8 + searches // len(_LOSSES)))
        size = Size(
            datasets=("glyphs",),
            backbones=("conv_small",),
            embedding_dims=dims,
            seeds=1,
            epochs=5,
            test_classes=10,
            thumbnails=False,
        )
        with tempfile.TemporaryDirectory() as folder:
            store = write_synthetic_store(Path(folder) / "synthetic", size, asks=False)
            _measure(store, size, options.seconds)


def _measure(store: Path, size: Size, seconds: float) -> None:
    ended, commits = threading.Event(), []
    num_before = read_manifest(StudyPaths(store)).num_trials
    writer = threading.Thread(target=_run, args=(StudyPaths(store), size, ended, commits))
    writer.start()
    time.sleep(1.0)
    words = [sys.executable, "-u", "-m", "podium", "watch", str(store), "--web"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    found = re.match(r"Watch: (\S+)", server.stdout.readline())
    assert found is not None, "the first line is the address"
    process, began = psutil.Process(server.pid), time.monotonic()
    messages = _messages(found[1])
    first, after = next(messages), time.monotonic() - began
    time.sleep(2.0)
    trials = json.loads(first[6:])["totals"]["done"]
    used, since = sum(process.cpu_times()[:2]), time.monotonic()
    sizes, delays, shown = [], [], trials - num_before
    while time.monotonic() < since + seconds:
        message = next(messages)
        totals = json.loads(message[6:]).get("totals", {})
        new = commits[shown : totals.get("done", 0) - num_before]
        delays += [time.monotonic() - at for at in new if at > since]
        shown += len(new)
        sizes.append(len(message))
    part = (sum(process.cpu_times()[:2]) - used) / (time.monotonic() - since)
    ended.set()
    writer.join()
    time.sleep(_SETTLED_SECONDS)
    used, since = sum(process.cpu_times()[:2]), time.monotonic()
    time.sleep(seconds)
    idle = (sum(process.cpu_times()[:2]) - used) / (time.monotonic() - since)
    server.kill()
    server.wait()
    print(
        f"{trials} trials, {len(size.blocks) * len(size.losses)} searches: first record"
        f" after {after:.1f} s,"
        f" {len(first) / 1000:.0f} kB; {len(sizes)} messages of {np.mean(sizes) / 1000:.1f} kB in"
        f" {seconds:.0f} s; trials shown after {np.median(delays):.1f} s, {max(delays):.1f} s at"
        f" most; {100 * part:.2f} % of a core, {100 * idle:.2f} % while nothing changes",
        flush=True,
    )


def _messages(url: str) -> Iterator[bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=300)
    connection.request("GET", f"/events?{parts.query}")
    answer = connection.getresponse()
    lines = (line for line in iter(answer.readline, b"") if line.startswith(b"data: "))
    return (line for line in lines if len(line) > len(b'data: {"age": null}\n'))


def _run(paths: StudyPaths, size: Size, ended: threading.Event, commits: list[float]) -> None:
    """What a run writes: a trial a second, when it is in ``commits``; its account every five."""
    schema = trial_schema(KS, dict.fromkeys(HYPERPARAMETERS, "float"))
    searches = [search for search in searches_of(size) if search.loss != "untrained"]
    running = tuple(
        StartedTrial(trial_id=f"now{index}", search=search.id, stage="search", attempt=1)
        for index, search in enumerate(searches[:_RUNNING])
    )
    run = Run(
        number=1,
        started_at=datetime.now(UTC),
        host="here",
        pid=0,
        podium_version="0.1.0",
        seconds=0.0,
        end=None,
        budget={"gpu_hours": 100.0, "wall_hours": None, "trials": None},
        trials_per_search=size.trials,
        slots=_RUNNING,
        seconds_left=3600.0,
        running=running,
    )
    with StudyLock(paths, print):
        number = 0
        while not ended.wait(1.0):
            if number % 5 == 0:
                write_run(paths, replace(run, seconds=float(number)))
                write_run_count(paths, 1)
            search = searches[number % len(searches)]
            first = search_rows(size, search, np.random.default_rng(number))[0]
            row = replace(first, index=size.trials + number, config=f"new{number}")
            put(paths.trial(search.id, row.trial_id), encode(trial_table([row], schema, size)))
            commits.append(time.monotonic())
            for trial in running:
                log = (
                    f"[12:00:00] fold 0 epoch {number + 1}: train loss 1, val R@1 0.5, 9 MB, 1 s\n"
                )
                put(paths.trial_log(trial.trial_id), log.encode())
            number += 1


if __name__ == "__main__":
    main()
