"""What a plan says of the machine that it is made on: its GPUs, and room for results."""

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from podium.orchestrator.results.storage.locations import Place
from podium.orchestrator.study.study import Study

_LEAST_BYTES = 5_000_000_000
_SECONDS = 10  # a driver that is broken may never answer


def machine_notes(study: Study, folder: Place) -> Iterator[str]:
    """The GPUs that are seen, where trials ask for some, and a warning of little room on disk.

    The results folder need not be there yet.
    """
    if asked := study.resources.gpus_per_trial:
        seen = Counter(_gpu_names())
        names = ", ".join(f"{count} x {name}" for name, count in seen.items())
        nothing = (
            f"none is seen on this machine, and trials ask for {asked:g}. On a machine without:"
            " --set resources.gpus_per_trial=0"
        )
        yield f"GPUs: {names or nothing}."
    if not isinstance(folder, Path):  # a bucket
        return
    folder = folder.absolute()
    free = shutil.disk_usage(next(it for it in (folder, *folder.parents) if it.exists())).free
    if free < _LEAST_BYTES:
        yield (
            f"Warning: {free / 1e9:.1f} GB are free at {folder}; results, checkpoints and caches"
            " of images may need more. Say --storage FOLDER, or make room."
        )


def _gpu_names() -> list[str]:
    """Names of the GPUs of this machine, as NVIDIA's driver gives them; none without it."""
    command = shutil.which("nvidia-smi")
    if command is None:
        return []
    asked = [command, "--query-gpu=name", "--format=csv,noheader"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else []
