"""Time several ways to do one thing, in turns, so that a busy machine slows all of them alike."""

import shlex
import statistics
import sys
import time
from collections.abc import Callable, Mapping

import torch

Timings = dict[str, list[float]]


def interleaved_seconds(
    ways: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    device: str,
    repeats: int = 1,
    clock: Callable[[], float] = time.perf_counter,
) -> Timings:
    """Seconds of one call, for each way and round; every way is called once beforehand.

    Args:
        ways: name -> what to call.
        rounds: turns; each calls every way.
        device: ``cpu`` or ``cuda``, which is waited for.
        repeats: calls in a row whose mean is taken, for calls too short to time alone.
        clock: what gives seconds; ``time.process_time`` where other programs run.
    """
    timings: Timings = {name: [] for name in ways}
    for round_number in range(rounds + 1):
        for name, way in ways.items():
            _wait(device)
            started = clock()
            for _ in range(repeats):
                way()
            _wait(device)
            if round_number > 0:
                timings[name].append((clock() - started) / repeats)
    return timings


def median_ratio(timings: Timings, name: str, reference: str) -> float:
    """Median over the rounds of the one's time by the other's."""
    pairs = zip(timings[name], timings[reference], strict=True)
    return statistics.median(ours / theirs for ours, theirs in pairs)


def print_header(module: str, device: str) -> None:
    """The command that made the figures, and what it ran on."""
    print(f"$ python -m {module} {shlex.join(sys.argv[1:])}".rstrip())
    where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    print(f"torch {torch.__version__}, {where}, {torch.get_num_threads()} thread(s)\n")


def _wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()
